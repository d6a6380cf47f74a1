"""How are all pairs of differently labelled documents visited in O(m log m), without listing them?

The documents of a query are sorted by label, and by score within a label: one ascending run per label level. Adjacent
runs are merged pairwise, as in a merge sort. When two runs meet, every document of the right run has a larger label
than every document of the left run, and for each of them the left documents whose pair has a positive hinge, or is on
the rounded part of one, are a contiguous range that two pointers follow. Every pair of differently labelled documents
meets in exactly one merge, and there are about log2(levels) rounds of merges.

**Sums of hinges**, with their gradients and the second derivatives of rounded ones. For a pair i, j with y_i > y_j,
t = margin + s_j - s_i, and with a width h >= 0

    alpha(t) = clip(t / h, 0, 1)   (1[t > 0] for h = 0),     rounded hinge(t) = alpha t - h alpha^2 / 2.

Short lists are an exception: there, passes over all pairs are faster than sorting. Hinges that are not rounded have
weights of 0 and 1, and are counted: whole numbers, so that all ways give the same sums.

Everything follows from the weights alpha: with g = sum alpha (e_j - e_i), the gradient, sum alpha t is margin sum alpha
+ <g, s>, so that the losses need not be summed.
"""

import numpy as np

from pipeline_lib.core.compiled import copy, njit
from pipeline_lib.ranking import ascending, longest

__all__: list[str] = []  # internal: what comes here was checked before (see pipeline_lib.core.checks)

LEVELS = 256
# Ranges shorter than this on average are summed one by one, exactly; longer ones through prefix sums.
SHORT_RANGE = 4
# Up to so many pairs per document, a pass over all pairs is faster than sorting by score.
FEW_PAIRS = 400
# Up to so many documents, loops without branches over all ordered pairs are faster than sorting: hinges that are not
# rounded, rounded ones, and the second derivatives of these.
SHORT_COUNTED, SHORT_ROUNDED, SHORT_CURVED = 25, 100, 16
LANES = 8
"""Such loops go over a multiple of so many documents, which processors with vectors of up to 512 bits take at once."""


@njit(fastmath={"nnan", "nsz"})
def middle(s):  # type: ignore[no-untyped-def]
    """The middle of the range of s, and its half-width."""
    lowest, highest = np.inf, -np.inf
    for i in range(len(s)):
        lowest = min(lowest, s[i])
    for i in range(len(s)):
        highest = max(highest, s[i])
    return 0.5 * lowest + 0.5 * highest, 0.5 * highest - 0.5 * lowest


@njit
def label_runs(s, y, centre, c, order, runs):  # type: ignore[no-untyped-def]
    """Sort one query by label, equal labels in document order: s - centre to c, positions to order, bounds to runs.

    Returns the number of runs. runs needs one entry more than there are documents.
    """
    return _runs(s, y, range(len(s)), centre, c, order, runs)


@njit
def level_runs(s, y, c, order, runs):  # type: ignore[no-untyped-def]
    """Sort one query by (label, score): centred scores to c, positions to order, bounds of the runs to runs.

    Returns the number of runs. Scores are centred at a whole number near the middle of their range, so that sums of
    them keep their precision, and differences that are exact remain exact.
    """
    return _runs(s, y, ascending(s), np.rint(middle(s)[0]), c, order, runs)


@njit
def _runs(s, y, sequence, centre, c, order, runs):  # type: ignore[no-untyped-def]
    # The documents in the given sequence, sorted stably by label
    start = np.zeros(y.max() + 2, np.int64)
    for i in range(len(y)):
        start[y[i] + 1] += 1
    n_runs = 0
    for label in range(len(start) - 1):
        if start[label + 1] > 0:
            runs[n_runs] = start[label]
            n_runs += 1
        start[label + 1] += start[label]
    runs[n_runs] = len(s)
    for i in sequence:
        k = start[y[i]]
        start[y[i]] += 1
        c[k], order[k] = s[i] - centre, i
    return n_runs


@njit
def merge_runs(c, order, lo, mid, hi, spare_c, spare_order):  # type: ignore[no-untyped-def]
    """Merge the ascending runs lo:mid and mid:hi of c, together with order."""
    left, right = lo, mid
    for k in range(lo, hi):
        if right == hi or (left < mid and c[left] <= c[right]):
            spare_c[k], spare_order[k] = c[left], order[left]
            left += 1
        else:
            spare_c[k], spare_order[k] = c[right], order[right]
            right += 1
    copy(c[lo:hi], spare_c[lo:hi])
    copy(order[lo:hi], spare_order[lo:hi])


@njit
def halve(runs, n_runs):  # type: ignore[no-untyped-def]
    """Bounds of the runs after every pair of adjacent ones was merged; returns their number."""
    end = runs[n_runs]
    kept = (n_runs + 1) // 2
    for r in range(kept):
        runs[r] = runs[2 * r]
    runs[kept] = end
    return kept


