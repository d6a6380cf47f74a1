"""Which surrogates are likelihoods of a whole list of labels: of its document on top, or of its ideal order?"""

import math
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from pipeline_lib.core.arrays import Floats
from pipeline_lib.core.checks import Count, Label, NonNegative
from pipeline_lib.core.compiled import njit
from pipeline_lib.ranking import ideal_ranks, longest
from pipeline_lib.surrogates.base import Evaluation, Norm, ScoreBound, SmoothSurrogate, What
from pipeline_lib.surrogates.vector_exp import exp

# So many documents are processed at a time, so that intermediate values remain in the processor's cache.
RUN = 4096
POWERS: Floats = np.exp(np.arange(256.0))
"""e^y for every label y."""


class ListNet(SmoothSurrogate):
    """phi(s, y) = -sum_i P_i(y) log P_i(s), P = softmax: the cross entropy of top-one probabilities.

    The gradient is P(s) - P(y), the second derivative the covariance diag P(s) - P(s) P(s)'.

    Constants, free of m: G <= 2 with respect to l_inf, as published; the exact supremum for labels in 0..y_max is 2 - 2
    / (1 + (m - 1) e^y_max), approached when all score mass is on the only document of label 0, so that 2 is tight as m
    or y_max grows. With respect to l_2 the distance of two distributions is at most sqrt(2), tight as y_max grows. The
    published H <= 2 is not tight: u' D^2 phi u is the variance of u under P(s), at most 1 for
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
    formula: ClassVar[str] = (
        r"\varphi(s, y) = -\sum_i P_i(y) \log(P_i(s)), \quad P_i(v) = \frac{\exp(v_i)}{\sum_j \exp(v_j)}"
    )
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

    def lipschitz(self, m: Count, y_max: Label, norm: Norm = "linf", *, score_bound: ScoreBound = None) -> float:
        """2 (l_inf) or sqrt(2) (l_2), for every m and y_max."""
        return 2.0 if norm == "linf" else math.sqrt(2.0)

    def smoothness(self, m: Count, y_max: Label, *, score_bound: ScoreBound = None) -> float:
        """2, for every m and y_max."""
        return 2.0

    def bound(self, m: Count, y_max: Label, score_bound: NonNegative) -> float:
        """log m + 2 S."""
        # log sum e^s <= log m + S, and -sum P(y) s <= S
        return math.log(m) + 2.0 * score_bound

    def excess_bound(self, m: Count, y_max: Label, score_bound: NonNegative) -> float:
        """y_max + 2 S."""
        # KL(P(y) || P(s)) <= max of log P_i(y) / P_i(s) <= max d - min d with d = y - s
        return y_max + 2.0 * score_bound

    def _least(self, y: NDArray[np.int32], offsets: NDArray[np.int64]) -> Floats:
        # The entropy of P(y), attained at s = y.
        return self.unchecked(y.astype(np.float64), y, offsets)[0]

    def supremum(self, what: What, m: Count, y_max: Label, *, score_bound: ScoreBound = None) -> float | None:
        """2 - 2 / (1 + (m - 1) e^y_max) for l_inf, what enumeration gives for l_2, and 1 for the smoothness."""
        if what == "lipschitz-linf":  # all score mass on the one document of label 0: 2 (1 - P_i(y)), P_i(y) least
            return 2.0 - 2.0 / (1.0 + (m - 1) * math.exp(y_max))
        if what == "lipschitz-l2":
            return _largest_distance(m, y_max)
        if what == "smoothness":  # the largest variance of a variable in [-1, 1]: two documents of equal score
            return 1.0 if m > 1 else 0.0
        return None


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
        return self.on(y, offsets)(scores)

    def on(self, y: NDArray[np.int32], offsets: NDArray[np.int64]) -> Evaluation:
        """See the base class."""
        ideal = ideal_ranks(y, offsets)
        return lambda scores: _listmle(scores, y, ideal, offsets)

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


def _largest_distance(m: int, y_max: int) -> float:
    # ||e_i - P(y)|| is convex in P(y), whose set has corners with labels 0 and y_max only: a documents of y_max, n - a
    # of 0. For y_max >= 3, two documents are best; for y_max = 1, 2 lists of more than 200 documents have
    # ||.||^2 <= 1 + max P(y) below what two documents have.
    if y_max == 0:
        return math.sqrt(1.0 - 1.0 / m)
    best, rise = 0.0, math.exp(y_max)
    for n in range(2, min(m, 200) + 1):
        a = np.arange(1, n)
        low = 1.0 / (a * rise + n - a)
        best = max(best, float(np.max((1.0 - low) ** 2 + a * (rise * low) ** 2 + (n - a - 1) * low**2)))
    return math.sqrt(best)


@njit(nogil=True)
def _listnet(s, y, offsets):  # type: ignore[no-untyped-def]
    # With a = max s and e_i = e^(s_i - a):  phi = log sum_j e_j - sum_i P_i(y) (s_i - a). A run of queries at a time
    # goes through loops without branches, which are vectorised. e^y needs no such precaution as e^s, because labels are
    # at most 255.
    values, gradient = np.empty(len(offsets) - 1), np.empty(len(s))
    size = max(RUN, longest(offsets))
    behind, target = np.empty(size), np.empty(size)
    first = 0
    while first < len(values):
        last, start = first + 1, offsets[first]
        while last < len(values) and offsets[last + 1] - start <= size:
            last += 1
        _relative(s, offsets[first : last + 1], behind)
        own, labels = gradient[start : offsets[last]], y[start : offsets[last]]
        for i in range(len(own)):
            own[i] = exp(behind[i])
        for i in range(len(own)):
            target[i] = POWERS[np.uint32(labels[i])]
        _compared(offsets[first : last + 1], behind, target, values[first:last], gradient)
        _with_equal_labels(y, offsets[first : last + 1], behind, values[first:last], gradient)
        first = last
    return values, gradient


@njit(fastmath={"nnan", "nsz"})
def _relative(s, offsets, behind):  # type: ignore[no-untyped-def]
    # behind = s - max s, query by query
    for q in range(len(offsets) - 1):
        own, to = s[offsets[q] : offsets[q + 1]], behind[offsets[q] - offsets[0] :]
        top = -np.inf
        for i in range(len(own)):
            top = max(top, own[i])
        for i in range(len(own)):
            to[i] = own[i] - top


@njit(error_model="numpy", fastmath={"reassoc", "contract"})
def _compared(offsets, behind, target, values, gradient):  # type: ignore[no-untyped-def]
    # Receives e in gradient; returns phi and the gradient e / sum e - target / sum target of every query.
    for q in range(len(values)):
        e, s = gradient[offsets[q] : offsets[q + 1]], behind[offsets[q] - offsets[0] :]
        mass = target[offsets[q] - offsets[0] :]
        mass_s = mass_y = inner = 0.0
        for i in range(len(e)):
            mass_s += e[i]
            mass_y += mass[i]
            inner += mass[i] * s[i]
        of_s, of_y = 1.0 / mass_s, 1.0 / mass_y
        for i in range(len(e)):
            e[i] = e[i] * of_s - mass[i] * of_y
        values[q] = math.log(mass_s) - inner * of_y


@njit(error_model="numpy")
def _with_equal_labels(y, offsets, behind, values, gradient):  # type: ignore[no-untyped-def]
    # Once more, with P_i(y) = 1/m exactly: the gradient at equal scores is then exactly 0.
    for q in range(len(values)):
        begin, end = offsets[q], offsets[q + 1]
        m = 1
        while begin + m < end and y[begin + m] == y[begin]:
            m += 1
        if begin + m < end:
            continue
        mass = inner = 0.0
        for i in range(begin, end):
            gradient[i] = exp(behind[i - offsets[0]])
            mass += gradient[i]
            inner += behind[i - offsets[0]]
        for i in range(begin, end):
            gradient[i] = gradient[i] / mass - 1.0 / m
        values[q] = math.log(mass) - inner / m


@njit(nogil=True)
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
