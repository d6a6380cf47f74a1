"""How are sums over pairs of log(1 + e^(s_j - s_i)) computed, with their gradients and second derivatives?

With centred scores c, x = e^(c_j - c_i) is a product of two numbers computed once per document, and the weight of a
pair is alpha = x / (1 + x). Logarithms are taken of products of as many factors 1 + x as float64 can represent.
Documents are sorted by label, so that the lower documents of document i are a contiguous range and the inner loop runs
over plain arrays, several pairs at once; it takes two documents i together, which share one division: alpha = x (1 +
x') / ((1 + x)(1 + x')).
"""

import math

import numpy as np

from pipeline_lib.core.compiled import njit
from pipeline_lib.ranking import longest
from pipeline_lib.surrogates.pair_sweeps import label_runs, middle
from pipeline_lib.surrogates.vector_exp import exp

__all__: list[str] = []  # internal: what comes here was checked before (see pipeline_lib.core.checks)

# A product of n factors 1 + e^(c_j - c_i) with |c| <= spread is at most e^(n (log 2 + 2 spread)).
LARGEST_EXPONENT = 700.0
# Beyond |c| = 40, pairs are taken one by one.
FACTORIZE_UP_TO = 40.0
# Below this x, the series of log(1 + x) to the fifth order is exact to rounding, while 1 + x would lose precision.
SERIES_UP_TO = 1e-3


@njit(nogil=True, error_model="numpy")  # divisions without checks can be done several at a time
def logistic(s, y, offsets):  # type: ignore[no-untyped-def]
    """Values sum log(1 + e^(s_j - s_i)) over pairs with y_i > y_j of every query, and the gradient."""
    values, gradient = np.zeros(len(offsets) - 1), np.zeros(len(s))
    size = longest(offsets) + 2
    c, order, runs = np.empty(size), np.empty(size, np.int64), np.empty(size, np.int64)
    rise, fall, product, gained = np.empty(size), np.empty(size), np.empty(size), np.empty(size)
    for q in range(len(values)):
        begin, end = offsets[q], offsets[q + 1]
        m = end - begin
        centre, spread = middle(s[begin:end])
        n_runs = label_runs(s[begin:end], y[begin:end], centre, c, order, runs)
        if n_runs == 1:
            continue
        gained[:m] = 0.0
        if spread <= FACTORIZE_UP_TO:
            for k in range(m):
                rise[k] = exp(c[k])
            for k in range(m):
                fall[k] = 1.0 / rise[k]
            factors = int(LARGEST_EXPONENT / (math.log(2.0) + 2.0 * spread))
            values[q] = _pairs_by_products(runs, n_runs, rise, fall, product, gained, factors)
        else:
            values[q] = _pairs_one_by_one(runs, n_runs, c, gained)
        for k in range(m):
            gradient[begin + order[k]] = gained[k]
    return values, gradient


@njit
def _pairs_by_products(runs, n_runs, rise, fall, product, gained, factors):  # type: ignore[no-untyped-def]
    total = largest = 0.0
    pending = 0  # every product has at most so many factors
    product[: runs[n_runs]] = 1.0
    for r in range(1, n_runs):
        for j in range(runs[r - 1], runs[r]):
            largest = max(largest, rise[j])
        n_lower = runs[r]
        i = n_lower
        while i < runs[r + 1]:
            if largest * fall[i] < SERIES_UP_TO:
                loss, own = _small_pairs(n_lower, rise, fall[i], gained)
                total += loss
                gained[i] -= own
                i += 1
                continue
            if pending + 2 > factors:
                total += _logarithms(n_lower, product, pending, factors)
                pending = 0
            together = i + 1 < runs[r + 1] and largest * fall[i + 1] >= SERIES_UP_TO
            own, next_one = _two_documents(n_lower, rise, fall[i], fall[i + 1] if together else 0.0, product, gained)
            gained[i] -= own
            if together:
                gained[i + 1] -= next_one
            i += 1 + together
            pending += 1 + together
    return total + _logarithms(runs[n_runs - 1], product, pending, factors)


@njit(error_model="numpy", fastmath={"reassoc", "contract"})
def _two_documents(n_lower, rise, fall, other_fall, product, gained):  # type: ignore[no-untyped-def]
    # sum over j of alpha for both, added to the sums of the documents j. A value 0 of fall stands for no document: x =
    # alpha = 0.
    own = others = 0.0
    for j in range(n_lower):
        x, z = rise[j] * fall, rise[j] * other_fall
        both = (1.0 + x) * (1.0 + z)
        inverse = 1.0 / both
        alpha, other = x * ((1.0 + z) * inverse), z * ((1.0 + x) * inverse)
        product[j] *= both
        gained[j] += alpha + other
        own += alpha
        others += other
    return own, others


@njit(error_model="numpy", fastmath={"reassoc", "contract"})
def _small_pairs(n_lower, rise, fall, gained):  # type: ignore[no-untyped-def]
    total = own = 0.0
    for j in range(n_lower):
        x = rise[j] * fall
        total += x * (1.0 - x * (0.5 - x * (1.0 / 3.0 - x * (0.25 - x * 0.2))))
        alpha = x / (1.0 + x)
        gained[j] += alpha
        own += alpha
    return total, own


@njit
def _logarithms(n, product, pending, factors):  # type: ignore[no-untyped-def]
    # sum of log product, with as many factors as float64 can represent; products start again at 1
    together = max(factors // max(pending, 1), 1)
    total = 0.0
    for first in range(0, n, together):
        of_all = 1.0
        for k in range(first, min(first + together, n)):
            of_all *= product[k]
            product[k] = 1.0
        total += math.log(of_all)
    return total


@njit
def _pairs_one_by_one(runs, n_runs, c, gained):  # type: ignore[no-untyped-def]
    # log(1 + e^d) = max(d, 0) + log1p(e^-|d|), which no score can overflow
    total = 0.0
    for r in range(1, n_runs):
        for i in range(runs[r], runs[r + 1]):
            for j in range(runs[r]):
                d = c[j] - c[i]
                e = math.exp(-abs(d))
                total += max(d, 0.0) + math.log1p(e)
                alpha = (1.0 if d >= 0.0 else e) / (1.0 + e)
                gained[j] += alpha
                gained[i] -= alpha
    return total


@njit(nogil=True)
def logistic_hessian(s, y, offsets, scale, V):  # type: ignore[no-untyped-def]
    """Second derivative times V (N, k): every pair adds scale_q alpha (1 - alpha) (V_i - V_j) at i, minus it at j."""
    product = np.zeros(V.shape)
    size = longest(offsets) + 2
    c, order, runs = np.empty(size), np.empty(size, np.int64), np.empty(size, np.int64)
    for q in range(len(offsets) - 1):
        begin, end = offsets[q], offsets[q + 1]
        n_runs = label_runs(s[begin:end], y[begin:end], 0.0, c, order, runs)
        for r in range(1, n_runs):
            for a in range(runs[r], runs[r + 1]):
                i = begin + order[a]
                for b in range(runs[r]):
                    j = begin + order[b]
                    e = math.exp(-abs(c[b] - c[a]))
                    weight = scale[q] * e / ((1.0 + e) * (1.0 + e))
                    for k in range(V.shape[1]):
                        difference = weight * (V[i, k] - V[j, k])
                        product[i, k] += difference
                        product[j, k] -= difference
    return product
