"""How do scores rank the documents of a query, and what are gain, discount and ideal DCG?

Gain G(r) = 2^r - 1 of a label r, discount D(i) = 1 / log2(i + 1) of a rank i; rank 1 is the top (`slam`, (1)).
Documents of equal scores, and those of equal labels in the ideal ranking, keep their order in the data, as in the
evaluation of LETOR and in the papers. Where this order must decide nothing, :func:`tie_groups` says which documents
could as well change places (:data:`Ties`).

Some functions compute the same number and add its terms in different orders, so that the last digits may differ:
results must not change with the function that a caller takes, and every caller therefore keeps to one of them.
"""

from functools import lru_cache
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pipeline_lib.core import checks
from pipeline_lib.core.checks import MAX_LABEL, Count, checked
from pipeline_lib.core.compiled import copy, njit
from pipeline_lib.core.errors import DataError

Floats = NDArray[np.float64]

GAINS: Floats = np.ldexp(1.0, np.arange(MAX_LABEL + 1)) - 1.0
"""G(0), ..., G(MAX_LABEL), exactly."""

LONG = 64
"""Longer lists are sorted by radix, shorter ones by insertion."""

# The rank of a relevant document can be counted in one pass over its query, with several scores per instruction, or
# taken from a sort. With r relevant documents, counting costs r m such steps, sorting about this number times m log2(m)
# (measured).
COUNTING_STEPS_PER_SORTING_STEP = 40.0

Ties = Literal["file", "mean", "best", "worst"]
"""What a measure says of a ranking in which scores are equal: its value in the order of the data ("file"), the mean
over all orders that the scores allow, each as likely as any other ("mean"), or the largest and the smallest value among
these orders ("best", "worst")."""

Convention = Literal["mean", "file"]
"""By which of them a data set is judged: as LETOR and the papers do ("file"), or so that the order of its rows decides
nothing ("mean")."""


@checked
def discounts(m: Count) -> Floats:
    """D(1), ..., D(m).

    Example
    -------
    >>> discounts(3).round(4).tolist()
    [1.0, 0.6309, 0.5]
    """
    return _discounts(m).copy()


@lru_cache(maxsize=1024)
def _discounts(m: int) -> Floats:
    D: Floats = 1.0 / np.log2(np.arange(2.0, m + 2.0))
    D.flags.writeable = False
    return D


def discounts_of_longest(offsets: NDArray[np.int64]) -> Floats:
    """D(1), ..., D(m) for the longest of the lists, not to be written to; internal: nothing is checked."""
    return _discounts(longest(offsets))


@njit
def longest(offsets):  # type: ignore[no-untyped-def]
    """The number of documents of the longest list, and at least 1.

    Example
    -------
    >>> longest(np.array([0, 2, 5])), longest(np.array([0]))
    (3, 1)
    """
    m = 1
    for q in range(len(offsets) - 1):
        m = max(m, offsets[q + 1] - offsets[q])
    return m


@checked
def inverse_discounts(ranks: ArrayLike) -> Floats:
    """1 / D(i) = log2(i + 1) of every rank i, of the shape of ``ranks``.

    Raises
    ------
    DataError
        When a rank is below 1.

    Example
    -------
    >>> inverse_discounts([1, 3]).tolist()
    [1.0, 2.0]
    """
    places = checks.floats("ranks", ranks)
    if (places < 1.0).any():
        raise DataError(f"ranks: expected numbers of at least 1, found {places.min():g}")
    return np.asarray(np.log2(places + 1.0))


@checked
def discount_sums(m: Count) -> Floats:
    """D(1) + ... + D(r) for r = 0, ..., m.

    Example
    -------
    >>> discount_sums(3).round(4).tolist()
    [0.0, 1.0, 1.6309, 2.1309]
    """
    sums = np.zeros(m + 1)
    np.cumsum(discounts(m), out=sums[1:])
    return sums


@checked
def letor4_discounts(m: Count) -> Floats:
    """The discounts of the evaluation of LETOR 4.0 at ranks 1, ..., m: 1 at ranks 1 and 2, then 1 / log2(i).

    Example
    -------
    >>> letor4_discounts(4).round(4).tolist()
    [1.0, 1.0, 0.6309, 0.5]
    """
    ranks = np.arange(1.0, m + 1.0)
    return np.asarray(1.0 / np.log2(np.maximum(ranks, 2.0)))


