"""Which loops compute the measures of all queries at once?

No measure depends on the ranks of documents with label 0. :func:`labels_by_rank` therefore puts the labels of the
relevant documents at their ranks, once for all measures, and each measure reads these labels from the top. Query q owns
the entries ``offsets[q]:offsets[q + 1]`` throughout.
"""

import numpy as np
from numpy.typing import NDArray

from pipeline_lib import ranking
from pipeline_lib.core.arrays import Floats
from pipeline_lib.core.compiled import njit

__all__: list[str] = []  # internal: what comes here was checked before (see pipeline_lib.core.checks)


@njit
def labels_by_rank(scores: Floats, y: NDArray[np.uint8], offsets: NDArray[np.int64]) -> NDArray[np.uint8]:
    # the label at every rank, 0 for irrelevant documents
    labels = np.zeros(len(y), np.uint8)
    for q in range(len(offsets) - 1):
        lo, m = offsets[q], offsets[q + 1] - offsets[q]
        query = scores[lo : lo + m]
        if (y[lo : lo + m] > 0).sum() <= ranking.COUNTING_STEPS_PER_SORTING_STEP * np.log2(m + 1.0):
            for i in range(m):
                if y[lo + i] > 0:
                    labels[lo + ranking.rank_by_score(query, i)] = y[lo + i]
        else:
            order = np.empty(m, np.int64)
            ranking.order_by_score(query, order)
            for rank in range(m):
                labels[lo + rank] = y[lo + order[rank]]
    return labels


@njit
def gains_at_ranks(labels: NDArray[np.uint8], gains: Floats) -> Floats:
    # numpy would widen the labels to indices first
    at_rank = np.empty(len(labels))
    for i in range(len(labels)):
        at_rank[i] = gains[labels[i]]
    return at_rank


@njit
def ndcg(
    at_rank: Floats,
    labels: NDArray[np.uint8],
    offsets: NDArray[np.int64],
    gains: Floats,
    discounts: Floats,
    cutoffs: NDArray[np.int64],
) -> Floats:
    # NDCG@k = sum_{i <= min(k, m)} (gain at rank i) D(i) / the same sum for labels in falling order, for rising cutoffs
    # k. A gain at a rank may be a mean over orders that equal scores allow: the ideal DCG is the same in all of them
    values = np.zeros((len(cutoffs), len(offsets) - 1))
    count, best = np.zeros(len(gains), np.int64), np.empty(len(discounts), np.int64)
    for q in range(len(offsets) - 1):
        lo, m = offsets[q], offsets[q + 1] - offsets[q]
        ranking.largest_labels(labels[lo : lo + m], min(m, cutoffs[-1]), count, best)
        dcg, ideal, c = 0.0, 0.0, 0
        for i in range(min(m, cutoffs[-1])):
            dcg += at_rank[lo + i] * discounts[i]
            ideal += gains[best[i]] * discounts[i]
            if ideal == 0.0:
                break
            while cutoffs[c] == i + 1 and c < len(cutoffs) - 1:
                values[c, q] = dcg / ideal
                c += 1
        if ideal > 0.0:
            values[c:, q] = dcg / ideal
    return values


@njit
def mean_ndcg(
    at_rank: Floats, labels: NDArray[np.uint8], offsets: NDArray[np.int64], gains: Floats, discounts: Floats
) -> Floats:
    # (1/m) sum_{k <= m} NDCG@k
    values = np.zeros(len(offsets) - 1)
    count, best = np.zeros(len(gains), np.int64), np.empty(len(discounts), np.int64)
    for q in range(len(offsets) - 1):
        lo, m = offsets[q], offsets[q + 1] - offsets[q]
        ranking.largest_labels(labels[lo : lo + m], m, count, best)
        dcg, ideal, total = 0.0, 0.0, 0.0
        for i in range(m):
            dcg += at_rank[lo + i] * discounts[i]
            ideal += gains[best[i]] * discounts[i]
            if ideal == 0.0:
                break
            total += dcg / ideal
        values[q] = total / m
    return values


@njit
def average_precision(labels: NDArray[np.uint8], offsets: NDArray[np.int64]) -> Floats:
    # AP = (1/r) sum_{i : label at i >= 1} |{l <= i : label at l >= 1}| / i
    values = np.zeros(len(offsets) - 1)
    for q in range(len(offsets) - 1):
        lo, hi = offsets[q], offsets[q + 1]
        relevant, total = 0, 0.0
        for i in range(lo, hi):
            if labels[i] > 0:
                relevant += 1
                total += relevant / (i - lo + 1)
        if relevant > 0:
            values[q] = total / relevant
    return values


@njit
def precision(labels: NDArray[np.uint8], offsets: NDArray[np.int64], cutoffs: NDArray[np.int64]) -> Floats:
    # P@k = |{i <= min(k, m) : label at i >= 1}| / k
    values = np.zeros((len(cutoffs), len(offsets) - 1))
    for q in range(len(offsets) - 1):
        lo, hi = offsets[q], offsets[q + 1]
        for c in range(len(cutoffs)):
            k = cutoffs[c]
            relevant = 0
            for i in range(lo, lo + min(hi - lo, k)):
                relevant += labels[i] > 0
            values[c, q] = relevant / k
    return values


@njit
def expected_reciprocal_rank(
    labels: NDArray[np.uint8], offsets: NDArray[np.int64], stops: Floats, cutoffs: NDArray[np.int64]
) -> Floats:
    # ERR@k = sum_{i <= min(k, m)} (1/i) R_i prod_{l < i} (1 - R_l), R_i = stops[label at i]
    values = np.zeros((len(cutoffs), len(offsets) - 1))
    for q in range(len(offsets) - 1):
        lo, hi = offsets[q], offsets[q + 1]
        reading = 1.0
        for i in range(lo, hi):
            term = reading * stops[labels[i]] / (i - lo + 1)
            for c in range(len(cutoffs)):
                if i - lo < cutoffs[c]:
                    values[c, q] += term
            reading *= 1.0 - stops[labels[i]]
    return values
