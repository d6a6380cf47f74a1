"""The weights with the smallest sum for which SLAM bounds 1 - NDCG, against slow second computations."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ranking_losses import label_vectors, one_minus_ndcg, queries

from pipeline_lib import surrogates
from pipeline_lib.errors import ConfigurationError, DataError
from pipeline_lib.surrogates import slam
from pipeline_lib.surrogates.slam_tight import tight_weights_of_all


def tight(y):
    return tight_weights_of_all(y, [0, len(y)])


def by_thresholds(y):
    """The sum over thresholds, for labels that fall."""
    m, D = len(y), [1 / math.log2(i + 1) for i in range(1, len(y) + 1)]
    Z = sum((2**label - 1) * d for label, d in zip(y, D, strict=True))
    v = [0.0] * m
    for threshold in range(1, max(y) + 1):
        r = sum(label >= threshold for label in y)
        for i in range(r):
            v[i] += (2**threshold - 2 ** (threshold - 1)) * (D[i] - D[m - r + i])
    return [one / Z if Z else 0.0 for one in v]


def test_weights_are_sums_over_thresholds_in_the_documents_own_order():
    for y in label_vectors(5, 3):
        falling = sorted(range(5), key=lambda i: (-y[i], i))
        expected = np.empty(5)
        expected[falling] = by_thresholds([int(y[i]) for i in falling])
        np.testing.assert_allclose(tight(y), expected, atol=1e-15)


@given(queries(max_m=25, y_max=6))
@settings(max_examples=50)
def test_they_lie_below_the_printed_ones_and_sum_to_the_worst_loss(query):
    y = query[1]
    v = tight(y)
    assert (v >= 0.0).all()
    assert (v <= slam.weights(y, "ndcg") + 1e-12).all()
    worst = one_minus_ndcg(-np.asarray(y, float), y) if (y > 0).any() else 0.0
    assert v.sum() == pytest.approx(worst, abs=1e-9)


@pytest.mark.parametrize("m", [2, 3, 4])
def test_the_surrogate_bounds_the_loss_at_all_orders_and_ties(m):
    loss = surrogates.create("slam-ndcg", weights="tight")
    leads = list(itertools.product((0.0, 1.0), repeat=m - 1))
    # Labels that fall are enough, because all orders of scores are tried.
    for y in (np.array(y) for y in label_vectors(m, 2) if sorted(y, reverse=True) == list(y)):
        for order in itertools.permutations(range(m)):
            for lead in leads:
                s = np.empty(m)
                s[list(order)] = -np.r_[0.0, np.cumsum(lead)]
                worst = one_minus_ndcg(s - 1e-9 * y, y)  # the less relevant of equal scores on top
                assert loss.value(s, y, [0, m])[0] >= worst - 1e-12


@given(queries(max_m=12, y_max=4), st.sampled_from([1.0, 2.0]))
@settings(max_examples=40)
def test_the_surrogate_is_the_weighted_sum_of_hinges(query, margin):
    s, y = query
    loss = surrogates.create("slam-ndcg", weights="tight", margin=margin)
    hinges = [max([0.0, *(margin + s[j] - s[i] for j in range(len(y)) if y[j] < y[i])]) for i in range(len(y))]
    assert loss.value(s, y, [0, len(y)])[0] == pytest.approx(float(tight(y) @ hinges), rel=1e-9, abs=1e-9)


def test_queries_are_weighted_one_by_one_and_wrong_arguments_are_refused():
    y = np.array([0, 2, 1, 0, 1, 1, 0])
    np.testing.assert_array_equal(tight_weights_of_all(y, [0, 4, 7]), np.r_[tight(y[:4]), tight(y[4:])])
    assert not tight([0, 0]).any()
    assert not tight([2, 2]).any()
    with pytest.raises(DataError):
        tight_weights_of_all([0.5], [0, 1])
    with pytest.raises(ConfigurationError):
        surrogates.create("slam-ndcg", weights="smallest")
