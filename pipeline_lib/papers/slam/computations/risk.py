"""How much worse is regularised risk minimisation than the best ranker in a ball, and how much worse may it be?

`slam`, Theorem 8 (= 11), which is Theorem 6 of `lists` too: with phi convex and L-Lipschitz in w, and

    w_hat = argmin over ||w|| <= B of lambda/2 ||w||^2 + (1/n) sum_i phi(X_i w, y_i),
    lambda = sqrt( (4 L^2 / n) / (B^2/2 + 4 B^2/n) ),

    E[L(w_hat)] - min over ||w|| <= B of L(w) <= 2 L B (8/n + sqrt(2/n)).

Here L = G R_X with G = sup ||grad_s phi||_1. The risk L(w) is the mean over one large fresh sample, which all rankers
share. Its minimum over the ball is found by a certified solve on the same sample, which can only make the excess
larger.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pipeline_lib import progress, surrogates
from pipeline_lib.arrays import Floats
from pipeline_lib.errors import DataError
from pipeline_lib.learners import erm
from pipeline_lib.ranking_data import RankingData
from pipeline_lib.seeds import generator
from pipeline_lib.sources.population import Population, PopulationSettings
from pipeline_lib.statistics import fit_exponent, over_folds
from pipeline_lib.surrogates.base import Surrogate
from pipeline_lib.theory import list_bounds

if TYPE_CHECKING:
    from pipeline_lib.papers.slam.experiments.risk import RiskSettings

_LOG = logging.getLogger(__name__)

SURROGATES = ("slam-ndcg", "slam-map", "listnet")
# The lambda of the theorem, and none, which shows the effect of the ball alone.
REGULARISATIONS = ("theorem", "none")
TOLERANCE = 1e-6


def measure(settings: RiskSettings, surrogate: str, part: int, seed: int) -> list[dict[str, Any]]:
    """The excess risks of one surrogate for the repetitions of one part: those congruent to ``part`` modulo ``parts``.

    Returns
    -------
    rows
        surrogate, radius, regularisation, n, repetition, l2, lipschitz, excess, truth_error (standard error of the
        excess due to the finite sample that represents the population), best (min of L), best_gap (its certificate),
        norm, relative_gap, certified, bound, zero_excess (the excess risk of w = 0), gap (the risk less that on the
        training sample, minus the same of w = 0, whose expectation is 0: with less noise, the gap on average).

    Raises
    ------
    DataError
        If there is no such part.
    """
    if not 0 <= part < settings.parts:
        raise DataError(f"part: expected 0 to {settings.parts - 1}, found {part}")
    population = Population(PopulationSettings(features=settings.features, documents=settings.documents))
    loss = surrogates.create(surrogate)
    labels = population.settings.y_max
    m = max(settings.documents)
    lipschitz, longest = loss.lipschitz(m, labels), population.feature_norm
    # MAP distinguishes relevant and irrelevant documents only.
    binary = surrogate == "slam-map"
    truth = population.draw(settings.truth, generator(seed, "slam-risk", "truth", role="truth"))
    truth = (truth.with_binary_labels() if binary else truth).in_role("truth")
    best = {B: erm.fit(truth, loss, l2=0.0, radius=B, tol=TOLERANCE) for B in settings.radii}
    at_zero = float(_losses(loss, truth, np.zeros(truth.n_features)).mean())
    least = {B: _losses(loss, truth, fit.w) for B, fit in best.items()}
    rows = []
    for repetition in progress.counted(range(part, settings.repetitions, settings.parts), _LOG, "repetitions"):
        for n in settings.sizes:
            # Every surrogate and radius has the same samples, so that they can be compared.
            sample = population.draw(n, generator(seed, "slam-risk", "sample", n, repetition, role="train"))
            sample = (sample.with_binary_labels() if binary else sample).in_role("train")
            own_at_zero = _losses(loss, sample, np.zeros(sample.n_features)).mean()
            for B in settings.radii:
                for regularisation in REGULARISATIONS:
                    l2 = 0.0
                    if regularisation == "theorem":
                        l2 = list_bounds.rerm_l2(n, radius=B, lipschitz=lipschitz, feature_norm=longest)
                    fit = erm.fit(sample, loss, l2=l2, radius=B, tol=TOLERANCE)
                    values, own = (_losses(loss, data, fit.w) for data in (truth.in_role("truth"), sample))
                    rows.append(
                        {
                            "surrogate": surrogate,
                            "radius": B,
                            "regularisation": regularisation,
                            "n": n,
                            "repetition": repetition,
                            "l2": l2,
                            "lipschitz": lipschitz * longest,
                            "excess": float(values.mean()) - best[B].objective + best[B].gap,
                            "truth_error": float((values - least[B]).std(ddof=1) / math.sqrt(len(values))),
                            "best": best[B].objective,
                            "best_gap": best[B].gap,
                            "norm": float(np.linalg.norm(fit.w)),
                            "relative_gap": fit.relative_gap,
                            "certified": fit.certified and best[B].certified,
                            "bound": list_bounds.evaluate(
                                "rerm", n=n, m=m, lipschitz=lipschitz, radius=B, feature_norm=longest
                            ),
                            "zero_excess": at_zero - best[B].objective,
                            "gap": float((values.mean() - at_zero) - (own.mean() - own_at_zero)),
                        }
                    )
    return rows


def _losses(loss: Surrogate, data: RankingData, w: Floats) -> Floats:
    return loss.value(data.X64 @ w, data.y, data.offsets)


@dataclass(frozen=True)
class Rates:
    """Rows of the tables of means and of exponents."""

    means: list[dict[str, Any]]
    exponents: list[dict[str, Any]]


def summarise(rows: Sequence[Mapping[str, Any]], level: float) -> Rates:
    """Means over repetitions with intervals, and exponents in n where there are three sizes or more."""
    cells: dict[tuple[str, float, str], dict[int, list[Mapping[str, Any]]]] = {}
    for row in rows:
        key = (row["surrogate"], row["radius"], row["regularisation"])
        cells.setdefault(key, {}).setdefault(row["n"], []).append(row)
    means, exponents = [], []
    for (surrogate, radius, regularisation), by_n in sorted(cells.items()):
        axes: dict[str, Any] = {"surrogate": surrogate, "radius": radius, "regularisation": regularisation}
        grid = sorted(by_n)
        excess = np.array([[r["excess"] for r in sorted(by_n[n], key=lambda r: r["repetition"])] for n in grid])
        for n, values in zip(grid, excess, strict=True):
            interval, gap = (over_folds(one, level=level) for one in (values, [row["gap"] for row in by_n[n]]))
            means.append(
                {
                    **axes,
                    "n": n,
                    "excess_risk": interval.mean,
                    "low": interval.low,
                    "high": interval.high,
                    "truth_error": max(row["truth_error"] for row in by_n[n]),
                    "bound": by_n[n][0]["bound"],
                    "l2": by_n[n][0]["l2"],
                    "norm": float(np.mean([row["norm"] for row in by_n[n]])),
                    "certified": all(row["certified"] for row in by_n[n]),
                    "zero_excess": by_n[n][0]["zero_excess"],
                    "gap": gap.mean,
                    "gap_low": gap.low,
                    "gap_high": gap.high,
                }
            )
        if len(grid) >= 3:
            fit = fit_exponent(grid, excess.T, level=level)
            exponents.append({**axes, "exponent": fit.slope, "low": fit.low, "high": fit.high})
    return Rates(means, exponents)
