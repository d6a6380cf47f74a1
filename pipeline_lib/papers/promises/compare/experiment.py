"""How often does `compare` call equal runs different, and how many true differences does it find?

The values of K runs on n queries are a query's difficulty plus noise of every run that is anything but normal: an
exponential number less its mean, so that the difference of two runs is symmetric, and the joint law of all differences
is not. Either all runs are equal, or half of them are better by an amount that is found in part. All pairs are
compared. The family-wise error is the probability that any pair of equal runs is called different; with an adjustment
that is made for every family, it must be held in the second case as well.

Where the signs of a query's differences are a fair coin for all pairs together, the error is known exactly: of few
queries, all patterns of signs are gone through, each of which is as likely.

Holm's correction of Student's paired tests is given the same values: with P p-values that rise, p_(i) is rejected if

::

    P p_(1), (P - 1) p_(2), ..., (P - i + 1) p_(i)      are all at most 1 - level.

The errors of a careless author are p-values that are not adjusted, and the family of the K - 1 pairs with the run that
came out best on these queries, as if it had been named beforehand.

Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal of Statistics 6 (1979).
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtr

from pipeline_lib import statistics
from pipeline_lib.core import progress
from pipeline_lib.core.arrays import Floats
from pipeline_lib.core.cost import Cost
from pipeline_lib.core.seeds import generator
from pipeline_lib.core.settings import Settings, Several, Sizes, Whole
from pipeline_lib.data.rows import Field, FromOne, Interval, Proportion, ProportionInterval, Row
from pipeline_lib.experiment import Experiment, Job, Step
from pipeline_lib.papers.promises.shares import share
from pipeline_lib.statistics import LEVEL

ALPHA = round(1.0 - LEVEL, 12)
CASES = ("all equal", "half better")
BETTER = 0.6
"""By so much, in standard deviations of the noise, half of the runs are better in the second case."""
ALL = "all"
"""The number of runs in a row about all draws of a case."""


class CompareSettings(Settings):
    """The family-wise error of `compare`, and its power beside Holm's correction."""

    runs: Sizes = Field((2, 5, 20, 100), description="numbers of runs K, all pairs of which are compared")
    queries: Several = Field(40, description="queries of a draw, more than 16")
    draws: Whole = Field(50, description="for every number of runs and case")
    pairs: Whole = Field(100_000, description="comparisons in these draws; many runs have so many fewer draws")
    resamples: Whole = Field(399, description="random patterns of signs")
    enumerated_runs: Sizes = Field(
        (5, 20, 100), description="numbers of equal runs whose patterns of signs are enumerated"
    )
    enumerated_queries: Several = Field(8, le=12, description="queries there, at most 12")


class FamilyWise(Row, table="tables/promises-family-wise", key=("case", "runs"), always=("error <= unadjusted",)):
    """How often a pair of equal runs is called different, among all pairs."""

    case: str = Field(description="all runs are equal, or half of them are better")
    runs: str = Field(description="number of runs, or all numbers together")
    draws: FromOne = Field(description="draws of the values")
    error: ProportionInterval = Field(description="share of draws in which a pair of equal runs is called different")
    unadjusted: ProportionInterval = Field(description="the same by p-values that are not adjusted")
    best_named: ProportionInterval = Field(
        description="the same for the pairs with the best run, as if named beforehand"
    )


class SignPatterns(
    Row, table="tables/promises-sign-patterns", key=("runs", "queries"), always=("error <= unadjusted",)
):
    """The probability that a pair of equal runs is called different, if all patterns of signs are as likely."""

    runs: FromOne = Field(description="number of runs, all equal")
    queries: FromOne = Field(description="queries")
    patterns: FromOne = Field(description="patterns of signs of the queries, two opposite ones counted once")
    error: Proportion = Field(description="share of patterns in which a pair is called different")
    unadjusted: Proportion = Field(description="the same by p-values that are not adjusted")
    best_named: Proportion = Field(description="the same for the pairs with the best run, as if named beforehand")


class Power(Row, table="tables/promises-power", key=("runs",), always=("gain = found - holm",)):
    """The share of the pairs of different runs that are found."""

    runs: FromOne = Field(description="number of runs")
    pairs: FromOne = Field(description="pairs of different runs, of which these are shares")
    draws: FromOne = Field(description="draws of the values")
    found: Proportion = Field(description="by compare, in the mean over draws")
    holm: Proportion = Field(description="by Holm's correction of Student's paired tests")
    gain: Interval = Field(description="found less holm, over draws (Student's interval)")
    bonferroni_gain: Interval = Field(description="the same for Bonferroni's correction in the place of compare")


