"""Is one value, be it a number, a name, a path or an object, what an argument may be?

Every check takes the name of the argument and its value, gives the value as the function wants it, and raises where the
value does not fit: a :class:`~pipeline_lib.errors.ArgumentError` where its type is wrong, otherwise a
:class:`~pipeline_lib.errors.DataError`.
"""

from __future__ import annotations

import math
import os
import reprlib
from collections.abc import Callable, Sequence
from types import NoneType
from typing import Any, NamedTuple

import numpy as np

from pipeline_lib.errors import ArgumentError, DataError, hint

MOST = 2**31 - 1
"""The largest number of anything that is counted (rounds, draws, documents of a list); more can only be a mistake."""

Check = Callable[[str, Any], Any]
"""Takes the name of an argument and its value; gives the value as the function wants it, or raises."""


class Range(NamedTuple):
    """Numbers from ``low`` to ``high``; both ends belong to it unless ``open``."""

    low: float = -math.inf
    high: float = math.inf
    open: bool = False

    def __contains__(self, value: Any) -> bool:
        return bool(self.low < value < self.high if self.open else self.low <= value <= self.high)

    def __str__(self) -> str:
        if self.high in (math.inf, MOST):
            return "" if self.low == -math.inf else f" {'>' if self.open else '>='} {self.low:g}"
        ends = f"{self.low:.16g} and {self.high:.16g}"
        return f" strictly between {ends}" if self.open else f" between {ends}"


COUNT = Range(1, MOST)
AT_LEAST_0 = Range(0)
POSITIVE = Range(0, open=True)
PROBABILITY = Range(0, 1, open=True)


def whole(name: str, value: Any, allowed: Range = Range()) -> int:  # noqa: B008
    """``value`` as a Python int when it is a whole number (no bool) in the range, and fits into 64 bits.

    Example
    -------
    >>> whole("k", 3, COUNT)
    3
    """
    if isinstance(value, bool | np.bool_) or not isinstance(value, int | np.integer):
        kind = DataError if isinstance(value, float | np.floating) else ArgumentError
        raise kind(f"{name}: expected a whole number{allowed}, found {shown(value)}")
    highest = min(allowed.high, 2**63 - 1)
    if value > highest:
        raise DataError(f"{name}: expected a whole number <= {highest:.16g}, found {shown(value)}")
    if value not in allowed or value < -(2**63):
        raise DataError(f"{name}: expected a whole number{allowed}, found {shown(value)}")
    return int(value)


def extended(name: str, value: Any) -> float:
    """``value`` when it is a number >= 0 or infinity.

    Example
    -------
    >>> extended("scale", math.inf)
    inf
    """
    number = _number(name, value, AT_LEAST_0)
    if not number >= 0.0:
        raise DataError(f"{name}: expected a number >= 0, found {shown(value)}")
    return _python_number(value)


def real(name: str, value: Any, allowed: Range = Range()) -> float:  # noqa: B008
    """``value`` when it is a finite number (no bool) in the range.

    Example
    -------
    >>> real("radius", 2.5, POSITIVE)
    2.5
    """
    number = _number(name, value, allowed)
    if not math.isfinite(number) or number not in allowed:
        raise DataError(f"{name}: expected a finite number{allowed}, found {shown(value)}")
    return _python_number(value)


def _python_number(value: Any) -> Any:
    # Another type of number would have numba compile a kernel anew: float32 for float64, say. And numpy makes objects
    # of whole numbers beyond 64 bits.
    if isinstance(value, int) and abs(value) >= 2**63:
        return float(value)
    return value if isinstance(value, int | float) else value.item()


def _number(name: str, value: Any, allowed: Range) -> float:
    if isinstance(value, bool | np.bool_) or not isinstance(value, int | float | np.integer | np.floating):
        raise ArgumentError(f"{name}: expected a finite number{allowed}, found {shown(value)}")
    try:
        return float(value)
    except OverflowError:
        raise DataError(f"{name}: expected a finite number{allowed}, found {shown(value)}") from None


