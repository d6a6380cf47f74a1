"""Which surrogates compare every two documents of different labels?

All are sums over pairs i, j with y_i > y_j of a loss of s_j - s_i: the plain sum (``normalisation="sum"``, as in `slam`
and `lists`), the sum divided by the number of these pairs (``"mean"``, as in `cone` (3)), or divided by m (m - 1) / 2,
the number of all pairs of the query's m documents (``"all-pairs"``, as in `twolayer` up to the constant that pairs of
equal labels add there). A query without two different labels contributes 0.

Constants. Let the pair losses have slopes in [0, 1], all of them 1 (attained or in the limit) at one score vector.
The gradient is g(a) = sum over pairs of a_ij (e_j - e_i) with 0 <= a_ij <= 1.

- l_1 norm. ||g||_1 = max over signs e of sum a_ij (e_j - e_i) <= 2 #{pairs with e_i = -1, e_j = +1}, at most twice the
  product of the numbers of documents of either sign: 2 floor(m/2) ceil(m/2). Binary labels with r = floor(m/2) relevant
  documents and all pairs active attain it (there ||g||_1 = 2 r (m - r)); more than two levels cannot raise it.
- l_2 norm. Write a = 1/2 + o/2 with o_ij in [-1, 1]: g(a) = g(1)/2 + h(o)/2, h(o) = sum o_ij (e_j - e_i). The largest
  ||h(o)|| is at an orientation of the pairs by a linear order of the documents (a vertex of the zonotope); its square
  counts, for every document, pairs of its neighbours with the sign + if both are on one side of it: three documents of
  three levels give +1 for every order, and three documents of which two have the same level give most if the order does
  not separate these two. Therefore orders that keep levels together are best, and all of them give the same value,
  among them the order by label, o = 1. <g(1), h(o)> is also largest at o = 1, because g(1) decreases with the label.
  Hence a = 1 is best: with n_l documents of level l, and a_l of higher and b_l of lower levels,
  ||g(1)||^2 = sum_l n_l (a_l - b_l)^2 = (m^3 - sum_l n_l^3) / 3.
  Over label vectors this is largest when the levels are as equally filled as can be.
- Mean. A pair's gradient has l_1 norm 2 and binary labels with all pairs active attain 2. For l_2,
  (m^3 - sum n_l^3) / 3 <= m #pairs and #pairs >= m - 1 (for at least two levels), so ||g|| / #pairs
  <= sqrt(m / (m - 1)), attained by one document of one label against m - 1 of another.
- All pairs. Never more than the mean, and the same for two documents.
"""

import math
from abc import abstractmethod
from typing import Annotated, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from pipeline_lib.core import checks
from pipeline_lib.core.arrays import Floats
from pipeline_lib.core.checks import Count, Label, NonNegative, Positive
from pipeline_lib.surrogates import programmes
from pipeline_lib.surrogates.base import (
    Evaluation,
    MinorantSurrogate,
    Norm,
    ScoreBound,
    SmoothableSurrogate,
    SmoothSurrogate,
    Surrogate,
    What,
)
from pipeline_lib.surrogates.logistic_kernels import logistic, logistic_hessian
from pipeline_lib.surrogates.pair_sweeps import multiply_queries, n_pairs, rounded_hinge, rounded_hinge_hessian
from pipeline_lib.surrogates.programmes import LinearProgramme

Normalisation = Literal["sum", "mean", "all-pairs"]


