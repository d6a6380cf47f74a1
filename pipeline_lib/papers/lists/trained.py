"""Which rankers of a ball do the experiments of `lists` train on a sample?

The minimiser of the empirical risk, the ranker with the worst gap that a search finds, and for convex losses in the
Euclidean ball those of Theorems 5 and 6: regularised minimiser and online gradient descent.

The worst gap, sup over ||w|| <= W of L(w) - Lhat(w) with ||w|| either ||w||_2 or ||w||_1, is what uniform bounds bound.
It is sought from below by Frank and Wolfe's steps uphill, with the mean over a reference sample in place of L. How
large the gap of this ranker is in truth is measured on a third sample, so that fitting the noise of the reference
sample does not count.
"""

from collections.abc import Callable, Sequence
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
from pipeline_lib.surrogates.base import Surrogate


class TrainingSettings(Settings):
    """What every experiment needs that measures the gaps of trained rankers."""

    tol: Positive = Field(1e-4, le=0.1, description="certified relative gap of the objective of minimisers")
    ascent_steps: Whole = Field(10, description="steps in the search for the worst gap")
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
    samples: Sequence[RankingData],
    reference: RankingData,
    settings: TrainingSettings,
    *,
    radius: float,
    seeds: Sequence[Seed],
    lipschitz: float = 0.0,
    feature_norm: float = 1.0,
    ball: Ball = "l2",
) -> list[list[Ranker]]:
    """``erm``, ``worst``, and for convex losses in the l2 ball ``rerm`` and ``ogd``, which need G as ``lipschitz``.

    One list of rankers for each sample. All samples have the same number of queries; each has its own seed.
    """
    found: list[list[Ranker]] = []
    for sample, seed in zip(samples, seeds, strict=True):
        least = erm.fit(sample, loss, l2=0.0, radius=radius, ball=ball, tol=settings.tol, seed=seed)
        found.append([measured("erm", least.w, loss, sample, least.relative_gap if loss.convex else None)])
    worst = worst_gaps(loss, samples, reference.in_role("reference"), radius, settings.ascent_steps, ball)
    for sample, of_sample, w in zip(samples, found, worst, strict=True):
        of_sample.append(measured("worst", w, loss, sample))
    if not loss.convex or ball != "l2":
        return found
    n = samples[0].n_queries
    l2 = erm.lipschitz_l2(n, radius=radius, lipschitz=lipschitz, feature_norm=feature_norm)
    step = ogd.lipschitz_step(n, radius=radius, lipschitz=lipschitz, feature_norm=feature_norm)
    for sample, of_sample, descended in zip(samples, found, descents("ogd", loss, samples, step, radius), strict=True):
        steady = erm.fit(sample, loss, l2=l2, radius=radius, tol=settings.tol)
        of_sample += [measured("rerm", steady.w, loss, sample, steady.relative_gap), descended]
    return found


def descents(learner: str, loss: Surrogate, samples: Sequence[RankingData], step: float, radius: float) -> list[Ranker]:
    """The mean iterate of online gradient descent on each of the samples, which all have the same number of queries."""
    X, y, sizes = (
        np.concatenate([getattr(one, name) for one in samples]) for name in ("X", "y", "documents_per_query")
    )
    orders = np.arange(len(sizes)).reshape(len(samples), -1)
    runs = ogd.runs(RankingData.from_groups(X, y, sizes), loss, step=step, orders=orders, radius=radius)
    return [measured(learner, run.average, loss, sample) for run, sample in zip(runs, samples, strict=True)]


def worst_gaps(
    loss: Surrogate,
    samples: Sequence[RankingData],
    reference: RankingData,
    radius: float,
    steps: int,
    ball: Ball = "l2",
) -> Floats:
    """For each of k samples, the ranker with the largest gap among ``steps`` points of the ball; shape (k, d).

    The gap of w is its mean loss on ``reference`` less that on the sample. The points are w_1 = 0 and w_(t+1) = w_t +
    2/(t + 1) (v_t - w_t), where g is the gradient of the gap at w_t and v_t the point of the ball ||w|| <= radius with
    the largest <g, v>: radius g/||g||_2, or in the l1 ball its corner radius sign(g_j) e_j for the largest |g_j|.

    Parameters
    ----------
    loss : Surrogate
    samples : k RankingData
        Their means are Lhat; at least one query each.
    reference : RankingData
        Its mean stands for L; at least one query.
    radius : float > 0
    steps : int >= 1
    ball : "l2" or "l1"
        Which norm the radius speaks of.

    Example
    -------
    >>> from pipeline_lib import surrogates
    >>> right, wrong = (RankingData.from_arrays([[0.0], [1.0]], y, [1, 1]) for y in ([0, 1], [1, 0]))
    >>> worst_gaps(surrogates.create("listnet"), [right, wrong], wrong, 1.0, 3)
    array([[1.],
           [0.]])
    >>> right, wrong = (RankingData.from_arrays([[0.0, 0.0], [1.0, 0.5]], y, [1, 1]) for y in ([0, 1], [1, 0]))
    >>> worst_gaps(surrogates.create("listnet"), [right], wrong, 1.0, 3, "l1")
    array([[1., 0.]])
    """
    W = np.zeros((len(samples), reference.n_features))
    best, highest = W.copy(), np.full(len(samples), -np.inf)
    on_reference, on_samples = _means(loss, reference), [_means(loss, sample) for sample in samples]
    for t in range(steps):
        # All searches begin at 0.
        there, uphill = on_reference(W if t else W[:1])
        here, downhill = map(np.concatenate, zip(*(one(W[k : k + 1]) for k, one in enumerate(on_samples)), strict=True))
        above = there - here > highest
        best[above], highest[above] = W[above], (there - here)[above]
        for w, slope in zip(W, downhill - uphill, strict=True):
            furthest = lowest(slope, 0.0, radius, ball)
            if furthest is not None:
                w += 2.0 / (t + 2.0) * (furthest - w)
    return best


def _means(loss: Surrogate, data: RankingData) -> Callable[[Floats], tuple[Floats, Floats]]:
    # From k rankers, shape (k, d), to their mean losses, shape (k,), and the gradients of these, shape (k, d).
    blocks = [
        (data.X64[block.rows], loss.on(data.y[block.rows], block.offsets)) for block in held_out.blocks_of(data.offsets)
    ]

    def at(W: Floats) -> tuple[Floats, Floats]:
        values, slopes = np.zeros(len(W)), np.zeros(W.shape)
        for X, evaluated in blocks:
            of_queries, gradients = zip(*map(evaluated, W @ X.T), strict=True)
            values += np.sum(of_queries, axis=1)
            slopes += np.asarray(gradients) @ X
        return values / data.n_queries, slopes / data.n_queries

    return at
