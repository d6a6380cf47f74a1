"""Are sums of hinges over pairs, computed by merging, what a pass over all pairs gives?"""

import itertools

import numpy as np
import pytest
from ranking_losses import some_queries

from pipeline_lib.surrogates.pair_sweeps import FEW_PAIRS, SHORT_COUNTED, SHORT_CURVED, SHORT_ROUNDED
from pipeline_lib.surrogates.pairwise import RankSVM


@pytest.mark.parametrize("width", [1e-3, 0.5, 3.0])
@pytest.mark.parametrize("largest", [10, 2 * SHORT_ROUNDED])
def test_rounded_ranksvm_by_pairs(width, largest):
    rng = np.random.default_rng(4)
    scores, y, offsets = some_queries(rng, 12, largest, levels=5)
    if largest > SHORT_ROUNDED:
        assert any(SHORT_CURVED < m <= SHORT_ROUNDED for m in np.diff(offsets))
        assert np.diff(offsets).max() > SHORT_ROUNDED
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


def test_ranksvm_counts_the_same_pairs_in_short_lists_and_in_long_ones():
    rng = np.random.default_rng(5)
    short, some = SHORT_COUNTED, FEW_PAIRS  # with 3 m / 8 pairs per document
    sizes = [1, 2, short - 1, short, short + 1, some, 2 * some, 3 * some, 4 * some]
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    y = rng.integers(0, 4, offsets[-1]).astype(np.int32)
    scores = rng.integers(-8, 9, offsets[-1]) / 4.0  # many ties, and many pairs that meet their margin exactly
    values, gradient = RankSVM().value_and_gradient(scores, y, offsets)
    for q, (a, b) in enumerate(itertools.pairwise(offsets)):
        t = 1.0 + scores[None, a:b] - scores[a:b, None]
        active = (y[a:b, None] > y[None, a:b]) & (t > 0.0)
        assert values[q] == t[active].sum()  # all of them are multiples of 1/4, and sums of these are exact
        np.testing.assert_array_equal(gradient[a:b], active.sum(axis=0) - active.sum(axis=1))


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
