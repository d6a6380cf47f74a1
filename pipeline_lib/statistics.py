"""How certain are the numbers of a study?

Tests and intervals answer whether one ranker is better than another on these queries, how far a mean may be from the
true value, and whether an error really falls like n^(-1/2). The unit of resampling is always the one that was drawn
independently: the query, the result of a fold, or the repetition, and never the document.

NaN is rejected: first drop the queries without a value (``no_relevant="skip"``) from both sides.
"""

import math
import sys
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import bdtrik, ndtr, ndtri, stdtrit

from pipeline_lib.core import checks
from pipeline_lib.core.arrays import Floats
from pipeline_lib.core.checks import Count, Natural, NonNegative, Probability, checked
from pipeline_lib.core.errors import DataError

ENUMERATED_DIFFERENCES = 16
LARGEST = 1e150
NUMBERS_PER_BLOCK = 2**20  # rows of resampled numbers are made in blocks of 8 MB
# Resampled sums that equal the observed one in exact arithmetic must count as equal in floating point.
RELATIVE_TIE = 1e-12
LEVEL = 0.95
"""The confidence of intervals in tables."""


@dataclass(frozen=True)
class Interval:
    """A measured number with its interval of 95 % confidence, ``low <= value <= high``, all finite.

    ``freedom`` are the degrees of freedom of the Student distribution whose quantile gave the ends, such as the number
    of repetitions minus 1. None stands for a normal quantile, or for an interval that needed none. By it an interval is
    widened where several are judged jointly (:func:`pipeline_lib.claims.verdicts.jointly`).

    Example
    -------
    >>> Interval(0.64, 0.61, 0.67).high
    0.67
    >>> Interval(0.64, 0.65, 0.67)
    Traceback (most recent call last):
        ...
    pipeline_lib.core.errors.DataError: interval: expected low <= value <= high, found 0.65, 0.64, 0.67
    """

    value: float
    low: float
    high: float
    freedom: float | None = None

    def __post_init__(self) -> None:
        numbers = (self.value, self.low, self.high)
        if any(isinstance(number, bool) or not isinstance(number, int | float) for number in numbers):
            raise DataError(f"value, low, high: expected three numbers, found {numbers}")
        if not all(abs(number) <= sys.float_info.max for number in numbers):  # whole numbers may be larger
            raise DataError(f"value, low, high: expected finite numbers, found {numbers}")
        if not self.low <= self.value <= self.high:
            raise DataError(f"interval: expected low <= value <= high, found {self.low}, {self.value}, {self.high}")
        if self.freedom is not None and not (
            isinstance(self.freedom, int | float) and 0 < self.freedom <= sys.float_info.max
        ):
            raise DataError(f"freedom: expected degrees of freedom above 0, found {self.freedom}")


@dataclass(frozen=True)
class FoldSummary:
    """Mean and standard deviation (divisor k - 1) over k folds, with the mean's t interval [low, high]."""

    mean: float
    sd: float
    low: float
    high: float
    level: float
    folds: int


@dataclass(frozen=True)
class Exponent:
    """The power law y = e^intercept x^slope fitted on logarithms; [low, high] is the slope's interval.

    ``r2`` is the share of the variance of log y that the line explains (1 when log y does not vary).
    """

    slope: float
    low: float
    high: float
    level: float
    intercept: float
    r2: float


