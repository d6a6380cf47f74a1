"""How do gap, excess risk and bound of the l1 class grow with the number of features?

`lists`, Theorem 12: ||w||_1 <= W1 and ||x||_inf <= Rbar_X. ListNet (above the entropy of the labels) is minimised over
the l1 ball for up to 10,000 features, a few of which matter, and the ranker of the ball with the worst gap is sought by
ascent. The bound is also computed for a number of queries large enough that the entropy integral is not at its ceiling
of 4 B.

Excess risks are those above the best ranker of the ball, which has no weight on features that do not matter. Let
u_j = 0, u the population's utility, and let D turn the sign of feature j in all documents. In the population's
formulas (docs/population.md) x_j = r (rho c_j + (1 - rho) xi_j), no other feature depends on c_j or xi_j, and the
labels depend on xi_j at most through g xi_f, where the query's taste f is j. Put -c_j, -xi_j for all documents and,
where f = j, -g for g: the law of these variables stays, all labels stay, and X becomes X D. Hence (X, y) and (X D, y)
have one law and L(w) = L(D w) for every w; for a convex loss, by Jensen's inequality,

    L((w + D w)/2) <= (L(w) + L(D w))/2 = L(w),    (w + D w)/2 is w with w_j = 0,

and ||.||_1 does not grow. So the best ranker is sought among the features that matter alone, on the held-out queries
themselves: their mean is no higher there than at the population's best ranker, which makes the measured excess risk
too large rather than too small on average.
"""

from __future__ import annotations

import logging
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pipeline_lib import progress, surrogates
from pipeline_lib.arrays import Floats
from pipeline_lib.learners import erm
from pipeline_lib.papers.lists.computations import held_out, worst_gap
from pipeline_lib.papers.lists.losses import LOSS
from pipeline_lib.ranking_data import RankingData
from pipeline_lib.seeds import generator
from pipeline_lib.sources.population import Population, PopulationSettings
from pipeline_lib.theory import list_bounds

if TYPE_CHECKING:
    from pipeline_lib.papers.lists.experiments.sparse import SparseSettings

_LOG = logging.getLogger(__name__)

BEST_TOL = 1e-6
"""Relative gap to which the best ranker is certified: it has few weights."""
NUMBERS_PER_BLOCK = 2**22
"""Held-out queries are drawn in blocks of about this many feature values: 16 MB, and 32 MB in double precision."""


def run(settings: SparseSettings, seed: int) -> list[dict[str, Any]]:
    """Rows of the table, one for every number of features, repetition and ranker."""
    rows: list[dict[str, Any]] = []
    for d in progress.counted(settings.features, _LOG, "numbers of features"):
        rows += _measure(settings, d, seed)
    return rows


def _population(settings: SparseSettings, d: int) -> Population:
    return Population(PopulationSettings(features=d, documents=settings.documents, active=settings.active))


def _constants(settings: SparseSettings, d: int) -> dict[str, Any]:
    population = _population(settings, d)
    # One bound on features for all d, so that only d changes: ||x||_inf <= ||x||_2 <= R.
    given: dict[str, Any] = {
        "m": settings.documents,
        "radius": settings.radius,
        "feature_norm": population.feature_norm,
    }
    own = list_bounds.of_surrogate("erm-l1", surrogates.create(LOSS), y_max=population.settings.y_max, **given)
    return {"d": d, "delta": settings.delta, **given, **own}


def _bound(settings: SparseSettings, d: int, n: int) -> float:
    return list_bounds.evaluate("erm-l1", n=n, **_constants(settings, d))


def _bounds(settings: SparseSettings, d: int) -> dict[str, Any]:
    # What all rows with d features have in common.
    bound, n = _bound(settings, d, settings.queries), settings.queries
    loss_bound = _constants(settings, d)["loss_bound"]
    return {
        "bound": bound,
        "excess_bound": list_bounds.excess_of_minimiser(bound, n=n, loss_bound=loss_bound, delta=settings.delta),
        "loss_bound": loss_bound,
        "bound_far": _bound(settings, d, settings.fitted_at),
        "fitted_at": settings.fitted_at,
    }


