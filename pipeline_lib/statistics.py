"""How certain are the numbers of a study?

Tests and intervals answer whether one ranker is better than another on these queries, how far a mean may be from the
true value, and whether an error really falls like n^(-1/2). The unit of resampling is always the one that was drawn
independently: the query, the result of a fold, or the repetition, and never the document.

NaN is rejected: first drop the queries without a value (``no_relevant="skip"``) from both sides.
"""

import math
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import bdtrik, ndtr, ndtri, stdtrit

from pipeline_lib.core import checks
from pipeline_lib.core.arrays import Floats
from pipeline_lib.core.checks import Count, Natural, NonNegative, Probability, checked
from pipeline_lib.core.errors import DataError

ENUMERATED_QUERIES = 16
LARGEST = 1e150
NUMBERS_PER_BLOCK = 2**20  # rows of resampled numbers are made in blocks of 8 MB
# Resampled sums that equal the observed one in exact arithmetic must count as equal in floating point.
RELATIVE_TIE = 1e-12
ROUNDED = 1e-12
"""Differences of two runs that are as small beside their values are rounding."""
LEVEL = 0.95
"""The confidence of intervals in tables."""
RESAMPLES = 10_000
"""The number of random patterns of signs, where none is given."""
POWER = 0.8
"""The probability with which a detectable difference is found significant."""


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


@dataclass(frozen=True)
class Comparisons:
    """Paired comparisons of runs on the same queries, as :func:`compare_runs` makes them.

    Attributes
    ----------
    pairs : int64 array, shape (P, 2)
        The rows a and b that are compared.
    difference : float64 array, shape (P,)
        The mean over queries of a minus b.
    low, high : float64 arrays, shape (P,)
        Simultaneous intervals; each contains 0 if and only if ``p_adjusted`` is above 1 - level.
    p_value, p_adjusted : float64 arrays, shape (P,)
        Of the single comparison, and adjusted for all P of them.
    detectable : float64 array, shape (P,)
        The size of a difference that would be significant with probability 0.8; NaN where none could be, or where all
        queries differ by the same number, so that nothing is known of how they vary.
    error : float64 array, shape (P,)
        The standard error of the mean difference, sd(d) / sqrt(n).
    critical : float
        How many of them joint intervals reach to either side, c of :func:`compare_runs`.
    """

    pairs: NDArray[np.int64]
    difference: Floats
    low: Floats
    high: Floats
    p_value: Floats
    p_adjusted: Floats
    detectable: Floats
    error: Floats
    critical: float


