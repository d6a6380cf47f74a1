"""Which pairs of documents has a data set, and how large are sums of a pairwise loss over them at the worst ranker?

The queries of a data set are the population, and so are the documents of each of them: a sample has n queries drawn
with replacement, and for each draw m of its documents, drawn with replacement. All risks of `twolayer` are then sums
over the pairs of documents with different labels. Pairs with equal labels, or of a document with itself, have the loss
phi(0) for every ranker, and enter a sum by their total weight alone.
"""

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from pipeline_lib.core.arrays import Floats
from pipeline_lib.data.ranking_data import RankingData
from pipeline_lib.learners.balls import lowest
from pipeline_lib.theory.known_population import FULL_STEPS
from pipeline_lib.theory.pair_losses import PairLoss

Indices = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class KnownPairs:
    """The pairs of a data set, with a loss and the radius of the ball."""

    data: RankingData
    loss: PairLoss
    radius: float

    @cached_property
    def _numbered(self) -> tuple[Floats, Indices, Indices]:
        # Differences of pairs with different labels; the query of each; and the number of the pair of documents (j, k)
        # of query q at place starts[q] + j m_q + k, or -1.
        X, y, bounds = self.data.X64, self.data.y, self.data.offsets
        differences, owners, numbers, known = [], [], [], 0
        for q, (begin, end) in enumerate(itertools.pairwise(bounds)):
            labels, m = y[begin:end].astype(np.int64), end - begin
            j, k = np.nonzero(np.triu(labels[:, None] != labels[None, :]))
            signs = np.sign(labels[j] - labels[k])
            differences.append(signs[:, None] * (X[begin + j] - X[begin + k]))
            owners.append(np.full(len(j), q))
            number = np.full((m, m), -1)
            number[j, k] = number[k, j] = known + np.arange(len(j))
            numbers.append(number.ravel())
            known += len(j)
        return np.concatenate(differences), np.concatenate(owners), np.concatenate(numbers)

    @cached_property
    def starts(self) -> Indices:
        """Where the numbers of every query's pairs begin, shape (Q,)."""
        squares = self.data.documents_per_query**2
        return np.asarray(np.cumsum(squares) - squares)

    @property
    def differences(self) -> Floats:
        """sgn(y - y') (x - x') of every pair of different labels, shape (P, d)."""
        return self._numbered[0]

    def of_queries(self, shares: Floats) -> Floats:
        """The weights of the pairs in the mean over all documents of queries with these ``shares``, shape (P,)."""
        owners = self._numbered[1]
        return np.asarray(2.0 * (shares / self.data.documents_per_query**2)[owners])

    def numbers(self, queries: Indices, first: Indices, second: Indices) -> Indices:
        """The numbers of pairs of documents of ``queries``, or -1 where their labels are equal; all of one shape."""
        lengths = self.data.documents_per_query[queries]
        return np.asarray(self._numbered[2][self.starts[queries] + first * lengths + second])

    def documents(self, queries: Indices, m: int, rng: np.random.Generator) -> Indices:
        """m documents of each query, drawn with replacement, by their places in its list, shape (len(queries), m)."""
        lengths = self.data.documents_per_query[queries]
        return np.asarray((rng.random((len(queries), m)) * lengths[:, None]).astype(np.int64))

    def weights(self, numbers: Indices, each: Floats | float) -> Floats:
        """The weights of all pairs where those with these ``numbers`` have the weights ``each``, shape (P,)."""
        shares = np.broadcast_to(each, numbers.shape)[numbers >= 0]
        sums = np.bincount(numbers[numbers >= 0], shares, minlength=len(self.differences))
        return sums.astype(np.float64)

    def supremum(self, weights: Floats, starts: Iterable[Floats], steps: int) -> tuple[float, Floats]:
        """The largest sum of weights_p (phi_p(w) - phi(0)) that a search from some points meets, and where it is.

        At least 0, the value at w = 0.
        """
        best, where = 0.0, np.zeros(self.data.n_features)
        met = np.flatnonzero(weights)
        if not len(met):
            return best, where
        differences, weights = self.differences[met], weights[met]
        offset = float(weights.sum()) * self.loss.at_zero
        for start in starts:
            w = np.array(start)
            for k in range(steps + FULL_STEPS + 1):
                t = -(differences @ w)
                value = float(weights @ self.loss.of_difference(t)) - offset
                if value > best:
                    best, where = value, w
                furthest = lowest((weights * self.loss.derivative(t)) @ differences, 0.0, self.radius)
                if furthest is None:
                    break
                w = w + (2.0 / (k + 2.0) if k < steps else 1.0) * (furthest - w)
        return best, where

    def largest_size(self, weights: Floats, constant: float, starts: Sequence[Floats], steps: int) -> float:
        """The largest |constant + sum_p weights_p (phi_p(w) - phi(0))| that a search meets."""
        return max(self.supremum(sign * weights, starts, steps)[0] + sign * constant for sign in (1.0, -1.0))

    def sum(self, weights: Floats, w: Floats) -> float:
        """sum_p weights_p (phi_p(w) - phi(0)) for one ranker."""
        return float(weights @ (self.loss.of_difference(-(self.differences @ w)) - self.loss.at_zero))
