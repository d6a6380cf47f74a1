"""What does each bound of `lists` add to a risk, as a formula of its constants?

The table of :mod:`pipeline_lib.theory.list_bounds`, which checks arguments and evaluates these formulas, has the
statements and the notation.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from pipeline_lib import checks
from pipeline_lib.checks import checked
from pipeline_lib.theory import entropy as entropies
from pipeline_lib.theory import list_lengths

Entropy = Literal["closed-form", "integral"]

MEANINGS = {
    "lipschitz": "G in the maximum norm of scores",
    "lipschitz_l2": "G in the Euclidean norm of scores",
    "smoothness": "H in the maximum norm of scores",
    "average": "the Rademacher average of one query, whatever the length of its list",
    "d": "the number of features",
    "loss_bound": "the bound B on the loss over the class",
    "delta": "the probability with which the bound may fail",
    "optimal_risk": "the smallest risk L* in the class",
    "empirical_risk": "the empirical risk Lhat",
}


@dataclass(frozen=True)
class Statement:
    """The place of a bound in the paper, the constants that its formula needs, and the losses for which it holds.

    ``ball`` is the norm of the ball for all of whose rankers the bound holds at once; a bound for the one ranker that a
    learner gives has none. With ``unit_losses`` the statement is for losses in [0, 1]. One of our ``own`` is left out
    of what is measured for the paper, and certificates have it within `contraction`.
    """

    place: str
    needs: tuple[str, ...]
    formula: Callable[..., float]
    convex: bool = False
    non_negative: bool = False
    by_entropy: bool = False
    ball: Literal["", "l2", "l1"] = ""
    unit_losses: bool = False
    own: bool = False


def _chapelle_wu(*, n: float, m: float, radius: float, feature_norm: float, lipschitz_l2: float, delta: float) -> float:
    return complexity_of_chapelle_wu(
        n=n, m=m, lipschitz_l2=lipschitz_l2, radius=radius, feature_norm=feature_norm
    ) + math.sqrt(8.0 * math.log(1.0 / delta) / n)


@checked
def complexity_of_chapelle_wu(*, n: float, m: float, lipschitz_l2: float, radius: float, feature_norm: float) -> float:
    """3 G^CW W2 R_X sqrt(m/n): the part of Chapelle and Wu's bound that grows with the list.

    Example
    -------
    >>> complexity_of_chapelle_wu(n=4, m=16, lipschitz_l2=1.0, radius=1.0, feature_norm=1.0)
    6.0
    """
    return 3.0 * lipschitz_l2 * radius * feature_norm * math.sqrt(m / n)


def _ogd(*, n: float, m: float, radius: float, feature_norm: float, lipschitz: float) -> float:
    return lipschitz * radius * feature_norm * math.sqrt(2.0 / n)


def _rerm(*, n: float, m: float, radius: float, feature_norm: float, lipschitz: float) -> float:
    return 2.0 * lipschitz * feature_norm * radius * (8.0 / n + math.sqrt(2.0 / n))


def _deviation(rademacher: float, n: float, loss_bound: float, delta: float) -> float:
    return 2.0 * rademacher + 3.0 * loss_bound * math.sqrt(math.log(2.0 / delta) / (2.0 * n))


def _erm(
    *,
    n: float,
    m: float,
    radius: float,
    feature_norm: float,
    lipschitz: float,
    loss_bound: float,
    delta: float,
    entropy: Entropy,
) -> float:
    given = {"n": n, "m": m, "lipschitz": lipschitz, "radius": radius, "feature_norm": feature_norm}
    if entropy == "closed-form":
        average = entropies.corollary_8(loss_bound=loss_bound, **given)
    else:
        average = entropies.integral(entropies.proposition_7(**given), n, loss_bound).value
    return _deviation(average, n, loss_bound, delta)


def _erm_l1(
    *,
    n: float,
    m: float,
    radius: float,
    feature_norm: float,
    lipschitz: float,
    d: int,
    loss_bound: float,
    delta: float,
    entropy: Entropy,
) -> float:
    given = {"n": n, "m": m, "lipschitz": lipschitz, "radius": radius, "feature_norm": feature_norm}
    if entropy == "closed-form":
        average = entropies.corollary_11(d=d, loss_bound=loss_bound, **given)
    else:
        average = entropies.integral(entropies.proposition_10(d=d, **given), n, loss_bound).value
    return _deviation(average, n, loss_bound, delta)


def _smooth_ogd(
    *, n: float, m: float, radius: float, feature_norm: float, smoothness: float, optimal_risk: float
) -> float:
    x = feature_norm**2 * smoothness * radius**2 / n
    return 2.0 * math.sqrt(2.0 * x * optimal_risk) + 8.0 * x


@checked
def optimistic_terms(
    *,
    n: float,
    m: float,
    radius: float,
    feature_norm: float,
    smoothness: float,
    loss_bound: float,
    delta: float,
    entropy: Entropy = "closed-form",
) -> tuple[float, float]:
    """r* and r0 of Theorem 17; r0 = B (log(1/delta) + log log n) / n.

    Example
    -------
    >>> given = dict(m=10, radius=1.0, feature_norm=1.0, smoothness=2.0, loss_bound=4.0, delta=0.05)
    >>> [f"{term:.2g}" for term in optimistic_terms(n=10**12, **given)]
    ['1.3e-05', '2.5e-11']
    """
    given = {"n": n, "m": m, "smoothness": smoothness, "radius": radius, "feature_norm": feature_norm}
    # psi(r) = sqrt(r) psi(1), so the fixed point r* = psi(r*) is psi(1)^2.
    if entropy == "closed-form":
        average = entropies.corollary_16(loss_bound=loss_bound, **given)
    else:
        average = entropies.integral(entropies.proposition_15(**given), n, math.sqrt(loss_bound)).value
    # log log n is negative below n = e.
    return average**2, loss_bound * (math.log(1.0 / delta) + math.log(math.log(max(n, math.e)))) / n


@checked(**dict.fromkeys(("r_star", "r_0", "empirical_risk"), checks.extended))
def optimistic_deviation(r_star: float, r_0: float, empirical_risk: float) -> float:
    """L - Lhat for L = Lhat + 45 r* + sqrt(8 r* L) + sqrt(4 r0 L) + 20 r0, the largest L that Theorem 17 allows.

    Example
    -------
    >>> optimistic_deviation(0.0, 0.25, 1.0)                        # L = 9 solves L = 1 + sqrt(L) + 5
    8.0
    """
    slope = math.sqrt(8.0 * r_star) + math.sqrt(4.0 * r_0)
    free = 45.0 * r_star + 20.0 * r_0
    # L = Lhat + free + slope sqrt(L): sqrt(L) = (slope + sqrt(slope^2 + 4 (Lhat + free))) / 2, so that the gap is not a
    # difference of large numbers: free + slope sqrt(L).
    return free + slope * 0.5 * (slope + math.sqrt(slope**2 + 4.0 * (empirical_risk + free)))


def _optimistic(
    *,
    n: float,
    m: float,
    radius: float,
    feature_norm: float,
    smoothness: float,
    loss_bound: float,
    delta: float,
    empirical_risk: float,
    entropy: Entropy,
) -> float:
    given = {"n": n, "m": m, "smoothness": smoothness, "radius": radius, "feature_norm": feature_norm}
    r_star, r_0 = optimistic_terms(loss_bound=loss_bound, delta=delta, entropy=entropy, **given)
    return optimistic_deviation(r_star, r_0, empirical_risk)


def _length_free(
    *, n: float, m: float, radius: float, feature_norm: float, average: float, loss_bound: float, delta: float
) -> float:
    return list_lengths.deviation(average / math.sqrt(n), n=n, spread=loss_bound, delta=delta)


def _chain(
    *, n: float, m: float, radius: float, feature_norm: float, lipschitz: float, loss_bound: float, delta: float
) -> float:
    average = list_lengths.by_chain(n=n, m=m, lipschitz=lipschitz, scores=radius * feature_norm)
    return list_lengths.deviation(average, n=n, spread=loss_bound, delta=delta)


STATEMENTS = {
    "chapelle-wu": Statement(
        "Chapelle and Wu 2010", ("lipschitz_l2", "delta"), _chapelle_wu, ball="l2", unit_losses=True
    ),
    "ogd": Statement("Theorem 5", ("lipschitz",), _ogd, convex=True),
    "rerm": Statement("Theorem 6", ("lipschitz",), _rerm, convex=True),
    "erm": Statement("Theorem 9", ("lipschitz", "loss_bound", "delta"), _erm, by_entropy=True, ball="l2"),
    "erm-l1": Statement("Theorem 12", ("lipschitz", "d", "loss_bound", "delta"), _erm_l1, by_entropy=True, ball="l1"),
    "smooth-ogd": Statement("equation 8", ("smoothness", "optimal_risk"), _smooth_ogd, convex=True, non_negative=True),
    "optimistic": Statement(
        "Theorem 17",
        ("smoothness", "loss_bound", "delta", "empirical_risk"),
        _optimistic,
        non_negative=True,
        by_entropy=True,
        ball="l2",
    ),
    "length-free": Statement(list_lengths.PLACE, ("average", "loss_bound", "delta"), _length_free, ball="l2", own=True),
    "chain": Statement(list_lengths.PLACE, ("lipschitz", "loss_bound", "delta"), _chain, ball="l2", own=True),
}
NAMES: tuple[str, ...] = tuple(STATEMENTS)