def measure(job: Job) -> Iterator[FamilyWise | Power | SignPatterns]:
    """Draw values of many runs, compare all pairs, and count what is called different."""
    for case in CASES:
        sums, number = np.zeros(3, np.int64), 0
        for runs in progress.counted(job.settings.runs, f"numbers of runs, {case}"):
            draws = _draws(job.settings, runs)
            rng = generator(job.seed, "compare", case, runs)
            better = np.arange(runs) < (runs // 2 if case == "half better" else 0)
            found = [_drawn(better, job.settings.queries, job.settings.resamples, rng) for _ in range(draws)]
            if case == "half better":
                yield _power(runs, np.array([shares for _, shares in found]), better)
            if runs > 2 or not better.any():  # of two different runs, none are equal
                wrong = np.sum([errors for errors, _ in found], axis=0)
                sums, number = sums + wrong, number + draws
                yield _family_wise(case, str(runs), draws, wrong)
        if number:
            yield _family_wise(case, ALL, number, sums)
    for runs in job.settings.enumerated_runs:
        yield _enumerated(runs, job.settings.enumerated_queries, generator(job.seed, "compare", "signs", runs))


def _pairs(runs: int) -> int:
    return runs * (runs - 1) // 2


def _draws(settings: CompareSettings, runs: int) -> int:
    """How often values of so many runs are drawn."""
    return max(2, min(settings.draws, settings.pairs // _pairs(runs)))


def _drawn(
    better: NDArray[np.bool_], queries: int, resamples: int, rng: np.random.Generator
) -> tuple[NDArray[np.int64], Floats]:
    """Whether equal runs were called different, in three ways, and which shares of the different ones were found."""
    values = _values(len(better), queries, rng) + BETTER * better[:, None]
    errors, tested = _errors(values, better, resamples, rng)
    p = 2.0 * stdtr(queries - 1, -np.abs(tested.difference / tested.error))
    by_each = (tested.p_adjusted <= ALPHA, holm(p), p * len(p) <= ALPHA)
    different = better[tested.pairs[:, 0]] != better[tested.pairs[:, 1]]
    shares = [float(found[different].mean()) if different.any() else 0.0 for found in by_each]
    return errors, np.array(shares)


def _values(runs: int, queries: int, rng: np.random.Generator) -> Floats:
    return np.asarray(rng.normal(size=queries) + rng.exponential(size=(runs, queries)))


def _errors(
    values: Floats, better: NDArray[np.bool_], resamples: int, rng: np.random.Generator
) -> tuple[NDArray[np.int64], statistics.Comparisons]:
    """Whether equal runs are called different by adjusted p-values, by others, and beside the best run."""
    tested = statistics.compare_runs(values, resamples=resamples, rng=rng)
    a, b = tested.pairs.T
    equal = better[a] == better[b]
    best = int(np.argmax(values.mean(axis=1)))
    named = [(k, best) for k in range(len(better)) if k != best]
    of_best = statistics.compare_runs(values, pairs=named, resamples=resamples, rng=rng)
    errors = [
        (tested.p_adjusted[equal] <= ALPHA).any(),
        (tested.p_value[equal] <= ALPHA).any(),
        (of_best.p_adjusted[better[of_best.pairs[:, 0]] == better[best]] <= ALPHA).any(),
    ]
    return np.array(errors, np.int64), tested


def _enumerated(runs: int, queries: int, rng: np.random.Generator) -> SignPatterns:
    values, equal = _values(runs, queries, rng), np.zeros(runs, np.bool_)
    middle = values.mean(axis=0)
    counts, patterns = np.zeros(3, np.int64), 2 ** (queries - 1)
    for pattern in range(patterns):
        signs = 1.0 - 2.0 * (pattern >> np.arange(queries) & 1)
        counts += _errors(middle + signs * (values - middle), equal, 1, rng)[0]
    error, unadjusted, best_named = (counts / patterns).tolist()
    return SignPatterns(
        runs=runs, queries=queries, patterns=patterns, error=error, unadjusted=unadjusted, best_named=best_named
    )


def holm(p: Floats) -> NDArray[np.bool_]:
    """Which p-values Holm's step-down correction rejects.

    Example
    -------
    >>> holm(np.array([0.04, 0.01, 0.02])).tolist(), holm(np.array([0.04, 0.01, 0.03])).tolist()
    ([True, True, True], [False, True, False])
    """
    order = np.argsort(p, kind="stable")
    passed = np.logical_and.accumulate(p[order] * np.arange(len(p), 0, -1) <= ALPHA)
    rejected = np.zeros(len(p), np.bool_)
    rejected[order] = passed
    return rejected


def _family_wise(case: str, runs: str, draws: int, counts: NDArray[np.int64]) -> FamilyWise:
    error, unadjusted, best_named = (share(int(count), draws) for count in counts)
    return FamilyWise(case=case, runs=runs, draws=draws, error=error, unadjusted=unadjusted, best_named=best_named)


def _power(runs: int, shares: Floats, better: NDArray[np.bool_]) -> Power:
    found, by_holm, by_bonferroni = shares.T
    return Power(
        runs=runs,
        pairs=int(better.sum() * (~better).sum()),
        draws=len(shares),
        found=float(found.mean()),
        holm=float(by_holm.mean()),
        gain=statistics.mean_interval(found - by_holm),
        bonferroni_gain=statistics.mean_interval(by_bonferroni - by_holm),
    )


def _seconds(settings: CompareSettings) -> float:
    enumerated = 2.0**settings.enumerated_queries * 5e-4 * len(settings.enumerated_runs)
    tried = (_draws(settings, runs) * (1.2e-3 + 3e-9 * _pairs(runs) * settings.resamples) for runs in settings.runs)
    return enumerated + 2.0 * sum(tried)


EXPERIMENT = Experiment(
    CompareSettings,
    Step(
        "compare",
        measure,
        rows=(FamilyWise, Power, SignPatterns),
        cost=Cost(1.0),
        seconds=lambda settings, cell: _seconds(settings),
    ),
)