@checked
def compare_runs(
    values: ArrayLike,
    *,
    pairs: ArrayLike | None = None,
    level: Probability = LEVEL,
    resamples: Count = RESAMPLES,
    rng: np.random.Generator,
) -> Comparisons:
    """Compare runs on the same queries, with p-values and intervals that hold for a whole family of comparisons.

    If a and b are the same system, the sign of every difference d_q = a_q - b_q is a fair coin, whatever its size. One
    set of random signs e^1, ..., e^B serves all P pairs. For the pairs i in the order of falling T,

    ::

        T_i = |sum_q d_iq| / sqrt(sum_q d_iq^2),      T_i^b = |sum_q e_q^b d_iq| / sqrt(sum_q d_iq^2)

        p_i          = (1 + #{b: T_i^b >= T_i}) / (1 + B)
        adjusted p_j = max_{l <= j} (1 + #{b: max_{i >= l} T_i^b >= T_l}) / (1 + B)

    (the step-down max-T of Westfall and Young). The probability that any pair without a difference gets an adjusted p
    of at most alpha is at most alpha. T rises with Student's t, so that this is the test by t as well. The least
    p-value is 1/(1 + B), however many pairs there are. For up to 16 queries all 2^(n-1) patterns are enumerated and
    p-values are exact. Differences that are below 1e-12 of the values are rounding and count as 0.

    Intervals hold jointly with probability ``level``, save for an error that vanishes with many queries:

    ::

        mean d_i -+ c sd(d_i) / sqrt(n),      c = the quantile of max_i |t_i^b|,

    where t_i^b is Student's t of the numbers e_q^b (d_iq - mean d_i); c is not less than the same quantile for
    e_q^b d_iq, which is that of the test. Where only the test finds a difference, the end next to 0 has the test's
    quantile of the step that found it: this end says which sign the difference has, which is known jointly with
    probability ``level`` as well. Where so few queries are no test of this level, c is Student's quantile with
    Bonferroni's correction. The detectable difference is (c + Phi^-1(0.8)) sd(d_i) / sqrt(n).

    **The family** is what may be said afterwards. Against a run that was *named beforehand* it is the K - 1 pairs with
    this run. Against the *best of the runs on these queries* it is all pairs, as any of the runs might have been the
    best: K - 1 pairs, chosen after looking, let equal runs differ more often than alpha allows.

    It takes a product of B n K multiplications and B P comparisons: seconds for 100 runs and 50,000 queries.

    Parameters
    ----------
    values : array-like, shape (K, n)
        A measure of K runs on the same n queries, at least two of each.
    pairs : array-like of int, shape (P, 2), optional
        The rows that are compared; all K (K - 1) / 2 pairs where it is not given.
    level : float
        Joint confidence of the intervals, in (0, 1).
    resamples : int
        B, the number of random sign patterns, if they are not enumerated.
    rng : numpy.random.Generator
        Unused when enumerated.

    Raises
    ------
    DataError
        When there are fewer than two runs or queries, a value is not finite, a pair does not name two different rows,
        or level or resamples is out of range.

    References
    ----------
    Westfall and Young, *Resampling-Based Multiple Testing* (1993); of retrieval: Carterette, "Multiple testing in
    statistical analysis of systems-based information retrieval experiments", ACM TOIS 30 (2012), and Boytsov, Belova
    and Westfall, "Deciding on an adjustment for multiplicity in IR experiments", SIGIR 2013; the 1 + of Phipson and
    Smyth, "Permutation p-values should never be zero" (2010).

    Example
    -------
    Four differences of one sign: 2 of the 16 patterns are as extreme.

    >>> found = compare_runs([[2, 3, 4, 5], [1, 1, 1, 1]], rng=np.random.default_rng(0))
    >>> found.difference, found.p_adjusted
    (array([2.5]), array([0.125]))

    Two runs, each compared with the first, which was named beforehand:

    >>> rng = np.random.default_rng(0)
    >>> runs = rng.random((3, 100)) + [[0.0], [0.0], [0.5]]
    >>> found = compare_runs(runs, pairs=[(1, 0), (2, 0)], resamples=999, rng=rng)
    >>> found.p_adjusted <= 0.05, found.low > 0
    (array([False,  True]), array([False,  True]))
    """
    runs = checks.floats("values", values, ndim=2)
    if min(runs.shape) < 2:
        raise DataError(f"values: expected at least two runs (rows) and two queries (columns), found {runs.shape}")
    _refuse_large(runs, "values")
    family = _Family.of(runs, _checked_pairs(pairs, len(runs)), resamples, rng)
    p_value, p_adjusted = family.p_values()
    significance = round(1.0 - level, 12)
    found = p_adjusted <= significance
    joint, critical = family.critical(found, level)
    # Where only a step of the test finds a difference, the end next to 0 is that of the step.
    near, far = critical * family.error, joint * family.error
    low = family.mean - np.where(family.mean > 0.0, near, far)
    high = family.mean + np.where(family.mean > 0.0, far, near)
    possible = (family.spread > 0.0) & (smallest_p_value(runs.shape[1], resamples) <= significance)
    return Comparisons(
        pairs=family.pairs,
        difference=family.mean,
        low=np.where(found, low, np.minimum(low, 0.0)),
        high=np.where(found, high, np.maximum(high, 0.0)),
        p_value=p_value,
        p_adjusted=p_adjusted,
        detectable=np.where(possible, (joint + float(ndtri(POWER))) * family.error, np.nan),
        error=family.error,
        critical=joint,
    )


@checked
def smallest_p_value(n_queries: Natural, resamples: Count = RESAMPLES) -> float:
    """The smallest p-value that :func:`compare_runs` can give, for so many queries and random sign patterns.

    When all differences have one sign, two of the 2^n patterns are as extreme: all plus and all minus. Random patterns
    give no less than 1/(1 + resamples).

    Example
    -------
    >>> smallest_p_value(4, 999), smallest_p_value(6, 999), smallest_p_value(60, 999)
    (0.125, 0.03125, 0.001)
    """
    return min(1.0, 2.0 ** (1 - n_queries)) if n_queries <= ENUMERATED_QUERIES else 1.0 / (1 + resamples)


