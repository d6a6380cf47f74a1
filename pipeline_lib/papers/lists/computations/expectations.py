"""How near does the expected excess risk of a learner come to its bound, where both are known exactly?

Theorems 5 and 6 and equation 8, for one feature. RankSVM's loss (mean over pairs) of the scores w and -w of the two
halves of a list is 1 - 2 eps w for |w| <= 1/2, so that G W2 R_X = 1 for W2 = 1/2. All constants are attained:

- *without noise* (eps = 1 always) gradient descent climbs in steps of W2 / sqrt(2 n) to w = W2;
- *with noise* eps = 1 with probability p = 1/2 + z / (2 sqrt(n)). Regularised minimisers are 2 c / lambda cut to the
  ball, c the mean of eps, so that their expected risk is a sum over the binomial law of c; descent is simulated.

The squared loss with labels y > W2 for all documents, of which each has the feature 1, has L* = m (y - W2)^2 and
gradients as large as Lemma 3.1 of Srebro et al. allows; y = W2 = 1 gives L* = 0. With the feature eps it is one whose
constant in the maximum norm is sqrt(m) times that in the Euclidean norm.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import stats

from pipeline_lib import surrogates
from pipeline_lib.arrays import Floats
from pipeline_lib.claims.evidence import Interval
from pipeline_lib.learners import ogd
from pipeline_lib.papers.lists.computations.intervals import of_mean
from pipeline_lib.papers.lists.computations.opposites import Opposites
from pipeline_lib.ranking_data import RankingData
from pipeline_lib.seeds import generator
from pipeline_lib.statistics import fit_exponent
from pipeline_lib.surrogates.base import Surrogate
from pipeline_lib.theory import list_bounds

if TYPE_CHECKING:
    from pipeline_lib.papers.lists.experiments.exact import ExactSettings

RADIUS = 0.5
NOISE = 2.0
"""z: neither so much that no ranker is much better than another, nor so little that the sign of c is certain."""
FAR_LABEL, SMALL_RADIUS = 4, 0.02
POINTS = (100, 1000, 10000)
"""Values of n to which a power is fitted."""
STANDARD_DEVIATIONS = 9.0
NODES = 20_001
"""A sum over the binomial law runs over every number of queries, or over so many at equal distances."""


def run(settings: ExactSettings, seed: int) -> list[dict[str, Any]]:
    """The rows of `lists-expectations`: one for each statement, case, m and n."""
    rows = []
    for m in settings.even_lengths:
        for n in settings.rounds:
            rows += [_noiseless_ogd(m, n), _squared(m, n, FAR_LABEL, SMALL_RADIUS), _squared(m, n, 1, 1.0)]
        rows += [_noisy_ogd(m, n, settings.draws, seed) for n in settings.rounds if n <= settings.simulated_up_to]
        rows += [_regularised(m, n, z) for n in settings.batches for z in (NOISE, math.sqrt(n))]
        rows += [_regularised_squared(m, n) for n in settings.batches]
    return rows


def optimistic_power() -> dict[str, Any]:
    """A row of `lists-growth`: the power of n of the excess risk of equation 8's learner, squared loss, L* = 0."""
    excesses = [_squared(2, n, 1, 1.0)["excess"] for n in POINTS]
    fitted = fit_exponent(list(POINTS), excesses)
    axes = {"axis": "n", "loss": "squared", "case": "L* = 0", "ball": "", "fixed": 2}
    return {**axes, "slope": fitted.slope, "low": fitted.low, "high": fitted.high}


def _row(
    statement: str, case: str, loss: Surrogate, m: int, n: int, radius: float, excess: Interval | float, **more: float
) -> dict[str, Any]:
    value = excess if isinstance(excess, Interval) else Interval(excess, excess, excess)
    return {
        "statement": statement,
        "case": case,
        "loss": loss.name,
        "m": m,
        "n": n,
        "radius": radius,
        "excess": value.value,
        "excess_low": value.low,
        "excess_high": value.high,
        **more,
    }


def _bounds(
    statement: str, loss: Surrogate, m: int, n: int, radius: float, y_max: int, **risk: Any
) -> dict[str, float]:
    """The bound, and what it would be with the constant with respect to the Euclidean norm of scores."""
    given: dict[str, Any] = {"m": m, "radius": radius, "feature_norm": 1.0}
    own = list_bounds.of_surrogate(statement, loss, y_max=y_max, **given)
    euclidean = {**own, "lipschitz": own["lipschitz_l2"]}
    if own["smoothness"] is not None:
        # The squared loss has the second derivative 2 I.
        euclidean["smoothness"] = own["smoothness"] / m
    return {
        "bound": list_bounds.evaluate(statement, n=n, **given, **own, **risk),
        "bound_euclidean": list_bounds.evaluate(statement, n=n, **given, **euclidean, **risk),
    }


def _queries(features: Floats, y: Floats, n: int) -> RankingData:
    m = len(y)
    return RankingData.from_arrays(np.tile(features, n)[:, None], np.tile(y.astype(int), n), np.repeat(np.arange(n), m))


def _pairs(m: int) -> Opposites:
    return Opposites("ranksvm", 1, RADIUS, 1, m, {"normalisation": "mean"})


def _step(loss: Surrogate, m: int, n: int) -> float:
    return ogd.lipschitz_step(n, radius=RADIUS, lipschitz=loss.lipschitz(m, 1), feature_norm=1.0)


