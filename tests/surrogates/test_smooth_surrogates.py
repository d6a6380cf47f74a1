"""Are squared-ndcg, kl, rankboost and smooth-dcg what their formulas say, alone and among other queries?"""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from ranking_losses import several_queries

from pipeline_lib import surrogates

CASES = [
    ("squared-ndcg", {}),
    ("kl", {}),
    ("rankboost", {}),
    ("rankboost", {"normalisation": "mean"}),
    ("smooth-dcg", {}),
    ("smooth-dcg", {"sigma": 0.3, "sign": "as-printed"}),
    ("smooth-dcg", {"k": 3, "sigma": 0.7, "sign": "regret"}),
]
IDS = ["-".join(map(str, [name, *options.values()])) for name, options in CASES]


def gain(label):
    return 2.0**label - 1.0


def discount(rank):
    return 1.0 / math.log2(rank + 1.0)


def ideal_dcg(y, k):
    return sum(gain(label) * discount(r) for r, label in enumerate(sorted(y, reverse=True)[:k], 1))


def smooth_dcg(s, y, k, sigma):
    """SD by its definition, going through all sets of documents."""
    total = 0.0
    for j in range(1, k + 1):
        step = discount(j) - (discount(j + 1) if j < k else 0.0)
        sets = list(itertools.combinations(range(len(s)), min(j, len(s))))
        weights = np.array([sum(s[i] for i in chosen) / sigma for chosen in sets])
        weights = np.exp(weights - weights.max())
        total += step * np.average([sum(gain(y[i]) for i in chosen) for chosen in sets], weights=weights)
    return total


def phi(name, options, s, y):
    """One query's loss by the formula, in plain Python."""
    if name == "squared-ndcg":
        z = ideal_dcg(y, len(y))
        return sum((a - (gain(b) / z if z else 0.0)) ** 2 for a, b in zip(s, y, strict=True))
    if name == "kl":
        return sum(math.exp(b) * (b - a) - math.exp(b) + math.exp(a) for a, b in zip(s, y, strict=True))
    if name == "rankboost":
        losses = [math.exp(s[j] - s[i]) for i in range(len(s)) for j in range(len(s)) if y[i] > y[j]]
        return sum(losses) / (max(len(losses), 1) if options.get("normalisation") == "mean" else 1)
    k, sign = options.get("k", 1), options.get("sign", "ascent")
    soft = smooth_dcg(s, y, k, options.get("sigma", 1.0))
    return {"as-printed": soft, "ascent": -soft, "regret": ideal_dcg(y, k) - soft}[sign]


@pytest.mark.parametrize(("name", "options"), CASES, ids=IDS)
@settings(max_examples=40)
@given(several_queries(largest=(1, 3, 9), levels=(1, 2, 5, 20), spreads=(1e-3, 1.0, 20.0)))
def test_value_follows_the_formula(name, options, drawn):
    scores, y, offsets = drawn
    expected = np.array([phi(name, options, scores[a:b], y[a:b]) for a, b in itertools.pairwise(offsets)])
    values = surrogates.create(name, **options).value(scores, y, offsets)
    # the plain formulas lose digits where e^y and e^s nearly cancel, and where the ideal gain does
    scale = np.array([gain(y[a:b].max()) * 4.0 * (b - a) + 1.0 for a, b in itertools.pairwise(offsets)])
    scale *= np.e ** (y.max() if name == "kl" else 0)
    assert np.all(np.abs(values - expected) <= 1e-11 * (np.abs(expected) + scale))


@pytest.mark.parametrize(("name", "options"), CASES, ids=IDS)
@pytest.mark.parametrize("label", [0, 1, 3])
def test_one_document(name, options, label):
    value, gradient = surrogates.create(name, **options).value_and_gradient([0.5], [label], [0, 1])
    assert value[0] == pytest.approx(phi(name, options, [0.5], [label]), abs=1e-12)
    expected = {"squared-ndcg": 2 * (0.5 - (label > 0)), "kl": math.exp(0.5) - math.exp(label)}.get(name, 0.0)
    assert gradient[0] == pytest.approx(expected)


@pytest.mark.parametrize("levels", [2, 20])
@pytest.mark.parametrize(("name", "options"), CASES, ids=IDS)
def test_ten_thousand_documents(name, options, levels):
    rng = np.random.default_rng(0)
    s, y = rng.normal(size=10_000), rng.integers(0, levels, 10_000)
    loss = surrogates.create(name, **options)
    values, gradient = loss.value_and_gradient(s, y, [0, 10_000])
    assert np.isfinite(values).all()
    few = rng.choice(10_000, 20, replace=False)
    if name == "squared-ndcg":
        gains = 2.0**y - 1.0
        z = np.sort(gains)[::-1] @ (1.0 / np.log2(np.arange(2, 10_002)))
        expected = 2.0 * (s - gains / z)[few]
    elif name == "kl":
        expected = (np.exp(s) - np.exp(y))[few]
    elif name == "rankboost":
        expected = np.array([np.exp(s[i] - s)[y > y[i]].sum() - np.exp(s - s[i])[y < y[i]].sum() for i in few])
        if options:
            expected /= (1e8 - np.sum(np.bincount(y) ** 2.0)) / 2.0
    elif options.get("k", 1) == 1:
        p = np.exp(s / loss.sigma) / np.exp(s / loss.sigma).sum()
        gains = 2.0**y - 1.0
        expected = (p * (gains - p @ gains) / loss.sigma)[few] * (1.0 if loss.sign == "as-printed" else -1.0)
    else:
        step = 1e-4 * (np.arange(10_000) == few[:, None])
        expected = np.array(
            [(loss.value(s + h, y, [0, 10_000]) - loss.value(s - h, y, [0, 10_000]))[0] / 2e-4 for h in step]
        )
    largest = np.abs(gradient).max()
    np.testing.assert_allclose(gradient[few], expected, rtol=1e-6, atol=1e-5 * largest if "k" in options else 1e-9)
