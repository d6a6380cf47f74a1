"""Which surrogate is DCG with a soft choice of the top documents?"""

import math
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from pipeline_lib.core.arrays import Floats
from pipeline_lib.core.checks import Count, Label, NonNegative, Positive
from pipeline_lib.core.compiled import njit
from pipeline_lib.ranking import GAINS, discounts, ideal_dcg
from pipeline_lib.surrogates.base import AnnealableSurrogate, Norm, ScoreBound, What
from pipeline_lib.surrogates.vector_exp import exp

Sign = Literal["ascent", "regret", "as-printed"]


class SmoothDCG(AnnealableSurrogate):
    """SD(s, y) = sum_{j <= k} (D(j) - D(j+1) 1[j < k]) E_j[ sum_{i in S} G(y_i) ], a smooth form of the gain DCG@k.

    E_j is the mean over sets S of j documents (all m, if j > m), drawn with probability proportional to
    exp(sum_{i in S} s_i / sigma); G(r) = 2^r - 1, D(j) = 1 / log2(j + 1). For k = 1 it is the published

        SD(s, y) = D(1) sum_i G(y_i) softmax(s / sigma)_i.

    For larger k the two papers give no formula, only a reference to the family of Chapelle and Wu; the softmax over
    sets used here is this project's own extension. It has the published case k = 1, is differentiable everywhere (also
    at ties), has constants free of m, and tends to DCG@k as sigma decreases, because DCG@k is sum_j (D(j) - D(j+1) 1[j
    < k]) times the gain of the top j documents. It takes O(m k) time and memory and cannot overflow.

    SD is a gain: a learner that minimises it, as printed in `topk`, makes the ranking worse. ``sign`` determines
    ``value``: -SD ("ascent", on which descent increases the gain), ideal DCG@k - SD >= 0 ("regret", a non-negative loss
    as `lists` requires), or SD ("as-printed"). Not convex. The gradient decomposes over single labels: it is linear in
    G(y_1), ..., G(y_m).

    Constants, free of m, with t_k = D(1) + ... + D(k):

    - ``lipschitz`` gives 2 t_k G(y_max) / sigma with respect to l_inf, which is Proposition 2 of `lists` for k = 1.
      It is four times too large: for one j, grad_i = Cov(1[i in S], G(S)) / sigma, and for signs e the covariance of
      sum e_i 1[i in S] with G(S), written as G(y_max)/2 times a sum with coefficients in [-1, 1] (|S| = j does not
      vary), is at most G(y_max)/2 times the largest variance of a sum of signs, 4 Var |S n P| for a set P of
      documents. |S n P| is a sum of j independent indicators (its generating polynomial, a section of a real stable
      one, has real roots only), so Var <= j/4; and sum_j (D(j) - D(j+1) 1[j < k]) j = t_k. The result,
      t_k G(y_max) / (2 sigma), is attained for k = 1 by two equal scores of labels 0 and y_max, and approached for
      larger k by many.
    - With respect to l_2: the gradient sums to 0, so its l_2 norm is at most its l_1 norm / sqrt(2).
    - H <= G(y_max) / (2 sigma^2) sum_j (D(j) - D(j+1) 1[j < k]) j sqrt(3 j - 2). For one j, u' D^2 v is the third
      mixed cumulant of three sums over S, with coefficients u, v and (after scaling) G; it is largest for signs, whose
      sums have variance at most j and fourth central moment at most 3 j^2 - 2 j (j >= 2), and at most
      sqrt(j (3 j^2 - 2 j)). For j = 1 it is at most 1, because the product of two centred signs has variance at most
      1. So for k = 1, H = D(1) G(y_max) / (2 sigma^2), attained by four equal scores with labels (y_max, 0, 0, y_max),
      u = (1, 1, -1, -1), v = (1, -1, 1, -1). Not tight for larger k.

    Parameters
    ----------
    k : int >= 1
        The cut-off.
    sigma : float > 0
        The smoothing; `topk` calls it epsilon and uses 0.01.
    sign : "ascent", "regret" or "as-printed"

    References
    ----------
    `lists`, section 3.2 and Proposition 2; `topk`, section 4.1.1; Chapelle and Wu 2010.

    Example
    -------
    >>> SmoothDCG().value_and_gradient([0.0, 0.0], [2, 0], [0, 2])
    (array([-1.5]), array([-0.75,  0.75]))
    >>> SmoothDCG(k=2, sigma=0.01, sign="as-printed").value([1.0, 2.0], [1, 0], [0, 2]).round(3)
    array([0.631])
    """

    name: ClassVar[str] = "smooth-dcg"
    formula: ClassVar[str] = (
        r"\varphi(s, y) = -D(1) \sum_i G(y_i) \frac{\exp(s_i / \sigma)}{\sum_j \exp(s_j / \sigma)} \quad (k = 1)"
    )
    convex: ClassVar[bool] = False
    smooth: ClassVar[bool] = True
    shift_invariant: ClassVar[bool] = True
    repeats: ClassVar[float] = 12.0

    def __init__(self, k: Count = 1, sigma: Positive = 1.0, sign: Sign = "ascent") -> None:
        self.k, self.sigma, self.sign = int(k), float(sigma), sign

    def unchecked(self, scores: Floats, y: NDArray[np.int32], offsets: NDArray[np.int64]) -> tuple[Floats, Floats]:
        """See the base class."""
        if self.k == 1:
            values, gradient = _softmax_gain(scores, y, offsets, 1.0 / self.sigma)
        else:
            values, gradient = _smooth_dcg(scores, y, offsets, self.sigma, self._steps())
        if self.sign == "as-printed":
            return values, gradient
        if self.sign == "regret":
            return _ideal_dcg(y, offsets, discounts(self.k)) - values, -gradient
        return -values, -gradient

    def smoother(self, factor: Positive) -> "SmoothDCG":
        """``factor`` times sigma."""
        return SmoothDCG(self.k, factor * self.sigma, self.sign)

    def lipschitz(self, m: Count, y_max: Label, norm: Norm = "linf", *, score_bound: ScoreBound = None) -> float:
        """2 (D(1) + ... + D(k)) G(y_max) / sigma, for l_2 divided by sqrt(2); as published, four times the supremum."""
        published = 2.0 * self.largest_gain(self.k, y_max) / self.sigma
        return published if norm == "linf" else published / math.sqrt(2.0)

    def smoothness(self, m: Count, y_max: Label, *, score_bound: ScoreBound = None) -> float:
        """G(y_max) / (2 sigma^2) sum_j (D(j) - D(j+1) 1[j < k]) j sqrt(3 j - 2); attained for k = 1 and m >= 4."""
        j = np.arange(1.0, self.k + 1.0)
        return float(GAINS[y_max] / (2.0 * self.sigma**2) * np.sum(self._steps() * j * np.sqrt(3.0 * j - 2.0)))

    def order(self, m: Count, y_max: Label) -> int:
        """1."""
        return 1

    def bound(self, m: Count, y_max: Label, score_bound: NonNegative) -> float:
        """The largest gain, whatever the scores."""
        return self.largest_gain(m, y_max)

    def _least(self, y: NDArray[np.int32], offsets: NDArray[np.int64]) -> Floats:
        # Approached by scores that are far apart, in the order of the labels or (as printed) in the opposite one.
        if self.sign == "as-printed":
            worst = (np.sort(own)[: self.k] for own in np.split(y, offsets[1:-1]))
            return np.array([float(GAINS[own] @ discounts(len(own))) for own in worst])
        if self.sign == "ascent":
            return -_ideal_dcg(y, offsets, discounts(self.k))
        return super()._least(y, offsets)

    def supremum(self, what: What, m: Count, y_max: Label, *, score_bound: ScoreBound = None) -> float | None:
        """See the base class; the Lipschitz constants and the smoothness are known for k = 1."""
        if what == "bound":  # all labels y_max, any scores
            return None if self.sign == "regret" else self.largest_gain(m, y_max)
        if m == 1:
            return 0.0
        if what == "smoothness":
            return self.smoothness(m, y_max) if self.k == 1 and m >= 4 else None
        attained = self.largest_gain(1, y_max) / (2.0 * self.sigma)
        return None if self.k != 1 else attained if what == "lipschitz-linf" else attained / math.sqrt(2.0)

    def largest_gain(self, m: Count, y_max: Label) -> float:
        """G(y_max) (D(1) + ... + D(min(k, m))): the largest SD of m documents, attained when all labels are y_max.

        Example
        -------
        >>> SmoothDCG(k=10).largest_gain(2, 1).__round__(4)
        1.6309
        """
        return float(GAINS[y_max] * np.sum(discounts(min(m, self.k))))

    def _steps(self) -> Floats:
        """D(j) - D(j+1) for j < k, then D(k): the weights of the gain of the top j documents."""
        return -np.diff(discounts(self.k), append=0.0)


