"""Which surrogates compare every score with its own label?"""

import math
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from pipeline_lib.core.arrays import Floats
from pipeline_lib.core.checks import Count, Label, NonNegative
from pipeline_lib.core.compiled import njit
from pipeline_lib.surrogates.base import Norm, ScoreBound, SmoothSurrogate, What, needed_score_bound


class Squared(SmoothSurrogate):
    """phi(s, y) = sum_i (s_i - y_i)^2, with gradient 2 (s - y).

    It is not globally Lipschitz. On ||s||_inf <= S, with labels in 0..y_max, G = 2 m (S + y_max) with respect to
    l_inf and 2 sqrt(m) (S + y_max) with respect to l_2; both are attained at s = -S 1, y = y_max 1. Everywhere
    H = 2 m (attained by u = 1).

    References
    ----------
    `topk`, section 4.1; Cossock and Zhang 2008.

    Example
    -------
    >>> loss = Squared()
    >>> loss.value([1.0, 0.0, 3.0], [1, 2, 0], [0, 2, 3]), loss.gradient([1.0, 0.0, 3.0], [1, 2, 0], [0, 2, 3])
    (array([4., 9.]), array([ 0., -4.,  6.]))
    >>> loss.lipschitz(10, 2, score_bound=3.0)
    100.0
    """

    name: ClassVar[str] = "squared"
    formula: ClassVar[str] = r"\varphi(s, y) = \sum_i (s_i - y_i)^2"
    third_order: ClassVar[float] = 0.0
    exact: ClassVar[tuple[What, ...]] = ("lipschitz-linf", "lipschitz-l2", "smoothness", "bound")

    def unchecked(self, scores: Floats, y: NDArray[np.int32], offsets: NDArray[np.int64]) -> tuple[Floats, Floats]:
        """See the base class."""
        return squared_distance(scores, y, offsets)

    def hessian_product(self, scores: Floats, y: NDArray[np.int32], offsets: NDArray[np.int64], V: Floats) -> Floats:
        """2 V."""
        return 2.0 * V

    def lipschitz(self, m: Count, y_max: Label, norm: Norm = "linf", *, score_bound: ScoreBound = None) -> float:
        """2 m (S + y_max) or 2 sqrt(m) (S + y_max), with S = score_bound; attained."""
        return 2.0 * (m if norm == "linf" else math.sqrt(m)) * (needed_score_bound(self.name, score_bound) + y_max)

    def smoothness(self, m: Count, y_max: Label, *, score_bound: ScoreBound = None) -> float:
        """2 m; attained."""
        return 2.0 * m

    def bound(self, m: Count, y_max: Label, score_bound: NonNegative) -> float:
        """m (S + y_max)^2, attained at s = -S 1 and y = y_max 1."""
        return m * (score_bound + y_max) ** 2


@njit(nogil=True)
def squared_distance(s, target, offsets):  # type: ignore[no-untyped-def]
    """phi = sum_i (s_i - g_i)^2 of every query, and the gradient 2 (s_i - g_i); internal: nothing is checked."""
    values, gradient = np.zeros(len(offsets) - 1), np.zeros(len(s))
    for q in range(len(values)):
        for i in range(offsets[q], offsets[q + 1]):
            difference = s[i] - target[i]
            values[q] += difference * difference
            gradient[i] = 2.0 * difference
    return values, gradient
