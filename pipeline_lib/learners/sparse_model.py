"""Where is a maximum of many planes, regularised, smallest in an l1 ball, when it was known with a plane or two fewer?

    min over ||v||_1 <= radius of  c/2 ||v||_2^2 - <z, v> + max_k (b_k + <a_k, v>),   c > 0,

has the dual  max over the simplex of D(alpha) = <b, alpha> + min over the ball of c/2 ||v||_2^2 + <u, v>, where
u = sum alpha_k a_k - z. The inner minimiser v(alpha) is the projection of -u / c onto the ball, and the gradient of D
is b_k + <a_k, v(alpha)>. As long as v keeps its support J and its signs s, D is quadratic: with Pi = I - s s' / |J| on
J,

    v = -Pi u / c + s radius / |J|,    c D(alpha) = c <b, alpha> - 1/2 u' Pi u + c radius <s, u> / |J| + constant.

This quadratic is maximised over the simplex (:mod:`~pipeline_lib.learners.plane_weights`), D is maximised on the way
there, and so on with the support found: Newton's method on a concave function made of pieces, which ends in the right
piece. The weights are kept for the next time, when few of them change.
"""

import numpy as np
from numpy.typing import NDArray

from pipeline_lib.core.arrays import Floats
from pipeline_lib.learners.balls import norm, project
from pipeline_lib.learners.plane_weights import Weights

__all__: list[str] = []  # internal: what comes here was checked before (see pipeline_lib.core.checks)

STEPS, HALVINGS = 100, 40


class SparseModel:
    """The weights of the planes that a model was last solved with.

    Example
    -------
    >>> slopes = np.array([[1.0, 0.0], [-1.0, 0.5]])
    >>> v, weights = SparseModel().minimise(slopes, slopes @ slopes.T, np.array([0.0, 2.0]), 0.5, 0.25)
    >>> v, weights
    (array([ 0.25, -0.  ]), array([0., 1.]))
    """

    def __init__(self) -> None:
        self._weights: Floats = np.empty(0)

    @property
    def positive(self) -> NDArray[np.int64]:
        """The planes of positive weight."""
        return np.flatnonzero(self._weights)

    def keep(self, kept: NDArray[np.bool_]) -> None:
        """Number the planes anew after those with ``kept`` False, none of positive weight, were left out."""
        self._weights = self._weights[kept[: len(self._weights)]]

    def minimise(
        self,
        slopes: Floats,
        gram: Floats,
        intercepts: Floats,
        c: float,
        radius: float,
        towards: Floats | None = None,
        accuracy: float = 0.0,
    ) -> tuple[Floats, Floats]:
        """Give v, shape (d,), to within ``accuracy`` of the minimum, and the weights of the planes, shape (K,).

        Planes are as before, in the same order, with new ones behind them; ``towards`` is z.
        """
        K, d = slopes.shape
        z = np.zeros(d) if towards is None else towards
        weights = np.zeros(K)
        weights[: len(self._weights)] = self._weights
        if not len(self._weights):
            weights[0] = 1.0
        mean = weights @ slopes
        for _ in range(STEPS):
            v = project((z - mean) / c, radius, "l1")
            heights = intercepts + slopes @ v
            if heights.max() - weights @ heights <= max(accuracy, 1e-15 * float(np.abs(heights).max())):
                break
            change = _best_on_piece(slopes, gram, intercepts, c, radius, z, v, mean) - weights
            along = change @ slopes
            length = _length(float(intercepts @ change), along, mean - z, c, radius)
            if length == 0.0:
                break
            weights = np.maximum(weights + length * change, 0.0)
            mean = weights @ slopes
        self._weights = weights
        return v, weights


def _best_on_piece(
    slopes: Floats, gram: Floats, intercepts: Floats, c: float, radius: float, z: Floats, v: Floats, mean: Floats
) -> Floats:
    # The weights at which the quadratic that D is around v is largest
    if norm((z - mean) / c, "l1") <= radius:
        return Weights().minimise(gram, c * intercepts + slopes @ z)
    support = np.flatnonzero(v)
    inside, signs, n = slopes[:, support], np.sign(v[support]), len(support)
    across = inside @ signs
    curvature = inside @ inside.T - np.outer(across, across) / n
    pulled = z[support] - signs * (float(signs @ z[support]) / n)
    return Weights().minimise(curvature, inside @ pulled + (c * radius / n) * across + c * intercepts)


def _length(rise: float, along: Floats, u: Floats, c: float, radius: float) -> float:
    # Where in [0, 1] D is largest on the way: halving on the sign of its derivative
    def rises(length: float) -> bool:
        return rise + float(along @ project(-(u + length * along) / c, radius, "l1")) > 0.0

    if rises(1.0):
        return 1.0
    low, high = 0.0, 1.0
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if rises(middle) else (low, middle)
    return low
