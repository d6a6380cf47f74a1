"""How near can a measured gap come to Theorems 9, 12 and 17 where they say something, and which step loses the rest?

A bound says something from the n on at which it falls below the largest gap of any sample. Since the bounds fall more
slowly than the gaps, by their logarithms, the first such n is where a gap comes nearest. It is determined for
populations on which the gap of a ball, exceeded with probability delta, is known exactly (``opposites``, ``highest``),
with balls of many radii. Then the steps of the proof are undone one by one:

    gap  <=  sharper,        entropy integral,        printed

``sharper`` is 2 Rad + spread sqrt(log(1/delta) / (2n)), valid with probability 1 - delta, with the best upper bound on
the Rademacher average that is known for the class: that of linear functions for RankSVM, those of
``theory.list_lengths`` for the others. The factor from the gap to ``sharper`` is what symmetrisation and concentration
lose (and ``list_lengths``); no sample comes nearer to the printed bound than ``sharper`` does, but with probability
delta. The integral uses the covering numbers of Propositions 7, 10 and 15; what it loses against ``sharper`` is lost by
them and by chaining. The rest is the closed form, which leaves out the ceilings and can therefore be below the integral
(docs/errata.md, X), and for Theorem 17 the fixed point of its local average.

Theorems 5 and 6 bound an expectation; of the populations of `lists-expectations` the one that comes nearest is taken.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from scipy import stats

from pipeline_lib.papers.lists.computations import highest
from pipeline_lib.papers.lists.computations.lengths import quantile_of_mean_sign
from pipeline_lib.papers.lists.computations.opposites import Opposites
from pipeline_lib.theory import list_bounds, list_lengths
from pipeline_lib.theory.constants import supremum

if TYPE_CHECKING:
    from pipeline_lib.papers.lists.experiments.exact import ExactSettings

MEAN = {"normalisation": "mean"}
RANKSVM_RADIUS = 0.5
"""The largest ball in which the hinges of RankSVM are linear."""
Y_MAX = 4
"""ListNet's largest label."""
NORMAL_FROM = 10**9
"""The number of queries from which a binomial quantile is taken from the normal law."""


@dataclass(frozen=True)
class Case:
    """A population, its gap at n queries, the bounds there, and the largest gap of any sample."""

    statement: str
    name: str
    radius: float
    m: int
    d: int
    gap: Callable[[int], float]
    printed: Callable[[int], float]
    integral: Callable[[int], float]
    sharper: Callable[[int], float]
    largest: float

    def nearest(self) -> dict[str, Any] | None:
        """The row at the first n at which the printed bound says something; None beyond 10^15."""
        n = list_bounds.first_below(self.printed, lambda n: self.largest)
        if n is None:
            return None
        return {
            "statement": self.statement,
            "case": self.name,
            "radius": self.radius,
            "m": self.m,
            "d": self.d,
            "n": n,
            "gap": self.gap(n),
            "sharper": self.sharper(n),
            "integral": self.integral(n),
            "printed": self.printed(n),
            "largest_gap": self.largest,
        }


