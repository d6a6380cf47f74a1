"""Does a pilot say how queries and documents vary, and are the numbers of queries those that promises need?"""

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from pipeline_lib.core.errors import DataError
from pipeline_lib.core.seeds import generator
from pipeline_lib.evaluation import pilot
from pipeline_lib.theory import judging_depth

# Laws of measures of queries in [0, 1], and of differences of two runs, which are 0 for many queries.
LAWS = {
    "even": lambda n, rng: rng.random(n),
    "at both ends": lambda n, rng: rng.beta(0.3, 0.7, n),
    "low": lambda n, rng: rng.beta(2.0, 5.0, n),
    "reciprocal ranks": lambda n, rng: 1.0 / rng.choice([1, 2, 3, 5, math.inf], n, p=[0.4, 0.2, 0.1, 0.1, 0.2]),
    "differences": lambda n, rng: (rng.random(n) < 0.5) * rng.uniform(-0.4, 0.6, n),
}


def standard_deviation(law) -> float:
    return float(law(400_000, np.random.default_rng(99)).std())


@pytest.mark.parametrize("law", LAWS.values(), ids=LAWS)
def test_the_upper_limit_is_above_the_standard_deviation_in_80_of_100_pilots(law):
    rng, true = np.random.default_rng(0), standard_deviation(law)
    above = [pilot.spread(law(60, rng)).upper >= true for _ in range(1_000)]
    assert np.mean(above) > 0.77  # less three standard errors


@pytest.mark.parametrize("law", LAWS.values(), ids=LAWS)
@pytest.mark.parametrize("n", [60, 61, 500])
def test_the_limits_are_those_of_bonett(law, n):
    x = law(n, np.random.default_rng(n))
    found, ends = pilot.spread(x), []
    kurtosis = n * ((x - stats.trim_mean(x, 0.5 / math.sqrt(n - 4))) ** 4).sum() / (n * x.var()) ** 2
    for level in (0.025, 0.975, pilot.CONFIDENCE):
        z = stats.norm.ppf(level)
        c = n / (n - abs(z))
        error = c * math.sqrt((kurtosis - (n - 3) / n) / (n - 1))
        ends.append(math.sqrt(math.exp(math.log(c * x.var(ddof=1)) + z * error)))
    assert [found.sd.low, found.sd.high, found.upper] == pytest.approx(ends, rel=1e-9)


@pytest.mark.parametrize("law", LAWS.values(), ids=LAWS)
def test_a_planned_width_is_kept_within_10_percent_by_90_of_100_pilots(law):
    rng, within, found = np.random.default_rng(1), 0.01, []
    while len(found) < 400:
        try:
            planned = pilot.queries_for_width(pilot.spread(law(pilot.FEWEST_QUERIES, rng)).upper, within)
        except DataError:  # a pilot that is refused makes no plan
            continue
        found.append(pilot.half_width(float(law(planned, rng).std(ddof=1)), planned) <= 1.1 * within)
    assert np.mean(found) > 0.9


def test_smaller_pilots_would_not_keep_the_promise():
    # why the smallest pilot has 30 queries: with the rule for the standard error alone, 12 queries break it
    rng, true, broken = np.random.default_rng(2), standard_deviation(LAWS["low"]), []
    z = stats.norm.ppf(pilot.CONFIDENCE)
    for _ in range(1_000):
        x = LAWS["low"](12, rng)
        e = math.sqrt((stats.kurtosis(x, fisher=False) - 9 / 12) / 11)
        if e / 2 <= pilot.LARGEST_ERROR:
            broken.append(x.std(ddof=1) * math.sqrt(12 / (12 - z)) * math.exp(z * 12 / (12 - z) * e / 2) < true / 1.1)
    assert np.mean(broken) > 0.1


def test_a_pilot_of_rare_differences_is_refused_with_the_size_that_it_needs():
    x = np.zeros(40)
    x[:2] = 0.5, -0.3
    with pytest.raises(DataError, match="judge a pilot of about") as error:
        pilot.spread(x, "B - A")
    needed = int(str(error.value).split()[-1])
    assert pilot.spread(np.resize(x, 40 * math.ceil(needed / 40))).error <= pilot.LARGEST_ERROR


