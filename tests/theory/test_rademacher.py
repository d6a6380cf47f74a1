"""Are Rademacher averages and packings right where they can be enumerated?"""

import itertools
import math

import numpy as np
import pytest

from pipeline_lib.core.errors import DataError
from pipeline_lib.theory import entropy, rademacher
from tests.samples import unrelated


@pytest.mark.parametrize(("ball", "order"), [("l2", 2), ("l1", np.inf)])
def test_the_linear_average_agrees_with_enumeration(ball, order):
    data = unrelated(5, 2, 3)
    signs = np.array(list(itertools.product((-1.0, 1.0), repeat=10)))
    suprema = 1.7 / 5 * np.linalg.norm(signs @ data.X64, order, axis=1)
    found = rademacher.linear(data, 1.7, 20_000, 1, ball)
    assert found.standard_error == pytest.approx(suprema.std() / math.sqrt(20_000), rel=0.05)
    assert abs(found.estimate - suprema.mean()) < 4.0 * found.standard_error


def test_packed_rows_are_apart_and_no_more_fit():
    losses = np.random.default_rng(0).random((300, 2))
    eps = 0.1
    n = entropy.packing(losses, eps)
    assert n <= 5 * 5  # boxes of side 2 eps cover the square, and hold one each
    assert n >= 4  # the four corners are further apart than 2 eps and near to some row
    assert entropy.packing(np.array([[0.0], [0.2], [0.4]]), 0.1) == 2
    with pytest.raises(DataError):
        entropy.packing(losses, 0.0)
