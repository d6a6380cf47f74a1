"""How is a surrogate with kinks written as a linear programme, so that a solver can use more than its subgradients?

A convex function that is a maximum of affine functions of the scores is, for all queries together, the optimum of

    sum_q phi(s_q, y_q) = min over z of  sum_p c_p max(0, h_p - <f_p, s> - <e_p, z>) + <b, z>
                        = max over lam of  <lam, h - F s>   with  0 <= lam_p <= c_p,  E' lam = b.

Every row p has few coefficients: f_p of scores and e_p of auxiliary variables z of the same query. A row with c_p = inf
is a constraint. The second form is the dual, and every lam that is feasible there gives an affine function below phi.
Rows are pairs of documents, or documents with the best one below them.
"""

from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from pipeline_lib.core.arrays import Floats
from pipeline_lib.core.compiled import njit

__all__: list[str] = []  # internal: what comes here was checked before (see pipeline_lib.core.checks)

# Programmes with more rows than this take more memory than they save time.
MOST_ROWS = 3_000_000

Whole = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class LinearProgramme:
    """The programme of all queries.

    Attributes
    ----------
    heights, costs : float64, shape (P,)
        h, and c > 0, which may be inf.
    nodes : int64, shape (P, k)
        Which variables of its query the coefficients of a row are of: document i is i, auxiliary variable a is N + a. A
        row of fewer than k variables names one of them again.
    coefficients : float64, shape (P, k)
        The entries of f_p and e_p; 0 where a variable is named again.
    dues : float64, shape (A,)
        b.
    offsets, owned : int64, shape (Q + 1,)
        Query q owns the documents offsets[q]:offsets[q + 1] and the auxiliary variables owned[q]:owned[q + 1].

    Example
    -------
    >>> hinge = LinearProgramme(
    ...     heights=np.ones(1), costs=np.full(1, 2.0), nodes=np.array([[0, 1]]), coefficients=np.array([[1.0, -1.0]]),
    ...     dues=np.zeros(0), offsets=np.array([0, 2]), owned=np.array([0, 0]),
    ... )
    >>> hinge.feasible(np.array([3.0])), hinge.minorant(np.array([2.0]))
    (array([2.]), (2.0, array([-2.,  2.])))
    """

    heights: Floats
    costs: Floats
    nodes: Whole
    coefficients: Floats
    dues: Floats
    offsets: Whole
    owned: Whole

    @property
    def matrix_size(self) -> int:
        """How many numbers there are in one square matrix per query over its documents and auxiliary variables."""
        variables = np.diff(self.offsets) + np.diff(self.owned)
        return int(variables @ variables)

    def feasible(self, multipliers: Floats) -> Floats:
        """Feasible lam near ``multipliers`` >= 0, shape (P,); without auxiliary variables, they are cut off at c."""
        return np.minimum(multipliers, self.costs)

    def minorant(self, multipliers: Floats) -> tuple[float, Floats]:
        """For feasible lam: the intercept <lam, h> and the slope -F' lam, shape (N,), of an affine function below."""
        return float(multipliers @ self.heights), -self.spread(multipliers)[: self.offsets[-1]]

    def taken(self, values: Floats) -> Floats:
        """<f_p, s> + <e_p, z> of all rows, shape (P,), for ``values`` of documents and auxiliary variables."""
        return _taken(self.nodes, self.coefficients, values)

    def spread(self, multipliers: Floats) -> Floats:
        """F' lam and E' lam, shape (N + A,)."""
        return _spread(self.nodes, self.coefficients, multipliers, len(self.dues) + self.offsets[-1])

    def scaled(self, factors: Floats) -> "LinearProgramme":
        """The programme of sum_q factors_q phi(s_q, y_q)."""
        of_nodes = np.concatenate([np.repeat(factors, np.diff(self.offsets)), np.repeat(factors, np.diff(self.owned))])
        return replace(
            self,
            costs=self.costs * of_nodes[self.nodes[:, 0]],
            dues=self.dues * np.repeat(factors, np.diff(self.owned)),
        )


@njit
def _taken(nodes, coefficients, values):  # type: ignore[no-untyped-def]
    taken = np.empty(len(nodes))
    for p in range(len(nodes)):
        total = 0.0
        for k in range(nodes.shape[1]):
            total += coefficients[p, k] * values[nodes[p, k]]
        taken[p] = total
    return taken


@njit
def _spread(nodes, coefficients, multipliers, n):  # type: ignore[no-untyped-def]
    to = np.zeros(n)
    for p in range(len(nodes)):
        for k in range(nodes.shape[1]):
            to[nodes[p, k]] += coefficients[p, k] * multipliers[p]
    return to


