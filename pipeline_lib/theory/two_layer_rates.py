"""How fast does the gap of `twolayer` fall with queries and documents, and which division of a budget follows?

Let l(z, z'; f) in [0, M] be the loss of a pair of documents, symmetric in both. Over queries q and their documents,

    v = Var E[l | q],      s1 = E Var(E[l | q, z] | q),      s2 = E Var(l | q),      s2 >= 2 s1,

and the average loss over all pairs of a list with m documents has the variance (Hoeffding 1948)

    sigma^2(m) = v + 4 s1 / m + 2 (s2 - 2 s1) / (m (m - 1)).

**The bound.** For N rankers and n queries with m_1, ..., m_n >= 2 documents, with probability at least 1 - delta,
for all of these rankers at once,

    R(f) <= R^(f) + sqrt(2 S log(N/delta) / n) + M log(N/delta) / (3 n),      S = max_f (1/n) sum_i sigma_f^2(m_i).

Where N differs between rankers of different variances, each pays for its own: if K kinds of rankers are known
beforehand, N_k of them with the variance sigma_k^2, the same holds with S_k and log(K N_k/delta) for all of kind k.

It is Bernstein's inequality for the n independent averages of the queries, and a union over the rankers. In n it falls
as n^(-1/2) at every m, and in m it levels off at the deviation of infinitely long lists, with sigma^2(m) - v falling as
1/m. The gap of a single ranker has these rates as well, by the central limit theorem. The bound of Theorem 1 has
neither (erratum R); docs/the-two-layer-gap.md has the proofs.

**The budget.** For C = n m documents the first term is smallest where (v m + 4 s1 + 2 (s2 - 2 s1) / (m - 1)) / C is,

    m* = 1 + sqrt(2 (s2 - 2 s1) / v),

which for one kind of rankers depends neither on the budget nor on the capacity and the confidence; among several kinds,
these decide which variances count. :mod:`pipeline_lib.theory.judging_depth` has the same formula for the gradients of
trained rankers.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pipeline_lib.core import checks
from pipeline_lib.core.arrays import Floats
from pipeline_lib.core.checks import Count, NonNegative, Positive, Probability, Total, checked
from pipeline_lib.core.errors import DataError

# Budgets with more numbers of queries than these are searched on a grid first, and then around its best point.
MOST_TRIED = 1_000_000
AROUND = 1_000
# A plan with more queries than these would fill the memory as a list of its lengths.
MOST_LISTED = 10_000_000


@checked
@dataclass(frozen=True)
class Variances:
    """What queries, documents and pairs contribute to the variance of the loss of one ranker.

    Attributes
    ----------
    queries : float >= 0
        v, the variance of the mean loss of a query.
    documents : float >= 0
        s1, the variance of the share of a document, within a query.
    pairs : float >= 0
        s2, the variance of the loss of a pair, within a query; at least 2 s1.

    Raises
    ------
    DataError
        When a variance is negative or not finite, or s2 is less than 2 s1.

    Example
    -------
    >>> Variances(0.01, 0.02, 0.06).of_average(np.array([2, 4])).round(6).tolist()
    [0.07, 0.033333]
    >>> Variances(0.0, 0.2, 0.3)
    Traceback (most recent call last):
    ...
    pipeline_lib.core.errors.DataError: pairs: expected at least twice the variance of documents, 0.4, found 0.3
    """

    queries: NonNegative
    documents: NonNegative
    pairs: NonNegative

    def __post_init__(self) -> None:
        if self.pairs < 2.0 * self.documents * (1.0 - 1e-12):
            expected = f"expected at least twice the variance of documents, {2.0 * self.documents:g}"
            raise DataError(f"pairs: {expected}, found {self.pairs:g}")

    @property
    def rest(self) -> float:
        """s2 - 2 s1: what pairs add to the shares of their documents."""
        return max(0.0, self.pairs - 2.0 * self.documents)

    def of_average(self, m: ArrayLike) -> Floats:
        """sigma^2(m), the variance of the average over all pairs of a list with m documents.

        Parameters
        ----------
        m : number >= 2, or array-like of such numbers

        Raises
        ------
        DataError
            When a number is less than 2 or not finite.

        Example
        -------
        >>> Variances(0.0, 0.0, 1.0).of_average(2)
        array(1.)
        """
        lengths = checks.floats("m", m)
        if np.any(lengths < 2.0):
            raise DataError(f"m: expected numbers of documents of at least 2, found {lengths.min():g}")
        return np.asarray(self.queries + 4.0 * self.documents / lengths + 2.0 * self.rest / (lengths * (lengths - 1.0)))


@dataclass(frozen=True)
class Rates:
    """The two terms of the bound."""

    deviation: float
    remainder: float

    @property
    def total(self) -> float:
        """What the bound adds to the empirical risk."""
        return self.deviation + self.remainder


@checked
def worst_case(loss_bound: Positive = 1.0) -> Variances:
    """The largest variances of a loss in [0, M]: v = M^2/4, the same loss for all pairs of a query.

    They give a bound that holds whatever the distribution is, and does not change with the documents.

    Example
    -------
    >>> worst_case()
    Variances(queries=0.25, documents=0.0, pairs=0.0)
    """
    return Variances(loss_bound**2 / 4.0, 0.0, 0.0)


@checked
def bound(
    documents_per_query: ArrayLike,
    variances: Sequence[Variances],
    log_rankers: ArrayLike,
    delta: Probability,
    loss_bound: Positive = 1.0,
) -> Rates:
    """The bound with both rates: sqrt(2 S log(N/delta)/n) and M log(N/delta)/(3 n), or the largest of those by kind.

    Parameters
    ----------
    documents_per_query : array-like, shape (n,)
        m_i, whole numbers of at least 2.
    variances : sequence of Variances
        Those of all rankers, or those that bound sigma^2 of any of them.
    log_rankers : float >= 0, or array-like of as many as there are variances
        log N, the natural logarithm of the number of all rankers; or log N_k, that of the rankers with each of the
        ``variances``.
    delta : float in (0, 1)
        The bound fails with at most this probability.
    loss_bound : float > 0
        M; losses lie in [0, M].

    Raises
    ------
    DataError
        When a query has fewer than two documents, there are no variances, or an argument is out of range.

    Example
    -------
    >>> few, many = (bound([m] * 400, [Variances(0.01, 0.02, 0.1)], 3.0, 0.05).total for m in (2, 200))
    >>> round(few, 4), round(many, 4)
    (0.0624, 0.0227)

    A single ranker whose losses depend on the query alone, beside many whose losses depend on the documents:

    >>> kinds = [Variances(0.25, 0.0, 0.0), Variances(0.0, 0.03, 0.25)]
    >>> round(bound([8] * 60, kinds, 7.0, 0.05).total, 4), round(bound([8] * 60, kinds, [0.0, 7.0], 0.05).total, 4)
    (0.3441, 0.1958)
    """
    m = checks.whole_numbers("documents_per_query", documents_per_query, 2, checks.MOST)
    if not len(m) or not variances:
        raise DataError("documents_per_query, variances: expected at least one of each, found none")
    lengths, counts = np.unique(m, return_counts=True)
    means = np.array([[counts @ one.of_average(lengths) / len(m)] for one in variances])
    return Rates(*(float(term[0]) for term in _terms(np.array([len(m)]), means, log_rankers, delta, loss_bound)))


@checked
def best_depth(variances: Variances) -> float:
    """m* = 1 + sqrt(2 (s2 - 2 s1) / v), at least 2: the best number of documents per query of a large budget.

    Infinite when queries do not differ but pairs do; 2 when no pair adds anything to its documents.

    Example
    -------
    >>> best_depth(Variances(0.01, 0.02, 0.2)), best_depth(Variances(0.25, 0.0, 0.0)), best_depth(Variances(0, 0, 1))
    (6.656854249492381, 2.0, inf)
    """
    if variances.rest == 0.0:
        return 2.0
    return max(2.0, 1.0 + math.sqrt(2.0 * variances.rest / variances.queries)) if variances.queries else math.inf


@checked
def budget(
    documents: Total,
    variances: Sequence[Variances],
    log_rankers: ArrayLike,
    delta: Probability,
    loss_bound: Positive = 1.0,
) -> tuple[NDArray[np.int64], Rates]:
    """The best plan for C documents by :func:`bound`, in whole documents: m_1 >= ... >= m_n, and the bound for it.

    For given n, lists as even as possible are best, because sigma^2 is convex in m. All n up to a million are tried;
    larger budgets are searched on a grid of as many n, and then around the best of them.

    Raises
    ------
    DataError
        As :func:`bound`, when C is not a whole number of at least 2, and when the best plan has so many queries that
        it cannot be listed.

    Example
    -------
    >>> lengths, terms = budget(100_000, [Variances(0.01, 0.02, 0.2)], 3.0, 0.05)
    >>> len(lengths), int(lengths[0]), int(lengths[-1]), round(terms.total, 4)
    (16666, 7, 6, 0.0051)
    """
    if not variances:
        raise DataError("variances: expected those of at least one ranker, found none")

    def totals(n: NDArray[np.int64]) -> Floats:
        return np.asarray(sum(_terms(n, _means(n, documents, variances), log_rankers, delta, loss_bound)))

    most = documents // 2
    n = np.arange(1, most + 1) if most <= MOST_TRIED else np.unique(np.geomspace(1, most, MOST_TRIED).astype(np.int64))
    best = int(n[np.argmin(totals(n))])
    near = np.arange(max(1, best - AROUND), min(most, best + AROUND) + 1)
    best = int(near[np.argmin(totals(near))])
    if best > MOST_LISTED:
        raise DataError(
            f"documents: expected a budget whose best plan has at most {MOST_LISTED:,} queries, found {best:,} for "
            f"{documents:,} documents; of_even_lists gives the bound of a plan without listing it"
        )
    lengths = np.repeat([documents // best + 1, documents // best], [documents % best, best - documents % best])
    return lengths, bound(lengths, variances, log_rankers, delta, loss_bound)


@checked
def of_even_lists(
    queries: Count,
    documents: Total,
    variances: Sequence[Variances],
    log_rankers: ArrayLike,
    delta: Probability,
    loss_bound: Positive = 1.0,
) -> Rates:
    """:func:`bound` for C documents over n queries as evenly as possible, without listing the lengths.

    Raises
    ------
    DataError
        As :func:`bound`, and when there are fewer than two documents per query.

    Example
    -------
    >>> known = [Variances(0.01, 0.02, 0.1)], 3.0, 0.05
    >>> of_even_lists(2, 5, *known) == bound([3, 2], *known)
    True
    """
    if documents < 2 * queries or not variances:
        raise DataError(f"queries: expected 1 to {documents // 2} (two documents each), found {queries}")
    n = np.array([queries])
    terms = _terms(n, _means(n, documents, variances), log_rankers, delta, loss_bound)
    return Rates(*(float(term[0]) for term in terms))


def _means(n: NDArray[np.int64], documents: int, variances: Sequence[Variances]) -> Floats:
    """(1/n) sum_i sigma_k^2(m_i) for as many documents over n queries as evenly as possible, shape (K, len(n))."""
    small, larger = documents // n, documents % n
    return np.array(
        [((n - larger) * one.of_average(small) + larger * one.of_average(small + 1)) / n for one in variances]
    )


def _terms(
    n: NDArray[np.int64], means: Floats, log_rankers: ArrayLike, delta: float, loss_bound: float
) -> tuple[Floats, Floats]:
    """Both terms for the kind of rankers with the largest sum, for every n."""
    logs = checks.floats("log_rankers", log_rankers)
    if np.any(logs < 0.0) or logs.shape not in ((), (len(means),)):
        expected = f"expected a number of at least 0, or one for each of {len(means)} variances"
        raise DataError(f"log_rankers: {expected}, found {logs}")
    exponents = logs + (math.log(len(means)) if logs.ndim else 0.0) - math.log(delta)
    exponents = np.broadcast_to(exponents, len(means))[:, None]
    deviation, remainder = np.sqrt(2.0 * means * exponents / n), loss_bound * exponents / (3.0 * n)
    largest = np.argmax(deviation + remainder, axis=0)[None]
    return np.take_along_axis(deviation, largest, axis=0)[0], np.take_along_axis(remainder, largest, axis=0)[0]
