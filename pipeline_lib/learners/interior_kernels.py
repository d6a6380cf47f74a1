"""How are the second derivatives of a linear programme's barrier formed and eliminated, query by query?

Query q has the matrix [F E]' D [F E] on its documents and auxiliary variables, stored from ``starts[q]`` on by rows.
Its auxiliary variables are eliminated from the last to the first, in place: what is left on the documents is the Schur
complement H, and the rows of the eliminated variables hold what forward and backward substitution need.
"""

import numpy as np

from pipeline_lib.core.compiled import njit

__all__: list[str] = []  # internal: what comes here was checked before (see pipeline_lib.core.checks)

# A pivot counts as 0 below this fraction of what it was.
NO_PIVOT = 1e-14


@njit
def local_nodes(nodes, offsets, owned):  # type: ignore[no-untyped-def]
    """Where the coefficients of every row are in the matrix of its query, shape (P, k + 1), with the query in front;
    and the starts of the matrices, shape (Q + 1,)."""
    N, A, Q = offsets[-1], owned[-1], len(offsets) - 1
    query, place, starts = np.empty(N + A, np.int64), np.empty(N + A, np.int64), np.zeros(Q + 1, np.int64)
    for q in range(Q):
        m = offsets[q + 1] - offsets[q]
        for i in range(offsets[q], offsets[q + 1]):
            query[i], place[i] = q, i - offsets[q]
        for a in range(owned[q], owned[q + 1]):
            query[N + a], place[N + a] = q, m + a - owned[q]
        n = m + owned[q + 1] - owned[q]
        starts[q + 1] = starts[q] + n * n
    local = np.empty((len(nodes), nodes.shape[1] + 1), np.int64)
    for p in range(len(nodes)):
        local[p, 0] = query[nodes[p, 0]]
        for k in range(nodes.shape[1]):
            local[p, k + 1] = place[nodes[p, k]]
    return local, starts


@njit
def sum_up(local, coefficients, weight, starts, offsets, owned):  # type: ignore[no-untyped-def]
    """The matrices [F E]' D [F E] of all queries, one after the other."""
    blocks = np.zeros(starts[-1])
    for p in range(len(local)):
        q = local[p, 0]
        n = offsets[q + 1] - offsets[q] + owned[q + 1] - owned[q]
        for a in range(1, local.shape[1]):
            for b in range(1, local.shape[1]):
                at = starts[q] + local[p, a] * n + local[p, b]
                blocks[at] += weight[p] * coefficients[p, a - 1] * coefficients[p, b - 1]
    return blocks


@njit(fastmath={"contract"})
def eliminate(blocks, starts, offsets, owned):  # type: ignore[no-untyped-def]
    """Eliminate the auxiliary variables, in place."""
    for q in range(len(starts) - 1):
        m = offsets[q + 1] - offsets[q]
        n = m + owned[q + 1] - owned[q]
        block = blocks[starts[q] : starts[q + 1]].reshape((n, n))
        for z in range(n - 1, m - 1, -1):
            pivot = block[z, z]
            if pivot <= 0.0:
                block[z, z] = 0.0
                continue
            row = block[z]
            for i in range(z):
                if row[i] != 0.0:
                    share = row[i] / pivot
                    for j in range(z):
                        block[i, j] -= share * row[j]


@njit
def substitute(blocks, starts, offsets, owned, s, z, forward):  # type: ignore[no-untyped-def]
    """Forward: take what the auxiliary variables' right sides ``z`` contribute out of ``s`` and of one another.

    Backward: z becomes the auxiliary variables that belong to ``s``.
    """
    for q in range(len(starts) - 1):
        m, first, begin = offsets[q + 1] - offsets[q], owned[q], offsets[q]
        n = m + owned[q + 1] - first
        block = blocks[starts[q] : starts[q + 1]].reshape((n, n))
        if forward:
            for v in range(n - 1, m - 1, -1):
                if block[v, v] > 0.0:
                    share = z[first + v - m] / block[v, v]
                    for i in range(m):
                        s[begin + i] -= block[v, i] * share
                    for i in range(m, v):
                        z[first + i - m] -= block[v, i] * share
        else:
            for v in range(m, n):
                if block[v, v] > 0.0:
                    rest = z[first + v - m]
                    for i in range(m):
                        rest -= block[v, i] * s[begin + i]
                    for i in range(m, v):
                        rest -= block[v, i] * z[first + i - m]
                    z[first + v - m] = rest / block[v, v]
                else:
                    z[first + v - m] = 0.0


@njit(fastmath={"contract"})
def rows_of_square(blocks, starts, offsets, owned, X, longest):  # type: ignore[no-untyped-def]
    """Rows A, shape (N, d), with A' A = X' H X: L' X_q for every query, with H = L L' on its documents.

    Queries with more than ``longest`` documents are left out.
    """
    N, d = X.shape
    rows = np.zeros((N, d))
    for q in range(len(starts) - 1):
        begin, m = offsets[q], offsets[q + 1] - offsets[q]
        if m > longest:
            continue
        n = m + owned[q + 1] - owned[q]
        block = blocks[starts[q] : starts[q + 1]].reshape((n, n))
        L = np.zeros((m, m))
        for j in range(m):
            pivot = block[j, j]
            for k in range(j):
                pivot -= L[j, k] * L[j, k]
            if pivot <= NO_PIVOT * abs(block[j, j]):
                continue
            root = np.sqrt(pivot)
            L[j, j] = root
            for i in range(j + 1, m):
                value = block[i, j]
                for k in range(j):
                    value -= L[i, k] * L[j, k]
                L[i, j] = value / root
            for i in range(j, m):
                share = L[i, j]
                if share != 0.0:
                    for c in range(d):
                        rows[begin + j, c] += share * X[begin + i, c]
    return rows
