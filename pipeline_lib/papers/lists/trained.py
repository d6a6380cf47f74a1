"""Which rankers of a ball do the experiments of `lists` train on a sample?

The minimiser of the empirical risk, the ranker with the worst gap that a search finds (``worst_gap``), and for
convex losses in the Euclidean ball those of Theorems 5 and 6: regularised minimiser and online gradient descent.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from pipeline_lib.core.arrays import Floats
from pipeline_lib.core.checks import Seed
from pipeline_lib.core.settings import Positive, Probability, Settings, Whole
from pipeline_lib.data.ranking_data import RankingData
from pipeline_lib.data.rows import Field
from pipeline_lib.learners import erm, ogd
from pipeline_lib.learners.balls import Ball
from pipeline_lib.papers.lists import held_out, worst_gap
from pipeline_lib.surrogates.base import Surrogate
from pipeline_lib.theory import list_bounds


class TrainingSettings(Settings):
    """What every experiment needs that measures the gaps of trained rankers."""

    tol: Positive = Field(
        1e-4, le=0.1, description="certified relative gap between the objective of minimisers and its minimum"
    )
    ascent_steps: Whole = Field(10, description="number of steps in the search for the worst gap")
    delta: Probability = Field(0.05, description="bounds hold with probability 1 - delta")


@dataclass(frozen=True, eq=False)
class Ranker:
    """Weights, their empirical risk above the smallest possible one, and the certified relative gap of minimisers."""

    learner: str
    w: Floats
    empirical: float
    certified_gap: float | None = None


def measured(learner: str, w: Floats, loss: Surrogate, sample: RankingData, gap: float | None = None) -> Ranker:
    """A ranker with its risk on the sample that it was trained on."""
    return Ranker(learner, w, float(held_out.losses(loss, sample.in_role("train"), w).mean()), gap)


def rankers(
    loss: Surrogate,
    sample: RankingData,
    reference: RankingData,
    settings: TrainingSettings,
    *,
    radius: float,
    lipschitz: float = 0.0,
    feature_norm: float = 1.0,
    ball: Ball = "l2",
    seed: Seed = 0,
) -> Iterator[Ranker]:
    """``erm``, ``worst``, and for convex losses in the l2 ball ``rerm`` and ``ogd``, which need G as ``lipschitz``."""
    n = sample.n_queries
    least = erm.fit(sample, loss, l2=0.0, radius=radius, ball=ball, tol=settings.tol, seed=seed)
    yield measured("erm", least.w, loss, sample, least.relative_gap if loss.convex else None)
    fresh = reference.in_role("reference")
    yield measured("worst", worst_gap.search(loss, sample, fresh, radius, settings.ascent_steps, ball), loss, sample)
    if loss.convex and ball == "l2":
        given = {"radius": radius, "lipschitz": lipschitz, "feature_norm": feature_norm}
        steady = erm.fit(sample, loss, l2=list_bounds.rerm_l2(n, **given), radius=radius, tol=settings.tol)
        yield measured("rerm", steady.w, loss, sample, steady.relative_gap)
        average = ogd.run(sample, loss, step=ogd.lipschitz_step(n, **given), radius=radius).average
        yield measured("ogd", average, loss, sample)
