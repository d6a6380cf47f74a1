"""How is a risk minimised whose surrogate is a linear programme? By an interior-point method, to a certified gap.

    min over w, z of  l2/2 ||w||^2 + (1/Q) sum_p c_p max(0, h_p - <f_p, X w> - <e_p, z>) + (1/Q) <b, z>,

over the l2 ball, if there is one (:mod:`~pipeline_lib.surrogates.programmes`). The argument of a hinge is xi - t
with t, xi >= 0, which have the multipliers lam and pi = c - lam. A step of Newton's method goes towards lam t = pi xi =
mu, and mu decreases (Mehrotra's predictor and corrector). With D = 1 / (t / lam + xi / pi) on the rows, it solves

    (l2 I + X' H X) dw = right side,   H = the Schur complement of E' D E in [F E]' D [F E],

where H has one block for every query. A block is found by elimination and, for short lists, split into L L', so that X'
H X is the square of one matrix: O(N d (d + m)) a step, and some thirty steps whatever the number of features.

Query q has the matrix [F E]' D [F E] on its documents and auxiliary variables, stored from ``starts[q]`` on by rows.
Its auxiliary variables are eliminated from the last to the first, in place: what is left on the documents is the Schur
complement H, and the rows of the eliminated variables hold what forward and backward substitution need.

The multipliers, made feasible, give an affine function below the risk at every step, hence the gap (see
:func:`~pipeline_lib.learners.problem.minorant_gap`).
"""

import math
from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from pipeline_lib.core.arrays import Floats
from pipeline_lib.core.compiled import njit
from pipeline_lib.learners.balls import project
from pipeline_lib.learners.problem import Problem, Solution, Watch, minorant_gap
from pipeline_lib.surrogates.programmes import LinearProgramme

__all__: list[str] = []  # internal: what comes here was checked before (see pipeline_lib.core.checks)

ITERATIONS = 120
CERTIFICATE = "duality"
NO_PROGRESS = "the gap stopped shrinking before it was reached"
# A step goes this far towards the boundary; so many steps without progress end the search.
TO_THE_BOUNDARY, PATIENCE = 0.995, 10
# The blocks of queries with at most so many documents are split into squares.
SHORT = 64
# What is added to the diagonal, relative to its largest entry, where rounding has left it without a square root.
LENT = 1e-14
# A pivot counts as 0 below this fraction of what it was.
NO_PIVOT = 1e-14


def minimise(problem: Problem, programme: LinearProgramme, tol: float) -> Solution:
    """Minimise F until gap <= tol * objective; l2 > 0 or a finite radius in the l2 norm.

    ``programme`` is that of the surrogate. The features must be an array.
    """
    X = _array(problem)
    N, d = X.shape
    if d > N:
        # The minimiser is a combination of documents: w = basis v with ||w|| = ||v||.
        basis, coordinates = np.linalg.qr(X.T)
        found = minimise(replace(problem, X=np.ascontiguousarray(coordinates.T)), programme, tol)
        return replace(found, w=basis @ found.w)
    search = _Search(problem, programme)
    watch = Watch(problem, ITERATIONS)
    waited, best, bound, reason = 0, math.inf, -math.inf, NO_PROGRESS
    for iteration in range(ITERATIONS):
        waited += 1
        point, objective, lower = search.values()
        if objective < best:
            best, w, waited = objective, point, 0
        if lower > bound:
            bound, waited = lower, 0
        watch.at(iteration, best - bound, best)
        if problem.relative(best - bound, best) <= tol:
            reason = ""
        if not reason or waited == PATIENCE or not search.step():
            break
    return Solution(w, max(best - bound, 0.0), CERTIFICATE, iteration, reason)


def _array(problem: Problem) -> Floats:
    # The features; a design matrix has no rows to be taken one by one.
    assert isinstance(problem.X, np.ndarray)
    return problem.X


