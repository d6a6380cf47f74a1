"""How large are packings of the classes of `lists` whose number of points is known by counting?

On n = d queries with the documents e_i and -e_i, RankSVM's losses are 1 - 2 w_i for |w_i| <= 1/2, so that the distance
of two rankers is G max_i |w_i - w'_i| with G = 2. The points (W/r) z of a ball of radius W, z an integer vector with
||z||_2 <= r (or ||z||_1 <= r), differ by W/r or more in some coordinate: they are a packing for every

    eps < G W / (2 r).

Their number is a sum of coefficients of (1 + 2 x + 2 x^4 + 2 x^9 + ...)^d, or of (1 + 2 x + 2 x^2 + ...)^d. The 2^d
points with all coordinates W/sqrt(d) or -W/sqrt(d) are a packing of the Euclidean ball for eps < G W / sqrt(d).

How the number depends on m is seen where lists are long: the list of query i holds the unit vectors e_j, j < d = 2^n,
of which the i-th binary digit of j is 1. The loss of the highest irrelevant document, max(0, max_j s_j) with G = 1, is
W or 0 at W e_j by that digit, so that the d points W e_j are a packing for eps < W / 2, with lists of m = 2^(n - 1)
documents.
"""

import math
from collections.abc import Iterator
from typing import Any

from pipeline_lib.papers.lists.exact.settings import ExactSettings, Packing
from pipeline_lib.theory import entropy

RADIUS = 0.5
DIGITS = (4, 30, 40, 50)
"""Values of n for the lists of 2^(n - 1) documents."""
BELOW = 1.0 - 1e-9
"""Packings need points that are further apart than 2 eps."""


def packings(settings: ExactSettings) -> Iterator[Packing]:
    """The packings of both balls at every d, and those of long lists."""
    for d in settings.packing_dimensions:
        yield _packing("l2", "signs", d, d, 2, float(d), 2.0 * 2.0 / math.sqrt(d) * RADIUS)
        for k in settings.packing_norms:
            for ball, named, power, norm in (("l2", f"|z|^2 <= {k}", 2, math.sqrt(k)), ("l1", f"|z| <= {k}", 1, k)):
                yield _packing(ball, named, d, d, 2, math.log2(lattice_points(d, k, power)), 2.0 * RADIUS / norm)
    for n in DIGITS:
        yield _packing("l2", "unit vectors", 2**n, n, 2 ** (n - 1), float(n), 2.0 * RADIUS)


def lattice_points(d: int, k: int, power: int) -> int:
    """The number of integer vectors z in d dimensions with sum_j |z_j|^power <= k.

    Example
    -------
    >>> lattice_points(2, 1, 2), lattice_points(2, 2, 2), lattice_points(2, 2, 1), lattice_points(1, 9, 2)
    (5, 9, 13, 7)
    """
    squares = {z**power for z in range(1, k + 1)}
    one, found = [1, *(2 * (z in squares) for z in range(1, k + 1))], [1] + [0] * k
    # By squaring: the coefficients of the d-th power, up to x^k.
    while d:
        if d % 2:
            found = _product(found, one)
        one, d = _product(one, one), d // 2
    return sum(found)


def _product(a: list[int], b: list[int]) -> list[int]:
    return [sum(a[i] * b[j - i] for i in range(j + 1)) for j in range(len(a))]


def _packing(ball: str, points: str, d: int, n: int, m: int, log2_packing: float, apart: float) -> Packing:
    """A packing of points whose losses are ``apart``; G W = 1 for both losses."""
    scale, eps = 2.0 * RADIUS, BELOW * apart / 2.0
    given: dict[str, Any] = {"n": n, "m": m, "lipschitz": 2.0, "radius": RADIUS, "feature_norm": 1.0}
    covering = entropy.proposition_7(**given) if ball == "l2" else entropy.proposition_10(d=d, **given)
    axes: dict[str, Any] = {"class_": ball, "points": points, "d": d, "n": n, "m": m, "eps": eps}
    return Packing(
        **axes,
        log2_packing=log2_packing,
        log2_covering_bound=float(covering.log2(eps)),
        # A ball of dimension d in any norm is covered by (1 + 2/r)^d balls of r times its radius.
        log2_by_volume=d * math.log2(1.0 + 2.0 * scale / eps),
        squared_ratio=(scale / eps) ** 2,
    )
