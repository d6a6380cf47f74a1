"""Are these arrays and names the fields of a ``RankingData``, and do they fit together?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pipeline_lib.core import checks
from pipeline_lib.core.errors import ArgumentError, DataError

__all__: list[str] = []  # internal: the methods of RankingData are what others call


def fields(X: Any, y: Any, offsets: Any, qids: Any) -> None:
    """Raise a DataError that names the first field that is not of its type or does not fit the others."""
    # The types must be right already: the arrays are kept as they are, so that nothing is copied.
    for name, found, wanted in (("X", X, np.float32), ("y", y, np.int32), ("offsets", offsets, np.int64)):
        _check_type(name, found, wanted)
    _check_type("qids", qids, np.int64)
    checks.array("X", X, ndim=2)
    checks.labels("y", y)
    checks.array("qids", qids, ndim=1)
    if len(X) != len(y):
        raise DataError(f"y: expected one label for each of {len(X)} rows of X, found {len(y)}")
    checks.offsets("offsets", offsets, len(y))
    if len(qids) != len(offsets) - 1:
        raise DataError(f"qids: expected one name for each of {len(offsets) - 1} queries, found {len(qids)}")


def _check_type(name: str, found: Any, wanted: type[np.generic]) -> None:
    if type(found) not in (np.ndarray, np.memmap) or found.dtype != wanted:
        raise ArgumentError(
            f"{name}: expected an array of {wanted.__name__}, found {checks.shown(found)}; use RankingData.from_arrays"
        )


def names(name: str, given: Any, count: int | None = None) -> tuple[str, ...] | None:
    """A list of names as a tuple, or None where there is none; a DataError when it is none or not of that length."""
    if given is None:
        return None
    listed = isinstance(given, Sequence) and not isinstance(given, str)
    if not listed and not (isinstance(given, np.ndarray) and given.ndim == 1):
        raise ArgumentError(f"{name}: expected a list of names, found {checks.shown(given)}")
    listed_names = tuple(given)
    for place, one in enumerate(listed_names):
        if not isinstance(one, str):
            raise ArgumentError(f"{name}[{place}]: expected a name, found {checks.shown(one)}")
    if count is not None and len(listed_names) != count:
        raise DataError(f"{name}: expected {count} names, found {len(listed_names)}")
    return tuple(map(str, listed_names))


def float32(X: ArrayLike) -> NDArray[np.float32]:
    """A matrix of features in single precision, copied; a DataError when a value is not finite there."""
    with np.errstate(over="ignore"):  # what overflows becomes infinite and is refused as such
        narrow = np.array(checks.array("X", X, ndim=2), dtype=np.float32)
    return checks.array("X (in float32)", narrow)


def contiguous(names: NDArray[np.int64], starts: NDArray[np.int64]) -> None:
    """Raise a DataError when a query that begins in one of the rows ``starts`` has begun before."""
    first_names, first = np.unique(names[starts], return_index=True)
    if len(first_names) == len(starts):
        return
    repeated = np.setdiff1d(np.arange(len(starts)), first)[0]
    row = starts[repeated]
    raise DataError(f"qid: row {row}: query {names[row]} appears again after other queries; sort the rows by query")