@checked
def paired_randomisation_test(
    a: ArrayLike, b: ArrayLike, *, resamples: Count = 100_000, rng: np.random.Generator
) -> float:
    """Two-sided paired randomisation test over queries: p-value of "a and b are the same system".

    Under that hypothesis the sign of every difference d_q = a_q - b_q is a fair coin. With signs e_q

    ::

        p = P( |sum_q e_q d_q| >= |sum_q d_q| )

    Differences of 0 do not matter. Up to 16 others all 2^n sign patterns are enumerated and p is exact; beyond that
    it is estimated by p = (1 + hits) / (1 + resamples), which keeps its level and is never 0.
    Memory is bounded whatever the number of queries and resamples (blocks of 8 MB).

    Parameters
    ----------
    a, b : array-like, shape (Q,)
        A measure of two systems on the same queries.
    resamples : int
        Number of random sign patterns, if they are not enumerated.
    rng : numpy.random.Generator
        Unused when enumerated.

    Raises
    ------
    DataError
        When shapes differ, there is no query, a value is not finite, or resamples < 1.

    References
    ----------
    Smucker, Allan and Carterette, "A comparison of statistical significance tests for information retrieval
    evaluation", CIKM 2007; the +1 of Phipson and Smyth, "Permutation p-values should never be zero" (2010).

    Example
    -------
    Four differences of one sign: 2 of the 16 patterns are as extreme.

    >>> paired_randomisation_test([2, 3, 4, 5], [1, 1, 1, 1], rng=np.random.default_rng(0))
    0.125
    """
    differences = _paired_differences(a, b)
    differences = differences[differences != 0.0]
    n = len(differences)
    if not n:
        return 1.0
    total = differences.sum()
    reach = abs(total) - RELATIVE_TIE * np.abs(differences).sum()
    if n <= ENUMERATED_DIFFERENCES:
        patterns = np.arange(2**n)[:, None] >> np.arange(n) & 1
        return float(np.mean(np.abs(2.0 * (patterns @ differences) - total) >= reach))
    hits = 0
    for block in _blocks(resamples, n):
        # Bits rather than signs: sum e d = 2 sum bit d - sum d.
        bits = np.unpackbits(np.frombuffer(rng.bytes(block * n // 8 + 1), np.uint8), count=block * n)
        hits += int(np.sum(np.abs(2.0 * (bits.reshape(block, n) @ differences) - total) >= reach))
    return (1 + hits) / (1 + resamples)


@checked
def smallest_p_value(n_queries: Natural) -> float:
    """The smallest p-value that :func:`paired_randomisation_test` can give for so many queries.

    When all differences have one sign, two of the 2^n patterns of signs are as extreme: all plus and all minus.

    Example
    -------
    >>> smallest_p_value(4), smallest_p_value(5), smallest_p_value(6)
    (0.125, 0.0625, 0.03125)
    """
    return min(1.0, 2.0 ** (1 - n_queries))


@checked
def holm(p_values: ArrayLike) -> Floats:
    """Holm's adjusted p-values for k tests at once; rejecting those at most alpha keeps the family-wise error below it.

    ::

        adjusted of the i-th smallest = max_{l <= i} min(1, (k - l + 1) p_(l))

    Parameters
    ----------
    p_values : array-like, shape (k,)
        In [0, 1].

    Returns
    -------
    float64 array, shape (k,), in the order given.

    Raises
    ------
    DataError
        When a p-value is not in [0, 1] or they are not one-dimensional.

    References
    ----------
    Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal of Statistics 6 (1979).

    Example
    -------
    >>> holm([0.01, 0.04, 0.03])
    array([0.03, 0.06, 0.06])
    """
    p = _values(p_values, "p_values", at_least=0)
    if np.any((p < 0.0) | (p > 1.0)):
        raise DataError(f"p_values: expected numbers in [0, 1], found {p[(p < 0.0) | (p > 1.0)][0]}")
    order = np.argsort(p, kind="stable")
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1)))
    return adjusted


