"""Are the risks over all pairs and the covariances those of plain computations?"""

import itertools
from fractions import Fraction

import numpy as np
import pytest

from pipeline_lib.papers.twolayer.definitions import experiment as definitions


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
