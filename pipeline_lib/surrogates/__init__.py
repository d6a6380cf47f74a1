"""Which losses replace a ranking measure in training? They are looked up by name and imported when they are needed.

The modules are also attributes of this package, so that ``surrogates.slam.weights`` needs no further import. Public
functions and methods check their arguments. Modules with an empty ``__all__``, functions compiled by numba and the
methods named in ``surrogates.base.INTERNAL`` are internal: they check nothing.

Example
-------
>>> import numpy as np
>>> from pipeline_lib import surrogates
>>> surrogates.create("ranksvm").value([2.0, 0.0, 0.5], [1, 0, 1], [0, 2, 3])
array([0., 0.])
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pipeline_lib import declarations, submodules
from pipeline_lib.errors import ArgumentError, ConfigurationError, DataError
from pipeline_lib.registry import Registry, check_name

if TYPE_CHECKING:
    from pipeline_lib.surrogates.base import Surrogate

_REGISTRY = Registry(Path(__file__).with_name("registry.toml"), "surrogate")

NAMES: tuple[str, ...] = _REGISTRY.names


def create(name: str, **options: Any) -> Surrogate:
    """Create the surrogate ``name``; ``options`` are the arguments of its class, such as ``normalisation="mean"``.

    A number after "@" is the option k of a surrogate registered as "...@k": ``create("slam-ndcg@10")``.

    Raises
    ------
    ConfigurationError
        When the name or an option does not exist; the message gives the nearest one that does; also when name and
        option disagree about k.

    Example
    -------
    >>> create("ranksvm", normalisation="mean").normalisation
    'mean'
    >>> create("ranksvm", normalization="mean")
    Traceback (most recent call last):
    ...
    pipeline_lib.errors.ConfigurationError: unknown option of surrogate ranksvm 'normalization'; did you \
mean 'normalisation'?
    """
    completed = check_options(name, options)
    surrogate: type[Surrogate] = _REGISTRY.load(registered(name))
    try:
        return surrogate(**completed)
    except DataError as error:
        raise ConfigurationError(f"surrogate {name}: {error}") from error


def check_options(name: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """The options of the surrogate ``name``, with k where the name states it; imports no surrogate.

    Raises
    ------
    ConfigurationError
        When the name or an option does not exist, an option is of another kind than its class declares, or name and
        option disagree about k. Whether a number is in range is checked by the class.

    Example
    -------
    >>> check_options("slam-ndcg@10", {"margin": 2.0})
    {'margin': 2.0, 'k': 10}
    """
    if not isinstance(options, Mapping):
        raise ArgumentError(f"options: expected a mapping, found a {type(options).__name__}")
    name, cutoff = _name_and_cutoff(name)
    if cutoff and options.get("k", cutoff["k"]) != cutoff["k"]:
        raise ConfigurationError(f"surrogate {name}: its name says k = {cutoff['k']}, the option k = {options['k']}")
    completed = {**options, **cutoff}
    declarations.check(f"surrogate {name}", completed, declarations.arguments(*target_of(name).split(":")))
    return completed


def target_of(name: str) -> str:
    """The module and the class of the surrogate ``name``, without importing them.

    Example
    -------
    >>> target_of("listnet")
    'pipeline_lib.surrogates.listwise:ListNet'
    """
    return _REGISTRY.target_of(registered(name))


def effort(name: str) -> float:
    """How many times as long as with ``listnet`` it takes to minimise the surrogate ``name``, roughly; for plans.

    The table ``effort`` of ``estimates.toml`` states it; a surrogate that is not in it counts as 1.

    Example
    -------
    >>> effort("listnet"), effort("slam-ndcg@10") > 1.0
    (1.0, True)
    """
    return _REGISTRY.number("effort", registered(name), 1.0)


def repeats(name: str) -> float:
    """How many times as many passes over the documents as ``listnet`` the surrogate ``name`` takes, roughly; for plans.

    One that is not convex is minimised from several starting points.

    Example
    -------
    >>> repeats("listnet"), repeats("smooth-dcg") > 1.0
    (1.0, True)
    """
    return _REGISTRY.number("repeats", registered(name), 1.0)


def registered(name: str) -> str:
    """The name in the registry for ``name``, where a number after "@" is the option k.

    Example
    -------
    >>> registered("slam-ndcg@10"), registered("listnet")
    ('slam-ndcg@k', 'listnet')
    """
    return _name_and_cutoff(name)[0]


def _name_and_cutoff(name: str) -> tuple[str, dict[str, int]]:
    check_name(name)
    head, _, number = name.partition("@")
    return (f"{head}@k", {"k": int(number)}) if re.fullmatch("[1-9][0-9]*", number) else (name, {})


def __getattr__(name: str) -> Any:
    return submodules.load(__name__, __path__, name)


def __dir__() -> list[str]:
    return submodules.names(__path__, globals())
