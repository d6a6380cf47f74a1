"""What does a pilot say of how queries and their documents vary, and how many of them does a promise need?

**A standard deviation** is estimated from n values with an interval that fits values in [0, 1], whose distribution is
anything but normal (Bonett 2006). With s^2 the sample variance, m the mean without the largest and smallest values, a
share of 1/(2 sqrt(n - 4)) of each, and the kurtosis

    k = n sum_i (x_i - m)^4 / (sum_i (x_i - mean)^2)^2,      e = sqrt((k - (n - 3)/n) / (n - 1)),

the one-sided limits of level Phi(z) are those of log sigma = log(s sqrt(n / (n - z))) -+ z n / (n - z) e / 2.

**A pilot is too small** when the promise would be broken too often. Plans take the upper limit of 80 %, whose logarithm
varies with a standard error of about e/2. It is more than 10 % below the true sigma with probability

    Phi(-z_.8 - log(1.1) / (e/2)),      at most 10 % if and only if      e/2 <= log(1.1) / (z_.9 - z_.8) = .217,

so that a planned width is exceeded by more than 10 % for at most one pilot in ten. As e itself comes from the pilot,
fewer than 30 queries are refused as well: from there on the rule kept its promise for the laws that were tried
(tests/evaluation/test_pilot.py). For normal values e/2 is about 1/sqrt(2n).

**Variances of two layers.** Let l(z, z') be the loss of a pair of documents of one query, and of its m documents

    U the mean over pairs of l,     A of l^2,     B of l(z, z') l(z, z'') for three documents,     C of l l' for four.

With v, s1 and s2 as in :mod:`pipeline_lib.theory.two_layer_rates`, and mu the mean of a query, E A = E mu^2 + s2,
E B = E mu^2 + s1 and E C = E mu^2. For the means over n queries, and (E mu)^2 estimated by U_i U_j of different ones,

    s2 = A - C,      s1 = B - C,      v = C - sum_{i != j} U_i U_j / (n (n - 1))

have no bias, whatever the lengths of lists of at least four documents are. The documents must be a sample of those that
the query might have.
"""

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import nctdtr, ndtri, stdtrit

from pipeline_lib.core import checks
from pipeline_lib.core.arrays import Floats
from pipeline_lib.core.checks import Count, NonNegative, Positive, Probability, Several, checked
from pipeline_lib.core.compiled import njit
from pipeline_lib.core.errors import DataError
from pipeline_lib.statistics import LEVEL, Interval
from pipeline_lib.theory.two_layer_rates import Variances

__all__: list[str] = []  # internal: plan_labels checks the arguments

FEWEST_QUERIES = 30
"""Smaller pilots are refused whatever their values are."""
CONFIDENCE = 0.8
"""The level of the upper limits that plans are made with."""
SLACK = 1.1
"""A planned width may be exceeded by this factor by one pilot in ten."""
LARGEST_ERROR = math.log(SLACK) / float(ndtri(0.9) - ndtri(CONFIDENCE))
"""The largest standard error of the logarithm of a standard deviation with which plans are made."""
FEWEST_DOCUMENTS = 4
"""Two disjoint pairs of one query separate the variances of queries and documents."""
MOST_QUERIES = 10**9
DEEPEST = 10_000
"""Deeper lists are not planned."""
BOOTSTRAPS = 1_000
NUMBERS_PER_BLOCK = 2**20


@dataclass(frozen=True)
class Spread:
    """The standard deviation of a pilot's values: with its interval of 95 %, and the upper limit that plans take.

    ``error`` is the standard error of its logarithm, ``queries`` their number.
    """

    sd: Interval
    upper: float
    error: float
    queries: int


