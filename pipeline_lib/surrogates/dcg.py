"""What are gain and discount, and at which ranks does the ideal ranking put the documents?

Gain G(r) = 2^r - 1 of a label r, discount D(i) = 1 / log2(i + 1) of a rank i; rank 1 is the top (`slam`, (1)).
"""

from __future__ import annotations

import numpy as np
from numba import njit

from pipeline_lib.arrays import Floats
from pipeline_lib.checks import MAX_LABEL, checked

GAINS: Floats = np.ldexp(1.0, np.arange(MAX_LABEL + 1)) - 1.0


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
def ideal_ranks(y, offsets):  # type: ignore[no-untyped-def]
    """The rank 1..m of every document when its query is sorted by falling label, equal labels in document order."""
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
