"""On which distributions do the gaps come close to the bounds of Theorems 1, 2 and 3, and how close exactly?

Four pairs of a distribution and a class, with the 0-1 loss (M = 1), whose worst errors and Rademacher averages have
closed forms for any number of queries and documents. sigma are random signs, S_k = sigma_1 + ... + sigma_k, and b_j are
independent coins that show 1 with the probability stated.

- *coins of queries*: one ranker. It orders all pairs of a query wrongly with probability 1/2, and none otherwise. The
  gap is 1/2 - K/n with K binomial, and all of it belongs to the layer of queries.
- *coins of documents*: one ranker. A document is difficult with probability 3/4. Difficult documents have different
  labels from (0, 1) and minus the label as their score, all others the label and score 2: two difficult documents are
  in the wrong order, and no other pair is. K difficult documents among m make K (K - 1) of the m (m - 1) pairs wrong,
  and the expected share is 9/16: the gap belongs to the layer of documents.
- *memory of queries*: a share rho of the queries is open. For every finite set A of queries there is a ranker that
  orders the pairs of open queries wrongly, except for those in A. The worst ranker knows all queries of the sample: its
  training and middle risks are 0, its expected risk is rho, whatever the sample.
- *memory of documents*: a document is open with probability sqrt(rho), and labels and scores are as those of difficult
  documents, except that a ranker gives those that it knows the label as their score. For every finite set of documents
  there is a ranker that knows them: their pairs are in the right order, and those of other open documents are not. The
  worst ranker knows the sample: its training risk is 0, its middle and expected risks are rho.

The averages of k independent pairs are then, by a coin for every pair, (2/k) E |sum sigma_j b_j| for one ranker; and,
since the best of the rankers with a memory adds all open pairs of the more frequent sign, (2/k) E max(K+, K-) =
(E K + E |S_K|) / k, where K of the k pairs are open.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial

import numpy as np
from numpy.typing import NDArray
from scipy import special

from pipeline_lib.core.arrays import Floats
from pipeline_lib.core.errors import DataError
from pipeline_lib.theory import two_layer

Whole = NDArray[np.int64]

DIFFICULT = 0.75
# Beyond so many standard deviations a binomial distribution has no mass that a float would notice in a mean.
REACH = 12.0
# Quantiles are located to this precision.
PRECISION = 1e-12


@dataclass(frozen=True)
class Lists:
    """The lists of a sample: so many queries with so many documents each, ((queries, documents), ...)."""

    groups: tuple[tuple[int, int], ...]

    @property
    def queries(self) -> int:
        """n."""
        return sum(count for count, _ in self.groups)

    @property
    def lengths(self) -> Whole:
        """m_1, ..., m_n."""
        counts, documents = zip(*self.groups, strict=True)
        return np.repeat(np.array(documents, np.int64), counts)

    @property
    def documents(self) -> int:
        """All documents together."""
        return sum(count * documents for count, documents in self.groups)


Failure = Callable[[Lists, float], float]
"""The probability that the worst error on a sample with these lists exceeds a number."""


@dataclass(frozen=True)
class Extreme:
    """A distribution with its class: how likely errors exceed a number, and D(k) in either layer."""

    name: str
    query_error: Failure
    document_error: Failure
    gap: Failure
    queries: two_layer.Complexity
    documents: two_layer.Complexity


def extremes(share: float) -> tuple[Extreme, ...]:
    """The four distributions; ``share`` is rho, of those with a memory."""
    pair = DIFFICULT**2

    def coins_of_queries(lists: Lists, error: float) -> float:
        return _below(lists.queries, 0.5, 0.5 - error)

    def coins_of_documents(lists: Lists, error: float) -> float:
        return _difficult(lists, pair - error)

    def memory(lists: Lists, error: float) -> float:
        return float(share > error)

    def none(lists: Lists, error: float) -> float:
        return 0.0

    of_all, of_pairs = partial(one_ranker, p=1.0), partial(one_ranker, p=pair)
    remembered = partial(with_memory, p=share)
    return (
        Extreme("coins of queries", coins_of_queries, none, coins_of_queries, partial(one_ranker, p=0.5), of_all),
        Extreme("coins of documents", none, coins_of_documents, coins_of_documents, of_pairs, of_pairs),
        Extreme("memory of queries", memory, none, memory, remembered, of_all),
        Extreme("memory of documents", none, memory, memory, remembered, remembered),
    )


def quantile(failure: Failure, lists: Lists, delta: float) -> float:
    """The least error that the worst one exceeds with probability at most delta, to 1e-12.

    Example
    -------
    >>> coins = extremes(0.2)[0]
    >>> round(quantile(coins.query_error, Lists(((4, 2),)), 0.07), 9)       # P(K = 0) = 1/16
    0.25
    """
    low, high = 0.0, 1.0
    if failure(lists, low) <= delta:
        return 0.0
    while high - low > PRECISION:
        middle = (low + high) / 2.0
        low, high = (low, middle) if failure(lists, middle) <= delta else (middle, high)
    return high


def one_ranker(k: int, p: float) -> float:
    """(2/k) E |sum of sigma_j b_j| over k coins that show 1 with probability p.

    Example
    -------
    >>> one_ranker(1, 0.5), one_ranker(2, 1.0)
    (1.0, 1.0)
    """
    return 2.0 / k * _signed_count(k, p)


def with_memory(k: int, p: float) -> float:
    """(E K + E |S_K|) / k for K of k pairs open, each with probability p.

    Example
    -------
    >>> with_memory(1, 0.25)
    0.5
    """
    return p + _signed_count(k, p) / k


def _signed_count(k: int, p: float) -> float:
    """E |S_K|, K binomial."""
    deviation = math.sqrt(k * p * (1.0 - p))
    counts = np.arange(max(0, math.floor(k * p - REACH * deviation)), min(k, math.ceil(k * p + REACH * deviation)) + 1)
    weights = np.exp(_log_binomial(k, counts, p))
    return float(weights @ _walk(counts) / weights.sum())


def _walk(k: Whole) -> Floats:
    # E |S_k| = 2 h C(2h, h) / 4^h for k = 2h, and the same as for k + 1 for odd k
    h = (k + 1) // 2
    return np.asarray(
        2.0 * h * np.exp(special.gammaln(2 * h + 1) - 2.0 * special.gammaln(h + 1) - 2.0 * h * math.log(2.0))
    )


def _log_binomial(n: int, k: Whole, p: float) -> Floats:
    choices = special.gammaln(n + 1) - special.gammaln(k + 1) - special.gammaln(n - k + 1)
    return np.asarray(choices + special.xlogy(k, p) + special.xlog1py(n - k, -p))


def _below(n: int, p: float, share: float) -> float:
    """P(K / n < share) for K binomial, also where it is tiny."""
    # Products such as .3 * 10 are above or below whole numbers by rounding alone.
    k = math.ceil(share * n - 1e-9) - 1
    return 0.0 if k < 0 else float(special.bdtr(min(k, n), n, p))


def _difficult(lists: Lists, share: float) -> float:
    """P(mean over queries of K (K - 1) / (m (m - 1)) < share), K binomial: the coins of documents."""
    if {m for _, m in lists.groups} == {2}:
        return _below(lists.queries, DIFFICULT**2, share)
    *several, (queries, m) = lists.groups
    if queries == 1 and not several:
        # K (K - 1) < share m (m - 1) up to the larger root of the quadratic equation
        root = 0.5 + math.sqrt(0.25 + max(0.0, share) * m * (m - 1.0))
        return _below(m, DIFFICULT, root / m) if share > 0.0 else 0.0
    if queries == len(several) == 1:
        count, short = several[0]
        return _with_one_long(short, count, m, share * lists.queries)
    raise DataError(f"lists: expected two documents each, one query, or one long list, found {lists.groups}")


def _with_one_long(m: int, queries: int, long: int, total: float) -> float:
    """P(the shares of wrong pairs of some queries with m documents and of a long one add up to less than ``total``)."""
    up_to = _cumulated(m, queries)
    of_long = np.arange(long + 1)
    rest = total - of_long * (of_long - 1.0) / (long * (long - 1.0))
    below = np.clip(np.ceil(rest * (m * (m - 1)) - 1e-9), 0, len(up_to) - 1).astype(np.int64)
    return float(np.exp(_log_binomial(long, of_long, DIFFICULT)) @ up_to[below])


@cache
def _cumulated(m: int, queries: int) -> Floats:
    """P(sum of K (K - 1) over the queries < t) for t = 0, 1, ..."""
    counts = np.arange(m + 1)
    wrong = np.bincount(counts * (counts - 1), np.exp(_log_binomial(m, counts, DIFFICULT)))
    together = np.ones(1)
    for _ in range(queries):
        together = np.convolve(together, wrong)
    return np.concatenate([[0.0], np.cumsum(together)])
