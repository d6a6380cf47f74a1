"""Are the constants of the squared loss attained?"""

from __future__ import annotations

import numpy as np
import pytest

from pipeline_lib import surrogates
from pipeline_lib.errors import DataError


def test_squared_constants_need_a_score_bound():
    loss = surrogates.create("squared")
    gradient = loss.gradient(np.full(4, -3.0), np.full(4, 2), [0, 4])
    assert loss.lipschitz(4, 2, score_bound=3.0) == np.abs(gradient).sum()
    assert loss.lipschitz(4, 2, "l2", score_bound=3.0) == pytest.approx(np.linalg.norm(gradient))
    assert loss.bound(4, 2, 3.0) == loss.value(np.full(4, -3.0), np.full(4, 2), [0, 4])[0]
    assert loss.smoothness(4, 2) == 8.0
    with pytest.raises(DataError, match="score_bound"):
        loss.lipschitz(4, 2)
