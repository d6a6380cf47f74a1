"""How does an interior-point method keep w inside a ball?

Every class has slacks and multipliers of its own, which belong to the point of
:mod:`~pipeline_lib.learners.interior`: products that go towards mu, a part of the matrix and of the right side, and its
directions once that of w is known.
"""

from __future__ import annotations

import math

import numpy as np

from pipeline_lib.arrays import Floats
from pipeline_lib.learners.problem import Problem

__all__: list[str] = []  # internal: what comes here was checked before (see pipeline_lib.checks)


class Barrier:
    """That of no ball at all."""

    def add_to(self, matrix: Floats, w: Floats) -> None:
        """Add the second derivative in w to the matrix, in place."""

    def right(self, w: Floats, mu: float, corrected: bool) -> Floats | float:
        """The part of the right side for products mu; ``corrected`` by the products of the directions before."""
        return 0.0

    def direct(self, w: Floats, change: Floats) -> None:
        """Find the directions that belong to that of w."""

    def products(self, length: float) -> tuple[float, int]:
        """The sum of the products after a part of the way, and their number."""
        return 0.0, 0

    def longest(self) -> float:
        """The part of the way on which nothing becomes negative."""
        return math.inf

    def move(self, length: float) -> None:
        """Go this part of the way."""


class L2Barrier(Barrier):
    """tau = (radius^2 - ||w||^2) / 2 >= 0 with its multiplier nu: the gradient is nu w."""

    def __init__(self, radius: float, mu: float) -> None:
        self._half = 0.5 * radius**2
        self._tau, self._nu = self._half, mu / self._half
        self._d_tau = self._d_nu = 0.0

    def add_to(self, matrix: Floats, w: Floats) -> None:
        """nu I + nu / tau w w'."""
        matrix[np.diag_indices(len(w))] += self._nu
        matrix += (self._nu / self._tau) * np.outer(w, w)

    def right(self, w: Floats, mu: float, corrected: bool) -> Floats:
        """- w (nu + (mu - nu tau - nu missing) / tau), with what tau is missing."""
        self._missing = self._half - 0.5 * float(w @ w) - self._tau
        self._short = mu - self._nu * self._tau - (self._d_nu * self._d_tau if corrected else 0.0)
        return -w * (self._nu + (self._short - self._nu * self._missing) / self._tau)

    def direct(self, w: Floats, change: Floats) -> None:
        """See the base class."""
        self._d_tau = self._missing - float(w @ change)
        self._d_nu = (self._short - self._nu * self._d_tau) / self._tau

    def products(self, length: float) -> tuple[float, int]:
        """See the base class."""
        return (self._nu + length * self._d_nu) * (self._tau + length * self._d_tau), 1

    def longest(self) -> float:
        """See the base class."""
        return min(_length(self._tau, self._d_tau), _length(self._nu, self._d_nu))

    def move(self, length: float) -> None:
        """See the base class."""
        self._tau, self._nu = self._tau + length * self._d_tau, self._nu + length * self._d_nu


class L1Barrier(Barrier):
    """u - w >= 0 and u + w >= 0 with multipliers alpha and beta, and tau = radius - sum u >= 0 with nu.

    The gradient is alpha - beta. With p = alpha / (u - w), q = beta / (u + w), kappa = nu / tau and the variables u
    eliminated, the second derivative is 4 p q / (p + q) on the diagonal and kappa / (1 + kappa sum 1 / (p + q)) times
    the square of (q - p) / (p + q).
    """

    def __init__(self, d: int, radius: float, mu: float) -> None:
        u = radius / (2.0 * d)
        # Slacks u - w, u + w and tau, and their multipliers
        self._at = np.concatenate([np.full(2 * d, u), [radius / 2.0]])
        self._by = mu / self._at
        self._d_at, self._d_by = np.zeros(2 * d + 1), np.zeros(2 * d + 1)
        self._d = d

    def add_to(self, matrix: Floats, w: Floats) -> None:
        """See the class."""
        d, rate = self._d, self._by / self._at
        p, q, kappa = rate[:d], rate[d : 2 * d], rate[-1]
        self._sum, self._skew = p + q, q - p
        self._kappa = kappa / (1.0 + kappa * float(np.sum(1.0 / self._sum)))
        matrix[np.diag_indices(d)] += 4.0 * p * q / self._sum
        tilt = self._skew / self._sum
        matrix += self._kappa * np.outer(tilt, tilt)

    def right(self, w: Floats, mu: float, corrected: bool) -> Floats:
        """See the base class."""
        d = self._d
        short = mu - self._at * self._by - (self._d_at * self._d_by if corrected else 0.0)
        self._pushed = short / self._at
        alpha, beta, nu = self._by[:d], self._by[d : 2 * d], self._by[-1]
        a, b = self._pushed[:d], self._pushed[d : 2 * d]
        self._of_u = alpha + beta - nu + a + b - self._pushed[-1]
        return -(alpha - beta) - (a - b) - self._skew * self._solved(self._of_u)

    def direct(self, w: Floats, change: Floats) -> None:
        """See the base class."""
        u = self._solved(self._of_u - self._skew * change)
        self._d_at = np.concatenate([u - change, u + change, [-float(u.sum())]])
        self._d_by = self._pushed - self._by / self._at * self._d_at

    def products(self, length: float) -> tuple[float, int]:
        """See the base class."""
        return float((self._at + length * self._d_at) @ (self._by + length * self._d_by)), len(self._at)

    def longest(self) -> float:
        """See the base class."""
        return min(_length(self._at, self._d_at), _length(self._by, self._d_by))

    def move(self, length: float) -> None:
        """See the base class."""
        self._at, self._by = self._at + length * self._d_at, self._by + length * self._d_by

    def _solved(self, right: Floats) -> Floats:
        # (diag(p + q) + kappa 11')^-1 right
        solved: Floats = (right - self._kappa * float(np.sum(right / self._sum))) / self._sum
        return solved


def barrier(problem: Problem, mu: float) -> Barrier:
    """The barrier of the problem's ball, if there is one, with products ``mu`` at first."""
    if math.isinf(problem.radius):
        return Barrier()
    if problem.ball == "l2":
        return L2Barrier(problem.radius, mu)
    return L1Barrier(problem.X.shape[1], problem.radius, mu)


def _length(at: Floats | float, change: Floats | float) -> float:
    values, changes = np.atleast_1d(at), np.atleast_1d(change)
    falling = changes < 0.0
    return float((-values[falling] / changes[falling]).min()) if falling.any() else math.inf
