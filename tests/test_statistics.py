"""Do tests keep their level and intervals their coverage?"""

import itertools
import math
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from pipeline_lib import statistics
from pipeline_lib.core.errors import DataError


def rng(seed=0):
    return np.random.default_rng(seed)


# --- comparisons of runs ------------------------------------------------------------------------------------------

MOST = 0.05
"""The probability with which a family of comparisons may err."""


def enumerated(runs, pairs):
    """The p-values of every pair, and those adjusted step by step, over all patterns of signs."""
    runs = np.asarray(runs, float)
    differences = np.array([runs[a] - runs[b] for a, b in pairs])
    sizes = np.sqrt(np.sum(differences**2, axis=1))
    signs = np.array(list(itertools.product([-1, 1], repeat=runs.shape[1])))
    with np.errstate(invalid="ignore"):
        flipped = np.nan_to_num(np.abs(signs @ differences.T) / sizes)
        observed = np.nan_to_num(np.abs(differences.sum(axis=1)) / sizes)
    as_far = flipped >= observed - 1e-9
    adjusted, so_far = np.empty(len(pairs)), 0.0
    order = sorted(range(len(pairs)), key=lambda i: -observed[i])
    for step, i in enumerate(order):
        so_far = max(so_far, np.mean(flipped[:, order[step:]].max(axis=1) >= observed[i] - 1e-9))
        adjusted[i] = so_far
    return as_far.mean(axis=0), adjusted


@settings(max_examples=60)
@given(st.integers(2, 4), st.integers(2, 7), st.randoms(use_true_random=False))
def test_few_queries_are_enumerated_exactly(k, n, random):
    runs = [[random.randint(-4, 4) for _ in range(n)] for _ in range(k)]
    found = statistics.compare_runs(runs, rng=rng())
    assert found.pairs.tolist() == [list(pair) for pair in itertools.combinations(range(k), 2)]
    single, adjusted = enumerated(runs, found.pairs)
    np.testing.assert_allclose(found.p_value, single)
    np.testing.assert_allclose(found.p_adjusted, adjusted)


def test_two_runs_agree_with_scipy():
    from scipy.stats import permutation_test

    a, b = rng(3).normal([[0.9], [0.4]], 1.0, (2, 12))
    theirs = permutation_test((a - b,), np.sum, permutation_type="samples", n_resamples=np.inf)
    assert statistics.compare_runs([a, b], rng=rng()).p_adjusted == pytest.approx(theirs.pvalue)


def test_random_signs_agree_with_enumeration(monkeypatch):
    runs = rng(3).normal([[0.5], [0.0], [0.2]], 1.0, (3, 14))
    exact = statistics.compare_runs(runs, rng=rng())
    monkeypatch.setattr(statistics, "ENUMERATED_QUERIES", 0)
    monkeypatch.setattr(statistics, "NUMBERS_PER_BLOCK", 1000)
    drawn = statistics.compare_runs(runs, resamples=40_001, rng=rng())
    for name in ("p_value", "p_adjusted"):
        p, estimate = getattr(exact, name), getattr(drawn, name)
        assert np.all(np.abs(estimate - p) <= 5 * np.sqrt(p * (1 - p) / 40_001))
    assert not np.array_equal(drawn.p_value, exact.p_value)


def test_signs_do_not_depend_on_the_size_of_blocks(monkeypatch):
    runs = rng(1).random((3, 70))
    whole = statistics.compare_runs(runs, resamples=99, rng=rng())
    monkeypatch.setattr(statistics, "NUMBERS_PER_BLOCK", 100)
    np.testing.assert_array_equal(statistics.compare_runs(runs, resamples=99, rng=rng()).p_adjusted, whole.p_adjusted)


def test_sums_equal_but_for_rounding_count_as_equal():
    # .1 + .2 - .3 and its rearrangements differ in the last digit.
    found = statistics.compare_runs([[0.1, 0.2, -0.3, 0.1], np.zeros(4)], rng=rng())
    assert found.p_value == enumerated([[1, 2, -3, 1], np.zeros(4)], [(0, 1)])[0]


@pytest.mark.parametrize("n", [4, 40])
def test_equal_runs_and_rounding_are_not_told_apart(n):
    base = rng(2).random(n)
    found = statistics.compare_runs([base, base, base * (1 + 3e-16), base + 0.5], resamples=999, rng=rng())
    same = found.pairs.max(axis=1) < 3
    assert set(found.p_value[same]) == set(found.p_adjusted[same]) == {1.0}
    assert np.all((found.low <= 0)[same] & (found.high >= 0)[same])
    assert np.isnan(found.detectable).all()
    # A constant difference has no spread, and the least p-value that there is.
    assert set(found.p_adjusted[~same]) == {statistics.smallest_p_value(n, 999)}
    assert found.high[~same] == pytest.approx(0.0 if n < 6 else -0.5)


