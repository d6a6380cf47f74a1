"""Which ranker of a ball looks best on a sample for how bad it is on fresh queries?

    sup over ||w|| <= W of L(w) - Lhat(w),    ||w|| either ||w||_2 or ||w||_1,

the quantity that uniform bounds bound, from below: Frank and Wolfe's steps uphill, with the mean over a reference
sample in place of L. How large the gap of this ranker is in truth is measured on a third sample, so that
fitting the noise of the reference sample does not count.
"""

import numpy as np

from pipeline_lib.core.arrays import Floats
from pipeline_lib.data.ranking_data import RankingData
from pipeline_lib.learners.balls import Ball, lowest
from pipeline_lib.surrogates.base import Surrogate


def search(
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
    >>> search(surrogates.create("listnet"), right, wrong, 1.0, 3)
    array([1.])
    >>> right, wrong = (RankingData.from_arrays([[0.0, 0.0], [1.0, 0.5]], y, [1, 1]) for y in ([0, 1], [1, 0]))
    >>> search(surrogates.create("listnet"), right, wrong, 1.0, 3, "l1")
    array([1., 0.])
    """
    w = np.zeros(sample.n_features)
    best, highest = w, -np.inf
    for k in range(steps):
        there, uphill = _mean(loss, reference, w)
        here, on_sample = _mean(loss, sample, w)
        if there - here > highest:
            best, highest = w, there - here
        furthest = lowest(on_sample - uphill, 0.0, radius, ball)
        if furthest is None:
            break
        w = w + 2.0 / (k + 2.0) * (furthest - w)
    return best


def _mean(loss: Surrogate, data: RankingData, w: Floats) -> tuple[float, Floats]:
    values, gradient = loss.unchecked(data.X64 @ w, data.y, data.offsets)
    return float(values.mean()), np.asarray(gradient @ data.X64) / data.n_queries
