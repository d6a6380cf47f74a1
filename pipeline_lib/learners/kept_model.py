"""Where is a maximum of many planes, regularised, smallest in an l2 ball, when it was known with a plane or two fewer?

    min over ||v||_2 <= radius of  c/2 ||v||^2 - <z, v> + max_k (b_k + <a_k, v>)

is solved through its dual. For weights alpha of the planes, a multiplier of the ball that raises c, and G the Gram
matrix of the slopes, the minimiser is v = (z - sum alpha_k a_k) / c, and alpha minimises

    1/2 alpha' G alpha - sum alpha_k (c b_k + <a_k, z>)

over the simplex (:mod:`~pipeline_lib.learners.plane_weights`). The ball's multiplier is where ||v|| = radius: ||v||
falls as c rises, while c ||v|| does not, so that c ||v|| / radius is a step towards it from below. The weights and c
are kept for the next time, when few of them change.
"""

import math

import numpy as np
from numpy.typing import NDArray

from pipeline_lib.core.arrays import Floats
from pipeline_lib.learners.plane_weights import Weights

__all__: list[str] = []  # internal: what comes here was checked before (see pipeline_lib.core.checks)

# ||v|| is the radius up to this relative error, which costs the lower bound its square; after so many trials at most.
ON_SPHERE, TRIALS = 1e-8, 60
# Where c = 0 and the ball is not met, c is this fraction of (the largest intercept) / radius^2 in place of 0.
LEAST = 1e-8
# And at least this fraction of (the longest slope) / radius, so that v remains finite if all planes pass through 0.
LEAST_BY_SLOPES = 1e-30


class KeptModel:
    """The weights and the multiplier that a model was last solved with.

    Example
    -------
    >>> slopes = np.array([[1.0], [-1.0]])
    >>> model = KeptModel()
    >>> v, weights = model.minimise(slopes, slopes @ slopes.T, np.array([0.0, 2.0]), 0.5, np.inf)
    >>> v, weights
    (array([1.]), array([0.25, 0.75]))
    >>> model.minimise(slopes, slopes @ slopes.T, np.array([0.0, 2.0]), 0.5, 0.25)[0].round(6)
    array([0.25])
    """

    def __init__(self) -> None:
        self._weights = Weights()
        self._curvature = 0.0

    @property
    def positive(self) -> NDArray[np.int64]:
        """The planes of positive weight."""
        return self._weights.positive

    def keep(self, kept: NDArray[np.bool_]) -> None:
        """Number the planes anew after those with ``kept`` False, none of positive weight, were left out."""
        self._weights.keep(kept)

    def minimise(
        self,
        slopes: Floats,
        gram: Floats,
        intercepts: Floats,
        c: float,
        radius: float,
        towards: Floats | None = None,
    ) -> tuple[Floats, Floats]:
        """Give v, shape (d,), and the weights of the planes, shape (K,); c > 0 or a finite radius; ``towards`` is z.

        Planes are as before, in the same order, with new ones behind them; ``gram`` may have room for more.
        """
        z = np.zeros(slopes.shape[1]) if towards is None else towards
        products = slopes @ z
        if math.isinf(radius):
            return self._at(c, slopes, gram, intercepts, z, products)
        steepest = math.sqrt(float(np.diagonal(gram)[: len(slopes)].max()))
        by_slopes = max(LEAST_BY_SLOPES * steepest / radius, float(np.finfo(float).tiny))
        least = max(c, LEAST * float(np.abs(intercepts).max()) / radius**2, by_slopes)
        search = _Bracket(least)
        c = max(least, self._curvature)
        for _ in range(TRIALS):
            v, weights = self._at(c, slopes, gram, intercepts, z, products)
            excess = math.log(max(float(np.linalg.norm(v)) / radius, 1e-300))
            if abs(excess) <= ON_SPHERE or (excess < 0.0 and c <= least * (1.0 + ON_SPHERE)):
                break
            c = search.next(c, excess)
        self._curvature = c
        return v, weights

    def _at(
        self, c: float, slopes: Floats, gram: Floats, intercepts: Floats, z: Floats, products: Floats
    ) -> tuple[Floats, Floats]:
        weights = self._weights.minimise(gram, c * intercepts + products)
        return (z - weights @ slopes) / c, weights


class _Bracket:
    """Where log ||v|| - log radius, which falls with log c at a rate between 0 and 1, is 0; c >= least."""

    def __init__(self, least: float) -> None:
        self._low, self._high, self._low_is_known = math.log(least), math.inf, False
        self._before: tuple[float, float] | None = None

    def next(self, c: float, excess: float) -> float:
        """The c to try after ``excess`` was found at ``c``: by the secant, where it keeps to what is known."""
        x, rate = math.log(c), 1.0
        if excess > 0.0:
            self._low, self._low_is_known = x, True
        else:
            self._high = x
        if self._before is not None and x != self._before[0]:
            rate = min(max((self._before[1] - excess) / (x - self._before[0]), 1e-3), 1.0)
        self._before = x, excess
        trial = x + min(excess / rate, 20.0)
        if self._low < trial < self._high:
            return math.exp(trial)
        if trial <= self._low and not self._low_is_known:
            return math.exp(self._low)
        return math.exp(0.5 * (self._low + self._high))