@njit
def gain(label):  # type: ignore[no-untyped-def]
    """G of a label that is stored as a float.

    Example
    -------
    >>> gain(2.0)
    3.0
    """
    return 2.0**label - 1.0


@njit
def ascending(s):  # type: ignore[no-untyped-def]
    """The positions of s in ascending order, sorted stably by radix in O(m), without comparisons.

    Numbers and their bits are in the same order if the sign bit of positive numbers, and all bits of negative numbers,
    are inverted. The numbers are sorted by the lowest byte, then by the next, ..., each time stably.

    Example
    -------
    >>> ascending(np.array([0.5, -1.0, 0.5])).tolist()
    [1, 0, 2]
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
def order_by_score(s, ranked):  # type: ignore[no-untyped-def]
    """Write the documents of one query into ``ranked`` from the top down, equal scores in document order.

    Example
    -------
    >>> ranked = np.empty(3, np.int64)
    >>> order_by_score(np.array([0.5, 1.0, 0.5]), ranked)
    >>> ranked.tolist()
    [1, 0, 2]
    """
    if len(s) > LONG:
        copy(ranked, ascending(-s))
        return
    for i in range(len(s)):
        place = i
        while place > 0 and s[ranked[place - 1]] < s[i]:
            ranked[place] = ranked[place - 1]
            place -= 1
        ranked[place] = i


@njit
def place_by_score(s, i):  # type: ignore[no-untyped-def]
    """How many documents of one query score above document ``i``, equal it before it, and equal it in all, with it.

    Example
    -------
    >>> place_by_score(np.array([0.5, 1.0, 0.5]), 2)
    (1, 1, 2)
    """
    own, above, equal, before = s[i], 0, 0, 0
    for j in range(len(s)):
        above += s[j] > own
        equal += s[j] == own
    if equal > 1:
        for j in range(i):
            before += s[j] == own
    return above, before, equal


@njit
def rank_by_score(s, i):  # type: ignore[no-untyped-def]
    """The rank of document ``i`` of one query, counted from 0, without ranking the others.

    It is |{j : s_j > s_i}| + |{j < i : s_j = s_i}|, the place of i in :func:`order_by_score`.

    Example
    -------
    >>> rank_by_score(np.array([0.5, 1.0, 0.5]), 2)
    2
    """
    above, before, _ = place_by_score(s, i)
    return above + before


@njit
def top_by_score(s, n, top):  # type: ignore[no-untyped-def]
    """Write the n documents that :func:`order_by_score` puts first into ``top``; n <= len(s).

    Example
    -------
    >>> top = np.empty(2, np.int64)
    >>> top_by_score(np.array([0.5, 1.0, 0.5]), 2, top)
    >>> top.tolist()
    [1, 0]
    """
    filled = 0
    for i in range(len(s)):
        place = filled
        if filled == n:
            if s[i] <= s[top[n - 1]]:
                continue
            place = n - 1
        else:
            filled += 1
        while place > 0 and s[top[place - 1]] < s[i]:
            top[place] = top[place - 1]
            place -= 1
        top[place] = i


@njit
def tie_groups(scores, y, offsets):  # type: ignore[no-untyped-def]
    """The labels of all queries from the top rank down, and the offsets of groups of ranks within which orders differ.

    Equal scores make a group, in which documents keep their order in the data. Neighbouring ranks that hold nothing but
    documents of label 0 are one group, whatever their scores, because no measure tells these documents apart. Each
    query begins a new group.

    Example
    -------
    >>> scores, y = np.array([0.5, 1.0, 0.5, 0.2, 0.1]), np.array([1, 2, 0, 0, 0], np.uint8)
    >>> labels, groups = tie_groups(scores, y, np.array([0, 5]))
    >>> labels.tolist(), groups.tolist()
    ([2, 1, 0, 0, 0], [0, 1, 3, 5])
    """
    labels = np.zeros(len(y), np.uint8)
    size = np.zeros(len(y), np.int64)  # at the first rank of every group with a relevant document
    for q in range(len(offsets) - 1):
        lo, m = offsets[q], offsets[q + 1] - offsets[q]
        s = scores[lo : lo + m]
        if (y[lo : lo + m] > 0).sum() <= COUNTING_STEPS_PER_SORTING_STEP * np.log2(m + 1.0):
            for i in range(m):
                if y[lo + i] > 0:
                    above, before, equal = place_by_score(s, i)
                    labels[lo + above + before] = y[lo + i]
                    size[lo + above] = equal
        else:
            order = np.empty(m, np.int64)
            order_by_score(s, order)
            first = 0
            for rank in range(m):
                if s[order[rank]] != s[order[first]]:
                    first = rank
                labels[lo + rank] = y[lo + order[rank]]
                if labels[lo + rank] > 0:
                    size[lo + first] = 1
                if size[lo + first] > 0:
                    size[lo + first] = rank - first + 1
    return labels, _group_offsets(size, offsets)


@njit
def _group_offsets(size, offsets):  # type: ignore[no-untyped-def]
    # What lies between the groups of known size is a group of label 0.
    groups, n = np.empty(len(size) + 1, np.int64), 0
    for q in range(len(offsets) - 1):
        i = offsets[q]
        while i < offsets[q + 1]:
            groups[n] = i
            n += 1
            if size[i] > 0:
                i += size[i]
            else:
                while i < offsets[q + 1] and size[i] == 0:
                    i += 1
    groups[n] = len(size)
    return groups[: n + 1]


@njit
def all_equal(values, offsets):  # type: ignore[no-untyped-def]
    """Whether the values of all documents of a query are equal, for every query.

    Example
    -------
    >>> all_equal(np.array([0.5, 0.5, 0.5, 1.0]), np.array([0, 2, 4])).tolist()
    [True, False]
    """
    found = np.ones(len(offsets) - 1, np.bool_)
    for q in range(len(offsets) - 1):
        for i in range(offsets[q] + 1, offsets[q + 1]):
            if values[i] != values[offsets[q]]:
                found[q] = False
                break
    return found


@njit
def sort_groups(labels, groups, falling):  # type: ignore[no-untyped-def]
    """Sort the labels of every group of :func:`tie_groups` in place: falling the best order, rising the worst.

    No measure that a better document at a higher rank never lowers is larger or smaller in an order the scores allow.

    Example
    -------
    >>> labels = np.array([2, 0, 1], np.uint8)
    >>> sort_groups(labels, np.array([0, 1, 3]), True)
    >>> labels.tolist()
    [2, 1, 0]
    """
    for g in range(len(groups) - 1):
        begin, end = groups[g], groups[g + 1]
        if end - begin > 1:
            rising = np.sort(labels[begin:end])
            labels[begin:end] = rising[::-1] if falling else rising


@njit
def best_below(s, y, best):  # type: ignore[no-untyped-def]
    """Put k into best: best[l] is the first of one list's best-scored documents with a label below l, or -1.

    A maximum within every label, then a running maximum over labels: O(m + largest label), no sorting. ``best`` holds
    -1 everywhere (MAX_LABEL + 2 places) and must again when the list is done, up to the largest label, which is
    returned, plus 1.
    """
    top = 0
    for i in range(len(y)):
        k = best[y[i] + 1]
        if k < 0 or s[i] > s[k]:
            best[y[i] + 1] = i
        top = max(top, y[i])
    for label in range(1, top + 1):
        lower, k = best[label], best[label + 1]
        if lower >= 0 and (k < 0 or s[lower] > s[k] or (s[lower] == s[k] and lower < k)):
            best[label + 1] = lower
    return top


@njit
def largest_labels(y, n, count, labels):  # type: ignore[no-untyped-def]
    """Write the n largest labels of one query into ``labels``, the largest first; n <= len(y).

    ``count`` has a place for every label and holds 0 everywhere, before and after.

    Example
    -------
    >>> labels = np.empty(2, np.int64)
    >>> largest_labels(np.array([0, 2, 1]), 2, np.zeros(3, np.int64), labels)
    >>> labels.tolist()
    [2, 1]
    """
    for i in range(len(y)):
        count[y[i]] += 1
    rank = 0
    for label in range(len(count) - 1, -1, -1):
        for _ in range(min(count[label], n - rank)):
            labels[rank] = label
            rank += 1
        count[label] = 0


@njit
def ideal_dcg(y, D):  # type: ignore[no-untyped-def]
    """The sum over the ranks i <= len(D) of D(i) times the gain of the i-th largest label of one query.

    Terms are added from the top rank down, so that the DCG of the best ranking, added in the same way, equals it bit
    for bit.

    Example
    -------
    >>> ideal_dcg(np.array([0, 2, 1]), np.array([1.0, 0.5]))
    3.5
    """
    count = np.zeros(MAX_LABEL + 1, np.int64)
    top = 0
    for i in range(len(y)):
        count[y[i]] += 1
        top = max(top, y[i])
    rank, ideal = 0, 0.0
    for label in range(top, 0, -1):
        for _ in range(min(count[label], len(D) - rank)):
            ideal += GAINS[label] * D[rank]
            rank += 1
    return ideal


@njit
def ideal_dcg_in_data_order(y, ranks, D):  # type: ignore[no-untyped-def]
    """As :func:`ideal_dcg`, of labels whose :func:`ideal_ranks` are known; terms are added in the order of the data.

    Example
    -------
    >>> ideal_dcg_in_data_order(np.array([0, 2, 1]), np.array([3, 1, 2]), np.array([1.0, 0.5]))
    3.5
    """
    ideal = 0.0
    for i in range(len(y)):
        if ranks[i] <= len(D):
            ideal += GAINS[y[i]] * D[ranks[i] - 1]
    return ideal


@checked
def ideal_dcgs(y: ArrayLike, offsets: ArrayLike, k: Count) -> Floats:
    """The ideal DCG at rank k of every query, shape (Q,); terms are added in the order of the data, as numpy adds.

    Example
    -------
    >>> ideal_dcgs([0, 2, 1, 0], [0, 3, 4], 1).tolist()
    [3.0, 0.0]
    """
    labels = checks.labels("y", y)
    bounds = checks.offsets("offsets", offsets, len(labels))
    ranks = ideal_ranks(labels, bounds)
    counted = np.where(ranks <= k, GAINS[labels] * discounts(k)[np.minimum(ranks, k) - 1], 0.0)
    return np.asarray(np.add.reduceat(counted, bounds[:-1])) if len(labels) else np.zeros(0)


@njit
def normalised_gains(y, offsets, sums):  # type: ignore[no-untyped-def]
    """G(y_i) / Z(y) of every document, 0 where Z(y) = 0; ``sums`` are the :func:`discount_sums` of the longest list.

    Z is added label by label: G(l) times the discounts of the ranks that the documents of label l fill.

    Example
    -------
    >>> normalised_gains(np.array([1, 0, 1]), np.array([0, 2, 3]), discount_sums(2)).tolist()
    [1.0, 0.0, 1.0]
    """
    count = np.zeros(len(GAINS), np.int64)
    shares = np.empty(len(y))
    for q in range(len(offsets) - 1):
        begin, end = offsets[q], offsets[q + 1]
        top = 0
        for i in range(begin, end):
            count[y[i]] += 1
            top = max(top, y[i])
        ranked, ideal = 0, 0.0
        for label in range(top, 0, -1):
            ideal += GAINS[label] * (sums[ranked + count[label]] - sums[ranked])
            ranked += count[label]
        for i in range(begin, end):
            shares[i] = GAINS[y[i]] / ideal if top > 0 else 0.0
            count[y[i]] = 0
    return shares


@njit(nogil=True)
def ideal_ranks(y, offsets):  # type: ignore[no-untyped-def]
    """The rank 1..m of every document when its query is sorted by decreasing label, equal labels in document order."""
    ranks = np.empty(len(y), np.int64)
    following = np.zeros(MAX_LABEL + 1, np.int64)
    for q in range(len(offsets) - 1):
        begin, end = offsets[q], offsets[q + 1]
        top = 0
        for i in range(begin, end):
            following[y[i]] += 1
            top = max(top, y[i])
        rank = 1
        for label in range(top, -1, -1):
            rank, following[label] = rank + following[label], rank
        for i in range(begin, end):
            ranks[i] = following[y[i]]
            following[y[i]] += 1
        following[: top + 1] = 0
    return ranks
