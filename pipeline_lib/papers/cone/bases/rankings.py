"""How well does a direction rank, and what do the risk and the coefficients of a cone say of it?"""

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from pipeline_lib import metrics
from pipeline_lib.core.arrays import Floats
from pipeline_lib.data.ranking_data import RankingData
from pipeline_lib.learners import cone
from pipeline_lib.learners.cone_ranking import FoldIn, direction
from pipeline_lib.papers.cone.common import pairs_of_queries

SELECTION = "letor4_mean_ndcg"
MEASURES = ("map", "ndcg")
PASSES_SEEN = (1, 2, 5, 10, 20, 40, 80)
"""Passes after which the ranking is measured next to the risk."""


def best_pass(fit: cone.Fit, fold_in: FoldIn, validation: RankingData) -> tuple[int, float]:
    """The number of passes after which MeanNDCG on the validation part is best, and this MeanNDCG."""
    values = [means(direction(U, fold_in), validation).ndcg for U in fit.path]
    after = int(np.argmax(values))
    return after, values[after]


class Means(NamedTuple):
    """MAP and MeanNDCG of a ranker on some queries."""

    map: float
    ndcg: float


def means(a: Floats, data: RankingData) -> Means:
    """The measures of the linear ranker a."""
    scores = np.einsum("ij,j->i", data.X64, a)
    measured = metrics.per_query(["map", SELECTION], scores, data.y, data.offsets)
    return Means(*(float(measured[name].mean()) for name in ("map", SELECTION)))


def agreement(fit: cone.Fit, test: RankingData) -> Iterator[tuple[str, float]]:
    """Along one training: in which share of pairs of passes has the lower risk the better test measure?

    The risk is that met during the pass; equal measures count half.
    """
    seen = [t for t in PASSES_SEEN if t <= fit.passes]
    found = [means(direction(fit.path[t], "gradient"), test) for t in seen]
    risks = [float(fit.met[t - 1]) for t in seen]
    for measure, values in zip(MEASURES, zip(*found, strict=True), strict=True):
        share = concordance(risks, values)
        if share is not None:
            yield f"risk and {measure}", share


def concordance(risks: Sequence[float], measures: Sequence[float]) -> float | None:
    """The share of pairs with different risks in which the lower risk has the higher measure; ties count half.

    Example
    -------
    >>> concordance([3.0, 2.0, 1.0], [0.1, 0.3, 0.2]), concordance([2.0, 1.0, 1.0], [0.1, 0.1, 0.3])
    (0.6666666666666666, 0.75)
    """
    points = [
        0.5 + 0.5 * float(np.sign((risk - other) * (measure - value)))
        for (other, measure), (risk, value) in combinations(zip(risks, measures, strict=True), 2)
        if risk != other
    ]
    return float(np.mean(points)) if points else None


def signs(U: Floats, test: RankingData) -> Iterator[tuple[str, float]]:
    """The share of positive coefficients of differences in the right order, for both ways of folding in.

    Coefficients are linear in the difference, so that it is the share of negative ones in the wrong order.
    """
    unfolded: dict[FoldIn, Floats] = {"gradient": U, "least-squares": np.asarray(np.linalg.pinv(U).T, dtype=np.float64)}
    for fold_in, dual in unfolded.items():
        positive = counted = 0
        coefficients = np.einsum("ij,jk->ik", test.X64, dual)
        for higher, lower in pairs_of_queries(test):
            w = coefficients[higher] - coefficients[lower]
            positive, counted = positive + int((w > 0.0).sum()), counted + int((w != 0.0).sum())
        if counted:
            yield f"signs, {fold_in}", positive / counted
