"""Are a learner's settings complete, and does it know all of them?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pipeline_lib.checks import shown
from pipeline_lib.errors import ConfigurationError
from pipeline_lib.registry import unknown

__all__: list[str] = []  # internal: what comes here was checked before (see pipeline_lib.checks)


def completed(
    learner: str, settings: Mapping[str, Any], required: Sequence[str], defaults: Mapping[str, Any]
) -> dict[str, Any]:
    """``settings`` with the defaults filled in.

    Raises
    ------
    ConfigurationError
        When a required setting is missing or one is unknown.

    Example
    -------
    >>> completed("ogd", {"passes": 3}, ["passes"], {"average": True})
    {'average': True, 'passes': 3}
    >>> completed("ogd", {"pases": 3}, ["passes"], {"average": True})
    Traceback (most recent call last):
    ...
    pipeline_lib.errors.ConfigurationError: unknown setting of ogd 'pases'; did you mean 'passes'?
    """
    known = [*required, *defaults]
    for name in settings:
        if name not in known:
            raise unknown(f"setting of {learner}", name, known)
    missing = [name for name in required if name not in settings]
    if missing:
        raise ConfigurationError(f"settings: {learner}: expected {', '.join(required)}; {missing[0]} is missing")
    for name in ("surrogate", "measure", "selection"):
        if not isinstance(settings.get(name, ""), str):
            raise ConfigurationError(f"{name}: expected a name, found {shown(settings[name])}")
    if not isinstance(settings.get("options", {}), Mapping):
        raise ConfigurationError(f"options: expected options of the surrogate, found {shown(settings['options'])}")
    return {**defaults, **settings}


def numbers(name: str, values: object) -> list[float]:
    """``values`` as floats when they are a list of at least one number.

    Raises
    ------
    ConfigurationError
        When they are not.

    Example
    -------
    >>> numbers("steps", [1, 0.5])
    [1.0, 0.5]
    """
    listed = isinstance(values, Sequence) and not isinstance(values, str) and len(values) > 0
    if not listed or not all(isinstance(value, int | float) for value in values):  # type: ignore[attr-defined]
        raise ConfigurationError(f"{name}: expected a list of numbers, found {values!r}")
    return [float(value) for value in values]  # type: ignore[attr-defined]


def whole(name: str, value: object) -> int:
    """``value`` when it is a whole number >= 1.

    Raises
    ------
    ConfigurationError
        When it is not.

    Example
    -------
    >>> whole("passes", 5)
    5
    """
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ConfigurationError(f"{name}: expected a whole number >= 1, found {value!r}")
    return value
