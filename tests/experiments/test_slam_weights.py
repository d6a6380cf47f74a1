"""The experiments of slam on weights, on lengths of lists and on sentences: their rows, and what is judged on them."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pipeline_lib.papers.slam.computations import (
    lengths,
    phases,
    practice,
    sentences,
    short_lists,
    tight_weights,
)
from pipeline_lib.papers.slam.experiments.lengths import ListLengthsSettings
from pipeline_lib.papers.slam.experiments.sentences import SentencesSettings
from pipeline_lib.papers.slam.experiments.weights import WeightsSettings
from pipeline_lib.ranking_data import RankingData
from pipeline_lib.surrogates.slam import weights
from pipeline_lib.surrogates.slam_tight import tight_weights_of_all
from pipeline_lib.theory import perceptron_bounds, zero_minimiser
from tests import readings
from tests.small_settings import SETTINGS

SMALL = SETTINGS["slam"]


def parsed(name: str, kind: Any, **changes: Any) -> Any:
    return kind.parse({**SMALL[name], **changes})


def judged(claim: str, table: str, rows: Any, name: str, folder: Path) -> tuple[str, bool]:
    found = readings.judged(claim, {table: rows}, SMALL[name], folder)
    assert found.severity is not None
    return found.status, all(plant.caught for plant in found.severity.planted)


# --- Weights --------------------------------------------------------------------------------------------------------


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
    rows = tight_weights.enumerated((2, 3), 2)
    assert [row["labels"] for row in rows] == ["2 0", "1 0", "2 2 0", "2 1 0", "2 0 0", "1 1 0", "1 0 0"]
    by = {row["labels"]: row for row in rows}
    assert by["1 1 0"]["least_sum"] == pytest.approx(0.5 / (1 + 1 / math.log2(3)))
    assert judged("slam-tight-weights", "slam-tight-weights", rows, "weights", tmp_path) == ("verified", True)
    broken = [{**row, "least_sum": row["least_sum"] - 0.01} for row in rows]
    assert judged("slam-tight-weights", "slam-tight-weights", broken, "weights", tmp_path)[0] == "refuted"


def test_sums_are_means_over_queries_whose_labels_differ() -> None:
    y = [1, 0, 0, 1, 1, 0, 0, 0]
    own = RankingData.from_arrays(np.zeros((8, 1)), y, [1, 1, 1, 2, 2, 2, 3, 3])
    row = tight_weights.sums(parsed("weights", WeightsSettings), {"own": own}, 1)[-1]
    printed = (weights(y[:3]).sum() + weights(y[3:6]).sum()) / 2
    tight = tight_weights_of_all(y, [0, 3, 6, 8]).sum() / 2
    assert (row["source"], row["queries"]) == ("own", 2)
    assert (row["printed"], row["tight"]) == (pytest.approx(printed), pytest.approx(tight))


def test_the_criterion_says_where_the_minimiser_is_0(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    y = rng.integers(0, 3, 160)
    own = RankingData.from_arrays(rng.normal(size=(160, 2)) + 0.5 * y[:, None], y, np.repeat(np.arange(8), 20))
    rows = phases.run(parsed("weights", WeightsSettings), {"own": own}, 3)
    assert {row["source"] for row in rows} == {"gaussian", "population", "own"}
    assert {row["kind"] for row in rows if row["source"] == "own"} == set(phases.KINDS)
    for claim in ("slam-zero-minimiser", "slam-zero-threshold"):
        assert judged(claim, "slam-phases", rows, "weights", tmp_path) == ("verified", True)
    moved = [{**row, "norm": 0.0} for row in rows]
    assert judged("slam-zero-minimiser", "slam-phases", moved, "weights", tmp_path)[0] == "refuted"


def test_normal_documents_have_their_separation() -> None:
    data = phases.gaussian(4000, 5, 2, 1.5, np.random.default_rng(0))
    x, y = data.X64[:, 0], data.y
    assert x[y == 1].mean() - x[y == 0].mean() == pytest.approx(1.5, abs=0.05)
    leads, spreads = zero_minimiser.lead_and_spread(x, y, data.offsets, y.astype(float))
    assert leads.mean() / 2 == pytest.approx(1.5, abs=0.05)
    assert spreads.mean() / 2 == pytest.approx(zero_minimiser.expected_maximum(3), abs=0.05)


def test_rankers_of_whole_and_short_lists_are_compared_query_by_query(tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    y = rng.permuted(np.tile((np.arange(30) < 4).astype(int), (24, 1)), axis=1).ravel()
    X = rng.standard_normal((720, 2)) + 1.2 * y[:, None] * np.array([1.0, 0.0])
    whole = RankingData.from_arrays(X, y, np.repeat(np.arange(24), 30))
    first, second = range(12), range(12, 24)
    parts = {1: whole.divided(train=first, test=second), 2: whole.divided(train=second, test=first)}
    folds = {number: (fold["train"], fold["test"]) for number, fold in parts.items()}
    rows = short_lists.run(parsed("weights", WeightsSettings), "own", folds, {"level": 0.9, "resamples": 200}, 1)
    by = {(row["weights"], row["lists"]): row for row in rows}
    assert all(row["n_queries"] == 24 for row in rows)
    assert by["printed", "whole"]["largest_norm"] == 0.0
    assert by["printed", "whole"]["ndcg"] == pytest.approx(by["printed", "whole"]["file_order"])
    short = by["printed", "short"]
    assert short["over_whole"] == pytest.approx(short["ndcg"] - by["printed", "whole"]["ndcg"])
    assert 0.0 < short["over_whole_low"] < short["over_whole"] < short["over_whole_high"]
    assert judged("slam-short-lists", "slam-short-lists", rows, "weights", tmp_path) == ("answered", True)


# --- Lengths --------------------------------------------------------------------------------------------------------


def test_the_bound_without_m_holds_and_is_nearly_attained(tmp_path: Path) -> None:
    rows = lengths.run(parsed("lengths", ListLengthsSettings), 5)
    assert judged("slam-free-of-m", "slam-lengths", rows, "lengths", tmp_path) == ("verified", True)
    orthogonal = {(row["measure"], row["m"], row["active"]): row for row in rows if row["stream"] == lengths.ORTHOGONAL}
    for m in (3, 30):
        assert orthogonal["map", m, "misordered"]["cumulative_loss"] == pytest.approx(5 * (1 - 1 / m))
        assert orthogonal["map", m, "misordered"]["margin_bound"] == pytest.approx(5.0)
        assert orthogonal["map", m, "margin"]["margin_bound"] == pytest.approx(5.0 * m)
    worse = [{**row, "cumulative_loss": 3 * row["cumulative_loss"]} for row in rows]
    assert judged("slam-free-of-m", "slam-lengths", worse, "lengths", tmp_path)[0] == "refuted"


def test_margins_of_streams_are_those_of_their_lists() -> None:
    for m, stream in lengths._streams(parsed("lengths", ListLengthsSettings, lengths=[3]), 1):
        assert set(stream.data.documents_per_query) == {m}
        found = perceptron_bounds.largest_margin(stream.data)
        assert stream.gamma("ndcg") == pytest.approx(found.gamma, abs=2e-3)


# --- Sentences ------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def said() -> list[dict[str, Any]]:
    return sentences.run(parsed("sentences", SentencesSettings), 6)


@pytest.mark.parametrize(
    ("claim", "status"),
    [
        ("slam-largest-weight", "verified"),
        ("slam-mistakes", "refuted"),
        ("slam-mistakes-corrected", "verified"),
        ("slam-prediction", "refuted"),
        ("slam-prediction-corrected", "verified"),
        ("slam-thm3-exchanges", "refuted"),
        ("slam-thm3-exchanges-corrected", "verified"),
        ("slam-norm-1-2", "verified"),
        ("slam-chapelle-wu", "verified"),
        ("slam-thm11-lambda", "verified"),
        ("slam-eq26", "consistent"),
    ],
)
def test_sentences_are_judged(said: list[dict[str, Any]], claim: str, status: str, tmp_path: Path) -> None:
    assert judged(claim, "slam-sentences", said, "sentences", tmp_path) == (status, True)


def test_the_excess_of_a_quadratic_is_that_of_simulated_samples() -> None:
    n, l2, mean = 50, 0.5, 0.5
    signs = np.where(np.random.default_rng(0).random((20_000, n)) < (1 + mean) / 2, 1.0, -1.0)
    w, best = signs.mean(axis=1) / l2, mean / l2
    excess = l2 / 2 * (w**2 - best**2) - mean * (w - best)
    assert sentences.strongly_convex(n)["excess"] == pytest.approx(excess.mean(), rel=0.05)


def test_the_witness_of_the_exchanges_is_among_the_lists() -> None:
    D = [1 / math.log2(i + 1) for i in (1, 2, 3)]
    excess = (D[0] - D[2] - (D[1] - D[2])) / (D[0] + D[1])  # labels (1, 1, 0), ranking 3, 1, 2
    assert sentences.exchanges(3, 1)["excess_over_exchanges"] == pytest.approx(excess)


# --- Practice -------------------------------------------------------------------------------------------------------


def test_repaired_learners_are_compared_with_those_as_printed() -> None:
    entry = {"title": "P", "algorithm": "perceptron", "surrogate": None, "control": False}
    settings = {
        "margin": {"active": "margin"},
        "misordered": {"active": "misordered"},
        "kernel": {"active": "misordered", "features": {"kernel": "gaussian"}},
    }
    models = [practice.Model.from_entry({**entry, "model": name, "settings": own}) for name, own in settings.items()]
    short = {"model": "short", "title": "S", "algorithm": "erm", "surrogate": "slam-ndcg", "control": False}
    models.append(practice.Model.from_entry({**short, "settings": {"sublists": 3}}))
    assert [model.repaired for model in models] == [False, True, True, True]
    base = np.random.default_rng(1).random(100)
    shifts = {"margin": 0.0, "misordered": 0.02, "short": 0.05, "kernel": 0.1}
    values = {name: base + shift for name, shift in shifts.items()}
    rows = practice.run(models, {"d": values}, {"d": np.ones(100, int)}, 0.95, 200, 1)
    [row] = [row for row in rows if row["question"] == "repaired"]
    assert (row["model"], row["other"]) == ("short", "margin")
    assert row["difference"] == pytest.approx(0.05)


@pytest.mark.parametrize(("lead", "answer"), [(0.1, "The mean ranks better"), (0.0, "differ by less than .04")])
def test_a_mean_that_is_the_last_iterate_has_another_answer(lead: float, answer: str, tmp_path: Path) -> None:
    entry = {"title": "P", "algorithm": "perceptron", "surrogate": None, "control": False}
    models = [
        practice.Model.from_entry({**entry, "model": name, "settings": {"average": name != "last", **own}})
        for name, own in {"mean": {}, "last": {}, "kernel": {"features": {"kernel": "gaussian"}}}.items()
    ]
    assert [model.averaged for model in models] == [True, False, True]
    base, noise = np.random.default_rng(1).random((2, 100))
    values = {"mean": base + lead * (0.5 + noise), "last": base, "kernel": base + 0.3}
    rows = practice.run(models, {"d": values}, {"d": np.ones(100, int)}, 0.95, 200, 1)
    [row] = [row for row in rows if row["question"] == "averaged"]
    assert (row["model"], row["other"], row["difference"]) == ("mean", "last", pytest.approx(lead, abs=0.02))
    assert answer in readings.judged("slam-averaged", {"slam-practice": rows}, {}, tmp_path).explanation
