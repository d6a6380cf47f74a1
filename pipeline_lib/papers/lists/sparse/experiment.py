"""How do gap, excess risk and bound of the l1 class grow with the number of features?

`lists`, Theorem 12: ||w||_1 <= W1 and ||x||_inf <= Rbar_X. ListNet (above the entropy of the labels) is minimised over
the l1 ball for up to 10,000 features, a few of which matter, and the ranker of the ball with the worst gap is sought by
ascent.

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

import math
from collections.abc import Iterator
from typing import Annotated, Any, Self

import numpy as np
from annotated_types import Ge
from pydantic import model_validator

from pipeline_lib import surrogates
from pipeline_lib.core import progress
from pipeline_lib.core.arrays import Floats
from pipeline_lib.core.cost import Cost
from pipeline_lib.core.seeds import generator
from pipeline_lib.core.settings import Positive, Sizes, Whole
from pipeline_lib.data.ranking_data import RankingData
from pipeline_lib.data.rows import Count, Field, FromOne, FromZero, Row
from pipeline_lib.experiment import Experiment, Job, Step
from pipeline_lib.learners import erm
from pipeline_lib.papers.lists import held_out, trained
from pipeline_lib.papers.lists.losses import LOSS
from pipeline_lib.papers.lists.trained import Ranker, TrainingSettings
from pipeline_lib.sources.population import Population, PopulationSettings
from pipeline_lib.theory import list_bounds

BEST_TOL = 1e-6
"""Relative gap to which the best ranker is certified: it has few weights."""
NUMBERS_PER_BLOCK = 2**22
"""Held-out queries are drawn in blocks of about this many feature values: 16 MB, and 32 MB in double precision."""


class SparseSettings(TrainingSettings):
    """The l1 class with many features (Theorem 12)."""

    features: Sizes = Field((10, 100, 1000, 10000), description="values of d, the number of features")
    active: Whole = Field(5, description="features on which the labels depend")
    queries: Whole = Field(50, ge=2, description="n, the number of queries")
    documents: Whole = Field(8, ge=2, description="m, the number of documents per query")
    held_out_queries: Annotated[Whole, Ge(held_out.LEAST_QUERIES)] = Field(
        1000, description="fresh queries on which every risk is measured"
    )
    repetitions: Whole = Field(20, ge=2, description="samples for every d")
    radius: Positive = Field(2.5, description="W1 in ||w||_1 <= W1")

    @model_validator(mode="after")
    def _active_features_are_there(self) -> Self:
        if self.active > self.features[0]:
            raise ValueError(f"features: expected none below active, {self.active}, found {list(self.features)}")
        return self


class SparseRanker(
    Row,
    table="tables/lists-sparse",
    key=("d", "n", "m", "repetition", "learner"),
    always=(
        "gap = risk - empirical",
        "bound = MIN(bound) OVER (PARTITION BY d, n, m)",
        "loss_bound = MIN(loss_bound) OVER (PARTITION BY d, n, m)",
    ),
):
    """One ranker of the l1 ball, its gap on one sample of n queries with d features, and Theorem 12."""

    d: FromOne = Field(description="features of a document")
    n: FromOne = Field(description="queries of the sample")
    m: FromOne = Field(description="documents of each query")
    repetition: Count = Field(description="the sample, from 0")
    learner: str = Field(description="erm for the minimiser on the sample, worst for the largest gap that was found")
    empirical: FromZero = Field(description="mean loss on the sample, above the smallest possible one")
    risk: float = Field(description="mean loss on fresh queries, above the smallest possible one")
    risk_error: FromZero = Field(description="standard error of the risk")
    gap: float = Field(description="risk minus empirical risk")
    excess: float = Field(description="risk minus that of the best ranker of the ball with the features that matter")
    excess_error: FromZero = Field(description="standard error of the excess risk")
    certified_gap: FromZero | None = Field(
        description="certified relative gap of erm to its minimum; missing for worst"
    )
    best_certified_gap: FromZero = Field(description="the same of the best ranker on the fresh queries")
    bound: FromZero = Field(description="Theorem 12 for the gap")
    excess_bound: FromZero = Field(description="Theorem 12 with Hoeffding's term, for the excess risk of the minimiser")
    loss_bound: FromZero = Field(description="B, the largest loss")


def measure(job: Job) -> Iterator[SparseRanker]:
    """One row for every number of features, repetition and ranker."""
    settings: SparseSettings = job.settings
    loss = surrogates.create(LOSS)
    for d in progress.counted(settings.features, "numbers of features"):
        described = PopulationSettings(features=d, documents=settings.documents, active=settings.active)
        population = Population(described)
        rankers = _rankers(settings, population, job.seed)
        weights = np.column_stack([ranker.w for _, ranker in rankers])
        rng = generator(job.seed, "lists-sparse", d, "held out", role="test")
        scores, levels, held = _held_out(population, weights, rng, settings.held_out_queries)
        best = erm.fit(held, loss, l2=0.0, radius=settings.radius, ball="l1", tol=BEST_TOL)
        block = held_out.Scored(np.vstack([held.X64 @ best.w, scores]), held.y, held.offsets, rng.role, levels)
        measured = held_out.of_scores(loss, [block])
        bounds = _bounds(settings, population)
        for k, (repetition, ranker) in enumerate(rankers):
            gap = ranker.certified_gap
            yield SparseRanker(
                **bounds,
                repetition=repetition,
                learner=ranker.learner,
                empirical=ranker.empirical,
                risk=measured.value[k],
                risk_error=measured.standard_error[k],
                gap=measured.value[k] - ranker.empirical,
                excess=measured.difference[k],
                excess_error=measured.difference_error[k],
                certified_gap=None if gap is None or math.isinf(gap) else gap,
                best_certified_gap=best.relative_gap,
            )


def _bounds(settings: SparseSettings, population: Population) -> dict[str, Any]:
    """The columns that all rows with the population's number of features have in common."""
    # One bound on features for all d, so that only d changes: ||x||_inf <= ||x||_2 <= R.
    given: dict[str, Any] = {"m": settings.documents, "radius": settings.radius}
    given["feature_norm"] = population.feature_norm
    given |= list_bounds.of_surrogate("erm-l1", surrogates.create(LOSS), y_max=population.settings.y_max, **given)
    given |= {"d": population.settings.features, "delta": settings.delta}
    n, loss_bound = settings.queries, given["loss_bound"]
    bound = list_bounds.evaluate("erm-l1", n=n, **given)
    axes = {"d": given["d"], "n": n, "m": given["m"]}
    return {
        **axes,
        "bound": bound,
        "excess_bound": list_bounds.excess_of_minimiser(bound, n=n, loss_bound=loss_bound, delta=settings.delta),
        "loss_bound": loss_bound,
    }


