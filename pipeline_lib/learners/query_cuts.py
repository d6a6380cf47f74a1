"""How is a convex risk with kinks minimised from its values and subgradients, with planes of its own for every query?

A subgradient of phi_q at X_q w gives a plane below phi_q(X_q .); with K of them for every query, the model

    M(v) = l2/2 ||v||^2 + (1/Q) sum_q max_k (b_qk + <a_qk, v>)

lies below F, and far nearer to it than one with planes below the mean (Joachims 2006, n-slack): its minimum is a linear
programme with a variable for every query, which an interior-point method solves
(:mod:`~pipeline_lib.learners.interior`), and the number of rounds hardly depends on the number of features.
"""

import math
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from pipeline_lib.core.arrays import Floats
from pipeline_lib.learners import interior
from pipeline_lib.learners.problem import Problem, Solution, Watch
from pipeline_lib.surrogates.base import Surrogate
from pipeline_lib.surrogates.programmes import LinearProgramme

__all__: list[str] = []  # internal: what comes here was checked before (see pipeline_lib.core.checks)

ITERATIONS = 300
CERTIFICATE = "cutting planes"
NO_PROGRESS = "the gap stopped shrinking before it was reached"
# The model is minimised to this part of the gap, and at least to this part of the tolerance.
PART, LEAST_PART = 0.1, 0.3
# Planes are made at these parts of the way from the best point to the model's minimiser.
PARTS = (0.5, 1.0)
# A plane that had no larger multiplier than this for so many rounds is removed.
LITTLE, FORGET_AFTER = 1e-3, 2
# A plane is added if it is above the others of its query by this part of what the tolerance allows.
ABOVE = 0.1
# The solver gives up after so many rounds in which neither the best value nor the bound improved.
PATIENCE = 20


class Planes:
    """Planes below the losses of queries: intercepts (K,), slopes (K, d) and the query of each."""

    def __init__(self, problem: Problem) -> None:
        self.intercepts, self.slopes = np.empty(0), np.empty((0, problem.X.shape[1]))
        self.query: NDArray[np.int64] = np.empty(0, np.int64)
        self.idle: NDArray[np.int64] = np.empty(0, np.int64)

    def add(self, values: Floats, slopes: Floats, w: Floats, least: float) -> None:
        """Add the planes that touch at w, except where others of the query are within ``least`` of them there."""
        highest = np.full(len(values), -np.inf)
        np.maximum.at(highest, self.query, self.intercepts + self.slopes @ w)
        new = np.flatnonzero(values > highest + least)
        self.intercepts = np.concatenate([self.intercepts, values[new] - slopes[new] @ w])
        self.slopes = np.concatenate([self.slopes, slopes[new]])
        self.query = np.concatenate([self.query, new])
        self.idle = np.concatenate([self.idle, np.zeros(len(new), np.int64)])

    def forget(self, multipliers: Floats) -> None:
        """Remove the planes that the model's minimum has long not rested on; a query's multipliers sum up to 1."""
        self.idle = np.where(multipliers > LITTLE, 0, self.idle + 1)
        kept = self.idle <= FORGET_AFTER
        self.intercepts, self.slopes = self.intercepts[kept], self.slopes[kept]
        self.query, self.idle = self.query[kept], self.idle[kept]


