"""Is ListNet its formula however queries are cut into runs, and are its constants suprema?"""

import itertools

import numpy as np
import pytest
from ranking_losses import phi

from pipeline_lib import surrogates
from pipeline_lib.surrogates.listwise import RUN
from pipeline_lib.theory.constants import supremum
from pipeline_lib.theory.decomposability import order


@pytest.mark.parametrize(("y_max", "m"), [(0, 7), (1, 6), (2, 6), (3, 9), (4, 12)])
def test_listnet_l2_supremum_by_enumeration(y_max, m):
    largest = 0.0
    for n in range(1, m + 1):
        for labels in itertools.combinations_with_replacement(range(y_max + 1), n):
            p = np.exp(np.array(labels, float))
            p /= p.sum()
            largest = max(largest, *(float(np.linalg.norm(np.eye(n)[i] - p)) for i in range(n)))
    assert supremum("listnet", m, y_max, "lipschitz-l2") == pytest.approx(largest, abs=1e-12)


def test_listnet_l2_supremum_of_long_lists_is_that_of_two_documents():
    assert supremum("listnet", 10_000, 4, "lipschitz-l2") == supremum("listnet", 2, 4, "lipschitz-l2")
    assert supremum("listnet", 10_000, 1, "lipschitz-l2") == supremum("listnet", 200, 1, "lipschitz-l2")


@pytest.mark.parametrize("m", range(2, 8))
def test_listnet_with_binary_labels_decomposes_over_all_labels_but_one(m):
    # Not covered by Lemma 3 and its remark, whose derivatives presume real labels. With binary labels the part of the
    # gradient that takes all m labels together vanishes: for document i it is
    # sum_t (-1)^t (C(m-1, t) + e C(m-1, t-1)) / (t e + m - t) = (1/m) sum_t (-1)^t C(m, t) = 0.
    loss = surrogates.create("listnet")
    assert order(lambda y: loss.gradient(np.zeros(m), y, [0, m]), m, 1) == m - 1
    assert order(lambda y: loss.gradient(np.zeros(m), y, [0, m]), m, 2) == m


def test_listnet_takes_queries_in_runs():
    rng = np.random.default_rng(0)
    loss = surrogates.create("listnet")
    sizes = [3, RUN - 3, 1, RUN + 10, 5, RUN, 2]
    offsets = np.r_[0, np.cumsum(sizes)]
    scores, y = 10.0 * rng.normal(size=offsets[-1]), rng.integers(0, 256, offsets[-1])
    values, gradient = loss.value_and_gradient(scores, y, offsets)
    for q, (a, b) in enumerate(itertools.pairwise(offsets)):
        assert values[q] == pytest.approx(phi(loss, scores[a:b], y[a:b]), rel=1e-12, abs=1e-12)
        softmax, target = (np.exp(v - v.max()) / np.exp(v - v.max()).sum() for v in (scores[a:b], y[a:b]))
        np.testing.assert_allclose(gradient[a:b], softmax - target, atol=1e-14)
