"""Where do the uniform bounds of `lists` say something, and how near does the largest gap come to them there?

Theorems 9, 12 and 17 on populations whose samples are a few binomial numbers, for n up to 10^15 (``opposites``). For
Theorem 12 documents come in pairs x and -x with x uniform on {-1, 1}^d, of which one is relevant, by the toss of a coin
eps, except that x_1 = eps with probability (1 + mu)/2. RankSVM's loss is 1 - 2 eps <x, w> for ||w||_1 <= 1/2, and the
c_j, means of eps x_j, are independent: the largest gap is 2 W1 max_j |c_j - E c_j|.

The excess risk of RankSVM's minimisers is measured with clear labels, and where it is large: with nearly random labels,
p = 1/2 + z / (2 sqrt(n)), for z such that the sample leads to the wrong sign with a probability just above 2 delta.
"""

import math
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from pipeline_lib.core.arrays import Floats
from pipeline_lib.core.seeds import generator
from pipeline_lib.papers.lists.exact.opposites import LINEAR_UP_TO, MEAN, Opposites, draw
from pipeline_lib.papers.lists.exact.settings import ExactSettings, Growth, Uniform
from pipeline_lib.papers.lists.intervals import of_power
from pipeline_lib.statistics import Interval, quantile_interval
from pipeline_lib.theory import list_bounds
from pipeline_lib.theory.list_bounds import optimistic_terms

SATURATED_FROM = 2.0
"""W2 / sqrt(d) at which SmoothDCG has left its linear part."""
BIAS = 1.2
"""z: a standard normal number is below -1.2 with probability .115."""
CLEAR = 0.9
"""p of clear labels."""
LABELS = ("random", "nearly random", "clear")


def populations(directions: int) -> dict[str, Opposites]:
    """The populations of Theorems 9 and 17 by name."""
    return {
        "ranksvm, one direction": Opposites("ranksvm", 1, LINEAR_UP_TO, 1, options=MEAN),
        "ranksvm, many directions": Opposites("ranksvm", directions, LINEAR_UP_TO, 1, options=MEAN),
        "listnet, one direction": Opposites("listnet", 1, 1.0, 4),
        "listnet, small ball": Opposites("listnet", 1, 0.01, 4),
        "smooth-dcg, many directions": Opposites(
            "smooth-dcg", directions, SATURATED_FROM * math.sqrt(directions), 1, options={"sign": "regret"}
        ),
    }


def measured(settings: ExactSettings, seed: int) -> Iterator[Uniform | Growth]:
    """The largest gaps of all populations, and the powers fitted to them."""
    for name, population in populations(settings.directions).items():
        largest = []
        for n in settings.queries:
            for labels in LABELS if population.surrogate == "ranksvm" else LABELS[:1]:
                row, gaps = _opposites(settings, name, population, n, labels, seed)
                yield row
                if labels == "random":
                    largest.append(gaps)
        slope = of_power(settings.queries, np.column_stack(largest))
        yield Growth(axis="n", loss=population.surrogate, case=name, ball="l2", fixed=population.m, slope=slope)
    yield from _along_lengths(settings, seed)
    yield from _sparse(settings, seed)


def _row(
    bound: str, given: dict[str, Any], n: int, gap: Interval, excess: tuple[Floats, float] | None, **case: Any
) -> Uniform:
    """The row of a gap and its bound; ``excess`` has the excess risks of the minimiser, and the largest of a ranker."""
    delta, value = given["delta"], list_bounds.evaluate(bound, n=n, **given)
    # Hoeffding's inequality, for one ranker that does not depend on the sample.
    with_one = partial(list_bounds.excess_of_minimiser, n=n, loss_bound=given["loss_bound"], delta=delta)
    if excess is not None:
        case["excess"] = quantile_interval(excess[0], excess[0], 1.0 - 2.0 * delta)
        case |= {"largest_excess": excess[1], "excess_bound": with_one(value)}
    same = {name: given[name] for name in ("m", "radius", "loss_bound")}
    return Uniform(n=n, gap=gap, bound=value, one_ranker=with_one(0.0), **same, **case)


def _opposites(
    settings: ExactSettings, name: str, population: Opposites, n: int, labels: str, seed: int
) -> tuple[Uniform, Floats]:
    """A row, and the largest gap of every sample."""
    p = {"random": 0.5, "nearly random": 0.5 + 0.5 * BIAS / math.sqrt(n), "clear": CLEAR}[labels]
    c, expected = draw(n, population.d, p, settings.draws, generator(seed, "lists-exact", name, labels, n))
    low, high = population.suprema(c - expected)
    gap = quantile_interval(low, high, 1.0 - settings.delta)
    case: dict[str, Any] = {"case": name, "labels": labels, "ball": "l2", "loss": population.surrogate}
    excess = None
    if labels != "random":
        # L(w) = 1 - slope sum_j E c_j w_j is least at W E c / ||E c||, Lhat at W c / ||c||.
        slope = float(population.odd(population.radius)[0]) / population.radius
        length = np.maximum(np.linalg.norm(c, axis=1), np.finfo(float).tiny)
        best = slope * population.radius * float(np.linalg.norm(expected))
        excess = best - slope * population.radius * (c @ expected) / length, 2.0 * best
    if population.loss.smooth:
        case |= _optimistic(population, n, gap.value, c[:, 0], population.constants("optimistic", settings.delta))
    given, largest = population.constants("erm", settings.delta), population.largest_gap() * 2.0 * p
    return _row("erm", given, n, gap, excess, d=population.d, largest_gap=largest, **case), low


