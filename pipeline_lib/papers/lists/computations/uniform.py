"""Where do the uniform bounds of `lists` say something, and how near does the largest gap come to them there?

Theorems 9, 12 and 17 on populations whose samples are a few binomial numbers, for n up to 10^15 (``opposites``). For
Theorem 12 documents come in pairs x and -x with x uniform on {-1, 1}^d, of which one is relevant, by the toss of a coin
eps, except that x_1 = eps with probability (1 + mu)/2. RankSVM's loss is 1 - 2 eps <x, w> for ||w||_1 <= 1/2, and the
c_j, means of eps x_j, are independent: the largest gap is 2 W1 max_j |c_j - E c_j|.

The excess risk of RankSVM's minimisers is measured with clear labels, and where it is large: with nearly random labels,
p = 1/2 + z / (2 sqrt(n)), for z such that the sample leads to the wrong sign with a probability just above 2 delta.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from pipeline_lib.arrays import Floats
from pipeline_lib.claims.evidence import Interval
from pipeline_lib.papers.lists.computations.intervals import NORMAL
from pipeline_lib.papers.lists.computations.opposites import Opposites, draw
from pipeline_lib.seeds import generator
from pipeline_lib.statistics import fit_exponent
from pipeline_lib.theory import list_bounds
from pipeline_lib.theory.list_statements import optimistic_terms

if TYPE_CHECKING:
    from pipeline_lib.papers.lists.experiments.exact import ExactSettings

MEAN = {"normalisation": "mean"}
# RankSVM is linear for scores up to 1/2; SmoothDCG has left its linear part at W2 / sqrt(d) = 2.
LINEAR_UP_TO = 0.5
SATURATED_FROM = 2.0
BIAS = 1.2
"""z: a standard normal number is below -1.2 with probability .115."""
CLEAR = 0.9
"""p of clear labels."""


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


def run(settings: ExactSettings, seed: int) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The rows of `lists-uniform`, and the exponents fitted to them."""
    rows, exponents = [], []
    for name, population in populations(settings.directions).items():
        largest = []
        for n in settings.queries:
            for labels in ("random", "nearly random", "clear") if population.surrogate == "ranksvm" else ("random",):
                row, gaps = _row(settings, name, population, n, labels, seed)
                rows.append(row)
                if labels == "random":
                    largest.append(gaps)
        fitted = {"axis": "n", "loss": population.surrogate, "case": name, "ball": "l2", "fixed": population.m}
        exponents.append({**fitted, **_fit(settings.queries, largest)})
    lengths, sparse = _along_lengths(settings, seed), _sparse(settings, seed)
    return [*rows, *sparse[0]], [*exponents, *lengths, *sparse[1]]


def _fit(points: Iterable[float], columns: list[Floats]) -> dict[str, Any]:
    exponent = fit_exponent(list(points), np.column_stack(columns))
    return {"slope": exponent.slope, "low": exponent.low, "high": exponent.high}


def _ends(name: str, value: Interval) -> dict[str, float]:
    return {name: value.value, f"{name}_low": value.low, f"{name}_high": value.high}


def quantile(low: Floats, high: Floats, probability: float) -> Interval:
    """The quantile of numbers known to lie between ``low`` and ``high``, with a 95 % interval by order statistics.

    Example
    -------
    >>> x = np.arange(1000.0)
    >>> quantile(x, x, 0.95)
    Interval(value=950.0, low=936.0, high=964.0, freedom=None)
    """
    k, n = probability * len(low), len(low)
    half = NORMAL * math.sqrt(n * probability * (1.0 - probability))
    below, above = np.sort(low), np.sort(high)
    at = [below[max(0, math.floor(k - half))], below[min(n - 1, round(k))], above[min(n - 1, math.ceil(k + half))]]
    return Interval(float(at[1]), float(at[0]), float(at[2]))


