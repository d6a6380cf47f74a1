"""What do the experiments on ConeRank share: groups of rows, pairs of documents, and samples without a query?"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from pipeline_lib.data.ranking_data import RankingData

T = TypeVar("T")


def grouped(rows: Iterable[T], *names: str) -> dict[tuple[Any, ...], list[T]]:
    """The rows by the values of some attributes, in the order in which these come first."""
    found: dict[tuple[Any, ...], list[T]] = defaultdict(list)
    for row in rows:
        found[tuple(getattr(row, name) for name in names)].append(row)
    return found


def pairs_of_queries(data: RankingData) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """For every query the documents of its pairs, those with the higher labels and those with the lower ones."""
    for begin, end in zip(data.offsets[:-1], data.offsets[1:], strict=True):
        y = data.y[begin:end]
        higher, lower = np.nonzero(y[:, None] > y)
        yield begin + higher, begin + lower


def without(counts: NDArray[Any], kind: int | np.integer[Any]) -> NDArray[Any]:
    """The numbers of queries of every kind in a sample after one query is left out.

    Example
    -------
    >>> without(np.array([2, 1]), 0)
    array([1, 1])
    """
    return counts - (np.arange(len(counts)) == kind)
