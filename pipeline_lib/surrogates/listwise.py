"""Which surrogates compare the whole list of scores with the whole list of labels?"""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np
from numba import njit
from numpy.typing import NDArray

from pipeline_lib.surrogates.base import Floats, Norm, SmoothSurrogate, check_list


class ListNet(SmoothSurrogate):
    """phi(s, y) = -sum_i P_i(y) log P_i(s), P = softmax: the cross entropy of top-one probabilities.

    The gradient is P(s) - P(y), the second derivative the covariance diag P(s) - P(s) P(s)'.

    Constants, free of m: G <= 2 with respect to l_inf, as published; the exact supremum for labels in 0..y_max is
    2 - 2 / (1 + (m - 1) e^y_max), approached when all score mass goes to the one document of label 0, so that 2 is
    tight as m or y_max grows. With respect to l_2 the distance of two distributions is at most sqrt(2), tight as
    y_max grows. The published H <= 2 is not tight: u' D^2 phi u is the variance of u under P(s), at most 1 for
    ||u||_inf <= 1 (attained by two documents of equal score); `smoothness` gives the published 2.

    References
    ----------
    Cao et al. 2007; `slam`, appendix (Lipschitz constant); `lists`, Proposition 1 (G and H).

    Example
    -------
    >>> import numpy as np
    >>> values, gradient = ListNet().value_and_gradient([0.0, 0.0], [0, 0], [0, 2])
    >>> bool(np.isclose(values[0], np.log(2))), gradient
    (True, array([0., 0.]))
    """

    name: ClassVar[str] = "listnet"
    shift_invariant: ClassVar[bool] = True
    # D^3 phi[u, u, u] is the third central moment of u under P(s): at most max |u - E u| times the variance, and
    # |u - E u| <= 2 ||u||_inf.
    third_order: ClassVar[float] = 2.0

    def unchecked(self, scores: Floats, y: NDArray[np.int32], offsets: NDArray[np.int64]) -> tuple[Floats, Floats]:
        """See the base class."""
        return _listnet(scores, y, offsets)

    def hessian_product(self, scores: Floats, y: NDArray[np.int32], offsets: NDArray[np.int64], V: Floats) -> Floats:
        """P (V - P' V), query by query."""
        return _listnet_hessian(scores, offsets, V)

    def lipschitz(self, m: int, y_max: int, norm: Norm = "linf", *, score_bound: float | None = None) -> float:
        """2 (l_inf) or sqrt(2) (l_2), for every m and y_max."""
        check_list(m, y_max, norm)
        return 2.0 if norm == "linf" else math.sqrt(2.0)

    def smoothness(self, m: int, y_max: int, *, score_bound: float | None = None) -> float:
        """2, for every m and y_max."""
        check_list(m, y_max)
        return 2.0


@njit(cache=True)
def _listnet(s, y, offsets):  # type: ignore[no-untyped-def]
    # With a = max s:  phi = log sum_j e^(s_j - a) - sum_i P_i(y) (s_i - a)
    power = np.exp(-np.arange(256.0))
    values, gradient = np.empty(len(offsets) - 1), np.empty(len(s))
    for q in range(len(values)):
        begin, end = offsets[q], offsets[q + 1]
        top, label = s[begin], y[begin]
        for i in range(begin + 1, end):
            top, label = max(top, s[i]), max(label, y[i])
        mass_s = mass_y = inner = 0.0
        for i in range(begin, end):
            e, p = math.exp(s[i] - top), power[label - y[i]]
            gradient[i] = e
            mass_s += e
            mass_y += p
            inner += p * (s[i] - top)
        for i in range(begin, end):
            gradient[i] = gradient[i] / mass_s - power[label - y[i]] / mass_y
        values[q] = math.log(mass_s) - inner / mass_y
    return values, gradient


@njit(cache=True)
def _listnet_hessian(s, offsets, V):  # type: ignore[no-untyped-def]
    # (diag P - P P') V = P * (V - P' V), with P = softmax of the query's scores
    product = np.empty(V.shape)
    k = V.shape[1]
    mean = np.empty(k)
    for q in range(len(offsets) - 1):
        begin, end = offsets[q], offsets[q + 1]
        probability = np.exp(s[begin:end] - s[begin:end].max())
        probability /= probability.sum()
        mean[:] = 0.0
        for i in range(begin, end):
            for c in range(k):
                mean[c] += probability[i - begin] * V[i, c]
        for i in range(begin, end):
            for c in range(k):
                product[i, c] = probability[i - begin] * (V[i, c] - mean[c])
    return product
