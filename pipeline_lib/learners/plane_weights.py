"""Which convex weights of planes minimise a quadratic, given a good guess? An active-set method that keeps its factors.

    minimise  1/2 a' G a - t' a  over  a >= 0, sum a = 1,   G positive semidefinite (K, K)

is the dual of a regularised maximum of K planes (see :mod:`~pipeline_lib.learners.kept_model`). A bundle method solves
it again and again with a plane or two more, so that few of the weights change from one time to the next. The planes
of positive weight are affinely independent, and a Cholesky factor of G + sigma 11' on them (on the simplex, the added
term is a constant) is kept from one change to the next: each costs O(n^2 + K n) for n planes of positive weight. It is
Wolfe's method for the nearest point of a polytope, with a linear term (Kiwiel 1986).
"""

import numpy as np
from numpy.typing import NDArray

from pipeline_lib.core.arrays import Floats
from pipeline_lib.core.compiled import njit

__all__: list[str] = []  # internal: what comes here was checked before (see pipeline_lib.core.checks)

# A plane joins when it lies above the others' mean by this fraction of the largest number met.
VIOLATED = 1e-13
# A plane counts as a combination of others when this fraction of its square is left after their removal.
DEPENDENT = 1e-11
# Changes of the set of planes in one solution, for every plane there is; some more where there are few.
CHANGES, FEW_CHANGES = 3, 100


class Weights:
    """The weights of K planes: which are positive, and the factor of their Gram matrix.

    Example
    -------
    >>> weights = Weights()
    >>> weights.minimise(np.array([[1.0, -1.0], [-1.0, 1.0]]), np.array([1.0, 0.0]))
    array([0.75, 0.25])
    """

    def __init__(self) -> None:
        self.positive: NDArray[np.int64] = np.empty(0, np.int64)
        self._values: Floats = np.empty(0)
        self._factor: Floats = np.empty((0, 0))
        self._shift = 0.0

    def minimise(self, gram: Floats, target: Floats) -> Floats:
        """Give the weights, shape (K,); ``gram``, shape (K or more, K or more), begins with the planes met before."""
        K = len(target)
        if len(self.positive) <= 1:
            self._begin(gram, target)
        if len(self._factor) <= K:
            factor, n = np.zeros((2 * K + 1, 2 * K + 1)), len(self.positive)
            factor[:n, :n] = self._factor[:n, :n]
            self._factor = factor
        chosen, values, n = np.empty(K + 1, np.int64), np.zeros(K + 1), len(self.positive)
        chosen[:n], values[:n] = self.positive, self._values
        n = _descend(gram, target, chosen, values, n, self._factor, self._shift)
        self.positive, self._values = chosen[:n].copy(), values[:n].copy()
        weights = np.zeros(K)
        weights[self.positive] = self._values
        return weights

    def keep(self, kept: NDArray[np.bool_]) -> None:
        """Number the planes anew after those with ``kept`` False, none of positive weight, were left out."""
        self.positive = (np.cumsum(kept) - 1)[self.positive]

    def _begin(self, gram: Floats, target: Floats) -> None:
        # All weight on one plane; sigma is of the size of the planes' squares, or of large targets if those are all 0.
        if not len(self.positive):
            self.positive = np.zeros(1, np.int64)
        self._values = np.ones(1)
        first = self.positive[0]
        self._shift = float(gram.diagonal()[: len(target)].max()) or max(1.0, float(np.abs(target).max()))
        self._factor = np.full((1, 1), np.sqrt(gram[first, first] + self._shift))


@njit
def _descend(gram, target, chosen, values, n, factor, shift):  # type: ignore[no-untyped-def]
    # Change chosen[:n] and values[:n], > 0 of sum 1, until no plane would lower the quadratic; give n.
    K = len(target)
    best, ones, row = np.empty(K + 1), np.empty(K + 1), np.empty(K + 1)
    barred = np.zeros(K, np.bool_)
    newest = -1
    for _ in range(CHANGES * K + FEW_CHANGES):
        level = _least_on_plane(gram, target, chosen, n, factor, shift, best, ones)
        leaving, length = _first_to_vanish(values, best, n)
        if leaving >= 0:
            for i in range(n):
                values[i] += length * (best[i] - values[i])
            # What came last and must go at once came by rounding.
            if chosen[leaving] == newest and length == 0.0:
                barred[newest] = True
            n = _drop(chosen, values, n, factor, leaving)
            continue
        values[:n] = best[:n]
        newest = _most_violated(gram, target, chosen, values, n, level, barred)
        if newest < 0:
            break
        left = _forward(gram, chosen, n, factor, shift, newest, row)
        if left <= DEPENDENT * (gram[newest, newest] + shift):
            # A combination of the others: it takes weight from those it needs until one of them has none left.
            best[:n] = row[:n]
            _backward(factor, n, best)
            taker, length = -1, np.inf
            for i in range(n):
                if best[i] > 0.0 and values[i] < length * best[i]:
                    taker, length = i, values[i] / best[i]
            if taker < 0:
                barred[newest] = True
                continue
            for i in range(n):
                values[i] = max(values[i] - length * best[i], 0.0)
            n = _drop(chosen, values, n, factor, taker)
            left = _forward(gram, chosen, n, factor, shift, newest, row)
            if left <= DEPENDENT * (gram[newest, newest] + shift):
                barred[newest] = True
                _normalise(values, n)
                continue
        else:
            length = 0.0
        factor[n, :n] = row[:n]
        factor[n, n] = np.sqrt(left)
        chosen[n], values[n] = newest, length
        n += 1
        _normalise(values, n)
    return n


