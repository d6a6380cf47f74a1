"""Which surrogate is the likelihood of an ideal order, if documents are drawn from the top one by one?"""

import math
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from pipeline_lib.core.arrays import Floats
from pipeline_lib.core.checks import Count, Label, NonNegative
from pipeline_lib.core.compiled import njit
from pipeline_lib.ranking import ideal_ranks
from pipeline_lib.surrogates.base import Norm, ScoreBound, SmoothSurrogate, What
from pipeline_lib.surrogates.pair_sweeps import longest


class ListMLE(SmoothSurrogate):
    """phi(s, y) = sum_i log(sum_{j in R_i} e^{s_j}) - s_i, with R_i the documents that are not above i in ideal order.

    This is minus the logarithm of the probability of the ideal order in the model of Plackett and Luce, where the next
    document is drawn with probability proportional to e^s from those that are left. It takes O(m log m).

    The published loss needs one ideal order, and labels leave several. Here R_i contains all documents with labels of
    at most y_i (as in Breslow's partial likelihood): phi then does not depend on the order of the documents, and equals
    the published loss where all labels differ.

    The gradient is c - 1 with c_i = sum over k with i in R_k of P_k(i), P_k the softmax on R_k; the second derivative
    is the sum of the covariances of all P_k.

    Constants. c >= 0 sums up to m, so that ||c - 1||_1 <= 2 (m - 1) and ||c - 1||_2^2 = ||c||_2^2 - m <= m (m - 1).
    Both are approached as the score of a document in all R_k grows: G = 2 (m - 1) with respect to l_inf, sqrt(m (m -
    1)) with respect to l_2, whatever y_max. u' D^2 phi u is a sum of variances under the P_k, each at most 1 where no
    entry of u exceeds 1, and 0 where R_k has one document only: H = m (two documents of equal score far above the
    others, all labels equal); 0 for m = 1. phi <= m log m + 2 (m - 1) S on ||s||_inf <= S.

    References
    ----------
    Xia, Liu, Wang, Zhang and Li 2008; Breslow 1974.

    Example
    -------
    >>> values, gradient = ListMLE().value_and_gradient([0.0, 0.0, 0.0], [1, 1, 0], [0, 3])
    >>> values.round(4), gradient.round(4)
    (array([2.1972]), array([-0.3333, -0.3333,  0.6667]))
    """

    name: ClassVar[str] = "listmle"
    formula: ClassVar[str] = r"\varphi(s, y) = \sum_i \Bigl( \log \sum_{j:\, y_j \le y_i} \exp(s_j) - s_i \Bigr)"
    shift_invariant: ClassVar[bool] = True
    # As for ListNet, in every summand.
    third_order: ClassVar[float] = 2.0
    exact: ClassVar[tuple[What, ...]] = ("lipschitz-linf", "lipschitz-l2", "smoothness")

    def unchecked(self, scores: Floats, y: NDArray[np.int32], offsets: NDArray[np.int64]) -> tuple[Floats, Floats]:
        """See the base class."""
        return _listmle(scores, y, ideal_ranks(y, offsets), offsets)

    def hessian_product(self, scores: Floats, y: NDArray[np.int32], offsets: NDArray[np.int64], V: Floats) -> Floats:
        """sum_k P_k (V - P_k' V), query by query."""
        return _listmle_hessian(scores, y, ideal_ranks(y, offsets), offsets, V)

    def lipschitz(self, m: Count, y_max: Label, norm: Norm = "linf", *, score_bound: ScoreBound = None) -> float:
        """2 (m - 1) (l_inf) or sqrt(m (m - 1)) (l_2); approached."""
        return 2.0 * (m - 1) if norm == "linf" else math.sqrt(m * (m - 1))

    def smoothness(self, m: Count, y_max: Label, *, score_bound: ScoreBound = None) -> float:
        """m; attained. 0 for one document."""
        return 0.0 if m == 1 else float(m)

    def bound(self, m: Count, y_max: Label, score_bound: NonNegative) -> float:
        """m log m + 2 (m - 1) S."""
        # A summand is at most log(1 + (m - 1) e^{2 S}) <= log m + 2 S; that of the document with the largest score is
        # at most log m.
        return m * math.log(m) + 2.0 * (m - 1) * score_bound

    def _least(self, y: NDArray[np.int32], offsets: NDArray[np.int64]) -> Floats:
        # With labels far apart, n log n is left of n equal labels: the scores of these should be equal.
        query = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
        pairs, n = np.unique(np.c_[query, y], axis=0, return_counts=True)
        least = np.zeros(len(offsets) - 1)
        np.add.at(least, pairs[:, 0], n * np.log(n))
        return least


