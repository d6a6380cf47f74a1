"""How do scores rank the documents of a query, and what are gain, discount and ideal DCG?

Gain G(r) = 2^r - 1 of a label r, discount D(i) = 1 / log2(i + 1) of a rank i; rank 1 is the top (`slam`, (1)).
Documents of equal scores, and those of equal labels in the ideal ranking, keep their order in the data.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from pipeline_lib.checks import checked
from pipeline_lib.labels import MAX_LABEL

Floats = NDArray[np.float64]

GAINS: Floats = np.ldexp(1.0, np.arange(MAX_LABEL + 1)) - 1.0
"""G(0), ..., G(MAX_LABEL), exactly."""

LONG = 64
"""Longer lists are sorted by merging, shorter ones by insertion."""


@checked
def discounts(m: int) -> Floats:
    """D(1), ..., D(m).

    Example
    -------
    >>> discounts(3).round(4).tolist()
    [1.0, 0.6309, 0.5]
    """
    ranks: Floats = np.arange(1, m + 1, dtype=np.float64)
    return 1.0 / np.log2(ranks + 1.0)


@njit(cache=True)
def order_by_score(s, ranked):  # type: ignore[no-untyped-def]
    """Write the documents of one query into ``ranked`` from the top down, equal scores in document order.

    Example
    -------
    >>> ranked = np.empty(3, np.int64)
    >>> order_by_score(np.array([0.5, 1.0, 0.5]), ranked)
    >>> ranked.tolist()
    [1, 0, 2]
    """
    if len(s) > LONG:
        ranked[: len(s)] = np.argsort(-s, kind="mergesort")
        return
    for i in range(len(s)):
        place = i
        while place > 0 and s[ranked[place - 1]] < s[i]:
            ranked[place] = ranked[place - 1]
            place -= 1
        ranked[place] = i


@njit(cache=True)
def ideal_dcg(y, D):  # type: ignore[no-untyped-def]
    """The sum over the ranks i <= len(D) of D(i) times the gain of the i-th largest label of one query.

    Terms are added from the top rank down, so that the DCG of the best ranking, added in the same way, equals it bit
    for bit.

    Example
    -------
    >>> ideal_dcg(np.array([0, 2, 1]), np.array([1.0, 0.5]))
    3.5
    """
    count = np.zeros(MAX_LABEL + 1, np.int64)
    top = 0
    for i in range(len(y)):
        count[y[i]] += 1
        top = max(top, y[i])
    rank, ideal = 0, 0.0
    for label in range(top, 0, -1):
        for _ in range(min(count[label], len(D) - rank)):
            ideal += GAINS[label] * D[rank]
            rank += 1
    return ideal


@njit(cache=True)
def ideal_ranks(y, offsets):  # type: ignore[no-untyped-def]
    """The rank 1..m of every document when its query is sorted by decreasing label, equal labels in document order."""
    ranks = np.empty(len(y), np.int64)
    following = np.zeros(MAX_LABEL + 1, np.int64)
    for q in range(len(offsets) - 1):
        begin, end = offsets[q], offsets[q + 1]
        top = 0
        for i in range(begin, end):
            following[y[i]] += 1
            top = max(top, y[i])
        rank = 1
        for label in range(top, -1, -1):
            rank, following[label] = rank + following[label], rank
        for i in range(begin, end):
            ranks[i] = following[y[i]]
            following[y[i]] += 1
        following[: top + 1] = 0
    return ranks
