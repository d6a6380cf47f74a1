"""Are the targets of squared-ndcg those of `topk`, Theorem 5.2, and its constants attained?"""

import numpy as np
import pytest

from pipeline_lib.surrogates.pointwise import SquaredNDCG, normalised_gains

RELEVANCES = ["000", "110", "101", "011", "100", "010", "001", "111"]


@pytest.mark.parametrize(
    ("probabilities", "expected"),
    [
        ([0, 0.1, 0.15, 0.05, 0.2, 0.3, 0.2, 0], [0.3533, 0.3920, 0.3226]),
        ([0, 0.3, 0, 0, 0.15, 0.15, 0.4, 0], [0.3339, 0.3339, 0.4000]),
    ],
)
def test_expected_targets_of_table_1(probabilities, expected):
    y = np.array([[int(label) for label in word] for word in RELEVANCES], np.int32)
    targets = normalised_gains(y.ravel(), 3 * np.arange(9)).reshape(8, 3)
    np.testing.assert_allclose(np.array(probabilities) @ targets, expected, atol=6e-5)


def test_without_a_relevant_document_the_target_is_zero():
    value, gradient = SquaredNDCG().value_and_gradient([1.0, -2.0], [0, 0], [0, 2])
    assert value[0] == 5.0
    np.testing.assert_array_equal(gradient, [2.0, -4.0])
