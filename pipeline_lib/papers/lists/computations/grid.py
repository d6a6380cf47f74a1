"""How far apart are empirical and true risk over a grid of queries and documents, loss by loss?

`lists`, Theorems 5, 6, 9 and 17 and equation 8. A repetition draws the queries of the largest sample once; smaller
samples are its first queries, and other lists of the same queries have other documents. From every loss its
smallest value is subtracted, which is the entropy of the labels for ListNet and 0 for all others.

Risks are measured in two steps. The best ranker is fitted to another sample and measured on a very large one, which is
cheap, because it is only one ranker. All others are measured on the held-out sample together with the best one, query
by query; what this sample says of the best ranker is then replaced by what the large one says (``held_out``).
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from pipeline_lib import progress, surrogates
from pipeline_lib.arrays import Floats
from pipeline_lib.errors import ConfigurationError, hint
from pipeline_lib.learners import erm, ogd
from pipeline_lib.papers.lists.computations import held_out, worst_gap
from pipeline_lib.ranking_data import RankingData
from pipeline_lib.seeds import Axis, Role, generator
from pipeline_lib.sources.population import Population, PopulationSettings, Queries
from pipeline_lib.surrogates.base import Surrogate
from pipeline_lib.theory import list_bounds

if TYPE_CHECKING:
    from pipeline_lib.papers.lists.experiments.grid import GridSettings

_LOG = logging.getLogger(__name__)

# The best ranker of the ball is fitted to as many documents as the others are measured on, but to no more than these
# where the loss is not convex, since that takes several descents.
DOCUMENTS_FOR_RESTARTS = 100_000
DOCUMENTS_PER_BLOCK = 50_000


def loss_of(settings: GridSettings, name: str) -> Surrogate:
    """The surrogate of the loss called ``name``; ConfigurationError where the settings have none."""
    for entry in settings.losses:
        if entry.name == name:
            return surrogates.create(entry.surrogate, **entry.options)
    raise ConfigurationError(f"unknown loss {name!r}; {hint(name, [entry.name for entry in settings.losses])}")


def population_of(settings: GridSettings, kind: str) -> Population:
    """The population ``noisy`` or ``realisable``."""
    return Population(PopulationSettings.from_mapping(getattr(settings.populations, kind)))


@dataclass(frozen=True)
class Ranker:
    """One ranker: where it comes from, its weights, its empirical risk, and its certified gap to the minimum."""

    learner: str
    n: int
    repetition: int
    w: Floats
    empirical: float
    gap_certified: float | None = None


@dataclass(frozen=True)
class Slice:
    """What all cells with one loss, population and m have in common."""

    settings: GridSettings
    name: str
    kind: str
    m: int
    seed: int

    @cached_property
    def loss(self) -> Surrogate:
        """The surrogate."""
        return loss_of(self.settings, self.name)

    @cached_property
    def population(self) -> Population:
        """Where samples come from."""
        return population_of(self.settings, self.kind)

    @cached_property
    def lipschitz(self) -> float:
        """G for lists of m documents with scores up to W2 R_X."""
        S = self.settings.radius * self.population.feature_norm
        return self.loss.lipschitz(self.m, self.population.settings.y_max, score_bound=S)

    def queries(self, role: Role, n: int, *axes: Axis) -> Queries:
        """n queries, which depend neither on m nor on the loss."""
        rng = generator(self.seed, "lists-grid", self.kind, "queries", *axes, role=role)
        return self.population.draw_queries(n, rng)

    def sample(self, role: Role, n: int, *axes: Axis) -> RankingData:
        """These queries with m documents each, which do not depend on the loss."""
        documents = generator(self.seed, "lists-grid", self.kind, "documents", self.m, *axes, role=role)
        return self.population.draw_documents(self.queries(role, n, *axes), self.m, documents)


def run(settings: GridSettings, name: str, seed: int) -> list[dict[str, Any]]:
    """All rows of the loss ``name``, one for every population, m, n, repetition and learner."""
    rows = []
    for m in progress.counted(settings.lengths, _LOG, "lengths of lists"):
        rows += measure(Slice(settings, name, "noisy", m, seed))
    if name in settings.realisable_losses:
        for m in settings.realisable_lengths:
            rows += measure(Slice(settings, name, "realisable", m, seed))
    return rows


def measure(part: Slice) -> list[dict[str, Any]]:
    """Train on every sample of the slice, then measure all rankers on one held-out sample."""
    settings, sizes = part.settings, part.settings.queries_of(part.m)
    if not sizes:
        return []
    reference = part.sample("reference", settings.reference_queries(part.m), "reference")
    held = part.sample("test", settings.held_out_queries(part.m), "held out").in_role("test")
    levels = part.queries("test", settings.held_out_queries(part.m), "held out").level
    best = _best(part)
    known = held_out.risk_of_one(part.loss, _scored_by(part, best))
    rankers = []
    repetitions = range(settings.repetitions_of(part.m))
    for repetition in progress.counted(repetitions, _LOG, f"{part.kind} samples of {part.name}, m = {part.m},"):
        whole = part.sample("train", sizes[-1], "sample", repetition)
        for n in sizes:
            rankers += _rankers(part, whole.take(np.arange(n)), reference, known.value, n, repetition)
    measured = held_out.risks(part.loss, held, np.column_stack([ranker.w for ranker in rankers]), best, levels, known)
    # A ranker that happens to be better than the one taken for the best replaces it.
    lowest = min(0.0, float(measured.difference.min()))
    return [
        {
            "loss": part.name,
            "population": part.kind,
            "m": part.m,
            "n": ranker.n,
            "repetition": ranker.repetition,
            "learner": ranker.learner,
            "empirical": ranker.empirical,
            "risk": float(measured.value[k]),
            "risk_error": float(measured.standard_error[k]),
            "excess": float(measured.difference[k]) - lowest,
            "excess_error": float(measured.difference_error[k]),
            "optimal_risk": known.value + lowest,
            "optimal_risk_error": known.standard_error,
            "certified_gap": ranker.gap_certified,
        }
        for k, ranker in enumerate(rankers)
    ]


def _best(part: Slice) -> Floats:
    # On another sample than those on which it is measured, where it would look better than it is.
    documents = part.settings.held_out_documents
    if not part.loss.convex:
        documents = min(documents, DOCUMENTS_FOR_RESTARTS)
    sample = part.sample("reference", max(2, documents // part.m), "best")
    return erm.fit(sample, part.loss, l2=0.0, radius=part.settings.radius, tol=part.settings.tol, seed=part.seed).w


def _scored_by(part: Slice, w: Floats) -> Iterator[held_out.Scored]:
    # Drawn and scored block by block: memory does not grow with the sample.
    left, block = part.settings.best_ranker_queries(part.m), max(1, DOCUMENTS_PER_BLOCK // part.m)
    rng = generator(part.seed, "lists-grid", part.kind, "best ranker", part.m, role="truth")
    while left:
        queries = part.population.draw_queries(min(block, left), rng)
        data = part.population.draw_documents(queries, part.m, rng)
        scores = data.X.astype(np.float64) @ w
        yield held_out.Scored(scores[None, :], data.y, data.offsets, queries.level)
        left -= len(queries)


def _rankers(
    part: Slice, sample: RankingData, fresh: RankingData, optimum: float, n: int, repetition: int
) -> list[Ranker]:
    settings, loss, R = part.settings, part.loss, part.population.feature_norm
    sample, fresh = sample.in_role("train"), fresh.in_role("reference")
    seed = (part.seed, "lists-grid", part.name, part.m, n, repetition)

    def ranker(learner: str, w: Floats, gap: float | None = None) -> Ranker:
        return Ranker(learner, n, repetition, w, float(held_out.losses(loss, sample, w).mean()), gap)

    least = erm.fit(sample, loss, l2=0.0, radius=settings.radius, tol=settings.tol, seed=seed)
    rankers = [ranker("erm", least.w, least.relative_gap if loss.convex else None)]
    rankers.append(ranker("worst", worst_gap.search(loss, sample, fresh, settings.radius, settings.ascent_steps)))
    if loss.convex:
        given = {"radius": settings.radius, "lipschitz": part.lipschitz, "feature_norm": R}
        l2 = list_bounds.rerm_l2(n, **given)
        steady = erm.fit(sample, loss, l2=l2, radius=settings.radius, tol=settings.tol)
        rankers.append(ranker("rerm", steady.w, steady.relative_gap))
        step = ogd.lipschitz_step(n, **given)
        rankers.append(ranker("ogd", ogd.run(sample, loss, step=step, radius=settings.radius).average))
    if loss.convex and loss.smooth:
        S = settings.radius * R
        H = R**2 * loss.smoothness(part.m, part.population.settings.y_max, score_bound=S)
        step = ogd.smooth_step(n, radius=settings.radius, smoothness=H, optimal_risk=max(optimum, 0.0))
        rankers.append(ranker("smooth-ogd", ogd.run(sample, loss, step=step, radius=settings.radius).average))
    return rankers
