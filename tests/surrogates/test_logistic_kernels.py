"""Is the sum of logistic losses over pairs, computed by products of exponentials, what a pass over all pairs gives?"""

import numpy as np
import pytest

from pipeline_lib.surrogates.logistic_kernels import FACTORIZE_UP_TO, logistic


@pytest.mark.parametrize("spread", [1e-9, 1e-3, 0.5, 5.0, FACTORIZE_UP_TO, 60.0])
@pytest.mark.parametrize("levels", [2, 3, 9])
@pytest.mark.parametrize("m", [2, 9, 300])
def test_ranknet_by_products_equals_the_sum_over_pairs(spread, levels, m):
    rng = np.random.default_rng(m)
    s, y = rng.uniform(-spread, spread, m), rng.integers(0, levels, m).astype(np.int32)
    difference = (s[None, :] - s[:, None]) * 1.0
    pairs = y[:, None] > y[None, :]
    losses = np.where(pairs, np.logaddexp(0.0, difference), 0.0)
    alpha = np.where(pairs, 1.0 / (1.0 + np.exp(-difference)), 0.0)
    values, gradient = logistic(s, y, np.array([0, m]))
    assert values[0] == pytest.approx(losses.sum(), rel=1e-12, abs=1e-300)
    np.testing.assert_allclose(gradient, alpha.sum(axis=0) - alpha.sum(axis=1), atol=1e-12 * m)


def test_ranknet_of_well_ordered_documents_keeps_its_digits():
    s, y = np.array([-15.0, -14.0, 15.0, 16.0, 30.0]), np.array([0, 0, 1, 1, 2], np.int32)
    pairs = [(i, j) for i in range(5) for j in range(5) if y[i] > y[j]]
    expected = sum(np.log1p(np.exp(s[j] - s[i])) for i, j in pairs)
    assert logistic(s, y, np.array([0, 5]))[0][0] == pytest.approx(expected, rel=1e-14)
