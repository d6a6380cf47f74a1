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

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from scipy import stats

from pipeline_lib import surrogates
from pipeline_lib.core.arrays import Floats
from pipeline_lib.core.seeds import generator
from pipeline_lib.data.ranking_data import RankingData
from pipeline_lib.data.rows import Interval
from pipeline_lib.learners import erm, ogd
from pipeline_lib.papers.lists.exact.opposites import LINEAR_UP_TO, MEAN, Opposites
from pipeline_lib.papers.lists.exact.settings import ExactSettings, Expectation, Growth
from pipeline_lib.papers.lists.intervals import of_power
from pipeline_lib.statistics import mean_interval
from pipeline_lib.surrogates.base import Surrogate
from pipeline_lib.theory import list_bounds

RADIUS = LINEAR_UP_TO
NOISE = 2.0
"""z: neither so much that no ranker is much better than another, nor so little that the sign of c is certain."""
FAR_LABEL, SMALL_RADIUS = 4, 0.02
POINTS = (100, 1000, 10000)
"""Values of n to which a power is fitted."""
STANDARD_DEVIATIONS = 9.0
NODES = 20_001
"""A sum over the binomial law runs over every number of queries, or over so many at equal distances."""


def measured(settings: ExactSettings, seed: int) -> Iterator[Expectation | Growth]:
    """The expected excess risk of every learner at every m and n, and the power of n for equation 8 with L* = 0."""
    for m in settings.even_lengths:
        for n in settings.rounds:
            yield _noiseless_ogd(m, n)
            yield _squared(m, n, FAR_LABEL, SMALL_RADIUS)
            yield _squared(m, n, 1, 1.0)
        yield from (_noisy_ogd(m, n, settings.draws, seed) for n in settings.rounds if n <= settings.simulated_up_to)
        yield from (_regularised(m, n, z) for n in settings.batches for z in (NOISE, math.sqrt(n)))
        yield from (_regularised_squared(m, n) for n in settings.batches)
    slope = of_power(POINTS, [_squared(2, n, 1, 1.0).excess.value for n in POINTS])
    yield Growth(axis="n", loss="squared", case="L* = 0", ball="", fixed=2, slope=slope)


Axes = dict[str, Any]
"""Statement, case, m and n of a row, and the radius of the ball where that is not RADIUS."""


def _compared(
    axes: Axes, loss: Surrogate, excess: Interval | float, above: Callable[[float], float], y_max: int = 1, **risk: Any
) -> Expectation:
    """The row of an expected excess risk and its bound; ``above`` is the excess risk of w."""
    axes = {"radius": RADIUS, **axes}
    given = {"m": axes["m"], "radius": axes["radius"], "feature_norm": 1.0}
    own = list_bounds.of_surrogate(axes["statement"], loss, y_max=y_max, **given)
    euclidean = {**own, "lipschitz": own["lipschitz_l2"]}
    if own["smoothness"] is not None:
        # The squared loss has the second derivative 2 I.
        euclidean["smoothness"] = own["smoothness"] / axes["m"]
    constants = ({"n": axes["n"], **given, **kind, **risk} for kind in (own, euclidean))
    bound, in_l2 = (list_bounds.evaluate(axes["statement"], **one) for one in constants)
    return Expectation(
        **axes,
        loss=loss.name,
        excess=excess if isinstance(excess, Interval) else Interval(excess, excess, excess),
        bound=bound,
        bound_euclidean=in_l2,
        never=above(0.0),
        largest_excess=above(-axes["radius"]),
    )


def _queries(features: Floats, y: Floats, n: int) -> RankingData:
    m = len(y)
    return RankingData.from_arrays(np.tile(features, n)[:, None], np.tile(y.astype(int), n), np.repeat(np.arange(n), m))


def _pairs(m: int) -> Opposites:
    return Opposites("ranksvm", 1, RADIUS, 1, m, MEAN)


def _step(loss: Surrogate, m: int, n: int) -> float:
    return ogd.lipschitz_step(n, radius=RADIUS, lipschitz=loss.lipschitz(m, 1), feature_norm=1.0)


