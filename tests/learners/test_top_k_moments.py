"""Exact moments of the estimates: they sum over everything that may be shown, and Lemma 5's constants."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline_lib import surrogates
from pipeline_lib.core.errors import DataError
from pipeline_lib.learners import top_k_feedback, top_k_moments

BOUNDED = ("squared", "kl", "ranksvm")


@pytest.mark.parametrize("k", [1, 2, 3])
def test_probabilities_of_ordered_tops_are_those_of_all_rankings(k):
    scores, gamma = [0.3, 0.9, 0.9, -1.0], 0.3
    rng, counts = np.random.default_rng(k), dict.fromkeys(dict(top_k_moments.ordered_tops(scores, k, gamma)), 0)
    for _ in range(20_000):
        shown = np.argsort(-np.array(scores), kind="stable") if rng.random() >= gamma else rng.permutation(4)
        counts[tuple(shown[:k].tolist())] += 1
    for top, p in top_k_moments.ordered_tops(scores, k, gamma):
        assert abs(counts[top] / 20_000 - p) < 5 * np.sqrt(p * (1 - p) / 20_000)
    assert sum(p for _, p in top_k_moments.ordered_tops(scores, k, gamma)) == pytest.approx(1.0)


@given(
    st.sampled_from(BOUNDED),
    st.integers(2, 5),
    st.floats(0.05, 4.0),
    st.floats(0.05, 4.0),
    st.integers(1, 4),
    st.floats(0.02, 0.9),
    st.integers(0, 10_000),
)
@settings(max_examples=80)
def test_valid_constants_bound_the_second_moment(name, m, norm, radius, y_max, gamma, seed):
    rng = np.random.default_rng(seed)
    X, w, y = rng.normal(size=(m, 2)), rng.normal(size=2), rng.integers(0, y_max + 1, m)
    X *= norm / np.linalg.norm(X, axis=1, keepdims=True)
    w *= radius / np.linalg.norm(w)
    loss, k = surrogates.create(name), top_k_feedback.ORDERS[name]
    moment = top_k_moments.second_moment(loss, X, X @ w, y, k, gamma)
    assert moment * gamma <= top_k_moments.valid_constant(name, m, norm, radius, y_max) * (1 + 1e-9)


@pytest.mark.parametrize("name", ["squared", "kl"])
def test_printed_constants_fail_in_a_small_ball(name):
    loss, X, y = surrogates.create(name), np.eye(2), [0, 4]
    moment = top_k_moments.second_moment(loss, X, [0.1, 0.0], y, 1, 0.1)
    assert moment * 0.1 > 2 * top_k_moments.printed_constant(name, 2, 1.0, 0.25, 4)


def test_lemma_1_for_any_terms():
    rng = np.random.default_rng(4)
    terms = rng.normal(size=(4, 4, 4))
    truth = sum(terms[i, j, h] for i, j, h in np.ndindex(4, 4, 4) if len({i, j, h}) == 3)
    mean = top_k_moments.lemma_1_mean(lambda top: np.array([terms[top]]), [0.1, 0.4, 0.2, 0.3], 3, 0.15)
    assert mean[0] == pytest.approx(truth, rel=1e-12)


@pytest.mark.parametrize("constant", [top_k_moments.printed_constant, top_k_moments.valid_constant])
def test_other_losses_have_no_constant(constant):
    with pytest.raises(DataError, match="Lemma 5"):
        constant("listnet", 3, 1.0, 1.0, 1)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"k": 4}, "k: expected 1 to m = 3 documents, found 4"),
        ({"k": 0}, "k: "),
        ({"gamma": 1.5}, "gamma: "),
        ({"y": [1, 2]}, "y: expected 3 labels"),
    ],
)
def test_what_cannot_be_enumerated_is_refused(wrong, message):
    loss = surrogates.create("squared")
    good = {"scores": [0.1, 0.2, 0.3], "y": [0, 1, 2], "k": 1, "gamma": 0.2}
    with pytest.raises(DataError, match=message):
        top_k_moments.mean_estimate(loss, **{**good, **wrong})
    with pytest.raises(DataError, match=message):
        top_k_moments.second_moment(loss, X=np.eye(3), **{**good, **wrong})