def _row(
    settings: ExactSettings, name: str, population: Opposites, n: int, labels: str, seed: int
) -> tuple[dict[str, Any], Floats]:
    p = {"random": 0.5, "nearly random": 0.5 + 0.5 * BIAS / math.sqrt(n), "clear": CLEAR}[labels]
    c, expected = draw(n, population.d, p, settings.draws, generator(seed, "lists-exact", name, labels, n))
    low, high = population.suprema(c - expected)
    given = _constants("erm", population, settings)
    bound = list_bounds.evaluate("erm", n=n, **given)
    row = {
        "case": name,
        "labels": labels,
        "ball": "l2",
        "loss": population.surrogate,
        "m": population.m,
        "d": population.d,
        "radius": population.radius,
        "n": n,
        **_ends("gap", quantile(low, high, 1.0 - settings.delta)),
        "largest_gap": population.largest_gap() * 2.0 * p,
        "bound": bound,
        **_one_ranker(n, given),
        "loss_bound": given["loss_bound"],
    }
    if labels != "random":
        at_most = list_bounds.excess_of_minimiser(bound, n=n, loss_bound=given["loss_bound"], delta=settings.delta)
        row |= {**_excess_of_minimiser(population, settings, c, expected), "excess_bound": at_most}
    if population.loss.smooth:
        row |= _optimistic(population, settings, n, row["gap"])
    if population.surrogate == "listnet":
        row |= _minimiser_of_listnet(population, settings, n, c[:, 0])
    return row, low


def _constants(bound: str, population: Opposites, settings: ExactSettings) -> dict[str, Any]:
    given: dict[str, Any] = {"m": population.m, "radius": population.radius, "feature_norm": 1.0}
    own = list_bounds.of_surrogate(bound, population.loss, y_max=population.y_max, **given)
    return {**given, **own, "delta": settings.delta}


def _one_ranker(n: int, given: dict[str, Any]) -> dict[str, float]:
    # Hoeffding's inequality, which holds for one ranker that does not depend on the sample.
    return {"one_ranker": given["loss_bound"] * math.sqrt(math.log(1.0 / given["delta"]) / (2.0 * n))}


def _excess_of_minimiser(
    population: Opposites, settings: ExactSettings, c: Floats, expected: Floats
) -> dict[str, float]:
    # L(w) = 1 - slope sum_j E c_j w_j is least at W E c / ||E c||, Lhat at W c / ||c||.
    slope = float(population.odd(population.radius)[0]) / population.radius
    length = np.maximum(np.linalg.norm(c, axis=1), np.finfo(float).tiny)
    best = slope * population.radius * float(np.linalg.norm(expected))
    excess = best - slope * population.radius * (c @ expected) / length
    of_all = quantile(excess, excess, 1.0 - 2.0 * settings.delta)
    return {**_ends("excess", of_all), "largest_excess": 2.0 * best}


def _optimistic(population: Opposites, settings: ExactSettings, n: int, gap: float) -> dict[str, float]:
    # The worst ranker's risk is even(W / sqrt(d)) for p = 1/2.
    given = _constants("optimistic", population, settings)
    risk = float(population.even(population.radius / math.sqrt(population.d))[0])
    needed = {name: given[name] for name in ("m", "radius", "feature_norm", "smoothness", "loss_bound", "delta")}
    r_star, r_0 = optimistic_terms(n=n, **needed)
    return {
        "bound_optimistic": list_bounds.evaluate("optimistic", n=n, empirical_risk=max(0.0, risk - gap), **given),
        "fast_terms": 45.0 * r_star + 20.0 * r_0,
    }


def _minimiser_of_listnet(population: Opposites, settings: ExactSettings, n: int, c: Floats) -> dict[str, float]:
    """Theorem 17's second half, and the two sides of appendix M.1, for the minimiser over [-W, W].

    phi = log(2 cosh t) - eps a t + const, a = tanh(y_max / 2): Lhat is least where tanh t = a c.
    """
    given = _constants("optimistic", population, settings)
    needed = {name: given[name] for name in ("m", "radius", "feature_norm", "smoothness", "loss_bound", "delta")}
    r_star, r_0 = optimistic_terms(n=n, **needed)
    d_0 = 45.0 * r_star + 20.0 * r_0
    t = np.clip(np.arctanh(math.tanh(0.5 * population.y_max) * c), -population.radius, population.radius)
    risk = float(population.even(0.0)[0])
    # log cosh t, without cancellation.
    excess = -0.5 * np.log1p(-(np.tanh(t) ** 2))
    of_all = quantile(excess, excess, 1.0 - 2.0 * settings.delta)
    deviation = math.sqrt(4.0 * r_0 * risk) + 4.0 * r_0
    of_best = list_bounds.evaluate("optimistic", n=n, empirical_risk=risk + deviation, **given)
    return {
        "optimal_risk": risk,
        **{name.replace("excess", "small_excess"): value for name, value in _ends("excess", of_all).items()},
        "largest_small_excess": float(population.even(population.radius)[0]) - risk,
        "small_excess_bound": deviation + of_best,
        "printed_m1": 0.5 * math.sqrt(d_0 * risk) + 2.0 * d_0,
        "corrected_m1": risk + 1.1 * math.sqrt(d_0 * risk) + 2.3 * d_0,
    }