@dataclass(frozen=True, eq=False)
class _Ranker:
    learner: str
    repetition: int
    w: Floats
    empirical: float
    certified_gap: float | None = None


def _measure(settings: SparseSettings, d: int, seed: int) -> list[dict[str, Any]]:
    population, loss = _population(settings, d), surrogates.create(LOSS)
    rankers = _rankers(settings, population, seed)
    weights = np.column_stack([ranker.w for ranker in rankers])
    rng = generator(seed, "lists-sparse", d, "held out", role="test")
    scores, levels, held = _held_out(population, weights, rng, settings.held_out_queries)
    best = erm.fit(held, loss, l2=0.0, radius=settings.radius, ball="l1", tol=BEST_TOL)
    block = held_out.Scored(np.vstack([held.X64 @ best.w, scores]), held.y, held.offsets, levels)
    measured = held_out.of_scores(loss, [block])
    common = _bounds(settings, d)
    return [
        {
            "d": d,
            "n": settings.queries,
            "m": settings.documents,
            "repetition": ranker.repetition,
            "learner": ranker.learner,
            "empirical": ranker.empirical,
            "risk": float(measured.value[k]),
            "risk_error": float(measured.standard_error[k]),
            "gap": float(measured.value[k]) - ranker.empirical,
            "excess": float(measured.difference[k]),
            "excess_error": float(measured.difference_error[k]),
            "certified_gap": ranker.certified_gap,
            "best_certified_gap": best.relative_gap,
            **common,
        }
        for k, ranker in enumerate(rankers)
    ]


def _rankers(settings: SparseSettings, population: Population, seed: int) -> list[_Ranker]:
    loss, d, n = surrogates.create(LOSS), population.settings.features, settings.queries
    reference = population.draw(2 * n, generator(seed, "lists-sparse", d, "reference", role="reference"))
    rankers = []
    for repetition in progress.counted(range(settings.repetitions), _LOG, f"repetitions with {d} features"):
        sample = population.draw(n, generator(seed, "lists-sparse", d, repetition, role="train")).in_role("train")
        least = erm.fit(sample, loss, l2=0.0, radius=settings.radius, ball="l1", tol=settings.tol)
        worst = worst_gap.search(loss, sample, reference, settings.radius, settings.ascent_steps, "l1")
        certified = least.relative_gap if math.isfinite(least.relative_gap) else None
        for learner, w, gap in (("erm", least.w, certified), ("worst", worst, None)):
            empirical = float(held_out.losses(loss, sample, w).mean())
            rankers.append(_Ranker(learner, repetition, w, empirical, gap))
    return rankers


def _held_out(
    population: Population, weights: Floats, rng: np.random.Generator, n_queries: int
) -> tuple[Floats, Floats, RankingData]:
    """Scores of rankers (k, D) and levels (Q,) of fresh queries, and these queries with the features that matter alone.

    Drawn in blocks: with many features the whole sample would not fit into memory, and nothing else of it is needed.
    """
    active = np.flatnonzero(population.utility)
    m, d = population.settings.documents, population.settings.features
    assert isinstance(m, int)
    step = max(1, NUMBERS_PER_BLOCK // (m * d))
    scores, levels, features, labels = [], [], [], []
    for start in range(0, n_queries, step):
        queries = population.draw_queries(min(step, n_queries - start), rng)
        data = population.draw_documents(queries, m, rng).in_role("test")
        scores.append((data.X.astype(np.float64) @ weights).T)
        levels.append(queries.level)
        features.append(data.X[:, active])
        labels.append(data.y)
    names = np.repeat(np.arange(n_queries), m)
    held = RankingData.from_arrays(np.concatenate(features), np.concatenate(labels), names)
    return np.hstack(scores), np.concatenate(levels), held
