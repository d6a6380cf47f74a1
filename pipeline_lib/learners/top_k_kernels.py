"""How do the rounds of learning from the top k labels run in one compiled loop?

The formulas of the estimate are those of :mod:`pipeline_lib.learners.top_k_feedback`. A round takes O(m d); a pairwise
loss that is measured, or learned with all labels, takes O(m^2 + m d), without storing pairs. Features are read in
float32, as they are stored; sums are in float64.
"""

import math

import numpy as np

from pipeline_lib.core.compiled import copy, njit
from pipeline_lib.ranking import gain, longest, top_by_score
from pipeline_lib.surrogates import vector_exp

__all__: list[str] = []  # internal: what comes here was checked before (see pipeline_lib.core.checks)

SHOWN = 10
"""Quality is NDCG at this rank."""
LARGEST_EXPONENT = 300.0
# e^300 and its square are finite; anything larger leads to the surface of the ball, whatever its size.

SQUARED, KL, SMOOTH_DCG, RANKSVM, RANKNET, RANKBOOST, LISTNET = range(7)


@njit
def play(  # type: ignore[no-untyped-def]
    X, y, offsets, order, values, judge, kind, size, k, gamma, eta, radius, printed, sigma, sign, measured, ideal, D,
    gains, stops, state,
):  # fmt: skip
    d, most = X.shape[1], longest(offsets)
    w, z, path = np.zeros(d), np.empty(d), np.empty((len(stops), d))
    s, random, g, softmax = np.empty(most), np.empty(most), np.empty(most), np.empty(most)
    every, labels = np.arange(most), np.empty(most)
    n_best = max(SHOWN, k)
    best, drawn = np.empty(n_best, np.int64), np.empty(n_best, np.int64)
    ndcg, losses, own, norms = np.empty(len(stops)), np.empty(len(stops)), np.empty(len(stops)), np.empty(len(stops))
    quality = loss = own_loss = norm = 0.0
    rated = explored = stop = 0
    for t in range(len(order)):
        q = order[t]
        begin, m = offsets[q], offsets[q + 1] - offsets[q]
        documents, truth = X[begin : begin + m], values[begin : begin + m]
        score(documents, w, s)
        shown, scores = best, s
        top_by_score(s[:m], min(n_best, m), best)
        if gamma > 0.0 and uniform(state) < gamma:
            for i in range(m):
                random[i] = uniform(state)
            top_by_score(random[:m], min(n_best, m), drawn)
            shown, scores = drawn, random
            explored += 1
        if ideal[q] > 0.0:
            quality += gained(y[begin : begin + m], shown, gains, D) / ideal[q]
            rated += 1
        if measured:
            goal, what = (judge[begin : begin + m], SQUARED) if len(judge) else (truth, kind)
            value = loss_of(what, s[:m], goal, sigma, sign)
            own_loss += value
            loss += value if scores is s else loss_of(what, scores[:m], goal, sigma, sign)
        if k == 0:  # all labels: A = all documents, P(A) = 1
            estimate(kind, s[:m], every[:m], truth, 1.0, sigma, sign, softmax, g)
        else:
            for a in range(k):
                labels[a] = truth[shown[a]]
            top = printed or _same_set(best[:k], shown[:k])
            estimate(
                kind, s[:m], shown[:k], labels[:k], inverse_weight(m, k, size, gamma, top), sigma, sign, softmax, g
            )
        norm += _step(documents, g, eta, radius, z, w)
        if t + 1 == stops[stop]:
            ndcg[stop] = quality / rated if rated else np.nan
            losses[stop], own[stop], norms[stop] = loss / (t + 1), own_loss / (t + 1), norm / (t + 1)
            copy(path[stop], w)
            stop = min(stop + 1, len(stops) - 1)
    return w, path, ndcg, losses, own, norms, explored


@njit(fastmath={"reassoc", "contract"})
def score(X, w, s):  # type: ignore[no-untyped-def]
    # s_i = <x_i, w>; summed in any order, as vector instructions require. Equal documents have equal scores.
    for i in range(X.shape[0]):
        x, score = X[i], 0.0
        for c in range(X.shape[1]):
            score += x[c] * w[c]
        s[i] = score


@njit
def _step(X, g, eta, radius, z, w):  # type: ignore[no-untyped-def]
    # w <- projection of w - eta X'g onto ||w|| <= radius; gives ||X'g||^2
    slopes, one = 0, 0
    for i in range(X.shape[0]):
        if g[i] != 0.0:
            slopes, one = slopes + 1, i
    if slopes == 0:
        return 0.0
    if slopes == 1:
        norm, length = _descend(X[one], g[one], eta, w)
    else:
        _mix(X, g, z)
        norm, length = _descend(z, 1.0, eta, w)
    if length > radius * radius:
        # If the squares overflow, the direction is unknown: NaN, which ends the run with an error.
        shrink = radius / math.sqrt(length) if length < math.inf else math.nan
        for c in range(len(w)):
            w[c] *= shrink
    return norm


@njit(fastmath={"reassoc", "contract"})
def _mix(X, g, z):  # type: ignore[no-untyped-def]
    # z = X'g
    z[:] = 0.0
    for i in range(X.shape[0]):
        slope = g[i]
        if slope != 0.0:
            for c in range(X.shape[1]):
                z[c] += slope * X[i, c]


@njit(fastmath={"reassoc", "contract"})
def _descend(x, slope, eta, w):  # type: ignore[no-untyped-def]
    # w <- w - eta slope x; gives ||slope x||^2 and ||w||^2
    norm = length = 0.0
    for c in range(len(w)):
        z = slope * x[c]
        norm += z * z
        w[c] -= eta * z
        length += w[c] * w[c]
    return norm, length


