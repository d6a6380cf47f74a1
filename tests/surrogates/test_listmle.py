"""Is ListMLE minus the logarithm of the probability of an order, drawn from the top?"""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline_lib.surrogates.listwise import ListMLE


def probability(order, scores):
    """Of drawing the documents in this order, each with probability proportional to e^s from those that are left."""
    p, left = 1.0, np.exp(scores)
    for i in order:
        p *= left[i] / left.sum()
        left = np.where(np.arange(len(left)) == i, 0.0, left)
    return p


@settings(max_examples=25)
@given(seed=st.integers(0, 2**32 - 1), m=st.integers(1, 5))
def test_listmle_is_minus_the_logarithm_of_the_probability_of_the_ideal_order(seed, m):
    rng = np.random.default_rng(seed)
    scores, y = 2.0 * rng.normal(size=m), rng.permutation(m)
    value = ListMLE().value(scores, y, [0, m])[0]
    assert value == pytest.approx(-math.log(probability(np.argsort(-y), scores)), abs=1e-10)
    total = sum(probability(order, scores) for order in itertools.permutations(range(m)))
    assert total == pytest.approx(1.0)


def test_the_bound_of_listmle_is_attained_by_equal_scores_and_labels():
    assert ListMLE().value(np.zeros(4), np.ones(4), [0, 4])[0] == pytest.approx(ListMLE().bound(4, 2, 0.0))
