"""Which pairs of documents has a data set, and how large are sums of a pairwise loss over them at the worst ranker?

The queries of a data set are the population, and so are the documents of each of them: a sample has n queries drawn
with replacement, and for each draw m of its documents, drawn with replacement. All risks of `twolayer` are then sums
over the pairs of documents with different labels. Pairs with equal labels, or of a document with itself, have the loss
phi(0) for every ranker, and enter a sum by their total weight alone.
"""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from pipeline_lib.core.arrays import Floats
from pipeline_lib.core.compiled import njit
from pipeline_lib.data.ranking_data import RankingData
from pipeline_lib.theory.known_population import FULL_STEPS
from pipeline_lib.theory.pair_losses import PairLoss

Indices = NDArray[np.int64]
HINGE, LOGISTIC, EXPONENTIAL = range(3)
KINDS = {"hinge": HINGE, "logistic": LOGISTIC, "exponential": EXPONENTIAL}


@dataclass(frozen=True, eq=False)
class KnownPairs:
    """The pairs of a data set, with a loss and the radius of the ball."""

    data: RankingData
    loss: PairLoss
    radius: float

    @cached_property
    def _numbered(self) -> tuple[Indices, Indices, Indices]:
        # The documents of every pair of different labels, that with the larger label first, shape (P, 2); the query of
        # each; and the number of the pair of documents (j, k) of query q at place starts[q] + j m_q + k, or -1.
        y, bounds = self.data.y, self.data.offsets
        documents, owners, numbers, known = [], [], [], 0
        for q, (begin, end) in enumerate(itertools.pairwise(bounds)):
            labels, m = y[begin:end].astype(np.int64), end - begin
            j, k = np.nonzero(np.triu(labels[:, None] != labels[None, :]))
            larger = labels[j] > labels[k]
            documents.append(begin + np.column_stack([np.where(larger, j, k), np.where(larger, k, j)]))
            owners.append(np.full(len(j), q))
            number = np.full((m, m), -1)
            number[j, k] = number[k, j] = known + np.arange(len(j))
            numbers.append(number.ravel())
            known += len(j)
        return np.concatenate(documents), np.concatenate(owners), np.concatenate(numbers)

    @cached_property
    def starts(self) -> Indices:
        """Where the numbers of every query's pairs begin, shape (Q,)."""
        squares = self.data.documents_per_query**2
        return np.asarray(np.cumsum(squares) - squares)

    def weighted_difference(self, weights: Floats) -> Floats:
        """sum_p weights_p sgn(y - y') (x - x'), shape (d,)."""
        larger, smaller = self._numbered[0].T
        of_documents = np.zeros(self.data.n_documents)
        np.add.at(of_documents, larger, weights)
        np.subtract.at(of_documents, smaller, weights)
        return np.asarray(of_documents @ self.data.X64)

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
        sums = np.bincount(numbers[numbers >= 0], shares, minlength=len(self._numbered[0]))
        return sums.astype(np.float64)

    def supremum(self, weights: Floats, starts: Sequence[Floats], steps: int) -> tuple[float, Floats]:
        """The largest sum of weights_p (phi_p(w) - phi(0)) that a search from some points meets, and where it is.

        At least 0, the value at w = 0.
        """
        met = np.flatnonzero(weights)
        documents, places = np.unique(self._numbered[0][met], return_inverse=True)
        X = self.data.X64[documents]
        begin = np.array(starts).reshape(-1, X.shape[1])
        return _search(X, places.reshape(-1, 2), weights[met], KINDS[self.loss.name], begin, steps, self.radius)

    def largest_size(self, weights: Floats, constant: float, starts: Sequence[Floats], steps: int) -> float:
        """The largest |constant + sum_p weights_p (phi_p(w) - phi(0))| that a search meets."""
        return max(self.supremum(sign * weights, starts, steps)[0] + sign * constant for sign in (1.0, -1.0))

    def sum(self, weights: Floats, w: Floats) -> float:
        """sum_p weights_p (phi_p(w) - phi(0)) for one ranker."""
        larger, smaller = (self.data.X64 @ w)[self._numbered[0]].T
        return float(weights @ (self.loss.of_difference(smaller - larger) - self.loss.at_zero))


@njit
def _search(X, pairs, weights, kind, starts, steps, radius):  # type: ignore[no-untyped-def]
    """max over some w of the sum of weights_p (phi(t_p) - phi(0)), t_p = s_k - s_j for pairs (j, k) and s = X w.

    Frank and Wolfe's steps uphill, w + 2/(i + 2) (v - w) with v = radius g / ||g|| and g the gradient, then steps to v.
    """
    (D, d), best, where = X.shape, 0.0, np.zeros(X.shape[1])
    columns = np.ascontiguousarray(X.T)
    s, of_documents, gradient = np.empty(D), np.empty(D), np.empty(d)
    for start in starts:
        w = start.copy()
        for i in range(steps + FULL_STEPS + 1):
            s[:] = 0.0
            for c in range(d):
                for j in range(D):
                    s[j] += columns[c, j] * w[c]
            of_documents[:] = 0.0
            value = 0.0
            for p in range(len(weights)):
                j, k = pairs[p]
                above, slope = _above_zero(kind, s[k] - s[j])
                value += weights[p] * above
                of_documents[k] += weights[p] * slope
                of_documents[j] -= weights[p] * slope
            if value > best:
                best = value
                where[:] = w
            gradient[:] = 0.0
            for j in range(D):
                for c in range(d):
                    gradient[c] += of_documents[j] * X[j, c]
            length = math.sqrt(np.sum(gradient**2))
            if length == 0.0:
                break
            share = 2.0 / (i + 2.0) if i < steps else 1.0
            for c in range(d):
                w[c] += share * (radius / length * gradient[c] - w[c])
    return best, where


@njit
def _above_zero(kind, t):  # type: ignore[no-untyped-def]
    """phi(t) - phi(0) and phi'(t)."""
    if kind == HINGE:
        return max(1.0 + t, 0.0) - 1.0, 1.0 if t > -1.0 else 0.0
    if kind == LOGISTIC:
        small = math.exp(-abs(t))
        slope = 1.0 / (1.0 + small) if t > 0.0 else small / (1.0 + small)
        return max(t, 0.0) + math.log1p(small) - math.log(2.0), slope
    value = math.exp(t)
    return value - 1.0, value
