"""By which steps do Theorems 1 and 2 of `cone` lead from measured gaps and stability to what they state?

Some queries of a data set, with short lists, are the whole population
(:mod:`pipeline_lib.papers.cone.kinds`). Gaps are less those of the cone that is trained on the whole population, whose
mean is 0.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from annotated_types import Ge

from pipeline_lib.core import progress
from pipeline_lib.core.arrays import Floats
from pipeline_lib.core.cost import Cost
from pipeline_lib.core.seeds import generator
from pipeline_lib.core.settings import Positive, Rising, Whole, at_least
from pipeline_lib.data.ranking_data import RankingData, Standardisation
from pipeline_lib.data.rows import Field
from pipeline_lib.experiment import EVERY, Experiment, Job, Step
from pipeline_lib.learners import cone
from pipeline_lib.papers.chains import ChainLink, ChainSettings
from pipeline_lib.papers.cone.kinds import RHO, Kinds, trained, worst_change
from pipeline_lib.theory import chains, stability
from pipeline_lib.theory.chains import Chain, Link

_LOG = logging.getLogger(__name__)


class ConeChainSettings(ChainSettings):
    """What every step of the proofs costs, on samples of some queries of every available data set."""

    queries: Annotated[Rising, at_least(2)] = Field(
        (100, 1000, 10000), description="values of P, the number of queries in a sample, drawn with replacement"
    )
    repetitions: Whole = Field(5, ge=2, description="number of samples in the mean of every measured link")
    kinds: Annotated[Whole, Ge(2)] = Field(10, description="number of queries of the data set that are the population")
    documents: Annotated[Whole, Ge(2)] = Field(6, description="longer lists are cut to so many documents at random")
    basis: Whole = Field(2, description="K, the number of basis vectors")
    c: Positive = Field(1.0, description="largest norm of a basis vector, in units of rho")


class ConeLink(ChainLink, table="tables/cone-chain"):
    """One link of the chain of Theorem 1 or 2, in the mean over samples of P queries."""


def measure(job: Job) -> Iterator[ConeLink]:
    """The links of every chain."""
    settings = job.settings
    for dataset, documents in job.datasets().items():
        axes = (job.seed, "cone-chain", dataset)
        kinds = population(settings, documents, axes)
        if kinds is None:
            _LOG.info(f"{dataset}: no query with two different labels")
            continue
        whole = trained(kinds, kinds.shares, _start(kinds, axes))[0]
        for P in progress.counted(settings.queries, _LOG, f"sizes on {dataset},"):
            samples = [_measured(kinds, whole, P, axes, repetition) for repetition in range(settings.repetitions)]
            for chain in all_chains(settings, kinds, P, samples):
                yield from map(ConeLink.of, chain.rows(dataset=dataset, loss="cone", n=P))


def population(settings: ConeChainSettings, documents: RankingData, axes: tuple[Any, ...]) -> Kinds | None:
    """Some queries with pairs of a data set, standardised, with at most so many documents each; None without pairs."""
    rng = generator(*axes, "queries")
    short = Standardisation.of(documents).apply(documents).subsample_documents(settings.documents, rng)
    highest = np.maximum.reduceat(short.y, short.offsets[:-1])
    lowest = np.minimum.reduceat(short.y, short.offsets[:-1])
    with_pairs = np.flatnonzero(highest > lowest)
    if not len(with_pairs):
        return None
    chosen = np.sort(rng.permutation(with_pairs)[: settings.kinds])
    shares = np.full(len(chosen), 1.0 / len(chosen))
    return Kinds("data", short.take(chosen), shares, settings.basis, settings.c * RHO)


def _start(kinds: Kinds, axes: tuple[Any, ...]) -> Floats:
    return cone.started(kinds.data.n_features, kinds.K, kinds.problem, (*axes, "start"))


@dataclass(frozen=True)
class Sample:
    """The terms of the links for one sample."""

    gap: float
    mean_change: float
    query_change: float
    pair_change: float
    ball_change: float
    by_norms: float
    by_theorem_2: float
    gamma: float


def _measured(kinds: Kinds, whole: Floats, P: int, axes: tuple[Any, ...], repetition: int) -> Sample:
    data, problem = kinds.data, kinds.problem
    counts = generator(*axes, P, repetition).multinomial(P, kinds.shares).astype(np.float64)
    start = _start(kinds, axes)
    U = trained(kinds, counts, start)[0]
    each, pairs = cone.losses(data, U, problem)[0], cone.pair_losses(data, U, problem)
    of_whole = cone.losses(data, whole, problem)[0]
    drawn = np.flatnonzero(counts)
    own = others = largest = of_pair = of_ball = norms = s_max = 0.0
    for kind in drawn:
        left = counts.copy()
        left[kind] -= 1.0
        V = trained(kinds, left, start)[0]
        change = cone.losses(data, V, problem)[0] - each
        own += counts[kind] / P * change[kind]
        others += counts[kind] / P * float(kinds.shares @ np.abs(change))
        largest = max(largest, float(np.abs(change).max()))
        of_pair = max(of_pair, float(np.abs(cone.pair_losses(data, V, problem) - pairs).max()))
        of_ball = max(of_ball, worst_change(U, V, RHO, (*axes, P, repetition)))
        s = float(np.linalg.norm(V - U, ord=2))
        norms = max(norms, 2.0 * s * (RHO + max(float(np.linalg.norm(B, ord=2)) for B in (U, V))) + s**2)
        s_max = max(s_max, s)
    of_ball = max(of_ball, of_pair)
    return Sample(
        gap=float((kinds.shares - counts / P) @ (each - of_whole)),
        mean_change=own + others,
        query_change=largest,
        pair_change=of_pair,
        ball_change=of_ball,
        by_norms=max(norms, of_ball),
        by_theorem_2=stability.bound_on_beta(s_max, K=kinds.K, rho=RHO, c=kinds.c, largest_sum=1.0),
        gamma=float(pairs.max()),
    )


def all_chains(settings: ConeChainSettings, kinds: Kinds, P: int, samples: list[Sample]) -> Iterator[Chain]:
    """The chains of Theorem 1, with the stability by Theorem 2 at its end, and of Theorem 2 alone."""
    of = {name: np.array([getattr(one, name) for one in samples]) for name in Sample.__dataclass_fields__}
    setting = f"K = {kinds.K}, P = {P:,}, c = {kinds.c:g}, rho = {RHO:g}"
    largest = (RHO + kinds.c) ** 2
    yield chains.of("theorem-1", "Theorems 1 and 2", setting, largest, _theorem_1(of, P, settings.delta))
    yield chains.of("theorem-2", "Theorem 2", setting, largest, _theorem_2(of))


def _theorem_1(of: dict[str, Floats], P: int, epsilon: float) -> Iterator[Link]:
    root = math.sqrt(math.log(1.0 / epsilon) / (2.0 * P))
    stable = 2.0 + 4.0 * P * root
    yield chains.estimated(
        "gap",
        "gap",
        "The gap of the trained cone is measured, less that of the population's cone, whose mean is 0.",
        of["gap"],
    )
    yield chains.estimated(
        "changes",
        "mean change",
        "The mean gap is at most the mean change of losses when a query is left out: its own, and that of a new query.",
        of["mean_change"],
    )
    yield chains.estimated(
        "uniform", "any query", "The largest change of any query's loss, twice.", 2.0 * of["query_change"]
    )
    yield chains.estimated(
        "beta", "any pair", "The largest change of any pair's loss, twice: 2 beta.", 2.0 * of["pair_change"]
    )
    yield chains.added(
        "gamma",
        "McDiarmid, gamma",
        "McDiarmid's inequality: the term with the largest loss.",
        float(of["gamma"].mean()) * root,
    )
    before = 2.0 * of["pair_change"] + float(of["gamma"].mean()) * root
    yield chains.estimated(
        "p-beta",
        "McDiarmid, P beta",
        "McDiarmid's inequality: the term with P beta.",
        before + 4.0 * P * of["pair_change"] * root,
    )
    rest = of["gamma"] * root
    yield chains.estimated(
        "ball",
        "any difference",
        "beta as a supremum over all differences with ||z|| <= rho.",
        stable * of["ball_change"] + rest,
    )
    yield chains.estimated(
        "theorem-2", "Theorem 2", "beta by Theorem 2 from the change of the basis.", stable * of["by_theorem_2"] + rest
    )


def _theorem_2(of: dict[str, Floats]) -> Iterator[Link]:
    yield chains.estimated(
        "beta", "any pair", "The largest change of any pair's loss is measured: beta.", of["pair_change"]
    )
    yield chains.estimated(
        "ball", "any difference", "The supremum over all differences with ||z|| <= rho.", of["ball_change"]
    )
    yield chains.estimated(
        "norms",
        "products of norms",
        "The change is bounded by products of norms, with the measured norm of the basis.",
        of["by_norms"],
    )
    yield chains.estimated(
        "stated", "norm of the basis", "The norm of the basis is at most sqrt(K) c.", of["by_theorem_2"]
    )


EXPERIMENT = Experiment(
    ConeChainSettings,
    (
        Step(
            "chain",
            measure,
            rows=(ConeLink,),
            documents=EVERY,
            cost=Cost(3.0, start_mb=500.0),
            seconds=lambda settings, cell: 2e-3 * settings.kinds**2 * settings.repetitions * len(settings.queries),
        ),
    ),
)
