"""How much does the cone change when one query is left out, and how tight are the stability bounds?

The claims are those of `cone` in Theorems 1 and 2, and the open question of section 3.4: how does s_max behave with the
number P of queries? The training queries and the test queries are drawn from the population, so that the true risk is
known to the required precision. Retraining starts from the same basis, with the same order of queries and the same
starting coefficients. A slice is one P.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pipeline_lib import progress
from pipeline_lib.arrays import Floats
from pipeline_lib.errors import DataError
from pipeline_lib.learners import cone
from pipeline_lib.papers.cone.computations.exponents import exponents_of
from pipeline_lib.ranking_data import RankingData, Standardisation
from pipeline_lib.seeds import generator
from pipeline_lib.sources.population import Population, PopulationSettings
from pipeline_lib.theory import stability

if TYPE_CHECKING:
    from pipeline_lib.papers.cone.experiments.stability import StabilitySettings

_LOG = logging.getLogger(__name__)

STANDARD_ERRORS = 1.96


def run_slice(settings: StabilitySettings, P: int, seed: int) -> list[dict[str, Any]]:
    """Retrain with every method and repetition for one P; one row for each."""
    population = Population(PopulationSettings(features=settings.features, documents=settings.documents))
    # The coordinates of a document are of size feature_norm / sqrt(d). A scale that depends on no query makes it 1.
    d = settings.features
    scale = Standardisation(np.zeros(d), np.full(d, population.settings.feature_norm / math.sqrt(d)))
    rng = generator(seed, "cone-stability", "test", role="test")
    test = scale.apply(population.draw(settings.test_queries, rng))
    compared = scale.apply(population.draw(settings.compared_queries, rng.continued("reference")))
    rows = []
    for repetition in progress.counted(range(settings.repetitions), _LOG, f"repetitions with {P} queries"):
        rng = generator(seed, "cone-stability", P, repetition, role="train")
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
    # Theorem 2 concerns the loss without weights.
    train, test, compared = train.in_role("train"), test.in_role("test"), compared.in_role("reference")
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
    defined = losses[pairs > 0]
    empirical, beta = cone.risk(train, U, problem), float(betas.max())
    error = float(defined.std(ddof=1) / math.sqrt(len(defined)))
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
        "test_risk": float(defined.mean()),
        "test_risk_low": float(defined.mean()) - STANDARD_ERRORS * error,
        "test_risk_high": float(defined.mean()) + STANDARD_ERRORS * error,
        "bound": stability.risk_bound(empirical, beta, gamma, P, settings.epsilon),
        "bound_by_theorem_2": stability.risk_bound(empirical, float(limits.max()), gamma, P, settings.epsilon),
        "largest_possible_risk": (rho + c) ** 2,
    }


def _changes_of_losses(compared: RankingData, U: Floats, others: Floats, problem: cone.Problem) -> tuple[Floats, float]:
    # The largest change of a pair's loss for every query that is left out, and the largest loss.
    losses = cone.pair_losses(compared, U, problem)
    if not len(losses):
        raise DataError(
            "cone.stability: expected pairs among the compared queries, found none; increase compared_queries"
        )
    betas = np.array([np.abs(cone.pair_losses(compared, other, problem) - losses).max() for other in others])
    return betas, float(losses.max())


def exponents(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Exponents of s_max, its mean over queries, and beta in P, for every method, with intervals over repetitions."""
    return exponents_of(rows, ("method",), ("s_max", "s_mean", "beta"))
