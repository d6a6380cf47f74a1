"""Which loops compute the mean of a measure over all orders that equal scores allow, of all queries at once?

Every order of the documents within a group of equal scores is as likely as any other, and groups are independent. The
loops read the labels from the top rank down, group by group: group g owns the ranks ``groups[g]:groups[g + 1]``, of
which there are t, r of them hold relevant documents, and a ranks and c relevant documents stand before it in its query
(:func:`pipeline_lib.ranking.tie_groups`). The formulas but the last are those of McSherry and Najork, "Computing
information retrieval performance measures efficiently in the presence of tied scores", ECIR 2008.
"""

import numpy as np
from numpy.typing import NDArray

from pipeline_lib import ranking
from pipeline_lib.core.arrays import Floats
from pipeline_lib.core.compiled import njit

__all__: list[str] = []  # internal: what comes here was checked before (see pipeline_lib.core.checks)


@njit
def mean_gains(labels: NDArray[np.uint8], groups: NDArray[np.int64], gains: Floats) -> Floats:
    # The mean gain at every rank: that of its group, which of equal labels is their gain to the last bit
    means = np.empty(len(labels))
    for g in range(len(groups) - 1):
        begin, end = groups[g], groups[g + 1]
        total, equal = 0.0, True
        for i in range(begin, end):
            total += gains[labels[i]]
            equal &= labels[i] == labels[begin]
        means[begin:end] = gains[labels[begin]] if equal else total / (end - begin)
    return means


@njit
def average_precision(labels: NDArray[np.uint8], offsets: NDArray[np.int64], groups: NDArray[np.int64]) -> Floats:
    # (1/R) sum over groups and j = 1..t of (r/t) (c + 1 + (j - 1) (r - 1)/(t - 1)) / (a + j): a relevant document is at
    # rank a + j with probability r/t, and before it then stand c relevant ones and of the others of its group, of which
    # r - 1 are relevant, j - 1
    values = np.zeros(len(offsets) - 1)
    g = 0
    for q in range(len(offsets) - 1):
        before, total = 0, 0.0
        while groups[g] < offsets[q + 1]:
            a, t, r = groups[g] - offsets[q], groups[g + 1] - groups[g], relevant_in(labels, groups, g)
            for j in range(1, t + 1 if r > 0 else 1):
                others = (j - 1) * (r - 1) / (t - 1) if t > 1 else 0.0
                total += (r / t) * (before + 1 + others) / (a + j)
            before += r
            g += 1
        if before > 0:
            values[q] = total / before
    return values


@njit
def relevant_so_far(
    labels: NDArray[np.uint8], offsets: NDArray[np.int64], groups: NDArray[np.int64], cutoffs: NDArray[np.int64]
) -> Floats:
    # The mean number of relevant documents down to rank min(k, m): c + r (k - a)/t where k cuts a group, for all k
    values = np.zeros((len(cutoffs), len(offsets) - 1))
    g = 0
    for q in range(len(offsets) - 1):
        while groups[g] < offsets[q + 1]:
            a, t, r = groups[g] - offsets[q], groups[g + 1] - groups[g], relevant_in(labels, groups, g)
            for c in range(len(cutoffs)):
                if cutoffs[c] > a:
                    values[c, q] += r * min(cutoffs[c] - a, t) / t
            g += 1
    return values


@njit
def reciprocal_rank(
    labels: NDArray[np.uint8], offsets: NDArray[np.int64], groups: NDArray[np.int64], cutoffs: NDArray[np.int64]
) -> Floats:
    # sum over j = 1..t - r + 1 with a + j <= k of C(t - j, r - 1)/C(t, r) / (a + j) in the first group with r > 0: the
    # fraction is the probability that its first relevant document is the j-th; from j to j + 1 it changes by the factor
    # (t - j - r + 1)/(t - j)
    values = np.zeros((len(cutoffs), len(offsets) - 1))
    g = 0
    for q in range(len(offsets) - 1):
        found = False
        while groups[g] < offsets[q + 1]:
            a, t, r = groups[g] - offsets[q], groups[g + 1] - groups[g], relevant_in(labels, groups, g)
            if r > 0 and not found:
                found = True
                first = r / t
                for j in range(1, t - r + 2):
                    for c in range(len(cutoffs)):
                        if a + j <= cutoffs[c]:
                            values[c, q] += first / (a + j)
                    if j < t:
                        first *= (t - j - r + 1) / (t - j)
            g += 1
    return values


@njit
def expected_reciprocal_rank(
    labels: NDArray[np.uint8],
    offsets: NDArray[np.int64],
    groups: NDArray[np.int64],
    stops: Floats,
    cutoffs: NDArray[np.int64],
) -> Floats:
    # sum over groups of p sum_{j = 1..t, a + j <= k} (e_{j-1} - e_j) / (a + j), p the product of 1 - R over earlier
    # groups and e_j the mean of the products of 1 - R over all sets of j documents of the group: a reader who reaches
    # the group goes on behind its j-th document with probability e_j. A group with r relevant documents costs r t
    # steps: with a document of 1 - R = x more, of s + 1, e_j becomes (s + 1 - j)/(s + 1) e_j + j/(s + 1) x e_{j-1}.
    values = np.zeros((len(cutoffs), len(offsets) - 1))
    e = np.empty(ranking.longest(offsets) + 1)
    g = 0
    for q in range(len(offsets) - 1):
        reading = 1.0
        while groups[g] < offsets[q + 1]:
            begin, end = groups[g], groups[g + 1]
            a, t, r = begin - offsets[q], end - begin, relevant_in(labels, groups, g)
            if t == 1:
                term = reading * stops[labels[begin]] / (a + 1)
                for c in range(len(cutoffs)):
                    if a < cutoffs[c]:
                        values[c, q] += term
                reading *= 1.0 - stops[labels[begin]]
            elif r > 0:
                s = t - r
                e[: s + 1] = 1.0  # documents of label 0 stop nobody
                for i in range(begin, end):
                    if labels[i] > 0:
                        x = 1.0 - stops[labels[i]]
                        e[s + 1] = x * e[s]
                        for j in range(s, 0, -1):
                            e[j] = ((s + 1 - j) * e[j] + j * x * e[j - 1]) / (s + 1)
                        s += 1
                for j in range(1, t + 1):
                    term = reading * (e[j - 1] - e[j]) / (a + j)
                    for c in range(len(cutoffs)):
                        if a + j <= cutoffs[c]:
                            values[c, q] += term
                reading *= e[t]
            g += 1
    return values


@njit
def relevant_in(labels: NDArray[np.uint8], groups: NDArray[np.int64], g: int) -> int:
    # r, how many of the documents of a group are relevant
    r = 0
    for i in range(groups[g], groups[g + 1]):
        r += labels[i] > 0
    return r
