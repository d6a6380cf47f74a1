"""Where is a regularised maximum of planes smallest within a ball, and which weights of the planes prove it?

    min over ||v|| <= radius of  l2/2 ||v||_2^2 + t  with  b_k + <a_k, v> <= t for all planes k

is a small convex programme with a quadratic term and a cone; Clarabel, an interior-point solver, gives the point and
the planes' multipliers lam >= 0 with sum lam = 1. Whatever their rounding errors, the weighted mean of the planes lies
below their maximum and bounds it.

The programme stays small: in the l2 ball the minimiser is in the span of the slopes, whose coordinates are used if
there are fewer planes than features; in the l1 ball few features enter, and a feature is added when its slope exceeds
the ball's multiplier.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline_lib.core.arrays import Floats
from pipeline_lib.learners.balls import Ball

__all__: list[str] = []  # internal: what comes here was checked before (see pipeline_lib.core.checks)

ACCURACY = 1e-11
# So many features enter the programme of an l1 ball at first, and are added at a time.
FEATURES_AT_ONCE = 50


def minimise(
    slopes: Floats,
    intercepts: Floats,
    l2: float,
    radius: float,
    ball: Ball,
    first: NDArray[np.intp] | None = None,
) -> tuple[Floats, Floats]:
    """Give the minimiser, shape (d,), and the planes' weights, shape (K,); l2 > 0 or a finite radius.

    Parameters
    ----------
    slopes : float64, shape (K, d)
    intercepts : float64, shape (K,)
    first : features, optional
        In the l1 ball: those that enter the programme first, because a neighbouring programme used them. Any choice
        gives the same minimum.

    Example
    -------
    >>> w, weights = minimise(np.array([[1.0], [-1.0]]), np.array([0.0, 2.0]), 0.0, 5.0, "l2")
    >>> w.round(6), weights.round(6)
    (array([1.]), array([0.5, 0.5]))
    """
    # Scale to numbers of size 1, on which the solver's accuracy is defined.
    unit = max(float(np.ptp(intercepts)), float(np.abs(slopes).max(initial=0.0)), float(np.finfo(float).tiny))
    heights = (intercepts - intercepts.max()) / unit
    if ball == "l2" or math.isinf(radius):
        return _in_euclidean_ball(slopes / unit, heights, l2 / unit, radius)
    return _in_l1_ball(slopes / unit, heights, l2 / unit, radius, np.empty(0, np.intp) if first is None else first)


def _in_euclidean_ball(slopes: Floats, intercepts: Floats, l2: float, radius: float) -> tuple[Floats, Floats]:
    from scipy.sparse import diags

    K, d = slopes.shape
    basis = np.linalg.qr(slopes.T)[0] if d > K else None
    inner = slopes if basis is None else slopes @ basis
    n = inner.shape[1]
    rows, right = [np.c_[inner, -np.ones(K)]], [-intercepts]
    if math.isfinite(radius):
        rows.append(np.vstack([np.zeros(n + 1), -np.eye(n, n + 1)]))
        right.append(np.r_[radius, np.zeros(n)])
    quadratic = diags(np.r_[np.full(n, l2), 0.0])
    x, z = _solve(quadratic, np.vstack(rows), np.concatenate(right), K, len(rows) - 1)
    return (x[:n] if basis is None else basis @ x[:n]), _weights(z[:K])


def _in_l1_ball(
    slopes: Floats, intercepts: Floats, l2: float, radius: float, first: NDArray[np.intp]
) -> tuple[Floats, Floats]:
    from scipy.sparse import bmat, csc_matrix, diags, identity

    K, d = slopes.shape
    steepest = np.argsort(-np.abs(slopes[-1]), kind="stable")
    chosen = np.union1d(first, steepest[:FEATURES_AT_ONCE])
    while True:
        # -u <= v <= u, sum u <= radius
        n = len(chosen)
        one = identity(n)
        blocks: list[list[Any]] = [
            [csc_matrix(slopes[:, chosen]), None, csc_matrix(-np.ones((K, 1)))],
            [None, csc_matrix(np.ones((1, n))), None],
            [one, -one, None],
            [-one, -one, None],
        ]
        rows = bmat(blocks)
        quadratic = diags(np.r_[np.full(n, l2), np.zeros(n + 1)])
        x, z = _solve(quadratic, rows, np.r_[-intercepts, radius, np.zeros(2 * n)], K + 1 + 2 * n, 0)
        weights = _weights(z[:K])
        steepness = np.abs(weights @ slopes)
        steepness[chosen] = 0.0
        joining = np.flatnonzero(steepness > z[K] + 1e-9)
        if not len(joining):
            w = np.zeros(d)
            w[chosen] = x[:n]
            return w, weights
        steepest = joining[np.argsort(-steepness[joining], kind="stable")]
        chosen = np.union1d(chosen, steepest[:FEATURES_AT_ONCE])


def _weights(multipliers: Floats) -> Floats:
    positive = np.maximum(multipliers, 0.0)
    weights: Floats = positive / positive.sum()
    return weights


def _solve(quadratic: Any, rows: Any, right: Floats, n_linear: int, n_cones: int) -> tuple[Floats, Floats]:
    # min x'Px/2 + t over rows x <= right for the first n_linear rows, and right - rows x in a cone for the others
    import clarabel
    from scipy.sparse import csc_matrix

    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.max_threads = 1
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = ACCURACY
    cones: list[Any] = [clarabel.NonnegativeConeT(n_linear)]
    if n_cones:
        cones.append(clarabel.SecondOrderConeT(rows.shape[0] - n_linear))
    target: NDArray[np.float64] = np.zeros(rows.shape[1])
    target[-1] = 1.0
    solution = clarabel.DefaultSolver(csc_matrix(quadratic), target, csc_matrix(rows), right, cones, settings).solve()
    return np.asarray(solution.x), np.asarray(solution.z)
