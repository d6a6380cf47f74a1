"""Which weights make SLAM an upper bound on 1 - AP or 1 - NDCG of a binary list, and are the paper's the smallest?

With r relevant documents of m, phi^v is at least the ranking loss for all scores if and only if

    sum of v_i over S >= c_j    for every set S of j relevant documents,

where c_j is the largest loss of a ranking in which j relevant documents stand below an irrelevant one: the hinges of
these can be arbitrarily close to 1, and those of the others 0. Linear programmes over this polyhedron give the valid
weights with the smallest sum, those that lie nowhere above the paper's, and the smallest value of each entry.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from pipeline_lib.arrays import Floats
from pipeline_lib.ranking import discounts
from pipeline_lib.surrogates.slam import weights

LENGTHS = (2, 3, 4, 5, 6, 7)

Row = dict[str, Any]


def compared() -> list[Row]:
    """The paper's weights and the valid ones for all binary lists of these lengths.

    Returns
    -------
    rows
        kind ("map" or "ndcg"), m, relevant (r), printed_sum, sum_below (the smallest sum of valid weights that lie
        nowhere above the printed ones), least_sum (of all valid weights), and largest_excess (by how much an entry of
        the printed weights lies above that of some valid weights).
    """
    return [
        {"kind": kind, "m": m, "relevant": r, **_least(kind, m, r)}
        for kind in ("map", "ndcg")
        for m in LENGTHS
        for r in range(1, m)
    ]


def _least(kind: str, m: int, r: int) -> Row:
    from scipy.optimize import linprog

    printed = weights((np.arange(m) < r).astype(np.int32), kind)[:r]
    sets, sides = constraints(kind, m, r)

    def least(objective: Floats, above: Floats | None = None) -> float:
        limits = [(0.0, None if above is None else above[i]) for i in range(r)]
        solution = linprog(objective, A_ub=-sets, b_ub=-sides, bounds=limits)
        if solution.status != 0 or solution.fun is None:
            raise RuntimeError(f"linprog: expected valid weights for m = {m}, r = {r}, found {solution.message}")
        return float(solution.fun)

    # A hair more than the printed weights, so that rounding leaves these among the valid ones.
    return {
        "printed_sum": float(printed.sum()),
        "sum_below": least(np.ones(r), printed + 1e-9),
        "least_sum": least(np.ones(r)),
        "largest_excess": max(float(printed[i]) - least(np.eye(r)[i]) for i in range(r)),
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
