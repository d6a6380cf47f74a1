"""Is smooth-dcg the published gain, and within the constants derived for it?"""

import numpy as np
import pytest

from pipeline_lib.surrogates.smooth_dcg import SmoothDCG


@pytest.mark.parametrize("sigma", [0.01, 1.0, 7.0])
def test_the_value_is_the_published_formula(sigma):
    rng = np.random.default_rng(0)
    s, y = rng.normal(size=12), rng.integers(0, 5, 12)
    p = np.exp((s - s.max()) / sigma)
    p /= p.sum()
    gains = 2.0**y - 1.0
    value, gradient = SmoothDCG(sigma=sigma, sign="as-printed").value_and_gradient(s, y, [0, 12])
    assert value[0] == pytest.approx(p @ gains, rel=1e-12)
    # `lists`, appendix B, and `topk`, section 4.1.1, term by term
    printed = [sum(gains[i] / sigma * (p[i] * (i == j) - p[i] * p[j]) for i in range(12)) for j in range(12)]
    np.testing.assert_allclose(gradient, printed, rtol=1e-9, atol=1e-15 * gains.max() / sigma)
    # documents far below the top, too, get their share exactly (where the formula itself does not cancel)
    apart = np.abs(gains - p @ gains) > 0.1
    np.testing.assert_allclose(gradient[apart], (p * (gains - p @ gains) / sigma)[apart], rtol=1e-9)


@pytest.mark.parametrize("m", [2, 3, 6])
def test_lipschitz_is_four_times_what_two_equal_scores_attain(m):
    loss = SmoothDCG(sigma=0.5)
    scores = np.where(np.arange(m) < 2, 0.0, -100.0)
    gradient = loss.gradient(scores, np.where(np.arange(m) == 0, 2, 0), [0, m])
    assert loss.lipschitz(m, 2) == 2.0 * 3.0 / 0.5
    assert loss.lipschitz(m, 2) == pytest.approx(4.0 * np.abs(gradient).sum(), rel=1e-12)
    assert loss.lipschitz(m, 2, "l2") == pytest.approx(4.0 * np.linalg.norm(gradient), rel=1e-12)
