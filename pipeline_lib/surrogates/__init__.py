"""Which losses replace a ranking measure in training? A surrogate is a class in a module of this package.

``NAMES`` lists them, and ``check`` compares what the class of one states with its values
(:func:`pipeline_lib.surrogates.checking.check`). The modules are also attributes of this package, so that
``surrogates.slam.weights`` needs no further import. Public functions and methods check their arguments. Modules with an
empty ``__all__``, functions compiled by numba and the methods named in ``surrogates.base.INTERNAL`` are internal: they
check nothing.

Example
-------
>>> import numpy as np
>>> from pipeline_lib import surrogates
>>> surrogates.create("ranksvm").value([2.0, 0.0, 0.5], [1, 0, 1], [0, 2, 3])
array([0., 0.])
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from pipeline_lib.core import submodules
from pipeline_lib.core.checks import checked
from pipeline_lib.core.errors import ConfigurationError, DataError, hint

if TYPE_CHECKING:
    from pipeline_lib.surrogates.base import Surrogate

NAMES: tuple[str, ...]
"""The names of the surrogates, as their classes state them."""


@checked
def create(name: str, **options: Any) -> Surrogate:
    """Create the surrogate ``name``; ``options`` are the arguments of its class, such as ``normalisation="mean"``.

    A number after "@" is the option k of a surrogate called "...@k": ``create("slam-ndcg@10")``.

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
    pipeline_lib.core.errors.ConfigurationError: unknown option of surrogate ranksvm 'normalization'; did you \
mean 'normalisation'?
    """
    surrogate, (_, cutoff) = get(name), _name_and_cutoff(name)
    known = _options(surrogate)
    for option in options:
        if option not in known:
            raise ConfigurationError(f"unknown option of surrogate {name} {option!r}; {hint(option, known)}")
    if cutoff and options.get("k", cutoff["k"]) != cutoff["k"]:
        raise ConfigurationError(f"surrogate {name}: its name says k = {cutoff['k']}, the option k = {options['k']}")
    try:
        return surrogate(**{**options, **cutoff})
    except DataError as error:
        raise ConfigurationError(f"surrogate {name}: {error}") from error


@checked
def get(name: str) -> type[Surrogate]:
    """The class of the surrogate ``name``.

    Raises
    ------
    ConfigurationError
        When there is no such surrogate; the message gives the nearest name.

    Example
    -------
    >>> get("slam-ndcg@10").__name__, get("listnet").effort
    ('SlamNDCGAt', 1.0)
    >>> get("listnett")
    Traceback (most recent call last):
    ...
    pipeline_lib.core.errors.ConfigurationError: unknown surrogate 'listnett'; did you mean 'listnet'?
    """
    classes = _classes()
    if (own := _name_and_cutoff(name)[0]) not in classes:
        raise ConfigurationError(f"unknown surrogate {name!r}; {hint(name, classes)}")
    return classes[own]


def target_of(name: str) -> str:
    """The module and the class of the surrogate ``name``: the code that minimising it runs.

    Example
    -------
    >>> target_of("listnet")
    'pipeline_lib.surrogates.listwise:ListNet'
    """
    kind = get(name)
    return f"{kind.__module__}:{kind.__name__}"


@cache
def _options(surrogate: type[Surrogate]) -> Mapping[str, inspect.Parameter]:
    return inspect.signature(surrogate).parameters


def _name_and_cutoff(name: str) -> tuple[str, dict[str, int]]:
    # A number after "@" is the option k.
    head, _, number = name.partition("@")
    return (f"{head}@k", {"k": int(number)}) if re.fullmatch("[1-9][0-9]*", number) else (name, {})


@cache
def _classes() -> dict[str, type[Surrogate]]:
    # Minorants have names, too, but are made from the surrogate that they approximate.
    from pipeline_lib.surrogates.base import MinorantSurrogate, Surrogate

    found: dict[str, type[Surrogate]] = {}
    for module in submodules.every(__name__, __path__):
        for kind in vars(module).values():
            own = isinstance(kind, type) and issubclass(kind, Surrogate) and kind.__module__ == module.__name__
            if own and "name" in vars(kind) and not issubclass(kind, MinorantSurrogate):
                found[kind.name] = kind
    return dict(sorted(found.items()))


def __getattr__(name: str) -> Any:
    if name == "NAMES":
        return tuple(_classes())
    # Imported by its name, so that no training depends on the code that only checks what others wrote.
    return submodules.load(__name__, "checking").check if name == "check" else submodules.load(__name__, name)


def __dir__() -> list[str]:
    return submodules.names(__path__, {*globals(), "NAMES", "check"})
