"""The tight weights of SLAM, where its risk is smallest at w = 0, and training on short lists."""

import math
from pathlib import Path

import numpy as np
import pytest

from pipeline_lib.data.ranking_data import RankingData
from pipeline_lib.papers.slam.weights import experiment as weights
from pipeline_lib.papers.slam.weights import tight_weights
from pipeline_lib.theory import zero_minimiser
from tests.papers.jobs import tables
from tests.readings import decided
from tests.small_settings import small

SMALL = small("slam", "weights")


def test_constraints_are_those_of_scores_on_a_grid() -> None:
    # Random scores never ask for more than the extreme ones do.
    rng = np.random.default_rng(1)
    for y in (np.array([2, 1, 0], np.int32), np.array([1, 1, 0, 0], np.int32)):
        hinges, losses = tight_weights.constraints(y)
        for _ in range(20):
            v = rng.dirichlet(np.ones(len(y))) * rng.uniform(0.2, 1.5)
            worst = (losses - hinges @ v).max()
            for scores in rng.normal(0.0, 1.0, (50, len(y))):
                own = [max([0.0, *(1 + s - t for s, label in zip(scores, y, strict=True) if label < k)])
                       for t, k in zip(scores, y, strict=True)]  # fmt: skip
                order = np.argsort(-scores)
                gains, D = 2.0**y - 1, 1 / np.log2(np.arange(2, len(y) + 2))
                assert 1 - gains[order] @ D / (gains @ D) - np.dot(own, v) <= worst + 1e-12


def test_valid_weights_have_no_smaller_sum(tmp_path: Path) -> None:
    rows = list(weights.enumerated(SMALL))
    assert [row.labels for row in rows] == ["2 0", "1 0", "2 2 0", "2 1 0", "2 0 0", "1 1 0", "1 0 0"]
    by = {row.labels: row for row in rows}
    assert by["1 1 0"].least_sum == pytest.approx(0.5 / (1 + 1 / math.log2(3)))
    assert decided("slam-tight-weights", tables(rows), SMALL.plain(), tmp_path) == ("verified", [])
    broken = [row.model_copy(update={"least_sum": row.least_sum - 0.01}) for row in rows]
    assert decided("slam-tight-weights", tables(broken), SMALL.plain(), tmp_path)[0] == "refuted"


def test_the_criterion_says_where_the_minimiser_is_0(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    y = rng.integers(0, 3, 160)
    own = RankingData.from_arrays(rng.normal(size=(160, 2)) + 0.5 * y[:, None], y, np.repeat(np.arange(8), 20))
    rows = list(weights.phases(SMALL, {"own": own}, 3))
    assert {row.source for row in rows} == {"gaussian", "population", "own"}
    assert {row.kind for row in rows if row.source == "own"} == set(weights.KINDS)
    for claim in ("slam-zero-minimiser", "slam-zero-threshold"):
        assert decided(claim, tables(rows), SMALL.plain(), tmp_path) == ("verified", [])
    moved = [row.model_copy(update={"norm": 0.0}) for row in rows]
    assert decided("slam-zero-minimiser", tables(moved), SMALL.plain(), tmp_path)[0] == "refuted"


def test_normal_documents_have_their_separation() -> None:
    data = weights.gaussian(4000, 5, 2, 1.5, np.random.default_rng(0))
    x, y = data.X64[:, 0], data.y
    assert x[y == 1].mean() - x[y == 0].mean() == pytest.approx(1.5, abs=0.05)
    along = zero_minimiser.best_direction(data, y.astype(float))
    assert along.lead / 2 == pytest.approx(1.5, abs=0.05)
    assert along.spread / 2 == pytest.approx(zero_minimiser.expected_maximum(3), abs=0.05)


def test_rankers_of_whole_and_short_lists_are_compared_query_by_query(tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    y = rng.permuted(np.tile((np.arange(30) < 4).astype(int), (24, 1)), axis=1).ravel()
    X = rng.standard_normal((720, 2)) + 1.2 * y[:, None] * np.array([1.0, 0.0])
    whole = RankingData.from_arrays(X, y, np.repeat(np.arange(24), 30))
    first, second = range(12), range(12, 24)
    parts = {1: whole.divided(train=first, test=second), 2: whole.divided(train=second, test=first)}
    folds = {number: (fold["train"], fold["test"]) for number, fold in parts.items()}
    rows = list(weights.on_data(SMALL, "own", folds, {"level": 0.9, "resamples": 200}, 1))
    by = {row.lists: row for row in rows}
    assert all(row.n_queries == 24 for row in rows)
    assert by["whole"].largest_norm == 0.0
    assert by["whole"].ndcg == pytest.approx(by["whole"].file_order)
    short = by["short"]
    assert short.over_whole.value == pytest.approx(short.ndcg - by["whole"].ndcg)
    assert 0.0 < short.over_whole.low < short.over_whole.value < short.over_whole.high
    assert decided("slam-short-lists", tables(rows), SMALL.plain(), tmp_path) == ("answered", [])