@checked
def bootstrap_interval(
    values: ArrayLike, *, level: Probability = 0.95, resamples: Count = 10_000, rng: np.random.Generator
) -> tuple[float, float]:
    """Bootstrap interval (BCa) of the mean over queries.

    Queries are drawn with replacement. The bias-corrected and accelerated interval is used rather than the plain
    percentile one because measures on queries are skewed (many zeros, a wall at 1): its error in coverage is of order
    1/Q instead of 1/sqrt(Q), and like the percentile interval it never leaves the range of the measure. With H the
    distribution of the resampled mean, z0 = Phi^-1(H(estimate)) and a the skewness of its jackknife values / 6,

    ::

        low, high = H^-1( Phi( z0 + (z0 + z) / (1 - a (z0 + z)) ) )      at z = Phi^-1((1 -+ level) / 2)

    Parameters
    ----------
    values : array-like, shape (Q,)
        One finite value per query, at least two.
    level : float
        Confidence, in (0, 1).
    resamples : int
        Bootstrap samples. Memory is bounded (blocks of 8 MB).
    rng : numpy.random.Generator

    Returns
    -------
    (low, high), the two ends.

    Raises
    ------
    DataError
        When there are fewer than two values, a value is not finite, or level or resamples is out of range.

    References
    ----------
    Efron, "Better bootstrap confidence intervals", JASA 82 (1987).

    Example
    -------
    >>> low, high = bootstrap_interval([0.0, 0.5, 0.5, 1.0], rng=np.random.default_rng(0))
    >>> 0 <= low < 0.5 < high <= 1
    True
    """
    sample = _values(values, "values", at_least=2)
    n, estimate = len(sample), float(sample.mean())
    if np.ptp(sample) == 0.0:
        return estimate, estimate
    resampled = np.concatenate(
        [sample[rng.integers(n, size=(block, n), dtype=np.int32)].mean(axis=-1) for block in _blocks(resamples, n)]
    )
    low, high = np.quantile(resampled, _bca_levels(sample, resampled, estimate, level))
    return float(low), float(high)


@checked
def over_folds(values: ArrayLike, *, level: Probability = 0.95) -> FoldSummary:
    """Mean, standard deviation and t interval over the results of k folds, or of k independent repetitions.

    ::

        low, high = mean -+ t_{k-1, (1 + level)/2} sd / sqrt(k)

    Training sets of different folds overlap, so the k results are not independent, and the interval tends to be too
    narrow rather than too wide (Bengio and Grandvalet, "No unbiased estimator of the variance of k-fold
    cross-validation", JMLR 5, 2004).

    Parameters
    ----------
    values : array-like, shape (k,)
        One finite result per fold, at least two.

    Raises
    ------
    DataError
        When there are fewer than two values, a value is not finite, or level is not in (0, 1).

    Example
    -------
    >>> summary = over_folds([0.4, 0.5, 0.6])
    >>> round(summary.mean, 3), round(summary.sd, 3), round(summary.low, 3), round(summary.high, 3)
    (0.5, 0.1, 0.252, 0.748)
    """
    results = _values(values, "values", at_least=2)
    mean, sd = float(results.mean()), float(results.std(ddof=1))
    half = _t_quantile(len(results) - 1, level) * sd / len(results) ** 0.5
    return FoldSummary(mean, sd, mean - half, mean + half, level, len(results))


@checked
def mean_interval(values: ArrayLike, level: Probability = LEVEL, shared_error: NonNegative = 0.0) -> Interval:
    """The mean over k independent repetitions with its interval, as :func:`over_folds` has it.

    ::

        low, high = mean -+ sqrt( (t_{k-1, (1 + level)/2} sd)^2 / k + (z_{(1 + level)/2} shared_error)^2 )

    Parameters
    ----------
    shared_error : float >= 0
        Standard error of what all repetitions have in common, such as one held-out sample: it does not average out.

    Raises
    ------
    DataError
        As :func:`over_folds`, and when the error is negative or not finite.

    Example
    -------
    >>> mean_interval([1.0, 1.0])
    Interval(value=1.0, low=1.0, high=1.0, freedom=None)
    >>> round(mean_interval([1.0, 1.0], shared_error=0.1).low, 3)
    0.804
    """
    mean = over_folds(values, level=level)
    of_repetitions = _t_quantile(mean.folds - 1, level) * mean.sd / mean.folds**0.5
    half = math.hypot(of_repetitions, float(ndtri((1.0 + level) / 2.0)) * shared_error)
    return Interval(mean.mean, mean.mean - half, mean.mean + half)