def _optimistic(population: Opposites, n: int, gap: float, c: Floats, given: dict[str, Any]) -> dict[str, Any]:
    """Theorem 17 for the worst ranker, whose risk is even(W / sqrt(d)) for p = 1/2.

    For ListNet also its second half, and the two sides of appendix M.1, for the minimiser over [-W, W]: phi = log(2
    cosh t) - eps a t + const, a = tanh(y_max / 2), so that Lhat is least where tanh t = a c.
    """
    needed = ("m", "radius", "feature_norm", "smoothness", "loss_bound", "delta")
    r_star, r_0 = optimistic_terms(n=n, **{name: given[name] for name in needed})
    risk = float(population.even(population.radius / math.sqrt(population.d))[0])
    d_0 = 45.0 * r_star + 20.0 * r_0
    found = {
        "bound_optimistic": list_bounds.evaluate("optimistic", n=n, empirical_risk=max(0.0, risk - gap), **given),
        "fast_terms": d_0,
    }
    if population.surrogate != "listnet":
        return found
    t = np.clip(np.arctanh(math.tanh(0.5 * population.y_max) * c), -population.radius, population.radius)
    risk = float(population.even(0.0)[0])
    # log cosh t, without cancellation.
    excess = -0.5 * np.log1p(-(np.tanh(t) ** 2))
    deviation = math.sqrt(4.0 * r_0 * risk) + 4.0 * r_0
    return {
        **found,
        "optimal_risk": risk,
        "small_excess": quantile_interval(excess, excess, 1.0 - 2.0 * given["delta"]),
        "largest_small_excess": float(population.even(population.radius)[0]) - risk,
        "small_excess_bound": deviation
        + list_bounds.evaluate("optimistic", n=n, empirical_risk=risk + deviation, **given),
        "printed_m1": 0.5 * math.sqrt(d_0 * risk) + 2.0 * d_0,
        "corrected_m1": risk + 1.1 * math.sqrt(d_0 * risk) + 2.3 * d_0,
    }


def _along_lengths(settings: ExactSettings, seed: int) -> Iterator[Growth]:
    """Powers of m of the mean largest gap, for the same labels with longer lists."""
    losses: dict[str, tuple[str, float, dict[str, Any]]] = {
        "listnet": ("listnet", 1.0, {}),
        "smooth-dcg": ("smooth-dcg", 1.0, {"sign": "regret"}),
        "ranksvm-sum": ("ranksvm", LINEAR_UP_TO, {}),
        "squared": ("squared", LINEAR_UP_TO, {}),
    }
    n = settings.queries[0]
    c, expected = draw(n, 1, 0.5, settings.draws, generator(seed, "lists-exact", "lengths"))
    for name, (surrogate, radius, options) in losses.items():
        populations = (Opposites(surrogate, 1, radius, 1, m, options) for m in settings.lengths)
        gaps = np.column_stack([population.suprema(c - expected)[0] for population in populations])
        slope = of_power(settings.lengths, gaps)
        yield Growth(axis="m", loss=name, case=f"{name}, one direction", ball="l2", fixed=n, slope=slope)


def _sparse(settings: ExactSettings, seed: int) -> Iterator[Uniform | Growth]:
    """Theorem 12's rows, and the powers of ln d of the mean largest gap."""
    for n in settings.sparse_queries:
        largest = []
        for d in settings.features:
            for labels in LABELS:
                row, gaps = _signs(settings, n, d, labels, seed)
                yield row
                if labels == "random":
                    largest.append(gaps)
        slope = of_power(np.log(settings.features), np.column_stack(largest))
        yield Growth(axis="ln d", loss="ranksvm", case="ranksvm, signs", ball="l1", fixed=n, slope=slope)


def _signs(settings: ExactSettings, n: int, d: int, labels: str, seed: int) -> tuple[Uniform, Floats]:
    # The first feature agrees with the label on average by mu, as much as others do by chance, or clearly.
    mu = {"random": 0.0, "nearly random": min(1.0, math.sqrt(math.log(d) / n)), "clear": 2.0 * CLEAR - 1.0}[labels]
    rng = generator(seed, "lists-exact", "sparse", labels, n, d)
    gaps, excess = _sparse_samples(n, d, mu, settings.sparse_draws, rng)
    given = {**Opposites("ranksvm", d, LINEAR_UP_TO, 1, options=MEAN).constants("erm-l1", settings.delta), "d": d}
    case = {"case": "ranksvm, signs", "labels": labels, "ball": "l1", "loss": "ranksvm", "d": d}
    gap, largest = quantile_interval(gaps, gaps, 1.0 - settings.delta), 2.0 * LINEAR_UP_TO * (1.0 + mu)
    above = None if labels == "random" else (excess, 4.0 * LINEAR_UP_TO * mu)
    return _row("erm-l1", given, n, gap, above, largest_gap=largest, **case), gaps


def _sparse_samples(n: int, d: int, mu: float, draws: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    # 2 W max_j |c_j - E c_j|, and the excess risk of the minimiser, the corner W sign(c_j) e_j of the largest |c_j|.
    gaps, excess, p = np.empty(draws), np.empty(draws), np.full(d, 0.5)
    p[0] += 0.5 * mu
    for k in range(draws):
        c = (2.0 * rng.binomial(n, p) - n) / n
        best = int(np.argmax(np.abs(c)))
        excess[k] = 2.0 * LINEAR_UP_TO * mu * (1.0 - (np.sign(c[0]) if best == 0 else 0.0))
        c[0] -= mu
        gaps[k] = 2.0 * LINEAR_UP_TO * np.abs(c).max()
    return gaps, excess
