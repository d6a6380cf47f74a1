"""How are ConeRank's two blocks, the coefficients of every pair and the basis, optimised?

For a pair with difference z (eq. 5) and basis U, with G = U'U and b = U'z,

    ||z - U w||^2 = ||z||^2 - 2 b.w + w'G w,     g = 2 (G w - b) its gradient in w,

so that a step of folding in costs K^2, whatever the number of features. Pairs are enumerated and never stored: a
query's documents are multiplied by U once, and the gradient in U is summed over documents,

    d/dU (1/n) sum_j phi_j ||z_j - U w_j||^2 = (2/n) (U sum_j phi_j w_j w_j' - X'V),
    V_l = sum over pairs (l, m) of phi f w - sum over pairs (m, l) of phi f w,     z = f (x_l - x_m).

Everything runs serially, so that the numbers do not depend on the number of cores. Numbers that one kernel passes to
another are typed (``np.int64(0)``): numba would compile the other once more for every constant.
"""

import math

import numpy as np

from pipeline_lib.core.compiled import copy, njit

__all__: list[str] = []  # internal: what comes here was checked before (see pipeline_lib.core.checks)

PAIR_STEPS = 10_000
"""Largest number of pair steps for folding in exactly; if they do not suffice, steps on the whole support follow."""

SUPPORT_STEPS = 1_000
"""Largest number of steps on the support, after the pair steps; the remaining gap shows whether they were enough."""

SLACK = 1.01
"""A gap may exceed its tolerance by this factor, because pair steps update their gradient, in which rounding errors add
up."""

DEPENDENT = 1e-14
"""An edge counts as dependent on others if the square of its relative distance from their span is below this."""

SG, SG_PRINTED, EG, EG_LINEAR, EXACT = range(5)
"""How coefficients are folded in; :mod:`pipeline_lib.learners.cone` names them."""


@njit
def fold(method, G, b, w, step, most, tol, low, high, g, aside):  # type: ignore[no-untyped-def]
    """Move w towards the minimiser of its quadratic form over {w >= 0, low <= sum w <= high}.

    Returns the gap of the exact method, and 0 for the others, which have no certificate.
    """
    if method == EXACT:
        return fold_exactly(G, b, w, low, high, tol, g, aside)
    K = len(w)
    for _ in range(most):
        for i in range(K):
            g[i] = -2.0 * b[i]
            aside[i] = w[i]
        for j in range(K):
            # Row by row, so that the inner loop adds vectors; G is symmetric.
            twice = 2.0 * w[j]
            if twice != 0.0:
                for i in range(K):
                    g[i] += twice * G[j, i]
        if method == SG:
            for i in range(K):
                w[i] -= step * g[i]
        elif method == SG_PRINTED:
            for i in range(K):
                w[i] = max(w[i] - step * g[i], 0.0)
        elif method == EG:
            for i in range(K):
                w[i] *= math.exp(min(max(-step * g[i], -50.0), 50.0))
        else:
            mean = 0.0
            for i in range(K):
                mean += w[i] * g[i]
            for i in range(K):
                w[i] = max(w[i] * (1.0 - step * (g[i] - mean)), 0.0)
        if method == SG:
            _project(w, low, high)
        else:
            _rescale(w, low, high)
        moved = 0.0
        for i in range(K):
            moved += abs(w[i] - aside[i])
        if moved <= tol:
            break
    return 0.0


@njit
def _rescale(w, low, high):  # type: ignore[no-untyped-def]
    # w / (sum w), scaled into the band; the constant vector if every entry vanished.
    total = w.sum()
    if total <= 0.0:
        w[:] = low / len(w)
        return
    if total < low:
        w *= low / total
    elif total > high:
        w *= high / total


