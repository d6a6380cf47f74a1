"""Does a smaller lambda_u make ConeRank more stable, and its empirical risk larger?

Section 3.4 of `cone` says that it does both. Here K = N = 1, and every query has the difference 1 or 2, each with
probability 1/2. A basis u > 0 reaches the numbers from u to lambda_u u, 1 <= lambda_u <= 2. All samples are enumerated
in which either difference occurs twice or more: the best basis is then unique, also without any one query, so that
nothing depends on which of several best ones is taken.
"""

import math
from fractions import Fraction

DIFFERENCES = (1, 2)


def of_all_samples(P: int, high: Fraction) -> dict[str, Fraction]:
    """Beta and risks of P >= 4 queries with lambda_u = ``high``; means are over samples of this kind."""
    beta = mean = risk = Fraction(0)
    counts = range(2, P - 1)
    total = sum(math.comb(P, ones) for ones in counts)
    for ones in counts:
        u = best(ones, P - ones, high)
        at_u = [loss(z, u, high) for z in DIFFERENCES]
        empirical = (ones * at_u[0] + (P - ones) * at_u[1]) / P
        share = Fraction(math.comb(P, ones), total)
        mean += share * empirical
        risk += share * sum(at_u) / 2
        for v in (best(ones - 1, P - ones, high), best(ones, P - ones - 1, high)):
            beta = max(beta, *(abs(a - loss(z, v, high)) for a, z in zip(at_u, DIFFERENCES, strict=True)))
    return {"beta": beta, "mean_empirical_risk": mean, "mean_risk": risk}


def best(ones: int, twos: int, high: Fraction) -> Fraction:
    """The best u for so many differences 1 and 2, at least one of either; it is unique for 1 <= ``high`` <= 2.

    The risk falls up to u = 1, where 1 is reached, and rises from 2 / lambda_u on, where 2 is reached. Between them it
    is the sum of ones (u - 1)^2 and twos (2 - lambda_u u)^2.

    Example
    -------
    >>> best(1, 1, Fraction(1)), best(1, 1, Fraction(2))
    (Fraction(3, 2), Fraction(1, 1))
    """
    return (ones + 2 * twos * high) / (ones + twos * high**2)


def loss(z: int, u: Fraction, high: Fraction) -> Fraction:
    """The squared distance of z from the numbers w u, 1 <= w <= lambda_u.

    Example
    -------
    >>> loss(2, Fraction(1), Fraction(3, 2)), loss(2, Fraction(1), Fraction(3))
    (Fraction(1, 4), Fraction(0, 1))
    """
    return max(u - z, z - high * u, Fraction(0)) ** 2