@checked
def ratio_interval(above: ArrayLike, below: ArrayLike) -> Interval:
    """mean(above) / mean(below) with its t interval by the delta method, paired by repetition.

    ::

        ratio = mean(above) / mean(below),   the interval is that of the mean of
        ratio + (above_r - ratio below_r) / mean(below)

    Parameters
    ----------
    above, below : array-like, shape (repetitions,)
        At least two; the mean of ``below`` is not 0.

    Raises
    ------
    DataError
        As :func:`over_folds`, when the shapes differ, and when the mean of ``below`` is 0 or too small to divide by.

    Example
    -------
    >>> ratio_interval([1.0, 2.0, 3.0], [2.0, 4.0, 6.0])
    Interval(value=0.5, low=0.5, high=0.5, freedom=None)
    """
    numerators, denominators = _values(above, "above", at_least=2), _values(below, "below", at_least=2)
    if len(numerators) != len(denominators):
        raise DataError(
            f"above and below: expected the same repetitions in both, found {len(numerators)} and {len(denominators)}"
        )
    if not (mean := denominators.mean()):
        raise DataError("below: expected a mean other than 0, found 0")
    with np.errstate(over="ignore", invalid="ignore"):
        ratio = float(numerators.mean() / mean)
        linear = ratio + (numerators - ratio * denominators) / mean
    if not np.abs(linear).max() <= LARGEST:
        raise DataError(f"below: expected a mean by which above can be divided, found {mean:g}")
    return mean_interval(linear)


@checked
def limits_at_infinity(x: ArrayLike, y: ArrayLike) -> Floats:
    """The limits of y = limit + b/x + c/x^2 through the largest four x (all, if fewer).

    Least squares for each repetition separately; being linear in y, their mean is the fit to the means.

    Parameters
    ----------
    x : array-like, shape (grid,)
        Positive and rising, so that the last four are the largest.
    y : array-like, shape (repetitions, grid)
        What was measured in every repetition at every x.

    Returns
    -------
    float64 array, shape (repetitions,)

    Raises
    ------
    DataError
        When shapes differ, a value is not finite, there is a single repetition, or x does not rise or is not positive.

    Example
    -------
    >>> x = np.array([1.0, 2.0, 4.0, 8.0, 16.0])
    >>> limits_at_infinity(x, [0.25 + 3 / x - 1 / x**2] * 2).round(6)
    array([0.25, 0.25])
    """
    grid, measured = _checked_grid(x, y)
    if measured.ndim != 2:
        raise DataError(f"y: expected shape (repetitions, {len(grid)}), found {measured.shape}")
    if np.any(np.diff(grid) <= 0.0):
        raise DataError("x: expected rising numbers, found others")
    last = slice(-4, None)
    design = np.column_stack([np.ones_like(grid[last]), 1.0 / grid[last], 1.0 / grid[last] ** 2])[:, : len(grid[last])]
    return np.asarray(measured[:, last] @ np.linalg.pinv(design)[0])


