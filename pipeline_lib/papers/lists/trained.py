"""Which rankers of a ball do the experiments of `lists` train on a sample?

The minimiser of the empirical risk, the ranker with the worst gap that a search finds, and for convex losses in the
Euclidean ball those of Theorems 5 and 6: regularised minimiser and online gradient descent.

The worst gap, sup over ||w|| <= W of L(w) - Lhat(w) with ||w|| either ||w||_2 or ||w||_1, is what uniform bounds bound.
It is sought from below by Frank and Wolfe's steps uphill, with the mean over a reference sample in place of L. How
large the gap of this ranker is in truth is measured on a third sample, so that fitting the noise of the reference
sample does not count.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from pipeline_lib.core.arrays import Floats
from pipeline_lib.core.checks import Seed
from pipeline_lib.core.settings import Positive, Probability, Settings, Whole
from pipeline_lib.data.ranking_data import RankingData
from pipeline_lib.data.rows import Field
from pipeline_lib.learners import erm, ogd
from pipeline_lib.learners.balls import Ball, lowest
from pipeline_lib.papers.lists import held_out
from pipeline_lib.surrogates.base import Evaluation, Surrogate
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
    yield measured("worst", worst_gap(loss, sample, fresh, radius, settings.ascent_steps, ball), loss, sample)
    if loss.convex and ball == "l2":
        given = {"radius": radius, "lipschitz": lipschitz, "feature_norm": feature_norm}
        steady = erm.fit(sample, loss, l2=list_bounds.rerm_l2(n, **given), radius=radius, tol=settings.tol)
        yield measured("rerm", steady.w, loss, sample, steady.relative_gap)
        average = ogd.run(sample, loss, step=ogd.lipschitz_step(n, **given), radius=radius).average
        yield measured("ogd", average, loss, sample)


def worst_gap(
    loss: Surrogate, sample: RankingData, reference: RankingData, radius: float, steps: int, ball: Ball = "l2"
) -> Floats:
    """The best of ``steps`` points of the ball ||w|| <= radius by mean loss on ``reference`` less that on ``sample``.

    w_1 = 0, w_(k+1) = w_k + 2/(k + 1) (v_k - w_k), g the gradient of the difference at w_k and v_k the point of the
    ball where <g, v> is largest: radius g/||g||_2, or in the l1 ball its corner radius sign(g_j) e_j for the largest
    |g_j|.

    Parameters
    ----------
    loss : Surrogate
    sample, reference : RankingData
        Whose means stand for Lhat and L; at least one query each.
    radius : float > 0
    steps : int >= 1
    ball : "l2" or "l1"
        Which norm the radius speaks of.

    Example
    -------
    >>> from pipeline_lib import surrogates
    >>> right, wrong = (RankingData.from_arrays([[0.0], [1.0]], y, [1, 1]) for y in ([0, 1], [1, 0]))
    >>> worst_gap(surrogates.create("listnet"), right, wrong, 1.0, 3)
    array([1.])
    >>> right, wrong = (RankingData.from_arrays([[0.0, 0.0], [1.0, 0.5]], y, [1, 1]) for y in ([0, 1], [1, 0]))
    >>> worst_gap(surrogates.create("listnet"), right, wrong, 1.0, 3, "l1")
    array([1., 0.])
    """
    w = np.zeros(sample.n_features)
    best, highest = w, -np.inf
    on_reference, on_sample = (loss.on(data.y, data.offsets) for data in (reference, sample))
    for k in range(steps):
        there, uphill = _mean(on_reference, reference, w)
        here, downhill = _mean(on_sample, sample, w)
        if there - here > highest:
            best, highest = w, there - here
        furthest = lowest(downhill - uphill, 0.0, radius, ball)
        if furthest is None:
            break
        w = w + 2.0 / (k + 2.0) * (furthest - w)
    return best


def _mean(evaluated: Evaluation, data: RankingData, w: Floats) -> tuple[float, Floats]:
    values, gradient = evaluated(data.X64 @ w)
    return float(values.mean()), np.asarray(gradient @ data.X64) / data.n_queries
