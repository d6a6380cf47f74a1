"""How is a surrogate with kinks written as a linear programme, so that a solver can use more than its subgradients?

A convex function that is a maximum of affine functions of the scores is, for all queries together, the optimum of

    sum_q phi(s_q, y_q) = min over z of  sum_p c_p max(0, h_p - <f_p, s> - <e_p, z>) + <b, z>
                        = max over lam of  <lam, h - F s>   with  0 <= lam_p <= c_p,  E' lam = b.

Every row p has few coefficients: f_p of scores and e_p of auxiliary variables z of the same query. A row with c_p = inf
is a constraint. The second form is the dual, and every lam that is feasible there gives an affine function below phi.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from pipeline_lib.arrays import Floats
from pipeline_lib.compiled import njit

__all__: list[str] = []  # internal: what comes here was checked before (see pipeline_lib.checks)

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

    def scaled(self, factors: Floats) -> LinearProgramme:
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
