"""How much does the cone change when one query is left out, and what are the stability bounds worth?

`cone`: Theorems 1 and 2, and the open question of section 3.4: how does s_max behave with the number P of queries? The
training queries and the test queries are drawn from the population, so that the true risk is known to the
required precision. Retraining starts from the same basis, with the same order of queries and the same starting
coefficients. A slice is one P.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pipeline_lib import progress
from pipeline_lib.arrays import Floats
from pipeline_lib.claims.evidence import Evidence, Interval, Trial
from pipeline_lib.errors import DataError
from pipeline_lib.learners import cone
from pipeline_lib.ranking_data import RankingData, Standardisation
from pipeline_lib.seeds import generator
from pipeline_lib.sources.population import Population, PopulationSettings
from pipeline_lib.statistics import fit_exponent
from pipeline_lib.theory import stability

if TYPE_CHECKING:
    from pipeline_lib.papers.cone.experiments.stability import StabilitySettings

_LOG = logging.getLogger(__name__)

TABLE = "tables/cone-stability.parquet"
EXPONENTS = "tables/cone-stability-exponents.parquet"

STANDARD_ERRORS = 1.96


def run_slice(settings: StabilitySettings, P: int, seed: int) -> list[dict[str, Any]]:
    """Every method and repetition for one P; a row each."""
    population = Population(PopulationSettings(features=settings.features, documents=settings.documents))
    # Coordinates of a document are of size feature_norm / sqrt(d): brought to about 1 by a scale that no query moves.
    d = settings.features
    scale = Standardisation(np.zeros(d), np.full(d, population.settings.feature_norm / math.sqrt(d)))
    rng = generator(seed, "cone-stability", "test")
    test = scale.apply(population.draw(settings.test_queries, rng))
    compared = scale.apply(population.draw(settings.compared_queries, rng))
    rows = []
    for repetition in progress.counted(range(settings.repetitions), _LOG, f"repetitions with {P} queries"):
        rng = generator(seed, "cone-stability", P, repetition)
        train = scale.apply(population.draw(P, rng))
        rows += [_row(settings, train, test, compared, method, repetition, seed) for method in settings.methods]
    return rows


def _row(
    settings: StabilitySettings,
    train: RankingData,
    test: RankingData,
    compared: RankingData,
    method: cone.Method,
    repetition: int,
    seed: int,
) -> dict[str, Any]:
    # Theorem 2 is about the loss without weights.
    problem, K, P = cone.Problem(weighted=False), settings.basis, train.n_queries
    axes = (seed, "cone-stability", P, repetition)
    start = cone.started(train.n_features, K, problem, axes)
    order = cone.random_order(P, settings.passes, axes)
    bases = cone.without_each(train, start, order, np.arange(-1, P), method=method, problem=problem, seed=axes)
    U, others = bases[0], bases[1:]
    changes = np.linalg.norm(others - U, ord=2, axis=(1, 2))
    rho, c = problem.rho_of(train.n_features), problem.c_of(train.n_features)
    betas, gamma = _changes_of_losses(compared, U, others, problem)
    limits = np.array([stability.bound_on_beta(float(s), K=K, rho=rho, c=c, largest_sum=1.0) for s in changes])
    losses, pairs = cone.losses(test, U, problem)
    known = losses[pairs > 0]
    empirical, beta = cone.risk(train, U, problem), float(betas.max())
    error = float(known.std(ddof=1) / math.sqrt(len(known)))
    return {
        "P": P,
        "method": method,
        "repetition": repetition,
        "s_max": float(changes.max()),
        "s_mean": float(changes.mean()),
        "beta": beta,
        "beta_bound": float(limits.max()),
        "largest_ratio": float((betas / np.maximum(limits, 1e-300)).max()),
        "gamma": gamma,
        "empirical_risk": empirical,
        "test_risk": float(known.mean()),
        "test_risk_low": float(known.mean()) - STANDARD_ERRORS * error,
        "test_risk_high": float(known.mean()) + STANDARD_ERRORS * error,
        "bound": stability.risk_bound(empirical, beta, gamma, P, settings.epsilon),
        "bound_by_theorem_2": stability.risk_bound(empirical, float(limits.max()), gamma, P, settings.epsilon),
        "largest_possible_risk": (rho + c) ** 2,
    }


def _changes_of_losses(compared: RankingData, U: Floats, others: Floats, problem: cone.Problem) -> tuple[Floats, float]:
    # Largest change of a pair's loss for every left-out query, and the largest loss.
    losses = cone.pair_losses(compared, U, problem)
    if not len(losses):
        raise DataError("cone.stability: expected pairs among the compared queries, found none; draw more")
    betas = np.array([np.abs(cone.pair_losses(compared, other, problem) - losses).max() for other in others])
    return betas, float(losses.max())


def summary(rows: Sequence[Mapping[str, Any]]) -> tuple[list[dict[str, Any]], list[Evidence]]:
    """Exponents of s_max and beta in P for every method, and the evidence."""
    exponents: list[dict[str, Any]] = []
    found, bounds, ratios = [], [], []
    for method in dict.fromkeys(row["method"] for row in rows):
        chosen = [row for row in rows if row["method"] == method]
        grid = sorted({row["P"] for row in chosen})
        for statistic in ("s_max", "s_mean", "beta"):
            values = [
                [row[statistic] for row in chosen if (row["P"], row["repetition"]) == (P, repetition)]
                for repetition in sorted({row["repetition"] for row in chosen})
                for P in grid
            ]
            fit = fit_exponent(grid, np.array(values).reshape(-1, len(grid)))
            exponents.append(
                {"method": method, "statistic": statistic, "slope": fit.slope, "low": fit.low, "high": fit.high}
            )
        slope = next(row for row in exponents if (row["method"], row["statistic"]) == (method, "s_max"))
        value = Interval(slope["slope"], slope["low"], slope["high"])
        found.append(Trial({"method": method}, {"exponent_in_queries": value}, EXPONENTS))
        for row in chosen:
            place = {"method": method, "P": row["P"], "repetition": row["repetition"]}
            risk = Interval(row["test_risk"], row["test_risk_low"], row["test_risk_high"])
            beside = {name: row[name] for name in ("bound", "empirical_risk", "largest_possible_risk")}
            bounds.append(Trial(place, {"test_risk": risk, **beside}, TABLE))
            ratios.append(Trial(place, {"largest_ratio": row["largest_ratio"]}, TABLE))
    return exponents, [
        Evidence(
            "cone-thm1",
            tuple(bounds),
            "With the beta measured on fresh pairs, which is at most the supremum of (12): if the bound holds with it, "
            "it holds with the true one. A bound above the largest possible risk, (rho + c)^2, says nothing.",
        ),
        Evidence("cone-thm2", tuple(ratios), "The largest change of a fresh pair's loss over its bound, all i."),
        Evidence(
            "cone-smax",
            tuple(found),
            "The same number of passes for every P, steps as published, intervals over repetitions. Theorem 1 informs "
            "only where the exponent lies below -1/2.",
        ),
    ]
