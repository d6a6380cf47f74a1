"""Are sums of hinges over pairs, computed by merging, what a pass over all pairs gives?"""

import itertools

import numpy as np
import pytest
from ranking_losses import some_queries

from pipeline_lib.surrogates.pairwise import RankSVM


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
