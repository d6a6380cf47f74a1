"""What is the nearest point of a polyhedral cone, and which direction do differences take?

The cone of U (d x K) is {U w : w >= 0}; the projection (1) of `cone` is min over w >= 0 of ||z - U w||^2.
"""

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pipeline_lib.core import checks
from pipeline_lib.core.arrays import Floats
from pipeline_lib.core.checks import Positive, checked
from pipeline_lib.core.errors import DataError
from pipeline_lib.data.ranking_data import RankingData

ROUNDING = 1e-12


@checked
def project(U: ArrayLike, z: ArrayLike) -> Floats:
    """The coefficients w >= 0 of the point U w of the cone that is nearest to z, shape (K,); eq. 1.

    An active-set method (Lawson and Hanson 1974, chapter 23): the coefficient with the steepest slope is added, and
    coefficients are removed where the free least-squares solution would make them negative. It is finite, and exact up
    to rounding, whatever the lengths of z and of the basis vectors.

    Raises
    ------
    DataError
        When shapes do not agree or a number is not finite.

    Example
    -------
    >>> project([[1.0, 0.0], [0.0, 1.0]], [2.0, -1.0])
    array([2., 0.])
    """
    basis = checks.floats("U", U, ndim=2)
    point = checks.floats("z", z, shape=(len(basis),))
    # Solved for vectors of length 1, so that one tolerance fits all scales; a basis vector 0 remains 0 and is never
    # added.
    lengths, length = np.linalg.norm(basis, axis=0), float(np.linalg.norm(point))
    scale = np.where(lengths > 0.0, lengths, 1.0)
    if length == 0.0:
        return np.zeros(basis.shape[1])
    return _project_unit(basis / scale, point / length) * (length / scale)


def _project_unit(basis: Floats, point: Floats) -> Floats:
    K = basis.shape[1]
    w, free, rejected = np.zeros(K), np.zeros(K, dtype=bool), np.zeros(K, dtype=bool)
    while True:
        slope = basis.T @ (point - basis @ w)
        slope[free | rejected] = -np.inf
        k = int(np.argmax(slope))
        if slope[k] <= ROUNDING:
            break
        free[k] = True
        while True:
            target = np.zeros(K)
            target[free] = np.linalg.lstsq(basis[:, free], point, rcond=None)[0]
            wrong = free & (target <= ROUNDING)
            if wrong[k] and w[k] == 0.0:
                free[k] = False
                break
            if not wrong.any():
                w = target
                break
            share = min(1.0, float(np.min(w[wrong] / (w[wrong] - target[wrong]))))
            w += share * (target - w)
            free &= w > ROUNDING
            w[~free] = 0.0
        # A slope of rounding errors leads back to where it began: k is tried again only after another was added.
        if free[k]:
            rejected[:] = False
        else:
            rejected[k] = True
    return w


@checked
def pairs_of(data: RankingData) -> NDArray[np.int64]:
    """The number of pairs of differently labelled documents of every query, shape (Q,).

    Example
    -------
    >>> pairs_of(RankingData.from_arrays(np.zeros((4, 1)), [0, 1, 2, 1], [1, 1, 1, 2]))
    array([3, 0])
    """
    counts, _ = _levels(data)
    return (data.documents_per_query**2 - (counts**2).sum(axis=1)) // 2


def _levels(data: RankingData) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    # The number of documents of each label in every query, shape (Q, levels), and the query of every document.
    query = np.repeat(np.arange(data.n_queries), data.documents_per_query)
    levels = int(data.y.max(initial=0)) + 1
    counts = np.bincount(query * levels + data.y, minlength=data.n_queries * levels)
    return counts.reshape(data.n_queries, levels), query


@checked
def second_moment(data: RankingData) -> Floats:
    """The uncentred second moment of the ordered differences x_l - x_m, y_l > y_m, over all pairs; shape (d, d).

    With counts h_l of lower and g_l of higher labels in the query and S the Laplacian of the pairs, the sum over a
    query's pairs is X' (diag(h + g) - A) X, where A joins differently labelled documents; for every label this is a sum
    of features, which takes O(m d^2) without pairs.

    Raises
    ------
    DataError
        When there is no pair.

    Example
    -------
    >>> data = RankingData.from_arrays([[0.0], [2.0], [1.0]], [0, 1, 0], [1, 1, 1])
    >>> second_moment(data)
    array([[2.5]])
    """
    if not data.n_documents:
        raise DataError("data: expected documents with different labels, found none")
    X, y = data.X64, data.y
    counts, query = _levels(data)
    levels = counts.shape[1]
    cell = query * levels + y
    sums = np.zeros((data.n_queries * levels, data.n_features))
    np.add.at(sums, cell, X)
    others = data.documents_per_query[query] - counts[query, y]
    by_level = sums.reshape(data.n_queries, levels, -1)
    whole = by_level.sum(axis=1)
    crossed = whole.T @ whole - np.einsum("qld,qle->de", by_level, by_level)
    n_pairs = float(others.sum()) / 2.0
    if not n_pairs:
        raise DataError("second moment: expected documents with different labels in some query, found none")
    return ((X * others[:, None]).T @ X - crossed) / n_pairs


@checked
def moved_outwards(U: ArrayLike, c: Positive) -> Floats:
    """A basis with ||u_k|| = c whose simplex contains that of U, for K >= 2 and ||u_k|| <= c; shape (d, K).

    Every u_k in turn moves away from the mean p of the others, to u_k + t (u_k - p), t >= 0. The old u_k lies between
    the new one and p, so that conv(U) grows, and with it every {U w: w >= 0, lambda_l <= sum w <= lambda_u}. No loss of
    (9) or (18) rises: the norms may be required to equal c without any loss.

    Raises
    ------
    DataError
        When there are fewer than two vectors or no features, one is longer than c, or a number is not finite.

    Example
    -------
    >>> moved_outwards([[0.6, 0.6], [0.0, 0.5]], 1.0)
    array([[ 0.6,  0.6],
           [-0.8,  0.8]])
    """
    basis = checks.floats("U", U, ndim=2).copy()
    if basis.shape[1] < 2 or not len(basis):
        raise DataError(f"U: expected two basis vectors or more with a feature or more, found shape {basis.shape}")
    if float(np.linalg.norm(basis, axis=0).max()) > c * (1.0 + ROUNDING):
        raise DataError(f"U: expected vectors of norm at most c = {c}, found {np.linalg.norm(basis, axis=0)}")
    for k in range(basis.shape[1]):
        u = basis[:, k]
        away = u - np.delete(basis, k, axis=1).mean(axis=1)
        size = float(np.linalg.norm(away))
        # A vector at the mean of the others may move in any direction.
        way = away / size if size > 0.0 else np.eye(len(basis))[0]
        along, left = float(way @ u), c**2 - float(u @ u)
        basis[:, k] = u + max(0.0, -along + math.sqrt(max(along**2 + left, 0.0))) * way
    return basis
