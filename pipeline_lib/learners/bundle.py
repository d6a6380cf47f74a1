"""How is a convex risk with kinks minimised to a certified gap from its values and subgradients alone?

A cutting-plane method for  F(w) = l2/2 ||w||^2 + L(w)  over ||w|| <= radius. Every subgradient a_k of L at a point w_k
gives a plane below L, b_k + <a_k, v>; the model l2/2 ||v||^2 + max_k (b_k + <a_k, v>) lies below F, and its minimum
over the ball is a lower bound on min F, whence the gap. The planes are made where they help most, close to the best
point on the way to the model's minimiser, and the best point is improved by a line search along that way (the
optimised cutting-plane algorithm of Franc and Sonnenburg 2009).

The model is minimised through its dual, over the weights lam of the planes (lam >= 0, sum lam = 1),

    max  <b, lam> - ||sum lam_k a_k||^2 / (2 curvature) - (curvature - l2) radius^2 / 2,

with curvature = l2 without an active ball, by an active-set method that is exact up to rounding (as Wolfe's 1976
minimum-norm-point method, with a linear term); with an active ball, curvature = l2 + mu is found such that
||w|| = radius. Whatever the weights, the bound computed from them is valid.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from pipeline_lib.learners.problem import Problem, Solution, minorant_gap
from pipeline_lib.surrogates.base import Floats

ITERATIONS = 1000
CERTIFICATE = "cutting planes"
# Planes that carried no weight for so many rounds are forgotten.
FORGET_AFTER = 50
# A plane is made at this fraction of the way from the best point to the model's minimiser, beyond the line search.
TOWARDS_MODEL = 0.1
# The model is minimised to this fraction of the gap asked for.
MODEL_ACCURACY = 0.01
# Planes count as affinely dependent below this relative singular value.
DEPENDENT = 1e-11
LINE_SEARCH_STEPS = 20
# Trials for the curvature with which the model's minimiser lies on the sphere.
CURVATURES = 60
NO_PROGRESS = f"the gap was not reached in {ITERATIONS} cutting planes"


def minimise(problem: Problem, start: Floats, tol: float) -> Solution:
    """Minimise F for any convex surrogate until gap <= tol * objective, from ``start``; l2 > 0 or a finite radius."""
    planes = Planes(len(start))
    w, scores, loss = _touch(problem, planes, start)
    best, bound = problem.objective(w, loss), -math.inf
    for iteration in range(ITERATIONS):
        planes.minimise_model(problem.l2, problem.radius, MODEL_ACCURACY * tol * max(abs(best), problem.negligible))
        bound = max(bound, best - minorant_gap(problem, w, loss, *planes.aggregate()))
        if problem.relative(best - bound, best) <= tol:
            return Solution(w, max(best - bound, 0.0), CERTIFICATE, iteration)
        way = planes.point(problem.l2, problem.radius) - w
        lowest = _line_search(problem, w, scores, way)
        origin = w
        lengths = (lowest, lowest + TOWARDS_MODEL * (1.0 - lowest), 1.0)
        for length in lengths if lowest > 0.0 else lengths[1:]:
            point = _touch(problem, planes, origin + length * way)
            if problem.objective(point[0], point[2]) < best:
                w, scores, loss = point
                best = problem.objective(w, loss)
    return Solution(w, best - bound, CERTIFICATE, ITERATIONS, NO_PROGRESS)


def _touch(problem: Problem, planes: Planes, w: Floats) -> tuple[Floats, Floats, float]:
    # Add the plane that touches L at w; give w, its scores and L(w).
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
    """Planes b_k + <a_k, v> below L, and the weights of those that the model's minimum rests on."""

    def __init__(self, d: int) -> None:
        self.slopes: Floats = np.empty((0, d))
        self.intercepts: Floats = np.empty(0)
        self.gram: Floats = np.empty((0, 0))
        self.weights: Floats = np.empty(0)
        self.idle: NDArray[np.int64] = np.empty(0, np.int64)

    def add(self, loss: float, slope: Floats, w: Floats) -> None:
        """Add the plane that touches L at w, and forget those idle for long."""
        kept = (self.idle <= FORGET_AFTER) | (self.weights > 0.0)
        self.slopes = np.vstack([self.slopes[kept], slope])
        self.intercepts = np.append(self.intercepts[kept], loss - float(slope @ w))
        products = self.slopes @ slope
        self.gram = np.block([[self.gram[np.ix_(kept, kept)], products[:-1, None]], [products[None, :]]])
        self.weights = np.append(self.weights[kept], 0.0 if kept.any() else 1.0)
        self.idle = np.append(self.idle[kept], 0)

    def aggregate(self) -> tuple[float, Floats]:
        """The weighted mean of the planes: itself a plane below L."""
        return float(self.weights @ self.intercepts), self.weights @ self.slopes

    def point(self, l2: float, radius: float) -> Floats:
        """The model's minimiser that the weights stand for."""
        _, slope = self.aggregate()
        norm = float(np.linalg.norm(slope))
        if l2 > 0.0 and norm <= l2 * radius:
            return -slope / l2
        return -slope * (radius / norm) if norm > 0.0 else np.zeros_like(slope)

    def minimise_model(self, l2: float, radius: float, accuracy: float) -> None:
        """Find the weights for the model's minimum over the ball, to ``accuracy`` of its value."""
        if l2 > 0.0:
            self._maximise_dual(l2, accuracy)
            if np.linalg.norm(self.aggregate()[1]) <= l2 * radius:
                self._age()
                return
        low, high = l2, max(2.0 * l2, 2.0 * float(np.sqrt(self.gram.diagonal().max())) / radius)
        # ||w|| = ||slope|| / curvature falls as the curvature rises: find where it is the radius. That of the last
        # slope is tried and the bracket halved, in turn.
        for trial in range(CURVATURES):
            guess = float(np.linalg.norm(self.aggregate()[1])) / radius
            curvature = guess if low < guess < high and trial % 2 == 0 else 0.5 * (low + high)
            self._maximise_dual(curvature, accuracy)
            reached = float(np.linalg.norm(self.aggregate()[1])) / (curvature * radius)
            if abs(reached - 1.0) <= 1e-12 or curvature <= 1e-14 * high:
                break
            low, high = (curvature, high) if reached > 1.0 else (low, curvature)
        self._age()

    def _age(self) -> None:
        self.idle = np.where(self.weights > 0.0, 0, self.idle + 1)

    def _maximise_dual(self, curvature: float, accuracy: float) -> None:
        # Give weight to the plane that is highest at the model's point, settle the weights, repeat.
        for _ in range(20 * len(self.weights)):
            heights = self._settle(curvature)
            highest = int(np.argmax(heights))
            rise = float(heights[highest] - heights @ self.weights)
            if rise <= max(accuracy, 1e-15 * float(np.abs(self.intercepts).max())):
                return
            self._take_in(highest, curvature, heights)

    def _heights(self, curvature: float) -> Floats:
        # Of all planes, at the point that the weights stand for: the dual's gradient
        heights: Floats = self.intercepts - self.gram @ self.weights / curvature
        return heights

    def _take_in(self, plane: int, curvature: float, heights: Floats) -> None:
        # An exact step from the weights towards the plane alone: gives the plane a weight, and raises the dual.
        direction = -self.weights
        direction[plane] += 1.0
        bend = float(direction @ self.gram @ direction) / curvature
        rise = float(heights @ direction)
        length = min(1.0, rise / bend) if bend > 0.0 else 1.0
        self.weights = np.maximum(self.weights + length * direction, 0.0)
        self.weights /= self.weights.sum()

    def _settle(self, curvature: float) -> Floats:
        # On the planes with weight, walk to the best weights with sum 1; where a weight meets 0, drop its plane and
        # walk on. Gives the heights of all planes there.
        while True:
            heights = self._heights(curvature)
            active = np.flatnonzero(self.weights > 0.0)
            if len(active) == 1:
                return heights
            direction, bounded = self._ascent(active, curvature, heights)
            now = self.weights[active]
            falling = direction < 0.0
            lengths = np.where(falling, now / np.where(falling, -direction, 1.0), np.inf)
            length = float(lengths.min())
            if bounded and length >= 1.0:
                self.weights[active] = np.maximum(now + direction, 0.0)
                self.weights /= self.weights.sum()
                return self._heights(curvature)
            moved = np.maximum(now + length * direction, 0.0)
            moved[lengths <= length] = 0.0
            self.weights[active] = moved
            self.weights /= self.weights.sum()

    def _ascent(self, active: NDArray[np.int64], curvature: float, heights: Floats) -> tuple[Floats, bool]:
        # The step (summing to 0) to the dual's maximum on the active planes' affine hull, and True; or, where affinely
        # dependent planes let the dual rise for ever, a direction in which it does, and False. Steps are measured in
        # the differences from one plane, whose singular values are those of the slopes, not their squares.
        base = int(np.argmax(self.weights[active]))
        others = np.delete(active, base)
        differences = self.slopes[others] - self.slopes[active[base]]
        rises = heights[others] - heights[active[base]]
        left, singular, _ = np.linalg.svd(differences, full_matrices=True)
        spanned = int(np.sum(singular > DEPENDENT * max(singular[0], np.finfo(float).tiny)))
        coefficients = left.T @ rises
        noise = 1e-13 * float(np.abs(heights[active]).max())
        bounded = bool(np.all(np.abs(coefficients[spanned:]) <= noise))
        if bounded:
            change = left[:, :spanned] @ (curvature * coefficients[:spanned] / singular[:spanned] ** 2)
        else:
            change = left[:, spanned:] @ coefficients[spanned:]
        return np.insert(change, base, -change.sum()), bounded
