"""What does a ranking lose, in which measure, and with which surrogates does the paper compare those of SLAM?"""

from collections.abc import Iterator
from itertools import combinations_with_replacement
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline_lib import metrics
from pipeline_lib.core.arrays import Floats
from pipeline_lib.papers.score_lists import Labels, stacked
from pipeline_lib.surrogates.slam import cutoff

COMPARED = ("ranksvm", "structured-ndcg", "svm-map", "listnet", "slam-ndcg", "slam-map", "slam-ndcg@10")
"""The surrogates of the table of section 6.1."""


def falling_labels(m: int, y_max: int) -> Iterator[Labels]:
    """All label vectors of m documents that fall from a positive label, at most y_max, to 0.

    Example
    -------
    >>> [y.tolist() for y in falling_labels(2, 2)]
    [[2, 0], [1, 0]]
    """
    for y in combinations_with_replacement(range(y_max, -1, -1), m):
        if y[0] > y[-1] == 0:
            yield np.array(y, np.int32)


def losses(kind: str, scores: Floats, y: NDArray[Any], offsets: NDArray[np.int64]) -> Floats:
    """1 - NDCG, 1 - AP or 1 - NDCG@k of every query, shape (Q,); 0 where no document is relevant."""
    if kind == "map":
        return 1.0 - metrics.average_precision(scores, y, offsets, no_relevant=1.0)
    return 1.0 - metrics.ndcg(scores, y, offsets, cutoff(kind), no_relevant=1.0)


def largest_losses(kind: str, scores: Floats, y: Labels) -> Floats:
    """The losses of the rows of scores and labels, with ties to the less relevant document; shape (n,).

    Example
    -------
    >>> largest_losses("map", np.zeros((1, 2)), np.array([[1, 0]], np.int32)).tolist()
    [0.5]
    """
    labels = np.take_along_axis(y, worst_order(scores, y), axis=1)
    return losses(kind, *stacked(np.tile(-np.arange(y.shape[1], dtype=np.float64), (len(y), 1)), labels))


def worst_order(scores: Floats, y: Labels) -> NDArray[np.int64]:
    """Documents of every row from the first rank to the last, the less relevant of equal scores first."""
    return np.lexsort((y, -scores))