class Barrier:
    """What keeps w inside a ball: tau = (radius^2 - ||w||^2) / 2 >= 0 with its multiplier nu, whose gradient is nu w.

    Their product goes towards mu like the others. It has a part of the matrix and of the right side, and its directions
    once that of w is known. Without a ball, tau and nu stay as they are and count for nothing.
    """

    def __init__(self, radius: float, mu: float) -> None:
        self._half = 0.5 * radius**2
        self._tau, self._nu = self._half, mu / self._half
        self._d_tau = self._d_nu = 0.0
        self._there = math.isfinite(radius)

    def add_to(self, matrix: Floats, w: Floats) -> None:
        """Add the second derivative in w, nu I + nu / tau w w', to the matrix, in place."""
        if self._there:
            matrix[np.diag_indices(len(w))] += self._nu
            matrix += (self._nu / self._tau) * np.outer(w, w)

    def right(self, w: Floats, mu: float, corrected: bool) -> Floats | float:
        """The part of the right side for a product mu; ``corrected`` by the product of the directions before.

        It is - w (nu + (mu - nu tau - nu missing) / tau), with what tau is missing.
        """
        if not self._there:
            return 0.0
        self._missing = self._half - 0.5 * float(w @ w) - self._tau
        self._short = mu - self._nu * self._tau - (self._d_nu * self._d_tau if corrected else 0.0)
        return -w * (self._nu + (self._short - self._nu * self._missing) / self._tau)

    def direct(self, w: Floats, change: Floats) -> None:
        """Find the directions that belong to that of w."""
        if self._there:
            self._d_tau = self._missing - float(w @ change)
            self._d_nu = (self._short - self._nu * self._d_tau) / self._tau

    def products(self, length: float) -> tuple[float, int]:
        """The product after a part of the way, and how many there are."""
        if not self._there:
            return 0.0, 0
        return (self._nu + length * self._d_nu) * (self._tau + length * self._d_tau), 1

    def longest(self) -> float:
        """The part of the way on which nothing becomes negative."""
        return min(_length(self._tau, self._d_tau), _length(self._nu, self._d_nu))

    def move(self, length: float) -> None:
        """Go this part of the way."""
        self._tau, self._nu = self._tau + length * self._d_tau, self._nu + length * self._d_nu


def _length(at: Floats | float, change: Floats | float) -> float:
    values, changes = np.atleast_1d(at), np.atleast_1d(change)
    falling = changes < 0.0
    return float((-values[falling] / changes[falling]).min()) if falling.any() else math.inf


@dataclass
class _Direction:
    """A direction, or what products of two directions leave: of w, z, t, xi and lam (that of pi is its opposite)."""

    w: Floats
    z: Floats
    t: Floats
    xi: Floats
    lam: Floats