@njit
def _project(w, low, high):  # type: ignore[no-untyped-def]
    # Euclidean projection onto {w >= 0, low <= sum w <= high}: max(w - theta, 0) with theta by Michelot's rounds.
    total = 0.0
    for i in range(len(w)):
        total += max(w[i], 0.0)
    if low <= total <= high:
        for i in range(len(w)):
            w[i] = max(w[i], 0.0)
        return
    radius = low if total < low else high
    theta = -np.inf
    while True:
        total, count = 0.0, 0
        for i in range(len(w)):
            if w[i] > theta:
                total += w[i]
                count += 1
        moved = (total - radius) / count
        if moved <= theta:
            break
        theta = moved
    for i in range(len(w)):
        w[i] = max(w[i] - theta, 0.0)


@njit
def fold_exactly(G, b, w, low, high, tol, g, v):  # type: ignore[no-untyped-def]
    """Fold in until the certified gap is at most tol; w is the result, and its gap is returned.

    The set is the convex hull of low e_k and high e_k, so the coefficients are w = sum_a v_a s_a e_k(a) with v on the
    simplex of K (low = high) or 2K atoms. Pair steps move weight from the atom of largest slope to that of smallest, by
    exact line search, until the Frank-Wolfe gap sum_a v_a h_a - min_a h_a <= tol bounds the distance to the minimum.
    They zigzag if the minimum is inside a face with long edges; :func:`_fold_on_support` then completes the
    minimisation. The gap that is returned is that of w itself, from a gradient computed anew.
    """
    K = len(w)
    atoms = K if low == high else 2 * K
    best, value = 0, np.inf
    for a in range(atoms):
        k, s = a % K, (low if a < K else high)
        alone = s * s * G[k, k] - 2.0 * s * b[k]
        if alone < value:
            best, value = a, alone
    if len(v) < atoms:
        v = np.empty(atoms)
    v[:atoms] = 0.0
    v[best] = 1.0
    k, s = best % K, (low if best < K else high)
    for i in range(K):
        g[i] = 2.0 * (s * G[i, k] - b[i])
    left = np.inf
    for _ in range(PAIR_STEPS):
        down, up, least, most, gap = 0, best, np.inf, -np.inf, 0.0
        for a in range(atoms):
            h = (low if a < K else high) * g[a % K]
            if h < least:
                down, least = a, h
            if v[a] > 0.0:
                gap += v[a] * h
                if h > most:
                    up, most = a, h
        left = gap - least
        if left <= tol or down == up:
            break
        i, j = down % K, up % K
        p, q = (low if down < K else high), (low if up < K else high)
        curvature = p * p * G[i, i] + q * q * G[j, j] - 2.0 * p * q * G[i, j]
        move = v[up]
        if curvature > 0.0:
            move = min(move, (most - least) / (2.0 * curvature))
        v[down] += move
        v[up] = v[up] - move if move < v[up] else 0.0
        for r in range(K):
            g[r] += 2.0 * move * (p * G[r, i] - q * G[r, j])
    left = _gap(G, b, v, low, high, w, g)
    if left > SLACK * tol:
        left = _fold_on_support(G, b, w, low, high, tol, g, v[:atoms])
    return left


@njit
def _gap(G, b, v, low, high, w, g):  # type: ignore[no-untyped-def]
    # Sets w = sum_a v_a s_a e_k(a) and its gradient g; the gap g.w - min over the set of g.w', which is free of the
    # rounding errors of earlier steps.
    K = len(w)
    w[:] = 0.0
    for a in range(K if low == high else 2 * K):
        w[a % K] += v[a] * (low if a < K else high)
    along, least = 0.0, np.inf
    for i in range(K):
        half = -b[i]
        for j in range(K):
            half += G[i, j] * w[j]
        g[i] = 2.0 * half
        along += g[i] * w[i]
        least = min(least, g[i])
    return along - min(low * least, high * least)