def _rankers(settings: SparseSettings, population: Population, seed: int) -> list[tuple[int, Ranker]]:
    """The minimiser and the worst ranker of every repetition."""
    loss, d, n = surrogates.create(LOSS), population.settings.features, settings.queries
    reference = population.draw(2 * n, generator(seed, "lists-sparse", d, "reference", role="reference"))
    rankers = []
    for repetition in progress.counted(range(settings.repetitions), f"repetitions with {d} features"):
        # One by one: with many features, one sample at a time is kept.
        sample = population.draw(n, generator(seed, "lists-sparse", d, repetition, role="train"))
        [found] = trained.rankers(loss, [sample], reference, settings, radius=settings.radius, ball="l1", seeds=[0])
        rankers += [(repetition, ranker) for ranker in found]
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
        data = population.draw_documents(queries, m, rng)
        scores.append((data.X.astype(np.float64) @ weights).T)
        levels.append(queries.level)
        features.append(data.X[:, active])
        labels.append(data.y)
    names = np.repeat(np.arange(n_queries), m)
    held = RankingData.from_arrays(np.concatenate(features), np.concatenate(labels), names)
    return np.hstack(scores), np.concatenate(levels), held


EXPERIMENT = Experiment(
    SparseSettings,
    Step(
        "sparse",
        measure,
        rows=(SparseRanker,),
        surrogates=(LOSS,),
        cost=Cost(2.0, start_mb=1000.0),
        seconds=lambda settings, cell: (
            6e-8 * settings.queries * settings.documents * settings.repetitions * sum(settings.features)
        ),
        # One sample, and the reference sample in the search for the worst gap, which has twice its size.
        megabytes=lambda settings: 12e-6 * 3 * settings.queries * settings.documents * max(settings.features),
    ),
)
