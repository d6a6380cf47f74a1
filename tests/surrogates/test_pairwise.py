"""Do losses of pairs count the pairs they should, and are their constants suprema?"""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from ranking_losses import rising_label_vectors, some_queries

from pipeline_lib import surrogates
from pipeline_lib.surrogates.pairwise import RankNet, RankSVM

PAIRWISE = ("ranknet", "ranksvm")


def rounded(normalisation):
    """At equal scores, every pair is in the middle of the rounded part, which is 1 wide."""
    return RankSVM(normalisation, margin=0.5).smoothed(2.0)


@pytest.mark.parametrize("make", [RankNet, rounded])
@pytest.mark.parametrize("normalisation", ["sum", "mean"])
@pytest.mark.parametrize("m", [1, 2, 5, 6])
def test_pairwise_smoothness_is_attained(m, normalisation, make):
    loss = make(normalisation)
    best = 0.0
    for y in rising_label_vectors(m, 2):
        for u in itertools.product((-1.0, 1.0), repeat=m):
            direction = np.array(u)[:, None]
            product = loss.hessian_product(np.zeros(m), y, np.array([0, m]), direction)
            best = max(best, float(direction[:, 0] @ product[:, 0]))
    assert loss.smoothness(m, 2) == pytest.approx(best)
    assert loss.smoothness(m, 0) == 0.0


@pytest.mark.parametrize("make", [rounded, RankSVM, RankNet])
@pytest.mark.parametrize("normalisation", ["sum", "mean", "all-pairs"])
@pytest.mark.parametrize(("m", "y_max"), [(1, 2), (2, 1), (4, 1), (4, 2), (4, 3)])
@pytest.mark.parametrize("score_bound", [0.1, 3.0])
def test_pairwise_bounds_by_enumeration(make, normalisation, m, y_max, score_bound):
    # A convex function is largest at a corner of the cube.
    loss = make(normalisation)
    largest = max(
        loss.value(scores, y, [0, size])[0]
        for size in range(1, m + 1)
        for y in rising_label_vectors(size, y_max)
        for scores in itertools.product((-score_bound, score_bound), repeat=size)
    )
    assert loss.bound(m, y_max, score_bound) == pytest.approx(largest, rel=1e-12)
    assert loss.bound(m, 0, score_bound) == 0.0


@pytest.mark.parametrize("name", PAIRWISE)
def test_mean_divides_by_the_number_of_pairs(name):
    scores, y, offsets = some_queries(np.random.default_rng(2))
    total, gradient = surrogates.create(name).value_and_gradient(scores, y, offsets)
    mean, mean_gradient = surrogates.create(name, normalisation="mean").value_and_gradient(scores, y, offsets)
    for q, (a, b) in enumerate(itertools.pairwise(offsets)):
        pairs = sum(y[i] > y[j] for i in range(a, b) for j in range(a, b))
        assert mean[q] == pytest.approx(total[q] / max(pairs, 1))
        np.testing.assert_allclose(mean_gradient[a:b], gradient[a:b] / max(pairs, 1))


@pytest.mark.parametrize("name", ["ranksvm", "ranknet", "rankboost"])
def test_all_pairs_counts_pairs_of_equal_labels_too(name):
    scores, y, offsets = some_queries(np.random.default_rng(2))
    total, gradient = surrogates.create(name).value_and_gradient(scores, y, offsets)
    m = np.diff(offsets)
    pairs = np.maximum(m * (m - 1) / 2, 1)
    values, slopes = surrogates.create(name, normalisation="all-pairs").value_and_gradient(scores, y, offsets)
    np.testing.assert_allclose(values, total / pairs)
    np.testing.assert_allclose(slopes, gradient / np.repeat(pairs, m))


@pytest.mark.parametrize("normalisation", ["sum", "mean"])
def test_minorant_lies_below_ranksvm(normalisation):
    rng = np.random.default_rng(9)
    scores, y, offsets = some_queries(rng, levels=3)
    loss = RankSVM(normalisation)
    values, gradient, intercepts = loss.smoothed(0.7).minorant(scores, y, offsets)
    assert np.all(values <= loss.value(scores, y, offsets) + 1e-12)
    for _ in range(50):
        other = 3.0 * rng.normal(size=len(scores))
        plane = intercepts + np.add.reduceat(gradient * other, offsets[:-1])
        assert np.all(plane <= loss.value(other, y, offsets) + 1e-9)


def attainable_gradients(m, y):
    """All vertex gradients of pair losses with slopes in {0, 1}: a superset of what scores can make active."""
    pairs = [(i, j) for i in range(m) for j in range(m) if y[i] > y[j]]
    for active in itertools.product((0, 1), repeat=len(pairs)):
        gradient = np.zeros(m)
        for on, (i, j) in zip(active, pairs, strict=True):
            gradient[i] -= on
            gradient[j] += on
        yield gradient, max(len(pairs), 1)


@pytest.mark.parametrize("cls", [RankSVM, RankNet])
@pytest.mark.parametrize("normalisation", ["sum", "mean", "all-pairs"])
@pytest.mark.parametrize(("m", "y_max"), [(1, 2), (2, 1), (3, 1), (3, 2), (4, 1), (4, 2), (4, 3)])
def test_pairwise_constants_by_enumeration(cls, normalisation, m, y_max):
    loss = cls(normalisation)
    largest = {"linf": 0.0, "l2": 0.0}
    for size in range(1, m + 1):
        for y in rising_label_vectors(size, y_max):
            for gradient, pairs in attainable_gradients(size, y):
                divisor = {"sum": 1, "mean": pairs, "all-pairs": max(size * (size - 1) / 2, 1)}[normalisation]
                scaled = gradient / divisor
                largest["linf"] = max(largest["linf"], np.abs(scaled).sum())
                largest["l2"] = max(largest["l2"], float(np.linalg.norm(scaled)))
    for norm, value in largest.items():
        assert loss.lipschitz(m, y_max, norm) == pytest.approx(value, abs=1e-12)


@pytest.mark.parametrize(("m", "y_max"), [(5, 1), (6, 2), (7, 6), (9, 3)])
def test_pairwise_constants_are_attained(m, y_max):
    for norm, order in (("linf", 1), ("l2", 2)):
        for loss, at, close in ((RankSVM(), np.zeros(m), 1e-12), (RankNet(), None, 1e-9)):
            best = 0.0
            for y in rising_label_vectors(m, y_max):
                scores = -50.0 * y if at is None else at
                best = max(best, float(np.linalg.norm(loss.gradient(scores, y, [0, m]), order)))
            assert loss.lipschitz(m, y_max, norm) == pytest.approx(best, rel=close)


def test_ranksvm_binary_labels():
    for m, r in ((7, 2), (10, 5)):
        y = np.r_[np.ones(r), np.zeros(m - r)]
        assert np.abs(RankSVM().gradient(np.zeros(m), y, [0, m])).sum() == 2 * r * (m - r)
    assert RankSVM().lipschitz(10, 1) == 50.0
    assert RankSVM("mean").lipschitz(10, 4) == 2.0
