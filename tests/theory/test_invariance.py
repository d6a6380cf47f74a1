"""Is the dimension of permutation-invariant linear maps 2 d, as `lists`, Theorem 3 corrects `slam`, Theorem 10?"""

import numpy as np
import pytest

from pipeline_lib.core.errors import DataError
from pipeline_lib.theory.invariance import basis, dimension


@pytest.mark.parametrize("m", [2, 3, 4])
@pytest.mark.parametrize("d", [1, 2])
def test_dimension_is_2d(m, d):
    assert dimension(m, d) == 2 * d
    assert dimension(m, d, "number") == d


@pytest.mark.parametrize("d", [1, 2])
def test_one_document(d):
    assert dimension(1, d) == dimension(1, d, "number") == d


@pytest.mark.parametrize(("m", "d"), [(2, 1), (3, 2), (4, 2)])
def test_the_maps_are_those_of_theorem_3(m, d):
    maps = basis(m, d).reshape(2 * d, -1)
    known = []
    for c in range(d):
        own, all_documents = np.zeros((m, m, d)), np.zeros((m, m, d))
        own[range(m), range(m), c] = 1.0  # X -> X e_c
        all_documents[:, :, c] = 1.0  # X -> (1' X e_c) 1
        known += [own.ravel(), all_documents.ravel()]
    known = np.array(known)
    np.testing.assert_allclose(maps.T @ (maps @ known.T), known.T, atol=1e-12)
    assert np.linalg.matrix_rank(known) == 2 * d


def test_lists_too_long_to_reorder_are_refused():
    with pytest.raises(DataError, match="documents"):
        dimension(7, 1)
