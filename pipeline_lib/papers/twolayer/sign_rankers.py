"""What is the worst gap of a class that is so simple that it is known on every sample?

The class has the 2^d rankers <w, x> with weights -1 and 1 on d features, and capacity d. A query concerns one feature,
all of them with the same probability. Its documents have that feature with probability 1/2 each, and no other: x_j is 0
or 1. In most queries documents with the feature are relevant, and in a share of them (the *turned* ones) those without
it; some labels are wrong. The gap of w is a sum over features, and the worst ranker has the worse sign for each.

**Variances.** In a query whose documents the ranker should not put into its order, a pair is wrong if both of its
labels are true: each of the two documents is one of two kinds of probability r = (1 - noise)/2. In the other queries
both labels have to be false, and r = noise/2. Given the query, therefore, the loss has the mean 2 r^2, the share of a
document has the variance 2 r^3 - 4 r^4, and that of a pair is 2 r^2 - 4 r^4.
"""

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import multinomial

from pipeline_lib.core.arrays import Floats
from pipeline_lib.theory.two_layer_rates import Variances


@dataclass(frozen=True)
class Signs:
    """The class and the distribution: d, the share of turned queries, and the share of wrong labels."""

    capacity: int
    turned_share: float
    noise: float

    @property
    def expected(self) -> Floats:
        """The expected risk of every feature's weights 1 and -1; they add up over the features."""
        # A pair counts if features and labels differ: half of all pairs, and of these both labels true, or both false.
        share, true, false = self.turned_share, (1.0 - self.noise) ** 2 / 2.0, self.noise**2 / 2.0
        both = (1.0 - share) * false + share * true, (1.0 - share) * true + share * false
        return np.array(both) / self.capacity

    def variances(self) -> list[Variances]:
        """Those of a ranker with k weights of -1, for k = 0, ..., d.

        Example
        -------
        >>> [round(one.queries, 4) for one in Signs(2, 0.25, 0.0).variances()]
        [0.0469, 0.0625, 0.0469]
        """
        often, rarely = (1.0 - self.noise) / 2.0, self.noise / 2.0
        found = []
        for k in range(self.capacity + 1):
            negative = k / self.capacity
            # The share of the queries in which this ranker should have the opposite weight.
            p = (1.0 - negative) * self.turned_share + negative * (1.0 - self.turned_share)
            documents, pairs = (
                sum(share * (2.0 * r**power - 4.0 * r**4) for share, r in ((p, often), (1.0 - p, rarely)))
                for power in (3, 2)
            )
            found.append(Variances(p * (1.0 - p) * (2.0 * often**2 - 2.0 * rarely**2) ** 2, documents, pairs))
        return found

    def worst_gaps(self, lengths: NDArray[np.int64], repetitions: int, rng: np.random.Generator) -> Floats:
        """The worst gap of the class on every one of so many samples of lists with so many documents."""
        groups = [self._group(int(m), int(n)) for m, n in zip(*np.unique(lengths, return_counts=True), strict=True)]
        samples = [np.sum([drawn(rng) for drawn in groups], axis=0) for _ in range(repetitions)]
        return np.asarray((self.expected - np.array(samples) / len(lengths)).max(axis=2).sum(axis=1))

    def _group(self, m: int, n: int) -> Callable[[np.random.Generator], Floats]:
        # Draws n queries of m documents: for every feature, the sums over its queries of the shares of wrong pairs of
        # the weights 1 and -1. Queries with one feature that are turned, or are not, are counted and not listed, and so
        # are their lists where there are fewer possible lists than queries.
        straight = np.array([1.0 - self.noise, self.noise, self.noise, 1.0 - self.noise]) / 2.0
        directions = [straight, straight[[1, 0, 3, 2]]]
        documents = np.repeat(directions, self.capacity, axis=0)
        kinds = np.repeat([1.0 - self.turned_share, self.turned_share], self.capacity) / self.capacity
        if counted := are_counted(n, m):
            lists = _possible_lists(m)
            shares, of_lists = _wrong_shares(lists), [multinomial.pmf(lists, m, one) for one in directions]
            chances = np.repeat(of_lists, self.capacity, axis=0)

        def drawn(rng: np.random.Generator) -> Floats:
            queries = rng.multinomial(n, kinds)
            if counted:
                sums = rng.multinomial(queries, chances) @ shares
            else:
                each = _wrong_shares(rng.multinomial(m, np.repeat(documents, queries, axis=0)))
                kind = np.repeat(np.arange(len(kinds)), queries)
                sums = np.column_stack([np.bincount(kind, column, len(kinds)) for column in each.T])
            return np.asarray(sums.reshape(2, self.capacity, 2).sum(axis=0))

        return drawn


def are_counted(queries: int, documents: int) -> bool:
    """Whether there are fewer possible lists than queries, so that the queries with each of them are counted."""
    return math.comb(documents + 3, 3) < queries


def _possible_lists(m: int) -> NDArray[np.int64]:
    # Numbers of documents with and without the feature, relevant or not, (1, 1), (1, 0), (0, 1), (0, 0), that add up
    # to m: what is between three bars among m + 3 places.
    bars = np.array(list(itertools.combinations(range(m + 3), 3)))
    return np.diff(bars, axis=1, prepend=-1, append=m + 3) - 1


def _wrong_shares(counts: NDArray[np.int64]) -> Floats:
    # The share of a list's pairs that the weights 1 and -1 order wrongly.
    m = counts.sum(axis=1, keepdims=True)
    return np.column_stack([counts[:, 1] * counts[:, 2], counts[:, 0] * counts[:, 3]]) / (m * (m - 1) / 2.0)


def even_lists(documents: int, queries: int) -> NDArray[np.int64]:
    """The lengths of lists among which so many documents are divided as evenly as possible.

    Example
    -------
    >>> even_lists(10, 4).tolist()
    [3, 3, 2, 2]
    """
    return documents // queries + (np.arange(queries) < documents % queries)
