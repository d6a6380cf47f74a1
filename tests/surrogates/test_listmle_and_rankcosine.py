"""ListMLE as the probability of an order, drawn from the top, and RankCosine as the cosine of an angle."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline_lib import surrogates
from pipeline_lib.surrogates.listmle import ListMLE


def probability(order, scores):
    """Of drawing the documents in this order, each with probability proportional to e^s from those that are left."""
    p, left = 1.0, np.exp(scores)
    for i in order:
        p *= left[i] / left.sum()
        left = np.where(np.arange(len(left)) == i, 0.0, left)
    return p


@settings(max_examples=25)
@given(seed=st.integers(0, 2**32 - 1), m=st.integers(1, 5), ties=st.sampled_from(["together", "document-order"]))
def test_listmle_is_minus_the_logarithm_of_the_probability_of_the_ideal_order(seed, m, ties):
    rng = np.random.default_rng(seed)
    scores, y = 2.0 * rng.normal(size=m), rng.permutation(m)
    value = ListMLE(ties).value(scores, y, [0, m])[0]
    assert value == pytest.approx(-math.log(probability(np.argsort(-y), scores)), abs=1e-10)
    total = sum(probability(order, scores) for order in itertools.permutations(range(m)))
    assert total == pytest.approx(1.0)


def test_listmle_with_ties():
    scores, y = np.array([0.3, -1.0, 2.0, 0.1]), [1, 1, 0, 1]
    e = np.exp(scores)
    together = sum(math.log(e.sum() / e[i]) for i in (0, 1, 3))  # all four are left for each of the three
    assert ListMLE().value(scores, y, [0, 4])[0] == pytest.approx(together)
    first = -math.log(probability([0, 1, 3, 2], scores))
    assert ListMLE("document-order").value(scores, y, [0, 4])[0] == pytest.approx(first)


@pytest.mark.parametrize("ties", ["together", "document-order"])
def test_derivatives_of_listmle_in_either_order(ties):
    rng = np.random.default_rng(1)
    scores, y, offsets, loss = 2.0 * rng.normal(size=9), rng.integers(0, 3, 9), np.array([0, 1, 4, 9]), ListMLE(ties)
    V, step = rng.normal(size=(9, 2)), 1e-5
    product = loss.hessian_product(scores, y.astype(np.int32), offsets, V)
    for c in range(2):
        ends = [loss.gradient(scores + sign * step * V[:, c], y, offsets) for sign in (1, -1)]
        np.testing.assert_allclose(product[:, c], (ends[0] - ends[1]) / (2 * step), atol=1e-7)
        values = [loss.value(scores + sign * step * V[:, c], y, offsets).sum() for sign in (1, -1)]
        assert (values[0] - values[1]) / (2 * step) == pytest.approx(loss.gradient(scores, y, offsets) @ V[:, c])


def test_listmle_does_not_overflow():
    values, gradient = ListMLE().value_and_gradient([800.0, -800.0, 0.0], [0, 2, 1], [0, 3])
    assert values[0] == pytest.approx(2400.0)
    np.testing.assert_allclose(gradient, [2.0, -1.0, -1.0], atol=1e-12)


@pytest.mark.parametrize("name", ["listmle", "rankcosine"])
def test_constants_are_those_of_reversed_orders(name):
    # One document of the lowest label far above all others
    loss, m = surrogates.create(name), 6
    scores, y = np.zeros(m), np.arange(m)
    scores[0] = 60.0
    gradient = loss.gradient(scores, y, [0, m])
    assert np.abs(gradient).sum() <= loss.lipschitz(m, m - 1)
    if name == "listmle":
        assert np.abs(gradient).sum() == pytest.approx(2 * (m - 1))
        assert np.linalg.norm(gradient) == pytest.approx(math.sqrt(m * (m - 1)))


@pytest.mark.parametrize("ties", ["together", "document-order"])
@pytest.mark.parametrize("score_bound", [0.0, 0.2, 3.0])
def test_no_value_of_listmle_exceeds_its_bound(ties, score_bound):
    # A convex function is largest at a corner of the cube; of equal scores and labels, m log m is reached.
    loss = ListMLE(ties)
    assert loss.bound(1, 2, score_bound) == 0.0
    assert ListMLE().value(np.zeros(4), np.ones(4), [0, 4])[0] == pytest.approx(loss.bound(4, 2, 0.0))
    for scores in itertools.product((-score_bound, score_bound), repeat=4):
        for y in itertools.combinations_with_replacement(range(3), 4):
            assert loss.value(scores, y, [0, 4])[0] <= loss.bound(4, 2, score_bound) + 1e-12


@settings(max_examples=25)
@given(seed=st.integers(0, 2**32 - 1))
def test_rankcosine_is_half_of_one_minus_a_cosine(seed):
    rng = np.random.default_rng(seed)
    scores, y = 2.0 * rng.normal(size=5), rng.integers(0, 4, 5)
    a, b = np.exp(scores), np.exp(y)
    value = surrogates.create("rankcosine").value(scores, y, [0, 5])[0]
    cosine = a @ b / np.linalg.norm(a) / np.linalg.norm(b)
    assert value == pytest.approx(0.5 * (1.0 - cosine))
    # d a / d s = a, and the cosine changes by the part of b / |b| that is perpendicular to a
    slope = -0.5 * a * (b / np.linalg.norm(b) - cosine * a / np.linalg.norm(a)) / np.linalg.norm(a)
    np.testing.assert_allclose(surrogates.create("rankcosine").gradient(scores, y, [0, 5]), slope, atol=1e-12)