@njit
def ranges(c, lo, mid, hi, margin, width, first, last):  # type: ignore[no-untyped-def]
    """For every right document i: pairs (i, j) have 0 < t < width for first <= j < last, and t >= width from last on.

    t = margin + c_j - c_i is the pair's hinge. Returns the number of pairs on the rounded part, 0 < t < width.
    """
    p = r = lo
    rounded = 0
    for i in range(mid, hi):
        cut = c[i] - margin
        while p < mid and c[p] <= cut:
            p += 1
        r = max(r, p)
        while r < mid and c[r] < cut + width:
            r += 1
        first[i], last[i] = p, r
        rounded += r - p
    return rounded


@njit(nogil=True)
def n_pairs(y, offsets):  # type: ignore[no-untyped-def]
    """Number of pairs of differently labelled documents of every query: (m^2 - sum over levels of n_l^2) / 2."""
    pairs = np.zeros(len(offsets) - 1, np.int64)
    count = np.zeros(LEVELS, np.int64)
    for q in range(len(pairs)):
        same = 0
        for i in range(offsets[q], offsets[q + 1]):
            same += 2 * count[y[i]] + 1
            count[y[i]] += 1
        for i in range(offsets[q], offsets[q + 1]):
            count[y[i]] = 0
        m = offsets[q + 1] - offsets[q]
        pairs[q] = (m * m - same) // 2
    return pairs


@njit(nogil=True)
def multiply_queries(values, gradient, factors, offsets):  # type: ignore[no-untyped-def]
    """Multiply the value of every query and the gradient of its documents by its factor, in place."""
    for q in range(len(values)):
        values[q] *= factors[q]
        for i in range(offsets[q], offsets[q + 1]):
            gradient[i] *= factors[q]


@njit(nogil=True)
def rounded_hinge(s, y, offsets, margin, width):  # type: ignore[no-untyped-def]
    """Values of the rounded hinges of every query, the gradient, and sum alpha of every query; hinges for width 0."""
    n_queries = len(offsets) - 1
    values, gradient, weights = np.zeros(n_queries), np.zeros(len(s)), np.zeros(n_queries)
    size = longest(offsets)
    c, order, runs = np.zeros(size + LANES), np.empty(size, np.int64), np.empty(size + 1, np.int64)
    level, below = np.zeros(size + LANES), np.empty(size + LANES)
    alphas, above = np.empty(size + LANES), np.empty(size + LANES)
    spare_c, spare_order = np.empty(size), np.empty(size, np.int64)
    first, last = np.empty(size, np.int64), np.empty(size, np.int64)
    sums = np.empty((size + 1, 2))
    steps = np.zeros((size + 1, 2))
    for q in range(n_queries):
        begin, end = offsets[q], offsets[q + 1]
        g = gradient[begin:end]
        centre = np.rint(middle(s[begin:end])[0])
        squares, counted = 0.0, -1.0
        if width > 0.0 and end - begin <= SHORT_ROUNDED:
            own = c, level, below, alphas, above
            counted, squares = _weigh_all(s[begin:end], y[begin:end], centre, margin, width, *own, g)
        elif width == 0.0 and end - begin <= SHORT_COUNTED:
            counted = _count_all(s[begin:end], y[begin:end], centre, margin, c, level, g)
        elif width == 0.0:
            counted = _count_few(s[begin:end], y[begin:end], centre, margin, c, order, runs, spare_order, g)
        weights[q] = max(counted, 0.0)
        n_runs = level_runs(s[begin:end], y[begin:end], c, order, runs) if counted < 0.0 else 1
        while n_runs > 1:
            for r in range(0, n_runs - 1, 2):
                lo, mid, hi = runs[r], runs[r + 1], runs[r + 2]
                rounded = ranges(c, lo, mid, hi, margin, width, first, last)
                if rounded <= SHORT_RANGE * (hi - lo):
                    weight, square = _weigh_singly(c, order, lo, mid, hi, margin, width, first, last, steps, g)
                else:
                    weight, square = _weigh_by_sums(c, order, lo, mid, hi, margin, width, first, last, sums, steps, g)
                weights[q] += weight
                squares += square
                merge_runs(c, order, lo, mid, hi, spare_c, spare_order)
            n_runs = halve(runs, n_runs)
        total = margin * weights[q] - 0.5 * width * squares
        if width == 0.0:
            total += _inner(gradient, s, centre, begin, end)
        else:
            for i in range(begin, end):
                total += gradient[i] * (s[i] - centre)
        values[q] = max(total, 0.0) if weights[q] > 0.0 else 0.0
    return values, gradient, weights


