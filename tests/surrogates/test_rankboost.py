"""Does rankboost keep to its definition, its normalisation and its constants?"""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from pipeline_lib.errors import DataError
from pipeline_lib.surrogates.rankboost import RankBoost


@pytest.mark.parametrize("normalisation", ["sum", "mean"])
@pytest.mark.parametrize(("m", "y_max"), [(2, 1), (4, 1), (4, 2), (5, 2)])
def test_constants_hold_and_are_attained(normalisation, m, y_max):
    loss, bound = RankBoost(normalisation), 0.8
    largest = np.zeros(3)
    for size in range(1, m + 1):
        offsets = np.array([0, size])
        for labels in itertools.combinations_with_replacement(range(y_max + 1), size):
            y = np.array(labels, np.int32)
            for signs in itertools.product((-bound, bound), repeat=size):
                s = np.array(signs)
                gradient = loss.gradient(s, y, offsets)
                u = np.sign(s)[:, None]
                bent = np.abs(loss.hessian_product(s, y, offsets, u)).sum()
                largest = np.maximum(largest, [np.abs(gradient).sum(), np.linalg.norm(gradient), bent])
    assert loss.lipschitz(m, y_max, score_bound=bound) == pytest.approx(largest[0])
    assert loss.smoothness(m, y_max, score_bound=bound) == pytest.approx(largest[2])
    l2 = loss.lipschitz(m, y_max, "l2", score_bound=bound)
    if y_max == 1 or normalisation == "mean":
        assert l2 == pytest.approx(largest[1])
    else:
        assert largest[1] <= l2 <= 2.0 / math.sqrt(3.0) * largest[1]


def test_constants_need_a_score_bound_and_know_infinity():
    with pytest.raises(DataError, match="score_bound"):
        RankBoost().lipschitz(4, 1)
    assert RankBoost().lipschitz(4, 1, score_bound=400.0) == math.inf
    assert RankBoost().lipschitz(1, 1, score_bound=400.0) == 0.0
    assert RankBoost().smoothness(4, 0, score_bound=400.0) == 0.0