@njit(nogil=True)
def _listmle(s, level, ideal, offsets):  # type: ignore[no-untyped-def]
    # With groups a of equal level from the top, n_a documents each and Z_a the sum of e^s on group a and all below:
    # phi = sum_a n_a log Z_a - sum s,  and the gradient is e^{s_i} W_b - 1 in group b,  W_b = sum_{a <= b} n_a / Z_a.
    values, gradient = np.zeros(len(offsets) - 1), np.empty(len(s))
    size = longest(offsets)
    order, log_z = np.empty(size, np.int64), np.empty(size)
    for q in range(len(values)):
        begin, m = offsets[q], offsets[q + 1] - offsets[q]
        top = _sums_from_below(s[begin : begin + m], level[begin : begin + m], ideal[begin : begin + m], order, log_z)
        log_w, k = -np.inf, 0
        while k < m:
            n = _group(level, begin, order, k, m)
            log_w = _log_sum(log_w, math.log(n) - log_z[k])
            values[q] += n * log_z[k]
            for place in range(k, k + n):
                i = begin + order[place]
                values[q] -= s[i] - top
                gradient[i] = math.exp(s[i] - top + log_w) - 1.0
            k += n
        values[q] = max(values[q], 0.0)
    return values, gradient


@njit
def _log_sum(a, b):  # type: ignore[no-untyped-def]
    # log(e^a + e^b)
    high, low = max(a, b), min(a, b)
    return high if low == -np.inf else high + math.log1p(math.exp(low - high))


@njit
def _group(level, begin, order, k, m):  # type: ignore[no-untyped-def]
    # The number of documents from place k on that have the same level
    n = 1
    while k + n < m and level[begin + order[k + n]] == level[begin + order[k]]:
        n += 1
    return n


@njit
def _sums_from_below(s, level, ideal, order, log_z):  # type: ignore[no-untyped-def]
    # The ideal order, and at the first place of every group log Z - top; gives top, the largest score.
    m = len(s)
    top = s.max()
    for i in range(m):
        order[ideal[i] - 1] = i
    high, total = -np.inf, 0.0  # Z = total e^high
    for place in range(m - 1, -1, -1):
        score = s[order[place]] - top
        if score > high:
            total = total * math.exp(high - score) + 1.0 if total > 0.0 else 1.0
            high = score
        else:
            total += math.exp(score - high)
        log_z[place] = high + math.log(total)
    return top


@njit(nogil=True)
def _listmle_hessian(s, level, ideal, offsets, V):  # type: ignore[no-untyped-def]
    # sum_a n_a (diag P_a - P_a P_a') V = e^{s_i} (W_b V_i - T_b),  T_b = sum_{a <= b} (n_a / Z_a) mean_a, where mean_a
    # is P_a' V; T_b / W_b is a mean as well, and is kept in place of T_b.
    product = np.empty(V.shape)
    columns, size = V.shape[1], longest(offsets)
    order, log_z, means = np.empty(size, np.int64), np.empty(size), np.empty((size, columns))
    mean, total = np.empty(columns), np.empty(columns)
    for q in range(len(offsets) - 1):
        begin, m = offsets[q], offsets[q + 1] - offsets[q]
        top = _sums_from_below(s[begin : begin + m], level[begin : begin + m], ideal[begin : begin + m], order, log_z)
        mean[:] = 0.0
        for place in range(m - 1, -1, -1):
            i = begin + order[place]
            share = math.exp(s[i] - top - log_z[place])
            for c in range(columns):
                mean[c] += share * (V[i, c] - mean[c])
                means[place, c] = mean[c]
        log_w, k = -np.inf, 0
        total[:] = 0.0
        while k < m:
            n = _group(level, begin, order, k, m)
            new = math.log(n) - log_z[k]
            log_w = _log_sum(log_w, new)
            share = math.exp(new - log_w)
            for c in range(columns):
                total[c] += share * (means[k, c] - total[c])
            for place in range(k, k + n):
                i = begin + order[place]
                weight = math.exp(s[i] - top + log_w)
                for c in range(columns):
                    product[i, c] = weight * (V[i, c] - total[c])
            k += n
    return product
