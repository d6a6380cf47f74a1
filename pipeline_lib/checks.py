"""Do the arguments of a call fit the function? Every public function has them checked here, once, before it computes.

There are two ways:

- :func:`checked` decorates a function, or a class, whose ``__init__`` and public methods it then guards. What an
  argument may be follows from its annotation (:mod:`pipeline_lib.annotation_checks`). :data:`RANGES` gives the range of
  arguments whose name means the same everywhere (``m``, ``delta``, ...); a keyword of the decorator replaces it for one
  function.
- Functions of ``scores, y, offsets`` call :func:`ranking`, because the three must also fit together.

An argument that does not fit raises a :class:`~pipeline_lib.errors.DataError` that names it; one whose type is wrong
raises an :class:`~pipeline_lib.errors.ArgumentError`, which is a ``DataError`` and a ``TypeError``.

Inner loops do not pay for this: they call functions compiled by numba, modules with an empty ``__all__``, and methods
named in ``surrogates.base.INTERNAL``. Those are internal and receive only arguments that were checked before.
"""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Callable, Collection, Mapping
from typing import Any, TypeVar, overload

import numpy as np

from pipeline_lib.annotation_checks import RANGES, check_of
from pipeline_lib.array_checks import (
    array,
    entry,
    floats,
    labels,
    offsets,
    query_indices,
    ranking,
    weights,
    whole_numbers,
)
from pipeline_lib.errors import DataError
from pipeline_lib.labels import MAX_LABEL
from pipeline_lib.value_checks import (
    AT_LEAST_0,
    COUNT,
    MOST,
    POSITIVE,
    PROBABILITY,
    Check,
    Range,
    extended,
    instance,
    one_of,
    path,
    real,
    seed,
    shown,
    texts,
    truth,
    whole,
)

__all__ = [
    "AT_LEAST_0",
    "COUNT",
    "MAX_LABEL",
    "MOST",
    "POSITIVE",
    "PROBABILITY",
    "RANGES",
    "Check",
    "Range",
    "array",
    "checked",
    "entry",
    "extended",
    "floats",
    "guard_methods",
    "instance",
    "labels",
    "offsets",
    "one_of",
    "path",
    "query_indices",
    "ranking",
    "real",
    "seed",
    "shown",
    "texts",
    "truth",
    "weights",
    "whole",
    "whole_numbers",
]

_NO_RULES: Mapping[str, Any] = {}

C = TypeVar("C", bound=Callable[..., Any])


@overload
def checked(function: C, /) -> C: ...
@overload
def checked(function: None = None, /, **rules: Check | Range) -> Callable[[C], C]: ...
def checked(function: C | None = None, /, **rules: Check | Range) -> C | Callable[[C], C]:
    """Have the arguments of a function checked before it runs, or those of the methods of a class.

    A keyword names an argument and gives the range of its numbers, or a function of (name, value) that checks it.
    Arithmetic that overflows in spite of good types is a ``DataError`` too.

    Example
    -------
    >>> @checked(share=PROBABILITY)
    ... def part(of: int, share: float) -> float:
    ...     return of * share
    >>> part(10, 0.5)
    5.0
    >>> part(10, 1.5)
    Traceback (most recent call last):
    ...
    pipeline_lib.errors.DataError: share: expected a finite number strictly between 0 and 1, found 1.5
    """
    if function is None:
        return lambda target: _guarded(target, rules)
    return _guarded(function, rules)


def guard_methods(kind: type, internal: Collection[str] = (), rules: Mapping[str, Check | Range] = _NO_RULES) -> None:
    """Have ``__init__`` and every public method that ``kind`` itself defines check its arguments.

    Abstract methods, methods that have their checks already and those named as ``internal`` are left as they are. A
    method without annotations is checked by those of the method that it overrides.
    """
    for name, method in list(vars(kind).items()):
        inner = method.__func__ if isinstance(method, classmethod | staticmethod) else method
        public = name == "__init__" or not (name.startswith("_") or name in internal)
        done = hasattr(inner, "__wrapped__") or getattr(inner, "__isabstractmethod__", False)
        if public and inspect.isfunction(inner) and not done:
            overridden = next((vars(base)[name] for base in kind.__mro__[1:] if name in vars(base)), None)
            own = rules if name == "__init__" else _NO_RULES
            setattr(kind, name, _guarded(method, own, overridden if inspect.isfunction(overridden) else None))


def _guarded(target: Any, rules: Mapping[str, Check | Range], overridden: Any = None) -> Any:
    if inspect.isclass(target):
        guard_methods(target, rules=rules)
        return target
    if isinstance(target, classmethod | staticmethod):
        return type(target)(_guarded(target.__func__, rules))
    parameters = inspect.signature(target).parameters
    unknown = set(rules) - set(parameters)
    if unknown:
        raise TypeError(f"{target.__qualname__} has no argument {', '.join(sorted(unknown))}")
    positional = [p.name for p in parameters.values() if p.kind is not p.KEYWORD_ONLY]
    variadic = [p for p in parameters.values() if p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    names = positional if not variadic else [n for n in positional if n not in {p.name for p in variadic}]
    checks: dict[str, Check | None] = {}

    @functools.wraps(target)
    def guarded(*args: Any, **kwargs: Any) -> Any:
        if not checks:
            checks.update({name: check_of(p, target, rules, overridden) for name, p in parameters.items()})
        given = list(args)
        for place, name in enumerate(names[: len(given)]):
            check = checks[name]
            if check is not None:
                given[place] = check(name, given[place])
        for name, value in kwargs.items():
            check = checks.get(name)
            if check is not None:
                kwargs[name] = check(name, value)
        try:
            result = target(*given, **kwargs)
        except ArithmeticError as error:
            raise _overflow(target, dict(zip(names, given, strict=False)) | kwargs, str(error)) from error
        if _is_nan(result):
            raise _overflow(target, dict(zip(names, given, strict=False)) | kwargs, "the result is not a number")
        return result

    return guarded


def _is_nan(result: Any) -> bool:
    # Every number that went in was finite: NaN comes from one in between that float64 cannot hold.
    if isinstance(result, float):
        return math.isnan(result)
    if type(result) is np.ndarray and result.dtype.kind == "f":
        with np.errstate(over="ignore", invalid="ignore"):
            return bool(np.isnan(np.add.reduce(result, axis=None)) and np.isnan(result).any())
    return False


def _overflow(target: Any, given: Mapping[str, Any], reason: str) -> DataError:
    numbers = ", ".join(
        f"{name} = {value!r:.40}" for name, value in given.items() if isinstance(value, int | float | np.number)
    )
    arguments = numbers or ", ".join(name for name in given if name != "self")
    return DataError(
        f"{arguments}: expected numbers with which {target.__qualname__} stays within the range of float64, "
        f"found some that are too large or too small ({reason})"
    )
