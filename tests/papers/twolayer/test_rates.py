"""Are the rates of the worst gap, the bounds and the plans those of plain computations?"""

import itertools
import math
from typing import Any

import numpy as np
import pytest
from scipy import stats

from pipeline_lib.core.errors import DataError
from pipeline_lib.core.seeds import generator
from pipeline_lib.papers.twolayer.rates import experiment as rates
from pipeline_lib.papers.twolayer.rates import mixed
from pipeline_lib.papers.twolayer.sign_rankers import Signs, even_lists
from pipeline_lib.theory import two_layer, two_layer_rates
from tests.papers.jobs import Given, tables
from tests.small_settings import small

ASKED = small("twolayer", "rates", turned_shares=[0.3], capacities=[1, 3])


@pytest.fixture(scope="module")
def found() -> dict[str, list[dict[str, Any]]]:
    return tables(rates.measure(Given(ASKED, 1)))


def test_every_line_is_measured_in_every_population(found):
    places = [(row["queries_are"], row["capacity"], row["growing"]) for row in found["twolayer-rates"]]
    lines = ["queries"] * 3 + ["documents"] * 3 + ["unequal lists"]
    assert places == [(*one, line) for one in (("differ", 1), ("differ", 3), ("alike", 1)) for line in lines]
    assert {(row["queries"], row["documents"], row["longest"]) for row in found["twolayer-rates"]} == {
        *((n, 2, 2) for n in (10, 40, 160)),
        *((20, m, m) for m in (16, 64, 256)),
        (160, 16, 256),
    }
    assert [row["growing"] for row in found["twolayer-rate-exponents"]] == ["queries", "documents"] * 3
    assert {row["turned_share"] for row in found["twolayer-rate-plans"]} == {0.3}


def test_both_bounds_by_loops(found):
    delta = ASKED.delta
    for row in found["twolayer-rates"]:
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
    [row] = [
        row for row in found["twolayer-rates"] if (row["capacity"], row["longest"], row["documents"]) == (3, 64, 64)
    ]
    rng = generator(1, "twolayer-rates", 0.3, 3, 20, 64, 64)
    gaps = Signs(3, 0.3, 0.1).worst_gaps(np.full(20, 64), ASKED.repetitions, rng)
    assert row["gap"] == pytest.approx(gaps.mean())
    assert row["exceeded"] == sorted(gaps)[95]
    assert row["exceeded_low"] <= row["exceeded"] <= row["exceeded_high"]
    assert sum(gap > row["exceeded"] for gap in gaps) <= ASKED.delta * len(gaps)


def test_plans_are_those_of_the_two_bounds(found):
    for capacity in (1, 3):
        plans = {row["plan"]: row for row in found["twolayer-rate-plans"] if row["capacity"] == capacity}
        assert [plan for plan in plans if "documents" in plan] == ["2 documents", "4 documents"]
        assert plans["2 documents"]["queries"] == 120
        log, variances = capacity * math.log(2), Signs(capacity, 0.3, 0.1).variances()
        corrected, printed = {}, {}
        for plan, row in plans.items():
            n = row["queries"]
            corrected[plan] = two_layer_rates.bound(even_lists(240, n), variances, log, ASKED.delta).total
            printed[plan] = two_layer.even_bound(n, 240, capacity, ASKED.delta, ASKED.c1).total
        assert corrected["corrected"] <= min(corrected.values()) * (1 + 1e-3)
        assert printed["printed"] <= min(printed.values()) * (1 + 1e-3)