@pytest.mark.parametrize(
    ("values", "message"),
    [(np.arange(29) / 29, "at least 30 queries, found 29"), (np.full(40, 0.1), "differ between queries, found 0.1")],
)
def test_pilots_that_say_too_little_are_refused(values, message):
    with pytest.raises(DataError, match=message):
        pilot.spread(values)


# R's power.t.test(type = "one.sample") and pwr.t.test, as printed in public course material: d, power, n.
PRINTED_BY_R = [(0.5, 0.8, 33.36713), (0.2769913, 0.8, 104.2368), (1.0, 0.8, 9.93785), (0.1337089, 0.9, 589.6508)]


@pytest.mark.parametrize(("d", "power", "n"), PRINTED_BY_R)
def test_numbers_of_queries_are_those_that_r_prints(d, power, n):
    assert pilot.queries_for_power(1.0, d, power) == math.ceil(n)


@pytest.mark.parametrize(
    ("queries", "d", "power"),
    [(25, 1 / 3, 0.3594721), (25, 2 / 3, 0.8920169), (25, 1.0, 0.9976846), (15, 0.5, 0.4378466), (100, 0.25, 0.697)],
)
def test_powers_are_those_that_r_prints(queries, d, power):
    # power.t.test leaves out differences that are found with the wrong sign, unless it is told to be strict
    wrong_sign = stats.nct.sf(stats.t.ppf(0.975, queries - 1), queries - 1, -d * math.sqrt(queries))
    assert pilot.power_of(queries, 1.0, d) - wrong_sign == pytest.approx(power, abs=1e-4 if queries == 100 else 1e-7)


@pytest.mark.parametrize("queries", [2, 3, 10, 60, 5_000, 10**7])
@pytest.mark.parametrize("shift", [0.01, 1.0, 2.8, 5.5, 7.0])
def test_power_is_that_of_the_noncentral_t(queries, shift):
    critical = stats.t.ppf(0.95, queries - 1)
    expected = stats.nct.sf(critical, queries - 1, shift) + stats.nct.sf(critical, queries - 1, -shift)
    found = pilot.power_of(queries, math.sqrt(queries), shift, 0.9)
    assert found == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("level", [0.99, 0.9998, 1 - 1e-7])
def test_the_power_is_known_at_the_level_of_one_among_many_pairs(level):
    for queries in (12, 60, 192, 20_000):
        critical = stats.t.ppf((1 + level) / 2, queries - 1)
        for shift in np.linspace(0.1, 5.9, 20):
            expected = stats.nct.sf(critical, queries - 1, shift)  # the wrong side has less than the accuracy
            found = pilot.power_of(queries, math.sqrt(queries), shift, level)
            assert found == pytest.approx(expected, abs=1 - level)


def test_numbers_of_queries_are_the_smallest_that_keep_the_promise():
    for sd, w in ((0.3, 0.05), (0.1, 0.5), (0.25, 0.003)):
        n = pilot.queries_for_width(sd, w)
        assert pilot.half_width(sd, n) <= w
        assert n == 2 or pilot.half_width(sd, n - 1) > w
        n = pilot.queries_for_power(sd, w, 0.9)
        assert pilot.power_of(n, sd, w) >= 0.9
        assert n == 2 or pilot.power_of(n - 1, sd, w) < 0.9
        assert pilot.detectable(sd, n, 0.9) == pytest.approx(w, rel=0.05 if n > 50 else 0.9)


def test_differences_beyond_all_deviations_are_found_by_two_queries():
    assert pilot.queries_for_power(0.3, 1e300) == 2
    assert pilot.queries_for_power(0.3, 1e5, 0.999) == 2


def test_more_queries_than_there_can_be_are_refused():
    with pytest.raises(DataError, match="choose a larger one"):
        pilot.queries_for_width(0.3, 1e-9)


