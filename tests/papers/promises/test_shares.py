"""Do the intervals of shares contain the probability as often as they say?"""

import numpy as np
import pytest
from scipy.stats import binom

from pipeline_lib.papers.promises.shares import share


@pytest.mark.parametrize("n", [1, 5, 40])
def test_intervals_of_shares_are_never_too_short(n: int) -> None:
    found = [share(k, n) for k in range(n + 1)]
    for p in np.linspace(0.0, 1.0, 101):
        outside = [k for k, one in enumerate(found) if not one.low <= p <= one.high]
        assert binom.pmf(outside, n, p).sum() <= 0.05 + 1e-12
