"""How do the settings of an experiment, a plain mapping, become a checked frozen dataclass?"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import Any, TypeVar

from pipeline_lib.errors import ConfigurationError, hint

Settings = TypeVar("Settings")


def parse(kind: type[Settings], mapping: Mapping[str, Any], where: str) -> Settings:
    """Make the dataclass ``kind`` from a mapping that gives each of its fields; lists become tuples.

    Raises
    ------
    ConfigurationError
        When a key is unknown or missing, or the dataclass itself rejects a value.

    Example
    -------
    >>> @dataclasses.dataclass(frozen=True)
    ... class Size:
    ...     lengths: tuple[int, ...]
    >>> parse(Size, {"lengths": [5, 10]}, "slam.losses").lengths
    (5, 10)
    >>> parse(Size, {"length": [5, 10]}, "slam.losses")
    Traceback (most recent call last):
    ...
    pipeline_lib.errors.ConfigurationError: slam.losses: unknown key 'length'; did you mean 'lengths'?
    """
    known = [field.name for field in dataclasses.fields(kind)]  # type: ignore[arg-type]
    for key in mapping:
        if key not in known:
            raise ConfigurationError(f"{where}: unknown key {key!r}; {hint(key, known)}")
    for key in known:
        if key not in mapping:
            raise ConfigurationError(f"{where}: expected the key {key!r}, found {sorted(mapping)}")
    values = {key: tuple(value) if isinstance(value, list) else value for key, value in mapping.items()}
    return kind(**values)


def whole(where: str, value: object, least: int) -> None:
    """Raise a ConfigurationError unless ``value`` is a whole number and at least ``least``."""
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise ConfigurationError(f"{where}: expected a whole number >= {least}, found {value!r}")


def wholes(where: str, values: object, least: int) -> None:
    """Raise a ConfigurationError unless ``values`` holds rising whole numbers from ``least`` on."""
    if not isinstance(values, tuple) or not values:
        raise ConfigurationError(f"{where}: expected a list of whole numbers, found {values!r}")
    for value in values:
        whole(where, value, least)
    if list(values) != sorted(set(values)):
        raise ConfigurationError(f"{where}: expected rising numbers, found {list(values)}")


def positives(where: str, values: object) -> None:
    """Raise a ConfigurationError unless ``values`` holds finite numbers > 0."""
    if not isinstance(values, tuple) or not values:
        raise ConfigurationError(f"{where}: expected a list of numbers > 0, found {values!r}")
    for value in values:
        if isinstance(value, bool) or not isinstance(value, int | float) or not (math.isfinite(value) and value > 0):
            raise ConfigurationError(f"{where}: expected numbers > 0, found {value!r}")