# Lists that are drawn one by one; lists of which all possible ones are counted; and both.
@pytest.mark.parametrize(("documents", "n"), [(30, 4), (60, 30), (70, 30)])
def test_worst_gaps_are_suprema_over_all_signs(documents, n):
    share, noise, d = 0.3, 0.1, 3
    rng = np.random.default_rng(1)
    gaps = []
    for _ in range(300):
        # Documents one by one, and all eight rankers.
        wrong = np.zeros((n, 2**d))
        weights = np.array(list(itertools.product((-1, 1), repeat=d)))
        for i in range(n):
            m = documents // n + (i < documents % n)
            feature, turned = rng.integers(d), rng.random() < share
            x = rng.integers(0, 2, m)
            y = np.where(rng.random(m) < noise, 1 - (x ^ turned), x ^ turned)
            for a, b in itertools.combinations(range(m), 2):
                wrong[i] += (y[a] - y[b]) * weights[:, feature] * (x[a] - x[b]) < 0
            wrong[i] /= m * (m - 1) / 2
        false, true = noise**2 / 2, (1 - noise) ** 2 / 2
        straight, opposite = (1 - share) * false + share * true, (1 - share) * true + share * false
        expected = np.where(weights == 1, straight, opposite).mean(axis=1)
        gaps.append((expected - wrong.mean(axis=0)).max())
    found = Signs(d, share, noise).worst_gaps(even_lists(documents, n), 4000, np.random.default_rng(0))
    spread = math.hypot(np.std(gaps) / math.sqrt(len(gaps)), found.std() / math.sqrt(len(found)))
    assert abs(np.mean(gaps) - found.mean()) < 4 * spread
    assert stats.ks_2samp(gaps, found).pvalue > 1e-4


def test_every_class_is_measured_with_every_plan():
    plans = {"planned_capacities": [1, 5], "planned_documents": [2, 10], "plan_repetitions": 3}
    rows = list(rates.splits(small("twolayer", "rates", budgets=[100], tried=[2], **plans), 1))
    assert [(row.capacity, row.planned_for) for row in rows] == [
        (v, planned) for v in (1, 5) for planned in (1, 5, None, None)
    ]
    assert [row.queries for row in rows if row.planned_for is None] == [50, 10] * 2
    own = {row.capacity: row for row in rows if row.capacity == row.planned_for}
    for row in rows:
        assert row.bound >= own[row.capacity].bound * (1 - 1e-3)


def test_the_worst_gap_of_the_mixed_class_by_enumeration():
    # Two queries of three documents, x_0 and two rankers by noise: all signs and all orders have the same probability.
    orders = [sum(a > b for a, b in itertools.combinations(one, 2)) / 3 for one in itertools.permutations(range(3))]
    expected: dict[float, float] = {}
    for signs in itertools.product((0.0, 1.0), repeat=2):
        for wrong in itertools.product(orders, repeat=4):
            gap = 0.5 - min(sum(signs), wrong[0] + wrong[1], wrong[2] + wrong[3]) / 2
            expected[round(gap, 12)] = expected.get(round(gap, 12), 0.0) + 1 / (4 * 6**4)
    gaps, probabilities = mixed.worst_gap(2, 3, 2)
    found = {round(float(gap), 12): p for gap, p in zip(gaps, probabilities, strict=True) if p > 1e-15}
    assert found == pytest.approx(expected)


def test_the_variances_of_the_mixed_class_are_those_of_its_lists():
    lengths = np.arange(2, 9)
    inversions = lengths * (lengths - 1) * (2 * lengths + 5) / 72  # Kendall's variance
    assert mixed.BY_DOCUMENTS.of_average(lengths) == pytest.approx(inversions / (lengths * (lengths - 1) / 2) ** 2)
    assert mixed.BY_QUERIES.of_average(lengths) == pytest.approx(0.25)


@pytest.mark.parametrize("rankers", [1, 1000])
@pytest.mark.parametrize("documents", [2, 8])
def test_the_union_bound_by_variance_holds_with_the_stated_probability(rankers, documents):
    n, delta = 240 // documents, 0.05
    gaps, probabilities = mixed.worst_gap(n, documents, rankers)
    bound = two_layer_rates.bound([documents] * n, mixed.KINDS, [0.0, math.log(rankers)], delta).total
    assert probabilities[gaps > bound].sum() <= delta


def test_every_kind_pays_for_its_own_variance():
    kinds = mixed.KINDS
    each = [two_layer_rates.bound([4] * 50, [one], math.log(2 * N), 0.05) for one, N in zip(kinds, (1, 9), strict=True)]
    assert two_layer_rates.bound([4] * 50, kinds, [0.0, math.log(9)], 0.05) == max(each, key=lambda terms: terms.total)
    deeper = [two_layer_rates.budget(480, kinds, [0.0, math.log(N)], 0.05)[0][0] for N in (1, 1000, 10**6)]
    assert deeper == sorted(deeper)
    assert deeper[0] < deeper[-1]
    with pytest.raises(DataError, match="log_rankers: expected a number of at least 0, or one for each of 2 variances"):
        two_layer_rates.bound([4] * 50, kinds, [1.0], 0.05)
