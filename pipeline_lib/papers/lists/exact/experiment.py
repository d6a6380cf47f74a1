"""How near do gaps, excess risks and packings that are known exactly come to the bounds of `lists`?

Bounds are compared where they say something, with what is known exactly for any number of queries; and short
statements are tried as they are printed.

A bound says something from the n on at which it falls below the largest gap of any sample. Since the bounds fall more
slowly than the gaps, by their logarithms, the first such n is where a gap comes nearest (:func:`nearest`). It is
determined for populations on which the gap of a ball, exceeded with probability delta, is known exactly
(``opposites``, ``known_gaps``), with balls of many radii. Theorems 5 and 6 bound an expectation; of the populations of
`lists-expectations` the one that comes nearest is taken. Which step of a proof loses most is seen on data sets
(:mod:`pipeline_lib.papers.lists.chain.experiment`).
"""

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from scipy import stats

from pipeline_lib.core.cost import Cost
from pipeline_lib.data.rows import Row
from pipeline_lib.experiment import Experiment, Job, Step
from pipeline_lib.papers.lists.exact import expectations, lattices, sentences, uniform
from pipeline_lib.papers.lists.exact.opposites import LINEAR_UP_TO, MEAN, Opposites
from pipeline_lib.papers.lists.exact.settings import (
    ExactSettings,
    Expectation,
    Growth,
    Packing,
    Sentence,
    Slack,
    Uniform,
)
from pipeline_lib.papers.lists.known_gaps import gap_at, quantile_of_mean_sign
from pipeline_lib.theory import list_bounds

Y_MAX = 4
"""ListNet's largest label."""
NORMAL_FROM = 10**9
"""The number of queries from which a binomial quantile is taken from the normal law."""


def measure(job: Job) -> Iterator[Row]:
    """The tables of bounds against what is known exactly: gaps, excess risks, packings and short statements."""
    found = list(expectations.measured(job.settings, job.seed))
    yield from uniform.measured(job.settings, job.seed)
    yield from found
    yield from nearest(job.settings, [row for row in found if isinstance(row, Expectation)])
    yield from lattices.packings(job.settings)
    yield from sentences.tried(job.settings, job.seed)


def nearest(settings: ExactSettings, expectations: Sequence[Expectation]) -> Iterator[Slack]:
    """The nearest n of every case, after the nearest of the expected excess risks."""
    for name in ("ogd", "rerm"):
        known = [row for row in expectations if row.statement == name and row.bound < row.largest_excess]
        if known:
            best = max(known, key=lambda row: row.excess.value / row.bound)
            yield Slack(
                statement=list_bounds.place(name).lower(),
                case=f"{best.loss}, {best.case}",
                radius=best.radius,
                m=best.m,
                d=1,
                n=best.n,
                gap=best.excess.value,
                printed=best.bound,
                largest_gap=best.largest_excess,
            )
    yield from _of_pairs("erm", settings)
    for m in settings.slack_lengths:
        yield from _highest(m, settings.delta)
    for d in settings.slack_features:
        yield from _signs(d, settings.delta)
    yield from _of_pairs("optimistic", settings)


def _first(
    bound: str, given: dict[str, Any], gap: Callable[[int], float], largest: float, **case: Any
) -> Iterator[Slack]:
    """The row at the first n at which the printed bound is below the largest gap of any sample; none beyond 10^15."""
    n = list_bounds.first_below(lambda n: list_bounds.evaluate(bound, n=n, **given), lambda n: largest)
    if n is not None:
        yield Slack(
            statement=list_bounds.place(bound).lower(),
            radius=given["radius"],
            m=given["m"],
            n=n,
            gap=gap(n),
            printed=list_bounds.evaluate(bound, n=n, **given),
            largest_gap=largest,
            **case,
        )


def _mean_sign(scale: float, probability: float) -> Callable[[int], float]:
    # What scale times |mean of n random signs| exceeds with at most this probability.
    def quantile(n: int) -> float:
        if n < NORMAL_FROM:
            return scale * quantile_of_mean_sign(n, probability)
        return scale * (float(stats.norm.isf(0.5 * probability)) / math.sqrt(n))

    return quantile


def _populations(settings: ExactSettings) -> Iterator[Opposites]:
    for radius in sorted({*settings.slack_radii, LINEAR_UP_TO}):
        if radius <= LINEAR_UP_TO:
            yield Opposites("ranksvm", 1, radius, 1, options=MEAN)
        yield Opposites("listnet", 1, radius, Y_MAX)
        yield Opposites("smooth-dcg", 1, radius, 1, options={"sign": "regret"})


def _of_pairs(bound: str, settings: ExactSettings) -> Iterator[Slack]:
    for population in _populations(settings):
        if bound == "optimistic" and not population.loss.smooth:
            continue
        given, largest = population.constants(bound, settings.delta), population.largest_gap()
        if bound == "optimistic":
            # The risk of the worst ranker is the even part of the loss at the end of the ball.
            given["empirical_risk"] = float(population.even(population.radius)[0])
        gap = _mean_sign(largest, settings.delta)
        yield from _first(bound, given, gap, largest, case=population.surrogate, d=population.d)


def _highest(m: int, delta: float) -> Iterator[Slack]:
    given: dict[str, Any] = {"m": m, "lipschitz": 1.0, "radius": 1.0, "feature_norm": 1.0, "loss_bound": 1.0}
    given["delta"] = delta
    yield from _first("erm", given, lambda n: gap_at(n, m, delta), 0.5, case="highest irrelevant document", d=m)


def _signs(d: int, delta: float) -> Iterator[Slack]:
    # RankSVM on pairs x and -x of random signs: 2 W1 times the largest of d means of n signs.
    given = {**Opposites("ranksvm", 1, LINEAR_UP_TO, 1, options=MEAN).constants("erm-l1", delta), "d": d}
    one, slope = -math.expm1(math.log1p(-delta) / d), 2.0 * LINEAR_UP_TO
    yield from _first("erm-l1", given, _mean_sign(slope, one), slope, case="ranksvm, signs", d=d)


EXPERIMENT = Experiment(
    ExactSettings,
    Step(
        "exact",
        measure,
        rows=(Uniform, Growth, Expectation, Slack, Packing, Sentence),
        surrogates=("listnet", "ranksvm", "smooth-dcg", "squared"),
        cost=Cost(5.0, start_mb=600.0),
    ),
)
