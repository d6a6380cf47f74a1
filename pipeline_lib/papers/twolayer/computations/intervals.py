"""With which intervals are means over repetitions, their ratios and their limits known?"""

from __future__ import annotations

import numpy as np

from pipeline_lib.arrays import Floats
from pipeline_lib.claims.evidence import Interval
from pipeline_lib.statistics import over_folds

LEVEL = 0.95


def mean_interval(values: Floats, level: float = LEVEL) -> Interval:
    """The mean over repetitions with its t interval."""
    mean = over_folds(values, level=level)
    return Interval(mean.mean, mean.low, mean.high)


def columns(name: str, interval: Interval | None) -> dict[str, float | None]:
    """An interval as three columns of a table, empty where there is none.

    Example
    -------
    >>> columns("gap", Interval(0.5, 0.25, 0.75))
    {'gap': 0.5, 'gap_low': 0.25, 'gap_high': 0.75}
    """
    names = (name, f"{name}_low", f"{name}_high")
    if interval is None:
        return dict.fromkeys(names)
    return dict(zip(names, (interval.value, interval.low, interval.high), strict=True))


def joint_level(intervals: int) -> float:
    """The level of each of so many intervals if all together are to hold with 95 % confidence (Bonferroni).

    The worst trial decides a claim, and of many intervals of 95 % some would miss the truth by chance.

    Example
    -------
    >>> joint_level(1), joint_level(10)
    (0.95, 0.995)
    """
    return 1.0 - (1.0 - LEVEL) / intervals


def ratio_interval(above: Floats, below: Floats) -> Interval:
    """mean(above) / mean(below) with its t interval by the delta method, paired by repetition.

    Example
    -------
    >>> ratio_interval(np.array([1.0, 2.0, 3.0]), np.array([2.0, 4.0, 6.0]))
    Interval(value=0.5, low=0.5, high=0.5, freedom=None)
    """
    ratio = float(above.mean() / below.mean())
    return mean_interval(ratio + (above - ratio * below) / below.mean())


def limits_at_infinity(x: Floats, y: Floats) -> Floats:
    """The limits of y = limit + b/x + c/x^2 through the largest four x (all, if fewer), shape (repetitions,).

    Least squares for each repetition separately; being linear in y, their mean is the fit to the means.

    Example
    -------
    >>> x = np.array([1.0, 2.0, 4.0, 8.0, 16.0])
    >>> limits_at_infinity(x, (0.25 + 3 / x - 1 / x**2)[None]).round(6)
    array([0.25])
    """
    last = slice(-4, None)
    design = np.column_stack([np.ones_like(x[last]), 1.0 / x[last], 1.0 / x[last] ** 2])[:, : len(x[last])]
    return np.asarray(y[:, last] @ np.linalg.pinv(design)[0])