def _noiseless_ogd(m: int, n: int) -> Expectation:
    population = _pairs(m)
    signs = np.repeat([1.0, -1.0], m // 2)
    data = _queries(signs, np.maximum(signs, 0.0), n)
    average = ogd.run(data, population.loss, step=_step(population.loss, m, n), radius=RADIUS).average

    def above(w: float) -> float:
        risk, best = map(float, population.values([w, RADIUS]))
        return risk - best

    axes = {"statement": "ogd", "case": "no noise", "m": m, "n": n}
    return _compared(axes, population.loss, above(float(average[0])), above)


def _above(mean: float) -> Callable[[Any], Any]:
    # The excess risk of w, or of many, where the mean of eps is ``mean``.
    return lambda w: 2.0 * mean * (RADIUS - w)


def _noisy_ogd(m: int, n: int, draws: int, seed: int) -> Expectation:
    population = _pairs(m)
    mean = min(1.0, NOISE / math.sqrt(n))
    rng = generator(seed, "lists-exact", "ogd", m, n)
    w, total, step = np.zeros(draws), np.zeros(draws), _step(population.loss, m, n)
    for _ in range(n):
        total += w
        eps = np.where(rng.random(draws) < 0.5 * (1.0 + mean), 1.0, -1.0)
        w = np.clip(w + 2.0 * step * eps, -RADIUS, RADIUS)
    excess = mean_interval(_above(mean)(total / n))
    return _compared({"statement": "ogd", "case": "noise", "m": m, "n": n}, population.loss, excess, _above(mean))


def _regularised(m: int, n: int, z: float) -> Expectation:
    loss = _pairs(m).loss
    mean = min(1.0, z / math.sqrt(n))
    l2 = erm.lipschitz_l2(n, radius=RADIUS, lipschitz=loss.lipschitz(m, 1), feature_norm=1.0)
    w, _ = minimiser_moments(n, 0.5 * (1.0 + mean), 2.0 / l2, RADIUS)
    axes = {"statement": "rerm", "case": "noise" if mean < 1.0 else "no noise", "m": m, "n": n}
    return _compared(axes, loss, _above(mean)(w), _above(mean))


def _regularised_squared(m: int, n: int) -> Expectation:
    # All m documents of a query have the feature eps and the label y: phi = m (y - eps w)^2.
    loss, y, W = surrogates.create("squared"), FAR_LABEL, SMALL_RADIUS
    mean = min(1.0, NOISE / math.sqrt(n))
    l2 = erm.lipschitz_l2(n, radius=W, lipschitz=loss.lipschitz(m, y, score_bound=W), feature_norm=1.0)
    w, square = minimiser_moments(n, 0.5 * (1.0 + mean), 2.0 * m * y / (l2 + 2.0 * m), W)
    best = min(W, y * mean)

    def above(one: float, two: float | None = None) -> float:
        two = one**2 if two is None else two
        return m * (two - 2.0 * y * mean * one) - m * (best**2 - 2.0 * y * mean * best)

    axes = {"statement": "rerm", "case": "noise", "m": m, "n": n, "radius": W}
    return _compared(axes, loss, above(w, square), above, y)


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


def _squared(m: int, n: int, label: int, radius: float) -> Expectation:
    loss = surrogates.create("squared")
    optimal = m * (label - radius) ** 2
    smoothness = loss.smoothness(m, label, score_bound=radius)
    step = ogd.smooth_step(n, radius=radius, smoothness=smoothness, optimal_risk=optimal)
    data = _queries(np.ones(m), np.full(m, float(label)), n)
    average = float(ogd.run(data, loss, step=step, radius=radius).average[0])

    def above(w: float) -> float:
        return m * (label - w) ** 2 - optimal

    case = "L* > 0" if optimal else "L* = 0"
    axes = {"statement": "smooth-ogd", "case": case, "m": m, "n": n, "radius": radius}
    row = _compared(axes, loss, above(average), above, label, optimal_risk=optimal)
    return row.model_copy(update={"slow_terms": row.bound - 8.0 * smoothness * radius**2 / n})