def test_a_few_queries_that_differ_are_not_significant():
    # Four differences of one sign among 500 queries: 2 of 16 patterns are as extreme.
    runs = np.zeros((2, 500))
    runs[0, :4] = 0.001
    found = statistics.compare_runs(runs + rng(1).random(500), resamples=20_000, rng=rng())
    assert found.p_value == pytest.approx(0.125, abs=5 * math.sqrt(0.125 * 0.875 / 20_000))


def test_the_least_p_value_does_not_depend_on_the_number_of_runs():
    for k in (2, 33, 100):
        runs = rng().normal(np.linspace(0, 10, k)[:, None], 0.001, (k, 60))
        found = statistics.compare_runs(runs, resamples=99, rng=rng())
        assert set(found.p_adjusted) == {statistics.smallest_p_value(60, 99)} == {0.01}


@settings(max_examples=60)
@given(st.integers(2, 9), st.integers(2, 40), st.sampled_from([0.0, 0.1, 0.3, 1.0]), st.integers(0, 999))
def test_intervals_and_p_values_tell_the_same_story(k, n, step, seed):
    draws = rng(seed)
    runs = draws.choice([0.0, 0.5, 1.0], (k, n)) if step == 0 else draws.normal(step * np.arange(k)[:, None], 1, (k, n))
    found = statistics.compare_runs(runs, resamples=199, level=0.9, rng=draws)
    excluded = (found.low > 0) | (found.high < 0)
    assert excluded.tolist() == (found.p_adjusted <= 0.1 + 1e-12).tolist()
    assert np.all((found.low <= found.difference) & (found.difference <= found.high))
    assert np.all(found.p_value <= found.p_adjusted)
    assert np.isfinite(found.low).all()
    assert np.isfinite(found.high).all()


def test_a_named_baseline_is_a_smaller_family_than_all_pairs():
    runs = rng(4).normal(0, 1, (12, 50)) + 0.35 * (np.arange(12) == 11)[:, None]
    of_all = statistics.compare_runs(runs, rng=rng())
    named = statistics.compare_runs(runs, pairs=[(k, 0) for k in range(1, 12)], rng=rng())
    of_baseline = of_all.pairs[:, 0] == 0
    assert np.array_equal(named.p_value, of_all.p_value[of_baseline])
    assert np.all(named.p_adjusted <= of_all.p_adjusted[of_baseline])
    assert np.all(named.detectable < of_all.detectable[of_baseline])


def test_the_detectable_difference_is_found_with_its_power():
    base, trials = 0.3, 400
    draws = rng(8)
    first = statistics.compare_runs(base * draws.standard_normal((3, 80)), resamples=999, rng=draws)
    shift = np.array([0.0, 0.0, np.mean(first.detectable)])
    hits = 0
    for _ in range(trials):
        runs = base * draws.standard_normal((3, 80)) + shift[:, None]
        hits += (
            statistics.compare_runs(runs, pairs=[(0, 1), (0, 2), (1, 2)], resamples=199, rng=draws).p_adjusted[1]
            <= 0.05
        )
    # The spread is estimated from one sample: within a tenth or so.
    assert hits / trials == pytest.approx(statistics.POWER, abs=0.12)


@pytest.mark.parametrize(("n", "k"), [(30, 2), (60, 10)])
def test_what_a_plan_promises_is_found_with_its_power(n, k):
    draws, trials, hits = rng(12), 300, 0
    shift = statistics.detectable_difference(n, k * (k - 1) // 2)
    for _ in range(trials):
        # The difference of two runs has a standard deviation of 1.
        runs = math.sqrt(0.5) * draws.standard_normal((k, n))
        runs[0] += shift
        hits += statistics.compare_runs(runs, resamples=199, rng=draws).p_adjusted[0] <= 0.05
    # Bonferroni's correction is not the narrowest; 3 standard errors of the simulation.
    assert statistics.POWER - 0.07 <= hits / trials <= 0.93


def test_few_queries_show_no_difference():
    assert [statistics.detectable_difference(n, 1) for n in (1, 5)] == [math.inf] * 2
    assert math.isfinite(statistics.detectable_difference(6, 1))


def adjusted_by_holm(p):
    """Holm's adjusted p-values: what max-T must not have less power than."""
    order = np.argsort(p, kind="stable")
    adjusted = np.empty(len(p))
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1)))
    return adjusted


def simulated(k, n, shifts, repetitions, resamples, noise):
    """Shares of samples of k runs with a false discovery and with all joint intervals right; power, ours and Holm's."""
    draws, shifts = rng(k + n), np.asarray(shifts, float)
    wrong, power, holm, covered = 0, 0.0, 0.0, 0
    for _ in range(repetitions):
        runs = draws.beta(0.5, 0.8, n) + 0.1 * noise(draws, (k, n)) + shifts[:, None]
        found = statistics.compare_runs(runs, resamples=resamples, rng=draws)
        truth = shifts[found.pairs[:, 0]] - shifts[found.pairs[:, 1]]
        ours, theirs = found.p_adjusted <= MOST, adjusted_by_holm(found.p_value) <= MOST
        wrong += bool(np.any(ours & (truth == 0)))
        covered += bool(np.all((found.low <= truth) & (truth <= found.high)))
        if np.any(truth):
            power += ours[truth != 0].mean() / repetitions
            holm += theirs[truth != 0].mean() / repetitions
    return wrong / repetitions, covered / repetitions, power, holm


