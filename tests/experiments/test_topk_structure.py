"""What topk says of its losses: are the claims decided, and are the numbers those of their definitions?"""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from scipy.integrate import dblquad, quad

from pipeline_lib import surrogates
from pipeline_lib.learners import top_k_moments
from pipeline_lib.papers.topk.computations import calibration, exploration, noise, structure, sweep
from pipeline_lib.papers.topk.experiments.figure import FigureSettings
from pipeline_lib.papers.topk.experiments.structure import StructureSettings
from pipeline_lib.ranking_data import RankingData
from tests import readings

ASKED: dict[str, Any] = {"scores": 6, "lists": 5, "laws": 3, "lengths": [10], "queries": 50, "horizon": 100000}
SETTINGS = StructureSettings.parse(ASKED)


@pytest.fixture(scope="module")
def tables() -> dict[str, list[dict[str, Any]]]:
    found = noise.measured(SETTINGS, 1)
    return {
        "topk-estimable": structure.estimable(),
        "topk-listwise": structure.listwise(SETTINGS, 1),
        "topk-sums": structure.sums(SETTINGS, 1),
        "topk-calibration": calibration.rows(SETTINGS, 1),
        "topk-variances": found.variances,
        "topk-variance-quotients": found.quotients,
        "topk-tuning": noise.tuning(),
        "topk-decompositions": [
            {"surrogate": "ranksvm", "scores": "spread", "m": 3, "y_max": 1, "labels": 2, "joint": 1.0, "beyond": 0.0}
        ],
    }


@pytest.mark.parametrize(
    ("claim", "status"),
    [
        ("topk-lemma1-necessity", "verified"),
        ("topk-listwise", "verified"),
        ("topk-kl-derivation", "verified"),
        ("topk-kl-listwise", "refuted"),
        ("topk-kl-listwise-corrected", "verified"),
        ("topk-thm51", "verified"),
        ("topk-not-calibrated", "verified"),
        ("topk-tuning", "verified"),
        ("topk-variance", "refuted"),
        ("topk-variance-corrected", "verified"),
    ],
)
def test_every_claim_is_decided_and_tells_what_is_planted_apart(tables, tmp_path, claim, status):
    judgement = readings.judged(claim, tables, ASKED, tmp_path)
    assert (judgement.status, [plant.name for plant in judgement.severity.missed]) == (status, [])


@pytest.mark.parametrize(("name", "k"), [("squared", 1), ("kl", 2), ("ranksvm", 2)])
def test_variances_are_those_of_the_exact_moments(name, k):
    rng, m, gamma = np.random.default_rng(3), 4, 0.2
    lists = [[2, 0, 1, 0], [1, 1, 1, 1], [0, 1, 0, 0]]
    X = rng.normal(size=(m * len(lists), 2)).astype(np.float32)
    data = RankingData.from_arrays(X, np.ravel(lists), np.repeat([1, 2, 3], m))
    found = noise._moments(data, name, k, gamma, "correct")
    # The second query has no labels that differ.
    assert len(found) == 2
    loss = surrogates.create(name)
    for (variance, length), query in zip(found, (0, 2), strict=True):
        x, y = data.X64[m * query : m * (query + 1)], lists[query]
        slope = loss.gradient(np.zeros(m), y, [0, m]) @ x
        assert length == pytest.approx(slope @ slope)
        second = top_k_moments.second_moment(loss, x, np.zeros(m), y, k, gamma)
        assert variance == pytest.approx(second - slope @ slope)


def test_the_least_bound_is_the_closed_form():
    for U, C, B in noise.CONSTANTS:
        for T in noise.HORIZONS:
            eta, gamma, bound = noise._best(T, U, C, B)
            assert bound == pytest.approx(1.5 * (2 * C * B * U**2 * T**2) ** (1 / 3), rel=1e-6)
            assert bound == pytest.approx(noise.bound(T, eta, gamma, U, C, B))
            assert gamma < 0.5


@pytest.mark.parametrize("label", [0, 1, 3])
def test_expected_losses_of_random_scores(label):
    data = RankingData.from_arrays([[0.0], [0.0]], [label, 0], [1, 1])
    squared = sum(quad(lambda u, y=y: (u - y) ** 2, 0, 1)[0] for y in (label, 0))
    kl = sum(quad(lambda u, y=y: math.exp(y) * (y - u - 1) + math.exp(u), 0, 1)[0] for y in (label, 0))
    hinge = dblquad(lambda u, v: max(0.0, 1 + u - v), 0, 1, 0, 1)[0] if label else 0.0
    expected = {"squared": squared, "kl": kl, "ranksvm": hinge}
    for name, value in expected.items():
        assert exploration.random_losses(data, name)[0] == pytest.approx(value)


def test_minimisers_have_no_gradient():
    rng = np.random.default_rng(4)
    law = rng.dirichlet(np.ones(8))
    for name in ("squared", "kl", "listnet", "squared-ndcg"):
        s = calibration.minimiser(name, law, 3, 2)
        loss = surrogates.create(name)
        slope = sum(
            p * loss.gradient(s, y, [0, 3]) for p, y in zip(law, itertools.product((0, 1), repeat=3), strict=True)
        )
        np.testing.assert_allclose(slope, 0.0, atol=1e-3)


@pytest.mark.parametrize("labels", [[0, 1, 0, 2, 1], [1, 1, 1, 2, 2]])
def test_short_lists_and_equal_labels_are_played_with_the_fewest_labels(labels):
    data = RankingData.from_arrays(np.eye(5), labels, [1, 1, 1, 2, 2])
    asked = FigureSettings.parse({"sweep_labels": [5], "sweep_rounds": 1000, "sweep_seeds": 2, "bandit_factors": [1.0]})
    repair = [
        {"surrogate": name, "radius": 1.0, "factor": 1.0, "chosen": True} for name in ("ranksvm", "kl", "squared")
    ]
    found = sweep.measure(asked, "made", data, repair, 1)
    played = [(row["surrogate"], row["k"]) for row in found.labels]
    assert played == [("ranksvm", 0), ("ranksvm", 2), ("kl", 0), ("kl", 1), ("squared", 0), ("squared", 1)]
    assert all(0.0 < row["ndcg"] <= 1.0 for row in found.labels)
    assert len(found.ties) == 5


def test_documents_are_shuffled_within_their_queries():
    rng = np.random.default_rng(5)
    data = RankingData.from_arrays(rng.normal(size=(30, 2)), rng.integers(0, 3, 30), np.repeat([3, 1, 2], [5, 15, 10]))
    other = sweep.shuffled(data, (1, "a"))
    assert (other.offsets == data.offsets).all()
    assert not (other.X == data.X).all()
    for i, j in itertools.pairwise(data.offsets):
        pairs = [sorted(map(tuple, np.column_stack([one.X[i:j], one.y[i:j]]).tolist())) for one in (data, other)]
        assert pairs[0] == pairs[1]