def _noiseless_ogd(m: int, n: int) -> dict[str, Any]:
    population = _pairs(m)
    signs = np.repeat([1.0, -1.0], m // 2)
    data = _queries(signs, np.maximum(signs, 0.0), n)
    average = ogd.run(data, population.loss, step=_step(population.loss, m, n), radius=RADIUS).average
    risk, best, at_zero, worst = population.values([float(average[0]), RADIUS, 0.0, -RADIUS])
    bounds = _bounds("ogd", population.loss, m, n, RADIUS, 1)
    reference = {"never": float(at_zero - best), "largest_excess": float(worst - best)}
    return _row("ogd", "no noise", population.loss, m, n, RADIUS, float(risk - best), **bounds, **reference)


def _noisy_ogd(m: int, n: int, draws: int, seed: int) -> dict[str, Any]:
    population = _pairs(m)
    mean = min(1.0, NOISE / math.sqrt(n))
    rng = generator(seed, "lists-exact", "ogd", m, n)
    w, total, step = np.zeros(draws), np.zeros(draws), _step(population.loss, m, n)
    for _ in range(n):
        total += w
        eps = np.where(rng.random(draws) < 0.5 * (1.0 + mean), 1.0, -1.0)
        w = np.clip(w + 2.0 * step * eps, -RADIUS, RADIUS)
    excess = of_mean(2.0 * mean * (RADIUS - total / n), 0.0)
    bounds = _bounds("ogd", population.loss, m, n, RADIUS, 1)
    reference = {"never": 2.0 * mean * RADIUS, "largest_excess": 4.0 * mean * RADIUS}
    return _row("ogd", "noise", population.loss, m, n, RADIUS, excess, **bounds, **reference)


def _regularised(m: int, n: int, z: float) -> dict[str, Any]:
    loss = _pairs(m).loss
    mean = min(1.0, z / math.sqrt(n))
    l2 = list_bounds.rerm_l2(n, radius=RADIUS, lipschitz=loss.lipschitz(m, 1), feature_norm=1.0)
    w, _ = minimiser_moments(n, 0.5 * (1.0 + mean), 2.0 / l2, RADIUS)
    bounds = _bounds("rerm", loss, m, n, RADIUS, 1)
    reference = {"never": 2.0 * mean * RADIUS, "largest_excess": 4.0 * mean * RADIUS}
    case, excess = "noise" if mean < 1.0 else "no noise", 2.0 * mean * (RADIUS - w)
    return _row("rerm", case, loss, m, n, RADIUS, excess, **bounds, **reference)


def _regularised_squared(m: int, n: int) -> dict[str, Any]:
    # All m documents of a query have the feature eps and the label y: phi = m (y - eps w)^2.
    loss, y, W = surrogates.create("squared"), FAR_LABEL, SMALL_RADIUS
    mean = min(1.0, NOISE / math.sqrt(n))
    lipschitz = loss.lipschitz(m, y, score_bound=W)
    l2 = list_bounds.rerm_l2(n, radius=W, lipschitz=lipschitz, feature_norm=1.0)
    w, square = minimiser_moments(n, 0.5 * (1.0 + mean), 2.0 * m * y / (l2 + 2.0 * m), W)
    best = min(W, y * mean)

    def risk(one: float, two: float) -> float:
        return m * (two - 2.0 * y * mean * one)

    reference = {"never": -risk(best, best**2), "largest_excess": risk(-W, W**2) - risk(best, best**2)}
    bounds = _bounds("rerm", loss, m, n, W, y)
    excess = risk(w, square) - risk(best, best**2)
    return _row("rerm", "noise", loss, m, n, W, excess, **bounds, **reference)


def minimiser_moments(n: int, p: float, slope: float, radius: float) -> tuple[float, float]:
    """E w and E w^2 of w = slope c, cut to |w| <= radius, where c = 2 K / n - 1 with K ~ Binomial(n, p).

    Example
    -------
    >>> [round(moment, 9) for moment in minimiser_moments(1, 0.75, 0.25, 0.5)]
    [0.125, 0.0625]
    """
    spread = STANDARD_DEVIATIONS * math.sqrt(n * p * (1.0 - p))
    low, high = max(0, math.floor(n * p - spread)), min(n, math.ceil(n * p + spread))
    k = np.arange(low, high + 1, max(1, (high - low) // NODES), dtype=np.float64)
    weights = stats.binom.pmf(k, n, p)
    w = np.clip(slope * (2.0 * k / n - 1.0), -radius, radius)
    return float(weights @ w / weights.sum()), float(weights @ w**2 / weights.sum())


def _squared(m: int, n: int, label: int, radius: float) -> dict[str, Any]:
    loss = surrogates.create("squared")
    optimal = m * (label - radius) ** 2
    smoothness = loss.smoothness(m, label, score_bound=radius)
    step = ogd.smooth_step(n, radius=radius, smoothness=smoothness, optimal_risk=optimal)
    data = _queries(np.ones(m), np.full(m, float(label)), n)
    average = float(ogd.run(data, loss, step=step, radius=radius).average[0])
    bounds = _bounds("smooth-ogd", loss, m, n, radius, label, optimal_risk=optimal)
    reference = {
        "never": m * label**2 - optimal,
        "largest_excess": m * (label + radius) ** 2 - optimal,
        "slow_terms": bounds["bound"] - 8.0 * smoothness * radius**2 / n,
    }
    case = "L* > 0" if optimal else "L* = 0"
    return _row("smooth-ogd", case, loss, m, n, radius, m * (label - average) ** 2 - optimal, **bounds, **reference)