@checked
def fit_exponent(x: ArrayLike, y: ArrayLike, *, level: Probability = 0.95) -> Exponent:
    """Fit the exponent of a rate: the slope of log y against log x, with its confidence interval.

    ::

        log ybar(x) = intercept + slope log x,      ybar(x) = mean of the y measured at x,  by ordinary least squares

    - ``y`` of shape (grid,): values at equal x are averaged; the interval is the t interval of least squares, which
      presumes equal, independent deviations from the line.
    - ``y`` of shape (repetitions, grid): row r holds one repetition of the whole grid. With g the least-squares
      weights, slope = sum_x g_x log ybar(x), the slope's influence values z_r = sum_x g_x y_r(x) / ybar(x) (the delta
      method) give slope -+ t_{R-1} sd(z) / sqrt(R). Whole repetitions are the unit, so nothing is presumed about how a
      repetition's values at different x depend on each other, nor that the points lie on a line. In simulations, its
      coverage is better than that of studentised bootstraps over repetitions, which fail with fewer than about 10 of
      them, and it needs no random numbers.

    Single values may be negative or 0 (a measured gap can be); their means may not.

    Parameters
    ----------
    x : array-like, shape (grid,)
        Positive, at least three distinct values.
    y : array-like, shape (grid,) or (repetitions, grid)
        Finite; at least two repetitions.
    level : float
        Confidence of the interval, in (0, 1).

    Raises
    ------
    DataError
        When shapes differ, a value is not finite, x or a mean is not positive, x has fewer than three distinct
        values, there is a single repetition, or level is not in (0, 1).

    Example
    -------
    >>> fit = fit_exponent([1, 10, 100], [5.0, 0.5, 0.05])
    >>> round(fit.slope, 6), round(fit.intercept, 6), round(fit.r2, 6)
    (-1.0, 1.609438, 1.0)
    """
    grid, measured = _checked_grid(x, y)
    points, rows = _average_equal_x(grid, np.atleast_2d(measured))
    if len(points) < 3:
        raise DataError(f"x: expected at least three distinct values to fit a slope, found {len(points)}")
    means = rows.mean(axis=0)
    if np.any(means <= 0.0):
        worst = int(np.argmin(means))
        raise DataError(f"y: expected a positive mean at every x, found {means[worst]:g} at x = {points[worst]:g}")
    log_x, log_y = np.log(points), np.log(means)
    centred = log_x - log_x.mean()
    weights = centred / (centred @ centred)
    slope = float(weights @ log_y)
    intercept = float(log_y.mean() - slope * log_x.mean())
    residual = float(np.sum((log_y - intercept - slope * log_x) ** 2))
    spread = float(np.sum((log_y - log_y.mean()) ** 2))
    if measured.ndim == 1:
        freedom = len(points) - 2
        error = float(np.sqrt(residual / freedom * (weights @ weights)))
    else:
        freedom = len(rows) - 1
        error = float(((rows / means) @ weights).std(ddof=1) / np.sqrt(len(rows)))
    half = _t_quantile(freedom, level) * error
    r2 = 1.0 - residual / spread if spread > 0.0 else 1.0
    return Exponent(slope, slope - half, slope + half, level, intercept, r2)


@checked
def needed_for_quantile(probability: Probability) -> int:
    """How many numbers :func:`quantile_interval` needs: the least n with max(p, 1 - p)^n <= 0.025.

    Example
    -------
    >>> needed_for_quantile(0.95)
    72
    """
    return math.ceil(math.log((1.0 - LEVEL) / 2.0) / math.log(max(probability, 1.0 - probability)))


@checked
def quantile_interval(low: ArrayLike, high: ArrayLike, probability: Probability) -> Interval:
    """A quantile of the law that numbers were drawn from, with an interval of at least 95 % by order statistics.

    Each number need only be known to lie between its entries of ``low`` and ``high``. Of n numbers,
    Binomial(n, probability) are at most the quantile, if the law has no atoms. With its distribution function F, the
    interval goes from the i-th smallest of ``low`` to the j-th smallest of ``high``, where

    ::

        i - 1 = max {k: F(k) <= 0.025},      j - 1 = min {k: F(k) >= 0.975}

    and an atom only widens what is covered. The value is the number of ``low`` below which the share ``probability``
    lies.

    Parameters
    ----------
    low, high : array-like, shape (n,)
        Equal where the numbers are known.
    probability : float
        In (0, 1).

    Raises
    ------
    DataError
        When a number is not finite, ``low`` and ``high`` have different lengths, or there are too few numbers for an
        interval of this confidence.

    Example
    -------
    >>> x = np.arange(1000.0)
    >>> quantile_interval(x, x, 0.95)
    Interval(value=950.0, low=935.0, high=963.0, freedom=None)
    """
    below, above = (np.sort(_values(values, name, at_least=1)) for values, name in ((low, "low"), (high, "high")))
    n, tail = len(below), (1.0 - LEVEL) / 2.0
    if len(above) != n:
        raise DataError(f"high: expected {n} numbers, as many as in low, found {len(above)}")
    first, last = (math.ceil(bdtrik(share, n, probability)) for share in (tail, 1.0 - tail))
    if not 0 < first <= last < n:
        needed = needed_for_quantile(probability)
        raise DataError(
            f"low: expected {needed} numbers or more for the interval of a {probability:g} quantile, found {n}"
        )
    return Interval(float(below[int(probability * n)]), float(below[first - 1]), float(above[last]))


