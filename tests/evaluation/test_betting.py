"""Limits of the mean of values in [0, 1]."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import rel_entr
from scipy.stats import binom

from pipeline_lib.core.errors import DataError
from pipeline_lib.evaluation import betting

LAWS = {
    "Bernoulli .05": (lambda rng, n: rng.random(n) < 0.05, 0.05),
    "Bernoulli .3": (lambda rng, n: rng.random(n) < 0.3, 0.3),
    "Bernoulli .5": (lambda rng, n: rng.random(n) < 0.5, 0.5),
    "Bernoulli .9": (lambda rng, n: rng.random(n) < 0.9, 0.9),
    "Beta(2, 5)": (lambda rng, n: rng.beta(2, 5, n), 2 / 7),
    "uniform": (lambda rng, n: rng.random(n), 0.5),
    "two points": (lambda rng, n: np.where(rng.random(n) < 0.1, 0.2, 0.6), 0.56),
    "like NDCG": (
        lambda rng, n: np.where(rng.random(n) < 0.2, rng.random(n) < 0.7, rng.beta(2, 1, n)),
        0.2 * 0.7 + 1.6 / 3,
    ),
}
few = st.lists(st.floats(0, 1), min_size=1, max_size=30)


def _coverage(law: str, n: int, draws: int, orders: int = 30) -> tuple[float, float]:
    draw, mean = LAWS[law]
    rng = np.random.default_rng(8)
    samples = [draw(rng, n).astype(float) for _ in range(draws)]
    limits = np.array([betting.lower_limit(x, seed=seed, orders=orders) for seed, x in enumerate(samples)])
    return float(np.mean(limits <= mean)), mean - float(limits.mean())


@pytest.mark.parametrize("orders", [1, 30])
@pytest.mark.parametrize("law", LAWS)
def test_limits_cover_the_mean_and_beat_hoeffdings(law: str, orders: int) -> None:
    covered, slack = _coverage(law, 40, 200, orders)
    assert covered * 200 >= binom.ppf(1e-4, 200, 0.95)
    assert slack < 0.9 * math.sqrt(math.log(20.0) / 80.0)


@pytest.mark.slow
@pytest.mark.parametrize("orders", [1, 30])
@pytest.mark.parametrize("law", LAWS)
def test_limits_cover_the_mean_in_many_draws(law: str, orders: int) -> None:
    covered, _ = _coverage(law, 40, 10_000, orders)
    assert covered * 10_000 >= binom.ppf(1e-4, 10_000, 0.95)


@pytest.mark.parametrize(("n", "orders"), [*((n, 30) for n in (1, 2, 3, 7, 20)), *((n, 1) for n in (1, 2, 3, 7, 10))])
@pytest.mark.parametrize("level", [0.5, 0.9, 0.99])
def test_of_bernoulli_values_every_mean_is_covered_exactly(n: int, level: float, orders: int) -> None:
    # The order of a sample is random; with fixed orders, all samples of ones and zeros of few values are gone through.
    samples = np.array([[(number >> bit) & 1 for bit in range(n)] for number in range(2 ** min(n, 10))], float)
    if n > 10:
        samples = np.array([[float(place < ones) for place in range(n)] for ones in range(n + 1)])
    limits = np.array([betting.lower_limit(sample, level=level, orders=orders) for sample in samples])
    ones = samples.sum(axis=1)
    for mean in np.r_[np.linspace(0.001, 0.999, 99), np.clip(limits - 1e-9, 0.0, 1.0)]:
        # A sample of many values stands for all with as many ones: its limit hardly depends on their order.
        weight = binom.pmf(ones, n, mean) if n > 10 else mean**ones * (1 - mean) ** (n - ones)
        assert weight[limits > mean].sum() <= 1.0 - level + 1e-9


@given(values=few, level=st.floats(0.5, 0.999))
def test_limits_enclose_the_mean_and_mirror_each_other(values: list[float], level: float) -> None:
    x = np.array(values)
    low, high = betting.interval(x, level=level)
    assert 0.0 <= low <= x.mean() + 1e-9
    assert x.mean() - 1e-9 <= high <= 1.0
    assert betting.upper_limit(x, level=level) == 1.0 - betting.lower_limit(1.0 - x, level=level)
    mirrored = betting.interval(1.0 - x, level=level)
    assert mirrored == pytest.approx((1.0 - high, 1.0 - low), abs=1e-5)


def test_the_order_of_values_hardly_matters() -> None:
    rng = np.random.default_rng(3)
    x = rng.beta(2, 1, 105)
    limits = [betting.lower_limit(rng.permutation(x), seed=seed) for seed in range(20)]
    assert np.ptp(limits) < 0.1 * (x.mean() - np.mean(limits))
    sorted_limits = [betting.lower_limit(np.sort(x)[::step]) for step in (1, -1)]
    assert sorted_limits == pytest.approx(limits[:1] * 2, abs=0.1 * (x.mean() - limits[0]))


def test_higher_confidence_gives_lower_limits() -> None:
    x = np.random.default_rng(4).random(200)
    limits = [betting.lower_limit(x, level=level) for level in (0.5, 0.8, 0.9, 0.95, 0.99, 0.999)]
    assert limits == sorted(limits, reverse=True)
    assert np.all(np.diff(limits) < 0.0)


@pytest.mark.parametrize("n", [1, 2, 50])
def test_limits_of_equal_values(n: int) -> None:
    assert betting.interval(np.zeros(n))[0] == 0.0
    assert betting.interval(np.ones(n))[1] == 1.0
    # No limit valid for all laws lies above that of Clopper and Pearson for ones.
    assert 0.0 < betting.lower_limit(np.ones(n)) <= 0.05 ** (1.0 / n)
    low, high = betting.interval(np.full(n, 0.5))
    assert low < 0.5 < high


@pytest.mark.parametrize(("orders", "goal", "bend"), [(1, 1.0, 0.0), (4, 1.3, 0.42)])
def test_the_root_lies_where_the_capital_is_enough(orders: int, goal: float, bend: float) -> None:
    x = np.random.default_rng(5).random((50, orders))
    tops = np.linspace(0.0, 1.0, 400)
    limit = betting._first_not_rejected(x, tops, 1, math.log(20.0))

    def capital(m: float) -> float:
        top = tops[tops.searchsorted(m)]
        return float(np.mean([_capital(order, m, top, goal * 20.0, bend) for order in x.T]))

    assert capital(limit - 1e-6) > 20.0 > capital(limit + 1e-6)
    assert min(map(capital, tops[1 : tops.searchsorted(limit)])) > 20.0 * (1.0 - 1e-12)


def _capital(x: np.ndarray, m: float, top: float, goal: float, bend: float) -> float:
    """W(m) of one order of values by the formulas of the module."""
    n, variance, at_top, at_m = len(x), top * (1 - top), 1.0, 1.0
    for t, value in enumerate(x):
        if at_top >= goal:
            break
        w = n / (t + 1)
        spread = min(variance, (w * variance + ((x[:t] - top) ** 2).sum()) / (w + t))
        stake = (math.sqrt(2 * math.log(goal / at_top) + bend**2) - bend) / math.sqrt((n - t) * spread)
        stake = min(0.99 / top, stake)
        at_top *= 1 + stake * (value - top)
        at_m *= 1 + stake * (value - m)
    return at_m


@pytest.mark.parametrize("law", ["uniform", "like NDCG", "Beta(2, 5)"])
def test_one_order_gives_less_slack_which_depends_on_the_order(law: str) -> None:
    draw, _ = LAWS[law]
    rng = np.random.default_rng(6)
    samples = [draw(rng, 105).astype(float) for _ in range(30)]
    slack = {
        orders: np.array(
            [[x.mean() - betting.lower_limit(x, orders=orders, seed=s) for s in range(8)] for x in samples]
        )
        for orders in (1, 30)
    }
    assert 0.85 < slack[1].mean() / slack[30].mean() < 0.95
    spread = {orders: (of.std(axis=1) / of.mean(axis=1)).mean() for orders, of in slack.items()}
    assert spread[30] < 0.05 < 0.1 < spread[1]


@pytest.mark.parametrize("n", [2, 10, 200, 3_000])
@pytest.mark.parametrize("level", [0.5, 0.95, 0.999])
def test_cells_passed_over_and_bets_have_the_level_between_them(
    monkeypatch: pytest.MonkeyPatch, n: int, level: float
) -> None:
    def passed(ordered: np.ndarray, tops: np.ndarray, cell: int, target: float) -> float:
        mean, below = ordered[:, 0].mean(), tops[cell - 1]
        # Chernoff's bound of the probability of so large a mean, where the true one is the last that is passed over
        chernoff = math.exp(-n * (rel_entr(mean, below) + rel_entr(1.0 - mean, 1.0 - below))) if cell > 1 else 0.0
        assert chernoff + math.exp(-target) <= (1.0 - level) * (1.0 + 1e-9)
        return float(below)

    monkeypatch.setattr(betting, "_first_not_rejected", passed)
    rng = np.random.default_rng(n)
    found = [betting.lower_limit(rng.beta(2, one, n), level=level) for one in (0.1, 1.0, 2.0, 9.0)]
    assert n < 200 or max(found) > 0.0


@pytest.mark.parametrize(("values", "found"), [([], "none"), ([0.5, 1.2], r"values\[1\].*1.2"), ([-0.1], "-0.1")])
def test_values_outside_the_range_are_refused(values: list[float], found: str) -> None:
    with pytest.raises(DataError, match=found):
        betting.lower_limit(values)
