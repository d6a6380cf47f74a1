"""Are surrogates what their formulas say, whatever the scores, the labels and the company of other queries?"""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from ranking_losses import several_queries, some_queries

from pipeline_lib import surrogates
from pipeline_lib.errors import DataError
from pipeline_lib.surrogates.hinge_kernels import hinge
from pipeline_lib.surrogates.pairwise import RankNet, RankSVM

FORMULAS = ("listnet", "ranknet", "ranksvm", "squared")  # written out in phi below
PAIRWISE = ("ranknet", "ranksvm")


def phi(name, s, y, margin=1.0):
    """One query's loss by the formula, in plain Python."""
    if name == "squared":
        return sum((a - b) ** 2 for a, b in zip(s, y, strict=True))
    if name == "listnet":
        target = np.exp(y - np.max(y)) / np.exp(y - np.max(y)).sum()
        return -float(target @ (s - np.max(s) - math.log(np.exp(s - np.max(s)).sum())))
    total = 0.0
    for i, j in itertools.product(range(len(s)), repeat=2):
        if y[i] > y[j]:
            t = s[j] - s[i]
            total += max(0.0, margin + t) if name == "ranksvm" else float(np.logaddexp(0.0, t))
    return total


@pytest.mark.parametrize("name", FORMULAS)
@settings(max_examples=40)
@given(several_queries())
def test_value_follows_the_formula(name, drawn):
    scores, y, offsets = drawn
    y = np.minimum(y, 20)  # the plain formula's e^y stays finite
    expected = [phi(name, scores[a:b], y[a:b]) for a, b in itertools.pairwise(offsets)]
    tolerance = 1e-12 * (1.0 + np.abs(scores).max() * np.diff(offsets).max() ** 2)
    np.testing.assert_allclose(surrogates.create(name).value(scores, y, offsets), expected, rtol=1e-10, atol=tolerance)


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


@pytest.mark.parametrize("name", FORMULAS)
def test_extreme_scores_stay_finite(name):
    scores, y = [1e4, -1e4, 0.0, 1e4], [0, 3, 1, 3]
    values, gradient = surrogates.create(name).value_and_gradient(scores, y, [0, 4])
    assert np.isfinite(values).all()
    assert np.isfinite(gradient).all()
    assert values[0] == pytest.approx(phi(name, np.array(scores), np.array(y)), rel=1e-12)


@pytest.mark.parametrize("name", FORMULAS)
@pytest.mark.parametrize("levels", [2, 200])
def test_ten_thousand_documents(name, levels):
    rng = np.random.default_rng(0)
    y = rng.integers(0, levels, 10_000)
    scores = rng.normal(size=10_000)
    values, gradient = surrogates.create(name).value_and_gradient(scores, y, [0, 10_000])
    few = rng.choice(10_000, 40, replace=False)  # gradient entries against the definition
    for i in few:
        if name == "ranksvm":
            expected = np.sum((y > y[i]) & (1 + scores[i] > scores)) - np.sum((y < y[i]) & (1 + scores > scores[i]))
        elif name == "ranknet":
            weight = 1 / (1 + np.exp(scores - scores[i]))
            expected = weight[y > y[i]].sum() - (1 - weight)[y < y[i]].sum()
        elif name == "listnet":
            shifted = np.exp(y - float(y.max()))
            expected = np.exp(scores[i]) / np.exp(scores).sum() - shifted[i] / shifted.sum()
        else:
            expected = 2 * (scores[i] - y[i])
        assert gradient[i] == pytest.approx(expected, rel=1e-9, abs=1e-12)
    assert np.isfinite(values[0])


def test_ranksvm_kernels_agree():
    rng = np.random.default_rng(8)
    for levels in (2, 3, 7, 100):
        scores, y, offsets = some_queries(rng, n_queries=20, largest=90, levels=levels)
        by_pairs = hinge(scores, y, offsets, 1.0, 10**6)
        by_merging = hinge(scores, y, offsets, 1.0, -1)
        np.testing.assert_array_equal(by_pairs[1], by_merging[1])
        np.testing.assert_allclose(by_pairs[0], by_merging[0], rtol=1e-14)