def _along_lengths(settings: ExactSettings, seed: int) -> list[dict[str, Any]]:
    """Powers of m of the mean largest gap: the same labels, with longer lists."""
    losses: dict[str, tuple[str, float, dict[str, Any]]] = {
        "listnet": ("listnet", 1.0, {}),
        "smooth-dcg": ("smooth-dcg", 1.0, {"sign": "regret"}),
        "ranksvm-mean": ("ranksvm", LINEAR_UP_TO, MEAN),
        "ranksvm-sum": ("ranksvm", LINEAR_UP_TO, {}),
        "squared": ("squared", LINEAR_UP_TO, {}),
    }
    n = settings.queries[0]
    c, expected = draw(n, 1, 0.5, settings.draws, generator(seed, "lists-exact", "lengths"))
    rows = []
    for name, (surrogate, radius, options) in losses.items():
        populations = [Opposites(surrogate, 1, radius, 1, m, options) for m in settings.lengths]
        gaps = [population.suprema(c - expected)[0] for population in populations]
        axes = {"axis": "m", "loss": name, "case": f"{name}, one direction", "ball": "l2", "fixed": n}
        rows.append({**axes, **_fit(settings.lengths, gaps)})
        rows += _chapelle_wu(populations, axes, settings)
    return rows


def _chapelle_wu(populations: list[Opposites], axes: dict[str, Any], settings: ExactSettings) -> list[dict[str, Any]]:
    # The power of m of the term of their bound that contains m.
    terms = []
    for population in populations:
        given = _constants("chapelle-wu", population, settings)
        chosen = {name: given[name] for name in ("m", "lipschitz_l2", "radius", "feature_norm")}
        terms.append(list_bounds.complexity_of_chapelle_wu(n=axes["fixed"], **chosen))
    fitted = fit_exponent(list(settings.lengths), terms)
    return [{**axes, "case": "Chapelle-Wu term", "slope": fitted.slope, "low": fitted.low, "high": fitted.high}]


def _sparse(settings: ExactSettings, seed: int) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Theorem 12's rows, and the powers of ln d of the mean largest gap."""
    rows, exponents = [], []
    for n in settings.sparse_queries:
        largest = []
        for d in settings.features:
            for labels in ("random", "nearly random", "clear"):
                row, gaps = _sparse_row(settings, n, d, labels, seed)
                rows.append(row)
                if labels == "random":
                    largest.append(gaps)
        axes = {"axis": "ln d", "loss": "ranksvm", "case": "ranksvm, signs", "ball": "l1", "fixed": n}
        exponents.append({**axes, **_fit(np.log(settings.features), largest)})
    return rows, exponents


def _sparse_row(settings: ExactSettings, n: int, d: int, labels: str, seed: int) -> tuple[dict[str, Any], Floats]:
    # The first feature agrees with the label on average by mu, as much as others do by chance, or clearly.
    mu = {"random": 0.0, "nearly random": min(1.0, math.sqrt(math.log(d) / n)), "clear": 2.0 * CLEAR - 1.0}[labels]
    rng = generator(seed, "lists-exact", "sparse", labels, n, d)
    gaps, excess = _sparse_samples(n, d, mu, settings.sparse_draws, rng)
    population = Opposites("ranksvm", d, LINEAR_UP_TO, 1, options=MEAN)
    given = {**_constants("erm-l1", population, settings), "d": d}
    bound = list_bounds.evaluate("erm-l1", n=n, **given)
    row = {
        "case": "ranksvm, signs",
        "labels": labels,
        "ball": "l1",
        "loss": "ranksvm",
        "m": 2,
        "d": d,
        "radius": LINEAR_UP_TO,
        "n": n,
        **_ends("gap", quantile(gaps, gaps, 1.0 - settings.delta)),
        "largest_gap": 2.0 * LINEAR_UP_TO * (1.0 + mu),
        "bound": bound,
        **_one_ranker(n, given),
        "loss_bound": given["loss_bound"],
    }
    if labels != "random":
        at_most = list_bounds.excess_of_minimiser(bound, n=n, loss_bound=given["loss_bound"], delta=settings.delta)
        ends = _ends("excess", quantile(excess, excess, 1.0 - 2.0 * settings.delta))
        row |= {**ends, "largest_excess": 4.0 * LINEAR_UP_TO * mu, "excess_bound": at_most}
    return row, gaps


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
