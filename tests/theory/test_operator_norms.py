"""Does Lemma 4 of `lists` and `topk` hold, and is it an equality?"""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline_lib.core.errors import DataError
from pipeline_lib.theory.operator_norms import largest_row, stretch

EXPONENTS = [1.0, 1.5, 2.0, 4.0, math.inf]


@pytest.mark.parametrize("p", EXPONENTS)
@settings(max_examples=25)
@given(seed=st.integers(0, 2**32), m=st.integers(1, 6), d=st.integers(1, 5))
def test_both_sides_agree(p, seed, m, d):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, d)) * 10.0 ** rng.uniform(-3, 3, size=(m, 1))
    right = largest_row(X, p)
    for left in stretch(X, p, rng=rng, restarts=30):
        assert left == pytest.approx(right, rel=1e-9)


def test_zero_matrix():
    assert largest_row(np.zeros((3, 2))) == 0.0
    assert stretch(np.zeros((3, 2)), 3.0, rng=np.random.default_rng(0)) == (0.0, 0.0)


@pytest.mark.parametrize(("X", "p"), [([[math.nan]], 2.0), ([1.0, 2.0], 2.0), (np.zeros((0, 2)), 2.0), ([[1.0]], 0.5)])
def test_bad_arguments_are_refused(X, p):
    with pytest.raises(DataError, match="expected"):
        largest_row(X, p)