def of_pairs(y: NDArray[np.int32], offsets: Whole, costs: Floats, margin: float) -> LinearProgramme:
    """c_q times the sum of max(0, margin + s_j - s_i) over pairs y_i > y_j: a row for every pair.

    Example
    -------
    >>> of_pairs(np.array([1, 0]), np.array([0, 2]), np.ones(1), 1.0).nodes
    array([[0, 1]])
    """
    nodes, of_query = [np.empty((0, 2), np.int64)], [np.empty(0, np.int64)]
    for q, (begin, end) in enumerate(pairwise(offsets)):
        labels = y[begin:end]
        pairs = np.argwhere(labels[:, None] > labels[None, :])
        nodes.append(begin + pairs)
        of_query.append(np.full(len(pairs), q))
    rows = np.concatenate(nodes)
    return LinearProgramme(
        heights=np.full(len(rows), margin),
        costs=costs[np.concatenate(of_query)],
        nodes=rows,
        coefficients=np.tile([1.0, -1.0], (len(rows), 1)),
        dues=np.empty(0),
        offsets=offsets,
        owned=np.zeros_like(offsets),
    )


@dataclass(frozen=True, eq=False)
class Chains(LinearProgramme):
    """Rows s_i - T >= margin with costs, and then constraints T - s_j >= 0 and T - T' >= 0.

    ``begins``, shape (A + 1,): the constraints of variable a are begins[a]:begins[a + 1]. Multipliers are flows: what
    the first rows bring to a T leaves it through its constraints.
    """

    begins: Whole

    def feasible(self, multipliers: Floats) -> Floats:
        """Flows in the proportions of ``multipliers``."""
        flows = np.minimum(multipliers, self.costs)
        _balance(flows, self.nodes, self.begins, self.offsets[-1])
        return flows


@njit
def _balance(flows, nodes, begins, N):  # type: ignore[no-untyped-def]
    # A query's variables are in the order of labels, so that flows go from later ones to earlier ones.
    A = len(begins) - 1
    into = np.zeros(A)
    for p in range(begins[0]):
        into[nodes[p, 1] - N] += flows[p]
    for a in range(A - 1, -1, -1):
        total = 0.0
        for p in range(begins[a], begins[a + 1]):
            total += flows[p]
        for p in range(begins[a], begins[a + 1]):
            part = flows[p] / total if total > 0.0 else 1.0 / (begins[a + 1] - begins[a])
            flows[p] = part * into[a]
            if nodes[p, 1] >= N:
                into[nodes[p, 1] - N] += flows[p]


def of_chains(y: NDArray[np.int32], offsets: Whole, weights: Floats, margin: float) -> Chains:
    """sum_i v_i max(0, margin + max_{j: y_j < y_i} s_j - s_i).

    The variable T of a query and a label that has weight is above the scores of all documents of smaller labels: of
    those that are not below the next smaller T, and above this T.

    Example
    -------
    >>> programme = of_chains(np.array([2, 1, 0]), np.array([0, 3]), np.array([0.5, 0.25, 0.0]), 1.0)
    >>> programme.nodes  # s_0 - T_2, s_1 - T_1, T_1 - s_2, T_2 - s_1, T_2 - T_1
    array([[0, 4],
           [1, 3],
           [3, 2],
           [4, 1],
           [4, 3]])
    """
    N = int(offsets[-1])
    lowest = np.repeat(np.minimum.reduceat(y, offsets[:-1]), np.diff(offsets)) if N else y
    paying = np.flatnonzero((weights > 0.0) & (y > lowest))
    owned, above, ends, begins = np.zeros_like(offsets), np.empty(N, np.int64), [np.empty(0, np.int64)], [0]
    for q, (begin, end) in enumerate(pairwise(offsets)):
        own = paying[np.searchsorted(paying, begin) : np.searchsorted(paying, end)]
        levels, first = np.unique(y[own]), int(owned[q])
        owned[q + 1] = first + len(levels)
        above[own] = N + first + np.searchsorted(levels, y[own])
        labels = y[begin:end]
        for k, level in enumerate(levels):
            new = begin + np.flatnonzero((labels < level) & ((labels >= levels[k - 1]) if k else True))
            ends.append(np.append(new, N + first + k - 1) if k else new)
            begins.append(begins[-1] + len(ends[-1]))
    lower = np.concatenate(ends)
    upper = N + np.repeat(np.arange(len(begins) - 1), np.diff(begins))
    nodes = np.concatenate([np.c_[paying, above[paying]], np.c_[upper, lower]]).astype(np.int64)
    return Chains(
        heights=np.r_[np.full(len(paying), margin), np.zeros(len(lower))],
        costs=np.r_[weights[paying], np.full(len(lower), np.inf)],
        nodes=nodes,
        coefficients=np.tile([1.0, -1.0], (len(nodes), 1)),
        dues=np.zeros(len(begins) - 1),
        offsets=offsets,
        owned=owned,
        begins=len(paying) + np.array(begins, np.int64),
    )