@checked
def spread(values: ArrayLike, what: str = "values") -> Spread:
    """The standard deviation over queries with its limits (the formula above).

    Parameters
    ----------
    values : array-like, shape (n,)
        One number for each query of the pilot.
    what : str
        Their name in errors.

    Raises
    ------
    DataError
        When the pilot is too small to plan with, or all values are equal, so that nothing is known of how they vary.

    References
    ----------
    Bonett, "Approximate confidence interval for standard deviation of nonnormal distributions", Computational
    Statistics & Data Analysis 50 (2006). That pilots err widely: Webber, Moffat and Zobel, CIKM 2008; Urbano, Marrero
    and Martín, SIGIR 2013.

    Example
    -------
    >>> found = spread(np.arange(50) % 5 / 4)
    >>> round(found.sd.value, 3), round(found.upper, 3), round(found.error, 3)
    (0.357, 0.38, 0.062)
    >>> spread([0.0, 0.5, 1.0])
    Traceback (most recent call last):
    ...
    pipeline_lib.core.errors.DataError: values: expected a pilot of at least 30 queries, found 3
    """
    x = checks.floats(what, values, ndim=1)
    n = len(x)
    if n < FEWEST_QUERIES:
        raise DataError(f"{what}: expected a pilot of at least {FEWEST_QUERIES} queries, found {n}")
    squares = float(np.square(x - x.mean()).sum())
    if np.ptp(x) <= 1e-12 * np.abs(x).max():
        raise DataError(f"{what}: expected values that differ between queries, found {x[0]:g} for all {n} of them")
    cut = int(n / (2.0 * math.sqrt(n - 4.0)))
    centre = np.sort(x)[cut : n - cut].mean()
    kurtosis = n * float(((x - centre) ** 4).sum()) / squares**2
    e = math.sqrt(max(0.0, kurtosis - (n - 3.0) / n) / (n - 1.0))
    refuse_small(what, e / 2.0, n)
    sd = math.sqrt(squares / (n - 1.0))

    def limit(level: float) -> float:
        z = float(ndtri(level))
        c = n / (n - abs(z))
        return sd * math.sqrt(c) * math.exp(z * c * e / 2.0)

    side = (1.0 + LEVEL) / 2.0
    return Spread(Interval(sd, min(sd, limit(1.0 - side)), limit(side)), limit(CONFIDENCE), e / 2.0, n)


def refuse_small(what: str, error: float, n: int) -> None:
    """Refuse a pilot whose standard deviation has too large a standard error, and say how many queries it needs."""
    if error > LARGEST_ERROR:
        needed = max(n + 1, math.ceil(n * (error / LARGEST_ERROR) ** 2))
        raise DataError(
            f"{what}: expected a pilot in which the standard deviation has a standard error of at most "
            f"{100 * LARGEST_ERROR:.0f} %, found {100 * error:.0f} % with {n} queries; judge a pilot of about {needed}"
        )


@checked
def queries_for_width(sd: Positive, within: Positive, level: Probability = LEVEL) -> int:
    """The smallest n whose interval of the mean is at most -+ w wide: t_{n-1, (1 + level)/2} sd / sqrt(n) <= w.

    It is nearly (z sd / w)^2.

    Raises
    ------
    DataError
        When more than 10^9 queries would be needed, or an argument is out of range.

    Example
    -------
    >>> queries_for_width(0.3, 0.05), queries_for_width(0.3, 0.5)
    (141, 4)
    """
    return _smallest("within", lambda n: half_width(sd, n, level) <= within)


@checked
def half_width(sd: Positive, queries: Several, level: Probability = LEVEL) -> float:
    """t_{n-1, (1 + level)/2} sd / sqrt(n), half the width of Student's interval of a mean.

    Example
    -------
    >>> round(half_width(0.3, 141), 3)
    0.05
    """
    return float(stdtrit(queries - 1.0, (1.0 + level) / 2.0)) * sd / math.sqrt(queries)


@checked
def queries_for_power(sd: Positive, difference: Positive, power: Probability = 0.8, level: Probability = LEVEL) -> int:
    """The smallest n with which Student's paired test finds a difference with at least this probability.

    Nearly ((z_level + z_power) sd / difference)^2; exact for normal differences (:func:`power_of`).

    Raises
    ------
    DataError
        When more than 10^9 queries would be needed, or an argument is out of range.

    References
    ----------
    Sakai, "Topic set size design", Information Retrieval Journal 19 (2016).

    Example
    -------
    >>> queries_for_power(1.0, 0.5), queries_for_power(1.0, 0.2)
    (34, 199)
    """
    return _smallest("difference", lambda n: power_of(n, sd, difference, level) >= power)


@checked
def power_of(queries: Several, sd: Positive, difference: Positive, level: Probability = LEVEL) -> float:
    """The probability that Student's two-sided paired test on n >= 2 queries finds the difference.

    ::

        P(|T| >= t_{n-1, (1 + level)/2}),      T noncentral t with n - 1 degrees of freedom and sqrt(n) difference / sd

    Example
    -------
    >>> round(power_of(20, 2.0, 1.5), 4)
    0.8888
    """
    freedom, shift = queries - 1.0, math.sqrt(queries) * difference / sd
    critical = float(stdtrit(freedom, (1.0 + level) / 2.0))
    # The wrong side has less than Phi(-shift), and less the higher the level; its series does not reach either.
    wrong_side = float(nctdtr(freedom, shift, -critical)) if shift < 6.0 else 0.0
    missed = float(nctdtr(freedom, shift, critical))
    # nan: less than 1e-14, as the shift or the level is beyond all deviations
    return 1.0 - (0.0 if math.isnan(missed) else missed) + (0.0 if math.isnan(wrong_side) else wrong_side)