@checked
def detectable_difference(n_queries: Natural, n_pairs: Count, level: Probability = LEVEL) -> float:
    """The difference of two runs that n queries show with probability 0.8, before anything was measured.

    It is in units of the standard deviation of a query's difference. With Bonferroni's correction for P pairs, which
    asks for a larger difference than the max-T of :func:`compare_runs` does,

    ::

        (t_{n-1, 1 - alpha/(2 P)} + Phi^-1(0.8)) / sqrt(n),      alpha = 1 - level,

    and infinity where so few queries cannot show any (2^(1 - n) > alpha).

    Example
    -------
    A difference of half a standard deviation, by the number of queries and of pairs:

    >>> [round(detectable_difference(n, pairs), 2) for n, pairs in ((5, 1), (60, 1), (60, 45), (6000, 45))]
    [inf, 0.37, 0.55, 0.05]
    """
    if smallest_p_value(n_queries) > round(1.0 - level, 12):
        return math.inf
    return (_t_quantile(n_queries - 1, 1.0 - (1.0 - level) / n_pairs) + float(ndtri(POWER))) / math.sqrt(n_queries)


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
    return _bca_interval(sample, resampled, level)


@checked
def bootstrap_intervals(
    values: ArrayLike, *, level: Probability = 0.95, resamples: Count = 10_000, rng: np.random.Generator
) -> list[tuple[float, float]]:
    """Bootstrap intervals (BCa) of the means of several measures over the same queries, all from the same draws.

    Each is the interval of :func:`bootstrap_interval`. The draws are made once: with c(b, q) the number of times that
    draw b has query q, the means of draw b are

    ::

        (1/Q) sum_q c(b, q) values(q, k)      for every measure k

    Parameters
    ----------
    values : array-like, shape (Q, K)
        K finite values per query, at least two queries.
    level : float
        Confidence of each interval, in (0, 1).
    resamples : int
        Bootstrap samples. Memory is bounded (blocks of 8 MB).
    rng : numpy.random.Generator

    Returns
    -------
    list of (low, high), the two ends for every measure.

    Raises
    ------
    DataError
        When there are fewer than two queries, a value is not finite, or level or resamples is out of range.

    References
    ----------
    Efron, "Better bootstrap confidence intervals", JASA 82 (1987).

    Example
    -------
    >>> values = [[0.0, 1.0], [0.5, 1.0], [0.5, 1.0], [1.0, 1.0]]
    >>> [(low, high), same] = bootstrap_intervals(values, rng=np.random.default_rng(0))
    >>> 0 <= low < 0.5 < high <= 1, same
    (True, (1.0, 1.0))
    """
    table = checks.floats("values", values, ndim=2)
    _refuse_large(table, "values")
    if (n := len(table)) < 2:
        raise DataError(f"values: expected at least two queries, found {n}")
    drawn = [
        np.stack([np.bincount(rng.integers(n, size=n, dtype=np.int32), minlength=n) for _ in range(block)]) @ table / n
        for block in _blocks(resamples, n)
    ]
    found = []
    for sample, resampled in zip(table.T, np.concatenate(drawn).T, strict=True):
        if np.ptp(sample) == 0.0:  # which sums of rounded terms would miss
            found.append((float(sample[0]), float(sample[0])))
            continue
        found.append(_bca_interval(sample, resampled, level))
    return found


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

    Of few numbers from a skewed distribution it covers less: with 20 exponential ones 92 % in place of 95 %, and nearly
    all others lie below the mean of the distribution (``tests/claims/test_calibrated_rules.py``, which has all kinds
    of intervals).

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

    Raises
    ------
    DataError
        When more than 10^15 are needed.

    Example
    -------
    >>> needed_for_quantile(0.95)
    72
    """
    needed = math.log((1.0 - LEVEL) / 2.0) / math.log1p(-min(probability, 1.0 - probability))
    if needed > 1e15:
        raise DataError(f"probability: expected 1e-14 or more, and so much less than 1, found {probability:g}")
    return math.ceil(needed)


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
    needed = needed_for_quantile(probability)
    first, last = (math.ceil(bdtrik(share, n, probability)) for share in (tail, 1.0 - tail))
    if not 0 < first <= last < n:
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
    _refuse_large(array, name)
    return array


def _refuse_large(array: Floats, name: str) -> None:
    if np.abs(array).max(initial=0.0) > LARGEST:
        raise DataError(f"{name}: expected numbers up to {LARGEST:g}, whose squares can be summed, found larger ones")


def _checked_pairs(pairs: ArrayLike | None, n_runs: int) -> NDArray[np.int64]:
    if pairs is None:
        return np.column_stack(np.triu_indices(n_runs, 1)).astype(np.int64)
    chosen = checks.whole_numbers("pairs", pairs, 0, n_runs - 1, ndim=2)
    if not len(chosen) or chosen.shape[1] != 2 or np.any(chosen[:, 0] == chosen[:, 1]):
        raise DataError(f"pairs: expected two different rows of values in each of at least one row, found {pairs}")
    return chosen.astype(np.int64)


@dataclass(frozen=True)
class _Family:
    """The differences of P pairs of runs on n queries, and what B random patterns of signs make of them.

    ``size`` and ``spread`` are the roots of the sums of squares of the differences and of the differences less their
    ``mean``, 0 where they are rounding; ``rounding`` is by how much T^b may be off. ``flipped`` holds sum_q e_q x_q of
    every run, shape (K, B), ``centred`` the same for each run less its mean.
    """

    n: int
    pairs: NDArray[np.int64]
    mean: Floats
    size: Floats
    spread: Floats
    rounding: Floats
    flipped: Floats
    centred: Floats

    @classmethod
    def of(cls, runs: Floats, pairs: NDArray[np.int64], resamples: int, rng: np.random.Generator) -> "_Family":
        n, means = runs.shape[1], runs.mean(axis=1)
        norms = np.sqrt(np.einsum("ij,ij->i", runs, runs))[pairs].sum(axis=1)
        parts = np.split(pairs, np.cumsum(_blocks(len(pairs), n))[:-1])
        mean, size, spread = np.concatenate([_moments(runs, part) for part in parts], axis=1)
        size[size <= ROUNDED * norms] = 0.0
        spread[spread <= ROUNDED * norms] = 0.0
        rounding = 50.0 * np.finfo(np.float64).eps * _over(norms, size)
        centred, signs = _flipped_sums(runs - means[:, None], resamples, rng)
        return cls(n, pairs, mean, size, spread, rounding, centred + np.outer(means, signs), centred)

    @property
    def observed(self) -> Floats:
        """T of every pair."""
        return _over(self.n * np.abs(self.mean), self.size)

    @property
    def error(self) -> Floats:
        """The standard error of every mean difference."""
        return self.spread / math.sqrt(self.n * (self.n - 1))

    def p_values(self) -> tuple[Floats, Floats]:
        """The p-value of every pair, and that adjusted for all of them."""
        # What equals the observed T in exact arithmetic must count as equal.
        reach = self.observed * (1.0 - RELATIVE_TIE) - self.rounding
        order = np.argsort(-self.observed, kind="stable")
        hits, joint = _max_t().at_least(self.flipped, self.pairs[order], self.size[order], reach[order])
        patterns = 1 + self.flipped.shape[1]
        found = np.empty((2, len(order)))
        found[:, order] = (1.0 + hits) / patterns, np.maximum.accumulate((1.0 + joint) / patterns)
        return found[0], found[1]

    def critical(self, found: NDArray[np.bool_], level: float) -> tuple[float, Floats]:
        """The quantile of |t| for joint intervals, and that of every pair, given those that the test ``found``."""
        t = _student(self.observed, self.n)
        everywhere = np.ones(len(t), bool)
        of_test = self._quantile(self.flipped, self.size, everywhere, level)
        joint = max(of_test, self._quantile(self.centred, self.spread, everywhere, level))
        critical, rest = np.full(len(t), joint), everywhere
        # Pairs that the test found later than joint intervals would: each step has the pairs that none before it found.
        while np.any(late := found & rest & (t <= joint)):
            critical[late] = step = self._quantile(self.flipped, self.size, rest, level)
            if not np.any(done := found & rest & (t > step)):
                break
            rest = rest & ~done
        return joint, critical

    def _quantile(self, sums: Floats, scale: Floats, rest: NDArray[np.bool_], level: float) -> float:
        """The quantile of the largest |t| of some pairs, by Bonferroni's inequality where so few patterns have none."""
        largest = np.sort(_max_t().largest(sums, self.pairs[rest], scale[rest]))
        rank = math.ceil(round(level * (1 + len(largest)), 9))
        found = float(_student(largest[rank - 1], self.n)) if rank <= len(largest) else math.inf
        return found if found < math.inf else _t_quantile(self.n - 1, 1.0 - (1.0 - level) / len(rest))