@njit
def _normalise(values, n):  # type: ignore[no-untyped-def]
    total = 0.0
    for i in range(n):
        total += values[i]
    for i in range(n):
        values[i] /= total


@njit(fastmath={"reassoc", "contract"})
def _dot(a, b, n):  # type: ignore[no-untyped-def]
    total = 0.0
    for i in range(n):
        total += a[i] * b[i]
    return total


@njit
def _solve(factor, n, x):  # type: ignore[no-untyped-def]
    # x becomes (L L')^-1 x
    for i in range(n):
        x[i] = (x[i] - _dot(factor[i], x, i)) / factor[i, i]
    _backward(factor, n, x)


@njit(fastmath={"contract"})
def _backward(factor, n, x):  # type: ignore[no-untyped-def]
    # x becomes L'^-1 x
    for i in range(n - 1, -1, -1):
        x[i] /= factor[i, i]
        for j in range(i):
            x[j] -= factor[i, j] * x[i]


@njit
def _forward(gram, chosen, n, factor, shift, k, row):  # type: ignore[no-untyped-def]
    # row becomes L^-1 times plane k's column; gives what is left of its square
    for i in range(n):
        row[i] = (gram[k, chosen[i]] + shift - _dot(factor[i], row, i)) / factor[i, i]
    return gram[k, k] + shift - _dot(row, row, n)


@njit
def _least_on_plane(gram, target, chosen, n, factor, shift, best, ones):  # type: ignore[no-untyped-def]
    # best[:n] becomes the minimiser with sum 1 and any signs; gives the common value of G a - t on the planes
    for i in range(n):
        best[i] = target[chosen[i]]
        ones[i] = 1.0
    _solve(factor, n, best)
    _solve(factor, n, ones)
    sum_best = sum_ones = 0.0
    for i in range(n):
        sum_best += best[i]
        sum_ones += ones[i]
    lift = (1.0 - sum_best) / sum_ones
    for i in range(n):
        best[i] += lift * ones[i]
    return lift - shift


@njit
def _first_to_vanish(values, best, n):  # type: ignore[no-untyped-def]
    # Which value reaches 0 first on the way to best, and after which part of the way; -1 if none does.
    leaving, length = -1, 1.0
    for i in range(n):
        if best[i] <= 0.0 and n > 1:
            part = values[i] / (values[i] - best[i]) if values[i] > best[i] else 0.0
            if leaving < 0 or part < length:
                leaving, length = i, part
    return leaving, length


@njit
def _drop(chosen, values, n, factor, place):  # type: ignore[no-untyped-def]
    # Take one plane out; rotations make its factor triangular again. Gives n - 1.
    for i in range(place, n - 1):
        chosen[i], values[i] = chosen[i + 1], values[i + 1]
    cosines, sines = np.empty(n), np.empty(n)
    for i in range(place, n - 1):
        factor[i, : i + 2] = factor[i + 1, : i + 2]
        for j in range(place, i):
            one, other = factor[i, j], factor[i, j + 1]
            factor[i, j] = cosines[j] * one + sines[j] * other
            factor[i, j + 1] = cosines[j] * other - sines[j] * one
        one, other = factor[i, i], factor[i, i + 1]
        length = np.hypot(one, other)
        cosines[i], sines[i] = one / length, other / length
        factor[i, i], factor[i, i + 1] = length, 0.0
    return n - 1


@njit
def _most_violated(gram, target, chosen, values, n, level, barred):  # type: ignore[no-untyped-def]
    # The plane with the least (G a)_k - t_k, if it is below those of positive weight by more than rounding; else -1
    K = len(target)
    steepness = np.zeros(K)
    for i in range(n):
        column, value = gram[chosen[i]], values[i]
        for k in range(K):
            steepness[k] += column[k] * value
    largest = 0.0
    for k in range(K):
        largest = max(largest, abs(steepness[k]), abs(target[k]))
        steepness[k] -= target[k]
    # The level as met, whose rounding is that of the others.
    met = 0.0
    for i in range(n):
        met += values[i] * steepness[chosen[i]]
        barred_here = chosen[i]
        steepness[barred_here] = np.inf
    worst, least = -1, met - VIOLATED * largest
    for k in range(K):
        if not barred[k] and steepness[k] < least:
            worst, least = k, steepness[k]
    return worst
