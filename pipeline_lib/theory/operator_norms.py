"""How far can a query's feature matrix stretch a gradient or a weight vector?

`lists` and `topk`, Lemma 4: for 1 <= p <= inf and the dual exponent q (1/p + 1/q = 1),

    ||X'||_{1 -> p} = sup ||X' v||_p / ||v||_1 = sup ||X u||_inf / ||u||_q = ||X||_{q -> inf} = max_j ||X_j||_p.

This is why gradients of losses in score space are measured by their l_1 norm.
"""

import math

import numpy as np
from numpy.typing import ArrayLike

from pipeline_lib.core import checks
from pipeline_lib.core.arrays import Floats
from pipeline_lib.core.checks import Count, Extended, checked
from pipeline_lib.core.errors import DataError

STEPS = 100


@checked
def largest_row(X: ArrayLike, p: Extended = 2.0) -> float:
    """max_j ||X_j||_p, the right-hand side of Lemma 4, for X of shape (m, d).

    Example
    -------
    >>> largest_row([[3.0, 4.0], [1.0, 0.0]])
    5.0
    """
    return float(np.linalg.norm(_matrix(X, p), p, axis=1).max())


@checked
def stretch(X: ArrayLike, p: Extended = 2.0, *, rng: np.random.Generator, restarts: Count = 20) -> tuple[float, float]:
    """Lower estimates of ||X'||_{1 -> p} and ||X||_{q -> inf}, the left-hand sides of Lemma 4, by maximisation.

    Both quotients are convex over the unit ball of their norm, so each step moves to the maximiser of the linearisation
    at the present point, which never decreases the quotient; starts are random.

    Returns
    -------
    (float, float)
        The largest ||X' v||_p / ||v||_1 and ||X u||_inf / ||u||_q seen.

    Example
    -------
    >>> stretch([[3.0, 4.0], [1.0, 0.0]], rng=np.random.default_rng(0))
    (5.0, 5.0)
    """
    matrix, p = _matrix(X, p), float(p)
    left = max(_ascend(matrix.T, rng.normal(size=(len(matrix),)), 1.0, p) for _ in range(restarts))
    right = max(_ascend(matrix, rng.normal(size=(len(matrix.T),)), dual_exponent(p), math.inf) for _ in range(restarts))
    return left, right


def _ascend(matrix: Floats, start: Floats, inner: float, outer: float) -> float:
    # ||A v||_outer / ||v||_inner from v = start upwards
    best, v = 0.0, start
    for _ in range(STEPS):
        value = float(np.linalg.norm(np.asarray(matrix @ v), outer)) / float(np.linalg.norm(v, inner))
        if value <= best:
            break
        best = value
        v = _furthest(matrix.T @ _furthest(matrix @ v, dual_exponent(outer)), inner)
    return best


@checked
def dual_exponent(p: Extended) -> float:
    """The q with 1/p + 1/q = 1.

    Raises
    ------
    DataError
        When p < 1.

    Example
    -------
    >>> dual_exponent(1.5), dual_exponent(1.0)
    (3.0, inf)
    """
    _check_exponent(p)
    return math.inf if p == 1.0 else 1.0 if math.isinf(p) else p / (p - 1.0)


def _furthest(direction: Floats, p: float) -> Floats:
    # The point of the unit ball of ||.||_p that is furthest in this direction.
    if p == 1.0:
        corner = np.zeros(len(direction))
        best = int(np.abs(direction).argmax())
        corner[best] = 1.0 if direction[best] >= 0.0 else -1.0
        return corner
    if math.isinf(p):
        return np.where(direction >= 0.0, 1.0, -1.0)
    largest = float(np.abs(direction).max())
    point = np.sign(direction) * (np.abs(direction) / largest) ** (1.0 / (p - 1.0))
    return point / np.linalg.norm(point, p)


def _matrix(X: ArrayLike, p: float) -> Floats:
    matrix = checks.floats("X", X, ndim=2)
    if not matrix.size:
        raise DataError(f"X: expected a matrix with a row and a column, found shape {matrix.shape}")
    _check_exponent(p)
    return matrix


def _check_exponent(p: float) -> None:
    if not p >= 1.0:
        raise DataError(f"p: expected a number >= 1 (or inf), found {p}")
