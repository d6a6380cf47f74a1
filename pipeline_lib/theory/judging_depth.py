"""How many documents per query should be judged, according to the variance of the gradients?

Let g(z, z') be the contribution of a pair of documents of one query to training, a symmetric function: a loss, or the
gradient of one, with mean 0 over the population. Over queries and their documents, with the mean given the query mu =
E[g | query] and, within a query, a document's share h(z) = E[g(z, z') | z],

    v = E mu^2,      s1 = E (h - mu)^2,      s2 = E (g - mu)^2            (squared lengths, for vectors).

The average over all pairs of m documents is a U-statistic, and n queries with m documents each, C = n m in all, average
to a mean 0 with variance

    (1/n) (v + (2 / (m (m - 1))) (2 (m - 2) s1 + s2)) = (1/C) (v m + 4 s1 + 2 (s2 - 2 s1) / (m - 1)),

which is smallest at a number of documents per query that does not depend on the budget,

    m = 1 + sqrt(2 (s2 - 2 s1) / v).

**For trained rankers**, to first order in 1/n: the empirical minimiser over ||w|| <= W differs by A times the average
gradient from the expected one, w0, and its risk is higher by half the squared length of the average gradient in the
metric A, where A inverts the curvature H of the expected risk, or, when the constraint is active at w0 with multiplier
c, H + c I orthogonally to w0. The formula therefore gives the best depth of judging if g is the gradient of the loss at
w0, measured in A. According to Theorem 1 of `twolayer`, m* grows as sqrt(C) instead, because its document layer does
not shrink with n.
"""

import math

import numpy as np
from numpy.typing import ArrayLike

from pipeline_lib.core import checks
from pipeline_lib.core.arrays import Floats
from pipeline_lib.core.checks import checked
from pipeline_lib.core.errors import DataError
from pipeline_lib.theory.rademacher import Estimate

FEWEST_DOCUMENTS = 4
"""Two disjoint pairs of one query are needed to separate the variances of queries and documents."""


@checked
def moments(contributions: ArrayLike, documents: int) -> Floats:
    """Unbiased estimates from every query of s2 + v, s1 + v and v; shape (K, 3).

    They are the averages of <g, g'> over a pair with itself, over two pairs that share one document, and over two
    disjoint pairs, all of one query.

    Parameters
    ----------
    contributions : array-like, shape (K, m (m - 1) / 2, d)
        g of all pairs of every query, in the order of ``np.triu_indices(m, 1)``, with mean 0 over the population.
    documents : int >= 4
        m.

    Raises
    ------
    DataError
        When m < 4, the shape does not agree with it, or a number is not finite.

    Example
    -------
    >>> moments(np.ones((1, 6, 1)), 4).tolist()
    [[1.0, 1.0, 1.0]]
    """
    m = documents
    if m < FEWEST_DOCUMENTS:
        raise DataError(f"documents: expected at least {FEWEST_DOCUMENTS} of every query, found {m}")
    pairs = m * (m - 1) // 2
    g = checks.floats("contributions", contributions, ndim=3)
    if g.shape[1] != pairs:
        raise DataError(f"contributions: expected shape (K, {pairs}, d) for m = {m}, found {g.shape}")
    first, second = np.triu_indices(m, 1)
    of_document = np.zeros((len(g), m, g.shape[2]))
    for j in range(m):
        of_document[:, j] = g[:, (first == j) | (second == j)].sum(axis=1)
    itself = np.square(g).sum(axis=(1, 2))
    # Each pair is counted for both of its documents: sums over documents contain it twice, with itself.
    sharing = np.square(of_document).sum(axis=(1, 2)) - 2.0 * itself
    disjoint = np.square(g.sum(axis=1)).sum(axis=1) - sharing - itself
    counts = (pairs, 2 * pairs * (m - 2), pairs * (m - 2) * (m - 3) / 2)
    return np.column_stack([itself, sharing, disjoint]) / counts


@checked
def best_documents(of_queries: ArrayLike) -> Estimate | None:
    """The best number of documents per query, 1 + sqrt(2 (s2 - 2 s1) / v), with its standard error (delta method).

    None if queries do not appear to differ (v <= 0), or if documents contribute no more than sums of their shares (s2
    <= 2 s1): then no depth is too large, or none too small.

    Parameters
    ----------
    of_queries : array-like, shape (K, 3)
        As returned by :func:`moments`; K >= 2.

    Raises
    ------
    DataError
        When there are fewer than two queries, the shape is another, or a number is not finite.

    Example
    -------
    >>> best_documents(np.array([[9.0, 1.0, 1.0]] * 5))
    Estimate(estimate=5.0, standard_error=0.0)
    """
    estimates = checks.floats("of_queries", of_queries, ndim=2)
    if len(estimates) < 2 or estimates.shape[1] != 3:
        raise DataError(f"of_queries: expected at least two queries, shape (K, 3), found shape {estimates.shape}")
    itself, sharing, disjoint = (float(one) for one in estimates.mean(axis=0))
    rest = itself - 2.0 * sharing + disjoint
    if disjoint <= 0.0 or rest <= 0.0:
        return None
    ratio = 2.0 * rest / disjoint
    slope = np.array([2.0, -4.0, 2.0 - ratio]) / (disjoint * 2.0 * math.sqrt(ratio))
    error = float((estimates @ slope).std(ddof=1)) / math.sqrt(len(estimates))
    return Estimate(1.0 + math.sqrt(ratio), error)
