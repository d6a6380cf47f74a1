"""Which surrogate is a sum of exponentials over the pairs of differently labelled documents?"""

import math
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from pipeline_lib.core.arrays import Floats
from pipeline_lib.core.checks import Count, Label
from pipeline_lib.core.compiled import njit
from pipeline_lib.ranking import longest
from pipeline_lib.surrogates.base import Norm, ScoreBound, SmoothSurrogate, What, needed_score_bound
from pipeline_lib.surrogates.pair_sweeps import label_runs
from pipeline_lib.surrogates.pairwise import _Pairwise


class RankBoost(_Pairwise, SmoothSurrogate):
    """phi(s, y) = sum over pairs with y_i > y_j of e^(s_j - s_i).

    It takes O(m) for any labels: documents are visited by increasing label with the sum of e^{s_j} over the lower ones,
    and by decreasing label with the sum of e^{-s_i} over the higher ones; both sums are kept relative to their largest
    term, so that no intermediate value overflows if float64 can represent the result.

    Domain: finite while no less relevant document is ahead of a more relevant one by more than about 709; beyond,
    DataError. Relevant documents may be ahead by any distance.

    Constants on ||s||_inf <= S (none is global): a pair's slope is at most e^{2S}, so G is e^{2S} times that of RankSVM
    (see ``pairwise``): 2 floor(m/2) ceil(m/2) e^{2S} with respect to l_inf, attained by binary labels with the relevant
    documents at -S and the others at S. With respect to l_2 it is attained for y_max = 1, and at most 2 / sqrt(3) too
    large for more levels, because a document between two levels cannot be at -S and at S. H = 4 floor(m/2) ceil(m/2)
    e^{2S} for the sum and 4 e^{2S} for the mean, attained as G by u = -1, 1.

    Parameters
    ----------
    normalisation : "sum", "mean" or "all-pairs"
        Of the query; see ``pairwise``.

    References
    ----------
    Freund et al. 2003; `twolayer`, section 2 (exponential loss).

    Example
    -------
    >>> values, gradient = RankBoost().value_and_gradient([-1e4, 1e4, 0.0, 0.0], [0, 1, 1, 0], [0, 2, 4])
    >>> values, gradient
    (array([0., 1.]), array([ 0.,  0., -1.,  1.]))
    """

    name: ClassVar[str] = "rankboost"
    formula: ClassVar[str] = r"\varphi(s, y) = \sum_{i, j:\, y_i > y_j} e^{s_j - s_i}"
    # A pair's third derivative along u is e^t (u_j - u_i)^3 and |u_j - u_i| <= 2 ||u||_inf.
    third_order: ClassVar[float] = 2.0
    exact: ClassVar[tuple[What, ...]] = ("lipschitz-linf", "lipschitz-l2", "smoothness", "bound")

    def _pair(self, difference: float) -> float:
        return math.exp(difference) if difference < 709.0 else math.inf

    def _sums(self, scores: Floats, y: NDArray[np.int32], offsets: NDArray[np.int64]) -> tuple[Floats, Floats]:
        return _exponential(scores, y, offsets)

    def hessian_product(self, scores: Floats, y: NDArray[np.int32], offsets: NDArray[np.int64], V: Floats) -> Floats:
        """The Laplacian with pair weights e^(s_j - s_i), times V."""
        return _exponential_hessian(scores, y, offsets, self._scale(y, offsets), V)

    def lipschitz(self, m: Count, y_max: Label, norm: Norm = "linf", *, score_bound: ScoreBound = None) -> float:
        """e^{2S} times the constant of slopes in [0, 1], S = score_bound; attained for l_inf and for y_max = 1."""
        slope = _steepest(needed_score_bound(self.name, score_bound))
        flat = super().lipschitz(m, y_max, norm)
        return slope * flat if flat else 0.0

    def smoothness(self, m: Count, y_max: Label, *, score_bound: ScoreBound = None) -> float:
        """4 floor(m/2) ceil(m/2) e^{2S} for the sum, 4 e^{2S} for the mean; 0 where no two labels differ. Attained."""
        slope = _steepest(needed_score_bound(self.name, score_bound))
        cut = self._largest_cut(m, y_max)
        return 4.0 * slope * cut if cut else 0.0

    def supremum(self, what: What, m: Count, y_max: Label, *, score_bound: ScoreBound = None) -> float | None:
        """See the base class; for l_2 it is known where all pairs can be at distance 2 S at once, or all are at 0."""
        value = super().supremum(what, m, y_max, score_bound=score_bound)
        at_once = y_max <= 1 or self.normalisation != "sum" or score_bound == 0.0
        return value if what != "lipschitz-l2" or at_once else None


