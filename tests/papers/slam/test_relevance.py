"""SLAM-MAP with other thresholds of relevance: labels, measures, and the comparison query by query."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from pipeline_lib import metrics
from pipeline_lib.data.ranking_data import RankingData, Standardisation
from pipeline_lib.data.rows import Interval
from pipeline_lib.learners import erm
from pipeline_lib.papers.slam.relevance import experiment as relevance
from pipeline_lib.papers.slam.relevance.experiment import RelevanceSettings
from pipeline_lib.surrogates.slam import SlamMAP
from tests.papers.jobs import tables
from tests.papers.slam.small import judged, parsed

LEVEL = {"level": 0.9, "resamples": 200}


def folds_of(y_max: int, seed: int = 4) -> dict[int, tuple[RankingData, RankingData]]:
    """Label 1 is told by the first feature, and a higher label by the second."""
    rng = np.random.default_rng(seed)
    y = rng.permuted(np.tile([0, 0, 0, 0, 1, 1, 0, y_max], (96, 1)), axis=1).ravel()
    X = rng.standard_normal((len(y), 2)) + 3.0 * np.column_stack([y == 1, y > 1])
    whole = RankingData.from_arrays(X, y, np.repeat(np.arange(96), 8))
    first, second = range(48), range(48, 96)
    folds = {1: whole.divided(train=first, test=second), 2: whole.divided(train=second, test=first)}
    return {number: (fold["train"], fold["test"]) for number, fold in folds.items()}


def run(folds: dict[int, tuple[RankingData, RankingData]]) -> list[relevance.Threshold]:
    return list(relevance.on_data(parsed("relevance", RelevanceSettings, passes=2), "own", folds, LEVEL, 1))


def test_rankers_are_trained_and_measured_with_every_threshold(tmp_path: Path) -> None:
    folds = folds_of(2)
    rows = run(folds)
    by = {(row.learner, row.relevant_from, row.measure, row.counted_from): row for row in rows}
    assert len(rows) == len(by) == 3 * 2 * 3
    for t in (1, 2):
        ndcg, precisions = [], []
        for train, test in folds.values():
            standard = Standardisation.of(train)
            inside, outside = standard.apply(train), standard.apply(test)
            binary = RankingData.from_arrays(inside.X, np.where(inside.y >= t, 1, 0), inside.qids.repeat(8))
            scores = outside.X64 @ erm.fit(binary, SlamMAP(), l2=0.01, tol=1e-3).w
            ndcg.append(metrics.ndcg(scores, outside.y, outside.offsets, 10))
            precisions.append(metrics.average_precision(scores, np.where(outside.y >= 2, 1, 0), outside.offsets))
        assert by["minimiser", t, "ndcg@10", 1].value == pytest.approx(np.mean(ndcg))
        assert by["minimiser", t, "map", 2].value == pytest.approx(np.mean(precisions))
    for learner in ("minimiser", "minimiser, short lists", "perceptron, averaged"):
        first, other = (by[learner, t, "map", 2] for t in (1, 2))
        assert other.over_first.value == pytest.approx(other.value - first.value)
        assert 0.0 < other.over_first.low < other.over_first.value < other.over_first.high
        assert by[learner, 2, "map", 1].over_first.high < 0.0
        assert first.over_first == Interval(0.0, 0.0, 0.0)
    assert judged("slam-relevant-from", tables(rows), "relevance", tmp_path) == ("answered", True)


def test_binary_labels_leave_nothing_to_compare() -> None:
    assert run(folds_of(1)) == []


def test_queries_without_a_relevant_document_are_left_out() -> None:
    folds = folds_of(2)
    train, test = folds[1]
    y = test.y.copy()
    y[:8] = np.minimum(y[:8], 1)  # the first query has no document of label 2
    y[8:16] = 0  # the second has no relevant one at all
    folds[1] = train, replace(test, y=y)
    counts = {(row.measure, row.counted_from): row.n_queries for row in run(folds)}
    assert counts == {("ndcg@10", 1): 95, ("map", 1): 95, ("map", 2): 94}
