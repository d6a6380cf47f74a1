"""How large are the Rademacher averages in the bounds of `lists`?

For linear scores the supremum over signs is a length, and the average is a plain Monte Carlo mean. For losses of them,

    (1/n) E sup over w of  sum_i sigma_i phi(X_i w, y_i),

the supremum is not known; ascent for each draw of signs gives a lower estimate, conditional on the sample.
"""

import math
from dataclasses import dataclass

import numpy as np

from pipeline_lib import surrogates
from pipeline_lib.core import seeds
from pipeline_lib.core.arrays import Floats
from pipeline_lib.core.checks import Count, Positive, Several, checked
from pipeline_lib.core.errors import DataError
from pipeline_lib.core.seeds import Axis
from pipeline_lib.data.ranking_data import RankingData
from pipeline_lib.learners.balls import Ball, lowest
from pipeline_lib.surrogates.base import Surrogate

Seed = int | tuple[Axis, ...]
SIGNS_PER_BLOCK = 2**20


@dataclass(frozen=True)
class Estimate:
    """A Monte Carlo mean with its standard error."""

    estimate: float
    standard_error: float


@checked
def linear(data: RankingData, radius: Positive, draws: Several, seed: Seed, ball: Ball = "l2") -> Estimate:
    """(1/n) E sup over ||w|| <= radius of sum_ij sigma_ij <w, x_ij>, with one sign per document and n queries.

    For given signs the supremum is radius ||sum_ij sigma_ij x_ij|| in the dual norm: l2, or the maximum norm for the l1
    ball. With one document per query it is the ordinary average of a linear class on n points.

    Parameters
    ----------
    data : RankingData
        At least one query.
    radius : float > 0
    draws : int >= 2
        Draws of all signs.
    seed : int or axes of a seed
    ball : "l2" or "l1"

    Raises
    ------
    DataError
        When an argument is out of range.

    Example
    -------
    >>> linear(RankingData.from_arrays([[3.0, 4.0]], [0], [1]), 2.0, 10, 0)
    Estimate(estimate=10.0, standard_error=0.0)
    """
    _check(data)
    lengths = _signed_sums(data.X64, draws, _generator(seed), 2 if ball == "l2" else np.inf)
    return _estimate(radius / data.n_queries * lengths)


@checked
def composite(
    data: RankingData,
    surrogate: str | Surrogate,
    radius: Positive,
    draws: Several,
    seed: Seed,
    *,
    ball: Ball = "l2",
    steps: Count = 30,
    largest_risk: float | None = None,
) -> Estimate:
    """A lower estimate of (1/n) E sup over ||w|| <= radius of sum_i sigma_i phi(X_i w, y_i), by ascent.

    For every draw of signs, Frank-Wolfe steps of ascent start at w = 0 and at a random point of the ball, and the best
    point that occurs is used. The choice of starts and the number of steps can only make the estimate too small. The
    value of the sum at w = 0 is subtracted: its mean is 0, and the draws vary less without it.

    Parameters
    ----------
    data, radius, draws, seed, ball
        As in :func:`linear`, but with one sign per query.
    surrogate : str or Surrogate
    steps : int >= 1
        Number of steps of each ascent.
    largest_risk : float, optional
        Only points with at most this mean loss are used: the class of Corollary 16.

    Raises
    ------
    DataError
        When an argument is out of range, or w = 0 is not in the class of ``largest_risk``.

    Example
    -------
    >>> data = RankingData.from_arrays([[0.0], [1.0]], [0, 1], [1, 1])
    >>> composite(data, "ranksvm", 1.0, 10, 0)                      # (sup phi - inf phi) / 2 = (2 - 0) / 2
    Estimate(estimate=1.0, standard_error=0.0)
    """
    _check(data)
    loss = surrogates.create(surrogate) if isinstance(surrogate, str) else surrogate
    rng = _generator(seed)
    at_zero = loss.unchecked(np.zeros(data.n_documents), data.y, data.offsets)[0]
    if largest_risk is not None and float(at_zero.mean()) > largest_risk:
        raise DataError(
            f"largest_risk: expected at least {at_zero.mean()}, the mean loss of w = 0, found {largest_risk}"
        )
    suprema = []
    for _ in range(draws):
        signs = np.where(rng.integers(0, 2, data.n_queries) == 1, 1.0, -1.0)
        direction = rng.normal(size=data.n_features)
        starts = (np.zeros(data.n_features), _corner(direction, radius, ball))
        reached = [_ascend(data, loss, signs, start, radius, ball, steps, largest_risk) for start in starts]
        suprema.append(max(0.0, *(value - float(signs @ at_zero) / data.n_queries for value in reached)))
    return _estimate(np.array(suprema))


def _ascend(
    data: RankingData,
    loss: Surrogate,
    signs: Floats,
    w: Floats,
    radius: float,
    ball: Ball,
    steps: int,
    largest_risk: float | None,
) -> float:
    X, each = data.X64, np.repeat(signs, data.documents_per_query)
    best = -math.inf
    for k in range(steps):
        values, gradient = loss.unchecked(X @ w, data.y, data.offsets)
        if largest_risk is None or float(values.mean()) <= largest_risk:
            best = max(best, float(signs @ values) / data.n_queries)
        slope = (each * gradient) @ X
        w = w + 2.0 / (k + 2.0) * (_corner(slope, radius, ball) - w)
    return best


def _corner(slope: Floats, radius: float, ball: Ball) -> Floats:
    # The point of the ball furthest along the slope.
    furthest = lowest(-slope, 0.0, radius, ball)
    return np.zeros_like(slope) if furthest is None else furthest


def _estimate(draws: Floats) -> Estimate:
    return Estimate(float(draws.mean()), float(draws.std(ddof=1) / math.sqrt(len(draws))))


def _signed_sums(vectors: Floats, draws: int, rng: np.random.Generator, order: float = 2) -> Floats:
    # The lengths of sums of the rows with random signs, shape (draws,).
    block = max(1, SIGNS_PER_BLOCK // len(vectors))
    lengths = []
    for start in range(0, draws, block):
        signs = 2.0 * rng.integers(0, 2, (min(block, draws - start), len(vectors))) - 1.0
        lengths.append(np.linalg.norm(signs @ vectors, order, axis=1))
    return np.concatenate(lengths)


def _generator(seed: Seed) -> np.random.Generator:
    axes = seed if isinstance(seed, tuple) else (seed,)
    return seeds.generator(*axes, "rademacher")


def _check(data: RankingData) -> None:
    if not data.n_queries:
        raise DataError("data: expected at least one query, found none")
