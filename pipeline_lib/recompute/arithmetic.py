"""Means, quantiles of Student's distribution, and fitted powers, by their textbook formulas."""

import math
from collections.abc import Sequence
from functools import cache
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike, NDArray

LEVEL = 0.95
"""The confidence of intervals, unless a study states another."""


def student_share(t: float, freedom: int) -> float:
    """P(|T| <= t) of Student's distribution, by the finite sums for whole degrees of freedom.

    With angle a = atan(t / sqrt(f)), for odd f and for even f in turn (Abramowitz and Stegun, 26.7.3 and 26.7.4)::

        2/pi (a + sin a (cos a + 2/3 cos^3 a + ... + (2 4 ... (f-3)) / (3 5 ... (f-2)) cos^(f-2) a))
        sin a (1 + 1/2 cos^2 a + ... + (1 3 ... (f-3)) / (2 4 ... (f-2)) cos^(f-2) a)

    Example
    -------
    >>> student_share(1.0, 1), round(student_share(2.0, 2), 6)
    (0.5, 0.816497)
    """
    angle = math.atan(t / math.sqrt(freedom))
    cosine, odd = math.cos(angle), freedom % 2
    term, total = (cosine, 0.0) if odd else (1.0, 0.0)
    for k in range(2 + odd, freedom + 1, 2):
        total += term
        term *= (k - 1) / k * cosine * cosine
    return 2 / math.pi * (angle + math.sin(angle) * total) if odd else math.sin(angle) * total


def normal(level: float = LEVEL) -> float:
    """The z with P(|Z| <= z) = level for a normal Z.

    Example
    -------
    >>> round(normal(), 6)
    1.959964
    """
    return NormalDist().inv_cdf((1 + level) / 2)


@cache
def student(freedom: int, level: float = LEVEL) -> float:
    """The t with P(|T| <= t) = level, by bisection.

    Example
    -------
    >>> [round(student(freedom), 6) for freedom in (1, 2, 4, 199)]
    [12.706205, 4.302653, 2.776445, 1.971957]
    """
    low, high = 0.0, 1.0
    while student_share(high, freedom) < level:
        high *= 2
    while low < (middle := (low + high) / 2) < high:
        low, high = (middle, high) if student_share(middle, freedom) < level else (low, middle)
    return middle


def spread(values: ArrayLike) -> float:
    """The standard deviation with the divisor n - 1, from the squares of the differences from the mean.

    Example
    -------
    >>> spread([1.0, 3.0])
    1.4142135623730951
    """
    numbers = np.asarray(values, float)
    return math.sqrt(float(((numbers - numbers.mean()) ** 2).sum()) / (len(numbers) - 1))


def interval(values: ArrayLike, shared_error: float = 0.0, level: float = LEVEL) -> tuple[float, float, float]:
    """The mean, and the ends of its t interval; what all values share adds its normal interval in quadrature.

    Of one value the ends are that value, since no spread is known.

    Example
    -------
    >>> [round(end, 4) for end in interval([1.0, 2.0, 3.0])]
    [2.0, -0.4841, 4.4841]
    """
    numbers = np.asarray(values, float)
    mean, own = float(numbers.mean()), 0.0
    if len(numbers) > 1:
        own = student(len(numbers) - 1, level) * spread(numbers) / math.sqrt(len(numbers))
    half = math.sqrt(own**2 + (normal(level) * shared_error) ** 2)
    return mean, mean - half, mean + half


def ratio(above: ArrayLike, below: ArrayLike) -> tuple[float, float, float]:
    """The quotient of two means with its 95 % interval by the delta method, paired by repetition.

    The standard error is that of the mean of (a - ratio b) / mean(b).

    Example
    -------
    >>> ratio([1.0, 2.0, 3.0], [2.0, 4.0, 6.0])
    (0.5, 0.5, 0.5)
    """
    a, b = np.asarray(above, float), np.asarray(below, float)
    quotient = float(a.mean() / b.mean())
    _, low, high = interval((a - quotient * b) / b.mean())
    half = (high - low) / 2
    return quotient, quotient - half, quotient + half


def power(x: Sequence[float] | NDArray[np.float64], y: ArrayLike) -> float:
    """The exponent b of y = c x^b, from the normal equations of least squares on logarithms.

    Points with the same x are averaged before.

    Example
    -------
    >>> round(power([1, 10, 100], [5.0, 0.5, 0.05]), 9)
    -1.0
    """
    grid = np.asarray(x, float)
    means = {float(at): float(np.asarray(y, float)[grid == at].mean()) for at in grid}
    log_x, log_y = ([math.log(one) for one in numbers] for numbers in (means, means.values()))
    n, sum_x, sum_y = len(means), math.fsum(log_x), math.fsum(log_y)
    sum_xy = math.fsum(a * b for a, b in zip(log_x, log_y, strict=True))
    return (n * sum_xy - sum_x * sum_y) / (n * math.fsum(a * a for a in log_x) - sum_x**2)


def power_of_points(x: Sequence[float], y: Sequence[float]) -> tuple[float, float, float]:
    """The exponent through single points, with the 95 % interval of the fit's own residuals.

    Example
    -------
    >>> [round(end, 3) for end in power_of_points([1, 10, 100], [1.0, 12.0, 100.0])]
    [1.0, 0.419, 1.581]
    """
    slope, log_x, log_y = power(x, y), np.log(np.asarray(x, float)), np.log(np.asarray(y, float))
    residual = log_y - log_y.mean() - slope * (log_x - log_x.mean())
    freedom = len(log_x) - 2
    error = math.sqrt(float((residual**2).sum()) / freedom / float(((log_x - log_x.mean()) ** 2).sum()))
    return slope, slope - student(freedom) * error, slope + student(freedom) * error


def power_of_repetitions(x: Sequence[float], y: NDArray[np.float64]) -> tuple[float, float, float]:
    """The exponent through the means of repetitions, shape (repetitions, points), with its 95 % interval.

    A repetition moves the slope by sum_j w_j y_rj / mean_j, with the weights w_j of least squares: the standard error
    is that of the mean of these moves.

    Example
    -------
    >>> [round(end, 3) for end in power_of_repetitions([1, 10, 100], np.array([[1, 9, 90], [1, 11, 110.0]]))]
    [1.0, 0.724, 1.276]
    """
    means, log_x = y.mean(axis=0), np.log(np.asarray(x, float))
    weights = (log_x - log_x.mean()) / float(((log_x - log_x.mean()) ** 2).sum())
    slope = power(x, means)
    _, low, high = interval([float(sum(weights * row / means)) for row in y])
    return slope, slope - (high - low) / 2, slope + (high - low) / 2
