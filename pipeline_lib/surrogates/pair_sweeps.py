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

INSERTION_SORT_UP_TO = 48
# Up to this largest label, one pass over the documents per label is faster than counting (measured).
PASSES_UP_TO = 4
# Up to so many pairs per document, a pass over all pairs is faster than sorting (measured; see docs/methods.md).
ALL_PAIRS_UP_TO = 400
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

    Returns the number of runs. order and runs need one entry more than there are documents.
    """
    m = np.uint64(len(s))
    top = np.int32(0)
    for i in range(m):
        top = max(top, y[i])
    k, n_runs = np.uint64(0), 0
    if top <= PASSES_UP_TO:
        for label in range(top + 1):
            begin = k
            for i in range(m):
                order[k] = i
                k += np.uint64(y[i] == label)  # otherwise the next document is put into the same entry
            if k > begin:
                runs[n_runs] = begin
                n_runs += 1
    else:
        place = np.zeros(top + 1, np.uint64)
        for i in range(m):
            place[y[i]] += 1
        for label in range(top + 1):
            if place[label] > 0:
                runs[n_runs] = k
                n_runs += 1
            place[label], k = k, k + place[label]
        for i in range(m):
            order[place[y[i]]] = i
            place[y[i]] += 1
    for rank in range(m):
        c[rank] = s[np.uint64(order[rank])] - centre
    runs[n_runs] = m
    return n_runs


@njit
def ascending(s):  # type: ignore[no-untyped-def]
    """The positions of s in ascending order, sorted stably by radix in O(m), without comparisons.

    Numbers and their bits are in the same order if the sign bit of positive numbers, and all bits of negative numbers,
    are inverted. The numbers are sorted by the lowest byte, then by the next, ..., each time stably.
    """
    m = len(s)
    keys, spare_keys = np.empty(m, np.uint64), np.empty(m, np.uint64)
    order, spare_order = np.empty(m, np.int32), np.empty(m, np.int32)
    count = np.zeros((8, 256), np.int32)
    for i in range(m):
        bits = np.float64(s[i] + 0.0).view(np.int64)  # -0.0 becomes 0.0
        keys[i] = np.uint64(bits ^ ((bits >> 63) | np.int64(-(2**63))))
        order[i] = i
        for byte in range(8):
            count[byte, (keys[i] >> np.uint64(8 * byte)) & np.uint64(255)] += 1
    for byte in range(8):
        shift = np.uint64(8 * byte)
        if count[byte, (keys[0] >> shift) & np.uint64(255)] == m:
            continue  # all have the same byte
        begin = 0
        for digit in range(256):
            begin, count[byte, digit] = begin + count[byte, digit], begin
        for i in range(m):
            digit = (keys[i] >> shift) & np.uint64(255)
            k = np.uint32(count[byte, digit])
            count[byte, digit] += 1
            spare_keys[k], spare_order[k] = keys[i], order[i]
        keys, spare_keys = spare_keys, keys
        order, spare_order = spare_order, order
    return order


@njit
def level_runs(s, y, c, order, runs):  # type: ignore[no-untyped-def]
    """Sort one query by (label, score): centred scores to c, positions to order, bounds of the runs to runs.

    Returns the number of runs. Scores are centred at a whole number near the middle of their range, so that sums of
    them keep their precision, and differences that are exact remain exact.
    """
    m = len(s)
    centre = np.rint(middle(s)[0])
    if m <= INSERTION_SORT_UP_TO:
        for i in range(m):
            label, score = y[i], s[i] - centre
            k = i
            while k > 0 and (y[order[k - 1]] > label or (y[order[k - 1]] == label and c[k - 1] > score)):
                c[k], order[k] = c[k - 1], order[k - 1]
                k -= 1
            c[k], order[k] = score, i
    else:
        start = np.zeros(LEVELS + 1, np.int64)
        for i in range(m):
            start[y[i] + 1] += 1
        for level in range(LEVELS):
            start[level + 1] += start[level]
        for i in ascending(s):
            k = start[y[i]]
            start[y[i]] += 1
            c[k], order[k] = s[i] - centre, i
    n_runs = 0
    for k in range(m):
        if k == 0 or y[order[k]] != y[order[k - 1]]:
            runs[n_runs] = k
            n_runs += 1
    runs[n_runs] = m
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