@checked
def detectable(sd: Positive, queries: Several, power: Probability = 0.8, level: Probability = LEVEL) -> float:
    """The difference that n queries find with the given power, to three digits or more.

    Example
    -------
    >>> round(detectable(1.0, 199), 3)
    0.2
    """
    low, high = 0.0, half_width(sd, queries, level) + 40.0 * sd / math.sqrt(queries)
    while high - low > 1e-4 * high:
        middle = (low + high) / 2.0
        low, high = (low, middle) if power_of(queries, sd, middle, level) >= power else (middle, high)
    return high


def _smallest(name: str, holds: Callable[[int], bool]) -> int:
    """The smallest n >= 2 for which it holds, if it holds for all larger ones."""
    high = 2
    while not holds(high):
        high *= 2
        if high > MOST_QUERIES:
            raise DataError(
                f"{name}: expected a number that at most {MOST_QUERIES:,} queries reach; choose a larger one"
            )
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


@dataclass(frozen=True)
class Layers:
    """How the loss of pairs varies between queries and within them, estimated from a pilot.

    Attributes
    ----------
    of_queries : float64 array, shape (n, 4)
        U, A, B and C of every query.
    resampled : float64 array, shape (B, 3)
        v, s1 and s2 as estimated from pilots whose queries are drawn from this one with replacement.
    """

    of_queries: Floats
    resampled: Floats

    @property
    def queries(self) -> int:
        """n, the number of queries."""
        return len(self.of_queries)

    @property
    def loss(self) -> float:
        """The mean over queries of U."""
        return float(self.of_queries[:, 0].mean())

    @property
    def raw(self) -> Floats:
        """The unbiased estimates of v, s1 and s2, which can be negative."""
        n, (_, a, b, c) = self.queries, self.of_queries.mean(axis=0)
        u = self.of_queries[:, 0]
        return np.array([c - (u.sum() ** 2 - u @ u) / (n * (n - 1.0)), b - c, a - c])

    @property
    def variances(self) -> Variances:
        """The estimates, with 0 in place of negative ones and s2 of at least 2 s1."""
        v, s1, s2 = np.maximum(0.0, self.raw)
        return Variances(float(v), float(s1), float(max(s2, 2.0 * s1)))

    def intervals(self) -> tuple[Interval, Interval, Interval]:
        """v, s1 and s2 with intervals of 95 % (bootstrap over queries)."""
        ends = np.quantile(self.resampled, [(1.0 - LEVEL) / 2.0, (1.0 + LEVEL) / 2.0], axis=0)
        found = [
            Interval(float(one), float(min(one, low)), float(max(one, high)))
            for one, low, high in zip(self.raw, *ends, strict=True)
        ]
        return found[0], found[1], found[2]

    def upper_sd(self, depth: ArrayLike) -> tuple[Floats, Floats]:
        """The upper limit of sigma(m), of 80 %, and the standard error of its logarithm, for numbers of documents m.

        ::

            sqrt(sigma^2(m) + z_.8 se),      e = se / (2 sigma^2(m)),      se the standard error of sigma^2(m)
        """
        m = np.asarray(depth, dtype=np.float64)
        variance = self.variances.of_average(m)
        if not np.all(variance > 0.0):
            raise DataError("the loss of pairs: expected one that varies, found the same for all queries and pairs")
        weights = np.stack([np.ones_like(m), 4.0 / m - 4.0 / (m * (m - 1.0)), 2.0 / (m * (m - 1.0))])
        # se of a sum of three numbers, from their covariance: for thousands of depths at once
        covariance = np.cov(self.resampled.T)
        error = np.sqrt(np.maximum(0.0, np.einsum("i...,ij,j...->...", weights, covariance, weights)))
        return np.sqrt(variance + float(ndtri(CONFIDENCE)) * error), error / (2.0 * variance)