class _Highest(Surrogate):
    """The highest plane of every query, as a loss of "documents" that are its slopes: max_k (b_k + s_k)."""

    name: ClassVar[str] = "planes"

    def __init__(self, intercepts: Floats) -> None:
        self._intercepts = intercepts

    def unchecked(self, scores: Floats, y: NDArray[np.int32], offsets: NDArray[np.int64]) -> tuple[Floats, Floats]:
        """See the base class."""
        heights = self._intercepts + scores
        highest = np.maximum.reduceat(heights, offsets[:-1])
        at = np.flatnonzero(heights == np.repeat(highest, np.diff(offsets)))
        gradient = np.zeros(len(scores))
        gradient[at[np.unique(np.searchsorted(offsets, at, side="right"), return_index=True)[1]]] = 1.0
        return highest, gradient

    def programme(self, y: NDArray[np.int32], offsets: NDArray[np.int64]) -> "_Heights":
        """See the base class: a variable for every query, and a row for every plane."""
        K, Q = len(self._intercepts), len(offsets) - 1
        return _Heights(
            heights=self._intercepts,
            costs=np.full(K, np.inf),
            nodes=np.c_[np.arange(K), K + np.repeat(np.arange(Q), np.diff(offsets))],
            coefficients=np.tile([-1.0, 1.0], (K, 1)),
            dues=np.ones(Q),
            offsets=offsets,
            owned=np.arange(Q + 1),
        )


class _Heights(LinearProgramme):
    """Rows z_q - s_k >= b_k: the multipliers of a query's rows sum up to its due."""

    def feasible(self, multipliers: Floats) -> Floats:
        """In the proportions of ``multipliers``."""
        sums = np.add.reduceat(multipliers, self.offsets[:-1])
        feasible: Floats = multipliers * np.repeat(self.dues / sums, np.diff(self.offsets))
        return feasible


def minimise(problem: Problem, start: Floats, tol: float, known: Planes | None = None) -> Solution:
    """Minimise F until gap <= tol * objective, from ``start``; l2 > 0 or a finite radius.

    ``known`` are planes of the same surrogate and data, met with another l2: they are used, and added to.
    """
    planes = Planes(problem) if known is None else known
    planes.idle[:] = 0
    w, best, bound, waited = start, _touch(problem, planes, start, 0.0), -math.inf, 0
    watch = Watch(problem, ITERATIONS)
    iteration = 0
    for iteration in range(ITERATIONS):
        v, lower, multipliers = _model(problem, planes, best, bound, tol)
        waited = 0 if lower > bound else waited + 1
        bound = max(bound, lower)
        watch.at(iteration, best - bound, best)
        if problem.relative(best - bound, best) <= tol:
            return Solution(w, max(best - bound, 0.0), CERTIFICATE, iteration)
        if waited == PATIENCE:
            break
        planes.forget(multipliers)
        origin = w
        for part in PARTS:
            point = origin + part * (v - origin)
            value = _touch(problem, planes, point, ABOVE * tol * max(abs(best), problem.negligible))
            if value < best:
                w, best, waited = point, value, 0
    return Solution(w, best - bound, CERTIFICATE, iteration, NO_PROGRESS)


def _touch(problem: Problem, planes: Planes, w: Floats, least: float) -> float:
    # Add the planes that touch at w and are needed there, and give F(w).
    scores = problem.X @ w
    values, gradient = problem.evaluated(scores)
    slopes = np.concatenate(
        list(problem.each(lambda block, X: np.add.reduceat(X * gradient[block.rows, None], block.offsets[:-1], axis=0)))
    )
    planes.add(values, slopes, w, least)
    return problem.objective(w, float(values.mean()))


def _model(problem: Problem, planes: Planes, best: float, bound: float, tol: float) -> tuple[Floats, float, Floats]:
    # Nearly the minimiser of the model, a lower bound of its minimum, and the multipliers of the planes
    order = np.argsort(planes.query, kind="stable")
    offsets = np.searchsorted(planes.query[order], np.arange(len(problem.offsets)))
    highest = _Highest(planes.intercepts[order])
    y = np.zeros(len(order), np.int32)
    inside = Problem(planes.slopes[order], y, offsets, highest, problem.l2, problem.radius, problem.ball)
    gap = best - bound if math.isfinite(bound) else best
    accuracy = max(PART * gap / max(abs(best), problem.negligible), LEAST_PART * tol)
    found, multipliers = interior.with_multipliers(inside, highest.programme(y, offsets), accuracy)
    lower = inside.objective(found.w, inside.loss(inside.X @ found.w)[0]) - found.gap
    return found.w, lower, multipliers[np.argsort(order)]
