"""Must a bound for all rankers grow with the logarithm of m? A loss on which samples of any size are known exactly.

The loss of a query is the highest score of an irrelevant document, if it is positive:

    phi(s, y) = max(0, max over j with y_j = 0 of s_j),

which is convex, not negative, and 1-Lipschitz in the maximum norm, for every m. The documents are orthogonal,
x_j = R_X e_j, and each is irrelevant with probability 1/2. For the ranker W2 e_j the loss is W2 R_X where document j is
irrelevant, and 0 elsewhere; with K_j the number of the n queries in which it is,

    L - Lhat at W2 e_j  =  W2 R_X (1/2 - K_j / n),        K_1, ..., K_m independent and Binomial(n, 1/2),

so that the gap of the ball is at least W2 R_X (1/2 - min_j K_j / n), which is about W2 R_X sqrt(log m / (2n)) for large
n and reaches W2 R_X / 2 where m is large against 2^n. Where some K_j is 0, W2 e_j minimises the empirical risk, and its
risk is W2 R_X / 2, while w = 0 has risk 0. The regularised minimiser is w = 0 for every lambda > 0 and every sample.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import stats

from pipeline_lib.statistics import fit_exponent
from pipeline_lib.theory import list_bounds, list_lengths

if TYPE_CHECKING:
    from pipeline_lib.papers.lists.experiments.lengths import LengthsSettings


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
    # P(min < k) = 1 - (1 - P(K < k))^m <= delta.
    one = -math.expm1(math.log1p(-delta) / m)
    return 0.5 - float(_largest_below(n, one)) / n


def _largest_below(n: int, probability: float) -> int:
    # The largest k with P(K < k) <= probability.
    k = int(stats.binom.ppf(probability, n, 0.5))
    return k + 1 if stats.binom.cdf(k, n, 0.5) <= probability else k


def misled(n: int, m: float) -> float:
    """The probability that some document is relevant in all n queries, 1 - (1 - 2^-n)^m.

    Example
    -------
    >>> misled(1, 1), misled(1, 2)
    (0.5, 0.75)
    """
    return -math.expm1(m * math.log1p(-(2.0**-n)))


def gaps(settings: LengthsSettings) -> list[dict[str, Any]]:
    """The rows of `lists-logarithm` on gaps, W2 R_X = 1."""
    n, rows = settings.highest_queries, []
    for m in settings.highest_lengths:
        given: dict[str, Any] = {"n": n, "m": m, "lipschitz": 1.0}
        chain = list_lengths.by_chain(scores=1.0, **given)
        rows.append(
            {
                "n": n,
                "m": m,
                "mean_gap": mean_gap(n, m),
                "gap": gap_at(n, m, settings.delta),
                "theorem_9": list_bounds.evaluate(
                    "erm", radius=1.0, feature_norm=1.0, loss_bound=1.0, delta=settings.delta, **given
                ),
                "shorter_chain": list_lengths.deviation(chain, n=n, spread=1.0, delta=settings.delta),
                "free_of_m": list_lengths.deviation(1.0 / math.sqrt(n), n=n, spread=1.0, delta=settings.delta),
            }
        )
    return rows


def power(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """The power of log m with which the mean gap grows, a row of `lists-length-powers`."""
    fitted = fit_exponent([math.log(row["m"]) for row in rows], [row["mean_gap"] for row in rows])
    return {
        "axis": "ln m",
        "case": "highest irrelevant document",
        "slope": fitted.slope,
        "low": fitted.low,
        "high": fitted.high,
    }


def minimisers(settings: LengthsSettings) -> list[dict[str, Any]]:
    """The rows of `lists-misled`: expected excess risks of two minimisers, and Theorems 5 and 6, with W2 R_X = 1."""
    rows = []
    for n in settings.misled_queries:
        for m in settings.misled_lengths:
            given: dict[str, Any] = {"n": n, "m": m, "lipschitz": 1.0, "radius": 1.0, "feature_norm": 1.0}
            rows.append(
                {
                    "n": n,
                    "m": m,
                    "minimiser": 0.5 * misled(n, m),
                    "regularised": 0.0,
                    "theorem_5": list_bounds.evaluate("ogd", **given),
                    "theorem_6": list_bounds.evaluate("rerm", **given),
                    "largest_excess": 0.5,
                }
            )
    return rows