@pytest.mark.parametrize("width", [1e-3, 0.5, 3.0])
@pytest.mark.parametrize("largest", [10, 150])
def test_rounded_ranksvm_by_pairs(width, largest):
    rng = np.random.default_rng(4)
    scores, y, offsets = some_queries(rng, largest=largest, levels=5)
    V = rng.normal(size=(len(y), 2))
    rounded = RankSVM(margin=1.5).smoothed(width)
    values, gradient, intercepts = rounded.minorant(scores, y, offsets)
    product = rounded.hessian_product(scores, y, offsets, V)
    inside = rounded.interior(0.1).hessian_product(scores, y, offsets, V)
    h = 1.5 * width
    expected = {"gradient": np.zeros(len(y)), "product": np.zeros_like(V), "inside": np.zeros_like(V)}
    for q, (a, b) in enumerate(itertools.pairwise(offsets)):
        value = weight = 0.0
        for i, j in itertools.product(range(a, b), repeat=2):
            if y[i] <= y[j]:
                continue
            t = 1.5 + scores[j] - scores[i]
            alpha = min(max(t / h, 0.0), 1.0)
            value += alpha * t - h * alpha**2 / 2
            weight += alpha
            expected["gradient"][[i, j]] += [-alpha, alpha]
            for key, low, high in (("product", 0.0, h), ("inside", 0.1 * h, 0.9 * h)):
                if low < t < high:
                    expected[key][i] += (V[i] - V[j]) / (high - low)
                    expected[key][j] -= (V[i] - V[j]) / (high - low)
        assert values[q] == pytest.approx(value, rel=1e-9, abs=1e-9)
        assert intercepts[q] == pytest.approx(1.5 * weight, rel=1e-10, abs=1e-10)
    np.testing.assert_allclose(gradient, expected["gradient"], atol=1e-9)
    np.testing.assert_allclose(product, expected["product"], atol=1e-9 / width)
    np.testing.assert_allclose(inside, expected["inside"], atol=1e-9 / width)


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


def label_vectors(m, y_max):
    return [np.array(y, np.int32) for y in itertools.combinations_with_replacement(range(y_max + 1), m)]


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
        for y in label_vectors(size, y_max):
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
            for y in label_vectors(m, y_max):
                scores = -50.0 * y if at is None else at
                best = max(best, float(np.linalg.norm(loss.gradient(scores, y, [0, m]), order)))
            assert loss.lipschitz(m, y_max, norm) == pytest.approx(best, rel=close)


def test_ranksvm_binary_labels():
    for m, r in ((7, 2), (10, 5)):
        y = np.r_[np.ones(r), np.zeros(m - r)]
        assert np.abs(RankSVM().gradient(np.zeros(m), y, [0, m])).sum() == 2 * r * (m - r)
    assert RankSVM().lipschitz(10, 1) == 50.0
    assert RankSVM("mean").lipschitz(10, 4) == 2.0


@pytest.mark.parametrize(("m", "y_max"), [(2, 1), (5, 2)])
def test_listnet_constants(m, y_max):
    loss = surrogates.create("listnet")
    rng = np.random.default_rng(0)
    largest_g, largest_h = 0.0, 0.0
    for y in label_vectors(m, y_max):
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


def rounded(normalisation):
    """At equal scores, every pair is in the middle of the rounded part, which is 1 wide."""
    return RankSVM(normalisation, margin=0.5).smoothed(2.0)


@pytest.mark.parametrize("make", [RankNet, rounded])
@pytest.mark.parametrize("normalisation", ["sum", "mean"])
@pytest.mark.parametrize("m", [1, 2, 5, 6])
def test_pairwise_smoothness_is_attained(m, normalisation, make):
    loss = make(normalisation)
    best = 0.0
    for y in label_vectors(m, 2):
        for u in itertools.product((-1.0, 1.0), repeat=m):
            direction = np.array(u)[:, None]
            product = loss.hessian_product(np.zeros(m), y, np.array([0, m]), direction)
            best = max(best, float(direction[:, 0] @ product[:, 0]))
    assert loss.smoothness(m, 2) == pytest.approx(best)
    assert loss.smoothness(m, 0) == 0.0


@pytest.mark.parametrize("make", [RankSVM, RankNet, rounded])
@pytest.mark.parametrize("normalisation", ["sum", "mean", "all-pairs"])
@pytest.mark.parametrize(("m", "y_max"), [(1, 2), (2, 1), (4, 1), (4, 2), (4, 3)])
@pytest.mark.parametrize("score_bound", [0.1, 3.0])
def test_pairwise_bounds_by_enumeration(make, normalisation, m, y_max, score_bound):
    # A convex function is largest at a corner of the cube.
    loss = make(normalisation)
    largest = max(
        loss.value(scores, y, [0, size])[0]
        for size in range(1, m + 1)
        for y in label_vectors(size, y_max)
        for scores in itertools.product((-score_bound, score_bound), repeat=size)
    )
    assert loss.bound(m, y_max, score_bound) == pytest.approx(largest, rel=1e-12)
    assert loss.bound(m, 0, score_bound) == 0.0


def test_squared_constants_need_a_score_bound():
    loss = surrogates.create("squared")
    gradient = loss.gradient(np.full(4, -3.0), np.full(4, 2), [0, 4])
    assert loss.lipschitz(4, 2, score_bound=3.0) == np.abs(gradient).sum()
    assert loss.lipschitz(4, 2, "l2", score_bound=3.0) == pytest.approx(np.linalg.norm(gradient))
    assert loss.smoothness(4, 2) == 8.0
    with pytest.raises(DataError, match="score_bound"):
        loss.lipschitz(4, 2)
