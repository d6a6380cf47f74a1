"""Are surrogates what their formulas say, whatever the scores, the labels and the company of other queries?"""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from ranking_losses import several_queries

from pipeline_lib import surrogates

FORMULAS = ("listnet", "ranknet", "ranksvm", "squared")  # written out in phi below


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
