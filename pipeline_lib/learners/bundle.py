"""How is a convex risk with kinks minimised to a certified gap from its values and subgradients alone?

A bundle method for  F(w) = l2/2 ||w||^2 + L(w)  over ||w|| <= radius (l2 or l1). Every subgradient a_k of L at a point
w_k gives a plane below L, b_k + <a_k, v>; the model M(v) = l2/2 ||v||^2 + max_k (b_k + <a_k, v>) lies below F, and its
minimum over the ball is a lower bound on min F, which gives the gap. While there are few planes, the minimiser of the
model is unstable. The next planes are therefore computed on the segment from the best point w to the minimiser of M(v)
+ pull/2 ||v - w||^2, with a pull such that M decreases there by about half the distance to the bound (Lemarechal,
Nemirovskii and Nesterov 1995); a line search along this segment improves the best point (Franc and Sonnenburg 2009).

The model is solved by :mod:`~pipeline_lib.learners.plane_model`. The bound is computed from the planes' weights that it
gives and is valid whatever they are.
"""

import math

import numpy as np
from numpy.typing import NDArray

from pipeline_lib.core.arrays import Floats
from pipeline_lib.learners import plane_model
from pipeline_lib.learners.balls import project
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
        w, weights = plane_model.minimise(
            slopes, self.intercepts, curvature, problem.radius, problem.ball, np.flatnonzero(self.used)
        )
        if problem.ball == "l1":
            self.used |= np.abs(w) > NO_WEIGHT * problem.radius
        return w, weights