def normal(draws, shape):
    return draws.standard_normal(shape)


def sparse(draws, shape):
    """Most queries have the same value in all runs, the others heavy tails."""
    return np.where(draws.random(shape) < 0.3, draws.standard_t(4, shape), 0.0)


@pytest.mark.slow
@pytest.mark.parametrize("noise", [normal, sparse])
@pytest.mark.parametrize(("k", "n", "repetitions"), [(2, 60, 3000), (10, 60, 1000), (33, 60, 300), (100, 40, 60)])
def test_the_family_wise_error_is_kept(k, n, repetitions, noise):
    for shifts in (np.zeros(k), np.where(np.arange(k) < k / 2, 0.0, np.arange(k))):
        wrong, covered, _, _ = simulated(k, n, shifts, repetitions, 199, noise)
        # The level is .05; 2.6 standard errors of the simulation are a chance of 1 in 200.
        error = math.sqrt(MOST * (1 - MOST) / repetitions)
        assert wrong <= max(0.055, MOST + 2.6 * error)
        # A joint interval may fail, or the sign by which a step of the test found more: each with a probability of .05.
        several = 2 * MOST if shifts.any() else MOST
        assert covered >= 1 - several - 2.6 * math.sqrt(several * (1 - several) / repetitions)


@pytest.mark.slow
@pytest.mark.parametrize(("k", "n"), [(2, 60), (10, 60), (33, 60), (100, 20)])
def test_equal_runs_are_told_apart_with_the_probability_of_the_level(k, n):
    # With 19 patterns the least p-value is the level, which the test then uses up. So many repetitions that .055 is
    # 2.6 standard errors above it, and .045 below.
    draws, repetitions, found = rng(k), 12_800, 0
    for i in range(repetitions):
        runs = draws.beta(0.5, 0.8, n) + 0.1 * (normal, sparse)[i % 2](draws, (k, n))
        found += bool(np.any(statistics.compare_runs(runs, resamples=19, rng=draws).p_adjusted <= MOST))
    assert 0.045 <= found / repetitions <= 0.055


@pytest.mark.slow
@pytest.mark.parametrize(("k", "repetitions"), [(2, 500), (5, 200), (10, 100), (33, 15), (100, 1)])
def test_its_power_is_not_below_that_of_holm(k, repetitions):
    for step in (0.2 / k, 0.4 / k):
        # So many patterns that Holm's tests are not blind.
        _, _, power, holm = simulated(k, 60, step * np.arange(k), repetitions, max(999, 12 * k * k), normal)
        assert power >= holm - 0.005
        assert power > 0.05


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


def test_intervals_of_several_measures_are_those_of_each_up_to_the_draws():
    values = np.column_stack([skewed_measure(rng(5), 150), skewed_measure(rng(6), 150) ** 2, np.full(150, 0.1)])
    found = statistics.bootstrap_intervals(values, rng=rng(1))
    for column, (low, high) in zip(values.T[:2], found, strict=False):
        other_low, other_high = statistics.bootstrap_interval(column, rng=rng(2))
        width = other_high - other_low
        assert abs(low - other_low) <= 0.05 * width
        assert abs(high - other_high) <= 0.05 * width
    assert found[2] == (0.1, 0.1)
    assert statistics.bootstrap_intervals(values[:, ::-1], rng=rng(1)) == found[::-1]  # the draws are those of queries


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
    for values, message in (
        ([[1.0, 2.0]], "at least two runs"),
        ([[1.0], [2.0]], "two queries"),
        ([[1.0, math.nan], [1.0, 2.0]], "finite"),
        ([[1e200, 1.0], [1.0, 2.0]], "whose squares can be summed"),
    ):
        with pytest.raises(DataError, match=message):
            statistics.compare_runs(values, rng=rng())
    for pairs, message in (([(0, 0)], "two different rows"), ([(0, 2)], "from 0 to 1"), ([[0, 1, 1]], "two different")):
        with pytest.raises(DataError, match=message):
            statistics.compare_runs(np.eye(2), pairs=pairs, rng=rng())
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


@pytest.mark.parametrize("probability", [1e-320, 1e-16, 1e-15])
def test_a_quantile_that_no_sample_could_reach_is_refused(probability: float) -> None:
    for call in (statistics.needed_for_quantile, partial(statistics.quantile_interval, range(9), range(9))):
        with pytest.raises(DataError, match="probability: expected 1e-14 or more"):
            call(probability)
    assert statistics.needed_for_quantile(1e-13) == pytest.approx(math.log(40.0) * 1e13, rel=1e-9)