def _checked_grid(x: ArrayLike, y: ArrayLike) -> tuple[Floats, Floats]:
    grid, measured = _values(x, "x", at_least=1), np.asarray(y, np.float64)
    if measured.ndim not in (1, 2) or measured.shape[-1] != len(grid):
        raise DataError(
            f"y: expected shape ({len(grid)},) or (repetitions, {len(grid)}) to go with x, found {measured.shape}"
        )
    if measured.ndim == 2 and len(measured) < 2:
        raise DataError(f"y: expected at least two repetitions for an interval, found {len(measured)}")
    if np.any(grid <= 0.0):
        raise DataError(f"x: expected positive numbers, found {grid.min():g}")
    return grid, measured


def _average_equal_x(grid: Floats, rows: Floats) -> tuple[Floats, Floats]:
    points, where, counts = np.unique(grid, return_inverse=True, return_counts=True)
    member = where == np.arange(len(points))[:, None]
    return points, rows @ member.T / counts


def _t_quantile(freedom: int, level: float) -> float:
    return float(stdtrit(freedom, (1.0 + level) / 2.0))


def _values(values: ArrayLike, name: str, at_least: int) -> Floats:
    array = checks.floats(name, values, ndim=1)
    if len(array) < at_least:
        raise DataError(f"{name}: expected at least {at_least} value(s), found {len(array)}")
    if np.abs(array).max(initial=0.0) > LARGEST:
        raise DataError(f"{name}: expected numbers up to {LARGEST:g}, whose squares can be summed, found larger ones")
    return array


def _paired_differences(a: ArrayLike, b: ArrayLike) -> Floats:
    first, second = _values(a, "a", at_least=1), _values(b, "b", at_least=1)
    if len(first) != len(second):
        raise DataError(f"a and b: expected the same queries in both, found {len(first)} and {len(second)} values")
    return first - second


def _blocks(total: int, width: int) -> list[int]:
    """Split ``total`` rows of ``width`` numbers into blocks of at most NUMBERS_PER_BLOCK numbers (8 MB)."""
    most = max(1, NUMBERS_PER_BLOCK // width)
    return [most] * (total // most) + ([total % most] if total % most else [])


def _bca_levels(sample: Floats, resampled: Floats, estimate: float, level: float) -> Floats:
    """The levels of the ends of the bias-corrected and accelerated interval; see :func:`bootstrap_interval`."""
    # Half of the ties count as below, so that discrete values are not considered biased; the ends stay finite.
    tie = RELATIVE_TIE * np.abs(sample).max()
    below = np.mean(resampled < estimate - tie) + 0.5 * np.mean(np.abs(resampled - estimate) <= tie)
    bias = ndtri(np.clip(below, 0.5 / len(resampled), 1.0 - 0.5 / len(resampled)))
    left = (sample.sum() - sample) / (len(sample) - 1)  # the mean without each value
    influence = left.mean() - left
    variation = float(np.sum(influence**2))
    acceleration = float(np.sum(influence**3)) / (6.0 * variation**1.5) if variation > 0.0 else 0.0
    ends = bias + ndtri(np.array([(1.0 - level) / 2.0, (1.0 + level) / 2.0]))
    return np.asarray(ndtr(bias + ends / np.maximum(1.0 - acceleration * ends, np.finfo(np.float64).tiny)))