def _steepest(score_bound: float) -> float:
    return math.exp(2.0 * score_bound) if score_bound < 354.0 else math.inf


@njit(nogil=True)
def _exponential(s, y, offsets):  # type: ignore[no-untyped-def]
    # phi = sum_i e^{-s_i} sum_{j lower} e^{s_j}
    # d phi / d s_k = e^{s_k} sum_{i higher} e^{-s_i} - e^{-s_k} sum_{j lower} e^{s_j}
    values, gradient = np.zeros(len(offsets) - 1), np.zeros(len(s))
    size = longest(offsets) + 1
    c, order, start = np.empty(size), np.empty(size, np.int64), np.empty(size, np.int64)
    for q in range(len(values)):
        begin, end = offsets[q], offsets[q + 1]
        levels = label_runs(s[begin:end], y[begin:end], 0.0, c, order, start)
        for sign in (1.0, -1.0):  # rising labels with e^{s_j} of the lower ones, then falling with e^{-s_i}
            shift, total = -np.inf, 0.0
            for step in range(levels):
                level = step if sign > 0.0 else levels - 1 - step
                for k in order[start[level] : start[level + 1]] if step > 0 else order[:0]:
                    losses = math.exp(shift - sign * s[begin + k]) * total
                    gradient[begin + k] -= sign * losses
                    if sign > 0.0:
                        values[q] += losses
                for k in order[start[level] : start[level + 1]]:
                    shift, total = _added(shift, total, sign * s[begin + k])
        if values[q] == np.inf:
            gradient[begin:end] = np.nan
    return values, gradient


@njit
def _added(shift, total, x):  # type: ignore[no-untyped-def]
    # e^shift total + e^x, again as e^shift total with the largest exponent as shift
    if x > shift:
        return x, total * math.exp(shift - x) + 1.0
    return shift, total + math.exp(x - shift)


@njit(nogil=True)
def _exponential_hessian(s, y, offsets, scale, V):  # type: ignore[no-untyped-def]
    # (D^2 phi V)_k = scale_q sum over pairs of k and another l of e^(lower - higher score) (V_k - V_l)
    product = np.zeros(V.shape)
    size = longest(offsets) + 1
    c, order, start = np.empty(size), np.empty(size, np.int64), np.empty(size, np.int64)
    for q in range(len(offsets) - 1):
        begin, end = offsets[q], offsets[q + 1]
        levels = label_runs(s[begin:end], y[begin:end], 0.0, c, order, start)
        for sign in (1.0, -1.0):  # rising labels with e^{s_j} of the lower ones, then falling with e^{-s_i}
            shift, total, weighted = -np.inf, 0.0, np.zeros(V.shape[1])
            for step in range(levels):
                level = step if sign > 0.0 else levels - 1 - step
                for k in order[start[level] : start[level + 1]] if step > 0 else order[:0]:
                    weight = scale[q] * math.exp(shift - sign * s[begin + k])
                    for column in range(V.shape[1]):
                        product[begin + k, column] += weight * (total * V[begin + k, column] - weighted[column])
                for k in order[start[level] : start[level + 1]]:
                    x = sign * s[begin + k]
                    if x > shift:
                        weighted *= math.exp(shift - x)
                    shift, total = _added(shift, total, x)
                    for column in range(V.shape[1]):
                        weighted[column] += math.exp(x - shift) * V[begin + k, column]
    return product
