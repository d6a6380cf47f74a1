"""How is a labelling budget best divided between queries and documents, by the bound of Theorem 1 of `twolayer`?

:func:`budget` has the paper's closed form (Discussion 3), :func:`whole_budget` the best plan in whole documents;
:func:`budget_by_search` and :func:`allocation_by_search` find the same minima numerically.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pipeline_lib import checks
from pipeline_lib.checks import checked
from pipeline_lib.errors import DataError
from pipeline_lib.theory.two_layer_bounds import Bound, bound, vc

TWO_DOCUMENTS = checks.Range(2)
"""The smallest budget: the bound needs pairs of documents."""

ROUNDING = 1e-9
"""Two ways to compute one bound may differ by this share of it."""


@dataclass(frozen=True)
class Budget:
    """The division of a budget: real numbers of queries and of documents per query, whose product is the budget."""

    queries: float
    documents_per_query: float


@checked(documents=TWO_DOCUMENTS)
def budget(documents: float, vc_dimension: int, delta: float, c1: float = 1.0) -> Budget:
    """The division of C documents that minimises the bound of Theorem 1, in closed form (Discussion 3, 0-1 loss).

    ::

        n* = (c1 sqrt(V) + sqrt(2 log(4/delta))) / (c1 sqrt(2 V)) sqrt(C),     m* = C / n*

    With m = C/n the bound is a n^(-1/2) + b n^(1/2) + constant, a = c1 sqrt(V) + sqrt(2 log(4/delta)) and b = c1 sqrt(2
    V / C) (floor(m/2) taken as m/2): it decreases up to n* = a/b and increases afterwards. If n* is outside [1, C/2],
    the nearest end is best, because a query needs two documents.

    Parameters
    ----------
    documents : float >= 2
        C.
    vc_dimension : int >= 1
        V; for linear scores, the number of features.
    delta : float in (0, 1)
        The plan is for a bound that holds with probability 1 - delta.
    c1 : float > 0
        The open constant of D(k) = c1 sqrt(V / k).

    Raises
    ------
    DataError
        When an argument is out of range.

    Example
    -------
    >>> plan = budget(50_000, 46, 0.05)
    >>> round(plan.queries), round(plan.documents_per_query)
    (227, 220)
    >>> budget(1, 46, 0.05)
    Traceback (most recent call last):
    ...
    pipeline_lib.errors.DataError: documents: expected a finite number >= 2, found 1
    """
    falling = c1 * math.sqrt(vc_dimension) + math.sqrt(2.0 * math.log(4.0 / delta))
    queries = falling / (c1 * math.sqrt(2.0 * vc_dimension)) * math.sqrt(documents)
    queries = min(max(queries, 1.0), documents / 2.0)
    return Budget(queries, documents / queries)


@checked(documents=TWO_DOCUMENTS)
def even_bound(queries: float, documents: float, vc_dimension: int, delta: float, c1: float = 1.0) -> Bound:
    """Theorem 1 for D(k) = c1 sqrt(V/k), M = 1, and C documents over n queries evenly: m = C/n, floor(m/2) as m/2.

    Raises
    ------
    DataError
        When an argument is out of range or n is not in [1, C/2].

    Example
    -------
    >>> best = budget(50_000, 46, 0.05)
    >>> around = [even_bound(f * best.queries, 50_000, 46, 0.05).total for f in (0.5, 1.0, 2.0)]
    >>> [round(total, 4) for total in around]
    [1.3846, 1.3062, 1.3846]
    """
    _check_queries(queries, documents)
    deviation = 2.0 * math.log(4.0 / delta)
    return Bound(
        query_complexity=c1 * math.sqrt(vc_dimension / queries),
        query_concentration=math.sqrt(deviation / queries),
        document_complexity=c1 * math.sqrt(2.0 * vc_dimension * queries / documents),
        document_concentration=math.sqrt(deviation / documents),
    )


@checked(documents=TWO_DOCUMENTS)
def budget_by_search(documents: float, vc_dimension: int, delta: float, c1: float = 1.0) -> Budget:
    """The same division by numerical minimisation of :func:`even_bound`; arguments and errors as :func:`budget`.

    Example
    -------
    >>> searched, known = budget_by_search(50_000, 46, 0.05), budget(50_000, 46, 0.05)
    >>> abs(searched.queries / known.queries - 1.0) < 1e-5
    True
    """
    from scipy.optimize import minimize_scalar

    ends = (0.0, math.log(documents / 2.0))

    def queries(log_n: float) -> float:
        return min(max(math.exp(log_n), 1.0), documents / 2.0)

    def total(log_n: float) -> float:
        return even_bound(queries(log_n), documents, vc_dimension, delta, c1).total

    inner = minimize_scalar(total, bounds=ends, method="bounded", options={"xatol": 1e-10}).x
    best = queries(min((*ends, float(inner)), key=total))
    return Budget(best, documents / best)


@checked(documents=TWO_DOCUMENTS)
def allocation_by_search(
    queries: int, documents: float, vc_dimension: int, delta: float, start: ArrayLike, c1: float = 1.0
) -> NDArray[np.float64]:
    """The best documents per query for given n, by numerical minimisation over m_1 + ... + m_n = C; shape (n,).

    Real numbers, floor(m_i/2) as m_i/2. Both terms of the layer of documents are convex in m and do not depend on the
    order of the queries, so that equal m_i are best; the minimisation finds this from an uneven ``start``.

    Parameters
    ----------
    start : array-like, shape (n,)
        Positive shares of the budget with which the minimisation starts.

    Raises
    ------
    DataError
        When an argument is out of range or n is not in [1, C/2].

    Example
    -------
    >>> allocation_by_search(3, 60, 5, 0.05, start=[1.0, 2.0, 4.0]).round(4).tolist()
    [20.0, 20.0, 20.0]
    """
    from scipy.optimize import minimize

    _check_queries(queries, documents)
    shares = np.asarray(start, np.float64)
    if shares.shape != (queries,) or not np.all(np.isfinite(shares) & (shares > 0.0)):
        raise DataError(f"start: expected {queries} positive shares, found {shares}")
    deviation = 2.0 * math.log(4.0 / delta)

    def layer(u: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        # m = C softmax(u) satisfies the budget; d m_j / d u_i = m_j (1[i = j] - m_i / C)
        weights = np.exp(u - u.max())
        m = documents * weights / weights.sum()
        concentration = math.sqrt(deviation * float(np.sum(1.0 / m))) / queries
        value = c1 * math.sqrt(2.0 * vc_dimension) * float(np.mean(m**-0.5)) + concentration
        slope = -0.5 * c1 * math.sqrt(2.0 * vc_dimension) * m**-1.5 / queries
        slope -= 0.5 * deviation / (queries**2 * concentration) / m**2
        return value, m * (slope - float(slope @ m) / documents)

    solution = minimize(layer, np.log(shares), jac=True, method="BFGS", options={"gtol": 1e-12, "maxiter": 1000})
    weights = np.exp(solution.x - solution.x.max())
    best: NDArray[np.float64] = documents * weights / weights.sum()
    return best


@checked(documents=checks.Range(2, 2**53))
def whole_budget(documents: int, vc_dimension: int, delta: float, c1: float = 1.0) -> tuple[NDArray[np.int64], Bound]:
    """The best plan in whole documents: m_1 >= ... >= m_n, and Theorem 1 for it, including the floors.

    For every n, the floor(C/2) pairs of documents are divided as evenly as possible, which is best because D is convex.
    A remaining document goes to the last query.

    Raises
    ------
    DataError
        As :func:`budget`, and when C is not a whole number.

    Example
    -------
    >>> lengths, terms = whole_budget(1001, 10, 0.05)
    >>> len(lengths), int(lengths[0]), int(lengths[-1]), int(lengths.sum())
    (42, 24, 23, 1001)
    """
    pairs, odd = documents // 2, documents % 2
    spread = math.sqrt(2.0 * math.log(4.0 / delta))
    complexity = c1 * math.sqrt(vc_dimension)

    def totals(n: NDArray[np.int64]) -> NDArray[np.float64]:
        small, larger = pairs // n, pairs % n
        inverse = (larger / (2.0 * (small + 1.0)) + (n - larger - odd) / (2.0 * small) + odd / (2.0 * small + odd)) / n
        average = (larger / np.sqrt(small + 1.0) + (n - larger) / np.sqrt(small)) / n
        return np.asarray((complexity + spread) / np.sqrt(n) + complexity * average + spread * np.sqrt(inverse / n))

    # For whole documents the bound is at least that of an even division, which decreases up to n* and increases
    # afterwards: only the n around n* whose even bound is not above that of one whole plan have to be tried.
    near = min(max(round(budget(documents, vc_dimension, delta, c1).queries), 1), pairs)
    reached = float(totals(np.array([near]))[0]) * (1.0 + ROUNDING)

    def furthest(end: int) -> int:
        inside, outside = near, end + (1 if end > near else -1)
        while abs(outside - inside) > 1:
            middle = (inside + outside) // 2
            within = even_bound(middle, documents, vc_dimension, delta, c1).total <= reached
            inside, outside = (middle, outside) if within else (inside, middle)
        return inside

    n = np.arange(furthest(1), furthest(pairs) + 1)
    best = int(n[np.argmin(totals(n))])
    lengths = 2 * np.repeat([pairs // best + 1, pairs // best], [pairs % best, best - pairs % best])
    lengths[-1] += odd
    return lengths, bound(lengths, vc(vc_dimension, c1), 1.0, delta)


def _check_queries(queries: float, documents: float) -> None:
    if not 1.0 <= queries <= documents / 2.0:
        raise DataError(f"queries: expected 1 to {documents / 2:g} (two documents each), found {queries:g}")