def _moments(runs: Floats, pairs: NDArray[np.int64]) -> Floats:
    """Of the differences of every pair: the mean, the root of the sum of squares, and this root without the mean."""
    differences = runs[pairs[:, 0]] - runs[pairs[:, 1]]
    mean = differences.mean(axis=1)
    size = np.sqrt(np.einsum("ij,ij->i", differences, differences))
    differences -= mean[:, None]
    return np.stack([mean, size, np.sqrt(np.einsum("ij,ij->i", differences, differences))])


def _max_t() -> ModuleType:
    """The kernels, imported when runs are compared: numba takes a while, and most who use statistics compare none."""
    from pipeline_lib import max_t

    return max_t


def _flipped_sums(centred: Floats, resamples: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """sum_q e_q x_q of every row x with mean 0, shape (K, B), and sum_q e_q, shape (B,).

    Of few queries there is every pattern but the observed one, of a pattern and its opposite one.
    """
    n = centred.shape[1]
    if n <= ENUMERATED_QUERIES:
        blocks: Iterable[NDArray[Any]] = [np.arange(1, 2 ** (n - 1))[:, None] >> np.arange(n) & 1]
    else:
        # Whole words for every row, so that the signs do not depend on the sizes of blocks.
        words = -(-n // 64)
        # Blocks of 64 MB, because products of few rows are slow.
        drawn = (rng.bytes(8 * words * rows) for rows in _blocks(resamples, -(-n // 8)))
        blocks = (np.unpackbits(np.frombuffer(one, np.uint8).reshape(-1, 8 * words), axis=1, count=n) for one in drawn)
    # Bits rather than signs: as sum x = 0, sum e x = 2 sum bit x.
    found = [(centred @ bits.T.astype(np.float64), bits.sum(axis=1, dtype=np.int64)) for bits in blocks]
    return 2.0 * np.concatenate([sums for sums, _ in found], axis=1), 2.0 * np.concatenate([s for _, s in found]) - n


def _student(statistic: ArrayLike, n: int) -> Floats:
    """|t| of n numbers of which |sum d| / sqrt(sum d^2) is known: t^2 = (n - 1) T^2 / (n - T^2)."""
    square = np.square(statistic) / n
    square = np.where(square > 1.0 - RELATIVE_TIE, 1.0, square)
    return np.sqrt((n - 1) * _over(square, 1.0 - square, math.inf))


def _over(above: ArrayLike, below: ArrayLike, else_: float = 0.0) -> Floats:
    """The quotient, and another number where one would divide by 0."""
    a, b = np.broadcast_arrays(np.asarray(above, np.float64), np.asarray(below, np.float64))
    return np.divide(a, b, out=np.full(a.shape, else_), where=b > 0.0)


def _blocks(total: int, width: int) -> list[int]:
    """Split ``total`` rows of ``width`` numbers into blocks of at most NUMBERS_PER_BLOCK numbers (8 MB)."""
    most = max(1, NUMBERS_PER_BLOCK // width)
    return [most] * (total // most) + ([total % most] if total % most else [])


def _bca_interval(sample: Floats, resampled: Floats, level: float) -> tuple[float, float]:
    """The bias-corrected and accelerated interval of the mean of values that differ; see :func:`bootstrap_interval`."""
    estimate = float(sample.mean())
    # Half of the ties count as below, so that discrete values are not considered biased; the ends stay finite.
    tie = RELATIVE_TIE * np.abs(sample).max()
    below = np.mean(resampled < estimate - tie) + 0.5 * np.mean(np.abs(resampled - estimate) <= tie)
    bias = ndtri(np.clip(below, 0.5 / len(resampled), 1.0 - 0.5 / len(resampled)))
    left = (sample.sum() - sample) / (len(sample) - 1)  # the mean without each value
    influence = left.mean() - left
    variation = float(np.sum(influence**2))
    acceleration = float(np.sum(influence**3)) / (6.0 * variation**1.5) if variation > 0.0 else 0.0
    ends = bias + ndtri(np.array([(1.0 - level) / 2.0, (1.0 + level) / 2.0]))
    levels = ndtr(bias + ends / np.maximum(1.0 - acceleration * ends, np.finfo(np.float64).tiny))
    low, high = np.quantile(resampled, levels)
    return float(low), float(high)
