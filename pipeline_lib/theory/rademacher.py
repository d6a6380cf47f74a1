"""How large are the Rademacher averages in the bounds of `lists`?

For linear scores the supremum over signs is a length, and the average is a plain Monte Carlo mean. For losses of them,

    (1/n) E sup over w of  sum_i sigma_i phi(X_i w, y_i),

the supremum is not known; ascent for each draw of signs gives a lower estimate, conditional on the sample.
"""

import math
from dataclasses import dataclass

import numpy as np

from pipeline_lib.core.arrays import Floats
from pipeline_lib.core.checks import Positive, Several, checked
from pipeline_lib.core.errors import DataError
from pipeline_lib.core.seeds import Axis, generator
from pipeline_lib.data.ranking_data import RankingData
from pipeline_lib.learners.balls import Ball
from pipeline_lib.learners.ranker import axes_of

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
    if not data.n_queries:
        raise DataError("data: expected at least one query, found none")
    rng = generator(*axes_of(seed), "rademacher")
    lengths = _signed_sums(data.X64, draws, rng, 2 if ball == "l2" else np.inf)
    return _estimate(radius / data.n_queries * lengths)


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
