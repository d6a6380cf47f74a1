"""How far apart are empirical and true risk over a grid of queries and documents, loss by loss?

`lists`, Theorems 5, 6, 9 and 17 and equation 8. A repetition draws the queries of the largest sample once; smaller
samples are its first queries, and other lists of the same queries have other documents. From every loss its
smallest value is subtracted, which is the entropy of the labels for ListNet and 0 for all others.

Risks are measured in two steps. The best ranker is fitted to another sample and measured on a very large one, which is
cheap, because it is only one ranker. All others are measured on the held-out sample together with the best one, query
by query; what this sample says of the best ranker is then replaced by what the large one says (``held_out``).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from pipeline_lib.core import progress
from pipeline_lib.core.arrays import Floats
from pipeline_lib.core.cost import Cost
from pipeline_lib.core.seeds import Axis, Role, generator
from pipeline_lib.data.ranking_data import RankingData
from pipeline_lib.data.rows import Row
from pipeline_lib.experiment import Cell, Experiment, Job, Step
from pipeline_lib.learners import erm, ogd
from pipeline_lib.papers.lists import held_out, trained
from pipeline_lib.papers.lists.grid import summary
from pipeline_lib.papers.lists.grid.settings import CellSummary, GridSettings, Measured, PowerLaw
from pipeline_lib.papers.lists.trained import Ranker
from pipeline_lib.sources.population import Population, Queries
from pipeline_lib.surrogates.base import Surrogate

# The best ranker of the ball is fitted to as many documents as the others are measured on, but to no more than these
# where the loss is not convex, since that takes several descents.
DOCUMENTS_FOR_RESTARTS = 100_000
DOCUMENTS_PER_BLOCK = 50_000
DOCUMENTS_TOGETHER = 1_000_000
"""Rankers are trained on the samples of several repetitions side by side, as long as these have no more documents."""


def measure(job: Job) -> Iterator[Measured]:
    """The rankers of one loss, for the lengths of one part: for every population, m, n, repetition and learner."""
    settings, name, part = job.settings, job.cell["loss"], int(job.cell["part"])
    slices = [("noisy", m) for m in settings.of_part(settings.lengths, part)]
    if name in settings.realisable_losses:
        slices += [("realisable", m) for m in settings.of_part(settings.realisable_lengths, part)]
    for kind, m in progress.counted(slices, "populations and lengths of lists"):
        yield from measured(Slice(settings, name, kind, m, job.seed))


def join(job: Job) -> Iterator[Row]:
    """The tables of all losses: cells and fitted powers."""
    return summary.joined(job.settings, job.rows(Measured))


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
        return self.settings.loss(self.name)

    @cached_property
    def population(self) -> Population:
        """Where samples come from."""
        return self.settings.population(self.kind)

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


def measured(part: Slice) -> Iterator[Measured]:
    """Train on every sample of the slice, then measure all rankers on one held-out sample."""
    settings, sizes = part.settings, part.settings.queries_of(part.m)
    if not sizes:
        return
    reference = part.sample("reference", settings.reference_queries(part.m, sizes[-1]), "reference")
    held = part.sample("test", settings.held_out_queries(part.m), "held out")
    levels = part.queries("test", settings.held_out_queries(part.m), "held out").level
    best = _best(part)
    known = held_out.risk_of_one(part.loss, _scored_by(part, best))
    rankers: list[tuple[int, int, Ranker]] = []
    together = max(1, DOCUMENTS_TOGETHER // (sizes[-1] * part.m))
    groups = range(0, settings.repetitions_of(part.m), together)
    for first in progress.counted(groups, f"groups of {part.kind} samples of {part.name}, m = {part.m},"):
        repetitions = range(settings.repetitions_of(part.m))[first : first + together]
        whole = [part.sample("train", sizes[-1], "sample", repetition) for repetition in repetitions]
        for n in sizes:
            samples = [one.take(np.arange(n)) for one in whole]
            fresh = reference.take(np.arange(settings.reference_queries(part.m, n)))
            trained_on = _rankers(part, samples, fresh, known.value, repetitions)
            for repetition, of_sample in zip(repetitions, trained_on, strict=True):
                rankers += [(n, repetition, ranker) for ranker in of_sample]
    found = held_out.risks(part.loss, held, np.column_stack([ranker.w for *_, ranker in rankers]), best, levels, known)
    # A ranker that happens to be better than the one taken for the best replaces it.
    lowest = min(0.0, float(found.difference.min()))
    axes: dict[str, Any] = {"loss": part.name, "population": part.kind, "m": part.m}
    for k, (n, repetition, ranker) in enumerate(rankers):
        yield Measured(
            **axes,
            n=n,
            repetition=repetition,
            learner=ranker.learner,
            empirical=ranker.empirical,
            risk=found.value[k],
            risk_error=found.standard_error[k],
            excess=found.difference[k] - lowest,
            excess_error=found.difference_error[k],
            optimal_risk=known.value + lowest,
            optimal_risk_error=known.standard_error,
            certified_gap=ranker.certified_gap,
        )


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
        yield held_out.Scored(scores[None, :], data.y, data.offsets, data.role, queries.level)
        left -= len(queries)


def _rankers(
    part: Slice, samples: Sequence[RankingData], fresh: RankingData, optimum: float, repetitions: Sequence[int]
) -> list[list[Ranker]]:
    loss, radius, R, n = part.loss, part.settings.radius, part.population.feature_norm, samples[0].n_queries
    shape: dict[str, Any] = {"radius": radius, "feature_norm": R, "lipschitz": part.lipschitz}
    seeds = [(part.seed, "lists-grid", part.name, part.m, n, repetition) for repetition in repetitions]
    found = trained.rankers(loss, samples, fresh, part.settings, **shape, seeds=seeds)
    if loss.convex and loss.smooth:
        H = R**2 * loss.smoothness(part.m, part.population.settings.y_max, score_bound=radius * R)
        step = ogd.smooth_step(n, radius=radius, smoothness=H, optimal_risk=max(optimum, 0.0))
        descents = trained.descents("smooth-ogd", loss, samples, step, radius)
        found = [[*of_sample, one] for of_sample, one in zip(found, descents, strict=True)]
    return found


def _measuring_seconds(settings: GridSettings, cell: Cell) -> float:
    evaluated = 0
    for m in settings.of_part(settings.lengths, int(cell["part"])):
        sizes, held = settings.queries_of(m), settings.held_out_queries(m) * m
        # By searches on the reference sample, by five learners on held-out queries, and in fits.
        searched = settings.ascent_steps * sum(settings.reference_queries(m, n) * m for n in sizes)
        evaluated += settings.repetitions_of(m) * (searched + 5 * held * len(sizes) + 100 * m * sum(sizes))
        evaluated += 8 * settings.best_ranker_documents
    return 2.5e-8 * evaluated


def _surrogates(settings: GridSettings) -> list[str]:
    return [loss.surrogate for loss in settings.losses]


EXPERIMENT = Experiment(
    GridSettings,
    Step(
        "grid",
        measure,
        rows=(Measured,),
        divided={
            "loss": lambda settings: [loss.name for loss in settings.losses],
            "part": lambda settings: range(settings.parts),
        },
        surrogates=_surrogates,
        cost=Cost(2.0, start_mb=900.0),
        seconds=_measuring_seconds,
        megabytes=lambda settings: (
            6e-4 * max((n * m for m in settings.lengths for n in settings.queries_of(m)), default=0)
        ),
    ),
    Step("summary", join, reads=(Measured,), rows=(CellSummary, PowerLaw), surrogates=_surrogates, cost=Cost(1.0)),
)