@njit
def _fold_on_support(G, b, w, low, high, tol, g, v):  # type: ignore[no-untyped-def]
    """Complete the folding in where pair steps zigzag; as :func:`fold_exactly`, from the weights v of the atoms.

    An active-set method. The atoms of positive weight and the one of least slope are the support S. With the atom r of
    largest weight as reference and edges D_a = s_a e_k(a) - s_r e_k(r), the minimum over the affine hull of S is at
    w + sum_a t_a D_a where

        (D_a'G D_b) t = -(h_a - h_r) / 2,     h_a = s_a g_k(a),

    or as far in that direction as no weight of S becomes negative; an atom whose weight vanishes leaves S. Slopes are
    computed again from w each time, so that each solution corrects the rounding errors of the previous one. The result
    is the best weights that occurred.
    """
    # Loops, because the machine code of expressions of arrays is twice as long, and is part of every caller's.
    K, atoms = len(w), len(v)
    scale, order = np.empty(atoms), np.empty(atoms, np.int64)
    for i in range(atoms):
        scale[i] = low if i < K else high
    kept, least_left = v.copy(), _gap(G, b, v, low, high, w, g)
    inside, entering = v > 0.0, True
    for _ in range(SUPPORT_STEPS):
        if entering:
            least = 0
            for i in range(atoms):
                if scale[i] * g[i % K] < scale[least] * g[least % K]:
                    least = i
            inside[least] = True
        r = -1
        for i in range(atoms):
            if inside[i] and (r < 0 or v[i] > v[r]):
                r = i
        n = 0
        for i in range(atoms):
            if inside[i] and i != r:
                order[n] = i
                n += 1
        t = _affine_minimum(G, g, scale, r, order[:n])
        total, move, out = t.sum(), 1.0, -1
        for i in range(n):
            if t[i] < 0.0 and v[order[i]] < -t[i] * move:
                move, out = v[order[i]] / -t[i], order[i]
        if total > 0.0 and v[r] < total * move:
            move, out = v[r] / total, r
        for i in range(n):
            v[order[i]] = max(v[order[i]] + move * t[i], 0.0)
        v[r] = max(v[r] - move * total, 0.0)
        entering = out < 0
        if not entering:
            v[out] = 0.0
            inside[out] = False
        weight = v.sum()
        for i in range(atoms):
            v[i] /= weight
        left = _gap(G, b, v, low, high, w, g)
        if left < least_left:
            least_left = left
            copy(kept, v)
        if left <= tol:
            break
    copy(v, kept)
    return _gap(G, b, v, low, high, w, g)


@njit
def _affine_minimum(G, g, scale, r, order):  # type: ignore[no-untyped-def]
    # Solves for t by Cholesky with pivots, edges in units of their lengths. An edge that depends on those before it
    # moves no point that they do not move, and stays at 0. Reorders ``order``; t has its order.
    n, K = len(order), len(g)
    p, j = scale[r], r % K
    t, length, edges = np.empty(n), np.empty(n), np.empty((n, n))
    for x in range(n):
        q, k = scale[order[x]], order[x] % K
        length[x] = math.sqrt(max(q * q * G[k, k] - 2.0 * p * q * G[j, k] + p * p * G[j, j], 0.0))
        if length[x] == 0.0:
            length[x] = np.inf
        t[x] = 0.5 * (p * g[j] - q * g[k]) / length[x]
        for y in range(x + 1):
            q_y, k_y = scale[order[y]], order[y] % K
            edge = q * q_y * G[k, k_y] - p * q * G[j, k] - p * q_y * G[j, k_y] + p * p * G[j, j]
            edges[x, y] = edges[y, x] = edge / (length[x] * length[y])
    rank = 0
    for x in range(n):
        best = x
        for y in range(x, n):
            if edges[y, y] > edges[best, best]:
                best = y
        if edges[best, best] <= DEPENDENT:
            break
        order[x], order[best] = order[best], order[x]
        length[x], length[best] = length[best], length[x]
        t[x], t[best] = t[best], t[x]
        for y in range(n):
            edges[x, y], edges[best, y] = edges[best, y], edges[x, y]
        for y in range(n):
            edges[y, x], edges[y, best] = edges[y, best], edges[y, x]
        edges[x, x] = math.sqrt(edges[x, x])
        for y in range(x + 1, n):
            edges[y, x] /= edges[x, x]
        for y in range(x + 1, n):
            for z in range(x + 1, n):
                edges[y, z] -= edges[y, x] * edges[z, x]
        rank += 1
    for x in range(rank):
        for y in range(x):
            t[x] -= edges[x, y] * t[y]
        t[x] /= edges[x, x]
    for x in range(rank - 1, -1, -1):
        for y in range(x + 1, rank):
            t[x] -= edges[y, x] * t[y]
        t[x] /= edges[x, x]
    for x in range(n):
        t[x] = t[x] / length[x] if x < rank else 0.0
    return t


