"""Do tests keep their level and intervals their coverage?"""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from pipeline_lib import statistics
from pipeline_lib.core.errors import DataError


def rng(seed=0):
    return np.random.default_rng(seed)


# --- paired randomisation test ------------------------------------------------------------------------------------


def enumerated_p(differences):
    observed = abs(sum(differences))
    sums = [
        abs(sum(e * d for e, d in zip(signs, differences, strict=True)))
        for signs in itertools.product([-1, 1], repeat=len(differences))
    ]
    return sum(s >= observed for s in sums) / len(sums)


@settings(max_examples=60)
@given(st.lists(st.integers(-5, 5), min_size=1, max_size=8))
def test_few_differences_are_enumerated_exactly(differences):
    b = rng().integers(0, 100, len(differences))
    found = statistics.paired_randomisation_test(b + differences, b, rng=rng())
    assert found == enumerated_p(differences)


def test_sums_equal_but_for_rounding_count_as_equal():
    # .1 + .2 - .3 and its rearrangements differ in the last digit.
    differences = [0.1, 0.2, -0.3, 0.1]
    exact = enumerated_p([1, 2, -3, 1])
    assert statistics.paired_randomisation_test(differences, np.zeros(4), rng=rng()) == exact


def test_zero_differences_do_not_matter_and_equal_systems_are_not_told_apart():
    a = np.r_[np.ones(5), np.zeros(500)]
    assert statistics.paired_randomisation_test(a, np.zeros(505), rng=rng()) == 2 / 2**5
    assert statistics.paired_randomisation_test(a, a, rng=rng()) == 1.0


def test_random_signs_agree_with_enumeration(monkeypatch):
    differences = rng(3).normal(0.4, 1.0, 14)
    exact = statistics.paired_randomisation_test(differences, np.zeros(14), rng=rng())
    monkeypatch.setattr(statistics, "ENUMERATED_DIFFERENCES", 0)
    monkeypatch.setattr(statistics, "NUMBERS_PER_BLOCK", 1000)
    drawn = statistics.paired_randomisation_test(differences, np.zeros(14), resamples=40_001, rng=rng())
    assert drawn == pytest.approx(exact, abs=5 * math.sqrt(exact * (1 - exact) / 40_001))
    assert drawn != exact


def test_a_p_value_is_never_zero():
    assert statistics.paired_randomisation_test(np.ones(100), np.zeros(100), resamples=999, rng=rng()) == 1 / 1000


# --- Holm ---------------------------------------------------------------------------------------------------------


def test_holm_by_hand():
    np.testing.assert_allclose(statistics.holm([0.04, 0.01, 0.03, 0.005]), [0.06, 0.03, 0.06, 0.02])
    np.testing.assert_allclose(statistics.holm([0.6, 0.9]), [1.0, 1.0])
    assert statistics.holm([]).shape == (0,)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8), st.floats(0.001, 0.5))
def test_holm_rejects_as_the_step_down_procedure_does(p_values, alpha):
    rejected = [False] * len(p_values)
    for step, i in enumerate(sorted(range(len(p_values)), key=lambda i: p_values[i])):
        if p_values[i] * (len(p_values) - step) > alpha:
            break
        rejected[i] = True
    assert (statistics.holm(p_values) <= alpha).tolist() == rejected


# --- bootstrap ----------------------------------------------------------------------------------------------------


def skewed_measure(generator, n):
    """Like AP over queries: three in ten are 0, the others spread over (0, 1); mean .7 / 3."""
    return np.where(generator.random(n) < 0.3, 0.0, generator.beta(0.8, 1.6, n))


@pytest.mark.parametrize(("n", "level"), [(60, 0.95), (60, 0.8)])
def test_bootstrap_interval_covers_the_mean(n, level):
    generator = rng(21)
    intervals = [
        statistics.bootstrap_interval(skewed_measure(generator, n), level=level, resamples=1000, rng=generator)
        for _ in range(500)
    ]
    covered = np.mean([low <= 0.7 / 3 <= high for low, high in intervals])
    assert covered == pytest.approx(level, abs=4 * math.sqrt(level * (1 - level) / 500))


def test_bootstrap_interval_agrees_with_scipy():
    from scipy.stats import bootstrap

    sample = skewed_measure(rng(4), 40)
    low, high = statistics.bootstrap_interval(sample, resamples=20_000, rng=rng(1))
    theirs = bootstrap((sample,), np.mean, n_resamples=20_000, method="BCa", rng=rng(2)).confidence_interval
    assert low == pytest.approx(theirs.low, abs=0.01)
    assert high == pytest.approx(theirs.high, abs=0.01)