@njit(nogil=True, fastmath={"reassoc", "contract"})
def _softmax_gain(s, y, offsets, per_sigma):  # type: ignore[no-untyped-def]
    # k = 1, with G_0 the gain of the best-scored document and p = softmax(s / sigma):
    #   SD = G_0 + mean, mean = sum_i p_i (G_i - G_0);   d SD / d s_i = p_i (G_i - G_0 - mean) / sigma.
    # G_0 is subtracted so that equal gains give a gradient of exactly 0.
    values, gradient = np.empty(len(offsets) - 1), np.empty(len(s))
    for q in range(len(values)):
        begin, end = offsets[q], offsets[q + 1]
        best = begin
        for i in range(begin, end):
            if s[i] > s[best]:
                best = i
        top, first = s[best], GAINS[y[best]]
        for i in range(begin, end):
            gradient[i] = exp((s[i] - top) * per_sigma)
        total = mean = 0.0
        for i in range(begin, end):
            total += gradient[i]
            mean += gradient[i] * (GAINS[y[i]] - first)
        mean /= total
        for i in range(begin, end):
            gradient[i] *= (GAINS[y[i]] - first - mean) * (per_sigma / total)
        values[q] = first + mean
    return values, gradient


@njit(nogil=True)
def _smooth_dcg(s, y, offsets, sigma, steps):  # type: ignore[no-untyped-def]
    # Among the first i documents, with t = s / sigma, let L_j be the log of the sum over j-sets of exp(their sum of t)
    # and T_j = E_j[G(S)].
    # A j-set then holds document i with the odds  p = exp(t_i + L_{j-1}) / (exp(L_j) + exp(t_i + L_{j-1})), so
    #   T_j <- (1 - p) T_j + p (T_{j-1} + G_i),   L_j <- log(exp(L_j) + exp(t_i + L_{j-1})).
    # SD = sum_j steps_j T_j; its gradient by going through these assignments backwards.
    values, gradient = np.zeros(len(offsets) - 1), np.zeros(len(s))
    for q in range(len(values)):
        begin, end = offsets[q], offsets[q + 1]
        m = end - begin
        k = min(len(steps), m)
        weight = steps[:k].copy()
        for j in range(k, len(steps)):  # no more than all m documents: DCG@k of a short list is DCG@m
            weight[k - 1] += steps[j]
        top = s[begin:end].max()
        odds, stay, rise = np.empty((m, k)), np.empty((m, k)), np.empty((m, k))
        log_sum, mean = np.full(k + 1, -np.inf), np.zeros(k + 1)
        log_sum[0] = 0.0
        for i in range(m):
            t, g = (s[begin + i] - top) / sigma, GAINS[y[begin + i]]
            for j in range(min(i + 1, k), 0, -1):
                without, with_it = log_sum[j], t + log_sum[j - 1]
                p, rest, e = 1.0, 0.0, 0.0  # rest = 1 - p, without its rounding
                if j <= i:
                    e = math.exp(-abs(with_it - without))
                    p, rest = 1.0 / (1.0 + e), e / (1.0 + e)
                    if with_it < without:
                        p, rest = rest, p
                log_sum[j] = max(with_it, without) + math.log1p(e)
                odds[i, j - 1], stay[i, j - 1] = p, rest
                rise[i, j - 1] = mean[j - 1] + g - mean[j]
                mean[j] += p * rise[i, j - 1]
        for j in range(k):
            values[q] += weight[j] * mean[j + 1]
        of_mean, of_sum = np.zeros(k + 1), np.zeros(k + 1)  # derivatives of SD in T_j and L_j
        of_mean[1:] = weight
        for i in range(m - 1, -1, -1):
            slope = 0.0
            for j in range(1, min(i + 1, k) + 1):
                p, rest = odds[i, j - 1], stay[i, j - 1]
                by_odds = of_mean[j] * rise[i, j - 1] * p * rest  # the derivative of p in its exponent is p (1 - p)
                slope += p * of_sum[j] + by_odds
                of_sum[j - 1] += p * of_sum[j] + by_odds
                of_sum[j] = rest * of_sum[j] - by_odds
                of_mean[j - 1] += p * of_mean[j]
                of_mean[j] *= rest
            gradient[begin + i] = slope / sigma
    return values, gradient


@njit(nogil=True)
def _ideal_dcg(y, offsets, discounts):  # type: ignore[no-untyped-def]
    ideal = np.zeros(len(offsets) - 1)
    for q in range(len(ideal)):
        ideal[q] = ideal_dcg(y[offsets[q] : offsets[q + 1]], discounts)
    return ideal