@njit
def _mixed(x):  # type: ignore[no-untyped-def]
    # SplitMix64: the start of every pair is a hash of its position, which is the same whichever queries are left out.
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


@njit
def _begin(w, seed, round_, l, m, low, high):  # type: ignore[no-untyped-def]
    # Uniform numbers, scaled into the band: "randomly initialised from the non-negative uniform distribution".
    key = _mixed(np.uint64(seed) + np.uint64(round_ + 1) * np.uint64(0x9E3779B97F4A7C15))
    key = _mixed(key ^ (np.uint64(l) << np.uint64(32)) ^ np.uint64(m))
    total = 0.0
    for k in range(len(w)):
        key += np.uint64(0x9E3779B97F4A7C15)
        w[k] = (float(_mixed(key) >> np.uint64(11)) + 0.5) / 9007199254740992.0
        total += w[k]
    w *= 0.5 * (low + high) / total


@njit
def gram(U):  # type: ignore[no-untyped-def]
    K = U.shape[1]
    G = np.zeros((K, K))
    for i in range(U.shape[0]):
        for j in range(K):
            for k in range(j + 1):
                G[j, k] += U[i, j] * U[i, k]
    for j in range(K):
        for k in range(j):
            G[k, j] = G[j, k]
    return G


@njit
def visit(X, y, begin, end, U, G, how, numbers, seed, round_, M, B, W):  # type: ignore[no-untyped-def]
    """Fold in every pair of one query; its number of pairs, its loss L_q (eq. 3 with 7), and the largest remaining gap.

    ``how`` = (method, most steps, weighted), ``numbers`` = (alpha, rho, step, tol, low, high). Adds (1/n) sum phi w w'
    to M (K, K) and (1/n) sum phi z w' to B (d, K). The coefficients of the pairs are written to W (n, K), in the order
    of enumeration, if it has rows.
    """
    method, most, weighted = how
    alpha, rho, step, tol, low, high = numbers
    m, d, K = end - begin, X.shape[1], U.shape[1]
    A, V = np.zeros((m, K)), np.zeros((m, K))
    for l in range(m):
        for i in range(d):
            x = X[begin + l, i]
            for k in range(K):
                A[l, k] += x * U[i, k]
    b, w, g, aside = np.empty(K), np.empty(K), np.empty(K), np.empty(2 * K)
    inside = np.zeros((K, K))
    n, loss, left = 0, 0.0, 0.0
    for l in range(m):
        for r in range(m):
            if y[begin + l] <= y[begin + r]:
                continue
            squared = 0.0
            for i in range(d):
                difference = X[begin + l, i] - X[begin + r, i]
                squared += difference * difference
            norm = math.sqrt(squared)
            f = rho / (alpha + norm)
            for k in range(K):
                b[k] = f * (A[l, k] - A[r, k])
            _begin(w, seed, round_, begin + l, begin + r, low, high)
            # Without phi, which scales a pair's loss and does not change its minimiser.
            left = max(left, fold(method, G, b, w, step, most, tol, low, high, g, aside))
            phi = float(y[begin + l] - y[begin + r]) if weighted else 1.0
            value = f * f * squared
            for j in range(K):
                half = 0.0
                for k in range(K):
                    half += G[j, k] * w[k]
                value += w[j] * (half - 2.0 * b[j])
            loss += phi * max(value, 0.0)
            for j in range(K):
                share = phi * w[j]
                for k in range(K):
                    inside[j, k] += share * w[k]
                V[l, j] += f * share
                V[r, j] -= f * share
            if n < len(W):
                copy(W[n], w)
            n += 1
    if n == 0:
        return 0, 0.0, 0.0
    for j in range(K):
        for k in range(K):
            M[j, k] += inside[j, k] / n
    for l in range(m):
        for i in range(d):
            x = X[begin + l, i] / n
            for k in range(K):
                B[i, k] += x * V[l, k]
    return n, loss / n, left


