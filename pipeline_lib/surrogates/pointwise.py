"""Which surrogates compare every score with a target of its own: the label, its exponential, or its normalised gain?"""

import math
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pipeline_lib import ranking
from pipeline_lib.core import checks
from pipeline_lib.core.arrays import Floats
from pipeline_lib.core.checks import Count, Label, NonNegative
from pipeline_lib.core.compiled import njit
from pipeline_lib.surrogates.base import Evaluation, Norm, ScoreBound, SmoothSurrogate, What, needed_score_bound

# Below this |d|, e^d - 1 - d is summed as a series: the difference would lose precision.
SERIES_UP_TO = 0.05


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


class SquaredNDCG(Squared):
    """phi(s, y) = sum_i (s_i - G(y_i) / Z(y))^2, with G(r) = 2^r - 1 and Z(y) = max over rankings of DCG.

    The target g = G / Z is 0 where Z = 0 (no relevant document). The gradient is 2 (s - g).

    Constants on ||s||_inf <= S, exact. The target depends on y only through gains up to a factor: sorted, g lies in
    the simplex {g_1 >= g_2 >= ... >= 0, sum g_i D(i) = 1}, whose corners are r equal targets 1 / (D(1) + ... + D(r)).
    What is to be maximised is convex in g and largest at s = -S 1, so a corner attains it: binary labels with r
    relevant documents. With t_r = D(1) + ... + D(r),

    - l_inf: 2 (m S + m / t_m), where r = m is best;
    - l_2: 2 sqrt(m S^2 + max_r (2 S r / t_r + r / t_r^2)).

    Without a relevant label (y_max = 0) they are 2 m S and 2 sqrt(m) S. H = 2 m everywhere, attained by u = 1.

    References
    ----------
    `topk`, section 5 (NDCG-calibrated surrogates); Ravikumar et al. 2011.

    Example
    -------
    >>> SquaredNDCG().value_and_gradient([0.0, 1.0, 0.5], [0, 1, 0], [0, 2, 3])
    (array([0.  , 0.25]), array([0., 0., 1.]))
    """

    name: ClassVar[str] = "squared-ndcg"
    formula: ClassVar[str] = r"\varphi(s, y) = \sum_i \Bigl( s_i - \frac{G(y_i)}{Z(y)} \Bigr)^2"

    def unchecked(self, scores: Floats, y: NDArray[np.int32], offsets: NDArray[np.int64]) -> tuple[Floats, Floats]:
        """See the base class."""
        return self.on(y, offsets)(scores)

    def on(self, y: NDArray[np.int32], offsets: NDArray[np.int64]) -> Evaluation:
        """See the base class."""
        targets = _targets(y, offsets)
        return lambda scores: squared_distance(scores, targets, offsets)

    def lipschitz(self, m: Count, y_max: Label, norm: Norm = "linf", *, score_bound: ScoreBound = None) -> float:
        """The exact supremum for ||s||_inf <= score_bound (derived above)."""
        bound = needed_score_bound(self.name, score_bound)
        if norm == "linf":
            return 2.0 * m * (bound + (1.0 / float(ranking.discount_sums(m)[m]) if y_max else 0.0))
        return 2.0 * math.sqrt(self.bound(m, y_max, bound))

    def bound(self, m: Count, y_max: Label, score_bound: NonNegative) -> float:
        """m S^2 + max_r (2 S r / t_r + r / t_r^2); attained."""
        from_zero = m * score_bound**2
        if y_max == 0:
            return from_zero
        relevant, sums = np.arange(1, m + 1), ranking.discount_sums(m)[1:]
        return float(from_zero + np.max(2.0 * score_bound * relevant / sums + relevant / sums**2))


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
    pipeline_lib.core.errors.OutOfRangeError: scores: in query 0: kl exceeds 1.8e308, the range of float64, found \
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


def normalised_gains(y: ArrayLike, offsets: ArrayLike) -> Floats:
    """G(y_i) / Z(y) of every document, shape (N,); 0 in queries without a relevant document.

    Raises
    ------
    DataError
        When the labels are not whole numbers in 0..255, or the offsets do not rise strictly from 0 to their number.

    Example
    -------
    >>> normalised_gains(np.array([1, 0, 0], np.int32), np.array([0, 2, 3])).tolist()
    [1.0, 0.0, 0.0]
    """
    labels = checks.labels("y", y)
    return _targets(labels, checks.offsets("offsets", offsets, len(labels)))


def _targets(y: NDArray[np.int32], offsets: NDArray[np.int64]) -> Floats:
    return ranking.normalised_gains(y, offsets, ranking.discount_sums(ranking.longest(offsets)))


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
