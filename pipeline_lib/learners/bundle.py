"""How is a convex risk with kinks minimised to a certified gap from its values and subgradients alone?

A bundle method for  F(w) = l2/2 ||w||^2 + L(w)  over ||w|| <= radius (l2 or l1). Every subgradient a_k of L at a point
w_k gives a plane below L, b_k + <a_k, v>; the model M(v) = l2/2 ||v||^2 + max_k (b_k + <a_k, v>) lies below F, and its
minimum over the ball is a lower bound on min F, which gives the gap. While there are few planes, the minimiser of the
model is unstable. The next planes are therefore computed on the segment from the best point w to the minimiser of M(v)
+ pull/2 ||v - w||^2, with a pull such that M decreases there by about half the distance to the bound (Lemarechal,
Nemirovskii and Nesterov 1995); a line search along this segment improves the best point (Franc and Sonnenburg 2009).

The model's minimum over the ball,

    min over ||v|| <= radius of  l2/2 ||v||_2^2 + t  with  b_k + <a_k, v> <= t for all planes k,

is a small convex programme with a quadratic term and a cone; Clarabel, an interior-point solver, gives the point and
the planes' multipliers lam >= 0 with sum lam = 1. Whatever their rounding errors, the weighted mean of the planes lies
below their maximum and gives the bound.

The programme stays small: in the l2 ball the minimiser is in the span of the slopes, whose coordinates are used if
there are fewer planes than features; in the l1 ball few features enter, and a feature is added when its slope exceeds
the ball's multiplier.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline_lib.core.arrays import Floats
from pipeline_lib.learners.balls import Ball, project
from pipeline_lib.learners.problem import Problem, Solution, Watch, minorant_gap

__all__: list[str] = []  # internal: what comes here was checked before (see pipeline_lib.core.checks)

ITERATIONS = 5000
CERTIFICATE = "cutting planes"
# Planes without weight for so many rounds are removed; a weight below NO_WEIGHT counts as none.
FORGET_AFTER, NO_WEIGHT = 100, 1e-9
# Planes there is room for at first.
ROOM = 64
# A plane is made at this fraction of the rest of the way, beyond the line search.
BEYOND = 0.1
# The pull is right when the model decreases by such a share of best - bound; otherwise it is weakened or strengthened.
LITTLE, MUCH, WEAKER, STRONGER, PULLS = 0.3, 0.8, 0.25, 3.0, 2
FIRST_PULL = 1e-4
# So often the line search halves.
LINE_SEARCH_STEPS = 20
# The solver gives up after so many rounds in which neither the best value nor the bound improved.
PATIENCE = 200
NO_PROGRESS = "the gap stopped shrinking before it was reached"
# To which Clarabel solves the model.
ACCURACY = 1e-11
# So many features enter the programme of an l1 ball at first, and are added at a time.
FEATURES_AT_ONCE = 50


def minimise(problem: Problem, start: Floats, tol: float) -> Solution:
    """Minimise F for any convex surrogate until gap <= tol * objective, from ``start``; l2 > 0 or a finite radius."""
    planes = Planes(problem.X.shape[1])
    w, scores, loss = _touch(problem, planes, start)
    best, bound, waited, pull = problem.objective(w, loss), -math.inf, 0, FIRST_PULL
    watch = Watch(problem, ITERATIONS)
    for iteration in range(ITERATIONS):
        planes.minimise_model(problem)
        lower = best - minorant_gap(problem, w, loss, *planes.aggregate())
        waited = 0 if lower > bound else waited + 1
        bound = max(bound, lower)
        watch.at(iteration, best - bound, best)
        if problem.relative(best - bound, best) <= tol:
            return Solution(w, max(best - bound, 0.0), CERTIFICATE, iteration)
        if waited == PATIENCE:
            break
        target, pull = planes.half_way(problem, w, best, bound, pull)
        way, origin = target - w, w
        nearest = _line_search(problem, w, scores, way)
        lengths = (nearest, nearest + BEYOND * (1.0 - nearest), 1.0)
        for length in lengths if nearest > 0.0 else lengths[1:]:
            point = _touch(problem, planes, origin + length * way)
            if problem.objective(point[0], point[2]) < best:
                w, scores, loss = point
                best, waited = problem.objective(w, loss), 0
    return Solution(w, best - bound, CERTIFICATE, iteration, NO_PROGRESS)


def _touch(problem: Problem, planes: "Planes", w: Floats) -> tuple[Floats, Floats, float]:
    # Add the plane that touches L at w; return w, its scores and L(w).
    scores = problem.X @ w
    loss, score_gradient = problem.loss(scores)
    planes.add(loss, problem.X.T @ score_gradient, w)
    return w, scores, loss


def _line_search(problem: Problem, w: Floats, scores: Floats, way: Floats) -> float:
    # Bisect [0, 1] on the sign of the directional derivative of F; a pass over scores each, no features.
    low, high, along = 0.0, 1.0, problem.X @ way
    for _ in range(LINE_SEARCH_STEPS):
        middle = 0.5 * (low + high)
        _, score_gradient = problem.loss(scores + middle * along)
        rising = problem.l2 * float(way @ (w + middle * way)) + float(score_gradient @ along) > 0.0
        low, high = (low, middle) if rising else (middle, high)
    return low


class Planes:
    """Planes b_k + <a_k, v> below L, and the weights of those that support the model's minimum."""

    def __init__(self, d: int) -> None:
        self.intercepts: Floats = np.empty(0)
        self.weights: Floats = np.empty(0)
        self.idle: NDArray[np.int64] = np.empty(0, np.int64)
        self.used = np.zeros(d, np.bool_)  # features that some model's minimiser in the l1 ball had
        self._rows: Floats = np.empty((ROOM, d))  # of which the first are the slopes

    @property
    def slopes(self) -> Floats:
        """The slopes a_k, shape (K, d)."""
        return self._rows[: len(self.intercepts)]

    def add(self, loss: float, slope: Floats, w: Floats) -> None:
        """Add the plane that touches L at w, and forget those idle for long."""
        kept = self.idle <= FORGET_AFTER
        if not kept.all():
            self._rows[: kept.sum()] = self.slopes[kept]
            self.intercepts, self.weights, self.idle = self.intercepts[kept], self.weights[kept], self.idle[kept]
        K = len(self.intercepts)
        if len(self._rows) == K:
            self._rows = np.concatenate([self._rows, np.empty_like(self._rows)])
        self._rows[K] = slope
        self.intercepts = np.append(self.intercepts, loss - float(slope @ w))
        self.weights = np.append(self.weights, 0.0)
        self.idle = np.append(self.idle, 0)

    def aggregate(self) -> tuple[float, Floats]:
        """The weighted mean of the planes, which is itself a plane below L."""
        return float(self.weights @ self.intercepts), self.weights @ self.slopes

    def minimise_model(self, problem: Problem) -> None:
        """Find the weights of the planes that the model's minimum over the ball rests on."""
        _, self.weights = self._solved(problem, self.slopes, problem.l2)
        self.idle = np.where(self.weights > NO_WEIGHT, 0, self.idle + 1)

    def half_way(self, problem: Problem, w: Floats, best: float, bound: float, pull: float) -> tuple[Floats, float]:
        """The minimiser of the model with a pull towards ``w``, and the pull to be tried next."""
        for _ in range(PULLS):
            # l2/2 ||v||^2 + pull/2 ||v - w||^2 is (l2 + pull)/2 ||v||^2 - pull <w, v>, up to a constant.
            v, _ = self._solved(problem, self.slopes - pull * w, problem.l2 + pull)
            model = 0.5 * problem.l2 * float(v @ v) + float((self.intercepts + self.slopes @ v).max())
            share = (best - model) / (best - bound)
            if LITTLE <= share <= MUCH:
                break
            pull *= WEAKER if share < LITTLE else STRONGER
        return project(v, problem.radius, problem.ball), pull

    def _solved(self, problem: Problem, slopes: Floats, curvature: float) -> tuple[Floats, Floats]:
        w, weights = model_minimum(
            slopes, self.intercepts, curvature, problem.radius, problem.ball, np.flatnonzero(self.used)
        )
        if problem.ball == "l1":
            self.used |= np.abs(w) > NO_WEIGHT * problem.radius
        return w, weights