def lists(queries: int, lengths: tuple[int, ...], rng: np.random.Generator, other: bool = False) -> pilot.Lists:
    """Documents with labels 0 to 2 and scores that follow them, for some queries more than for others, with ties."""
    m = rng.choice(lengths, queries)
    labels = rng.choice(3, m.sum(), p=[0.5, 0.3, 0.2])
    skill = np.repeat(rng.uniform(-0.5, 2.0, queries), m)
    scores = [np.round(skill * labels + rng.normal(size=m.sum()), 1) for _ in range(2)]
    return pilot.Lists(scores[0], labels, np.r_[0, np.cumsum(m)], scores[1] if other else None)


def loss(given: pilot.Lists, j: int, k: int) -> float:
    if given.labels[j] == given.labels[k]:
        return 0.0
    high, low = (j, k) if given.labels[j] > given.labels[k] else (k, j)
    both = [given.scores] if given.other is None else [given.scores, given.other]
    losses = [0.5 + 0.5 * np.sign(s[low] - s[high]) for s in both]
    return losses[0] if len(losses) == 1 else losses[0] - losses[1]


@pytest.mark.parametrize("other", [False, True])
def test_moments_of_lists_are_averages_over_all_pairs_of_pairs(other):
    given = lists(30, (4, 5, 8), np.random.default_rng(0), other)
    found = given.layers(np.random.default_rng(0)).of_queries
    for q in range(30):
        begin, m = given.offsets[q], given.lengths[q]
        g = np.array([loss(given, begin + j, begin + k) for j, k in zip(*np.triu_indices(m, 1), strict=True)])
        assert found[q, 0] == pytest.approx(g.mean())
        assert found[q, 1:] == pytest.approx(judging_depth.moments(g[None, :, None], int(m))[0])


@pytest.mark.parametrize("other", [False, True])
def test_variances_of_layers_have_no_bias(other):
    # one long list of every query is its population: v, s1 and s2 without noise
    rng = np.random.default_rng(4)
    true = lists(4_000, (200,), rng, other).layers(rng).raw
    found = np.array([lists(30, (4, 6, 15), rng, other).layers(rng).raw for _ in range(400)])
    assert (abs(found.mean(axis=0) - true) < 4.0 * found.std(axis=0) / math.sqrt(len(found)) + 0.005 * true).all()


def test_intervals_of_the_variances_cover_them():
    rng = np.random.default_rng(5)
    true = lists(4_000, (200,), rng).layers(rng).raw
    covered = []
    for _ in range(100):
        intervals = lists(150, (10, 30), rng).layers(rng).intervals()
        covered.append([one.low <= value <= one.high for one, value in zip(intervals, true, strict=True)])
    assert (np.mean(covered, axis=0) > 0.88).all()


def test_resampled_variances_have_the_mean_of_the_estimates():
    rng = np.random.default_rng(6)
    found = lists(40, (6,), rng).layers(rng)
    errors = found.resampled.std(axis=0) / math.sqrt(len(found.resampled))
    assert (abs(found.resampled.mean(axis=0) - found.raw) < 4.0 * errors).all()


class Every:
    """In place of a generator: every sample of queries that there is, once."""

    def multinomial(self, queries, p, size):
        samples = itertools.product(range(len(p)), repeat=queries)
        return np.array([np.bincount(sample, minlength=len(p)) for sample in samples])


@pytest.mark.parametrize("n", [2, 3, 5])
def test_over_all_resampled_pilots_the_variance_of_queries_is_that_of_the_estimate(n):
    of_queries = np.random.default_rng(n).random((n, 4))
    resampled = pilot._resampled(of_queries, Every())
    assert len(resampled) == n**n
    found, (u, _, _, c) = pilot.Layers(of_queries, resampled), of_queries.mean(axis=0)
    # The variance of resampled queries divides by n, that of the estimate by n - 1.
    noise = (found.raw[0] - (c - u**2)) * (n - 1) / n
    assert resampled.mean(axis=0) == pytest.approx([c - u**2 + noise, *found.raw[1:]], rel=1e-9)


