"""In which few directions do the differences of documents lie? Principal components, next to the cone.

They give a basis U of K vectors, as ConeRank does, and Algorithm 2 ranks with it. Principal components minimise the
distance of the differences to a subspace.
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
    return Z * (problem.rho_of(len(Z)) / (problem.alpha + np.linalg.norm(Z, axis=0)))


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
    return inside @ ((inside.T @ Z.mean(axis=1)) / values[used])
