"""Does a smaller lambda_u make ConeRank more stable, and its empirical risk larger?

Section 3.4 of `cone` says that it does both. Here K = N = 1, every query has the difference 1 or 2, each with
probability 1/2, and all samples are enumerated. A basis u > 0 reaches the numbers from u to lambda_u u. Of several best
u the one that is nearest to 1 is taken.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import NamedTuple

DIFFERENCES = (1, 2)


class Traded(NamedTuple):
    """Beta of (12) with its supremum over all samples, the largest and the mean empirical risk, and the mean risk."""

    beta: Fraction
    largest_empirical_risk: Fraction
    mean_empirical_risk: Fraction
    mean_risk: Fraction


def of_all_samples(P: int, high: Fraction) -> Traded:
    """Beta and risks of P queries with lambda_u = ``high``."""
    beta = largest = mean = risk = Fraction(0)
    for ones in range(P + 1):
        u = best(ones, P - ones, high)
        at_u = [loss(z, u, high) for z in DIFFERENCES]
        empirical = (ones * at_u[0] + (P - ones) * at_u[1]) / P
        share = Fraction(math.comb(P, ones), 2**P)
        largest, mean = max(largest, empirical), mean + share * empirical
        risk += share * sum(at_u) / 2
        for out in (1, 0):
            if (ones if out else P - ones) > 0:
                v = best(ones - out, P - ones - (1 - out), high)
                beta = max(beta, *(abs(a - loss(z, v, high)) for a, z in zip(at_u, DIFFERENCES, strict=True)))
    return Traded(beta, largest, mean, risk)


def best(ones: int, twos: int, high: Fraction) -> Fraction:
    """The u > 0 that is best for so many differences 1 and 2, and among several the nearest to 1.

    Between 1 and 2 / lambda_u it reaches neither difference, and the risk is the sum of ones (u - 1)^2 and twos (2 -
    lambda_u u)^2; from 2 / lambda_u on it reaches 2.

    Example
    -------
    >>> best(1, 1, Fraction(1)), best(1, 1, Fraction(2)), best(0, 1, Fraction(3, 2))
    (Fraction(3, 2), Fraction(1, 1), Fraction(4, 3))
    """
    one, farthest = Fraction(1), Fraction(2) / high
    if not twos or farthest <= one:
        return one
    return (ones + 2 * twos * high) / (ones + twos * high**2)


def loss(z: int, u: Fraction, high: Fraction) -> Fraction:
    """The squared distance of z from the numbers w u, 1 <= w <= lambda_u.

    Example
    -------
    >>> loss(2, Fraction(1), Fraction(3, 2)), loss(2, Fraction(1), Fraction(3))
    (Fraction(1, 4), Fraction(0, 1))
    """
    return max(u - z, z - high * u, Fraction(0)) ** 2
