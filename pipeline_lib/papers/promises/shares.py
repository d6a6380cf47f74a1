"""How often did something happen in independent draws, with which interval?"""

from scipy.special import betaincinv

from pipeline_lib.statistics import LEVEL, Interval


def share(times: int, draws: int) -> Interval:
    """The share of draws in which it happened, with the interval of Clopper and Pearson, which is never too short.

    ::

        low, high = Beta^-1(a; k, n - k + 1),  Beta^-1(1 - a; k + 1, n - k),      a = (1 - level) / 2

    Example
    -------
    >>> found = share(0, 100)
    >>> found.value, found.low, round(found.high, 4)
    (0.0, 0.0, 0.0362)
    """
    tail = (1.0 - LEVEL) / 2.0
    low = float(betaincinv(times, draws - times + 1, tail)) if times else 0.0
    high = float(betaincinv(times + 1, draws - times, 1.0 - tail)) if times < draws else 1.0
    return Interval(times / draws, low, high)