@njit
def gained(y, shown, gains, D):  # type: ignore[no-untyped-def]
    # DCG at SHOWN of a ranking
    total = 0.0
    for rank in range(min(SHOWN, len(y))):
        total += gains[y[shown[rank]]] * D[rank]
    return total


@njit
def uniform(state):  # type: ignore[no-untyped-def]
    # SplitMix64: uniform on [0, 1) in steps of 2^-53
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    z = state[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return float((z ^ (z >> np.uint64(31))) >> np.uint64(11)) * 2.0**-53


@njit
def _same_set(a, b):  # type: ignore[no-untyped-def]
    for i in a:
        found = False
        for j in b:
            found = found or i == j
        if not found:
            return False
    return True


@njit
def _choose(m, k):  # type: ignore[no-untyped-def]
    # inf if the number exceeds the range of a float, and only then
    ways = 1.0
    for i in range(min(k, m - k)):
        ways = ways * (m - i) / (i + 1)
    return ways


@njit
def inverse_weight(m, k, size, gamma, top):  # type: ignore[no-untyped-def]
    # 1 / (C(m - l, k - l) P(A)); C(m, k) / C(m - l, k - l) = m ... (m - l + 1) / (k ... (k - l + 1)) is never large
    ratio = 1.0
    for i in range(size):
        ratio *= (m - i) / (k - i)
    scaled = gamma / ratio
    if top:
        scaled += (1.0 - gamma) * _choose(m - size, k - size)
    return 1.0 / scaled


@njit
def _exp(x):  # type: ignore[no-untyped-def]
    return math.exp(min(x, LARGEST_EXPONENT))


@njit
def _softmax(s, sigma, into):  # type: ignore[no-untyped-def]
    largest, total = s.max(), 0.0
    for i in range(len(s)):
        into[i] = math.exp((s[i] - largest) / sigma)
        total += into[i]
    for i in range(len(s)):
        into[i] /= total


@njit
def _pair_slope(kind, x):  # type: ignore[no-untyped-def]
    # derivative in x of the loss of a pair with x = s_worse - s_better
    if kind == RANKSVM:
        return 1.0 if 1.0 + x > 0.0 else 0.0
    if kind == RANKNET:
        return 1.0 / (1.0 + _exp(-x))
    return _exp(x)


@njit
def estimate(kind, s, shown, labels, weight, sigma, sign, softmax, g):  # type: ignore[no-untyped-def]
    # g = c + weight sum over B in A of H_B(y_B); labels[a] is that of document shown[a]. ListNet: A = all documents.
    m = len(s)
    for i in range(m):
        g[i] = 2.0 * s[i] if kind == SQUARED else 0.0
    if kind == SQUARED:
        for a in range(len(shown)):
            g[shown[a]] -= 2.0 * labels[a] * weight
    elif kind == KL:
        for a in range(len(shown)):
            g[shown[a]] = (_exp(s[shown[a]]) - _exp(labels[a])) * weight
    elif kind == SMOOTH_DCG:
        _softmax(s, sigma, softmax[:m])
        for a in range(len(shown)):
            document = shown[a]
            slope = sign * gain(labels[a]) * softmax[document] * weight / sigma
            if slope != 0.0:
                for i in range(m):
                    g[i] -= slope * softmax[i]
                g[document] += slope
    elif kind == LISTNET:
        _softmax(labels, 1.0, softmax[:m])
        for i in range(m):
            g[i] = -softmax[i]
        _softmax(s, 1.0, softmax[:m])
        for i in range(m):
            g[i] += softmax[i]
    else:
        for a in range(len(shown)):
            for b in range(len(shown)):
                if labels[a] > labels[b]:
                    better, worse = shown[a], shown[b]
                    slope = weight * _pair_slope(kind, s[worse] - s[better])
                    g[worse] += slope
                    g[better] -= slope


@njit(fastmath={"reassoc", "contract"})
def _kl_loss(s, values):  # type: ignore[no-untyped-def]
    # sum_i e^{y_i} (y_i - s_i - 1) + e^{s_i}
    total = 0.0
    for i in range(len(s)):
        weight = vector_exp.exp(min(values[i], LARGEST_EXPONENT))
        total += weight * (values[i] - s[i] - 1.0) + vector_exp.exp(min(s[i], LARGEST_EXPONENT))
    return total


@njit
def loss_of(kind, s, values, sigma, sign):  # type: ignore[no-untyped-def]
    total, m = 0.0, len(s)
    if kind == SQUARED:
        for i in range(m):
            total += (s[i] - values[i]) ** 2
    elif kind == KL:
        total = _kl_loss(s, values)
    elif kind == SMOOTH_DCG:
        largest, whole_ = s.max(), 0.0
        for i in range(m):
            share = math.exp((s[i] - largest) / sigma)
            whole_ += share
            total += gain(values[i]) * share
        total *= sign / whole_
    elif kind == LISTNET:
        # log sum e^s - sum_i P_i(y) s_i
        largest, highest, odds, mixed, weights = s.max(), values.max(), 0.0, 0.0, 0.0
        for i in range(m):
            odds += math.exp(s[i] - largest)
            weight = math.exp(values[i] - highest)
            weights += weight
            mixed += weight * s[i]
        total = largest + math.log(odds) - mixed / weights
    else:
        for i in range(m):
            for j in range(m):
                if values[i] > values[j]:
                    x = s[j] - s[i]
                    if kind == RANKSVM:
                        total += max(0.0, 1.0 + x)
                    elif kind == RANKNET:
                        total += max(x, 0.0) + math.log1p(math.exp(-abs(x)))
                    else:
                        total += _exp(x)
    return total
