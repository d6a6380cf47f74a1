"""Are values that grow exponentially exact while float64 can hold them, and refused beyond?"""

import math

import numpy as np
import pytest

from pipeline_lib import surrogates
from pipeline_lib.core.errors import DataError


@pytest.mark.parametrize("name", ["kl", "rankboost"])
def test_what_float64_cannot_hold_is_refused(name):
    loss = surrogates.create(name)
    scores, y, offsets = [0.0, 0.0, 1e4, 0.0], [0, 1, 0, 1], [0, 2, 4]
    for method in (loss.value, loss.gradient, loss.value_and_gradient):
        with pytest.raises(DataError, match=r"query 1: .* exceeds 1\.8e308"):
            method(scores, y, offsets)


@pytest.mark.parametrize("name", ["kl", "rankboost"])
def test_solvers_see_infinity_in_that_query_only(name):
    values, gradient = surrogates.create(name).unchecked(
        np.array([0.0, 0.0, 1e4, 0.0]), np.array([0, 1, 0, 1], np.int32), np.array([0, 2, 4])
    )
    assert np.isfinite(values[0])
    assert values[1] == math.inf
    assert np.isfinite(gradient[:2]).all()
    assert np.isnan(gradient[2:]).all()


@pytest.mark.parametrize(("top", "held"), [(709.0, True), (710.0, False)])
@pytest.mark.parametrize("name", ["kl", "rankboost"])
def test_where_the_range_ends(name, top, held):
    loss = surrogates.create(name)
    if held:
        value = loss.value([top, 0.0], [0, 1], [0, 2])[0]
        assert value == pytest.approx(math.exp(top), rel=1e-12)
    else:
        with pytest.raises(DataError):
            loss.value([top, 0.0], [0, 1], [0, 2])


def test_rankboost_holds_relevant_documents_ahead_by_any_distance():
    values, gradient = surrogates.create("rankboost").value_and_gradient(
        [1e4, -1e4, 1e4 - 1.0, 5e3, -1e4 + 1.0], [2, 0, 2, 1, 0], [0, 5]
    )
    assert values[0] == 0.0
    np.testing.assert_array_equal(gradient, 0.0)


def test_rankboost_at_large_equal_scores():
    value, gradient = surrogates.create("rankboost").value_and_gradient([1e4] * 3, [0, 1, 2], [0, 3])
    assert value[0] == 3.0
    np.testing.assert_array_equal(gradient, [2.0, 0.0, -2.0])


def test_rankboost_beside_far_irrelevant_documents():
    # e^{-2000} underflows; the pair at distance 1 must not suffer from it.
    value, gradient = surrogates.create("rankboost").value_and_gradient([-2e3, 1.0, 0.0], [0, 0, 1], [0, 3])
    assert value[0] == pytest.approx(math.e, rel=1e-15)
    np.testing.assert_allclose(gradient, [0.0, math.e, -math.e], rtol=1e-15)


def test_kl_takes_very_negative_scores():
    value, gradient = surrogates.create("kl").value_and_gradient([-1e4], [2], [0, 1])
    assert value[0] == pytest.approx(math.exp(2) * (2 + 1e4 - 1), rel=1e-15)
    assert gradient[0] == -math.exp(2)
