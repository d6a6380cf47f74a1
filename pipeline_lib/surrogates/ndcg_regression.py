"""Which surrogate fits the scores to NDCG's normalised gains?"""

import math
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pipeline_lib import ranking
from pipeline_lib.core import checks
from pipeline_lib.core.arrays import Floats
from pipeline_lib.core.checks import Count, Label, NonNegative
from pipeline_lib.surrogates.base import Norm, ScoreBound, needed_score_bound
from pipeline_lib.surrogates.pointwise import Squared, squared_distance


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
        return squared_distance(scores, _targets(y, offsets), offsets)

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
    if len(offsets) == 1:
        return np.zeros(0)
    return ranking.normalised_gains(y, offsets, ranking.discount_sums(int(np.diff(offsets).max())))
