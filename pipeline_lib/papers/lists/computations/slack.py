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


def _at(bound: str, given: dict[str, Any], entropy: list_bounds.Entropy, **risk: Any) -> Callable[[int], float]:
    return lambda n: list_bounds.evaluate(bound, n=n, entropy=entropy, **given, **risk)


def _populations(settings: ExactSettings) -> Iterator[tuple[str, Opposites, float, float]]:
    # Of every surrogate: its name, population, sqrt(n) times the best known Rademacher average, and spread.
    for radius in sorted({*settings.slack_radii, RANKSVM_RADIUS}):
        if radius <= RANKSVM_RADIUS:
            yield "ranksvm", Opposites("ranksvm", 1, radius, 1, options=MEAN), 2.0 * radius, 4.0 * radius
        average = list_lengths.of_listnet(n=1.0, scores=radius)
        yield "listnet", Opposites("listnet", 1, radius, Y_MAX), average, 4.0 * radius
        average = list_lengths.of_smooth_dcg(n=1.0, scores=radius, largest_gain=1.0)
        yield "smooth-dcg", Opposites("smooth-dcg", 1, radius, 1, options={"sign": "regret"}), average, 1.0


def _sharper(population: Opposites, average: float, spread: float, delta: float) -> Callable[[int], float]:
    # The chain has a smaller average than e^(2 a) where scores are large.
    lipschitz = supremum(population.loss, population.m, population.y_max, "lipschitz-linf")
    assert lipschitz is not None

    def deviation(n: int) -> float:
        chain = list_lengths.by_chain(n=n, m=population.m, lipschitz=lipschitz, scores=population.radius)
        return list_lengths.deviation(min(average / math.sqrt(n), chain), n=n, spread=spread, delta=delta)

    return deviation


def _gap(population: Opposites, delta: float) -> Callable[[int], float]:
    largest = population.largest_gap()
    return lambda n: largest * _mean_sign(n, delta)


def _of_pairs(
    statement: str, bound: str, settings: ExactSettings, risk: Callable[[Opposites], dict[str, float]]
) -> Iterator[Case]:
    for name, population, average, spread in _populations(settings):
        if bound == "optimistic" and not population.loss.smooth:
            continue
        given = {**_given(bound, population, settings), **risk(population)}
        yield Case(
            statement=statement,
            name=name,
            radius=population.radius,
            m=population.m,
            d=population.d,
            gap=_gap(population, settings.delta),
            printed=_at(bound, given, "closed-form"),
            integral=_at(bound, given, "integral"),
            sharper=_sharper(population, average, spread, settings.delta),
            largest=population.largest_gap(),
        )


def _pairs(settings: ExactSettings) -> Iterator[Case]:
    return _of_pairs("theorem 9", "erm", settings, lambda population: {})


def _optimistic(settings: ExactSettings) -> Iterator[Case]:
    def worst(population: Opposites) -> dict[str, float]:
        # The risk of the worst ranker is the even part of the loss at the end of the ball.
        return {"empirical_risk": float(population.even(population.radius)[0])}

    return _of_pairs("theorem 17", "optimistic", settings, worst)


def _highest(settings: ExactSettings) -> Iterator[Case]:
    return (_highest_of(m, settings.delta) for m in settings.slack_lengths)


def _highest_of(m: int, delta: float) -> Case:
    given: dict[str, Any] = {"m": m, "lipschitz": 1.0, "radius": 1.0, "feature_norm": 1.0, "loss_bound": 1.0}
    given["delta"] = delta

    def sharper(n: int) -> float:
        chain = list_lengths.by_chain(n=n, m=m, lipschitz=1.0, scores=1.0)
        return list_lengths.deviation(chain, n=n, spread=1.0, delta=delta)

    return Case(
        statement="theorem 9",
        name="highest irrelevant document",
        radius=1.0,
        m=m,
        d=m,
        gap=lambda n: highest.gap_at(n, m, delta),
        printed=_at("erm", given, "closed-form"),
        integral=_at("erm", given, "integral"),
        sharper=sharper,
        largest=0.5,
    )


def _signs(settings: ExactSettings) -> Iterator[Case]:
    return (_signs_of(d, settings) for d in settings.slack_features)


def _signs_of(d: int, settings: ExactSettings) -> Case:
    # RankSVM on pairs x and -x of random signs: 2 W1 times the largest of d means of n signs.
    population = Opposites("ranksvm", 1, RANKSVM_RADIUS, 1, options=MEAN)
    given = {**_given("erm-l1", population, settings), "d": d}
    one, slope = -math.expm1(math.log1p(-settings.delta) / d), 2.0 * RANKSVM_RADIUS

    def sharper(n: int) -> float:
        average = slope * math.sqrt(2.0 * math.log(2.0 * d) / n)
        return list_lengths.deviation(average, n=n, spread=2.0 * slope, delta=settings.delta)

    return Case(
        statement="theorem 12",
        name="ranksvm, signs",
        radius=RANKSVM_RADIUS,
        m=2,
        d=d,
        gap=lambda n: slope * _mean_sign(n, one),
        printed=_at("erm-l1", given, "integral"),
        integral=_at("erm-l1", given, "integral"),
        sharper=sharper,
        largest=slope,
    )
