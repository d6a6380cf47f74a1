"""What does the base class add to the methods that a surrogate defines?"""

import numpy as np
import pytest

from pipeline_lib.core.errors import DataError
from pipeline_lib.surrogates.pointwise import Squared


class Writing(Squared):
    def __init__(self, argument):
        self.argument = argument

    def unchecked(self, scores, y, offsets):
        (y if self.argument == "y" else offsets)[0] = 0
        return super().unchecked(scores, y, offsets)

    def hessian_product(self, scores, y, offsets, V):
        self.unchecked(scores, y, offsets)
        return V


@pytest.mark.parametrize("argument", ["y", "offsets"])
def test_a_surrogate_cannot_write_to_labels_and_offsets(argument):
    loss, (y, offsets) = Writing(argument), (np.array([1, 0], np.int32), np.array([0, 2]))
    with pytest.raises(ValueError, match="read-only"):
        loss.value(np.zeros(2), y, offsets)
    with pytest.raises(ValueError, match="read-only"):
        loss.hessian_product(np.zeros(2), y, offsets, np.zeros((2, 1)))
    assert y.flags.writeable
    assert offsets.flags.writeable


class Overflowing(Squared):
    def __init__(self, values, gradient):
        self.result = np.array(values), np.array(gradient)

    def unchecked(self, scores, y, offsets):
        return self.result


@pytest.mark.parametrize("result", [([0.0, np.inf], [0.0] * 3), ([0.0] * 2, [0.0, np.nan, 0.0])])
def test_what_overflows_is_refused_whether_value_or_gradient(result):
    with pytest.raises(DataError, match="in query 1: squared exceeds"):
        Overflowing(*result).value_and_gradient([1.0, 2.0, 3.0], [0, 1, 0], [0, 1, 3])
