"""Which estimator is the least noisy, and which step and exploration minimise the bound on regret?

`topk`, section 6: RankSVM's gradient is estimated from two labels, "leading to lower variance". Computed exactly, at
w_1 = 0, by enumeration of the sets of documents that may be shown:

    (E||z||^2 - ||E z||^2) / ||E z||^2,   numerator and denominator averaged over queries with different labels.

The variance is taken relative to the squared length of what is estimated, because a loss that is multiplied by a number
is the same loss for a step that is divided by it.

`topk`, section 4.3: the bound that follows from (4), (5) and (6) with constants C of Lemma 5 and B of a round of
exploration,

    U^2 / (2 eta) + eta C T / (2 gamma) + B gamma T,

is minimised numerically over eta and gamma.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pipeline_lib import surrogates
from pipeline_lib.arrays import Floats
from pipeline_lib.learners import top_k_feedback
from pipeline_lib.learners.top_k_estimates import Probabilities, estimate, show_probability
from pipeline_lib.papers.topk.computations.moments import BOUNDED
from pipeline_lib.ranking_data import RankingData
from pipeline_lib.seeds import generator
from pipeline_lib.sources.population import Population, PopulationSettings
from pipeline_lib.statistics import fit_exponent, over_folds

if TYPE_CHECKING:
    from pipeline_lib.papers.topk.experiments.structure import StructureSettings

PROBABILITIES: tuple[Probabilities, ...] = ("correct", "as-printed")
QUOTIENTS = (
    (("ranksvm", 2), ("squared", 1)),
    (("ranksvm", 2), ("kl", 1)),
    *(((name, top_k_feedback.ORDERS[name] + 1), (name, top_k_feedback.ORDERS[name])) for name in BOUNDED),
)
"""Surrogate and number of labels of the estimators that are compared."""
HORIZONS = (1e6, 1e8, 1e10)
"""T at which the bound is minimised: so large that the best gamma is below 1/2."""
CONSTANTS = ((1.0, 1.0, 1.0), (3.0, 100.0, 10.0))
"""U, C and B."""

Row = dict[str, Any]


@dataclass(frozen=True)
class Noise:
    """Rows of the variances of every estimator, and of their quotients."""

    variances: list[Row]
    quotients: list[Row]


def measured(settings: StructureSettings, seed: int) -> Noise:
    """The relative variance of every estimator at w = 0, by the correct and by the printed probabilities.

    Quotients compare RankSVM with the losses that are shown one label, and every loss with itself if one more label is
    shown. Intervals are over queries, by the delta method for the quotient of means.
    """
    _, gamma = top_k_feedback.theorem_parameters(settings.horizon)
    found = Noise([], [])
    for m, probabilities in itertools.product(settings.lengths, PROBABILITIES):
        population = Population(PopulationSettings(features=5, documents=m))
        data = population.draw(settings.queries, generator(seed, "topk-structure", "variance", m))
        case = {"m": m, "probabilities": probabilities}
        moments = {}
        for name in BOUNDED:
            order = top_k_feedback.ORDERS[name]
            for k in (order, order + 1):
                moments[name, k] = _moments(data, name, k, gamma, probabilities)
                variance, length = moments[name, k].mean(axis=0)
                row = {**case, "surrogate": name, "k": k, "gamma": gamma, "queries": len(moments[name, k])}
                found.variances.append({**row, "variance": float(variance), "squared_mean": float(length)})
        for above, below in QUOTIENTS:
            row = {**case, "above": "{}, k = {}".format(*above), "below": "{}, k = {}".format(*below)}
            row |= {"same_loss": above[0] == below[0]}
            found.quotients.append({**row, **_quotient(moments[above], moments[below])})
    return found


def _moments(data: RankingData, name: str, k: int, gamma: float, probabilities: Probabilities) -> Floats:
    """E||z||^2 - ||E z||^2 and ||E z||^2 of every query with different labels, shape (queries, 2)."""
    loss, found = surrogates.create(name), []
    for begin, end in itertools.pairwise(data.offsets):
        X, y, m = data.X64[begin:end], data.y[begin:end], int(end - begin)
        if len(np.unique(y)) == 1:
            continue
        mean, square = np.zeros(X.shape[1]), 0.0
        best = tuple(range(m))  # equal scores are ranked in document order
        for top in itertools.combinations(best, k):
            chance = show_probability(m, k, gamma, top=top == best[:k])
            z = estimate(loss, np.zeros(m), top, y[list(top)], best, gamma, k, probabilities=probabilities) @ X
            mean += chance * z
            square += chance * float(z @ z)
        length = float(mean @ mean)
        found.append((square - length, length))
    return np.array(found)


def _quotient(above: Floats, below: Floats) -> dict[str, float]:
    """The quotient of two relative variances, each a quotient of means over the same queries, with its interval."""
    (v, g), (u, h) = above.mean(axis=0), below.mean(axis=0)
    influence = above[:, 0] / v - above[:, 1] / g - below[:, 0] / u + below[:, 1] / h
    logs = over_folds(influence)
    quotient = (v / g) / (u / h)
    half = (logs.high - logs.low) / 2.0
    return {"quotient": quotient, "low": quotient * math.exp(-half), "high": quotient * math.exp(half)}


def tuning() -> list[Row]:
    """The powers of T with which the best eta, the best gamma and the bound at them change."""
    rows = []
    for constants in CONSTANTS:
        best = np.array([_best(T, *constants) for T in HORIZONS])
        U, C, B = constants
        for i, quantity in enumerate(("eta", "gamma", "bound")):
            slope = fit_exponent(np.array(HORIZONS), best[:, i]).slope
            rows.append({"U": U, "C": C, "B": B, "quantity": quantity, "exponent": slope})
    return rows


def bound(T: float, eta: float, gamma: float, U: float, C: float, B: float) -> float:
    """U^2 / (2 eta) + eta C T / (2 gamma) + B gamma T: (4) with (5) and (6).

    Example
    -------
    >>> bound(1000.0, 0.01, 0.1, 1.0, 1.0, 1.0)
    200.0
    """
    return U * U / (2.0 * eta) + eta * C * T / (2.0 * gamma) + B * gamma * T


def _best(T: float, U: float, C: float, B: float) -> Floats:
    from scipy.optimize import minimize

    start = np.array([math.log(T) * -0.5, math.log(T) * -0.25])

    def logarithm(logs: Floats) -> float:
        return math.log(bound(T, math.exp(logs[0]), math.exp(logs[1]), U, C, B))

    eta, gamma = np.exp(minimize(logarithm, start, method="BFGS", tol=1e-12).x)
    return np.array([eta, gamma, bound(T, float(eta), float(gamma), U, C, B)])
