"""What are the sums over pairs of logistic losses log(1 + e^(s_j - s_i)), their gradients and second derivatives?

With centred scores c, x = e^(c_j - c_i) is a product of two numbers computed once per document, and the weight of a
pair is alpha = x / (1 + x). Logarithms are taken of products of several factors 1 + x at once. Documents are sorted by
label, so that the lower documents of document i are a contiguous range and the inner loop runs over plain arrays.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from pipeline_lib.surrogates.pair_sweeps import LEVELS, longest

# Beyond |c| = 40 a product of FACTORS factors 1 + e^(c_j - c_i) could overflow: FACTORS * 2 * 40 < log(1.8e308).
FACTORIZE_UP_TO = 40.0
FACTORS = 8
# Below this x, the series of log(1 + x) to the fifth order is exact to rounding, while 1 + x would lose digits of x.
SERIES_UP_TO = 1e-3


@njit(cache=True)
def _by_label(s, y, c, order, level_start):  # type: ignore[no-untyped-def]
    # Sort one query by label (stable); centred scores to c, the first position of document k's label to level_start.
    # Returns the largest |c|.
    m = len(s)
    centre = 0.5 * s.min() + 0.5 * s.max()
    start = np.zeros(LEVELS + 1, np.int64)
    for i in range(m):
        start[y[i] + 1] += 1
    for level in range(LEVELS):
        start[level + 1] += start[level]
    begin = start.copy()
    spread = 0.0
    for i in range(m):
        k = start[y[i]]
        start[y[i]] += 1
        c[k], order[k], level_start[k] = s[i] - centre, i, begin[y[i]]
        spread = max(spread, abs(c[k]))
    return spread


@njit(cache=True)
def logistic(s, y, offsets):  # type: ignore[no-untyped-def]
    """Values sum log(1 + e^(s_j - s_i)) over pairs with y_i > y_j of every query, and the gradient."""
    values, gradient = np.zeros(len(offsets) - 1), np.zeros(len(s))
    size = longest(offsets)
    c, order, start = np.empty(size), np.empty(size, np.int64), np.empty(size, np.int64)
    rise, product, gained = np.empty(size), np.empty(size), np.empty(size)
    for q in range(len(values)):
        begin, end = offsets[q], offsets[q + 1]
        m = end - begin
        spread = _by_label(s[begin:end], y[begin:end], c, order, start)
        if start[m - 1] == 0:
            continue
        gained[:m] = 0.0
        if spread <= FACTORIZE_UP_TO:
            values[q] = _pairs_by_products(m, c, start, rise, product, gained)
        else:
            values[q] = _pairs_one_by_one(m, c, start, gained)
        for k in range(m):
            gradient[begin + order[k]] = gained[k]
    return values, gradient


@njit(cache=True)
def _pairs_by_products(m, c, start, rise, product, gained):  # type: ignore[no-untyped-def]
    total = largest = 0.0
    for k in range(m):
        rise[k] = math.exp(c[k])
        product[k] = 1.0
    pending = n_seen = 0
    for i in range(m):
        n_lower = start[i]
        if n_lower == 0:
            continue
        while n_seen < n_lower:
            largest = max(largest, rise[n_seen])
            n_seen += 1
        fall = 1.0 / rise[i]
        mine = 0.0
        if largest * fall < SERIES_UP_TO:
            for j in range(n_lower):
                x = rise[j] * fall
                total += x * (1.0 - x * (0.5 - x * (1.0 / 3.0 - x * (0.25 - x * 0.2))))
                alpha = x / (1.0 + x)
                gained[j] += alpha
                mine += alpha
        else:
            for j in range(n_lower):
                x = rise[j] * fall
                factor = 1.0 + x
                product[j] *= factor
                alpha = x / factor
                gained[j] += alpha
                mine += alpha
            pending += 1
        gained[i] -= mine
        if pending == FACTORS:
            total += _logarithms(product, n_lower)
            pending = 0
    return total + _logarithms(product, m)


@njit(cache=True)
def _logarithms(product, n):  # type: ignore[no-untyped-def]
    total = 0.0
    for k in range(n):
        if product[k] != 1.0:
            total += math.log(product[k])
            product[k] = 1.0
    return total


@njit(cache=True)
def _pairs_one_by_one(m, c, start, gained):  # type: ignore[no-untyped-def]
    # log(1 + e^d) = max(d, 0) + log1p(e^-|d|), which no score can overflow
    total = 0.0
    for i in range(m):
        for j in range(start[i]):
            d = c[j] - c[i]
            e = math.exp(-abs(d))
            total += max(d, 0.0) + math.log1p(e)
            alpha = (1.0 if d >= 0.0 else e) / (1.0 + e)
            gained[j] += alpha
            gained[i] -= alpha
    return total


@njit(cache=True)
def logistic_hessian(s, y, offsets, scale, V):  # type: ignore[no-untyped-def]
    """Second derivative times V (N, k): every pair adds scale_q alpha (1 - alpha) (V_i - V_j) at i, minus it at j."""
    product = np.zeros(V.shape)
    size = longest(offsets)
    c, order, start = np.empty(size), np.empty(size, np.int64), np.empty(size, np.int64)
    for q in range(len(offsets) - 1):
        begin, end = offsets[q], offsets[q + 1]
        _by_label(s[begin:end], y[begin:end], c, order, start)
        for a in range(end - begin):
            i = begin + order[a]
            for b in range(start[a]):
                j = begin + order[b]
                e = math.exp(-abs(c[b] - c[a]))
                weight = scale[q] * e / ((1.0 + e) * (1.0 + e))
                for k in range(V.shape[1]):
                    difference = weight * (V[i, k] - V[j, k])
                    product[i, k] += difference
                    product[j, k] -= difference
    return product
