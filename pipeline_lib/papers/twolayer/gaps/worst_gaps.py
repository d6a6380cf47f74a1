"""How large is the gap of the worst ranker of the class, of which Theorem 1 speaks, and not only of the trained one?

`twolayer`, Theorem 1, holds for all rankers ||w|| <= W at once. For every sample, ascent of R(w) - R_t(w) by projected
steps starts at the trained ranker, at its opposite, and at random rankers. In the search the expected risk R is that of
one pool of queries. The gap of the best ranker that occurs is then measured on another pool, so that the search gains
nothing from the errors of the first: the result is a lower estimate of the supremum.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pipeline_lib.core.arrays import Floats
from pipeline_lib.data.ranking_data import RankingData
from pipeline_lib.papers.twolayer import risks
from pipeline_lib.theory.pair_losses import PairLoss

# The first step is so long, in units of the radius; step t is shorter by a factor of 1 / (1 + t / SHRINKING).
FIRST_STEP = 0.5
SHRINKING = 5.0


@dataclass(frozen=True)
class Pairs:
    """Pairs of documents with different labels: differences, shape (P, d), and what each contributes to a risk."""

    differences: Floats
    weights: Floats

    @classmethod
    def of_sample(cls, data: RankingData) -> "Pairs":
        """All pairs of all queries, which have the same number of documents."""
        differences = risks.all_pairs(data)
        differences = differences.reshape(-1, differences.shape[2])
        return cls.weighted(differences, len(differences))

    @classmethod
    def weighted(cls, differences: Floats, size: int) -> "Pairs":
        """Pairs of which each counts 1/size; those of equal labels, which no ranker changes, are left out."""
        different = differences[differences.any(axis=1)]
        return cls(different, np.full(len(different), 1.0 / size))

    def risk(self, loss: PairLoss, w: Floats) -> tuple[float, Floats]:
        """The part of the risk that depends on w, and its gradient."""
        t = -(self.differences @ w)
        value = float(self.weights @ loss.of_difference(t))
        return value, -(self.weights * loss.derivative(t)) @ self.differences


def starts(trained: Floats, radius: float, searches: int, rng: np.random.Generator) -> list[Floats]:
    """Where ascent begins: at the trained ranker, at its opposite, and at ``searches`` rankers of random directions."""
    directions = rng.normal(size=(searches, len(trained)))
    corners = radius * directions / np.linalg.norm(directions, axis=1)[:, None]
    return [trained, -trained, *corners]


def search(
    loss: PairLoss, expected: Pairs, sample: Pairs, starts: Sequence[Floats], radius: float, steps: int
) -> Floats:
    """The ranker of the largest difference between two risks that ascent from all starts comes across."""
    best, where = -np.inf, starts[0]
    for w in starts:
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
    return where


def measured(
    data: RankingData, loss: PairLoss, pool: risks.Pool, trained: Floats, worst: Floats
) -> tuple[float, float, float]:
    """The gaps of the trained and of the worst ranker on a sample, and the larger standard error of their risks."""
    values, errors = pool.risk(loss, np.column_stack([trained, worst]))
    gap, other = (value - risks.empirical(data, loss, w) for value, w in zip(values, (trained, worst), strict=True))
    # The search may end below its start on the other pool: the supremum is at least the gap of the trained ranker.
    return gap, max(gap, other), errors.max()
