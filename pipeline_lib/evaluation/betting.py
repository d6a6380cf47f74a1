"""What does a sample of values in [0, 1] say for certain about the mean of the law that they were drawn from?

Limits hold for every law and every fixed number n of independent values, at the stated confidence. They come from bets
against each candidate m of the mean (Waudby-Smith and Ramdas, JRSS B 2024). A gambler starts with capital 1 and stakes
on values above m, one after the other in some order:

::

    W(m) = prod_t (1 + lambda_t (x_t - m)),      0 <= lambda_t < 1 / m,      lambda_t depends on x_1 .. x_{t-1} only

**Why limits are valid.** If the mean is at most m, E[1 + lambda_t (x_t - m) | x_1 .. x_{t-1}] <= 1, so that W is a
nonnegative supermartingale and E[W(m)] <= 1 after the last value. This holds for every order that does not depend on
the values, and hence for the mean W of the capitals of several orders: the mean of e-values is an e-value. By Markov's
inequality, P(W(m) >= 1 / delta) <= delta; candidates with so large a capital are rejected.

**The limit.** The candidates 0 .. 1 are cut into fixed cells (g_{a-1}, g_a]. Within a cell, bets are those of its top
g_a, the same for all m, so that every factor and therefore W_a(m) falls in m, and the rejected candidates of the cell
are those up to a root. Cells are gone through from below. The lower limit is the root in the first cell that is not
rejected whole, or its bottom. Let mu be the mean, in the cell a. A limit above mu requires that cell a was rejected
whole, or that its root lies above mu; either way W_a(mu) >= 1 / delta, whose probability is at most delta. No property
of W across cells is needed. To save time, cells far below the sample mean x are passed over by Chernoff's inequality,
where n kl(x, g_a) >= log(100 / delta) and x > g_a; this uses a hundredth of delta, and bets have the rest.

**The bets** set the width and never the validity. Voracek and Orabona (2025) let the bet depend on the capital that is
still to be won in the remaining rounds. Here it is the stake with which an option is hedged that pays C / delta if the
sum of the values ends high enough. Its price with p the share of the target that was reached, p = delta W / C, is a
normal probability, and its hedge is

::

    lambda_t = phi(z) / (p sqrt((n - t) S_t)),   Phi(z) = p,   phi(z) / p ~ sqrt(2 log(1/p) + b^2) - b,   b = 0.42
    S_t = min(v, (w v + sum_{s<t} (x_s - m)^2) / (w + t)),   w = n / (t + 1),   v = m (1 - m)
    lambda_t <= 0.99 / m,    and no bets once W >= C / delta

with t values seen. The larger S of the first rounds keeps short runs of equal values from ruinous stakes. With 30
orders and C = 1.3, a candidate is rejected when about three orders in four reach the target, whichever these are. A
single order has b = 0 and C = 1, which are the bets of Voracek and Orabona for this S: its limit depends on the order,
and the slack below the sample's mean is about a tenth smaller on average (tests/evaluation/test_betting.py).

References
----------
Waudby-Smith and Ramdas, "Estimating means of bounded random variables by betting", JRSS B 86 (2024); Voracek and
Orabona, "STaR-Bets: Sequential target-recalculating bets for tighter confidence intervals", arXiv 2505.22422 (2025).
"""

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import rel_entr

from pipeline_lib.core import checks
from pipeline_lib.core.arrays import Floats
from pipeline_lib.core.checks import Count, Natural, Probability, checked
from pipeline_lib.core.compiled import njit
from pipeline_lib.core.errors import DataError
from pipeline_lib.core.seeds import generator

__all__ = ["interval", "lower_limit", "upper_limit"]

_ORDERS = 30
_DRAWN = 600_000
"""Capitals are averaged over 30 orders, or over fewer of more than 20,000 values: limits hardly depend on them."""
_GOAL, _BEND = 1.3, 0.42
_LARGEST_STAKE = 0.99
_CELLS_PER_ROOT = 40.0
_HALVINGS = 16
_PASSED_SHARE = 0.01
_ROUNDING = 1e-9
"""So much more than 1 / delta is asked for, as products of n factors are rounded."""


@checked
def lower_limit(values: ArrayLike, *, level: Probability = 0.95, seed: Natural = 0, orders: Count = _ORDERS) -> float:
    """A number that the mean of the law is not below, with confidence ``level``, for every law on [0, 1].

    ::

        L = smallest m that is not rejected,    P(L <= mean) >= level

    by bets against m whose capital is averaged over 30 orders; the module's documentation has formulas and the proof.

    Parameters
    ----------
    values : array-like, shape (n,), in [0, 1]
        Independent draws from one law, n >= 1. Each counts once: there are no weights.
    level : float
        Confidence in (0, 1), of this limit alone.
    seed : int
        Another seed gives other orders. It must be chosen without regard to the result.
    orders : int
        Over how many orders of the values capitals are averaged; 1 for STaR-Bets, whose limit is tighter on average but
        depends on the order, and so on the seed.

    Returns
    -------
    The limit, in [0, 1). Raising a value does not always raise it: bets learn from spread as well.

    Raises
    ------
    DataError
        When there is no value, or one is outside [0, 1].

    References
    ----------
    Waudby-Smith and Ramdas, JRSS B 86 (2024); Voracek and Orabona, arXiv 2505.22422 (2025).

    Example
    -------
    >>> round(lower_limit([0.5, 0.75, 1.0, 0.75] * 25), 3), lower_limit([0.0, 0.0])
    (0.709, 0.0)
    """
    return _lower(_in_order(values, seed, orders), 1.0 - level)


