"""Are the averages of the losses, the risks over all pairs and the covariances those of plain computations?"""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from pipeline_lib.core.seeds import generator
from pipeline_lib.papers.twolayer.definitions import experiment as definitions
from pipeline_lib.papers.twolayer.definitions.experiment import DefinitionsSettings


def test_averages_of_losses_by_loops():
    rows = list(definitions.loss_averages(DefinitionsSettings.parse({"score_bounds": [1.0]}), 1))
    rng = generator(1, "twolayer-definitions", "3 queries")
    X, y = rng.uniform(-0.5, 0.5, (11, 1))[:, 0], rng.permutation(11)
    pairs = []
    for start, m in ((0, 2), (2, 5), (7, 4)):
        k = m // 2
        for j in range(start, start + k):
            sign = 1 if y[j] > y[j + k] else -1
            pairs.append((2 / (3 * k), sign * (X[j] - X[j + k])))
    phi = {"zero-one": lambda t: float(t > 0), "hinge": lambda t: max(0.0, 1 + t), "exponential": math.exp}
    signs = list(itertools.product((-1, 1), repeat=len(pairs)))
    constant = sum(abs(sum(s * a for s, (a, _) in zip(one, pairs, strict=True))) for one in signs) / len(signs)
    linear = 2 * sum(abs(sum(s * a * d for s, (a, d) in zip(one, pairs, strict=True))) for one in signs) / len(signs)
    contracted = {"hinge": 2 * linear + constant, "exponential": 2 * math.exp(2) * linear + constant}
    grid = [2 * i / 200 for i in range(-200, 201)]
    for name, f in phi.items():
        [row] = [row for row in rows if (row.loss, row.case) == (name, "3 queries")]
        suprema = [
            max(abs(sum(s * a * f(-w * d) for s, (a, d) in zip(one, pairs, strict=True))) for w in grid)
            for one in signs
        ]
        assert row.average == pytest.approx(sum(suprema) / len(suprema), rel=5e-3)
        if name in contracted:
            assert row.contracted == pytest.approx(contracted[name])
    assert all(row.average <= row.contracted <= 10 * row.largest for row in rows)


@pytest.mark.parametrize(("n", "m"), [(2, 2), (2, 3), (3, 2)])
def test_the_risk_over_all_pairs_by_enumeration(n, m):
    for shift in (0, 2):
        total, outcomes = Fraction(0), 0
        for kinds in itertools.product((0, 1), repeat=n):
            for labels in itertools.product((0, 1), repeat=n * m):
                scores = [y + shift * kinds[i // m] for i, y in enumerate(labels)]
                pairs = list(itertools.permutations(range(n * m), 2))
                wrong = sum((labels[i] - labels[j]) * (scores[i] - scores[j]) < 0 for i, j in pairs)
                total, outcomes = total + Fraction(wrong, len(pairs)), outcomes + 1
        assert definitions.mean_over_all_pairs(n, m, shift) == total / outcomes


def test_covariances_of_elements_by_simulation():
    rng = np.random.default_rng(0)
    for row in definitions.elements():
        tasks = rng.integers(0, 2, (200_000, 2))
        chances = np.where(tasks == 0, row.first, row.second)
        one, same, other = (rng.random(len(tasks)) < chances[:, i] for i in (0, 0, 1))
        assert np.cov(one, same)[0, 1] == pytest.approx(row.in_one_row, abs=0.005)
        assert np.cov(one, other)[0, 1] == pytest.approx(row.in_two_rows, abs=0.005)
        first = tasks[:, 0] == 0
        assert np.cov(one[first], same[first])[0, 1] == pytest.approx(row.given_the_task, abs=0.005)
