"""What are the values of the bounds of `twolayer`, and how is a labelling budget best divided according to them?

Theorem 1. For a loss in [0, M], n queries with m_1, ..., m_n documents, and D(k) >= E R_k(l o F) for the Rademacher
average R_k of k independent pairs (Definition 2), with probability at least 1 - delta, for all f in F,

    R(f) <= R^(f) + D(n) + sqrt(2 M^2 log(4/delta) / n)                       the layer of queries
                  + (1/n) sum_i D(floor(m_i / 2)) + sqrt(sum_i 2 M^2 log(4/delta) / (m_i n^2)).  of documents

Theorems 2 and 3 state the two layers separately, each with log(2/delta) and with probability 1 - delta.

**For losses that are not negative, D(2n) and D(2 floor(m_i/2)) would do** in place of D(n) and D(floor(m_i/2)). With
k independent pairs and k more from a ghost sample, E sup_f (E l - (1/k) sum_i l_i) is at most (1/k) E F(s), where F(s)
= sup_f sum s_i l_i over the 2k pairs and s has k signs of either kind, in random places. F rises in every sign because
l >= 0. Of free signs, those of the more frequent kind can be made +1 by exchanging f's sum with its negative, and
enough of them be turned to leave s: sup_f |sum sigma_i l_i| >= F(s). So (1/k) E F(s) <= (2/(2k)) E sup_f |sum_{i <= 2k}
sigma_i l_i| <= D(2k).

There are four forms of D(k): :func:`vc` (with a constant that the paper leaves open), :func:`sauer_massart` (the same
with a computable constant), :func:`massart` (for finitely many rankers), and ``two_layer_rademacher.contracted``
(estimated from a sample). :mod:`pipeline_lib.theory.two_layer_rates` has a bound with the true rates in n and m.

**The document layer also shrinks with n.** Theorem 3 bounds the supremum of an average over queries by the average of
suprema. Without this step, sup_f |(1/n) sum_i (average over floor(m_i/2) independent pairs of query i, centred)| is at
most E R_{n; m_1, ..., m_n}(l o F), the average of Definition 3 itself, by the same symmetrisation and the same
permutations, applied to all queries at once. For equal m that is an ordinary Rademacher average of n floor(m/2)
independent pairs: D(n floor(m/2)) instead of D(floor(m/2)). :func:`pooled_document_layer` gives this bound. Therefore
the gap tends to 0 with more queries alone, at any fixed m >= 2; it is only the bound of Theorem 1 that does not
(erratum R).

**All pairs.** Equation (6) is why pairs of one query count as independent ones: with k = floor(m/2),

    (1 / (m (m - 1))) sum over j != l of L_jl = (1/m!) sum over permutations p of (1/k) sum_(j <= k) L_p(j) p(k+j)

for every matrix L, not only in distribution: each ordered pair occurs at each of the k places equally often. The two
sides are :func:`over_pairs` and :func:`over_permutations`.

**The budget.** :func:`budget` has the paper's closed form (Discussion 3). The plan in whole documents is that of the
bound with the true rates, :func:`pipeline_lib.theory.two_layer_rates.budget`.
"""

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pipeline_lib.core import checks
from pipeline_lib.core.checks import AtLeast2, Count, Factor, NonNegative, Positive, Probability, Several, checked
from pipeline_lib.core.errors import DataError

Complexity = Callable[[int], float]
"""k -> D(k), for k >= 1 independent pairs."""

LONGEST = 9
"""The longest list whose permutations are enumerated."""


@dataclass(frozen=True)
class Layer:
    """The contribution of one layer: the complexity of the class and the concentration term."""

    complexity: float
    concentration: float

    @property
    def total(self) -> float:
        """Their sum."""
        return self.complexity + self.concentration


@dataclass(frozen=True)
class Bound:
    """The four terms of Theorem 1."""

    query_complexity: float
    query_concentration: float
    document_complexity: float
    document_concentration: float

    @property
    def total(self) -> float:
        """What the theorem adds to the empirical risk."""
        return self.query_complexity + self.query_concentration + self.document_complexity + self.document_concentration


@checked
def vc(vc_dimension: Count, c1: Factor = 1.0) -> Complexity:
    """D(k) = c1 sqrt(V / k), the paper's form for the pairwise 0-1 loss (remark after Theorem 1).

    The paper does not give c1. For a surrogate phi it has c2 B phi'(B) in its place, for scores in [-B, B]; that form
    lacks the contribution of phi(0), which remains however small the class is (erratum S).

    Raises
    ------
    DataError
        When V or k is not a whole number of at least 1, or c1 is not a finite number above 0.

    Example
    -------
    >>> vc(46)(46), vc(4, c1=2.0)(16)
    (1.0, 1.0)
    """

    def complexity(k: int) -> float:
        checks.whole("k", k, checks.COUNT)
        return c1 * math.sqrt(vc_dimension / k)

    return complexity


