"""From which label on should a document count as relevant to SLAM-MAP? (`slam`, eq. 6)

AP and the weights (6) are defined for binary labels. Graded ones become binary by a threshold t: a document counts as
relevant if its label is at least t. The library has t = 1, as AP has in its measures. Here, SLAM-MAP is minimised, and
its perceptron is run, with every t that some label reaches; on the test queries of all folds, the rankers are compared
with those of t = 1 by NDCG@10, which knows all grades, and by AP with every threshold.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from pipeline_lib import metrics
from pipeline_lib.arrays import Floats
from pipeline_lib.learners import erm, perceptron, rounds, sublists
from pipeline_lib.papers.slam.computations import paired_differences
from pipeline_lib.ranking_data import RankingData, Standardisation
from pipeline_lib.seeds import generator
from pipeline_lib.surrogates.slam import SlamMAP

if TYPE_CHECKING:
    from pipeline_lib.papers.slam.experiments.relevance import RelevanceSettings

CUTOFF = 10
TOL = 1e-3

Row = dict[str, Any]
Measure = tuple[str, int]
"""The name of a measure, and the label from which on it counts documents as relevant."""


def run(
    settings: RelevanceSettings,
    dataset: str,
    folds: Mapping[int, Sequence[RankingData]],
    level: Mapping[str, Any],
    seed: int,
) -> list[Row]:
    """Train on the first part of every fold with every threshold, and compare on the second.

    Returns
    -------
    rows
        dataset, learner ("minimiser", "minimiser, short lists" or "perceptron, averaged"), relevant_from (the
        threshold t in training), measure ("ndcg@10" or "map") and counted_from (the threshold in it), n_queries (those
        with a relevant document, the others are left out), value, its difference from that of t = 1 (over_first) with
        an interval, file_order (the value of the order of the file), and largest_norm of the rankers over folds. No
        rows where labels have no second grade.
    """
    highest = max(int(part.y.max(initial=0)) for parts in folds.values() for part in parts)
    thresholds = range(1, highest + 1 if highest > 1 else 1)
    values: dict[tuple[str, int, Measure], list[Floats]] = {}
    unranked: dict[Measure, list[Floats]] = {}
    norms: dict[tuple[str, int], float] = {}
    for fold, (train, test) in folds.items():
        standard = Standardisation.of(train)
        inside, outside = standard.apply(train.in_role("train")), standard.apply(test.in_role("test"))
        for measure, of_order in _measured(np.zeros(test.n_documents), test, thresholds).items():
            unranked.setdefault(measure, []).append(of_order)
        for t in thresholds:
            for learner, fit in _learners(settings, (seed, "slam-relevance", dataset, fold)).items():
                w = fit(relevant_from(inside, t))
                norms[learner, t] = max(norms.get((learner, t), 0.0), float(np.linalg.norm(w)))
                for measure, own in _measured(outside.X64 @ w, outside, thresholds).items():
                    values.setdefault((learner, t, measure), []).append(own)
    joined = {key: np.concatenate(parts) for key, parts in values.items()}
    rows = []
    for (learner, t, measure), own in joined.items():
        compared = _compared(own, joined[learner, 1, measure], level, (seed, dataset, learner, t, *measure))
        order = float(np.nanmean(np.concatenate(unranked[measure])))
        row = {"dataset": dataset, "learner": learner, "relevant_from": t, "measure": measure[0]}
        row |= {"counted_from": measure[1], **compared, "file_order": order, "largest_norm": norms[learner, t]}
        rows.append(row)
    return rows


def relevant_from(data: RankingData, t: int) -> RankingData:
    """The same documents with binary labels: 1 where the label is at least ``t``.

    Example
    -------
    >>> data = RankingData.from_arrays(np.zeros((3, 1)), [0, 1, 2], [1, 1, 1])
    >>> relevant_from(data, 2).y.tolist()
    [0, 0, 1]
    """
    return replace(data, y=(data.y >= t).astype(data.y.dtype))


def _learners(settings: RelevanceSettings, axes: tuple[Any, ...]) -> dict[str, Callable[[RankingData], Floats]]:
    # The same lists and the same order of queries for every threshold.
    def minimised(data: RankingData) -> Floats:
        return erm.fit(data, SlamMAP(), l2=settings.l2, tol=TOL).w

    def on_short_lists(data: RankingData) -> Floats:
        return minimised(sublists.cut(data, settings.sublists, generator(*axes, "sublists")))

    def averaged(data: RankingData) -> Floats:
        order = rounds.random_passes(data.n_queries, settings.passes, (*axes, "order"))
        return perceptron.run(data, order, "map").average

    return {"minimiser": minimised, "minimiser, short lists": on_short_lists, "perceptron, averaged": averaged}


def _measured(scores: Floats, data: RankingData, thresholds: Sequence[int]) -> dict[Measure, Floats]:
    """Every measure of every query; NaN where a query has no relevant document."""
    values = {("ndcg@10", 1): metrics.ndcg(scores, data.y, data.offsets, CUTOFF, no_relevant="skip")}
    for t in thresholds:
        binary = relevant_from(data, t).y
        values["map", t] = metrics.average_precision(scores, binary, data.offsets, no_relevant="skip")
    return values


def _compared(own: Floats, first: Floats, level: Mapping[str, Any], axes: tuple[Any, ...]) -> Row:
    a = own[~np.isnan(own)]
    b = a if own is first else first[~np.isnan(first)]
    found = paired_differences.compared("over_first", a, b, level, (*axes, "slam-relevance"))
    return {"n_queries": len(a), "value": float(a.mean()), **found}