@njit
def clip_columns(U, c, equal):  # type: ignore[no-untyped-def]
    """Scale columns of norm above c (or, for ``equal``, of any norm but 0) to norm c."""
    for k in range(U.shape[1]):
        total = 0.0
        for i in range(U.shape[0]):
            total += U[i, k] * U[i, k]
        norm = math.sqrt(total)
        if norm > c or (equal and norm > 0.0):
            for i in range(U.shape[0]):
                U[i, k] *= c / norm


@njit
def _half_slope(U, M, B, i, k):  # type: ignore[no-untyped-def]
    # (U M - B)_ik
    slope = -B[i, k]
    for j in range(U.shape[1]):
        slope += U[i, j] * M[j, k]
    return slope


@njit
def basis_gap(U, M, B, c):  # type: ignore[no-untyped-def]
    """The Frank-Wolfe gap max <g, U - V> over ||v_k|| <= c of tr(U M U') - 2 tr(U'B): <g, U> + c sum_k ||g_k||."""
    d, K = U.shape
    gap = 0.0
    for k in range(K):
        along, squared = 0.0, 0.0
        for i in range(d):
            slope = 2.0 * _half_slope(U, M, B, i, k)
            along += slope * U[i, k]
            squared += slope * slope
        gap += along + c * math.sqrt(squared)
    return gap


@njit
def solve_basis(U, M, B, c, equal, rounds, tol):  # type: ignore[no-untyped-def]
    """Minimise tr(U M U') - 2 tr(U'B) over ||u_k|| <= c, one column at a time; returns the remaining Frank-Wolfe gap.

    The Hessian in one column is 2 M_kk I, so its exact minimiser over the ball is the scaled free one. If the norms
    must equal c, the problem is not convex, and the gap is NaN.
    """
    d, K = U.shape
    gap = np.inf
    for _ in range(rounds):
        for k in range(K):
            if M[k, k] <= 0.0:
                continue
            for i in range(d):
                free = B[i, k] + M[k, k] * U[i, k]
                for j in range(K):
                    free -= U[i, j] * M[j, k]
                U[i, k] = free / M[k, k]
            clip_columns(U[:, k : k + 1], c, equal)
        if equal:
            continue
        gap = basis_gap(U, M, B, c)
        if gap <= tol:
            break
    return np.nan if equal else gap


@njit
def objective(X, y, offsets, U, weighted, alpha, rho, low, high, tol):  # type: ignore[no-untyped-def]
    """The loss L_q of every query with coefficients folded in exactly, and its pairs, shapes (Q,); M, B; largest gap.

    M (K, K) and B (d, K) as in :func:`visit`, summed over the queries.
    """
    n_queries, (d, K) = len(offsets) - 1, U.shape
    losses, pairs = np.zeros(n_queries), np.zeros(n_queries, np.int64)
    M, B, nothing = np.zeros((K, K)), np.zeros((d, K)), np.empty((0, K))
    G = gram(U)
    how, numbers, largest = (np.int64(EXACT), np.int64(0), weighted), (alpha, rho, 0.0, tol, low, high), 0.0
    for q in range(n_queries):
        pairs[q], losses[q], left = visit(
            X, y, offsets[q], offsets[q + 1], U, G, how, numbers, np.int64(0), np.int64(0), M, B, nothing
        )
        largest = max(largest, left)
    return losses, pairs, M, B, largest


