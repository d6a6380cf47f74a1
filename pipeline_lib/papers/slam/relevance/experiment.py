"""From which label on should a document count as relevant to SLAM-MAP? (`slam`, eq. 6)

AP and the weights (6) are defined for binary labels. Graded ones become binary by a threshold t: a document counts as
relevant if its label is at least t. The library has t = 1, as AP has in its measures. Here, SLAM-MAP is minimised, and
its perceptron is run, with every t that some label reaches; on the test queries of all folds, the rankers are compared
with those of t = 1 by NDCG@10, which knows all grades, and by AP with every threshold.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from pipeline_lib import metrics
from pipeline_lib.core.arrays import Floats
from pipeline_lib.core.cost import Cost
from pipeline_lib.core.seeds import generator
from pipeline_lib.core.settings import Positive, Settings, Whole
from pipeline_lib.data.ranking_data import RankingData
from pipeline_lib.data.rows import Field, Interval, Row
from pipeline_lib.experiment import EVERY, Experiment, Job, Step
from pipeline_lib.learners import erm, perceptron, rounds, sublists
from pipeline_lib.papers.slam.differences import FILE_ORDER, Folds, difference, on_every_data_set, over_folds
from pipeline_lib.surrogates.slam import SlamMAP

CUTOFF = 10
TOL = 1e-3

Measure = tuple[str, int]
"""The name of a measure, and the label from which on it counts documents as relevant."""


class RelevanceSettings(Settings):
    """From which label on should a document count as relevant to SLAM-MAP, where labels have several grades?"""

    l2: Positive = Field(0.01, description="l2 with which SLAM-MAP is minimised")
    sublists: Whole = Field(3, ge=2, description="documents per list where it is minimised on short lists")
    passes: Whole = Field(5, description="passes of the averaged perceptron over the training queries")


class Threshold(Row, table="tables/slam-relevance"):
    """Rankers trained with one threshold of relevance, by one measure on the test queries of all folds."""

    dataset: str = Field(description="name of the data set")
    learner: str = Field(description="minimiser, minimiser, short lists, or perceptron, averaged")
    relevant_from: int = Field(description="t, the least label that counts as relevant in training")
    measure: str = Field(description="ndcg@10 or map")
    counted_from: int = Field(description="least label that counts as relevant to the measure; 1 for ndcg@10")
    n_queries: int = Field(description="queries with a document relevant to the measure; the others are left out")
    value: float = Field(description="mean of the measure over these queries")
    over_first: Interval = Field(
        description="value minus that of t = 1, with a bootstrap interval over queries; 0 for t = 1"
    )
    file_order: float = Field(description="mean of the measure for the order of the file")
    largest_norm: float = Field(description="largest ||w|| of a fold")


def compare(job: Job) -> Iterator[Row]:
    """Compare the thresholds on every data set whose labels have a second grade."""
    return on_every_data_set(job, on_data)


def on_data(
    settings: RelevanceSettings, dataset: str, folds: Folds, statistics: Mapping[str, Any], seed: int
) -> Iterator[Threshold]:
    """Train on the first part of every fold with every threshold, and compare on the second."""
    highest = max(int(part.y.max(initial=0)) for parts in folds.values() for part in parts)
    if highest < 2:
        return
    thresholds = range(1, highest + 1)

    def trained(fold: int, data: RankingData) -> dict[tuple[str, int], Floats]:
        axes = (seed, "slam-relevance", dataset, fold)
        found = {t: _trained(relevant_from(data, t), settings, axes) for t in thresholds}
        return {(learner, t): w for t, rankers in found.items() for learner, w in rankers.items()}

    values, norms = over_folds(folds, trained, lambda scores, data: _measured(scores, data, thresholds))
    # NaN marks the queries without a relevant document, which are the same for all rankers.
    counted = {key: own[~np.isnan(own)] for key, own in values.items()}
    for (ranker, measure), own in counted.items():
        if ranker == FILE_ORDER:
            continue
        learner, t = ranker
        axes = (seed, dataset, learner, t, *measure, "slam-relevance")
        yield Threshold(
            dataset=dataset,
            learner=learner,
            relevant_from=t,
            measure=measure[0],
            counted_from=measure[1],
            n_queries=len(own),
            value=float(own.mean()),
            over_first=difference(own, counted[(learner, 1), measure], statistics, axes),
            file_order=float(np.nanmean(values[FILE_ORDER, measure])),
            largest_norm=norms[ranker],
        )


def relevant_from(data: RankingData, t: int) -> RankingData:
    """The same documents with binary labels: 1 where the label is at least ``t``.

    Example
    -------
    >>> data = RankingData.from_arrays(np.zeros((3, 1)), [0, 1, 2], [1, 1, 1])
    >>> relevant_from(data, 2).y.tolist()
    [0, 0, 1]
    """
    return replace(data, y=(data.y >= t).astype(data.y.dtype))


def _trained(data: RankingData, settings: RelevanceSettings, axes: tuple[Any, ...]) -> dict[str, Floats]:
    """The rankers of all learners; lists are cut, and queries met, in the same way for every threshold."""
    short = sublists.cut(data, settings.sublists, generator(*axes, "sublists"))
    order = rounds.random_passes(data.n_queries, settings.passes, (*axes, "order"))
    return {
        "minimiser": erm.fit(data, SlamMAP(), l2=settings.l2, tol=TOL).w,
        "minimiser, short lists": erm.fit(short, SlamMAP(), l2=settings.l2, tol=TOL).w,
        "perceptron, averaged": perceptron.run(data, order, "map").average,
    }


def _measured(scores: Floats, data: RankingData, thresholds: Sequence[int]) -> dict[Measure, Floats]:
    """Every measure of every query; NaN where a query has no relevant document."""
    values = {("ndcg@10", 1): metrics.ndcg(scores, data.y, data.offsets, CUTOFF, no_relevant="skip")}
    for t in thresholds:
        binary = relevant_from(data, t).y
        values["map", t] = metrics.average_precision(scores, binary, data.offsets, no_relevant="skip")
    return values


EXPERIMENT = Experiment(
    RelevanceSettings,
    (
        Step(
            "relevance",
            compare,
            rows=(Threshold,),
            documents=EVERY,
            with_folds=True,
            facts=["folds", "statistics"],
            surrogates=("slam-map",),
            cost=Cost(5.0, start_mb=500.0),
        ),
    ),
)