@checked
def upper_limit(values: ArrayLike, *, level: Probability = 0.95, seed: Natural = 0, orders: Count = _ORDERS) -> float:
    """A number that the mean of the law is not above: 1 less the :func:`lower_limit` of 1 - x.

    Arguments and errors are those of :func:`lower_limit`.

    Example
    -------
    >>> round(upper_limit([0.5, 0.75, 1.0, 0.75] * 25), 3), upper_limit([1.0, 1.0])
    (0.786, 1.0)
    """
    return 1.0 - _lower(1.0 - _in_order(values, seed, orders), 1.0 - level)


@checked
def interval(
    values: ArrayLike, *, level: Probability = 0.95, seed: Natural = 0, orders: Count = _ORDERS
) -> tuple[float, float]:
    """Both limits, each at confidence (1 + level) / 2, which therefore hold together with confidence ``level``.

    Arguments and errors are those of :func:`lower_limit`.

    Example
    -------
    >>> low, high = interval([0.5, 0.75, 1.0, 0.75] * 25)
    >>> round(low, 3), round(high, 3)
    (0.703, 0.792)
    """
    ordered, delta = _in_order(values, seed, orders), (1.0 - level) / 2.0
    return _lower(ordered, delta), 1.0 - _lower(1.0 - ordered, delta)


def _in_order(values: ArrayLike, seed: int, orders: int) -> Floats:
    """The values in every order, shape (n, orders): all orders are bet on at once."""
    array = checks.floats("values", values, ndim=1)
    if not len(array):
        raise DataError("values: expected at least one value, found none")
    if array.min() < 0.0 or array.max() > 1.0:
        wrong = int(np.argmax((array < 0.0) | (array > 1.0)))
        raise DataError(f"values[{wrong}]: expected a number between 0 and 1, found {array[wrong]:g}")
    rng = generator(seed, "evaluation", "orders", len(array))
    drawn = min(orders, max(5, _DRAWN // len(array)))
    return np.stack([array[rng.permutation(len(array))] for _ in range(drawn)], axis=1)


def _lower(ordered: Floats, delta: float) -> float:
    n, mean = len(ordered), float(ordered[:, 0].mean())
    # Equal steps in arcsin(sqrt(m)) are equal fractions of the largest standard deviation of values with mean m.
    tops = np.sin(np.linspace(0.0, math.pi / 2.0, math.ceil(_CELLS_PER_ROOT * math.sqrt(n)) + 1)) ** 2
    inner = tops[1:-1]
    divergence = rel_entr(mean, inner) + rel_entr(1.0 - mean, 1.0 - inner)
    far = (inner < mean) & (n * divergence >= (1.0 + _ROUNDING) * math.log(1.0 / (_PASSED_SHARE * delta)))
    target = math.log(1.0 / ((1.0 - _PASSED_SHARE) * delta))
    return float(_first_not_rejected(ordered, tops, 1 + int(far.sum()), target))


@njit
def _first_not_rejected(ordered: Floats, tops: Floats, cell: int, target: float) -> float:
    stakes = np.empty_like(ordered)
    while _bet(ordered, tops[cell], target, stakes) and cell < len(tops) - 1:
        cell += 1
    low, high = tops[cell - 1], tops[cell]
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        if _enough(ordered, stakes, middle, target):
            low = middle
        else:
            high = middle
    return low


@njit(error_model="numpy")  # divisions without checks are done for several orders at a time
def _bet(ordered: Floats, top: float, target: float, stakes: Floats) -> bool:
    # stakes[t, k] = lambda_t of order k against top; whether the mean over orders of W(top) >= exp(target)
    n, orders = ordered.shape
    goal, bend = (_GOAL, _BEND) if orders > 1 else (1.0 + _ROUNDING, 0.0)
    variance, largest = top * (1.0 - top), _LARGEST_STAKE / top
    share = np.full(orders, math.exp(-target) / goal)  # W / C exp(target), of each order
    squares, to_win = np.zeros(orders), np.empty(orders)
    for t in range(n):
        prior = n / (t + 1.0)
        for k in range(orders):
            to_win[k] = max(0.0, -math.log(share[k]))
        for k in range(orders):
            spread = (n - t) * min(variance, (prior * variance + squares[k]) / (prior + t))
            wanted = (math.sqrt(2.0 * to_win[k] + bend * bend) - bend) / math.sqrt(spread)
            stake = min(largest, wanted) if to_win[k] > 0.0 else 0.0
            excess = ordered[t, k] - top
            share[k] *= 1.0 + stake * excess
            squares[k] += excess * excess
            stakes[t, k] = stake
        if share.min() >= 1.0:
            stakes[t + 1 :] = 0.0
            break
    return goal * share.sum() >= orders * (1.0 + _ROUNDING)


@njit
def _enough(ordered: Floats, stakes: Floats, m: float, target: float) -> bool:
    # whether the mean over orders of W(m) = prod_t (1 + lambda_t (x_t - m)) >= exp(target)
    n, orders = ordered.shape
    share = np.full(orders, math.exp(-target))
    for t in range(n):
        for k in range(orders):
            share[k] *= 1.0 + stakes[t, k] * (ordered[t, k] - m)
    return share.sum() >= orders * (1.0 + _ROUNDING)