@njit
def every_loss(X, y, offsets, U, weighted, alpha, rho, low, high, tol):  # type: ignore[no-untyped-def]
    """phi min_w ||z - U w||^2 of every pair of every query, in the order of enumeration, and the largest remaining
    gap."""
    n, largest = 0, 0.0
    for q in range(len(offsets) - 1):
        for l in range(offsets[q], offsets[q + 1]):
            for r in range(offsets[q], offsets[q + 1]):
                n += y[l] > y[r]
    K = U.shape[1]
    losses, G = np.empty(n), gram(U)
    z, b, w, g, v = np.empty(X.shape[1]), np.empty(K), np.empty(K), np.empty(K), np.empty(2 * K)
    n = 0
    for q in range(len(offsets) - 1):
        for l in range(offsets[q], offsets[q + 1]):
            for r in range(offsets[q], offsets[q + 1]):
                if y[l] <= y[r]:
                    continue
                copy(z, X[l] - X[r])
                z *= rho / (alpha + math.sqrt((z * z).sum()))
                for k in range(K):
                    b[k] = (z * U[:, k]).sum()
                largest = max(largest, fold_exactly(G, b, w, low, high, tol, g, v))
                value = (z * z).sum()
                for k in range(K):
                    value += w[k] * ((G[k] * w).sum() - 2.0 * b[k])
                losses[n] = (y[l] - y[r] if weighted else 1.0) * max(value, 0.0)
                n += 1
    return losses, largest


@njit
def train(X, y, offsets, start, order, skipped, how, numbers, c, equal, at_once, seed, path, met):  # type: ignore[no-untyped-def]
    """Make passes over the queries of ``order`` (passes, Q) except ``skipped``; ``path`` receives the basis after each.

    With ``at_once`` the basis takes one step per pass, along the gradient of the empirical risk (the exact method
    solves its block); otherwise one step per query, along that of L_q. ``met`` (passes,) receives the risk at the
    coefficients and bases during the pass; path (passes + 1, d, K) also contains the start. Returns the largest gap of
    the basis blocks that were solved, and that of the coefficients.
    """
    d, K = start.shape
    method, step = how[0], numbers[2]
    U = start.copy()
    for i in range(d):
        copy(path[0, i], U[i])
    G, nothing, largest_gap, largest_fold = gram(U), np.empty((0, K)), 0.0, 0.0
    for t in range(len(order)):
        M, B = np.zeros((K, K)), np.zeros((d, K))
        total, counted = 0.0, 0
        for q in order[t]:
            if q == skipped:
                continue
            if not at_once:
                M[:] = 0.0
                B[:] = 0.0
            n, loss, left = visit(X, y, offsets[q], offsets[q + 1], U, G, how, numbers, seed, t, M, B, nothing)
            if n == 0:
                continue
            largest_fold = max(largest_fold, left)
            total += loss
            counted += 1
            if not at_once:
                _step(U, M, B, step, c, equal)
                G = gram(U)
        if at_once and counted > 0:
            M /= counted
            B /= counted
            if method == EXACT:
                gap = solve_basis(U, M, B, c, equal, np.int64(1000), numbers[3])
                largest_gap = max(largest_gap, gap)
            else:
                _step(U, M, B, step, c, equal)
            G = gram(U)
        met[t] = total / max(counted, 1)
        for i in range(d):
            copy(path[t + 1, i], U[i])
    return largest_gap, largest_fold


@njit
def _step(U, M, B, step, c, equal):  # type: ignore[no-untyped-def]
    # U - 2 step (U M - B), all columns at once, then scaled back to norm c if necessary; Algorithm 1 prints one column
    # after another.
    d, K = U.shape
    row = np.empty(K)
    for i in range(d):
        for k in range(K):
            row[k] = _half_slope(U, M, B, i, k)
        for k in range(K):
            U[i, k] -= 2.0 * step * row[k]
    clip_columns(U, c, equal)
