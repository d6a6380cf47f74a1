"""Which gaps of `lists` are known exactly, because a sample of any size is a few binomial numbers?

Where all losses depend on fair signs alone, the gap is a multiple of their mean (:func:`quantile_of_mean_sign`).

The other functions are of the highest irrelevant document. The loss of a query is its score, if it is positive:

    phi(s, y) = max(0, max over j with y_j = 0 of s_j),

which is convex, not negative, and 1-Lipschitz in the maximum norm, for every m. The documents are orthogonal,
x_j = R_X e_j, and each is irrelevant with probability 1/2. For the ranker W2 e_j the loss is W2 R_X where document j is
irrelevant, and 0 elsewhere; with K_j the number of the n queries in which it is,

    L - Lhat at W2 e_j  =  W2 R_X (1/2 - K_j / n),        K_1, ..., K_m independent and Binomial(n, 1/2),

so that the gap of the ball is at least W2 R_X (1/2 - min_j K_j / n), which is about W2 R_X sqrt(log m / (2n)) for large
n and reaches W2 R_X / 2 where m is large against 2^n. Where some K_j is 0, W2 e_j minimises the empirical risk, and its
risk is W2 R_X / 2, while w = 0 has risk 0. The regularised minimiser is w = 0 for every lambda > 0 and every sample.
"""

import math

import numpy as np
from scipy import stats


def quantile_of_mean_sign(n: int, probability: float) -> float:
    """The least x that |mean of n random signs| exceeds with at most this probability.

    Example
    -------
    >>> quantile_of_mean_sign(4, 0.2), quantile_of_mean_sign(4, 0.1)
    (0.5, 1.0)
    """
    return float(2.0 * stats.binom.isf(0.5 * probability, n, 0.5) - n) / n


def mean_of_mean_sign(n: int) -> float:
    """E of |mean of n random signs|, which is P(K = floor((n - 1) / 2)) for K ~ Binomial(n - 1, 1/2).

    Example
    -------
    >>> [round(mean_of_mean_sign(n), 9) for n in (1, 2, 3)]
    [1.0, 0.5, 0.5]
    """
    return float(stats.binom.pmf((n - 1) // 2, n - 1, 0.5))


def soft_maximum(scores: float, m: float) -> float:
    """log(1 + (e^a - 1)/m) - a/m: how much ListNet's loss changes if one document of m has the score a in place of 0.

    All labels are equal and the other scores 0, so that the loss is log(m - 1 + e^a) - a/m or log m.

    Example
    -------
    >>> round(soft_maximum(1.0, 1.0), 9), round(soft_maximum(2.0, 2.0), 4)
    (0.0, 0.4338)
    """
    exact = math.log1p(math.expm1(scores) / m) if scores < 700.0 else max(scores - math.log(m), 0.0)
    return exact - scores / m


def mean_gap(n: int, m: float) -> float:
    """E of 1/2 - min_j K_j / n, for m documents and W2 R_X = 1: E min = sum over k >= 1 of P(K >= k)^m.

    Example
    -------
    >>> mean_gap(1, 1), mean_gap(1, 2), mean_gap(2, 2)
    (0.0, 0.25, 0.1875)
    """
    below = stats.binom.cdf(np.arange(n), n, 0.5)
    with np.errstate(divide="ignore"):
        return 0.5 - float(np.exp(m * np.log1p(-below)).sum()) / n


def gap_at(n: int, m: float, delta: float) -> float:
    """What 1/2 - min_j K_j / n exceeds with probability at most delta, and no smaller value does.

    Example
    -------
    >>> gap_at(1, 1, 0.6), gap_at(1, 1, 0.4), gap_at(10, 10**6, 0.05)
    (-0.5, 0.5, 0.5)
    """
    # P(min < k) = 1 - (1 - P(K < k))^m <= delta; the largest such k.
    one = -math.expm1(math.log1p(-delta) / m)
    k = int(stats.binom.ppf(one, n, 0.5))
    return 0.5 - float(k + 1 if stats.binom.cdf(k, n, 0.5) <= one else k) / n


def misled(n: int, m: float) -> float:
    """The probability that some document is relevant in all n queries, 1 - (1 - 2^-n)^m.

    Example
    -------
    >>> misled(1, 1), misled(1, 2)
    (0.5, 0.75)
    """
    return -math.expm1(m * math.log1p(-(2.0**-n)))