def test_paired_difference_cancels_what_both_systems_share():
    hardness = rng(1).random(100)
    a, b = hardness + 0.01 + 0.01 * rng(2).random(100), hardness
    low, high = statistics.bootstrap_interval(a - b, rng=rng(0))
    assert 0.01 < low < np.mean(a - b) < high < 0.02


def test_constant_values_have_a_point_for_an_interval():
    assert statistics.bootstrap_interval([0.5] * 4, rng=rng()) == (0.5, 0.5)


# --- folds --------------------------------------------------------------------------------------------------------


def test_over_folds_by_hand():
    # t_{4, .975} = 2.776445; sd = sqrt(2.5), half width = 2.776445 sqrt(2.5 / 5)
    summary = statistics.over_folds([1, 2, 3, 4, 5])
    assert (summary.mean, summary.folds, summary.level) == (3.0, 5, 0.95)
    assert summary.sd == pytest.approx(math.sqrt(2.5))
    assert summary.high - 3.0 == pytest.approx(2.776445 * math.sqrt(0.5), rel=1e-6)
    assert 3.0 - summary.low == pytest.approx(summary.high - 3.0)


# --- exponents ----------------------------------------------------------------------------------------------------

GRID = np.array([10.0, 20.0, 40.0, 80.0, 160.0])


@given(st.floats(-2, 2), st.floats(-3, 3))
def test_an_exact_power_law_is_recovered(slope, intercept):
    fit = statistics.fit_exponent(GRID, np.exp(intercept) * GRID**slope)
    assert fit.slope == pytest.approx(slope, abs=1e-10)
    assert fit.intercept == pytest.approx(intercept, abs=1e-9)
    assert fit.low <= fit.slope <= fit.high
    assert fit.high - fit.low < 1e-6


def test_least_squares_interval_agrees_with_scipy():
    from scipy.stats import linregress, t

    y = GRID**-0.5 * rng(3).lognormal(0.0, 0.2, 5)
    fit, theirs = statistics.fit_exponent(GRID, y, level=0.9), linregress(np.log(GRID), np.log(y))
    assert fit.slope == pytest.approx(theirs.slope)
    assert fit.intercept == pytest.approx(theirs.intercept)
    assert fit.r2 == pytest.approx(theirs.rvalue**2)
    assert fit.high - fit.slope == pytest.approx(t.ppf(0.95, 3) * theirs.stderr)


def test_values_at_equal_x_are_averaged_and_order_does_not_matter():
    once = statistics.fit_exponent([1, 2, 4], [3.0, 2.0, 1.5])
    assert statistics.fit_exponent([4, 1, 2, 1], [1.5, 2.0, 2.0, 4.0]) == once


@pytest.mark.parametrize("repetitions", [3, 20])
@pytest.mark.parametrize("kind", ["independent", "dependent", "skewed"])
def test_interval_over_repetitions_covers_the_slope(repetitions, kind):
    generator, shape = rng(17), (repetitions, len(GRID))
    covered = []
    for _ in range(500):
        noise = 0.5 * generator.standard_normal(shape)
        if kind == "dependent":
            noise = 0.5 * generator.standard_normal((repetitions, 1)) + 0.3 * generator.standard_normal(shape)
        elif kind == "skewed":
            noise = generator.exponential(size=shape) - 1.0
        y = GRID**-0.5 * (1.0 + noise)
        if np.any(y.mean(axis=0) <= 0.0):
            continue
        fit = statistics.fit_exponent(GRID, y)
        covered.append(fit.low <= -0.5 <= fit.high)
    assert len(covered) > 450
    assert 0.905 < np.mean(covered) < 0.985


def test_single_values_may_be_negative_when_the_means_are_positive():
    y = np.vstack([3.0 * GRID**-0.5, -(GRID**-0.5)])
    assert statistics.fit_exponent(GRID, y).slope == pytest.approx(-0.5)


# --- errors -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("x", "y", "message"),
    [
        ([1, 2, 2], [1.0, 1.0, 1.0], "at least three distinct values"),
        ([1, 2, 0], [1.0, 1.0, 1.0], "x: expected positive numbers, found 0"),
        ([1, 2, 3], [1.0, 0.0, 1.0], "positive mean at every x, found 0 at x = 2"),
        ([1, 2, 3], [1.0, 1.0], r"expected shape \(3,\) or \(repetitions, 3\)"),
        ([1, 2, 3], [[1.0, 1.0, 1.0]], "at least two repetitions"),
    ],
)
def test_fit_exponent_rejects(x, y, message):
    with pytest.raises(DataError, match=message):
        statistics.fit_exponent(x, y)


