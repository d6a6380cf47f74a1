"""Is kl the divergence of `topk`: zero at the labels only, and exact near them?"""

import math
from fractions import Fraction

import numpy as np
import pytest

from pipeline_lib.surrogates.pointwise import KL


def test_minimum_is_zero_at_the_labels():
    y = [0, 1, 4, 2, 0]
    value, gradient = KL().value_and_gradient(y, y, [0, 5])
    assert value[0] == 0.0
    np.testing.assert_array_equal(gradient, 0.0)
    curvature = KL().hessian_product(np.array(y, float), np.array(y, np.int32), np.array([0, 5]), np.eye(5))
    np.testing.assert_allclose(curvature, np.diag(np.exp(y)))
    rng = np.random.default_rng(0)
    for _ in range(50):
        assert KL().value(y + rng.normal(size=5), y, [0, 5])[0] > 0


@pytest.mark.parametrize("d", [1e-12, -1e-8, 1e-4, -0.01, 0.049, 0.051, -0.3])
def test_exact_near_the_minimum(d):
    # sum d^k / k! from k = 2, in rational arithmetic
    exact = sum(Fraction(d) ** k / math.factorial(k) for k in range(2, 25))
    assert KL().value([d], [0], [0, 1])[0] == pytest.approx(float(exact), rel=1e-12)
