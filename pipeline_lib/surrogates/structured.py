"""Which surrogates treat ranking as structured prediction: the largest violated margin over all rankings?

Both are a maximum, over the rankings pi of a query's documents, of the ranking loss of pi plus the amount by which the
scores favour pi over an ideal ranking. The ranking by the scores is among them and is favoured by them, so the maximum
is at least its loss: structured-ndcg >= 1 - NDCG, svm-map >= 1 - AP, for every s and y. A maximum of affine functions
of s is convex, and the slope of one that attains it is a subgradient.

A query whose documents all have one label contributes 0: no ranking of it has a loss.

**The search.** In a best ranking, documents with equal labels are ordered by score: the loss does not distinguish
them, and this order maximises <s, A(pi)>. Therefore only the interleaving of the label levels is searched.

Two levels. Let high_1 >= ... >= high_r be the scores of the more relevant, low_1 >= ... >= low_q those of the others,
and let p_j of the r be ranked above the j-th of the q. When the j-th moves above the i-th, losses of the form sum_i a_i
(D(i) - D(rank of i)) and the scores give

    h_j(i) = a_i (D(i + j - 1) - D(i + j)) + scale (low_j - high_i),    objective = sum_j sum_{i > p_j} h_j(i).

For a convex discount D, h_j(i) decreases in j for every i: the best p_j, chosen for every j separately, increase with j
and therefore define a ranking. Because they increase, the result for the middle j halves the candidates for the others:
O(m log m). Both measures are of this form: NDCG with a_i = G / Z, and AP with a_i = i / r and D(i) = 1/i.

More levels (NDCG). The objective -sum_i (g_i D(rank_i) + s_i rank_i) is, up to a constant, the sum over thresholds t =
1..m-1 of the keys s_i - g_i (D(t) - D(t+1)) of the documents at ranks 1..t. If the sets of the t largest keys grow with
t, they define a ranking, and no ranking is better: O(m levels). Otherwise they nearly define one. The means between the
t-th and the (t+1)-th key, summed up, are prices of the ranks close to the optimal dual solution of the assignment
problem, and the few documents that compete for the same rank are assigned by shortest augmenting paths (Jonker and
Volgenant 1987), with costs computed when needed: O(m^2) for every such document.
"""

import math
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from pipeline_lib.core.arrays import Floats
from pipeline_lib.core.checks import Count, Label, NonNegative
from pipeline_lib.core.compiled import njit
from pipeline_lib.ranking import GAINS, discounts_of_longest, ideal_dcg_in_data_order, ideal_ranks, longest
from pipeline_lib.surrogates.base import Evaluation, Norm, ScoreBound, Surrogate, What
from pipeline_lib.surrogates.pair_sweeps import level_runs

STACK = 128  # two entries per halving suffice for more than 2^60 documents


