"""How are all pairs of differently labelled documents visited in O(m log m), without listing them?

The documents of a query are sorted by label, and by score within a label: one ascending run per label level. Adjacent
runs are merged pairwise, as in a merge sort. When two runs meet, every document of the right run has a larger label
than every document of the left run, and for each of them the left documents whose pair has a positive hinge, or is on
the rounded part of one, are a contiguous range that two pointers follow. Every pair of differently labelled documents
meets in exactly one merge, and there are about log2(levels) rounds of merges.
"""

import numpy as np

from pipeline_lib.core.compiled import njit

__all__: list[str] = []  # internal: what comes here was checked before (see pipeline_lib.core.checks)

LEVELS = 256


@njit
def longest(offsets):  # type: ignore[no-untyped-def]
    """The largest number of documents of a query."""
    m = 0
    for q in range(len(offsets) - 1):
        m = max(m, offsets[q + 1] - offsets[q])
    return m


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
    return _runs(s, y, np.arange(len(s)), centre, c, order, runs)


@njit
def level_runs(s, y, c, order, runs):  # type: ignore[no-untyped-def]
    """Sort one query by (label, score): centred scores to c, positions to order, bounds of the runs to runs.

    Returns the number of runs. Scores are centred at a whole number near the middle of their range, so that sums of
    them keep their precision, and differences that are exact remain exact.
    """
    return _runs(s, y, np.argsort(s, kind="mergesort"), np.rint(middle(s)[0]), c, order, runs)


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
    c[lo:hi] = spare_c[lo:hi]
    order[lo:hi] = spare_order[lo:hi]


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
