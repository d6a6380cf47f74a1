"""Are the rates, the averages of the losses and the risks over all pairs those of plain computations?"""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from pipeline_lib.errors import ConfigurationError
from pipeline_lib.papers.twolayer.computations import cited, loss_averages, rates
from pipeline_lib.papers.twolayer.computations.sign_rankers import Signs
from pipeline_lib.papers.twolayer.experiments.definitions import DefinitionsSettings
from pipeline_lib.papers.twolayer.experiments.rates import RatesSettings
from pipeline_lib.seeds import generator
from tests.small_settings import SETTINGS

ASKED = RatesSettings.parse({**SETTINGS["twolayer"]["rates"], "turned_shares": [0.3], "capacities": [1, 3]})


@pytest.fixture(scope="module")
def found() -> rates.Results:
    return rates.run(ASKED, 1)


def test_every_line_is_measured_in_every_population(found):
    places = [(row["queries_are"], row["capacity"], row["growing"]) for row in found.rates]
    lines = ["queries"] * 3 + ["documents"] * 3 + ["unequal lists"]
    assert places == [(*one, line) for one in (("differ", 1), ("differ", 3), ("alike", 1)) for line in lines]
    assert {(row["queries"], row["documents"], row["longest"]) for row in found.rates} == {
        *((n, 2, 2) for n in (10, 40, 160)),
        *((20, m, m) for m in (16, 64, 256)),
        (160, 16, 256),
    }
    assert [row["growing"] for row in found.exponents] == ["queries", "documents"] * 3
    assert {row["turned_share"] for row in found.plans} == {0.3}


def test_both_bounds_by_loops(found):
    delta = ASKED.delta
    for row in found.rates:
        n, capacity = row["queries"], row["capacity"]
        half = n // 2 if row["growing"] == "unequal lists" else n
        lengths = [row["documents"]] * half + [row["longest"]] * (n - half)
        # The largest variance over all rankers: only the number of their weights of -1 counts.
        largest = 0.0
        for k in range(capacity + 1):
            share = row["turned_share"]
            p = (k * (1 - share) + (capacity - k) * share) / capacity
            v = p * (1 - p) * (2 * 0.45**2 - 2 * 0.05**2) ** 2
            s1 = p * (2 * 0.45**3 - 4 * 0.45**4) + (1 - p) * (2 * 0.05**3 - 4 * 0.05**4)
            s2 = p * (2 * 0.45**2 - 4 * 0.45**4) + (1 - p) * (2 * 0.05**2 - 4 * 0.05**4)
            mean = sum(v + 4 * s1 / m + 2 * (s2 - 2 * s1) / (m * (m - 1)) for m in lengths) / n
            largest = max(largest, mean)
        log = math.log(2**capacity / delta)
        assert row["deviation"] == pytest.approx(math.sqrt(2 * largest * log / n))
        assert row["bound"] == pytest.approx(math.sqrt(2 * largest * log / n) + log / (3 * n))
        complexity = [min(2, 2 * math.sqrt(2 * math.log(2 * 2**capacity) / k)) for k in (n, *(m // 2 for m in lengths))]
        concentration = 2 * math.log(4 / delta)
        printed = complexity[0] + math.sqrt(concentration / n) + sum(complexity[1:]) / n
        assert row["printed"] == pytest.approx(printed + math.sqrt(sum(concentration / m for m in lengths)) / n)
        assert row["exceeded"] <= row["bound"]


def test_gaps_are_those_of_the_samples(found):
    [row] = [row for row in found.rates if (row["capacity"], row["longest"], row["documents"]) == (3, 64, 64)]
    rng = generator(1, "twolayer-rates", 0.3, 3, 20, 64, 64)
    gaps = Signs(3, 0.3, 0.1).worst_gaps(np.full(20, 64), ASKED.repetitions, rng)
    assert row["gap"] == pytest.approx(gaps.mean())
    assert row["exceeded"] == sorted(gaps)[95]
    assert row["exceeded_low"] <= row["exceeded"] <= row["exceeded_high"]
    assert sum(gap > row["exceeded"] for gap in gaps) <= ASKED.delta * len(gaps)


def test_the_interval_of_a_quantile_covers_it():
    rng, covered = np.random.default_rng(0), 0
    for _ in range(1000):
        interval = rates.quantile(rng.random(400), 0.95)
        covered += interval.low <= 0.95 <= interval.high
    assert covered / 1000 == pytest.approx(0.95, abs=0.03)


def test_plans_are_those_of_the_two_bounds(found):
    for capacity in (1, 3):
        plans = {row["plan"]: row for row in found.plans if row["capacity"] == capacity}
        assert [plan for plan in plans if "documents" in plan] == ["2 documents", "4 documents"]
        assert plans["2 documents"]["queries"] == 120
        for bound, name in (("bound", "corrected"), ("printed", "printed")):
            assert plans[name][bound] <= min(row[bound] for row in plans.values()) * (1 + 1e-3)


def test_averages_of_losses_by_loops():
    rows = list(loss_averages.rows(DefinitionsSettings.parse({"score_bounds": [1.0]}), 1))
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
        [row] = [row for row in rows if (row["loss"], row["case"]) == (name, "3 queries")]
        suprema = [
            max(abs(sum(s * a * f(-w * d) for s, (a, d) in zip(one, pairs, strict=True))) for w in grid)
            for one in signs
        ]
        assert row["average"] == pytest.approx(sum(suprema) / len(suprema), rel=5e-3)
        if name in contracted:
            assert row["contracted"] == pytest.approx(contracted[name])
    assert all(row["average"] <= row["contracted"] <= 10 * row["largest"] for row in rows)


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
        assert cited.mean_over_all_pairs(n, m, shift) == total / outcomes


def test_covariances_of_elements_by_simulation():
    rng = np.random.default_rng(0)
    for row in cited.elements():
        tasks = rng.integers(0, 2, (200_000, 2))
        chances = np.where(tasks == 0, row["first"], row["second"])
        one, same, other = (rng.random(len(tasks)) < chances[:, i] for i in (0, 0, 1))
        assert np.cov(one, same)[0, 1] == pytest.approx(row["in_one_row"], abs=0.005)
        assert np.cov(one, other)[0, 1] == pytest.approx(row["in_two_rows"], abs=0.005)
        first = tasks[:, 0] == 0
        assert np.cov(one[first], same[first])[0, 1] == pytest.approx(row["given_the_task"], abs=0.005)


def test_lists_longer_than_the_budget_are_refused():
    with pytest.raises(ConfigurationError, match="tried: expected at most half the budget 20, found 16"):
        RatesSettings.parse({"budgets": [20], "tried": [2, 16]})
