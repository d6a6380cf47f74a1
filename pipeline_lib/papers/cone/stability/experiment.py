"""How much does the cone change when one query is left out, and how tight are the stability bounds?

The claims are those of `cone` in Theorems 1 and 2, and the open question of section 3.4: how does s_max behave with the
number P of queries? The training queries and the test queries are drawn from the population, so that the true risk is
known to the required precision. Retraining starts from the same basis, with the same order of queries and the same
starting coefficients. A slice is one P.
"""

import logging
import math
from collections.abc import Iterator
from typing import Annotated

import numpy as np
from annotated_types import Ge

from pipeline_lib.core import progress
from pipeline_lib.core.cost import Cost
from pipeline_lib.core.errors import DataError
from pipeline_lib.core.seeds import generator
from pipeline_lib.core.settings import Names, Probability, Rising, Settings, Whole, at_least, no_fewer_than
from pipeline_lib.data.ranking_data import RankingData
from pipeline_lib.data.rows import LOW_HIGH, Field, Interval, Row
from pipeline_lib.experiment import Cell, Experiment, Job, Step
from pipeline_lib.learners import cone
from pipeline_lib.papers.cone.common import exponents_of, unit_scale
from pipeline_lib.sources.population import Population, PopulationSettings
from pipeline_lib.theory import stability

_LOG = logging.getLogger(__name__)

STANDARD_ERRORS = 1.96


class StabilitySettings(Settings):
    """Stability, measured by retraining ConeRank without each query."""

    queries: Annotated[Rising, at_least(2), no_fewer_than(3, "for an exponent")] = Field(
        (25, 50, 100), description="values of P, the number of training queries"
    )
    repetitions: Annotated[Whole, Ge(2)] = Field(4, description="number of samples for every P")
    methods: Annotated[tuple[cone.Method, ...], *Names.__metadata__] = Field(
        ("sg", "exact"), description="methods of training"
    )
    features: Whole = Field(5, description="number of features in the population")
    documents: Annotated[Whole, Ge(2)] = Field(4, description="number of documents per query")
    basis: Whole = Field(3, description="K, the number of basis vectors")
    passes: Whole = Field(100, description="number of passes over the queries")
    test_queries: Annotated[Whole, Ge(2)] = Field(
        2000, description="number of fresh queries on which the true risk is measured"
    )
    compared_queries: Whole = Field(50, description="number of queries on whose pairs the stability is measured")
    epsilon: Probability = Field(0.05, description="Theorem 1 holds with probability 1 - epsilon")


class Retrained(Row, table="slices/cone-stability/queries-{queries}"):
    """A cone that is trained on P queries, next to those that are trained without one of them."""

    P: int = Field(description="training queries")
    method: str = Field(description="method of training")
    repetition: int = Field(description="number of the sample, from 0")
    s_max: float = Field(description="largest spectral norm of the change of the basis, over all queries left out")
    s_mean: float = Field(description="mean of these norms")
    beta: float = Field(description="largest change of the loss of a compared pair, over all queries left out")
    beta_bound: float = Field(description="Theorem 2: the bound (16) on beta with s_max, for lambda_u = 1")
    largest_ratio: float = Field(description="largest change of a loss over its own bound (16), over queries left out")
    gamma: float = Field(description="largest loss of a compared pair after training on all queries")
    empirical_risk: float = Field(description="mean loss of the training queries, without weights")
    test_risk: Interval = Field(description="mean loss of fresh queries, -+ 1.96 standard errors")
    bound: float = Field(description="Theorem 1: the bound (15) on the risk, with the measured beta")
    bound_by_theorem_2: float = Field(description="the same with beta_bound in place of beta")
    largest_possible_risk: float = Field(description="(rho + c)^2, which no loss exceeds")


class Stability(Retrained, table="tables/cone-stability"):
    """As the slices have it."""


class Exponent(Row, table="tables/cone-stability-exponents"):
    """The power of P with which a measure of stability falls."""

    method: str = Field(description="method of training")
    statistic: str = Field(description="s_max, s_mean or beta")
    slope: Annotated[Interval, LOW_HIGH] = Field(description="exponent in P of its mean over repetitions")


