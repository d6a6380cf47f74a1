"""The enumerations of topk: what they find, and that a wrong statement would be found out."""

import numpy as np
import pytest

from pipeline_lib import surrogates
from pipeline_lib.data.rows import Row
from pipeline_lib.experiment import Job
from pipeline_lib.learners import top_k_feedback, top_k_moments
from pipeline_lib.papers.topk.exactness import experiment as exactness
from tests import readings
from tests.papers.jobs import of, tables
from tests.small_settings import small

SMALL = small("topk", "exactness", lengths=[3, 4], repetitions=2)


@pytest.fixture(scope="module")
def found() -> list[Row]:
    return list(exactness.measure(Job(SMALL, 1)))


@pytest.mark.parametrize(
    ("claim", "status"),
    [
        ("topk-lemma1", "verified"),
        ("topk-estimators", "verified"),
        ("topk-p-compact", "refuted"),
        ("topk-p-compact-corrected", "verified"),
        ("topk-lemma3", "refuted"),
        ("topk-lemma3-corrected", "verified"),
        ("topk-lemma5", "refuted"),
        ("topk-lemma5-corrected", "verified"),
    ],
)
def test_every_claim_is_decided_and_tells_what_is_planted_apart(found, tmp_path, claim, status):
    assert readings.decided(claim, tables(found), SMALL.plain(), tmp_path) == (status, [])


def test_every_wrong_divisor_biases_something(found):
    for claim in ("topk-lemma1", "topk-estimators"):
        biases: dict[str, list[float]] = {}
        for row in of(exactness.Bias, found):
            if row.claim == claim:
                biases.setdefault(row.probabilities, []).append(row.largest_relative_bias)
        assert set(biases) == {"correct", *exactness.DIVISORS}
        assert max(biases.pop("correct")) < 1e-12
        assert min(max(found) for found in biases.values()) > 0.05


@pytest.mark.parametrize("name", exactness.WORST)
def test_no_list_is_worse_than_the_worst_case(name):
    # over random documents, labels and weights: the worst case is no smaller than any of them
    rows = [row for row in exactness.in_the_worst_case(name) if row.m == exactness.WORST[name][-1]]
    rng, loss, m = np.random.default_rng(0), surrogates.create(name), exactness.WORST[name][-1]
    for row in rows:
        for _ in range(20):
            X, w = rng.normal(size=(m, 3)), rng.normal(size=3)
            X /= np.linalg.norm(X, axis=1, keepdims=True)
            w *= row.radius / np.linalg.norm(w)
            y = rng.integers(0, exactness.LARGEST_LABEL + 1, size=m)
            k = top_k_feedback.ORDERS[name]
            found = top_k_moments.second_moment(loss, X, X @ w, y, k, exactness.EXPLORATION)
            assert found <= row.second_moment * (1 + 1e-9)