class _Search:
    """The point of the method, and its steps."""

    def __init__(self, problem: Problem, programme: LinearProgramme) -> None:
        Q = len(problem.offsets) - 1
        self.problem, self.programme = problem, programme.scaled(np.full(Q, 1.0 / Q))
        self.boxed = np.isfinite(self.programme.costs)
        self.ceiling = np.where(self.boxed, self.programme.costs, 1.0)
        self.w, self.z = np.zeros(problem.X.shape[1]), np.zeros(len(self.programme.dues))
        self.lam = self.programme.feasible(np.where(self.boxed, 0.5 * self.ceiling, 1.0))
        self.pi = np.where(self.boxed, self.ceiling - self.lam, 1.0)
        below = -self.programme.heights
        size = max(float(np.abs(below).max(initial=0.0)), 1e-300)
        self.t = np.maximum(below, 0.0) + size
        self.xi = np.where(self.boxed, self.t - below, 0.0)
        self.barrier = Barrier(problem.radius, self.mean_product())
        self.local, self.starts = _local_nodes(self.programme.nodes, self.programme.offsets, self.programme.owned)

    def mean_product(self) -> float:
        """mu: the mean of lam t and pi xi."""
        return float(self.lam @ self.t + self.pi @ self.xi) / (len(self.lam) + int(self.boxed.sum()))

    def values(self) -> tuple[Floats, float, float]:
        """The point of the ball next to w, its objective, and a lower bound of the minimum."""
        problem = self.problem
        w = project(self.w, problem.radius)
        loss, _ = problem.loss(problem.X @ w)
        objective = problem.objective(w, loss)
        intercept, slope = self.programme.minorant(self.programme.feasible(self.lam))
        return w, objective, objective - minorant_gap(problem, w, loss, intercept, problem.X.T @ slope)

    def step(self) -> bool:
        """Take one step; False if rounding leaves none."""
        programme, X = self.programme, _array(self.problem)
        N = len(X)
        slack = self.t / self.lam + np.where(self.boxed, self.xi / self.pi, 0.0)
        self.weight = 1.0 / slack
        blocks = _sum_up(
            self.local, programme.coefficients, self.weight, self.starts, programme.offsets, programme.owned
        )
        _eliminate(blocks, self.starts, programme.offsets, programme.owned)
        matrix = self._square(blocks)
        matrix[np.diag_indices(len(matrix))] += self.problem.l2
        self.barrier.add_to(matrix, self.w)
        factor = _factor(matrix)
        if factor is None:
            return False
        self.blocks, self.factor = blocks, factor
        values = np.concatenate([X @ self.w, self.z])
        self.missing = programme.taken(values) + self.xi - self.t - programme.heights
        given = programme.spread(self.lam)
        self.given_s, self.given_z = given[:N], given[N:] - programme.dues
        mu = self._products(0.0, None)[0]
        first = self._direction(0.0, None)
        length = self._longest(first)
        after = self._products(length, first)[0]
        second = self._direction((after / mu) ** 3 * mu, first)
        length = TO_THE_BOUNDARY * self._longest(second)
        self._move(min(length, 1.0), second)
        return length > 1e-10 and bool(np.isfinite(self.w).all())

    def _square(self, blocks: Floats) -> Floats:
        # X' H X
        offsets, owned, X = self.programme.offsets, self.programme.owned, _array(self.problem)
        rows = _rows_of_square(blocks, self.starts, offsets, owned, X, SHORT)
        square: Floats = rows.T @ rows
        for q in np.flatnonzero(np.diff(offsets) > SHORT):
            m, n = int(offsets[q + 1] - offsets[q]), math.isqrt(int(self.starts[q + 1] - self.starts[q]))
            own = X[offsets[q] : offsets[q + 1]]
            block = blocks[self.starts[q] : self.starts[q + 1]].reshape(n, n)[:m, :m]
            square += own.T @ (block @ own)
        return square

    def _direction(self, mu: float, before: _Direction | None) -> _Direction:
        # Newton's direction towards products mu, less the products of the direction ``before``.
        programme, X = self.programme, _array(self.problem)
        N = len(X)
        short_t, short_xi = mu - self.lam * self.t, mu - self.pi * self.xi
        if before is not None:
            short_t, short_xi = short_t - before.lam * before.t, short_xi + before.lam * before.xi
        of_t, of_xi = short_t / self.lam, np.where(self.boxed, short_xi / self.pi, 0.0)
        rho = of_t - of_xi - self.missing
        right = programme.spread(self.weight * rho)
        right[N:] += self.given_z
        of_z = right[N:].copy()
        _substitute(self.blocks, self.starts, programme.offsets, programme.owned, right[:N], of_z, True)
        right_w = X.T @ (self.given_s + right[:N]) - self.problem.l2 * self.w
        right_w += self.barrier.right(self.w, mu, before is not None)
        w = np.asarray(cho_solve(self.factor, right_w, check_finite=False), dtype=np.float64)
        s = X @ w
        _substitute(self.blocks, self.starts, programme.offsets, programme.owned, s, of_z, False)
        lam = self.weight * (rho - programme.taken(np.concatenate([s, of_z])))
        self.barrier.direct(self.w, w)
        t = of_t - self.t / self.lam * lam
        xi = np.where(self.boxed, of_xi + self.xi / self.pi * lam, 0.0)
        return _Direction(w, of_z, t, xi, lam)

    def _products(self, length: float, way: _Direction | None) -> tuple[float, int]:
        # The mean of all products after a part of the way, and their number
        lam, t, pi, xi = self.lam, self.t, self.pi, self.xi
        if way is not None:
            lam, t = lam + length * way.lam, t + length * way.t
            pi, xi = pi - length * np.where(self.boxed, way.lam, 0.0), xi + length * way.xi
        total, n = self.barrier.products(length if way is not None else 0.0)
        n += len(lam) + int(self.boxed.sum())
        return (float(lam @ t + pi @ xi) + total) / n, n

    def _longest(self, way: _Direction) -> float:
        # The largest part of the way, up to 1, on which nothing becomes negative
        inside = self.boxed
        pairs = (
            (self.lam, way.lam),
            (self.t, way.t),
            (self.pi[inside], -way.lam[inside]),
            (self.xi[inside], way.xi[inside]),
        )
        lengths = (_length(at, change) for at, change in pairs)
        return min(1.0 / TO_THE_BOUNDARY, self.barrier.longest(), *lengths)

    def _move(self, length: float, way: _Direction) -> None:
        self.w, self.z = self.w + length * way.w, self.z + length * way.z
        self.t, self.lam = self.t + length * way.t, self.lam + length * way.lam
        self.xi = self.xi + length * way.xi
        self.pi = self.pi - length * np.where(self.boxed, way.lam, 0.0)
        self.barrier.move(length)


def _factor(matrix: Floats) -> tuple[Floats, bool] | None:
    lent = 0.0
    for _ in range(4):
        try:
            factor: tuple[Floats, bool] = cho_factor(
                matrix + lent * np.eye(len(matrix)) if lent else matrix, lower=True, check_finite=False
            )
        except LinAlgError:
            lent = max(100.0 * lent, LENT * float(matrix.diagonal().max()))
        else:
            return factor
    return None


@njit
def _local_nodes(nodes, offsets, owned):  # type: ignore[no-untyped-def]
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
def _sum_up(local, coefficients, weight, starts, offsets, owned):  # type: ignore[no-untyped-def]
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
def _eliminate(blocks, starts, offsets, owned):  # type: ignore[no-untyped-def]
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
def _substitute(blocks, starts, offsets, owned, s, z, forward):  # type: ignore[no-untyped-def]
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
def _rows_of_square(blocks, starts, offsets, owned, X, longest):  # type: ignore[no-untyped-def]
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