class StructuredNDCG(Surrogate):
    """phi(s, y) = max_pi [1 - NDCG(pi, y) + <s, A(pi) - A(pi_y)>] with A(pi)_i = m - rank_i, pi_y an ideal ranking.

    The bracket is 0 at pi = pi_y, so that max(0, .) around the maximum changes nothing. A subgradient is
    rank_i in pi_y minus rank_i in a best pi.

    Several ideal rankings exist when labels are equal. Chapelle, Le and Smola choose one at random. Here equal labels
    are in document order, which is a fixed choice, as convexity requires: with the best-scored ideal ranking, phi would
    be a difference of convex functions. Therefore phi is also positive for equal labels that the scores do not order as
    the documents, and depends on that order, which `slam`, section 3.1, criticises. For a query with one label level it
    is nevertheless set to 0.

    Exact for any labels: O(m log m) for two label levels, and for more unless the scores of documents of different
    labels are so similar that the loss decides their order; then up to O(m^2) for each of a few documents (see
    above).

    Constants. The gradient is the difference of two permutations, any of which can be made best by scores far apart:
    with respect to l_inf, G = sum_i |2i - 1 - m| = floor(m^2 / 2), with respect to l_2 sqrt(m (m^2 - 1) / 3), both
    attained by the reversed ideal ranking, whatever y_max >= 1.

    References
    ----------
    Chapelle, Le and Smola 2007; `slam`, section 6.1 and its appendix (the gradient is O(m^2)).

    Example
    -------
    >>> values, gradient = StructuredNDCG().value_and_gradient([0.0, 2.0, 1.0], [1, 0, 0], [0, 3])
    >>> values.tolist(), gradient.tolist()
    ([3.5], [-2.0, 1.0, 1.0])
    """

    name: ClassVar[str] = "structured-ndcg"
    formula: ClassVar[str] = (
        r"\varphi(s, y) = \max_\pi \bigl( 1 - \mathrm{NDCG}(\pi, y) + \langle s, A(\pi) - A(\pi_y) \rangle \bigr), "
        r"\quad A(\pi)_i = m - \mathrm{rank}_\pi(i)"
    )
    shift_invariant: ClassVar[bool] = True
    exact: ClassVar[tuple[What, ...]] = ("lipschitz-linf", "lipschitz-l2")
    effort: ClassVar[float] = 15.0
    repeats: ClassVar[float] = 12.0

    def unchecked(self, scores: Floats, y: NDArray[np.int32], offsets: NDArray[np.int64]) -> tuple[Floats, Floats]:
        """See the base class."""
        return self.on(y, offsets)(scores)

    def on(self, y: NDArray[np.int32], offsets: NDArray[np.int64]) -> Evaluation:
        """See the base class."""
        D, ideal = discounts_of_longest(offsets), ideal_ranks(y, offsets)
        return lambda scores: _structured_ndcg(scores, y, offsets, ideal, D)

    def lipschitz(self, m: Count, y_max: Label, norm: Norm = "linf", *, score_bound: ScoreBound = None) -> float:
        """floor(m^2 / 2) (l_inf) or sqrt(m (m^2 - 1) / 3) (l_2); attained. 0 where no two labels can differ."""
        if m == 1 or y_max == 0:
            return 0.0
        return float(m**2 // 2) if norm == "linf" else math.sqrt(m * (m**2 - 1) / 3)

    def bound(self, m: Count, y_max: Label, score_bound: NonNegative) -> float:
        """1 + S floor(m^2 / 2)."""
        # 1 - NDCG <= 1, and ||A(pi) - A(pi_y)||_1 <= sum |2 i - 1 - m| = floor(m^2 / 2)
        return 1.0 + score_bound * (m * m // 2)


class SvmMAP(Surrogate):
    """phi(s, y) = max_pi [1 - AP(pi, y) + <s, Psi(pi) - Psi(pi*)>] on binary labels (label >= 1 counts as 1), with

        <s, Psi(pi)> = 1/(r (m - r)) sum over relevant i, irrelevant j of pi_ij (s_i - s_j),

    pi_ij = 1 if i is ranked above j, else -1; r documents are relevant. Psi is the same for every ideal ranking pi*,
    and phi does not depend on the order of the documents. O(m log m), exact.

    Constants. The gradient is -2/(r (m - r)) times the number of irrelevant documents above a relevant one, and 2/(r (m
    - r)) times the number of relevant documents below an irrelevant one. All are largest at the same time when all
    irrelevant documents are ranked at the top: G = 4 with respect to l_inf, for every m and r; with respect to l_2
    sqrt(4/r + 4/(m - r)), largest for one relevant document and one irrelevant: sqrt(8). Both are attained.

    References
    ----------
    Yue, Finley, Radlinski and Joachims 2007; `slam`, section 6.1 (the gradient is bounded by a constant).

    Example
    -------
    >>> values, gradient = SvmMAP().value_and_gradient([0.0, 2.0], [1, 0], [0, 2])
    >>> values.tolist(), gradient.tolist()
    ([4.5], [-2.0, 2.0])
    """

    name: ClassVar[str] = "svm-map"
    formula: ClassVar[str] = (
        r"\varphi(s, y) = \max_\pi \bigl( 1 - \mathrm{AP}(\pi, y) + \langle s, \Psi(\pi) - \Psi(\pi_y) \rangle \bigr), "
        r"\quad \langle s, \Psi(\pi) \rangle = \frac{1}{r (m - r)} \sum_{i, j:\, y_i \ge 1 > y_j} \pi_{ij} (s_i - s_j)"
    )
    shift_invariant: ClassVar[bool] = True
    binary: ClassVar[bool] = True
    exact: ClassVar[tuple[What, ...]] = ("lipschitz-linf", "lipschitz-l2")
    effort: ClassVar[float] = 8.0

    def unchecked(self, scores: Floats, y: NDArray[np.int32], offsets: NDArray[np.int64]) -> tuple[Floats, Floats]:
        """See the base class."""
        return _svm_map(scores, np.minimum(y, 1), offsets)

    def lipschitz(self, m: Count, y_max: Label, norm: Norm = "linf", *, score_bound: ScoreBound = None) -> float:
        """4 (l_inf) or sqrt(8) (l_2); attained. 0 where no two labels can differ."""
        if m == 1 or y_max == 0:
            return 0.0
        return 4.0 if norm == "linf" else math.sqrt(8.0)

    def bound(self, m: Count, y_max: Label, score_bound: NonNegative) -> float:
        """1 + 4 S."""
        # 1 - AP <= 1, and every pair contributes at most 2 * 2 S / (r (m - r))
        return 1.0 + 4.0 * score_bound


@njit(nogil=True)
def _svm_map(s, y, offsets):  # type: ignore[no-untyped-def]
    """Values and gradient of svm-map for binary labels.

    scale = 2 / (r q): every pair in the wrong order adds scale (low_j - high_i), so the gradient is -scale times the
    number of irrelevant documents above a relevant one, and scale times the number of relevant ones below an
    irrelevant one.
    """
    values, gradient = np.zeros(len(offsets) - 1), np.zeros(len(s))
    size = longest(offsets)
    D = 1.0 / np.arange(1, size + 1)
    drop = D[:-1] - D[1:]
    c, order, runs = np.empty(size), np.empty(size, np.int64), np.empty(size + 1, np.int64)
    a, ranks, stack = np.empty(size), np.empty(size, np.int64), np.empty((STACK, 4), np.int64)
    for q in range(len(values)):
        begin, end = offsets[q], offsets[q + 1]
        m = end - begin
        if level_runs(s[begin:end], y[begin:end], c, order, runs) == 1:
            continue
        n_low = runs[1]
        r = m - n_low
        for i in range(r):
            a[i] = (i + 1.0) / r
        scale = 2.0 / (r * n_low)
        _interleave(c, n_low, m, a, drop, scale, ranks, stack)
        for k in range(m):
            if k < n_low:
                g = scale * (r - (ranks[k] - (n_low - k)))
            else:
                i = m - k
                g = -scale * (ranks[k] - i)
                values[q] += a[i - 1] * (D[i - 1] - D[ranks[k] - 1])
            gradient[begin + order[k]] = g
            values[q] += g * c[k]
        if values[q] < 0.0:  # by rounding: the ideal ranking has 0
            values[q] = 0.0
            gradient[begin:end] = 0.0
    return values, gradient


@njit(nogil=True)
def _structured_ndcg(s, y, offsets, ideal, D):  # type: ignore[no-untyped-def]
    """Values and gradient ideal rank - rank of structured-ndcg; a query with one label level contributes 0."""
    values, gradient = np.zeros(len(offsets) - 1), np.zeros(len(s))
    size = longest(offsets)
    drop = D[:-1] - D[1:]
    c, order, runs = np.empty(size), np.empty(size, np.int64), np.empty(size + 1, np.int64)
    g, ranks, stack = np.empty(size), np.empty(size, np.int64), np.empty((STACK, 4), np.int64)
    taken, prices = np.empty(size, np.int64), np.empty(size)
    for q in range(len(values)):
        begin, end = offsets[q], offsets[q + 1]
        m = end - begin
        n_levels = level_runs(s[begin:end], y[begin:end], c, order, runs)
        if n_levels == 1:
            continue
        Z = ideal_dcg_in_data_order(y[begin:end], ideal[begin:end], D)
        lowest = GAINS[y[begin + order[0]]]
        for k in range(m):
            g[k] = (GAINS[y[begin + order[k]]] - lowest) / Z
        if n_levels == 2:
            _interleave(c, runs[1], m, g[runs[1] : m], drop, 1.0, ranks, stack)
        elif not _grow(c, g, runs, n_levels, drop, taken, ranks, prices):
            _assign(c[:m], g[:m], D, prices[:m], ranks)
        for k in range(m):
            i = begin + order[k]
            gradient[i] = ideal[i] - ranks[k]
            values[q] += g[k] * (D[ideal[i] - 1] - D[ranks[k] - 1]) + gradient[i] * c[k]
        if values[q] < 0.0:  # by rounding: the ideal ranking has 0
            values[q] = 0.0
            gradient[begin:end] = 0.0
    return values, gradient


@njit
def _interleave(c, n_low, m, a, drop, scale, ranks, stack):  # type: ignore[no-untyped-def]
    # Ranks 1..m of two levels: c[:n_low] less relevant, c[n_low:m] more relevant, both ascending; a_i by rank in its
    # level. With 0-based i and j, h_j(i) = a[i] drop[i + j] + scale (low_j - high_i). Of equal objectives the one with
    # fewer inversions is taken.
    r = m - n_low
    top = 0
    stack[0] = (0, n_low, 0, r)
    while top >= 0:
        first, last, p_first, p_last = stack[top]
        top -= 1
        j = (first + last) // 2
        low = c[n_low - 1 - j]
        best, largest, total = p_last, 0.0, 0.0
        for i in range(p_last - 1, p_first - 1, -1):
            total += a[i] * drop[i + j] + scale * (low - c[m - 1 - i])
            if total > largest:
                best, largest = i, total
        ranks[n_low - 1 - j] = j + 1 + best
        if first < j:
            top += 1
            stack[top] = (first, j, p_first, best)
        if j + 1 < last:
            top += 1
            stack[top] = (j + 1, last, best, p_last)
    j = 0
    for i in range(r):
        while j < n_low and ranks[n_low - 1 - j] <= i + j + 1:
            j += 1
        ranks[m - 1 - i] = i + 1 + j


@njit
def _grow(c, g, runs, n_levels, drop, taken, ranks, prices):  # type: ignore[no-untyped-def]
    # For t = 1, 2, ...: the t documents with the largest keys c - g drop(t). Returns the ranks at which they entered
    # and whether none had to leave again; in any case the prices of the ranks. Sets differ little from t to t + 1: a
    # document leaves only for one of a higher level, so there are at most m n_levels exchanges in all.
    m = runs[n_levels]
    taken[:n_levels] = 0
    nested = True
    prices[0] = 0.0
    for t in range(1, m):
        size = t - 1
        while True:
            comer = leaver = -1
            largest, smallest = -np.inf, np.inf
            for level in range(n_levels):
                k = runs[level + 1] - 1 - taken[level]
                if k >= runs[level]:
                    key = c[k] - g[k] * drop[t - 1]
                    if key > largest:
                        comer, largest = level, key
                if taken[level] > 0:
                    key = c[k + 1] - g[k + 1] * drop[t - 1]
                    if key < smallest:
                        leaver, smallest = level, key
            if size == t and largest <= smallest:
                break
            if size == t:
                taken[leaver] -= 1
                nested = False
            size = t
            ranks[runs[comer + 1] - 1 - taken[comer]] = t
            taken[comer] += 1
        prices[t] = prices[t - 1] + 0.5 * (largest + smallest)
    for level in range(n_levels):
        if taken[level] < runs[level + 1] - runs[level]:
            ranks[runs[level]] = m
    return nested


@njit
def _assign(c, g, D, prices, ranks):  # type: ignore[no-untyped-def]
    # min over permutations of sum_i cost(i, rank_i),  cost(i, r) = g_i D(r) + c_i r, by shortest augmenting paths.
    # Invariant: cost(i, r) >= value_i + price_r, with equality if i is assigned to r; equality means up to rounding.
    m = len(c)
    rounding = 4e-15 * (np.abs(c).max() * m + g.max())
    value, occupant = np.empty(m), np.full(m, -1, np.int64)
    for i in range(m):
        value[i] = np.inf
        for r in range(m):
            value[i] = min(value[i], g[i] * D[r] + c[i] * (r + 1) - prices[r])
        ranks[i] = 0
        for r in range(m):
            if occupant[r] < 0 and g[i] * D[r] + c[i] * (r + 1) - prices[r] <= value[i] + rounding:
                occupant[r], ranks[i] = i, r + 1
                break
    length, before, reached = np.empty(m), np.empty(m, np.int64), np.empty(m, np.bool_)
    for start in range(m):
        if ranks[start] > 0:
            continue
        length[:], reached[:] = np.inf, False
        i, travelled, end = start, 0.0, -1
        while end < 0:
            nearest, shortest = -1, np.inf
            for r in range(m):
                if not reached[r]:
                    through = travelled + (g[i] * D[r] + c[i] * (r + 1) - prices[r] - value[i])
                    if through < length[r]:
                        length[r], before[r] = through, i
                    if length[r] < shortest or (occupant[r] < 0 and length[r] <= shortest + rounding):
                        nearest, shortest = r, length[r]
            reached[nearest] = True
            travelled, i = length[nearest], occupant[nearest]
            if i < 0:
                end = nearest
        value[start] += travelled
        for r in range(m):
            if reached[r] and r != end:
                value[occupant[r]] += travelled - length[r]
                prices[r] -= travelled - length[r]
        r = end
        while True:
            i = before[r]
            occupant[r] = i
            r, ranks[i] = ranks[i] - 1, r + 1
            if i == start:
                break
