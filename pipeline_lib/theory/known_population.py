"""How large are gaps and Rademacher averages where the population is known: the queries of a data set?

The queries of a data set are taken as the whole population, each with the same probability, and a sample of n queries
is drawn from them with replacement. Bounds for independent queries hold for this population as for any other. A sample
is the number c_q of copies of every query, so that all quantities of a proof are sums over the Q queries:

    L(w) = (1/Q) sum_q phi_q(w),     Lhat(w) = (1/n) sum_q c_q phi_q(w),     (1/n) sum_q k_q phi_q(w),

the last with k_q = the sum of the c_q signs of a Rademacher average. None of them costs more with larger n, and true
risks have no error. The supremum of such a sum over a ball is searched for by Frank and Wolfe's steps uphill, followed
by steps all the way to the point of the ball furthest along the gradient. What is found is a lower bound of it.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from pipeline_lib.core.arrays import Floats
from pipeline_lib.core.errors import DataError
from pipeline_lib.data.ranking_data import RankingData, Standardisation
from pipeline_lib.learners import erm
from pipeline_lib.learners.balls import Ball, lowest
from pipeline_lib.surrogates.base import Evaluation, Surrogate

__all__: list[str] = []  # internal: the experiments hand in what they have checked

Counts = NDArray[np.int64]
FULL_STEPS = 4
"""Steps all the way to the furthest point, after those of Frank and Wolfe."""


def scaled(data: RankingData) -> RankingData:
    """Standardised features, divided by the largest length of a document's vector, so that R_X = 1.

    Raises
    ------
    DataError
        When all features are constant.

    Example
    -------
    >>> data = RankingData.from_arrays([[0.0], [1.0], [5.0]], [0, 1, 1], [1, 1, 2])
    >>> float(np.abs(scaled(data).X).max())
    1.0
    """
    standard = Standardisation.of(data).apply(data)
    longest = float(np.sqrt(np.max(np.einsum("ij,ij->i", standard.X64, standard.X64))))
    if longest == 0.0:
        raise DataError("data: expected a feature that is not constant, found none")
    return RankingData(standard.X / np.float32(longest), standard.y, standard.offsets, standard.qids)


@dataclass(frozen=True, eq=False)
class KnownPopulation:
    """The queries of ``data`` as a population, with a loss less its smallest value and the ball ||w|| <= radius."""

    data: RankingData
    loss: Surrogate
    radius: float
    ball: Ball = "l2"

    @cached_property
    def least(self) -> Floats:
        """The smallest value of the loss for every query, shape (Q,)."""
        return self.loss.least(self.data.y, self.data.offsets)

    @cached_property
    def _evaluated(self) -> Evaluation:
        return self.loss.on(self.data.y, self.data.offsets)

    def losses(self, w: Floats) -> Floats:
        """phi_q(w) less its smallest value, shape (Q,)."""
        return self._evaluated(self.data.X64 @ w)[0] - self.least

    def sample(self, n: int, rng: np.random.Generator) -> Counts:
        """How often each query is drawn, shape (Q,)."""
        return rng.multinomial(n, np.full(self.data.n_queries, 1.0 / self.data.n_queries))

    def signed(self, counts: Counts, rng: np.random.Generator) -> Floats:
        """The sum of the random signs of each query's copies, shape (Q,)."""
        return np.asarray(2.0 * rng.binomial(counts, 0.5) - counts, np.float64)

    def fitted(self, counts: Counts, l2: float = 0.0, tol: float = 1e-6) -> Floats:
        """The regularised minimiser on a sample."""
        fit = erm.fit(self.data, self.loss, l2=l2, radius=self.radius, ball=self.ball, tol=tol, weights=counts)
        return fit.w

    def gap_weights(self, counts: Counts) -> Floats:
        """The weights of the sum L(w) - Lhat(w)."""
        return np.asarray(1.0 / self.data.n_queries - counts / counts.sum(), np.float64)

    def supremum(self, weights: Floats, starts: Iterable[Floats], steps: int) -> tuple[float, Floats]:
        """The largest value of sum_q weights_q phi_q(w) that a search from some points meets, and where it is."""
        met = np.flatnonzero(weights)
        part = self.data if len(met) == self.data.n_queries else self.data.take(met)
        chosen, each = weights[met], np.repeat(weights[met], part.documents_per_query)
        smallest, X, evaluated = float(chosen @ self.least[met]), part.X64, self.loss.on(part.y, part.offsets)
        best, where = -np.inf, np.zeros(part.n_features)
        for start in starts:
            w = np.array(start)
            for k in range(steps + FULL_STEPS + 1):
                values, gradient = evaluated(X @ w)
                value = float(chosen @ values) - smallest
                if value > best:
                    best, where = value, w
                furthest = lowest(-((each * gradient) @ X), 0.0, self.radius, self.ball)
                if furthest is None:
                    break
                w = w + (2.0 / (k + 2.0) if k < steps else 1.0) * (furthest - w)
        return best, where

    def corners(self, rng: np.random.Generator, number: int) -> list[Floats]:
        """The centre and some random points on the surface of the ball, where searches begin."""
        directions = rng.normal(size=(number, self.data.n_features))
        furthest = (lowest(direction, 0.0, self.radius, self.ball) for direction in directions)
        return [np.zeros(self.data.n_features), *(w for w in furthest if w is not None)]
