"""Is ListNet its formula however queries are cut into runs, and are its constants suprema?"""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from ranking_losses import rising_label_vectors

from pipeline_lib import surrogates
from pipeline_lib.surrogates.listwise import RUN
from pipeline_lib.theory.constants import constants, supremum
from pipeline_lib.theory.decomposability import order


@pytest.mark.parametrize(("m", "y_max"), [(2, 1), (5, 2)])
def test_listnet_constants(m, y_max):
    loss = surrogates.create("listnet")
    rng = np.random.default_rng(0)
    largest_g, largest_h = 0.0, 0.0
    for y in rising_label_vectors(m, y_max):
        for k in range(m):
            scores = np.where(np.arange(m) == k, 60.0, 0.0)
            largest_g = max(largest_g, np.abs(loss.gradient(scores, y, [0, m])).sum())
    for _ in range(200):
        scores = rng.normal(size=m) * 2
        for u in itertools.product((-1.0, 1.0), repeat=m):
            direction = np.array(u)[:, None]
            product = loss.hessian_product(scores, np.zeros(m, np.int32), np.array([0, m]), direction)
            largest_h = max(largest_h, float(direction[:, 0] @ product[:, 0]))
    assert largest_g == pytest.approx(2 - 2 / (1 + (m - 1) * math.exp(y_max)), rel=1e-12)
    assert largest_g <= loss.lipschitz(m, y_max) == 2.0
    assert largest_h <= 1.0 + 1e-12 <= loss.smoothness(m, y_max) == 2.0
    assert loss.lipschitz(m, y_max, "l2") == math.sqrt(2)


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
    # not covered by Lemma 3 and its remark, whose derivatives presume real labels
    loss = surrogates.create("listnet")
    assert order(lambda y: loss.gradient(np.zeros(m), y, [0, m]), m, 1) == m - 1 == constants("listnet", m, 1).order
    assert order(lambda y: loss.gradient(np.zeros(m), y, [0, m]), m, 2) == m == constants("listnet", m, 2).order


def test_listnet_takes_queries_in_runs():
    rng = np.random.default_rng(0)
    loss = surrogates.create("listnet")
    sizes = [3, RUN - 3, 1, RUN + 10, 5, RUN, 2]
    offsets = np.r_[0, np.cumsum(sizes)]
    scores, y = 10.0 * rng.normal(size=offsets[-1]), rng.integers(0, 256, offsets[-1])
    values, gradient = loss.value_and_gradient(scores, y, offsets)
    for q, (a, b) in enumerate(itertools.pairwise(offsets)):
        target = np.exp(y[a:b] - float(y[a:b].max()))
        target /= target.sum()
        behind = scores[a:b] - scores[a:b].max()
        softmax = np.exp(behind) / np.exp(behind).sum()
        assert values[q] == pytest.approx(np.log(np.exp(behind).sum()) - target @ behind, rel=1e-12, abs=1e-12)
        np.testing.assert_allclose(gradient[a:b], softmax - target, atol=1e-14)
