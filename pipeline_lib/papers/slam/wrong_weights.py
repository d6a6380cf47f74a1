"""Would the checks of SLAM's weights and hinges notice an error in them?

The statements about SLAM hold with other weights as well, or fail by little. Here are the errors that come easily, for
the same lists of shape (n, m) on which the true ones are checked:

- *gains as labels*: y in place of 2^y - 1 in the weights; *discounts as ranks*: 1/i in place of 1/log2(i + 1);
- *one rank off*: i + 1 in place of i in (6), (9) and (31);
- *other normaliser*: the weights divided by a DCG with the discount 1/i;
- hinges with the margin .9.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline_lib.core.arrays import Floats
from pipeline_lib.papers.score_lists import Labels, stacked
from pipeline_lib.ranking import GAINS, discounts, ideal_ranks
from pipeline_lib.surrogates.slam import cutoff, weights_of_all

SHORT_MARGIN = 0.9


def graded(y: Labels, kind: str) -> Labels:
    """The labels as a measure knows them: MAP distinguishes relevant and irrelevant documents only."""
    return np.minimum(y, 1) if kind == "map" else y


def numbers(y: Labels) -> NDArray[Any]:
    """The number i of every document, from 1: by falling label, and equal labels in the order of the list."""
    _, flat, offsets = stacked(np.zeros(y.shape), y)
    return ideal_ranks(flat, offsets).reshape(y.shape)


def right(y: Labels, kind: str) -> Floats:
    """The weights (6), (9) or (31) of every list, shape (n, m)."""
    _, flat, offsets = stacked(np.zeros(y.shape), y)
    return weights_of_all(flat, offsets, kind).reshape(y.shape)


def wrong(y: Labels, kind: str) -> dict[str, Floats]:
    """The weights of every list with each error by its name; an error that does not concern the kind is left out.

    Example
    -------
    >>> found = wrong(np.array([[1, 1, 0]], np.int32), "map")
    >>> list(found), found["one_rank_off"].round(4).tolist()
    (['one_rank_off'], [[0.1667, 0.125, 0.0]])
    """
    labels, m = graded(y, kind), y.shape[1]
    ranks = numbers(labels)
    if kind == "map":
        r = labels.sum(axis=1, keepdims=True)
        off = np.where(labels > 0, (m - r) / (np.maximum(r, 1) * (m - r + ranks + 1.0)), 0.0)
        return {"one_rank_off": off}
    D = np.append(discounts(m), discounts(m + 1)[-1])
    gains, k = GAINS[labels], cutoff(kind)
    sharp = 1.0 / np.arange(1.0, m + 2.0)
    return {
        "gains_as_labels": _assembled(labels.astype(np.float64), D, D, ranks, k),
        "discounts_as_ranks": _assembled(gains, sharp, sharp, ranks, k),
        "one_rank_off": _assembled(gains, D, D, ranks, k, off=1),
        "other_normaliser": _assembled(gains, D, sharp, ranks, k),
    }


def _assembled(gains: Floats, D: Floats, normal: Floats, ranks: NDArray[Any], k: int | None, off: int = 0) -> Floats:
    """(9), or (31) for a cutoff, with D(i + off) for D(i), and ``normal`` in the normaliser."""
    m = gains.shape[1]
    counted = ranks <= (k or m)
    Z = np.where(counted, gains * normal[ranks - 1], 0.0).sum(axis=1, keepdims=True)
    if k is None:
        v = (gains - gains.min(axis=1, keepdims=True)) * (D[ranks - 1 + off] - D[m - 1])
    else:
        v = np.where(counted, gains * D[ranks - 1 + off], 0.0)
    return np.asarray(np.divide(v, Z, out=np.zeros_like(v), where=Z > 0.0))


def hinges(scores: Floats, y: Labels) -> Floats:
    """max(0, max over j of lower label (1 + s_j - s_i)) of every document, shape (n, m).

    Example
    -------
    >>> hinges(np.array([[0.0, 2.0, 1.0]]), np.array([[1, 0, 0]], np.int32)).tolist()
    [[3.0, 0.0, 0.0]]
    """
    best = np.full(scores.shape, -np.inf)
    highest = best[:, 0].copy()
    for label in range(int(y.max()) + 1):
        own = y == label
        best = np.where(own, highest[:, None], best)
        highest = np.maximum(highest, np.where(own, scores, -np.inf).max(axis=1))
    return np.maximum(1.0 + best - scores, 0.0)


def of_short_margin(hinges: Floats) -> Floats:
    """The same hinges with the margin .9 in place of 1."""
    return np.maximum(hinges - (1.0 - SHORT_MARGIN), 0.0)


def by_score(v: Floats, scores: Floats, y: Labels) -> Floats:
    """The same weights with the positions of equal labels given by score: the best-scored has the largest weight.

    Example
    -------
    >>> by_score(np.array([[0.25, 0.5, 0.0]]), np.array([[3.0, 1.0, 2.0]]), np.array([[1, 1, 0]], np.int32)).tolist()
    [[0.5, 0.25, 0.0]]
    """
    found = np.empty_like(v)
    falling = np.take_along_axis(v, np.lexsort((-v, -y)), axis=1)
    np.put_along_axis(found, np.lexsort((-scores, -y)), falling, axis=1)
    return found
