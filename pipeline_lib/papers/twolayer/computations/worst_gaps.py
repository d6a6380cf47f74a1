"""How large is the gap of the worst ranker of the class, of which Theorem 1 speaks, and not only of the trained one?

`twolayer`, Theorem 1, holds for all rankers ||w|| <= W at once. For every sample, ascent of R(w) - R_t(w) by projected
steps starts at the trained ranker, at its opposite, and at random rankers. In the search the expected risk R is that of
one pool of queries. The gap of the best ranker that occurs is then measured on another pool, so that the search gains
nothing from the errors of the first: the result is a lower estimate of the supremum.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pipeline_lib import progress
from pipeline_lib.arrays import Floats
from pipeline_lib.papers.twolayer.computations import risks
from pipeline_lib.papers.twolayer.computations.complexities import Complexities
from pipeline_lib.papers.twolayer.computations.intervals import columns, mean_interval
from pipeline_lib.ranking_data import RankingData
from pipeline_lib.seeds import Role, generator
from pipeline_lib.sources.population import Population, PopulationSettings
from pipeline_lib.theory import pair_losses
from pipeline_lib.theory.pair_losses import PairLoss

if TYPE_CHECKING:
    from pipeline_lib.papers.twolayer.experiments.gaps import GapsSettings

_LOG = logging.getLogger(__name__)

# The first step is so long, in units of the radius; step t is shorter by a factor of 1 / (1 + t / SHRINKING).
FIRST_STEP = 0.5
SHRINKING = 5.0


@dataclass(frozen=True)
class Pairs:
    """Pairs of documents with different labels: differences, shape (P, d), and what each contributes to a risk."""

    differences: Floats
    weights: Floats

    @classmethod
    def of_sample(cls, data: RankingData) -> Pairs:
        """All pairs of all queries, which have the same number of documents."""
        n, m = data.n_queries, int(data.documents_per_query[0])
        first, second = np.triu_indices(m, 1)
        x, y = data.X64.reshape(n, m, -1), data.y.reshape(n, m).astype(np.float64)
        signs = np.sign(y[:, first] - y[:, second])
        differences = (signs[..., None] * (x[:, first] - x[:, second])).reshape(-1, x.shape[2])
        return cls.weighted(differences, len(differences))

    @classmethod
    def weighted(cls, differences: Floats, size: int) -> Pairs:
        """Pairs of which each counts 1/size; those of equal labels, which no ranker changes, are left out."""
        different = differences[differences.any(axis=1)]
        return cls(different, np.full(len(different), 1.0 / size))

    def risk(self, loss: PairLoss, w: Floats) -> tuple[float, Floats]:
        """The part of the risk that depends on w, and its gradient."""
        t = -(self.differences @ w)
        value = float(self.weights @ loss.of_difference(t))
        return value, -(self.weights * loss.derivative(t)) @ self.differences


def run(settings: GapsSettings, seed: int) -> list[dict[str, Any]]:
    """For every loss and sample size: the gaps of the trained and of the worst ranker, and the bound."""
    population = Population(PopulationSettings.from_mapping(settings.population))
    complexities = Complexities(settings, population, seed)
    searched, measured = (
        risks.Pool.of(population.draw(queries, generator(seed, "twolayer-worst-gaps", name, role=role), 2))
        for name, role, queries in _pools(settings)
    )
    m, rows = settings.searched_documents, []
    for loss in map(pair_losses.get, settings.losses):
        expected = Pairs.weighted(searched.differences, searched.size)
        for n in settings.searched_queries:
            found = _of_size(settings, population, loss, (expected, measured), n, seed)
            gaps, errors = np.array([one[:2] for one in found]), max(one[2] for one in found)
            bound = complexities.bound(loss.name, n, m)
            rows.append(
                {
                    "loss": loss.name,
                    "queries": n,
                    "documents": m,
                    "repetitions": settings.repetitions,
                    **columns("gap", mean_interval(gaps[:, 0])),
                    **columns("worst", mean_interval(gaps[:, 1])),
                    "gap_largest": float(gaps[:, 0].max()),
                    "worst_largest": float(gaps[:, 1].max()),
                    "risk_error": errors,
                    "query_complexity": bound.query_complexity,
                    "query_concentration": bound.query_concentration,
                    "document_complexity": bound.document_complexity,
                    "document_concentration": bound.document_concentration,
                    "bound": bound.total,
                    "largest_loss": complexities.largest(loss.name),
                }
            )
    return rows


def _pools(settings: GapsSettings) -> tuple[tuple[str, Role, int], ...]:
    return ("search", "reference", settings.search_queries), ("measure", "truth", settings.risk_queries)


def _of_size(
    settings: GapsSettings, population: Population, loss: PairLoss, pools: tuple[Pairs, risks.Pool], n: int, seed: int
) -> list[tuple[float, float, float]]:
    """For every repetition the gaps of the trained and of the worst ranker, and the largest error of their risks."""
    found = []
    expected, measured = pools
    for repetition in progress.counted(range(settings.repetitions), _LOG, f"searches, {loss.name}, n = {n},"):
        rng = generator(seed, "twolayer-worst-gaps", n, repetition, role="train")
        data = population.draw(n, rng, settings.searched_documents).in_role("train")
        trained, _ = risks.fitted(data, loss, settings.radius)
        worst = search(settings, loss, expected, Pairs.of_sample(data), trained, rng)
        weights = [trained, worst]
        values, errors = measured.risk(loss, np.column_stack(weights))
        gaps = [value - risks.empirical(data, loss, w) for value, w in zip(values, weights, strict=True)]
        # The search may end below its start on the other pool: the supremum is at least the gap of the trained ranker.
        found.append((float(gaps[0]), float(max(gaps)), float(errors.max())))
    return found


def search(
    settings: GapsSettings, loss: PairLoss, expected: Pairs, sample: Pairs, trained: Floats, rng: np.random.Generator
) -> Floats:
    """The ranker of the largest difference between two risks that ascent from all starts comes across."""
    directions = rng.normal(size=(settings.searches, len(trained)))
    corners = settings.radius * directions / np.linalg.norm(directions, axis=1)[:, None]
    starts: Sequence[Floats] = [trained, -trained, *corners]
    found = [_ascend(loss, expected, sample, start, settings.radius, settings.steps) for start in starts]
    return max(found, key=lambda one: one[0])[1]


def _ascend(
    loss: PairLoss, expected: Pairs, sample: Pairs, w: Floats, radius: float, steps: int
) -> tuple[float, Floats]:
    best, where = -np.inf, w
    for step in range(steps):
        (risk, slope), (training, training_slope) = expected.risk(loss, w), sample.risk(loss, w)
        if risk - training > best:
            best, where = risk - training, w
        direction = slope - training_slope
        size = float(np.linalg.norm(direction))
        if size == 0.0:
            break
        w = w + radius * FIRST_STEP / (1.0 + step / SHRINKING) / size * direction
        w = w * min(1.0, radius / float(np.linalg.norm(w)))
    return best, where
