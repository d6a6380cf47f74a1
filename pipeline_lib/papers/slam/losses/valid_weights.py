"""Which weights make SLAM an upper bound on 1 - AP or 1 - NDCG of a binary list, and are the paper's the smallest?

With r relevant documents of m, phi^v is at least the ranking loss for all scores if and only if

    sum of v_i over S >= c_j    for every set S of j relevant documents,

where c_j is the largest loss of a ranking in which j relevant documents stand below an irrelevant one: the hinges of
these can be arbitrarily close to 1, and those of the others 0. Linear programmes over this polyhedron give the valid
weights with the smallest sum, those that lie nowhere above the paper's, and the smallest value of each entry.
"""

import itertools

import numpy as np

from pipeline_lib.core.arrays import Floats
from pipeline_lib.papers.slam.linear_programmes import least
from pipeline_lib.ranking import discounts
from pipeline_lib.surrogates.slam import weights


def least_sums(kind: str, m: int, r: int) -> dict[str, float]:
    """The weights of ``kind``, "map" or "ndcg", and the valid ones for lists with r relevant documents of m.

    Returns
    -------
    dict
        printed_sum, sum_below (the smallest sum of valid weights that lie nowhere above the printed ones), least_sum
        (of all valid weights), and largest_excess (by how much an entry of the printed weights lies above that of some
        valid weights).
    """
    printed = weights((np.arange(m) < r).astype(np.int32), kind)[:r]
    sets, sides = constraints(kind, m, r)
    return {
        "printed_sum": float(printed.sum()),
        # A hair more than the printed weights, so that rounding leaves these among the valid ones.
        "sum_below": least(np.ones(r), sets, sides, printed + 1e-9),
        "least_sum": least(np.ones(r), sets, sides),
        "largest_excess": max(float(printed[i]) - least(np.eye(r)[i], sets, sides) for i in range(r)),
    }


def constraints(kind: str, m: int, r: int) -> tuple[Floats, Floats]:
    """The sets S as rows of zeros and ones, and their c_j.

    Example
    -------
    >>> sets, sides = constraints("map", 3, 2)
    >>> sets.astype(int).tolist(), sides.round(4).tolist()
    ([[1, 0], [0, 1], [1, 1]], [0.1667, 0.1667, 0.4167])
    """
    worst = np.zeros(r + 1)
    for places in itertools.combinations(range(m), r):
        # Relevant documents before the first irrelevant one are at ranks 0, 1, ...
        outscored = sum(place != number for number, place in enumerate(places))
        worst[outscored] = max(worst[outscored], _loss(kind, np.array(places), m))
    subsets = [subset for j in range(1, r + 1) for subset in itertools.combinations(range(r), j)]
    sets = np.array([np.isin(np.arange(r), subset) for subset in subsets], np.float64)
    return sets, np.array([worst[len(subset)] for subset in subsets])


def _loss(kind: str, places: Floats, m: int) -> float:
    r = len(places)
    if kind == "map":
        return float(1.0 - np.mean(np.arange(1, r + 1) / (places + 1)))
    D = discounts(m)
    return float(1.0 - D[places].sum() / D[:r].sum())