class _Pairwise(Surrogate):
    """The common part of pairwise losses: normalisation and, for slopes in [0, 1], Lipschitz constants."""

    shift_invariant: ClassVar[bool] = True

    def __init__(self, normalisation: Normalisation = "sum") -> None:
        self.normalisation = normalisation

    @abstractmethod
    def _pair(self, difference: float) -> float:
        """The loss of one pair at s_j - s_i = ``difference`` >= 0, for y_i > y_j; convex and rising."""

    def bound(self, m: Count, y_max: Label, score_bound: NonNegative) -> float:
        """The exact supremum; attained where |s_i| = S for all i."""
        # A sum of convex functions of s_j - s_i is largest where |s| = S. How many documents of a level are at -S
        # enters linearly, so whole levels are at -S or S; it does not hurt to make those at -S the more relevant ones.
        # Their pairs with the others then lose _pair(2 S), and pairs on the same side _pair(0).
        if m == 1 or y_max == 0:
            return 0.0
        far, near = self._pair(2.0 * score_bound), self._pair(0.0)
        if self.normalisation != "sum":
            return far
        n = np.arange(1, m)
        same_side = [_most_pairs(n, low) + _most_pairs(m - n, y_max + 1 - low) for low in range(1, y_max + 1)]
        return max(float(np.max(far * (n * (m - n)) + near * pairs)) for pairs in same_side)

    def _largest_cut(self, m: int, y_max: int) -> int:
        """The most pairs between two sets of documents, as the normalisation counts them; 0 if no two labels differ."""
        if m == 1 or y_max == 0:
            return 0
        return (m // 2) * (m - m // 2) if self.normalisation == "sum" else 1

    def _scale(self, y: NDArray[np.int32], offsets: NDArray[np.int64]) -> Floats:
        """The factor of every query's sum over pairs, shape (Q,)."""
        if self.normalisation == "sum":
            return np.ones(len(offsets) - 1)
        if self.normalisation == "mean":
            pairs = n_pairs(y, offsets)
        else:
            m = np.diff(offsets)
            pairs = m * (m - 1) // 2
        return 1.0 / np.maximum(pairs, 1)

    @abstractmethod
    def _sums(self, scores: Floats, y: NDArray[np.int32], offsets: NDArray[np.int64]) -> tuple[Floats, Floats]:
        """Values and gradients of the plain sums over pairs, as ``unchecked``."""

    def unchecked(self, scores: Floats, y: NDArray[np.int32], offsets: NDArray[np.int64]) -> tuple[Floats, Floats]:
        """See the base class."""
        return self.on(y, offsets)(scores)

    def on(self, y: NDArray[np.int32], offsets: NDArray[np.int64]) -> Evaluation:
        """See the base class; the factors of the sums are computed once."""
        if self.normalisation == "sum":
            return lambda scores: self._sums(scores, y, offsets)
        scale = self._scale(y, offsets)

        def evaluated(scores: Floats) -> tuple[Floats, Floats]:
            values, gradient = self._sums(scores, y, offsets)
            multiply_queries(values, gradient, scale, offsets)
            return values, gradient

        return evaluated

    def lipschitz(self, m: Count, y_max: Label, norm: Norm = "linf", *, score_bound: ScoreBound = None) -> float:
        """The exact supremum over scores and label vectors (derived above); 0 where no two labels can differ."""
        cut = self._largest_cut(m, y_max)
        if norm == "linf" or not cut:
            return 2.0 * cut
        if self.normalisation != "sum":
            return math.sqrt(2.0)  # that of two documents
        levels = min(y_max + 1, m)
        size, larger = divmod(m, levels)
        cubes = larger * (size + 1) ** 3 + (levels - larger) * size**3
        return math.sqrt((m**3 - cubes) / 3)


def _most_pairs(n: NDArray[np.int64], levels: int) -> NDArray[np.int64]:
    # Pairs of different labels among n documents of so many levels: most when the levels are filled equally.
    size, larger = np.divmod(n, levels)
    return (n * n - larger * (size + 1) ** 2 - (levels - larger) * size * size) // 2


class RankSVM(_Pairwise, SmoothableSurrogate):
    """phi(s, y) = sum over pairs with y_i > y_j of max(0, margin + s_j - s_i).

    It takes O(m log m) for any labels (see ``pair_sweeps``). At a kink, a pair that meets its margin exactly counts as
    inactive.

    Constants (attained at equal scores, where every hinge is active): with respect to l_inf, G = 2 floor(m/2) ceil(m/2)
    for the sum, whatever y_max >= 1, and 2 for the mean; the module's docstring derives these and those for l_2. For
    given binary labels with r relevant documents the supremum is 2 r (m - r).

    Parameters
    ----------
    normalisation : "sum", "mean" or "all-pairs"
        Of the query; see the module's docstring.
    margin : float > 0
        The difference of scores by which a more relevant document should be ahead; the papers use 1.

    References
    ----------
    Joachims 2002; `slam`, appendix (RankSVM); `lists`, appendix C; `topk`, section 4.1.

    Example
    -------
    >>> loss = RankSVM()
    >>> loss.value_and_gradient([1.0, 0.5, 3.0], [2, 1, 0], [0, 3])
    (array([7.]), array([-2.,  0.,  2.]))
    >>> loss.lipschitz(10, 1), loss.lipschitz(10, 4)
    (50.0, 50.0)
    """

    name: ClassVar[str] = "ranksvm"
    formula: ClassVar[str] = r"\varphi(s, y) = \sum_{i, j:\, y_i > y_j} \max(0, \Delta + s_j - s_i)"
    exact: ClassVar[tuple[What, ...]] = ("lipschitz-linf", "lipschitz-l2", "bound")
    effort: ClassVar[float] = 10.0

    def __init__(self, normalisation: Normalisation = "sum", margin: Positive = 1.0) -> None:
        super().__init__(normalisation)
        self.margin = float(margin)

    def _pair(self, difference: float) -> float:
        return self.margin + difference

    def _sums(self, scores: Floats, y: NDArray[np.int32], offsets: NDArray[np.int64]) -> tuple[Floats, Floats]:
        return rounded_hinge(scores, y, offsets, self.margin, 0.0)[:2]

    def programme(self, y: NDArray[np.int32], offsets: NDArray[np.int64]) -> LinearProgramme | None:
        """See the base class: a row for every pair."""
        if n_pairs(y, offsets).sum() > programmes.MOST_ROWS:
            return None
        return programmes.of_pairs(y, offsets, self._scale(y, offsets), self.margin)

    def smoothed(self, width: Positive) -> "RoundedRankSVM":
        """Hinges rounded off over ``width`` margins (Huber's hinge), from below."""
        return RoundedRankSVM(self.normalisation, self.margin, width * self.margin)


class RoundedRankSVM(_Pairwise, MinorantSurrogate):
    """RankSVM with rounded hinges of t = margin + s_j - s_i: 0 for t <= 0, t^2 / (2 h) up to h = width, then t - h/2.

    It lies below RankSVM, by at most h/2 per pair. The slopes alpha = clip(t / h, 0, 1) are dual variables of RankSVM:
    alpha t' <= max(0, t') for every t', so that sum alpha (margin + s'_j - s'_i) is an affine function of s' below
    RankSVM. Constants: as RankSVM; H = max-cut / h, where a cut of the pairs has at most floor(m/2) ceil(m/2), each
    counting (2)^2 / h.

    Example
    -------
    >>> RoundedRankSVM("sum", 1.0, 0.5).minorant(*map(np.asarray, ([0.75, 0.0], [1, 0], [0, 2])))
    (array([0.0625]), array([-0.5,  0.5]), array([0.5]))
    """

    name: ClassVar[str] = "rounded-ranksvm"
    third_order: ClassVar[float] = math.inf

    @checks.checked  # the interior's margin may be below 0
    def __init__(self, normalisation: Normalisation, margin: Positive, width: Positive) -> None:
        super().__init__(normalisation)
        self.margin, self.width = margin, width

    def _pair(self, difference: float) -> float:
        t = max(0.0, self.margin + difference)
        return t * t / (2.0 * self.width) if t <= self.width else t - self.width / 2.0

    def _sums(self, scores: Floats, y: NDArray[np.int32], offsets: NDArray[np.int64]) -> tuple[Floats, Floats]:
        return rounded_hinge(scores, y, offsets, self.margin, self.width)[:2]

    def minorant(
        self, scores: Floats, y: NDArray[np.int32], offsets: NDArray[np.int64]
    ) -> tuple[Floats, Floats, Floats]:
        """See the base class; the intercepts are margin sum alpha."""
        values, gradient, weights = rounded_hinge(scores, y, offsets, self.margin, self.width)
        scale = self._scale(y, offsets)
        multiply_queries(values, gradient, scale, offsets)
        return values, gradient, self.margin * weights * scale

    @checks.checked
    def interior(self, fraction: Annotated[float, checks.Range(0, 0.5, open=True)]) -> "RoundedRankSVM":
        """See the base class: pairs with fraction h < t < (1 - fraction) h."""
        edge = fraction * self.width
        return RoundedRankSVM(self.normalisation, self.margin - edge, self.width - 2.0 * edge)

    @property
    def dual_width(self) -> float:
        """h."""
        return self.width

    def hessian_product(self, scores: Floats, y: NDArray[np.int32], offsets: NDArray[np.int64], V: Floats) -> Floats:
        """1/h times the Laplacian of the pairs with 0 < t < h, times V."""
        return rounded_hinge_hessian(scores, y, offsets, self.margin, self.width, self._scale(y, offsets), V)

    def smoothness(self, m: Count, y_max: Label, *, score_bound: ScoreBound = None) -> float:
        """4 floor(m/2) ceil(m/2) / h for the sum, 4 / h for the mean; 0 where no two labels can differ."""
        return 4.0 / self.width * self._largest_cut(m, y_max)


class RankNet(_Pairwise, SmoothSurrogate):
    """phi(s, y) = sum over pairs with y_i > y_j of log(1 + e^(s_j - s_i)).

    It does not overflow for any finite scores, and is as fast as a pass over pairs can be (see ``logistic_kernels``).

    Constants: those of RankSVM, approached (not attained) as scores grow apart in the reverse order of the labels.
    H = floor(m/2) ceil(m/2) for the sum and 1 for the mean: u' D^2 phi u = sum alpha (1 - alpha) (u_i - u_j)^2 with
    alpha (1 - alpha) <= 1/4, and a cut u in {-1, 1}^m with |u_i - u_j| = 2 has at most that many pairs; attained at
    equal scores by binary labels with floor(m/2) relevant documents.

    References
    ----------
    Burges et al. 2005; `cone`, section 3 (RankNet); `twolayer`, section 2 (logistic loss).

    Example
    -------
    >>> values, gradient = RankNet().value_and_gradient([1e4, 0.0], [0, 1], [0, 2])
    >>> values, gradient
    (array([10000.]), array([ 1., -1.]))
    """

    name: ClassVar[str] = "ranknet"
    formula: ClassVar[str] = r"\varphi(s, y) = \sum_{i, j:\, y_i > y_j} \log(1 + e^{s_j - s_i})"
    exact: ClassVar[tuple[What, ...]] = ("lipschitz-linf", "lipschitz-l2", "smoothness", "bound")
    # For t -> log(1 + e^t), |third derivative| <= second; a pair has |u_j - u_i| <= 2 ||u||_inf.
    third_order: ClassVar[float] = 2.0

    def _pair(self, difference: float) -> float:
        return float(np.logaddexp(0.0, difference))

    def _sums(self, scores: Floats, y: NDArray[np.int32], offsets: NDArray[np.int64]) -> tuple[Floats, Floats]:
        return logistic(scores, y, offsets)

    def hessian_product(self, scores: Floats, y: NDArray[np.int32], offsets: NDArray[np.int64], V: Floats) -> Floats:
        """The Laplacian with pair weights alpha (1 - alpha), times V."""
        return logistic_hessian(scores, y, offsets, self._scale(y, offsets), V)

    def smoothness(self, m: Count, y_max: Label, *, score_bound: ScoreBound = None) -> float:
        """floor(m/2) ceil(m/2) for the sum, 1 for the mean; 0 where no two labels can differ. Attained."""
        return float(self._largest_cut(m, y_max))