@checked
def sauer_massart(vc_dimension: Count) -> Complexity:
    """D(k) = 2 sqrt(2 log(2 S(k)) / k), at most 2, for the 0-1 loss, without open constants.

    S(k) = sum over i <= V of (k over i), Sauer's bound on the number of the 2^k loss vectors of k pairs that the class
    attains. Massart's lemma for these vectors and their negatives, each of length at most sqrt(k), gives the value. For
    linear scores in d dimensions V = d: pairs are misordered by half-spaces through the origin.

    Raises
    ------
    DataError
        When V or k is not a whole number of at least 1.

    Example
    -------
    >>> round(sauer_massart(10)(1000), 4), sauer_massart(10)(5)
    (0.6611, 2.0)
    """

    def complexity(k: int) -> float:
        checks.whole("k", k, checks.COUNT)
        return min(2.0, 2.0 * math.sqrt(2.0 * (math.log(2.0) + _log_binomial_sum(k, vc_dimension)) / k))

    return complexity


@checked
def massart(log_rankers: NonNegative) -> Complexity:
    """D(k) = 2 sqrt(2 log(2 N) / k), at most 2, for N rankers with a loss in [0, 1], by Massart's lemma.

    Parameters
    ----------
    log_rankers : float >= 0
        log N.

    Raises
    ------
    DataError
        When log N is negative or not finite, or k is not a whole number of at least 1.

    Example
    -------
    >>> round(massart(math.log(8))(1000), 4), massart(math.log(8))(1)
    (0.1489, 2.0)
    """

    def complexity(k: int) -> float:
        checks.whole("k", k, checks.COUNT)
        return min(2.0, 2.0 * math.sqrt(2.0 * (math.log(2.0) + log_rankers) / k))

    return complexity


@checked
def bound(
    documents_per_query: ArrayLike,
    complexity: Complexity,
    loss_bound: Positive,
    delta: Probability,
    document_complexity: Complexity | None = None,
) -> Bound:
    """The four terms of Theorem 1.

    Parameters
    ----------
    documents_per_query : array-like, shape (n,)
        m_i, whole numbers of at least 2.
    complexity : callable
        k -> D(k).
    loss_bound : float > 0
        M; losses lie in [0, M].
    delta : float in (0, 1)
        The bound fails with at most this probability.
    document_complexity : callable, optional
        Another D for the pairs of one query, when it is known by layer.

    Raises
    ------
    DataError
        When a query has fewer than two documents, an argument is out of range, or D(k) is not a number >= 0.

    Example
    -------
    >>> terms = bound([10] * 100, vc(4), loss_bound=1.0, delta=0.05)
    >>> round(terms.query_complexity, 3), round(terms.document_complexity, 3), round(terms.total, 3)
    (0.2, 0.894, 1.484)
    >>> bound([10, 1], vc(4), 1.0, 0.05)
    Traceback (most recent call last):
    ...
    pipeline_lib.core.errors.DataError: documents_per_query[1]: expected a whole number >= 2, found 1
    """
    m = _lengths(documents_per_query)
    deviation = 2.0 * loss_bound**2 * math.log(4.0 / delta)
    return Bound(
        query_complexity=_evaluated(complexity, len(m)),
        query_concentration=math.sqrt(deviation / len(m)),
        document_complexity=_average(document_complexity or complexity, m),
        document_concentration=_document_concentration(deviation, m),
    )


@checked
def query_layer(n_queries: Count, complexity: Complexity, loss_bound: Positive, delta: Probability) -> Layer:
    """Theorem 2: D(n) and sqrt(2 M^2 log(2/delta) / n), which bound the query-layer error with probability 1 - delta.

    McDiarmid's inequality gives half of the second term: replacing one query changes the mean of n losses in [0, M] by
    at most M/n and not by 2M/n (erratum AA).

    The bounds that treat a query's documents as one deterministic object (section 2.3) also have this form: they do not
    change with the number of documents.

    Raises
    ------
    DataError
        When n is not a whole number of at least 1, or another argument is out of range.

    Example
    -------
    >>> round(query_layer(400, vc(4), 1.0, 0.05).total, 3)
    0.236
    """
    return Layer(_evaluated(complexity, n_queries), math.sqrt(2.0 * loss_bound**2 * math.log(2.0 / delta) / n_queries))


@checked
def document_layer(
    documents_per_query: ArrayLike, complexity: Complexity, loss_bound: Positive, delta: Probability
) -> Layer:
    """Theorem 3: (1/n) sum_i D(floor(m_i/2)) and sqrt(sum_i 2 M^2 log(2/delta) / (m_i n^2)).

    They bound the document-layer error with probability 1 - delta. With n = 1 this is the form of bounds for
    independent documents (section 2.2): ``document_layer([N], ...)`` for N documents of all queries together.

    Raises
    ------
    DataError
        As :func:`bound`.

    Example
    -------
    >>> round(document_layer([32] * 50, vc(4), 1.0, 0.05).complexity, 3)
    0.5
    """
    m = _lengths(documents_per_query)
    deviation = 2.0 * loss_bound**2 * math.log(2.0 / delta)
    return Layer(_average(complexity, m), _document_concentration(deviation, m))


