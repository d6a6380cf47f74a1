"""Where does Theorem 8 say something: populations of few queries, small balls, and samples as large as one likes.

A sample of n queries from a finite population is a number of copies of each, so that risks are exact and the cost does
not grow with n. There are two kinds of populations:

- *two points*: one feature and two documents at -R and R; the second is the relevant one with probability
  (1 + s) / 2, else the first. Where 2 R B <= 1 the hinges are active in the whole ball, and the risk of SLAM is linear.
  The number of lists of the first kind is binomial, and the expectation over samples is a sum over its values. The
  signal s is fixed, or c / sqrt(n), near which a sample decides as badly as possible between -B and B;
- *simulated*: some queries of the population of :mod:`pipeline_lib.sources.population`, all equally likely. The
  expectation is a mean over samples with its interval.

Beside the minimiser of the theorem stand rankers that its bound should not allow: w = 0, the minimiser with the
opposite sign, and one whose lambda does not fall with n.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom

from pipeline_lib import progress, surrogates
from pipeline_lib.arrays import Floats
from pipeline_lib.learners import erm
from pipeline_lib.ranking_data import RankingData
from pipeline_lib.seeds import generator
from pipeline_lib.sources.population import Population, PopulationSettings
from pipeline_lib.statistics import over_folds
from pipeline_lib.surrogates.base import Surrogate
from pipeline_lib.theory import list_bounds

if TYPE_CHECKING:
    from pipeline_lib.papers.slam.experiments.risk import RiskSettings

_LOG = logging.getLogger(__name__)

TWO_POINTS, SIMULATED = "two points", "simulated"
RADIUS = 0.5
NORM = 0.5
"""R of the two points; 2 R B < 1."""
SIGNALS = (0.5,)
RELATIVE_SIGNALS = (0.5, 1.5, 3.0)
"""The values of c in the signals c / sqrt(n)."""
DEVIATIONS = 7.5
"""Beyond so many standard deviations the binomial distribution has a mass of less than 1e-12."""
HALVINGS = 45
TOLERANCE = 1e-7
FIXED_SHARE = 0.1
"""lambda of the minimiser whose lambda does not fall, in units of L / B."""

Row = dict[str, Any]


def measure(settings: RiskSettings, names: tuple[str, ...], level: float, seed: int) -> list[Row]:
    """The excess risks and bounds in all finite populations.

    Returns
    -------
    rows
        population, surrogate, radius, signal (c of c / sqrt(n), or the fixed signal; None if simulated), relative
        (whether it falls with n), n, excess_risk with low and high, the excess risks of w = 0 (zero_excess), of the
        opposite sign (reversed_excess) and with lambda fixed (fixed_excess), bound and lipschitz.
    """
    rows = []
    for name in progress.counted(names, _LOG, "surrogates in finite populations"):
        loss = surrogates.create(name)
        for n in settings.finite_sizes:
            rows += [_two_points(loss, n, s, s) for s in SIGNALS]
            rows += [_two_points(loss, n, c / math.sqrt(n), c, relative=True) for c in RELATIVE_SIGNALS if c**2 < n]
        rows += _simulated(settings, loss, level, seed)
    return rows


def _terms(loss: Surrogate, m: int, n: int, feature_norm: float) -> dict[str, float]:
    G = loss.lipschitz(m, 1)
    bound = list_bounds.evaluate("rerm", n=n, m=m, lipschitz=G, radius=RADIUS, feature_norm=feature_norm)
    return {"bound": bound, "lipschitz": G * feature_norm}


def _two_points(loss: Surrogate, n: int, signal: float, shown: float, relative: bool = False) -> Row:
    terms = _terms(loss, 2, n, NORM)
    l2 = list_bounds.rerm_l2(n, radius=RADIUS, lipschitz=loss.lipschitz(2, 1), feature_norm=NORM)
    p = (1.0 + signal) / 2.0
    deviation = DEVIATIONS * math.sqrt(n * p * (1.0 - p)) + 1.0
    k = np.arange(max(0, math.floor(n * p - deviation)), min(n, math.ceil(n * p + deviation)) + 1)
    mass = binom.pmf(k, n, p)
    best = minimiser(loss, np.array([p]), 0.0)
    least = risk(loss, best, p)[0]

    def excess(w: Floats) -> float:
        return float(mass @ (risk(loss, w, p) - least))

    w = minimiser(loss, k / n, l2)
    expected = excess(w)
    return {
        "population": TWO_POINTS,
        "surrogate": loss.name,
        "radius": RADIUS,
        "signal": shown,
        "relative": relative,
        "n": n,
        **dict.fromkeys(("excess_risk", "low", "high"), expected),
        "zero_excess": float(risk(loss, np.zeros(1), p)[0] - least),
        "reversed_excess": excess(-w),
        "fixed_excess": excess(minimiser(loss, k / n, FIXED_SHARE * terms["lipschitz"] / RADIUS)),
        **terms,
    }


def risk(loss: Surrogate, w: Floats, p: float) -> Floats:
    """The risk of every w where lists whose second document is relevant have the probability p; shape of ``w``."""
    (first, _), (second, _) = _evaluated(loss, w, 1), _evaluated(loss, w, 0)
    return p * first + (1.0 - p) * second


def minimiser(loss: Surrogate, shares: Floats, l2: float) -> Floats:
    """argmin over |w| <= B of l2/2 w^2 + the mean loss, for each share of lists whose second document is relevant.

    By bisection on the derivative, which does not fall.

    Example
    -------
    >>> minimiser(surrogates.create("slam-map"), np.array([0.5, 0.6, 1.0]), 0.5).round(6).tolist()
    [0.0, 0.2, 0.5]
    """
    low, high = np.full(len(shares), -RADIUS), np.full(len(shares), RADIUS)
    for _ in range(HALVINGS):
        w = (low + high) / 2.0
        (_, first), (_, second) = _evaluated(loss, w, 1), _evaluated(loss, w, 0)
        rising = l2 * w + shares * first + (1.0 - shares) * second > 0.0
        low, high = np.where(rising, low, w), np.where(rising, w, high)
    return np.asarray((low + high) / 2.0)


def _evaluated(loss: Surrogate, w: Floats, relevant: int) -> tuple[Floats, Floats]:
    """The loss of a list, and its derivative in w, for every w."""
    x = NORM * np.array([-1.0, 1.0])
    y = np.zeros((len(w), 2), np.int32)
    y[:, relevant] = 1
    offsets = np.arange(0, 2 * len(w) + 1, 2)
    values, gradient = loss.unchecked(np.outer(w, x).ravel(), y.ravel(), offsets)
    return values, gradient.reshape(-1, 2) @ x


def _simulated(settings: RiskSettings, loss: Surrogate, level: float, seed: int) -> Iterator[Row]:
    described = PopulationSettings(
        features=3,
        label_shares=(0.5, 0.5),
        noise=0.1,
        query_noise=0.1,
        signal=0.9,
        documents=settings.finite_documents,
    )
    population = Population(described)
    data = population.draw(settings.finite_queries, generator(seed, "slam-risk", "finite", role="truth"))
    m = int(np.diff(data.offsets).max())
    best = erm.fit(data, loss, l2=0.0, radius=RADIUS, tol=TOLERANCE)

    def excess(w: Floats) -> float:
        return float(loss.value(data.X64 @ w, data.y, data.offsets).mean()) - best.objective + best.gap

    for n in settings.finite_sizes:
        terms = _terms(loss, m, n, population.feature_norm)
        constants = {"radius": RADIUS, "lipschitz": loss.lipschitz(m, 1), "feature_norm": population.feature_norm}
        fits: list[list[float]] = []
        for repetition in range(settings.finite_repetitions):
            rng = generator(seed, "slam-risk", "finite", n, repetition, role="train")
            counts = rng.multinomial(n, np.full(data.n_queries, 1.0 / data.n_queries))
            l2 = list_bounds.rerm_l2(n, **constants)
            w = _fitted(data, loss, l2, counts)
            fixed = _fitted(data, loss, FIXED_SHARE * terms["lipschitz"] / RADIUS, counts)
            fits.append([excess(w), excess(-w), excess(fixed)])
        excesses, opposite, fixed_excesses = np.array(fits).T
        interval = over_folds(excesses, level=level)
        yield {
            "population": SIMULATED,
            "surrogate": loss.name,
            "radius": RADIUS,
            "signal": None,
            "relative": False,
            "n": n,
            "excess_risk": interval.mean,
            "low": interval.low,
            "high": interval.high,
            "zero_excess": excess(np.zeros(data.n_features)),
            "reversed_excess": float(opposite.mean()),
            "fixed_excess": float(fixed_excesses.mean()),
            **terms,
        }


def _fitted(data: RankingData, loss: Surrogate, l2: float, counts: NDArray[np.int64]) -> Floats:
    return erm.fit(data, loss, l2=l2, radius=RADIUS, tol=TOLERANCE, weights=counts).w