@dataclass(frozen=True)
class Lists:
    """The judged documents of a pilot's queries as one ranker scores them, or as two do.

    Attributes
    ----------
    scores : array-like, shape (N,)
    labels : array-like of int, shape (N,)
    offsets : array-like of int, shape (n + 1,)
        Where the documents of each query begin.
    other : array-like, shape (N,), optional
        Scores of another ranker, whose loss is subtracted.
    """

    scores: ArrayLike
    labels: ArrayLike
    offsets: ArrayLike
    other: ArrayLike | None = None

    @property
    def lengths(self) -> NDArray[np.int64]:
        """The numbers of documents."""
        return np.diff(np.asarray(self.offsets))

    def layers(self, rng: np.random.Generator) -> Layers:
        """U, A, B and C of every query for the pairs in wrong order, or for the difference of two rankers.

        The loss of a pair of documents with different labels is 1 if the one with the smaller label has the higher
        score, and 1/2 if their scores are equal; that of a pair with equal labels is 0. It takes O(m^2) for a list of m
        documents, because the product of the losses of two rankers belongs to the pair.

        Raises
        ------
        DataError
            When a query has fewer than four documents, there are fewer than 30 queries, or the arrays do not fit.

        Example
        -------
        >>> lists = Lists([0.4, 0.3, 0.2, 0.1] * 30, [1, 0, 1, 0] * 30, np.arange(0, 121, 4))
        >>> lists.layers(np.random.default_rng(0)).of_queries[0].round(4).tolist()  # one of six pairs is wrong
        [0.1667, 0.1667, 0.0, 0.0]
        """
        s, y, offsets = checks.ranking(self.scores, self.labels, self.offsets)
        if len(offsets) <= FEWEST_QUERIES:
            raise DataError(f"offsets: expected a pilot of at least {FEWEST_QUERIES} queries, found {len(offsets) - 1}")
        if self.lengths.min() < FEWEST_DOCUMENTS:
            raise DataError(
                f"offsets: expected at least {FEWEST_DOCUMENTS} documents of every query, found {self.lengths.min()}"
            )
        found = _moments(s, self._against(s), self.other is not None, y, offsets)
        return Layers(found, _resampled(found, rng))

    def drawn(self, depth: int, rounds: int, rng: np.random.Generator) -> float:
        """The standard deviation between queries of the mean loss of ``depth`` of their documents, drawn at random.

        They are drawn without replacement: what is left of a sample is a sample. Queries with shorter lists do not take
        part; the variance is averaged over the rounds.
        """
        s, y, offsets = checks.ranking(self.scores, self.labels, self.offsets)
        against = self._against(s)
        lists = [np.arange(a, b) for a, b in itertools.pairwise(offsets.tolist()) if b - a >= depth]
        starts = np.arange(0, depth * len(lists) + 1, depth)
        variances = []
        for _ in range(rounds):
            some = np.concatenate([rng.choice(one, depth, replace=False) for one in lists])
            losses = _moments(s[some], against[some], self.other is not None, y[some], starts)[:, 0]
            variances.append(losses.var(ddof=1))
        return math.sqrt(float(np.mean(variances)))

    def _against(self, scores: Floats) -> Floats:
        return scores if self.other is None else checks.floats("other", self.other, shape=scores.shape)