@checked
def pooled_document_layer(
    n_queries: Count, documents: Several, complexity: Complexity, loss_bound: Positive, delta: Probability
) -> Layer:
    """Theorem 3 with Definition 3's own average, for n queries of m documents each: D(n floor(m/2)), not D(floor(m/2)).

    The module's docstring has the argument. Unlike Theorem 3 it tends to 0 as n grows alone.

    Raises
    ------
    DataError
        As :func:`bound`.

    Example
    -------
    >>> alone, pooled = document_layer([32] * 50, vc(4), 1.0, 0.05), pooled_document_layer(50, 32, vc(4), 1.0, 0.05)
    >>> round(alone.complexity / pooled.complexity, 6)
    7.071068
    """
    m = _lengths(np.full(n_queries, documents))
    deviation = 2.0 * loss_bound**2 * math.log(2.0 / delta)
    return Layer(_evaluated(complexity, n_queries * (documents // 2)), _document_concentration(deviation, m))


@dataclass(frozen=True)
class Budget:
    """The division of a budget: real numbers of queries and of documents per query, whose product is the budget."""

    queries: float
    documents_per_query: float


@checked
def budget(documents: AtLeast2, vc_dimension: Count, delta: Probability, c1: Factor = 1.0) -> Budget:
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
    pipeline_lib.core.errors.DataError: documents: expected a finite number >= 2, found 1
    """
    falling = c1 * math.sqrt(vc_dimension) + math.sqrt(2.0 * math.log(4.0 / delta))
    queries = falling / (c1 * math.sqrt(2.0 * vc_dimension)) * math.sqrt(documents)
    queries = min(max(queries, 1.0), documents / 2.0)
    return Budget(queries, documents / queries)


@checked
def even_bound(queries: float, documents: AtLeast2, vc_dimension: Count, delta: Probability, c1: Factor = 1.0) -> Bound:
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
    if not 1.0 <= queries <= documents / 2.0:
        raise DataError(f"queries: expected 1 to {documents / 2:g} (two documents each), found {queries:g}")
    deviation = 2.0 * math.log(4.0 / delta)
    return Bound(
        query_complexity=c1 * math.sqrt(vc_dimension / queries),
        query_concentration=math.sqrt(deviation / queries),
        document_complexity=c1 * math.sqrt(2.0 * vc_dimension * queries / documents),
        document_concentration=math.sqrt(deviation / documents),
    )


@checked
def over_pairs(losses: ArrayLike) -> float:
    """The left side of (6): the mean of the entries off the diagonal of a matrix (m, m).

    Example
    -------
    >>> over_pairs([[9.0, 1.0], [2.0, 9.0]])
    1.5
    """
    matrix = _matrix(losses)
    m = len(matrix)
    return float((matrix.sum() - np.trace(matrix)) / (m * (m - 1)))


@checked
def over_permutations(losses: ArrayLike) -> float:
    """The right side of (6), by enumeration of all m! permutations.

    Raises
    ------
    DataError
        When the matrix is not square with 2 <= m <= 9, or not finite.

    Example
    -------
    >>> over_permutations([[9.0, 1.0], [2.0, 9.0]])
    1.5
    """
    matrix = _matrix(losses)
    k = len(matrix) // 2
    total = 0.0
    for order in itertools.permutations(range(len(matrix))):
        total += float(matrix[list(order[:k]), list(order[k : 2 * k])].mean())
    return total / math.factorial(len(matrix))


def _matrix(losses: ArrayLike) -> NDArray[np.float64]:
    matrix = checks.floats("losses", losses, ndim=2)
    if matrix.shape[0] != matrix.shape[1] or not 2 <= len(matrix) <= LONGEST:
        raise DataError(f"losses: expected a square matrix of 2 to {LONGEST} documents, found shape {matrix.shape}")
    return matrix


def _log_binomial_sum(k: int, largest: int) -> float:
    """The logarithm of the sum of (k over i) over i <= largest."""
    if largest >= k:
        return k * math.log(2.0)
    logs = [math.lgamma(k + 1) - math.lgamma(i + 1) - math.lgamma(k - i + 1) for i in range(largest + 1)]
    top = max(logs)
    return top + math.log(math.fsum(math.exp(one - top) for one in logs))


def _average(complexity: Complexity, m: NDArray[np.int64]) -> float:
    pairs, counts = np.unique(m // 2, return_counts=True)
    return float(sum(c * _evaluated(complexity, int(k)) for k, c in zip(pairs, counts, strict=True)) / len(m))


def _document_concentration(deviation: float, m: NDArray[np.int64]) -> float:
    return math.sqrt(deviation * float(np.sum(1.0 / m))) / len(m)


def _evaluated(complexity: Complexity, k: int) -> float:
    return float(checks.real(f"complexity (at k = {k})", complexity(k), checks.AT_LEAST_0))


def _lengths(documents_per_query: ArrayLike) -> NDArray[np.int64]:
    m = checks.whole_numbers("documents_per_query", documents_per_query, 2, checks.MOST)
    if not len(m):
        raise DataError("documents_per_query: expected at least one query, found none")
    return m
