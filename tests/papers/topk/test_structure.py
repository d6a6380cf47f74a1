"""What topk says of its losses: are the claims decided, and are the numbers those of their definitions?"""

import itertools
from typing import Any

import numpy as np
import pytest

from pipeline_lib import surrogates
from pipeline_lib.data.ranking_data import RankingData
from pipeline_lib.experiment import Job
from pipeline_lib.learners import top_k_moments
from pipeline_lib.papers.topk.structure import experiment as structure
from tests import readings
from tests.papers.jobs import tables
from tests.small_settings import small

SETTINGS = small("topk", "structure", scores=6, lengths=[10], queries=50, horizon=100000)


@pytest.fixture(scope="module")
def found() -> dict[str, list[dict[str, Any]]]:
    beyond = {"surrogate": "ranksvm", "m": 3, "y_max": 1, "labels": 2, "joint": 1.0, "beyond": 0.0}
    return {**tables(structure.measure(Job(SETTINGS, 1))), "topk-decompositions": [beyond]}


@pytest.mark.parametrize(
    ("claim", "status"),
    [
        ("topk-lemma1-necessity", "verified"),
        ("topk-listwise", "verified"),
        ("topk-kl-derivation", "verified"),
        ("topk-kl-listwise", "refuted"),
        ("topk-kl-listwise-corrected", "verified"),
        ("topk-not-calibrated", "verified"),
        ("topk-variance", "verified"),
        ("topk-variance-losses", "answered"),
    ],
)
def test_every_claim_is_decided_and_tells_what_is_planted_apart(found, tmp_path, claim, status):
    assert readings.decided(claim, found, SETTINGS.plain(), tmp_path) == (status, [])


@pytest.mark.parametrize(("name", "k"), [("squared", 1), ("kl", 2), ("ranksvm", 2)])
def test_variances_are_those_of_the_exact_moments(name, k):
    rng, m, gamma = np.random.default_rng(3), 4, 0.2
    lists = [[2, 0, 1, 0], [1, 1, 1, 1], [0, 1, 0, 0]]
    X = rng.normal(size=(m * len(lists), 2)).astype(np.float32)
    data = RankingData.from_arrays(X, np.ravel(lists), np.repeat([1, 2, 3], m))
    found = structure.moments_of(data, name, k, gamma, "correct")
    # The second query has no labels that differ.
    assert len(found) == 2
    loss = surrogates.create(name)
    for (variance, length), query in zip(found, (0, 2), strict=True):
        x, y = data.X64[m * query : m * (query + 1)], lists[query]
        slope = loss.gradient(np.zeros(m), y, [0, m]) @ x
        assert length == pytest.approx(slope @ slope)
        second = top_k_moments.second_moment(loss, x, np.zeros(m), y, k, gamma)
        assert variance == pytest.approx(second - slope @ slope)


def test_minimisers_have_no_gradient():
    rng = np.random.default_rng(4)
    law = rng.dirichlet(np.ones(8))
    for name in ("squared", "kl", "listnet", "squared-ndcg"):
        s = structure.minimiser(name, law, 3, 2)
        loss = surrogates.create(name)
        slope = sum(
            p * loss.gradient(s, y, [0, 3]) for p, y in zip(law, itertools.product((0, 1), repeat=3), strict=True)
        )
        np.testing.assert_allclose(slope, 0.0, atol=1e-3)
