"""Which surrogate is the gain of the top document, softened?"""

import math
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from pipeline_lib.core.arrays import Floats
from pipeline_lib.core.checks import Count, Label, NonNegative, Positive
from pipeline_lib.core.compiled import njit
from pipeline_lib.ranking import GAINS
from pipeline_lib.surrogates.base import AnnealableSurrogate, Norm, ScoreBound, What
from pipeline_lib.surrogates.vector_exp import exp

Sign = Literal["ascent", "regret", "as-printed"]


class SmoothDCG(AnnealableSurrogate):
    """SD(s, y) = D(1) sum_i G(y_i) softmax(s / sigma)_i, a smooth form of the gain DCG@1.

    G(r) = 2^r - 1 and D(1) = 1. It is differentiable everywhere (also at ties), has constants free of m, and tends to
    DCG@1 as sigma decreases. For other cut-offs the two papers give no formula.

    SD is a gain: a learner that minimises it, as printed in `topk`, makes the ranking worse. ``sign`` determines
    ``value``: -SD ("ascent", on which descent increases the gain), ideal DCG@1 - SD >= 0 ("regret", a non-negative loss
    as `lists` requires), or SD ("as-printed"). Not convex. The gradient decomposes over single labels: it is linear in
    G(y_1), ..., G(y_m).

    Constants, free of m:

    - ``lipschitz`` gives 2 D(1) G(y_max) / sigma with respect to l_inf, which is Proposition 2 of `lists`. It is four
      times too large: grad_i = Cov(1[i = I], G(y_I)) / sigma for I drawn by the softmax, and for signs e the
      covariance of e_I with G(y_I) is at most G(y_max)/2 times the largest variance of a sign. The result,
      G(y_max) / (2 sigma), is attained by two equal scores of labels 0 and y_max.
    - With respect to l_2: the gradient sums to 0, so its l_2 norm is at most its l_1 norm / sqrt(2).
    - H = D(1) G(y_max) / (2 sigma^2): u' D^2 v is the third mixed cumulant of u_I, v_I and (after scaling) G(y_I),
      which is at most 1 for signs, because the product of two centred signs has variance at most 1. It is attained by
      four equal scores with labels (y_max, 0, 0, y_max), u = (1, 1, -1, -1), v = (1, -1, 1, -1).

    Parameters
    ----------
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
    """

    name: ClassVar[str] = "smooth-dcg"
    formula: ClassVar[str] = r"\varphi(s, y) = -D(1) \sum_i G(y_i) \frac{\exp(s_i / \sigma)}{\sum_j \exp(s_j / \sigma)}"
    convex: ClassVar[bool] = False
    smooth: ClassVar[bool] = True
    shift_invariant: ClassVar[bool] = True
    repeats: ClassVar[float] = 12.0
    k: ClassVar[int] = 1
    """The cut-off."""

    def __init__(self, sigma: Positive = 1.0, sign: Sign = "ascent") -> None:
        self.sigma, self.sign = float(sigma), sign

    def unchecked(self, scores: Floats, y: NDArray[np.int32], offsets: NDArray[np.int64]) -> tuple[Floats, Floats]:
        """See the base class."""
        values, gradient = _softmax_gain(scores, y, offsets, 1.0 / self.sigma)
        if self.sign == "as-printed":
            return values, gradient
        if self.sign == "regret":
            return GAINS[np.maximum.reduceat(y, offsets[:-1])] - values, -gradient
        return -values, -gradient

    def smoother(self, factor: Positive) -> "SmoothDCG":
        """``factor`` times sigma."""
        return SmoothDCG(factor * self.sigma, self.sign)

    def lipschitz(self, m: Count, y_max: Label, norm: Norm = "linf", *, score_bound: ScoreBound = None) -> float:
        """2 D(1) G(y_max) / sigma, for l_2 divided by sqrt(2); as published, four times the supremum."""
        published = 2.0 * float(GAINS[y_max]) / self.sigma
        return published if norm == "linf" else published / math.sqrt(2.0)

    def smoothness(self, m: Count, y_max: Label, *, score_bound: ScoreBound = None) -> float:
        """G(y_max) / (2 sigma^2); attained for m >= 4."""
        return float(GAINS[y_max] / (2.0 * self.sigma**2))

    def bound(self, m: Count, y_max: Label, score_bound: NonNegative) -> float:
        """The largest gain, whatever the scores."""
        return float(GAINS[y_max])

    def _least(self, y: NDArray[np.int32], offsets: NDArray[np.int64]) -> Floats:
        # Approached by scores that are far apart, in the order of the labels or (as printed) in the opposite one.
        if self.sign == "as-printed":
            return np.asarray(GAINS[np.minimum.reduceat(y, offsets[:-1])])
        if self.sign == "ascent":
            return np.asarray(-GAINS[np.maximum.reduceat(y, offsets[:-1])])
        return super()._least(y, offsets)

    def supremum(self, what: What, m: Count, y_max: Label, *, score_bound: ScoreBound = None) -> float | None:
        """See the base class."""
        if what == "bound":  # all labels y_max, any scores
            return None if self.sign == "regret" else self.bound(m, y_max, 0.0)
        if m == 1:
            return 0.0
        if what == "smoothness":
            return self.smoothness(m, y_max) if m >= 4 else None
        return self.lipschitz(m, y_max, "linf" if what == "lipschitz-linf" else "l2") / 4.0


@njit(nogil=True, fastmath={"reassoc", "contract"})
def _softmax_gain(s, y, offsets, per_sigma):  # type: ignore[no-untyped-def]
    # With G_0 the gain of the best-scored document and p = softmax(s / sigma):
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