@pytest.mark.parametrize("m", [2, 3, 10, 400])
def test_the_error_of_the_variance_at_a_depth_is_that_of_resampled_ones(m):
    rng = np.random.default_rng(10)
    found = lists(60, (10, 20), rng).layers(rng)
    # The variance of a mean over the pairs of m documents (Hoeffding)
    weights = np.array([1.0, 4.0 * (m - 2) / (m * (m - 1)), 2.0 / (m * (m - 1))])
    error, variance = (found.resampled @ weights).std(ddof=1), found.raw @ weights
    upper, relative = found.upper_sd(m)
    assert upper == pytest.approx(math.sqrt(variance + stats.norm.ppf(pilot.CONFIDENCE) * error), rel=1e-9)
    assert relative == pytest.approx(error / (2.0 * variance), rel=1e-9)


def test_variances_are_averaged_over_the_rounds_in_which_documents_are_drawn():
    given, one = lists(4, (8, 12), np.random.default_rng(11)), np.random.default_rng(12)
    rounds = [given.drawn(3, 1, one) ** 2 for _ in range(6)]
    assert np.ptp(rounds) > 0.2 * np.mean(rounds)  # else a mean of roots would be as good
    assert given.drawn(3, 6, np.random.default_rng(12)) ** 2 == pytest.approx(np.mean(rounds))


@pytest.mark.parametrize("queries", [2, 3, 40])
def test_the_variance_of_resampled_queries_has_no_bias(queries):
    x = np.random.default_rng(13).beta(0.3, 0.7, 50)
    widths = pilot.resampled_widths(x, queries, 0.95, np.random.default_rng(14))
    variances = (widths / pilot.half_width(1.0, queries)) ** 2
    assert abs(variances.mean() - x.var()) < 4.0 * variances.std() / math.sqrt(len(variances))


def test_documents_drawn_from_the_lists_vary_as_the_formula_says():
    rng = np.random.default_rng(7)
    given = lists(1_000, (30,), rng)
    for depth in (2, 5, 20):
        expected = float(given.layers(rng).variances.of_average(depth)) ** 0.5
        assert given.drawn(depth, 10, rng) == pytest.approx(expected, rel=0.07)


def test_the_best_use_of_a_budget_is_the_narrowest_interval_and_keeps_its_promise():
    rng = np.random.default_rng(8)
    true = lists(4_000, (200,), rng).layers(rng).variances
    kept = []
    for _ in range(100):
        best = min(pilot.uses(lists(60, (10, 20), rng).layers(rng), 20_000, 10.0), key=lambda use: use.half_width)
        assert best.queries * (10 + best.depth) <= 20_000
        kept.append(1.96 * math.sqrt(float(true.of_average(best.depth)) / best.queries) <= 1.1 * best.half_width)
    assert np.mean(kept) >= 0.9


def test_the_best_depth_without_a_cost_of_queries_is_that_of_two_layer_theory():
    rng = np.random.default_rng(9)
    found = lists(500, (20,), rng).layers(rng)
    v, s1, s2 = found.raw
    plain = pilot.Layers(found.of_queries, np.tile(found.raw, (2, 1)))  # no error of the estimates
    best = min(pilot.uses(plain, 10**6), key=lambda use: use.half_width)
    assert abs(best.depth - (1.0 + math.sqrt(2.0 * (s2 - 2.0 * s1) / v))) <= 1.0
    assert pilot.best_depths(plain, 0.0)[0] == pytest.approx(best.depth, abs=1.5)
    deeper = min(pilot.uses(plain, 10**6, 50.0), key=lambda use: use.half_width)
    assert deeper.depth > best.depth


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda found: pilot.uses(found, 3), "at least 4, for two queries"),
        (lambda found: pilot.uses(found, 100, -1.0), "cost_of_query: expected a finite number >= 0, found -1"),
    ],
)
def test_budgets_without_a_plan_are_refused(call, message):
    rng = generator(0, "budgets")
    with pytest.raises(DataError, match=message):
        call(lists(30, (5,), rng).layers(rng))