def run(settings: ExactSettings, expectations: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The rows of `lists-slack`: the nearest n of every case, and the nearest of the rows of `lists-expectations`."""
    cases = [*_pairs(settings), *_highest(settings), *_signs(settings), *_optimistic(settings)]
    rows = [row for case in cases if (row := case.nearest()) is not None]
    return [*_of_learners(expectations), *rows]


def _of_learners(expectations: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    rows = []
    for name in ("ogd", "rerm"):
        known = [row for row in expectations if row["statement"] == name and row["bound"] < row["largest_excess"]]
        if not known:
            continue
        nearest = max(known, key=lambda row: row["excess"] / row["bound"])
        rows.append(
            {
                "statement": list_bounds.place(name).lower(),
                "case": f"{nearest['loss']}, {nearest['case']}",
                "radius": nearest["radius"],
                "m": nearest["m"],
                "d": 1,
                "n": nearest["n"],
                "gap": nearest["excess"],
                "sharper": None,
                "integral": None,
                "printed": nearest["bound"],
                "largest_gap": nearest["largest_excess"],
            }
        )
    return rows


def _mean_sign(n: int, delta: float) -> float:
    return quantile_of_mean_sign(n, delta) if n < NORMAL_FROM else float(stats.norm.isf(0.5 * delta)) / math.sqrt(n)


def _given(bound: str, population: Opposites, settings: ExactSettings) -> dict[str, Any]:
    given: dict[str, Any] = {"m": population.m, "radius": population.radius, "feature_norm": 1.0}
    own = list_bounds.of_surrogate(bound, population.loss, y_max=population.y_max, **given)
    return {**given, **own, "delta": settings.delta}


def _at(bound: str, given: dict[str, Any], entropy: list_bounds.Entropy, **risk: float) -> Callable[[int], float]:
    return lambda n: list_bounds.evaluate(bound, n=n, entropy=entropy, **given, **risk)


def _populations(settings: ExactSettings) -> Iterator[tuple[str, Opposites, Callable[[int], float], float]]:
    # Of every surrogate: its name, population, best known Rademacher average and spread.
    for radius in sorted({*settings.slack_radii, RANKSVM_RADIUS}):
        if radius <= RANKSVM_RADIUS:
            slope = 2.0 * radius
            yield (
                "ranksvm", Opposites("ranksvm", 1, radius, 1, options=MEAN),
                lambda n, slope=slope: slope / math.sqrt(n), 2.0 * slope,
            )  # fmt: skip
        yield (
            "listnet", Opposites("listnet", 1, radius, Y_MAX),
            lambda n, radius=radius: list_lengths.of_listnet(n=n, scores=radius), 4.0 * radius,
        )  # fmt: skip
        yield (
            "smooth-dcg", Opposites("smooth-dcg", 1, radius, 1, options={"sign": "regret"}),
            lambda n, radius=radius: list_lengths.of_smooth_dcg(n=n, scores=radius, largest_gain=1.0), 1.0,
        )  # fmt: skip


def _sharper(
    average: Callable[[int], float], population: Opposites, spread: float, delta: float
) -> Callable[[int], float]:
    # The chain has a smaller average than e^(2 a) where scores are large.
    lipschitz = supremum(population.loss, population.m, population.y_max, "lipschitz-linf")
    assert lipschitz is not None

    def deviation(n: int) -> float:
        chain = list_lengths.by_chain(n=n, m=population.m, lipschitz=lipschitz, scores=population.radius)
        return list_lengths.deviation(min(average(n), chain), n=n, spread=spread, delta=delta)

    return deviation


def _gap(population: Opposites, delta: float) -> Callable[[int], float]:
    largest = population.largest_gap()
    return lambda n: largest * _mean_sign(n, delta)


def _pairs(settings: ExactSettings) -> Iterator[Case]:
    for name, population, average, spread in _populations(settings):
        given = _given("erm", population, settings)
        yield Case(
            "theorem 9", name, population.radius, population.m, 1,
            _gap(population, settings.delta), _at("erm", given, "closed-form"), _at("erm", given, "integral"),
            _sharper(average, population, spread, settings.delta), population.largest_gap(),
        )  # fmt: skip


def _highest(settings: ExactSettings) -> Iterator[Case]:
    for m in settings.slack_lengths:
        given: dict[str, Any] = {
            "m": m, "lipschitz": 1.0, "radius": 1.0, "feature_norm": 1.0, "loss_bound": 1.0, "delta": settings.delta,
        }  # fmt: skip
        yield Case(
            "theorem 9", "highest irrelevant document", 1.0, m, m,
            lambda n, m=m: highest.gap_at(n, m, settings.delta),
            _at("erm", given, "closed-form"), _at("erm", given, "integral"),
            lambda n, m=m: list_lengths.deviation(
                list_lengths.by_chain(n=n, m=m, lipschitz=1.0, scores=1.0), n=n, spread=1.0, delta=settings.delta
            ),
            0.5,
        )  # fmt: skip


def _signs(settings: ExactSettings) -> Iterator[Case]:
    # RankSVM on pairs x and -x of random signs: 2 W1 times the largest of d means of n signs.
    population = Opposites("ranksvm", 1, RANKSVM_RADIUS, 1, options=MEAN)
    for d in settings.slack_features:
        given = {**_given("erm-l1", population, settings), "d": d}
        one = -math.expm1(math.log1p(-settings.delta) / d)
        yield Case(
            "theorem 12", "ranksvm, signs", RANKSVM_RADIUS, 2, d,
            lambda n, one=one: 2.0 * RANKSVM_RADIUS * _mean_sign(n, one),
            _at("erm-l1", given, "integral"), _at("erm-l1", given, "integral"),
            lambda n, d=d: list_lengths.deviation(
                2.0 * RANKSVM_RADIUS * math.sqrt(2.0 * math.log(2.0 * d) / n),
                n=n, spread=4.0 * RANKSVM_RADIUS, delta=settings.delta,
            ),
            2.0 * RANKSVM_RADIUS,
        )  # fmt: skip


def _optimistic(settings: ExactSettings) -> Iterator[Case]:
    # The risk of the worst ranker is the even part of the loss at the end of the ball.
    for name, population, average, spread in _populations(settings):
        if not population.loss.smooth:
            continue
        given = _given("optimistic", population, settings)
        risk = float(population.even(population.radius)[0])
        yield Case(
            "theorem 17", name, population.radius, population.m, 1,
            _gap(population, settings.delta),
            _at("optimistic", given, "closed-form", empirical_risk=risk),
            _at("optimistic", given, "integral", empirical_risk=risk),
            _sharper(average, population, spread, settings.delta), population.largest_gap(),
        )  # fmt: skip