@njit(fastmath={"reassoc"})
def _count_all(s, y, centre, margin, c, level, g):  # type: ignore[no-untyped-def]
    # The number of pairs with a positive hinge, with their gradient added to g. Sums of whole numbers do not depend on
    # the order of their terms.
    m, pairs = len(s), 0.0
    for i in range(m):
        c[i], level[i] = s[i] - centre, y[i]
    for i in range(m):
        below = above = 0.0
        for j in range(m):
            below += 1.0 if (level[j] < level[i]) & (c[j] > c[i] - margin) else 0.0
        for j in range(m):
            above += 1.0 if (level[j] > level[i]) & (c[i] > c[j] - margin) else 0.0
        g[i] = above - below
        pairs += below
    return pairs


@njit
def _weigh_all(s, y, centre, margin, width, c, level, below, squares, above, g):  # type: ignore[no-untyped-def]
    # sum alpha and sum alpha^2 over the pairs of a list, with their gradient in g, through sums for every document over
    # those below and above it, which are added in the same order on every processor, however many documents it takes at
    # once. Both sums round the t of a pair in the same way, so that its alpha is one dual variable, and the minorant
    # lies below the hinges. What lies behind the list, up to a multiple of LANES, is computed in vain.
    m = len(s)
    n = (m + LANES - 1) // LANES * LANES
    for i in range(m):
        c[i], level[i] = s[i] - centre, y[i]
    for i in range(n):
        below[i] = squares[i] = above[i] = 0.0
    rise = 1.0 / width
    for j in range(m):
        other, own = level[j], c[j]
        for i in range(n):
            ahead = c[i] - own
            t = (margin - ahead) * rise
            alpha = (t if t < 1.0 else 1.0) if (t > 0.0) & (other < level[i]) else 0.0
            below[i] += alpha
            squares[i] += alpha * alpha
            t = (margin + ahead) * rise
            above[i] += (t if t < 1.0 else 1.0) if (t > 0.0) & (other > level[i]) else 0.0
    weight = square = 0.0
    for i in range(m):
        weight += below[i]
        square += squares[i]
        g[i] = above[i] - below[i]
    return weight, square


@njit
def _count_few(s, y, centre, margin, c, order, runs, counts, g):  # type: ignore[no-untyped-def]
    # The same, by label; -1 where pairs are many
    n_runs = label_runs(s, y, centre, c, order, runs)
    different = 0
    for r in range(1, n_runs):
        different += runs[r] * (runs[r + 1] - runs[r])
    if different > FEW_PAIRS * len(s):
        return -1.0
    counts[: len(s)] = 0
    pairs = 0
    for r in range(1, n_runs):
        for i in range(runs[r], runs[r + 1]):
            cut, own = c[i] - margin, 0
            for j in range(runs[r]):
                positive = int(c[j] > cut)
                own += positive
                counts[j] += positive
            counts[i] -= own
            pairs += own
    for k in range(len(s)):
        g[order[k]] = counts[k]
    return float(pairs)


@njit(fastmath={"reassoc", "contract"})
def _inner(g, s, centre, begin, end):  # type: ignore[no-untyped-def]
    # <g, s - centre> of one query
    total = 0.0
    for i in range(begin, end):
        total += g[i] * (s[i] - centre)
    return total


@njit
def _weigh_singly(c, order, lo, mid, hi, margin, width, first, last, steps, g):  # type: ignore[no-untyped-def]
    # sum alpha and sum alpha^2 over the pairs of one merge, with their gradient added to g
    weight = square = 0.0
    steps[lo : mid + 1, 0] = 0.0
    for i in range(mid, hi):
        cut = c[i] - margin
        own = float(mid - last[i])
        square += own
        steps[last[i], 0] += 1.0
        for j in range(first[i], last[i]):
            alpha = min((c[j] - cut) / width, 1.0)
            own += alpha
            square += alpha * alpha
            g[order[j]] += alpha
        weight += own
        g[order[i]] -= own
    gained = 0.0
    for j in range(lo, mid):
        gained += steps[j, 0]
        g[order[j]] += gained
    return weight, square


