"""How does a learned cone rank documents? Algorithm 2, and the linear score that gives the same order.

Algorithm 2 folds in the difference z of every pair without the sign constraint, and gives a point to document l if the
sum of the coefficients is positive, otherwise to document m. The sum is linear in z:

- ``least-squares``: the coefficients of least norm are U^+ z, their sum is a.z with a = (U^+)' 1;
- ``gradient``: one gradient step from w = 0 gives coefficients 2 mu U'z, whose sum has the sign of a.z with a = U 1.

The positive factor of eq. 5 changes no sign, so l gets the point exactly when a.x_l > a.x_m: the vote of m(m-1)/2
pairs in O(m^2 K) is the order of the scores a.x in O(m d).
"""

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pipeline_lib.core import checks
from pipeline_lib.core.arrays import Floats
from pipeline_lib.core.checks import NonNegative, Positive, checked
from pipeline_lib.core.errors import DataError

FoldIn = Literal["gradient", "least-squares"]

TIE = 1e-9
"""Differences of scores below this share of ||a|| max ||x|| are ties, which rounding would decide."""


@checked
def direction(U: ArrayLike, fold_in: FoldIn) -> Floats:
    """a, shape (d,): U 1 for "gradient", (U^+)' 1 for "least-squares".

    Raises
    ------
    DataError
        When U is not a matrix of finite numbers or ``fold_in`` is neither.

    Example
    -------
    >>> U = [[2.0, 0.0], [0.0, 1.0]]
    >>> direction(U, "gradient"), direction(U, "least-squares")
    (array([2., 1.]), array([0.5, 1. ]))
    """
    basis = checks.floats("U", U, ndim=2)
    return np.asarray(basis.sum(axis=1) if fold_in == "gradient" else np.linalg.pinv(basis).sum(axis=0))


@checked
def votes(
    X: ArrayLike, U: ArrayLike, fold_in: FoldIn, *, alpha: Positive = 1.0, rho: Positive = 1.0
) -> NDArray[np.int64]:
    """Algorithm 2 as printed, for one query: the points A_l of its documents, shape (m,). O(m^2 K); a reference.

    Parameters
    ----------
    X : shape (m, d)
    U : shape (d, K)
    alpha, rho : float > 0
        Of eq. 5.

    Raises
    ------
    DataError
        When X and U are not matrices of finite numbers with equal d, or another argument is out of range.

    Example
    -------
    >>> votes([[0.0], [2.0], [1.0]], [[1.0]], "least-squares")
    array([0, 2, 1])
    """
    documents, basis = checks.floats("X", X, ndim=2), checks.floats("U", U, ndim=2)
    if documents.shape[1] != len(basis):
        raise DataError(f"U: expected a row for each of {documents.shape[1]} features of X, found {len(basis)}")
    first, second = np.triu_indices(len(documents), 1)
    z = documents[first] - documents[second]
    z *= (rho / (alpha + np.linalg.norm(z, axis=1)))[:, None]
    coefficients = 2.0 * z @ basis if fold_in == "gradient" else np.linalg.lstsq(basis, z.T, rcond=None)[0].T
    wins = coefficients.sum(axis=1) > 0.0
    return np.bincount(np.where(wins, first, second), minlength=len(documents))


@checked
def same_order(points: ArrayLike, scores: ArrayLike, scale: NonNegative) -> bool:
    """Whether points and scores give the same ranking, except for differences of scores of at most ``TIE * scale``.

    Raises
    ------
    DataError
        When points and scores are not finite numbers, one per document, or the scale is not finite and >= 0.

    Example
    -------
    >>> same_order([2, 0, 1], [0.5, 0.1, 0.2], 1.0), same_order([0, 1], [0.5, 0.1], 1.0)
    (True, False)
    """
    A = checks.floats("points", points, ndim=1)
    s = checks.floats("scores", scores, shape=A.shape)
    above = s[:, None] - s > TIE * scale
    return bool((A[:, None] - A > 0)[above].all())