def resampled_means(given: Floats, queries: int, rng: np.random.Generator) -> Floats:
    """Means over ``queries`` rows that are drawn with replacement, shape (B, columns).

    It takes O(B n) for n rows, however many are drawn.
    """
    n, step = len(given), max(1, NUMBERS_PER_BLOCK // len(given))
    sizes = [min(step, BOOTSTRAPS - first) for first in range(0, BOOTSTRAPS, step)]
    return np.concatenate([rng.multinomial(queries, np.full(n, 1.0 / n), size=one) @ given / queries for one in sizes])


def _resampled(of_queries: Floats, rng: np.random.Generator) -> Floats:
    """v, s1 and s2 of resampled pilots.

    The square of U of a query that is drawn twice has the query's own noise in it, which a product of two queries has
    not: so the variance of the mean, S^2/n, is subtracted twice.
    """
    n = len(of_queries)
    given = np.column_stack([of_queries, np.square(of_queries[:, 0])])
    u, a, b, c, squares = resampled_means(given, n, rng).T
    variance = np.maximum(0.0, squares - u**2) * n / (n - 1.0)
    return np.column_stack([c - u**2 + 2.0 * variance / n, b - c, a - c])


def resampled_widths(values: Floats, queries: int, level: float, rng: np.random.Generator) -> Floats:
    """Half-widths of the intervals of so many queries drawn from the pilot with replacement, shape (B,)."""
    _, sd = _resampled_sd(values, queries, rng)
    return half_width(1.0, queries, level) * sd


def resampled_power(values: Floats, queries: int, difference: float, level: float, rng: np.random.Generator) -> float:
    """How often the test finds the difference in so many queries drawn from the pilot, whose mean is moved to it."""
    mean, sd = _resampled_sd(values - values.mean() + difference, queries, rng)
    return float((np.abs(mean) > half_width(1.0, queries, level) * sd).mean())


def _resampled_sd(values: Floats, queries: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    mean, squares = resampled_means(np.column_stack([values, np.square(values)]), queries, rng).T
    return mean, np.sqrt(np.maximum(0.0, squares - mean**2) * queries / (queries - 1.0))


@njit
def _loss(s, against, paired, y, j, k):  # type: ignore[no-untyped-def]
    # the loss of the pair j, k of the first ranker, less that of the second
    if y[j] == y[k]:
        return 0.0
    high, low = (j, k) if y[j] > y[k] else (k, j)
    loss = 1.0 if s[high] < s[low] else 0.5 if s[high] == s[low] else 0.0
    if paired:
        loss -= 1.0 if against[high] < against[low] else 0.5 if against[high] == against[low] else 0.0
    return loss


@njit
def _moments(s, against, paired, y, offsets):  # type: ignore[no-untyped-def]
    # With h_j the sum of l over the pairs of document j: sum l = sum h_j / 2, the products of two pairs that share one
    # document are sum h_j^2 - 2 sum l^2, and those of disjoint pairs are what remains of (sum l)^2.
    found = np.zeros((len(offsets) - 1, 4))
    for q in range(len(found)):
        begin, end = offsets[q], offsets[q + 1]
        m = end - begin
        h = np.zeros(m)
        squares = 0.0
        for j in range(begin, end):
            for k in range(j + 1, end):
                loss = _loss(s, against, paired, y, j, k)
                h[j - begin] += loss
                h[k - begin] += loss
                squares += loss * loss
        total = h.sum() / 2.0
        sharing = (h * h).sum() - 2.0 * squares
        pairs = m * (m - 1) / 2.0
        found[q, 0] = total / pairs
        found[q, 1] = squares / pairs
        if m >= FEWEST_DOCUMENTS:
            found[q, 2] = sharing / (2.0 * pairs * (m - 2))
            found[q, 3] = (total * total - squares - sharing) / (pairs * (m - 2) * (m - 3) / 2.0)
    return found


@dataclass(frozen=True)
class Use:
    """A plan for a budget: so many queries with so many judgements each, and half the width of the interval there."""

    queries: int
    depth: int
    half_width: float


@checked
def uses(found: Layers, judgments: Count, cost_of_query: NonNegative = 0.0, level: Probability = LEVEL) -> list[Use]:
    """All depths m that a budget of C judgements has room for, with n = floor(C / (c + m)) >= 2 queries each.

    The half-width is t_{n-1} sigma(m) / sqrt(n) with the pilot's upper limit of sigma(m); c is the cost of opening a
    query, in judgements.

    Raises
    ------
    DataError
        When the budget has no room for two queries with two documents each, or c is negative.

    Example
    -------
    >>> rng = np.random.default_rng(0)
    >>> lists = Lists(rng.random(800), rng.integers(0, 2, 800), np.arange(0, 801, 20))
    >>> found = lists.layers(rng)
    >>> best = min(uses(found, 5_000), key=lambda use: use.half_width)
    >>> best.queries * best.depth <= 5_000
    True
    """
    deepest = min(DEEPEST, int(judgments / 2 - cost_of_query))
    if deepest < 2:
        raise DataError(
            f"judgments: expected at least {math.ceil(2 * (cost_of_query + 2)):,}, for two queries with two documents "
            f"each, found {judgments:,}"
        )
    m = np.arange(2, deepest + 1)
    n = np.floor(judgments / (cost_of_query + m)).astype(np.int64)
    upper, _ = found.upper_sd(m)
    width = stdtrit(n - 1.0, (1.0 + level) / 2.0) * upper / np.sqrt(n)
    return [Use(*row) for row in zip(n.tolist(), m.tolist(), width.tolist(), strict=True)]


def best_depths(found: Layers, cost_of_query: float, level: float = LEVEL) -> tuple[float, float]:
    """The interval of the best depth of a large budget: quantiles of the minima of resampled pilots."""
    m = np.unique(np.geomspace(2, DEEPEST, 500).astype(np.int64)).astype(np.float64)
    v, s1, s2 = np.maximum(0.0, found.resampled.T)[:, :, None]
    rest = np.maximum(0.0, s2 - 2.0 * s1)
    price = (cost_of_query + m) * (v + 4.0 * s1 / m + 2.0 * rest / (m * (m - 1.0)))
    low, high = np.quantile(m[np.argmin(price, axis=1)], [(1.0 - level) / 2.0, (1.0 + level) / 2.0])
    return float(low), float(high)
