"""Is an array what an argument may be: finite numbers of the right shape, labels, offsets, weights?

Every check takes the name of the argument and its value, and gives an array of the type that the function works with,
without a copy where the value has that type already. What is no array of numbers is an
:class:`~pipeline_lib.errors.ArgumentError`; a wrong entry or shape is a :class:`~pipeline_lib.errors.DataError` that
names the entry.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline_lib.errors import ArgumentError, DataError
from pipeline_lib.labels import MAX_LABEL
from pipeline_lib.value_checks import MOST, shown


def array(name: str, value: Any, *, ndim: int | None = None, finite: bool = True) -> NDArray[Any]:
    """The numbers of ``value`` as a plain array: nothing masked, nothing but numbers, and finite.

    Raises
    ------
    ArgumentError
        When they are no numbers.
    DataError
        When an entry is masked or not finite, rows differ in length, or there are not ``ndim`` dimensions.

    Example
    -------
    >>> array("x", [1, 2.5])
    array([1. , 2.5])
    >>> array("x", np.ma.array([1.0, 2.0], mask=[False, True]))
    Traceback (most recent call last):
    ...
    pipeline_lib.errors.DataError: x: expected no masked entries, found 1; fill them or drop them first
    """
    numbers = value if type(value) is np.ndarray else _plain(name, value)
    if numbers.dtype.kind not in "biuf":
        raise ArgumentError(f"{name}: expected numbers, found {shown(numbers) if numbers.ndim else shown(value)}")
    if ndim is not None and numbers.ndim != ndim:
        raise DataError(f"{name}: expected {_DIMENSIONS[ndim]}, found {shown(numbers)}")
    if finite and numbers.dtype.kind == "f":
        _refuse_infinite(name, numbers)
    return numbers


_DIMENSIONS = ("a single number", "one dimension", "a matrix (two dimensions)", "three dimensions")


def _plain(name: str, value: Any) -> NDArray[Any]:
    parts = value if isinstance(value, list | tuple) else (value,)
    masked = sum(int(np.ma.getmaskarray(part).sum()) for part in parts if isinstance(part, np.ma.MaskedArray))
    if masked:
        raise DataError(f"{name}: expected no masked entries, found {masked}; fill them or drop them first")
    try:
        return np.asarray(value)
    except Exception as error:
        raise ArgumentError(f"{name}: expected an array of numbers, found {shown(value)} ({error})") from error


def _refuse_infinite(name: str, numbers: NDArray[Any]) -> None:
    # A sum of finite numbers may overflow but is never NaN; only where it is not finite is every entry looked at.
    with np.errstate(over="ignore", invalid="ignore"):
        if numbers.size == 0 or math.isfinite(float(np.add.reduce(numbers, axis=None))):
            return
    good = np.isfinite(numbers)
    if not good.all():
        where = np.argwhere(~good)[0]
        raise DataError(f"{entry(name, where)}: expected a finite number, found {numbers[tuple(where)]}")


def entry(name: str, where: Iterable[Any]) -> str:
    """How an error names one entry of an array.

    Example
    -------
    >>> entry("X", (2, 0)), entry("w", ())
    ('X[2, 0]', 'w')
    """
    places = ", ".join(str(int(place)) for place in where)
    return f"{name}[{places}]" if places else name


def floats(
    name: str, value: Any, *, ndim: int | None = None, shape: tuple[int, ...] | None = None, finite: bool = True
) -> NDArray[np.float64]:
    """The numbers of ``value`` in double precision (no copy if they have it), of a given shape if there is one.

    Example
    -------
    >>> floats("start", [1, 2], shape=(2,))
    array([1., 2.])
    """
    numbers = array(name, value, ndim=ndim, finite=finite)
    if shape is not None and numbers.shape != shape:
        raise DataError(f"{name}: expected numbers of shape {shape}, found shape {numbers.shape}")
    if numbers.dtype == np.float64:
        return numbers
    with np.errstate(over="ignore"):
        wide = numbers.astype(np.float64)
    if finite and numbers.dtype.kind == "f":
        _refuse_infinite(name, wide)
    return wide


def whole_numbers(
    name: str, value: Any, low: int = -(2**63), high: int = 2**63 - 1, *, ndim: int | None = 1
) -> NDArray[np.int64]:
    """The whole numbers of ``value`` from ``low`` to ``high`` as int64; floats are taken when they are whole.

    Example
    -------
    >>> whole_numbers("qid", [3.0, 4.0])
    array([3, 4])
    >>> whole_numbers("order", [0, 7], 0, 3)
    Traceback (most recent call last):
    ...
    pipeline_lib.errors.DataError: order[1]: expected a whole number from 0 to 3, found 7
    >>> whole_numbers("m", [True, True], 2, 3)
    Traceback (most recent call last):
    ...
    pipeline_lib.errors.DataError: m[0]: expected a whole number from 2 to 3, found 1
    """
    numbers = array(name, value, ndim=ndim)
    if not numbers.size or numbers.dtype.kind == "b":
        numbers = numbers.astype(np.int64)
    if not numbers.size:
        return numbers
    if numbers.dtype.kind == "f":
        # 2^63 is a float64, the largest int64 is not.
        outside = (numbers < low) | (numbers > high) | (numbers >= 2.0**63)
        _refuse_entries(name, numbers, outside | (numbers != np.floor(numbers)), low, high)
    elif numbers.min() < low or numbers.max() > high:
        _refuse_entries(name, numbers, (numbers < low) | (numbers > high), low, high)
    return numbers.astype(np.int64, copy=False)


def _refuse_entries(name: str, numbers: NDArray[Any], wrong: NDArray[np.bool_], low: int, high: int) -> None:
    if not wrong.any():
        return
    where = np.argwhere(wrong)[0]
    ends = "of 64 bits" if (low, high) == (-(2**63), 2**63 - 1) else f"from {low} to {high}"
    if high == MOST and not (numbers > high).any():
        ends = f">= {low}"
    raise DataError(f"{entry(name, where)}: expected a whole number {ends}, found {numbers[tuple(where)]}")


def labels(name: str, value: Any) -> NDArray[np.int32]:
    """Labels, one a document: whole numbers from 0 to 255, as int32.

    Example
    -------
    >>> labels("y", [0, 300])
    Traceback (most recent call last):
    ...
    pipeline_lib.errors.DataError: y[1]: expected a whole number from 0 to 255, found 300
    """
    numbers = array(name, value, ndim=1)
    if numbers.dtype == np.uint8 or numbers.dtype.kind == "b":
        return numbers.astype(np.int32)
    if numbers.dtype != np.int32:
        return whole_numbers(name, numbers, 0, MAX_LABEL).astype(np.int32)
    if numbers.size and (numbers.min() < 0 or numbers.max() > MAX_LABEL):
        _refuse_entries(name, numbers, (numbers < 0) | (numbers > MAX_LABEL), 0, MAX_LABEL)
    return numbers


def offsets(name: str, value: Any, documents: int) -> NDArray[np.int64]:
    """Where the queries begin: whole numbers that rise strictly from 0 to the number of documents, as int64.

    Example
    -------
    >>> offsets("offsets", [0, 2, 2], 2)
    Traceback (most recent call last):
    ...
    pipeline_lib.errors.DataError: offsets: expected whole numbers that rise strictly from 0 to 2, found 2 after 2
    """
    numbers = array(name, value, ndim=1)
    wanted = f"{name}: expected whole numbers that rise strictly from 0 to {documents}"
    if not len(numbers):
        raise DataError(f"{wanted}, found none")
    if numbers.dtype.kind not in "iu":
        raise DataError(f"{wanted}, found {numbers.dtype}")
    bounds = whole_numbers(name, numbers)
    if bounds[0] != 0 or bounds[-1] != documents:
        raise DataError(f"{wanted}, found {bounds[0]} to {bounds[-1]}")
    falls = np.flatnonzero(bounds[1:] <= bounds[:-1])
    if len(falls):
        raise DataError(f"{wanted}, found {bounds[falls[0] + 1]} after {bounds[falls[0]]}")
    return bounds


def ranking(scores: Any, y: Any, bounds: Any) -> tuple[NDArray[np.float64], NDArray[np.int32], NDArray[np.int64]]:
    """Scores, labels and offsets that fit together, in the types that kernels expect (no copy if they have them).

    Raises
    ------
    DataError
        When a score is not finite, a label is not a whole number in 0..255, there is not one of each a document, or
        the offsets do not rise strictly from 0 to the number of documents.

    Example
    -------
    >>> ranking([0.5, 1.5], [0, 1], [0, 2])
    (array([0.5, 1.5]), array([0, 1], dtype=int32), array([0, 2]))
    """
    s = np.ascontiguousarray(floats("scores", scores, ndim=1))
    numbers = np.ascontiguousarray(labels("y", y))
    if len(numbers) != len(s):
        raise DataError(f"y: expected one label for each of {len(s)} scores, found {len(numbers)}")
    return s, numbers, np.ascontiguousarray(offsets("offsets", bounds, len(s)))


def query_indices(name: str, value: Any, n_queries: int) -> NDArray[np.int64]:
    """Queries by position: whole numbers from 0 to ``n_queries`` - 1, any of them any number of times, as int64.

    Example
    -------
    >>> query_indices("order", [1, 1, 0], 2)
    array([1, 1, 0])
    """
    numbers = array(name, value, ndim=1)
    if len(numbers) and numbers.dtype.kind not in "iu":
        raise ArgumentError(f"{name}: expected whole numbers, positions of queries, found {shown(numbers)}")
    return whole_numbers(name, numbers, 0, n_queries - 1)


def weights(name: str, value: Any, n: int) -> NDArray[np.float64]:
    """``n`` finite weights >= 0, not all 0, whose mean is finite and can be divided by, as float64.

    Example
    -------
    >>> weights("weights", [1, 3], 2)
    array([1., 3.])
    >>> weights("weights", [1e308] * 3, 3)
    Traceback (most recent call last):
    ...
    pipeline_lib.errors.DataError: weights: expected numbers whose sum stays below 1.8e308, found up to 1e+308
    """
    numbers = floats(name, value, shape=(n,))
    negative = np.flatnonzero(numbers < 0.0)
    if len(negative):
        raise DataError(f"{name}[{negative[0]}]: expected a weight >= 0, found {numbers[negative[0]]}")
    if not numbers.any():
        raise DataError(f"{name}: expected a weight above 0, found none")
    with np.errstate(over="ignore"):
        total = float(numbers.sum())
    if not math.isfinite(total):
        raise DataError(f"{name}: expected numbers whose sum stays below 1.8e308, found up to {numbers.max():g}")
    if total / n < np.finfo(np.float64).tiny:
        raise DataError(f"{name}: expected a mean of at least 2.3e-308, found {total / n:g}")
    return numbers
