"""How large can the gap be on a population of opposite halves, of which samples of any size cost nothing?

A query of kind j = 1, ..., d has m documents, m even: the first half has the features e_j, the second -e_j, so that
R_X = 1. Either the first half is relevant (label y_max, the others 0), with probability p, or the second. For the
surrogates here the loss of the ranker w depends on t = w_j alone,

    phi = even(t) - eps odd(t),    eps = 1 where the first half is relevant, -1 elsewhere.

Let c_j = (number of queries of kind j with eps = 1, less that with eps = -1) / n. Where even is constant, or d = 1,

    L(w) - Lhat(w) = sum_j (c_j - E c_j) odd(w_j),

so that a sample of n queries is d pairs of binomial numbers. If odd is concave on [0, inf), then with
a_j = |c_j - E c_j| and t = W/sqrt(d), by the tangent at t and the inequality of Cauchy and Schwarz,

    sum_j a_j odd(t)  <=  sup over ||w||_2 <= W of the gap  <=  (odd(t) - t odd'(t)) sum_j a_j + odd'(t) W ||a||_2.

The two ends agree for d = 1. For a linear odd the upper one is attained, at w proportional to a.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pipeline_lib import surrogates
from pipeline_lib.core.arrays import Floats
from pipeline_lib.surrogates.base import Surrogate
from pipeline_lib.theory import list_bounds

STEP = 1e-4
"""Of the central difference for odd'(t)."""
LINEAR_UP_TO = 0.5
"""The scores up to which RankSVM's hinges are linear."""
MEAN = {"normalisation": "mean"}
"""RankSVM as a mean over pairs."""


@dataclass(frozen=True)
class Opposites:
    """The population, and the ball ||w||_2 <= ``radius`` over which a surrogate is measured."""

    surrogate: str
    d: int
    radius: float
    y_max: int
    m: int = 2
    options: Mapping[str, Any] = field(default_factory=dict)

    @cached_property
    def loss(self) -> Surrogate:
        """The surrogate."""
        return surrogates.create(self.surrogate, **self.options)

    def values(self, t: ArrayLike) -> Floats:
        """phi, less its smallest value, at the scores t and -t of the relevant and of the other half; elementwise.

        Example
        -------
        >>> Opposites("ranksvm", 1, 0.5, 1).values([-0.5, 0.0, 0.5])
        array([2., 1., 0.])
        """
        points = np.atleast_1d(np.asarray(t, np.float64))
        signs = np.repeat([1.0, -1.0], self.m // 2)
        y = np.tile(np.where(signs > 0, self.y_max, 0).astype(np.int32), len(points))
        offsets = np.arange(len(points) + 1, dtype=np.int64) * self.m
        scores = (points[:, None] * signs).ravel()
        return np.asarray(self.loss.unchecked(scores, y, offsets)[0] - self.loss.least(y, offsets))

    def even(self, t: ArrayLike) -> Floats:
        """The part of the loss that the label does not change."""
        return np.asarray(0.5 * (self.values(np.negative(t)) + self.values(t)))

    def odd(self, t: ArrayLike) -> Floats:
        """The part of the loss whose sign the label decides."""
        return np.asarray(0.5 * (self.values(np.negative(t)) - self.values(t)))

    def suprema(self, deviations: Floats) -> tuple[Floats, Floats]:
        """Between which numbers the largest gap lies, for samples with c - E c = ``deviations``, shape (draws, d).

        Example
        -------
        >>> low, high = Opposites("ranksvm", 2, 0.5, 1).suprema(np.array([[0.3, -0.4]]))
        >>> low.round(3), high.round(3)
        (array([0.5]), array([0.5]))
        """
        size, t = np.abs(deviations), self.radius / np.sqrt(self.d)
        length = np.linalg.norm(size, axis=1)
        at, above, below = self.odd([t, t + STEP, t - STEP])
        slope = (above - below) / (2.0 * STEP)
        high = (at - t * slope) * size.sum(axis=1) + slope * self.radius * length
        low = at * size.sum(axis=1)
        if np.isclose(at, t * slope, rtol=1e-6):
            low = np.maximum(low, slope * self.radius * length)
        return low, np.maximum(low, high)

    def constants(self, bound: str, delta: float) -> dict[str, Any]:
        """What a bound of :mod:`pipeline_lib.theory.list_bounds` needs to know of the class, but for n and risks."""
        given: dict[str, Any] = {"m": self.m, "radius": self.radius, "feature_norm": 1.0}
        own = list_bounds.of_surrogate(bound, self.loss, y_max=self.y_max, **given)
        return {**given, **own, "delta": delta}

    def largest_gap(self) -> float:
        """What no gap can exceed, whatever the sample, for random labels, p = 1/2: sum_j a_j <= 1."""
        return float(self.odd(self.radius)[0])


def draw(
    n: int, d: int, p: float, draws: int, rng: np.random.Generator
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """c of ``draws`` samples of n queries, shape (draws, d), and its expectation, shape (d,).

    Example
    -------
    >>> c, expected = draw(100, 2, 0.75, 3, np.random.default_rng(0))
    >>> c.shape, expected
    ((3, 2), array([0.25, 0.25]))
    """
    kinds = rng.multinomial(n, np.full(d, 1.0 / d), size=draws) if d > 1 else np.full((draws, 1), n)
    return (2.0 * rng.binomial(kinds, p) - kinds) / n, np.full(d, (2.0 * p - 1.0) / d)
