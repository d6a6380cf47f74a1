"""Is the exponential of the kernels accurate to the last digits, and 0 below its range?"""

import numpy as np
import pytest
from numba import njit

from pipeline_lib.surrogates.vector_exp import LARGEST, exp


@njit
def exponentials(x):
    e = np.empty(len(x))
    for i in range(len(x)):
        e[i] = exp(x[i])
    return e


def test_exp_is_accurate_to_about_a_unit_in_the_last_place():
    rng = np.random.default_rng(0)
    small = np.logspace(-320, 2.85, 100_001)
    x = np.concatenate([small, -small, rng.uniform(-LARGEST, LARGEST, 200_000), rng.uniform(-1, 1, 200_000), [0.0]])
    expected = np.exp(x.astype(np.longdouble))
    found = exponentials(x)
    assert np.all(np.abs(found - expected) <= 1.1 * np.spacing(found))


def test_exp_beyond_its_range():
    np.testing.assert_array_equal(exponentials(np.array([-708.1, -1e4, -1e300, -np.inf])), 0.0)
    assert exponentials(np.array([-LARGEST]))[0] == pytest.approx(np.exp(-LARGEST), rel=1e-15)