def retrain(job: Job) -> Iterator[Retrained]:
    """Retrain with every method and repetition for one P; one row for each."""
    settings, P = job.settings, int(job.cell["queries"])
    population = Population(PopulationSettings(features=settings.features, documents=settings.documents))
    scale = unit_scale(population)  # it depends on no query
    rng = generator(job.seed, "cone-stability", "test", role="test")
    test = scale.apply(population.draw(settings.test_queries, rng))
    compared = scale.apply(population.draw(settings.compared_queries, rng.continued("reference")))
    for repetition in progress.counted(range(settings.repetitions), _LOG, f"repetitions with {P} queries"):
        rng = generator(job.seed, "cone-stability", P, repetition, role="train")
        train = scale.apply(population.draw(P, rng))
        for method in settings.methods:
            yield _retrained(settings, (train, test, compared), method, repetition, job.seed)


def _retrained(
    settings: StabilitySettings,
    parts: tuple[RankingData, RankingData, RankingData],
    method: cone.Method,
    repetition: int,
    seed: int,
) -> Retrained:
    # Theorem 2 concerns the loss without weights.
    train, test, compared = parts
    train, test, compared = train.in_role("train"), test.in_role("test"), compared.in_role("reference")
    problem, K, P = cone.Problem(weighted=False), settings.basis, train.n_queries
    axes = (seed, "cone-stability", P, repetition)
    start = cone.started(train.n_features, K, problem, axes)
    order = cone.random_order(P, settings.passes, axes)
    bases = cone.without_each(train, start, order, np.arange(-1, P), method=method, problem=problem, seed=axes)
    U, others = bases[0], bases[1:]
    changes = np.linalg.norm(others - U, ord=2, axis=(1, 2))
    rho, c = problem.rho_of(train.n_features), problem.c_of(train.n_features)
    before = cone.pair_losses(compared, U, problem)
    if not len(before):
        raise DataError(
            "cone.stability: expected pairs among the compared queries, found none; increase compared_queries"
        )
    betas = np.array([np.abs(cone.pair_losses(compared, other, problem) - before).max() for other in others])
    limits = np.array([stability.bound_on_beta(float(s), K=K, rho=rho, c=c, largest_sum=1.0) for s in changes])
    losses, pairs = cone.losses(test, U, problem)
    defined = losses[pairs > 0]
    empirical, beta, gamma = cone.risk(train, U, problem), float(betas.max()), float(before.max())
    risk, error = float(defined.mean()), float(defined.std(ddof=1) / math.sqrt(len(defined)))
    return Retrained(
        P=P,
        method=method,
        repetition=repetition,
        s_max=changes.max(),
        s_mean=changes.mean(),
        beta=beta,
        beta_bound=limits.max(),
        largest_ratio=(betas / np.maximum(limits, 1e-300)).max(),
        gamma=gamma,
        empirical_risk=empirical,
        test_risk=Interval(risk, risk - STANDARD_ERRORS * error, risk + STANDARD_ERRORS * error),
        bound=stability.risk_bound(empirical, beta, gamma, P, settings.epsilon),
        bound_by_theorem_2=stability.risk_bound(empirical, float(limits.max()), gamma, P, settings.epsilon),
        largest_possible_risk=(rho + c) ** 2,
    )


def join(job: Job) -> Iterator[Stability | Exponent]:
    """The rows of all P, and the exponents of three measures of stability in P for every method."""
    rows = job.rows(Retrained)
    yield from (Stability(**dict(row)) for row in rows)
    yield from (Exponent(**found) for found in exponents_of(rows, ("method",), ("s_max", "s_mean", "beta")))


def _seconds(settings: StabilitySettings, cell: Cell) -> float:
    # The number of queries that all retrainings with one P pass over, times that of their pairs of documents.
    visits = int(cell["queries"]) ** 2 * settings.passes * settings.repetitions * len(settings.methods)
    return 1.6e-7 * settings.documents * (settings.documents - 1) * visits


EXPERIMENT = Experiment(
    StabilitySettings,
    (
        Step(
            "stability_slice",
            retrain,
            divided={"queries": lambda settings: settings.queries},
            rows=(Retrained,),
            cost=Cost(1.0),
            seconds=_seconds,
        ),
        Step("stability", join, reads=(Retrained,), rows=(Stability, Exponent), cost=Cost(1.0)),
    ),
)