@njit
def _weigh_by_sums(c, order, lo, mid, hi, margin, width, first, last, sums, steps, g):  # type: ignore[no-untyped-def]
    # As _weigh_singly, with sums over ranges of c_j and c_j^2 from prefix sums; alpha_ij = (c_j - cut_i) / width is
    # linear in c_j, so that the contribution to left document j is a range sum of intercepts plus c_j times one of
    # slopes.
    sums[lo, :] = 0.0
    for j in range(lo, mid):
        sums[j + 1, 0] = sums[j, 0] + c[j]
        sums[j + 1, 1] = sums[j, 1] + c[j] * c[j]
    steps[lo : mid + 1, :] = 0.0
    weight = square = 0.0
    for i in range(mid, hi):
        cut = c[i] - margin
        a, b = first[i], last[i]
        linear, quadratic = sums[b, 0] - sums[a, 0], sums[b, 1] - sums[a, 1]
        full = mid - b
        own = full + (linear - (b - a) * cut) / width
        square += full + (quadratic - 2.0 * cut * linear + (b - a) * cut * cut) / (width * width)
        weight += own
        g[order[i]] -= own
        steps[a, 0] -= cut / width
        steps[b, 0] += 1.0 + cut / width
        steps[a, 1] += 1.0 / width
        steps[b, 1] -= 1.0 / width
    intercept = slope = 0.0
    for j in range(lo, mid):
        intercept += steps[j, 0]
        slope += steps[j, 1]
        g[order[j]] += intercept + slope * c[j]
    return weight, square


@njit(nogil=True)
def rounded_hinge_hessian(s, y, offsets, margin, width, scale, V):  # type: ignore[no-untyped-def]
    """Second derivative of the rounded hinges times V (N, k): scale_q / width times the Laplacian of rounded pairs."""
    product = np.zeros(V.shape)
    size, k = longest(offsets), V.shape[1]
    c, order, runs = np.empty(size), np.empty(size, np.int64), np.empty(size + 1, np.int64)
    spare_c, spare_order = np.empty(size), np.empty(size, np.int64)
    first, last = np.empty(size, np.int64), np.empty(size, np.int64)
    sums = np.empty((size + 1, k))
    steps, degree = np.zeros((size + 1, k)), np.zeros(size + 1, np.int64)
    for q in range(len(offsets) - 1):
        begin, end = offsets[q], offsets[q + 1]
        inside, into = V[begin:end], product[begin:end]
        n_runs = 1
        if end - begin <= SHORT_CURVED:
            _laplacian_of_all(s[begin:end], y[begin:end], margin, width, inside, into)
        else:
            n_runs = level_runs(s[begin:end], y[begin:end], c, order, runs)
        while n_runs > 1:
            for r in range(0, n_runs - 1, 2):
                lo, mid, hi = runs[r], runs[r + 1], runs[r + 2]
                rounded = ranges(c, lo, mid, hi, margin, width, first, last)
                if rounded > SHORT_RANGE * (hi - lo):
                    _laplacian_by_sums(order, lo, mid, hi, first, last, sums, steps, degree, inside, into)
                elif rounded > 0:
                    _laplacian_singly(order, mid, hi, first, last, inside, into)
                merge_runs(c, order, lo, mid, hi, spare_c, spare_order)
            n_runs = halve(runs, n_runs)
        into *= scale[q] / width
    return product


@njit
def _laplacian_of_all(s, y, margin, width, V, into):  # type: ignore[no-untyped-def]
    # (L V)_i += V_i - V_j and (L V)_j += V_j - V_i for every rounded pair of a list
    for i in range(len(s)):
        for j in range(len(s)):
            if y[j] < y[i] and 0.0 < margin + s[j] - s[i] < width:
                _add_pair(i, j, V, into)


@njit
def _laplacian_singly(order, mid, hi, first, last, V, into):  # type: ignore[no-untyped-def]
    # The same, for the rounded pairs of a merge
    for i in range(mid, hi):
        for j in range(first[i], last[i]):
            _add_pair(order[i], order[j], V, into)


@njit
def _add_pair(i, j, V, into):  # type: ignore[no-untyped-def]
    for k in range(V.shape[1]):
        difference = V[i, k] - V[j, k]
        into[i, k] += difference
        into[j, k] -= difference


@njit
def _laplacian_by_sums(order, lo, mid, hi, first, last, sums, steps, degree, V, into):  # type: ignore[no-untyped-def]
    # As _laplacian_singly, through prefix sums of V over the left run and range additions into it
    n = V.shape[1]
    sums[lo, :] = 0.0
    for j in range(lo, mid):
        for k in range(n):
            sums[j + 1, k] = sums[j, k] + V[order[j], k]
    steps[lo : mid + 1, :] = 0.0
    degree[lo : mid + 1] = 0
    for i in range(mid, hi):
        a, b, document = first[i], last[i], order[i]
        if a == b:
            continue
        degree[a] += 1
        degree[b] -= 1
        for k in range(n):
            value = V[document, k]
            into[document, k] += (b - a) * value - (sums[b, k] - sums[a, k])
            steps[a, k] += value
            steps[b, k] -= value
    pairs = 0
    for j in range(lo, mid):
        pairs += degree[j]
        document = order[j]
        for k in range(n):
            if j > lo:
                steps[j, k] += steps[j - 1, k]
            into[document, k] += pairs * V[document, k] - steps[j, k]
