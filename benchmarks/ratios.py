"""How many times as long as another does one implementation take, and how certain is that number?

The ratio is the median of the ratios within the rounds, because both calls of a round met the same state of the
machine. Its interval goes from the k-th smallest to the k-th largest of these ratios: whatever their distribution, the
median of n independent ones is outside with probability 2 P(B <= k - 1), B binomial with n throws of a fair coin (the
interval that belongs to the sign test). It follows from the measured times alone, without random numbers and without
the approximations that a bootstrap of so few rounds would need.
"""

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

LEVEL = 0.95


@dataclass(frozen=True)
class Ratio:
    """The median of ratios, with an interval [low, high] that contains the true median with probability ``level``.

    The level is at least :data:`LEVEL` where there are six ratios or more; with fewer, the interval is their whole
    range, and its level is below. A single ratio has the level 0.
    """

    median: float
    low: float
    high: float
    level: float


def of_rounds(ours: Sequence[float], theirs: Sequence[float]) -> Ratio:
    """How many times as long as ours theirs takes, from the seconds of the rounds that both took part in.

    Example
    -------
    >>> of_rounds([1.0, 1.0, 2.0], [3.0, 4.0, 10.0])
    Ratio(median=4.0, low=3.0, high=5.0, level=0.75)
    """
    rounds = min(len(ours), len(theirs))
    found = sorted(b / a for a, b in zip(ours[:rounds], theirs[:rounds], strict=True))
    k, level = place(rounds)
    return Ratio(statistics.median(found), found[k - 1], found[-k], level)


def place(n: int, level: float = LEVEL) -> tuple[int, float]:
    """The largest k for which the k-th smallest and the k-th largest of n enclose the median, and their exact level.

    Where even k = 1 does not reach the level, it is k = 1 with the level that it has.

    Example
    -------
    >>> place(9), place(6), place(3), place(1)
    ((2, 0.9609375), (1, 0.96875), (1, 0.75), (1, 0.0))
    """
    k = 1
    while 2 * (k + 1) <= n and _level(n, k + 1) >= level:
        k += 1
    return k, _level(n, k)


def _level(n: int, k: int) -> float:
    return 1.0 - 2.0 * sum(math.comb(n, j) for j in range(k)) / 2.0**n
