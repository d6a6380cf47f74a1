"""What is the worst gap of a class in which one ranker is decided by queries, and V rankers by documents?

The labels y of a query's documents are uniform on (0, 1), and its sign q is 1 or -1 with probability 1/2 each. The
ranker x_0 = q y orders all pairs of a query rightly or all wrongly, so that v = 1/4 and s1 = s2 = 0. The rankers x_1,
..., x_V are independent and uniform on (0, 1) for every document: v = 0, s1 = 1/36 and s2 = 1/4. All of them have the
expected risk 1/2 under the loss 1[the pair is ordered wrongly].

The number of pairs that x_j orders wrongly in a list of m documents is that of the inversions of a random permutation,
the sum of independent variables that are uniform on 0, ..., k for k = 0, ..., m - 1; over n queries, n of these sums.
The number of queries that x_0 orders wrongly is binomial. All are independent, and so the distribution of the worst gap
is known.
"""

from functools import cache

import numpy as np
from scipy.stats import binom

from pipeline_lib.core.arrays import Floats
from pipeline_lib.theory.two_layer_rates import Variances

BY_QUERIES = Variances(0.25, 0.0, 0.0)
BY_DOCUMENTS = Variances(0.0, 1 / 36, 1 / 4)
KINDS = [BY_QUERIES, BY_DOCUMENTS]


def worst_gap(queries: int, documents: int, rankers: int) -> tuple[Floats, Floats]:
    """The values that the worst gap of x_0, ..., x_V can have, and the probability of each.

    Parameters
    ----------
    queries : int >= 1
        n.
    documents : int >= 2
        m, those of every query.
    rankers : int >= 1
        V, how many rankers documents decide.

    Example
    -------
    >>> gaps, probabilities = worst_gap(1, 2, 1)
    >>> gaps.tolist(), probabilities.tolist()
    ([-0.5, 0.5], [0.25, 0.75])
    """
    pairs = documents * (documents - 1) // 2
    # Wrong pairs, from all of them to none, which is the order of the gaps
    wrong = np.arange(queries * pairs, -1, -1)
    by_documents = np.minimum(np.cumsum(_inversions(queries, documents)), 1.0)
    by_queries = binom.sf(-(-wrong // pairs) - 1, queries, 0.5)
    up_to = by_queries * by_documents**rankers
    return 0.5 - wrong / (queries * pairs), np.diff(up_to, prepend=0.0)


@cache  # for every V
def _inversions(queries: int, documents: int) -> Floats:
    """The distribution of the number of inversions of n random permutations of m, from 0 on."""
    of_one = np.ones(1)
    for k in range(documents):
        of_one = np.convolve(of_one, np.full(k + 1, 1.0 / (k + 1)))
    total = np.ones(1)
    for bit in f"{queries:b}":
        total = np.convolve(total, total)
        if bit == "1":
            total = np.convolve(total, of_one)
    return total
