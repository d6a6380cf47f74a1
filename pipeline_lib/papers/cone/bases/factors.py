"""In which few directions do the differences of documents lie? Principal components and semi-NMF, next to the cone.

Both give a basis U of K vectors, as ConeRank does, and Algorithm 2 ranks with it. Principal components minimise the
distance of the differences to a subspace; semi-NMF (Ding, Li and Jordan 2010) that to a cone without limits on the
coefficients, sum_j ||z_j - U w_j||^2 over w_j >= 0.
"""

from typing import Any

import numpy as np

from pipeline_lib.core.arrays import Floats
from pipeline_lib.core.seeds import generator
from pipeline_lib.data.ranking_data import RankingData
from pipeline_lib.learners.cone import Problem
from pipeline_lib.papers.cone.common import pairs_of_queries

TINY = 1e-12


def differences(data: RankingData, problem: Problem, most: int, axes: tuple[Any, ...]) -> Floats:
    """The differences z of (5), shape (d, pairs): those of ``most`` pairs drawn without replacement if there are more.

    Example
    -------
    >>> data = RankingData.from_arrays([[0.0], [1.0], [0.0], [3.0]], [0, 1, 0, 1], [1, 1, 2, 2])
    >>> differences(data, Problem(), 10, (1,))
    array([[0.5 , 0.75]])
    """
    higher, lower = map(np.concatenate, zip(*pairs_of_queries(data), strict=True))
    if len(higher) > most:
        drawn = np.sort(generator(*axes, "differences").choice(len(higher), most, replace=False))
        higher, lower = higher[drawn], lower[drawn]
    Z = (data.X64[higher] - data.X64[lower]).T
    z: Floats = Z * (problem.rho_of(len(Z)) / (problem.alpha + np.linalg.norm(Z, axis=0)))
    return z


def components(Z: Floats) -> tuple[Floats, Floats]:
    """The principal components of differences about 0 as columns, largest first, and their eigenvalues.

    Components point to the side of the mean difference, because a basis vector of a cone does: better documents have
    positive coefficients on average.

    Example
    -------
    >>> V, values = components(np.array([[-1.0, -3.0], [0.0, 0.0]]))
    >>> V[0, 0], values
    (np.float64(-1.0), array([5., 0.]))
    """
    values, vectors = np.linalg.eigh(Z @ Z.T / Z.shape[1])
    V = vectors[:, ::-1]
    side = np.where(V.T @ Z.mean(axis=1) < 0.0, -1.0, 1.0)
    # Without a mean, the largest entry is positive, so that the result depends on no library's choice of sign.
    flat = np.abs(V.T @ Z.mean(axis=1)) <= TINY
    largest = np.take_along_axis(V, np.abs(V).argmax(axis=0)[None], axis=0)[0]
    return V * np.where(flat, np.sign(largest), side), np.maximum(values[::-1], 0.0)


def regression(Z: Floats, V: Floats, values: Floats) -> Floats:
    """The direction a in the span of the components V that minimises the mean of (1 - <a, z>)^2, shape (d,).

    Components with an eigenvalue of 0 are left out.

    Example
    -------
    >>> Z = np.array([[2.0, 2.0], [1.0, -1.0]])
    >>> regression(Z, *components(Z))
    array([0.5, 0. ])
    """
    used = values > TINY * max(float(values.max(initial=0.0)), TINY)
    inside = V[:, used]
    a: Floats = inside @ ((inside.T @ Z.mean(axis=1)) / values[used])
    return a


def semi_nmf(Z: Floats, K: int, rounds: int, axes: tuple[Any, ...]) -> tuple[Floats, Floats]:
    """A basis U (d, K), of any sign, and coefficients W >= 0 (K, pairs) with a small ||Z - U W||^2.

    Multiplicative updates: U by least squares, and every entry of W times the root of the ratio of the negative and the
    positive part of the slope, which never raises the objective. The coefficients begin at random.

    Example
    -------
    >>> Z = np.array([[1.0, 0.0, 1.0], [0.0, -1.0, -1.0]])
    >>> U, W = semi_nmf(Z, 2, 500, (1,))
    >>> bool((W >= 0).all()), round(float(((Z - U @ W) ** 2).sum()), 6)
    (True, 0.0)
    """
    W = generator(*axes, "semi-nmf", K).uniform(0.1, 1.0, (K, Z.shape[1]))
    U = _best_basis(Z, W)
    for _ in range(rounds):
        A, B = U.T @ Z, U.T @ U
        up = np.maximum(A, 0.0) + np.maximum(-B, 0.0) @ W
        down = np.maximum(-A, 0.0) + np.maximum(B, 0.0) @ W
        W *= np.sqrt(up / np.maximum(down, TINY))
        U = _best_basis(Z, W)
    return U, W


def _best_basis(Z: Floats, W: Floats) -> Floats:
    return np.asarray(np.linalg.lstsq(W @ W.T, W @ Z.T, rcond=None)[0].T, dtype=np.float64)
