"""Which constants of a surrogate do the bounds need, and how large are they exactly?

A surrogate's class states its Lipschitz and smoothness constants. This module contains the other constants that the
theorems need, by registry name: a bound B on the loss over a class of rankers, the number of labels on which the
gradient depends jointly, the ranking loss that the surrogate bounds, and the exact suprema where they are known.
``search`` finds the same suprema numerically.

A class {||w||_2 <= W2} with documents ||x||_2 <= R_X (or ||w||_1 <= W1, ||x||_inf <= Rbar_X) has scores
||s||_inf <= S = W2 R_X (W1 Rbar_X), attained for suitable documents: this S is the ``score_bound``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline_lib import surrogates
from pipeline_lib.checks import checked
from pipeline_lib.surrogates.base import Surrogate, needed_score_bound
from pipeline_lib.theory.constant_search import Found, What, search

__all__ = ["Constants", "Found", "What", "constants", "search", "supremum"]


@dataclass(frozen=True)
class Constants:
    """The constants of one surrogate over lists of at most m documents with labels in 0..y_max.

    Attributes
    ----------
    surrogate : str
        The registry name.
    m, y_max : int
    score_bound : float or None
        The S of ||s||_inf <= S, where one was given.
    lipschitz, lipschitz_l2 : float
        G with respect to l_inf and G^CW with respect to l_2.
    smoothness : float or None
        H with respect to l_inf; None where the surrogate has kinks.
    bound : float or None
        B >= sup |phi| over ||s||_inf <= S; None without S, or if it is not known.
    excess_bound : float or None
        B >= sup of phi(s, y) - inf over all s' of phi(s', y): the B of the loss after its infimum has been subtracted.
    convex, smooth : bool
    order : int or None
        The gradient is a sum of functions of at most this many labels (`topk`, Lemma 1: the labels that partial
        feedback must show); m if it depends on all jointly; None if it is not known.
    upper_bounds : str or None
        The ranking loss that phi is never below, if any: "1-ndcg", "1-ap", ... (as stated by the class).
    """

    surrogate: str
    m: int
    y_max: int
    score_bound: float | None
    lipschitz: float
    lipschitz_l2: float
    smoothness: float | None
    bound: float | None
    excess_bound: float | None
    convex: bool
    smooth: bool
    order: int | None
    upper_bounds: str | None


@checked
def constants(surrogate: str | Surrogate, m: int, y_max: int, *, score_bound: float | None = None) -> Constants:
    """All constants of ``surrogate`` that the bounds need.

    Parameters
    ----------
    surrogate : str or Surrogate
        A name of ``surrogates.NAMES`` (then with default options) or an object.
    m : int >= 1
        The longest list.
    y_max : int in 0..255
        The largest label.
    score_bound : float >= 0, optional
        The S of ||s||_inf <= S.

    Raises
    ------
    DataError
        When an argument is out of range, or the surrogate has no global constants and ``score_bound`` is missing.

    Example
    -------
    >>> known = constants("ranksvm", 10, 1, score_bound=2.0)
    >>> known.lipschitz, known.bound, known.order, known.smoothness
    (50.0, 125.0, 2, None)
    """
    loss = surrogates.create(surrogate) if isinstance(surrogate, str) else surrogate
    row = _row(loss)
    bound = excess = None
    if score_bound is not None:
        needed_score_bound(loss.name, score_bound)
        bound = row.bound(loss, m, y_max, score_bound) if row.bound else None
        excess = row.excess_bound(loss, m, y_max, score_bound) if row.excess_bound else bound
    return Constants(
        surrogate=loss.name,
        m=m,
        y_max=y_max,
        score_bound=score_bound,
        lipschitz=loss.lipschitz(m, y_max, "linf", score_bound=score_bound),
        lipschitz_l2=loss.lipschitz(m, y_max, "l2", score_bound=score_bound),
        smoothness=loss.smoothness(m, y_max, score_bound=score_bound) if loss.smooth else None,
        bound=bound,
        excess_bound=excess,
        convex=loss.convex,
        smooth=loss.smooth,
        order=min(row.order(loss, m, y_max), m) if row.order else None,
        upper_bounds=getattr(loss, "upper_bounds", None),
    )


@checked
def supremum(
    surrogate: str | Surrogate, m: int, y_max: int, what: What, *, score_bound: float | None = None
) -> float | None:
    """The exact supremum that a constant bounds, if it is known; otherwise None. Arguments as in ``constants``.

    Published constants can be larger: ListNet's is 2 instead of 2 - 2 / (1 + (m - 1) e^y_max), SmoothDCG's is four
    times the supremum. Where the surrogate has global constants, the supremum is over all scores.

    Example
    -------
    >>> supremum("smooth-dcg", 10, 1, "lipschitz-linf"), constants("smooth-dcg", 10, 1).lipschitz
    (0.5, 2.0)
    """
    loss = surrogates.create(surrogate) if isinstance(surrogate, str) else surrogate
    if what == "bound":
        needed_score_bound(f"the value of {loss.name}", score_bound)
    known = _row(loss).suprema.get(what)
    return known(loss, m, y_max, score_bound) if known else None


# Functions of (surrogate, m, y_max, S); S is None where no score bound was given.
_Value = Callable[[Any, int, int, float], float]
_Known = Callable[[Any, int, int, float | None], float | None]


@dataclass(frozen=True)
class _Row:
    # What is known about one surrogate.
    order: Callable[[Any, int, int], int] | None = None
    bound: _Value | None = None
    excess_bound: _Value | None = None  # where it differs from bound
    suprema: dict[str, _Known] = field(default_factory=dict)


def _row(loss: Surrogate) -> _Row:
    # The SLAM family (slam-ndcg, slam-map, ...) shares one row; for other surrogates nothing is known.
    return _ROWS.get("slam" if loss.name.startswith("slam-") else loss.name, _Row())


def _one(loss: Any, m: int, y_max: int) -> int:
    return 1


def _all(loss: Any, m: int, y_max: int) -> int:
    return m


def _two(loss: Any, m: int, y_max: int) -> int:
    # The mean divides by the number of pairs, which depends on all labels.
    return 2 if loss.normalisation == "sum" else m


def _all_graded(loss: Any, m: int, y_max: int) -> int:
    # With binary labels the part of ListNet's gradient that takes all m labels together vanishes: for document i it is
    # sum_t (-1)^t (C(m-1, t) + e C(m-1, t-1)) / (t e + m - t) = (1/m) sum_t (-1)^t C(m, t) = 0.
    return m if y_max > 1 else max(m - 1, 1)


def _linf(loss: Any, m: int, y_max: int, score_bound: float | None) -> float:
    return float(loss.lipschitz(m, y_max, "linf", score_bound=score_bound))


def _l2(loss: Any, m: int, y_max: int, score_bound: float | None) -> float:
    return float(loss.lipschitz(m, y_max, "l2", score_bound=score_bound))


def _smoothness(loss: Any, m: int, y_max: int, score_bound: float | None) -> float:
    return float(loss.smoothness(m, y_max, score_bound=score_bound))


def _squared(loss: Any, m: int, y_max: int, score_bound: float) -> float:
    # s = -S 1, y = y_max 1
    return m * (score_bound + y_max) ** 2


def _squared_ndcg(loss: Any, m: int, y_max: int, score_bound: float) -> float:
    from pipeline_lib.surrogates.ndcg_regression import largest_distance

    return largest_distance(m, y_max, score_bound)


def _kl(loss: Any, m: int, y_max: int, score_bound: float) -> float:
    # f(s, y) = e^y (y - s - 1) + e^s is convex in s, so |s| = S; f(-S, y) rises with y, and f(S, y) falls in y up to S,
    # while for y >= S it is below f(-S, y): f(-S, y) - f(S, y) = 2 (S e^y - sinh S) >= 0 there.
    if max(score_bound, y_max) > 700.0:
        return math.inf
    low = math.exp(y_max) * (y_max + score_bound - 1.0) + math.exp(-score_bound)
    return m * max(low, math.exp(score_bound) - score_bound - 1.0)


def _most_pairs(n: NDArray[np.int64], levels: int) -> NDArray[np.int64]:
    # Pairs of different labels among n documents of so many levels: largest when the levels are filled equally.
    size, larger = np.divmod(n, levels)
    return (n * n - larger * (size + 1) ** 2 - (levels - larger) * size * size) // 2


def _pairs(pair: Callable[[Any, float], float]) -> _Value:
    # Exact. A sum of convex functions of s_j - s_i is largest where |s| = S. How many documents of a level are at -S
    # enters linearly, so whole levels are at -S or S; it does not hurt to make those at -S the more relevant ones.
    # Their pairs with the others then lose pair(2 S), and pairs on the same side pair(0).
    def bound(loss: Any, m: int, y_max: int, score_bound: float) -> float:
        if m == 1 or y_max == 0:
            return 0.0
        far, near = pair(loss, 2.0 * score_bound), pair(loss, 0.0)
        if loss.normalisation == "mean":
            return far
        n = np.arange(1, m)
        same_side = [_most_pairs(n, low) + _most_pairs(m - n, y_max + 1 - low) for low in range(1, y_max + 1)]
        return max(float(np.max(far * (n * (m - n)) + near * pairs)) for pairs in same_side)

    return bound


def _rank_svm_pair(loss: Any, difference: float) -> float:
    return float(loss.margin) + difference


def _rank_net_pair(loss: Any, difference: float) -> float:
    return float(np.logaddexp(0.0, difference))


def _rank_boost_pair(loss: Any, difference: float) -> float:
    return math.exp(difference) if difference < 709.0 else math.inf


def _rank_boost_l2(loss: Any, m: int, y_max: int, score_bound: float | None) -> float | None:
    # Exact where all pairs can be at distance 2 S at the same time, or all are at distance 0.
    value = _l2(loss, m, y_max, score_bound)
    return value if y_max <= 1 or loss.normalisation == "mean" or score_bound == 0.0 else None


def _list_net(loss: Any, m: int, y_max: int, score_bound: float) -> float:
    # log sum e^s <= log m + S, and -sum P(y) s <= S
    return math.log(m) + 2.0 * score_bound


def _list_net_excess(loss: Any, m: int, y_max: int, score_bound: float) -> float:
    # KL(P(y) || P(s)) <= max of log P_i(y) / P_i(s) <= max d - min d with d = y - s
    return y_max + 2.0 * score_bound


def _list_net_linf(loss: Any, m: int, y_max: int, score_bound: float | None) -> float:
    # All score mass on the one document of label 0: 2 (1 - P_i(y)), P_i(y) as small as can be
    return 2.0 - 2.0 / (1.0 + (m - 1) * math.exp(y_max))


def _list_net_l2(loss: Any, m: int, y_max: int, score_bound: float | None) -> float:
    # ||e_i - P(y)|| is convex in P(y), whose set has corners with labels 0 and y_max only: a documents of y_max, n - a
    # of 0. For y_max >= 3, two documents are best; for y_max = 1, 2 lists of more than 200 documents have
    # ||.||^2 <= 1 + max P(y) below what two documents have.
    if y_max == 0:
        return math.sqrt(1.0 - 1.0 / m)
    best, rise = 0.0, math.exp(y_max)
    for n in range(2, min(m, 200) + 1):
        a = np.arange(1, n)
        low = 1.0 / (a * rise + n - a)
        best = max(best, float(np.max((1.0 - low) ** 2 + a * (rise * low) ** 2 + (n - a - 1) * low**2)))
    return math.sqrt(best)


def _list_net_smoothness(loss: Any, m: int, y_max: int, score_bound: float | None) -> float:
    # The largest variance of a variable in [-1, 1]: two documents of equal score
    return 1.0 if m > 1 else 0.0


def _smooth_dcg(loss: Any, m: int, y_max: int, score_bound: float) -> float:
    return float(loss.largest_gain(m, y_max))


def _smooth_dcg_bound(loss: Any, m: int, y_max: int, score_bound: float | None) -> float | None:
    # All labels y_max, any scores
    return None if loss.sign == "regret" else float(loss.largest_gain(m, y_max))


def _smooth_dcg_linf(loss: Any, m: int, y_max: int, score_bound: float | None) -> float | None:
    if m == 1:
        return 0.0
    return float(loss.largest_gain(1, y_max)) / (2.0 * loss.sigma) if loss.k == 1 else None


def _smooth_dcg_l2(loss: Any, m: int, y_max: int, score_bound: float | None) -> float | None:
    linf = _smooth_dcg_linf(loss, m, y_max, score_bound)
    return None if linf is None else linf / math.sqrt(2.0)


def _smooth_dcg_smoothness(loss: Any, m: int, y_max: int, score_bound: float | None) -> float | None:
    if m == 1:
        return 0.0
    return _smoothness(loss, m, y_max, None) if loss.k == 1 and m >= 4 else None


def _slam(loss: Any, m: int, y_max: int, score_bound: float) -> float:
    # sum v <= 1, and every hinge is at most Delta + 2 S
    return float(getattr(loss, "margin", 1.0)) + 2.0 * score_bound


def _structured_ndcg(loss: Any, m: int, y_max: int, score_bound: float) -> float:
    # 1 - NDCG <= 1, and ||A(pi) - A(pi_y)||_1 <= sum |2 i - 1 - m| = floor(m^2 / 2)
    return 1.0 + score_bound * (m * m // 2)


def _svm_map(loss: Any, m: int, y_max: int, score_bound: float) -> float:
    # 1 - AP <= 1, and every pair contributes at most 2 * 2 S / (r (m - r))
    return 1.0 + 4.0 * score_bound


def _exact(bound: _Value) -> _Known:
    # `supremum` has checked that there is a score bound.
    def known(loss: Any, m: int, y_max: int, score_bound: float | None) -> float:
        assert score_bound is not None
        return bound(loss, m, y_max, score_bound)

    return known


_EXACT: dict[str, _Known] = {"lipschitz-linf": _linf, "lipschitz-l2": _l2, "smoothness": _smoothness}
_rank_svm = _pairs(_rank_svm_pair)
_rank_net = _pairs(_rank_net_pair)
_rank_boost = _pairs(_rank_boost_pair)

_ROWS: dict[str, _Row] = {
    "squared": _Row(_one, _squared, None, {**_EXACT, "bound": _exact(_squared)}),
    # Z(y) depends on all labels.
    "squared-ndcg": _Row(_all, _squared_ndcg, None, {**_EXACT, "bound": _exact(_squared_ndcg)}),
    "kl": _Row(_one, _kl, None, {**_EXACT, "bound": _exact(_kl)}),
    "ranksvm": _Row(_two, _rank_svm, None, {**_EXACT, "bound": _exact(_rank_svm)}),
    "ranknet": _Row(_two, _rank_net, None, {**_EXACT, "bound": _exact(_rank_net)}),
    "rankboost": _Row(
        _two, _rank_boost, None, {**_EXACT, "lipschitz-l2": _rank_boost_l2, "bound": _exact(_rank_boost)}
    ),
    "listnet": _Row(
        _all_graded,
        _list_net,
        _list_net_excess,
        {"lipschitz-linf": _list_net_linf, "lipschitz-l2": _list_net_l2, "smoothness": _list_net_smoothness},
    ),
    "smooth-dcg": _Row(
        _one,
        _smooth_dcg,
        None,
        {
            "lipschitz-linf": _smooth_dcg_linf,
            "lipschitz-l2": _smooth_dcg_l2,
            "smoothness": _smooth_dcg_smoothness,
            "bound": _smooth_dcg_bound,
        },
    ),
    "slam": _Row(_all, _slam),
    "structured-ndcg": _Row(_all, _structured_ndcg),
    "svm-map": _Row(_all, _svm_map),
}