def model_minimum(
    slopes: Floats, intercepts: Floats, l2: float, radius: float, ball: Ball, first: NDArray[np.intp] | None = None
) -> tuple[Floats, Floats]:
    """The minimiser of the model, shape (d,), and the planes' weights, shape (K,); l2 > 0 or a finite radius.

    Parameters
    ----------
    slopes : float64, shape (K, d)
    intercepts : float64, shape (K,)
    first : features, optional
        In the l1 ball: those that enter the programme first, because a neighbouring programme used them. Any choice
        gives the same minimum.

    Example
    -------
    >>> w, weights = model_minimum(np.array([[1.0], [-1.0]]), np.array([0.0, 2.0]), 0.0, 5.0, "l2")
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
    K, d = slopes.shape
    basis = np.linalg.qr(slopes.T)[0] if d > K else None
    inner = slopes if basis is None else slopes @ basis
    n = inner.shape[1]
    rows, right = [np.c_[inner, -np.ones(K)]], [-intercepts]
    if math.isfinite(radius):
        rows.append(np.vstack([np.zeros(n + 1), -np.eye(n, n + 1)]))
        right.append(np.r_[radius, np.zeros(n)])
    quadratic = np.diag(np.r_[np.full(n, l2), 0.0])
    x, z = _solve(_sparse(quadratic), _sparse(np.vstack(rows)), np.concatenate(right), K, len(rows) - 1)
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
        rows = bmat(blocks, format="csc")
        quadratic = diags(np.r_[np.full(n, l2), np.zeros(n + 1)], format="csc")
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


def _sparse(matrix: Floats) -> Any:
    # At once: by way of coordinates, as scipy.sparse does it, this takes longer than solving a small problem.
    from scipy.sparse import csc_matrix

    columns, rows = np.nonzero(matrix.T)
    ends = np.searchsorted(columns, np.arange(matrix.shape[1] + 1))
    return csc_matrix((matrix[rows, columns], rows, ends), shape=matrix.shape)


def _weights(multipliers: Floats) -> Floats:
    positive = np.maximum(multipliers, 0.0)
    return positive / positive.sum()


def _solve(quadratic: Any, rows: Any, right: Floats, n_linear: int, n_cones: int) -> tuple[Floats, Floats]:
    # min x'Px/2 + t over rows x <= right for the first n_linear rows, and right - rows x in a cone for the others
    import clarabel

    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.max_threads = 1
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = ACCURACY
    cones: list[Any] = [clarabel.NonnegativeConeT(n_linear)]
    if n_cones:
        cones.append(clarabel.SecondOrderConeT(rows.shape[0] - n_linear))
    target: NDArray[np.float64] = np.zeros(rows.shape[1])
    target[-1] = 1.0
    solution = clarabel.DefaultSolver(quadratic, target, rows, right, cones, settings).solve()
    return np.asarray(solution.x), np.asarray(solution.z)