def one_of(name: str, value: Any, choices: Sequence[Any]) -> Any:
    """``value`` when it is one of the choices.

    Example
    -------
    >>> one_of("ball", "l1", ("l2", "l1"))
    'l1'
    """
    wanted = f"one of {', '.join(map(str, choices))}" if len(choices) > 1 else repr(choices[0])
    if not isinstance(value, str | int | float | NoneType):
        raise ArgumentError(f"{name}: expected {wanted}, found {shown(value)}")
    for choice in choices:
        if type(choice) is type(value) and choice == value:
            return value
    near = hint(value, map(str, choices))
    advice = f"; {near}" if near.startswith("did you mean") else ""
    raise DataError(f"{name}: expected {wanted}, found {shown(value)}{advice}")


def instance(name: str, value: Any, kind: type) -> Any:
    """``value`` when it is an object of the class ``kind``.

    Example
    -------
    >>> instance("data", [1, 2], dict)
    Traceback (most recent call last):
    ...
    pipeline_lib.errors.ArgumentError: data: expected an object of dict, found [1, 2]
    """
    if not isinstance(value, kind):
        wanted = "a string" if kind is str else f"an object of {kind.__name__}"
        raise ArgumentError(f"{name}: expected {wanted}, found {shown(value)}")
    return value


def truth(name: str, value: Any) -> Any:
    """``value`` when it is True or False."""
    if not isinstance(value, bool | np.bool_):
        raise ArgumentError(f"{name}: expected True or False, found {shown(value)}")
    return value


def path(name: str, value: Any) -> Any:
    """``value`` when it is the path of a file or folder, as a string or path object."""
    if not isinstance(value, str | os.PathLike):
        raise ArgumentError(f"{name}: expected a path, found {shown(value)}")
    if not os.fspath(value) or "\0" in str(value):
        raise DataError(f"{name}: expected a path, found {shown(value)}")
    return value


def seed(name: str, value: Any) -> Any:
    """``value`` when it is an axis of a seed (a string, a finite number, a boolean or None) or a tuple of axes."""
    for axis in value if isinstance(value, tuple) else (value,):
        if not isinstance(axis, str | int | float | NoneType):
            raise ArgumentError(f"{name}: expected a string, a number, or a tuple of them, found {shown(value)}")
        if isinstance(axis, float) and not math.isfinite(axis):
            raise DataError(f"{name}: expected finite numbers, found {shown(value)}")
    return value


def texts(name: str, value: Any) -> Sequence[str]:
    """``value`` when it is a list of strings.

    Example
    -------
    >>> texts("names", ["ndcg", "map"])
    ['ndcg', 'map']
    """
    listed = value.tolist() if isinstance(value, np.ndarray) else value
    if isinstance(listed, str | bytes) or not isinstance(listed, Sequence):
        raise ArgumentError(f"{name}: expected a list of strings, found {shown(value)}")
    for place, text in enumerate(listed):
        instance(f"{name}[{place}]", text, str)
    return listed


def shown(value: Any) -> str:
    """How an error shows what it found: briefly, whatever it is.

    Example
    -------
    >>> shown(np.zeros((3, 2))), shown("x" * 100)
    ('an array of float64, shape (3, 2)', "'xxxxxxxxxxxxxxxxxxx...xxxxxxxxxxxxxxxxxxxx'")
    """
    if isinstance(value, np.ndarray):
        return f"an array of {value.dtype}, shape {value.shape}"
    if isinstance(value, int) and abs(value) >= 10**20:
        return f"a whole number of {value.bit_length()} bits"
    if isinstance(value, str | int | float | np.generic | list | tuple | dict | set | NoneType):
        short = reprlib.Repr()
        short.maxstring, short.maxother = 44, 60
        return short.repr(value)
    return f"a {type(value).__name__}"