def test_bad_input_is_rejected():
    with pytest.raises(DataError, match="the same queries in both, found 2 and 3"):
        statistics.paired_randomisation_test([1, 2], [1, 2, 3], rng=rng())
    with pytest.raises(DataError, match=r"p_values: expected numbers in \[0, 1\], found 1.5"):
        statistics.holm([0.5, 1.5])
    for function in (lambda values: statistics.bootstrap_interval(values, rng=rng()), statistics.over_folds):
        with pytest.raises(DataError, match="at least 2"):
            function([0.4])


# --- intervals of repetitions ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("truth", [0.0, 0.3])
def test_limits_are_found_in_noise(truth):
    rng = np.random.default_rng(0)
    x = np.array([10.0, 40, 160, 320, 640, 1280])
    values = truth + 5 / x - 20 / x**2 + 0.001 * rng.normal(size=(60, 6))
    found = statistics.mean_interval(statistics.limits_at_infinity(x, values))
    assert found.low < truth < found.high
    assert found.high - found.low < 0.01


def test_a_mean_of_repetitions_that_share_an_error_by_simulation():
    rng = np.random.default_rng(2)
    inside = {0.0: 0, 0.5: 0}
    for _ in range(1000):
        values = 1.0 + 0.5 * rng.normal() + rng.normal(size=20)
        for stated in inside:
            interval = statistics.mean_interval(values, shared_error=stated)
            inside[stated] += interval.low <= 1.0 <= interval.high
    assert inside[0.0] < 750  # without it the interval is too narrow
    assert 930 <= inside[0.5] <= 975


@given(st.integers(1, 3000), st.floats(0.01, 0.99))
def test_the_interval_of_a_quantile_is_the_narrowest_that_covers_it(n, probability):
    cdf = binom(n, probability).cdf
    if cdf(0) > 0.025 or cdf(n - 1) < 0.975:
        needed = statistics.needed_for_quantile(probability)
        with pytest.raises(DataError, match=f"expected {needed} numbers or more .*found {n}"):
            statistics.quantile_interval(np.arange(n), np.arange(n), probability)
        enough, few = (
            [binom(k, probability).cdf(0) <= 0.025, binom(k, probability).cdf(k - 1) >= 0.975]
            for k in (needed, needed - 1)
        )
        assert all(enough)
        assert not all(few)
        return
    found = statistics.quantile_interval(np.arange(n), np.arange(n) + 0.5, probability)
    low, high = int(found.low), int(found.high)  # both numbers count from 0
    assert cdf(high) - cdf(low) >= 0.95
    assert cdf(low + 1) > 0.025
    assert cdf(high - 1) < 0.975
    assert found == statistics.Interval(int(probability * n), low, high + 0.5)


def test_the_interval_of_a_quantile_needs_both_ends_of_every_number():
    with pytest.raises(DataError, match="high: expected 100 numbers, as many as in low, found 99"):
        statistics.quantile_interval(np.arange(100), np.arange(99), 0.9)


def test_ratios_by_simulation():
    rng = np.random.default_rng(1)
    inside = 0
    for _ in range(300):
        below = 2.0 + rng.normal(size=30)
        above = 0.5 * below + 0.3 * rng.normal(size=30)
        interval = statistics.ratio_interval(above, below)
        inside += interval.low <= 0.5 <= interval.high
    assert 270 <= inside <= 298


@pytest.mark.parametrize("below", [[1e-320] * 3, [2e-320, 1e-320, 3e-320], [1e-160, 2e-160, 3e-160], [1.0, -1.0, 0.0]])
def test_a_mean_by_which_nothing_can_be_divided_is_named(below):
    with pytest.raises(DataError, match="below: expected a mean"):
        statistics.ratio_interval([1.0, 2.0, 4.0], below)


@pytest.mark.parametrize("high", [float("inf"), float("nan"), 10**400])
def test_the_ends_of_an_interval_are_finite(high: float) -> None:
    with pytest.raises(DataError, match="expected finite numbers"):
        statistics.Interval(0.6, 0.5, high)
    with pytest.raises(DataError, match="freedom: expected degrees of freedom"):
        statistics.Interval(0.6, 0.5, 0.7, high)
