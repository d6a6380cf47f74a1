"""Cones that are trained until they have converged, on queries of which there are finitely many kinds.

The kinds are the whole population, from which a sample is drawn with replacement. The risk (10), the supremum over
queries in (12) and gamma are then exact, a sample is a number of queries of every kind, and leaving one out has as many
outcomes as there are kinds: P may be large at no cost. Theorem 2 of `cone` takes the supremum over all differences with
||z|| <= rho, which is searched for (:func:`worst_change`).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pipeline_lib.core.arrays import Floats
from pipeline_lib.core.compiled import njit
from pipeline_lib.core.seeds import generator
from pipeline_lib.data.ranking_data import RankingData
from pipeline_lib.learners import cone, cone_kernels
from pipeline_lib.theory import cones

ALPHA, RHO = 0.1, 1.0
MOVED = 1e-10
"""Training has converged when no entry of the basis moves by more than this in a pass."""
PASSES = 5000
FOLDED = 1e-13
"""Gap to which coefficients are folded in."""
DIRECTIONS, ASCENT = 64, 30
"""Where the search for the worst difference begins, and its number of steps."""


@dataclass(frozen=True)
class Kinds:
    """A population of finitely many kinds of queries, the order of the cone learned on it, and the bound c.

    ``shares`` are the probabilities of the kinds. Pairs are not weighted by labels, as in Theorem 2.
    """

    name: str
    data: RankingData
    shares: Floats
    K: int
    c: float

    @property
    def problem(self) -> cone.Problem:
        """The constants of (18)."""
        return cone.Problem(alpha=ALPHA, rho=RHO, c=self.c, weighted=False)


def trained(kinds: Kinds, counts: Floats, start: Floats) -> Floats:
    """Exact blocks until the basis no longer moves, for ``counts`` queries of every kind."""
    data, shares = kinds.data, counts / counts.sum()
    return _train(data.X64, data.y, data.offsets, shares, start, PASSES, MOVED, ALPHA, RHO, kinds.c)


def moved(kinds: Kinds, U: Floats, kind: int, mu: float) -> Floats:
    """What one more step of size ``mu``, along the gradient of one query, adds to the basis."""
    one = np.zeros(kinds.data.n_queries)
    one[kind] = 1.0
    M, B = _moments(kinds.data.X64, kinds.data.y, kinds.data.offsets, one, U, ALPHA, RHO)
    return -2.0 * mu * (U @ M - B)


def largest_change(
    data: RankingData, whole: Sequence[Floats], others: Sequence[Floats], problem: cone.Problem
) -> float:
    """The beta of (12): the largest change of a pair's loss, whichever query is left out and whichever pair it is.

    ``whole`` and ``others`` are the bases with and without the query, one for each that is left out.
    """
    return max(
        float(np.abs(cone.pair_losses(data, a, problem) - cone.pair_losses(data, b, problem)).max())
        for a, b in zip(whole, others, strict=True)
    )


def accurate_losses(data: RankingData, U: Floats) -> Floats:
    """The loss of every query, accurate enough for the differences of neighbouring bases."""
    found, _ = cone_kernels.every_loss(data.X64, data.y, data.offsets, U, False, ALPHA, RHO, 1.0, 1.0, FOLDED)
    pairs = cones.pairs_of(data)
    sums = np.bincount(np.repeat(np.arange(data.n_queries), pairs), weights=found, minlength=data.n_queries)
    return sums / np.maximum(pairs, 1)


def worst_change(U: Floats, V: Floats, rho: float, axes: tuple[Any, ...]) -> float:
    """The largest change of min_w ||z - U w||^2 over differences with ||z|| <= rho when U becomes V, by ascent.

    From many directions, z moves to the end of the ball along the gradient 2 (V v - U w) of the change, in both signs,
    where w and v are the coefficients that are best for z; the largest value that occurs is a lower bound of the
    supremum.
    """
    d = len(U)
    starts = np.vstack([np.eye(d), -np.eye(d), generator(*axes, "directions").standard_normal((DIRECTIONS, d))])
    starts *= rho / np.linalg.norm(starts, axis=1, keepdims=True)
    return float(_worst_change(np.ascontiguousarray(U), np.ascontiguousarray(V), starts, rho, ASCENT))


@njit
def _moments(X, y, offsets, shares, U, alpha, rho):  # type: ignore[no-untyped-def]
    d, K = U.shape
    M, B, nothing = np.zeros((K, K)), np.zeros((d, K)), np.empty((0, K))
    G = np.dot(U.T, U)
    for q in range(len(shares)):
        if shares[q] > 0.0:
            m, b = np.zeros((K, K)), np.zeros((d, K))
            numbers = (alpha, rho, 0.0, FOLDED, 1.0, 1.0)
            how, zero = (np.int64(cone_kernels.EXACT), np.int64(0), np.bool_(False)), np.int64(0)
            cone_kernels.visit(X, y, offsets[q], offsets[q + 1], U, G, how, numbers, zero, zero, m, b, nothing)
            M += shares[q] * m
            B += shares[q] * b
    return M, B


@njit
def _train(X, y, offsets, shares, start, passes, least, alpha, rho, c):  # type: ignore[no-untyped-def]
    U = start.copy()
    for _ in range(passes):
        M, B = _moments(X, y, offsets, shares, U, alpha, rho)
        before = U.copy()
        cone_kernels.solve_basis(U, M, B, c, np.bool_(False), np.int64(1000), FOLDED)
        if np.abs(U - before).max() <= least:
            break
    return U


@njit
def _least_loss(U, G, z, w, g, v):  # type: ignore[no-untyped-def]
    # min_w ||z - U w||^2; w receives the coefficients.
    b = np.dot(U.T, z)
    cone_kernels.fold_exactly(G, b, w, 1.0, 1.0, FOLDED, g, v)
    rest = z - np.dot(U, w)
    return np.dot(rest, rest)


@njit
def _worst_change(U, V, starts, rho, steps):  # type: ignore[no-untyped-def]
    K, largest = U.shape[1], 0.0
    G, H = np.dot(U.T, U), np.dot(V.T, V)
    w, v, g, aside = np.empty(K), np.empty(K), np.empty(K), np.empty(2 * K)
    for i in range(len(starts)):
        for sign in (1.0, -1.0):
            z = starts[i].copy()
            for _ in range(steps):
                change = sign * (_least_loss(U, G, z, w, g, aside) - _least_loss(V, H, z, v, g, aside))
                largest = max(largest, change)
                along = sign * (np.dot(V, v) - np.dot(U, w))
                size = math.sqrt(np.dot(along, along))
                if size == 0.0:
                    break
                moved = rho / size * along
                if np.abs(moved - z).max() <= 1e-9:
                    break
                z = moved
    return largest
