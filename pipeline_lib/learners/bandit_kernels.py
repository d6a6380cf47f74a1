"""How do the rounds of bandit gradient descent run in one compiled loop?

As :mod:`pipeline_lib.learners.top_k_kernels`, whose scores, losses and random numbers are used.
"""

from __future__ import annotations

import math

import numpy as np

from pipeline_lib.compiled import njit
from pipeline_lib.learners.top_k_kernels import SHOWN, _loss, _score, _uniform
from pipeline_lib.ranking import top_by_score

__all__: list[str] = []  # internal: what comes here was checked before (see pipeline_lib.checks)


@njit
def play(  # type: ignore[no-untyped-def]
    X, y, offsets, order, values, kind, sigma, sign, step, delta, inner, measured, ideal, D, gains, stops, state
):
    d, longest = X.shape[1], 1
    for q in range(len(offsets) - 1):
        longest = max(longest, offsets[q + 1] - offsets[q])
    w, v, u, s = np.zeros(d), np.empty(d), np.empty(d), np.empty(longest)
    path, best = np.empty((len(stops), d)), np.empty(SHOWN, np.int64)
    ndcg, losses, own, norms = np.empty(len(stops)), np.empty(len(stops)), np.empty(len(stops)), np.empty(len(stops))
    quality = loss = own_loss = norm = 0.0
    rated = stop = 0
    for t in range(len(order)):
        q = order[t]
        begin, m = offsets[q], offsets[q + 1] - offsets[q]
        truth = values[begin : begin + m]
        if measured:
            _score(X, begin, m, begin, w, s)
            own_loss += _loss(kind, s[:m], truth, sigma, sign)
        _direction(state, u)
        for c in range(d):
            v[c] = w[c] + delta * u[c]
        _score(X, begin, m, offsets[order[min(t + 1, len(order) - 1)]], v, s)
        if ideal[q] > 0.0:
            top_by_score(s[:m], min(SHOWN, m), best)
            gained = 0.0
            for rank in range(min(SHOWN, m)):
                gained += gains[y[begin + best[rank]]] * D[rank]
            quality += gained / ideal[q]
            rated += 1
        value = _loss(kind, s[:m], truth, sigma, sign)
        loss += value
        norm += (d / delta * value) ** 2
        length = 0.0
        for c in range(d):
            w[c] -= step * value * u[c]
            length += w[c] * w[c]
        if length > inner * inner:
            shrink = inner / math.sqrt(length) if length < math.inf else math.nan
            for c in range(d):
                w[c] *= shrink
        if t + 1 == stops[stop]:
            ndcg[stop] = quality / rated if rated else np.nan
            losses[stop], own[stop], norms[stop] = loss / (t + 1), own_loss / (t + 1), norm / (t + 1)
            path[stop] = w
            stop = min(stop + 1, len(stops) - 1)
    return w, path, ndcg, losses, own, norms


@njit
def _direction(state, u):  # type: ignore[no-untyped-def]
    # uniform on the unit sphere: normal entries (Box and Muller), divided by their length
    length = 0.0
    while length == 0.0:
        for c in range(len(u)):
            radius = math.sqrt(-2.0 * math.log(1.0 - _uniform(state)))
            u[c] = radius * math.cos(2.0 * math.pi * _uniform(state))
            length += u[c] * u[c]
    for c in range(len(u)):
        u[c] /= math.sqrt(length)
