"""Which surrogate is a divergence between unnormalised exponentials of scores and labels?"""

import math
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from pipeline_lib.core.arrays import Floats
from pipeline_lib.core.checks import Count, Label, NonNegative
from pipeline_lib.core.compiled import njit
from pipeline_lib.surrogates.base import Norm, ScoreBound, SmoothSurrogate, What, needed_score_bound

# Below this |d|, e^d - 1 - d is summed as a series: the difference would lose precision.
SERIES_UP_TO = 0.05


class KL(SmoothSurrogate):
    """phi(s, y) = sum_i [ e^{y_i} (y_i - s_i) - e^{y_i} + e^{s_i} ] = sum_i e^{y_i} (e^{d_i} - 1 - d_i), d = s - y.

    The Kullback-Leibler divergence of e^s from e^y, as vectors that need not sum to 1. Convex; the gradient is e^{s_i}
    - e^{y_i}, the second derivative diag(e^{s_i}), so that the minimum 0 is attained only at s = y.

    Domain: finite for scores up to about 709 (and every negative score, however large); beyond, DataError.

    Constants on ||s||_inf <= S, exact: G = m max(e^S - 1, e^{y_max} - e^{-S}) with respect to l_inf and sqrt(m) times
    the same maximum with respect to l_2, attained at s = S 1, y = 0 or s = -S 1, y = y_max 1; H = m e^S, attained at
    s = S 1 by u = 1. No constant is global.

    References
    ----------
    `topk`, section 4.1 (the modified ListNet).

    Example
    -------
    >>> KL().value_and_gradient([1.0, 0.0], [1, 0], [0, 1, 2])
    (array([0., 0.]), array([0., 0.]))
    >>> KL().value([1e4], [1], [0, 1])
    Traceback (most recent call last):
    ...
    pipeline_lib.core.errors.DataError: scores: in query 0: kl exceeds 1.8e308, the range of float64, found \
scores from 10000 to 10000; scale the features or bound the weights
    """

    name: ClassVar[str] = "kl"
    formula: ClassVar[str] = r"\varphi(s, y) = \sum_i \bigl( e^{y_i} (y_i - s_i) - e^{y_i} + e^{s_i} \bigr)"
    # D^3 phi = diag(e^s), so |D^3 phi[u, u, u]| = |sum e^{s_i} u_i^3| <= ||u||_inf D^2 phi[u, u].
    third_order: ClassVar[float] = 1.0
    exact: ClassVar[tuple[What, ...]] = ("lipschitz-linf", "lipschitz-l2", "smoothness", "bound")

    def unchecked(self, scores: Floats, y: NDArray[np.int32], offsets: NDArray[np.int64]) -> tuple[Floats, Floats]:
        """See the base class."""
        return _kl(scores, y, offsets)

    def hessian_product(self, scores: Floats, y: NDArray[np.int32], offsets: NDArray[np.int64], V: Floats) -> Floats:
        """diag(e^s) V."""
        with np.errstate(over="ignore"):
            return np.exp(scores)[:, None] * V

    def lipschitz(self, m: Count, y_max: Label, norm: Norm = "linf", *, score_bound: ScoreBound = None) -> float:
        """The exact supremum for ||s||_inf <= score_bound; attained."""
        bound = needed_score_bound(self.name, score_bound)
        slope = max(_exp(bound) - 1.0, math.exp(y_max) - math.exp(-bound))
        return (m if norm == "linf" else math.sqrt(m)) * slope

    def smoothness(self, m: Count, y_max: Label, *, score_bound: ScoreBound = None) -> float:
        """m e^S with S = score_bound; attained."""
        return m * _exp(needed_score_bound(self.name, score_bound))

    def bound(self, m: Count, y_max: Label, score_bound: NonNegative) -> float:
        """The exact supremum; attained at s = -S 1 or s = S 1."""
        # f(s, y) = e^y (y - s - 1) + e^s is convex in s, so |s| = S; f(-S, y) rises with y, and f(S, y) falls in y up
        # to S, while for y >= S it is below f(-S, y): f(-S, y) - f(S, y) = 2 (S e^y - sinh S) >= 0 there.
        if max(score_bound, y_max) > 700.0:
            return math.inf
        low = math.exp(y_max) * (y_max + score_bound - 1.0) + math.exp(-score_bound)
        return m * max(low, math.exp(score_bound) - score_bound - 1.0)


def _exp(x: float) -> float:
    return math.exp(x) if x < 709.0 else math.inf


@njit(nogil=True)
def _kl(s, y, offsets):  # type: ignore[no-untyped-def]
    # phi = sum_i e^{y_i} (e^{d_i} - 1 - d_i), d_i = s_i - y_i;  d phi / d s_i = e^{y_i} (e^{d_i} - 1)
    power = np.exp(np.arange(256.0))
    values, gradient = np.zeros(len(offsets) - 1), np.empty(len(s))
    for q in range(len(values)):
        begin, end = offsets[q], offsets[q + 1]
        for i in range(begin, end):
            d = s[i] - y[i]
            rise = math.expm1(d)
            if abs(d) < SERIES_UP_TO:
                series = 1.0 + d / 6.0 * (1.0 + d / 7.0 * (1.0 + d / 8.0))
                excess = 0.5 * d * d * (1.0 + d / 3.0 * (1.0 + d / 4.0 * (1.0 + d / 5.0 * series)))
            else:
                excess = rise - d
            values[q] += power[y[i]] * excess
            gradient[i] = power[y[i]] * rise
        if values[q] == np.inf:
            gradient[begin:end] = np.nan
    return values, gradient
