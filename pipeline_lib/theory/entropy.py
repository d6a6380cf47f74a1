"""How large are the covering numbers of `lists`, and the bounds on Rademacher averages by entropy integrals?

The classes are {phi(X w, y)} for ||w||_2 <= W2 (or ||w||_1 <= W1) and documents ||x||_2 <= R_X (||x||_inf <= Rbar_X),
with phi G-Lipschitz, or H-smooth and non-negative, with respect to the maximum norm of scores. All three covering
numbers (Propositions 7, 10 and 15) have the form

    log2 N(eps) <= ceil(A^2 / eps^2) log2(2 max(1, ceil(c / eps)) m n + 1),

    Proposition 7     A = G W2 R_X                             c = 0
    Proposition 10    A = G W1 Rbar_X sqrt(288 (2 + ln d))     c = 8 G W1 Rbar_X
    Proposition 15    A = sqrt(12 H r) W2 R_X                  c = 0        (the part of the class with risk at most r)

and the entropy integral (5), (6) of a class with losses up to B gives

    Rad <= inf over alpha in (0, B] of  4 alpha + 10 int_alpha^B sqrt(log2 N(eps) / n) d eps.

Its derivative in alpha, 4 - 10 sqrt(log2 N(alpha) / n), changes sign once: the best alpha is where log2 N decreases to
0.16 n (B, if it never does; the integral is then empty). :func:`integral` uses this and integrates from step to step of
the ceilings, so that it is exact except for steps beyond STEPS, whose ceilings are replaced by their mean.

Corollaries 8, 11 and 16 are closed forms for the same. Those of 8 and 16 replace the ceiling by its argument, which is
too small where A < B or where A / eps is not large: there they are below the integral that they should bound
(erratum X). They are C times a logarithm that decreases in C and changes its sign when n is small, where they
are meaningless; beyond their largest value, which is above 4 B and therefore vacuous, this value is used instead.

**The smallest covers of a ball** that are known for a given number of features show what the propositions cost, apart
from what the integral costs. With the Lipschitz constant A / radius in w (A = G W2 R_X, or G W1 Rbar_X), a cover of the
ball in its own norm at scale eps / A is one of the class at scale eps, and volumes give

    log2 N(eps) <= d log2(1 + 2 A / eps),     N(eps) = 1 for eps >= A.

The covering numbers of `lists` do not contain d but grow as 1/eps^2; :func:`smallest_integral` takes the smaller of the
two at every scale.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from pipeline_lib.core import checks
from pipeline_lib.core.arrays import Floats
from pipeline_lib.core.checks import AtLeast1, Count, Extended, NonNegative, Positive, checked
from pipeline_lib.core.compiled import njit
from pipeline_lib.core.errors import DataError

STEPS = 4096
NODES = 64
# Of the integral with the smallest covers: its steps, and the powers of ten below B down to which it is computed, which
# suffice for every n below 10^15.
FALLING_STEPS, DECADES = 4000, 8.0
# Below it, the lowest of these points would be rounded coarsely, or be 0.
LEAST_REACH = 1e-299


@checked  # infinite if a constant is large
@dataclass(frozen=True)
class Covering:
    """log2 N(eps) <= ceil(scale^2 / eps^2) log2(2 max(1, ceil(reach / eps)) points + 1); ``points`` is m n."""

    scale: Extended
    points: Extended
    reach: Extended = 0.0

    def log2(self, eps: float | Floats) -> Floats:
        """The bound on log2 N at scale eps > 0, elementwise."""
        return np.asarray(self._log2(np.asarray(eps, np.float64)))

    def _log2(self, eps: Any) -> Any:
        # Without checks, for searches.
        cells = np.maximum(1.0, np.ceil(self.reach / eps))
        return np.ceil((self.scale / eps) ** 2) * np.log2(2.0 * cells * self.points + 1.0)

    def _log2_smoothed(self, eps: Floats) -> Floats:
        # On average, a ceiling is half a step above its argument.
        cells = self.reach / eps + 0.5 if self.reach else 1.0
        return np.asarray(((self.scale / eps) ** 2 + 0.5) * np.log2(2.0 * cells * self.points + 1.0))


@checked
def proposition_7(
    *, n: AtLeast1, m: AtLeast1, lipschitz: NonNegative, radius: NonNegative, feature_norm: NonNegative
) -> Covering:
    """Covering numbers of a G-Lipschitz loss over ||w||_2 <= W2.

    Example
    -------
    >>> proposition_7(n=50, m=10, lipschitz=2.0, radius=1.0, feature_norm=1.0).log2(1.0).round(3)
    np.float64(39.869)
    """
    return Covering(lipschitz * radius * feature_norm, m * n)


@checked
def proposition_10(
    *, n: AtLeast1, m: AtLeast1, d: Count, lipschitz: NonNegative, radius: NonNegative, feature_norm: NonNegative
) -> Covering:
    """Covering numbers of a G-Lipschitz loss over ||w||_1 <= W1, with d features up to Rbar_X = ``feature_norm``.

    Example
    -------
    >>> given = dict(n=50, m=10, lipschitz=2.0, radius=1.0, feature_norm=1.0)
    >>> proposition_10(d=100, **given).log2(1.0) > proposition_10(d=10, **given).log2(1.0)
    np.True_
    """
    scores = lipschitz * radius * feature_norm
    return Covering(scores * math.sqrt(288.0 * (2.0 + math.log(d))), m * n, 8.0 * scores)


@checked
def proposition_15(
    *,
    n: AtLeast1,
    m: AtLeast1,
    smoothness: NonNegative,
    radius: NonNegative,
    feature_norm: NonNegative,
    risk: NonNegative = 1.0,
) -> Covering:
    """Covering numbers of an H-smooth non-negative loss over ||w||_2 <= W2 with empirical risk at most ``risk``.

    Example
    -------
    >>> given = dict(n=50, m=10, smoothness=2.0, radius=1.0, feature_norm=1.0)
    >>> proposition_15(risk=0.25, **given).scale / proposition_15(**given).scale
    0.5
    """
    return Covering(math.sqrt(12.0 * smoothness * risk) * radius * feature_norm, m * n)


@checked
def packing(losses: Floats, eps: Positive) -> int:
    """The number of rows, taken in turn, that are further than 2 eps from all rows taken before, in the maximum norm.

    Such points are in different balls of radius eps: a packing at scale 2 eps is never larger than a cover at scale
    eps. With distances max_i |phi(X_i w, y_i) - phi(X_i w', y_i)|, it is a lower estimate of the covering numbers.

    Parameters
    ----------
    losses : shape (k, n)
        One row per ranker, one column per query.
    eps : float > 0

    Raises
    ------
    DataError
        When eps is not > 0.

    Example
    -------
    >>> packing(np.array([[0.0], [1.0], [2.5], [2.6]]), 0.5)
    2
    """
    rows = checks.floats("losses", losses, ndim=2)
    if not rows.shape[1]:
        raise DataError("losses: expected one column per query, found none")
    return int(_taken(np.ascontiguousarray(rows), 2.0 * eps))


@njit
def _taken(rows, distance):  # type: ignore[no-untyped-def]
    """Take the first row that is left, and leave those with |row_i - first_i| > distance for some i, until none is."""
    left = np.arange(len(rows))
    taken, count = 0, len(rows)
    while count:
        first, kept = rows[left[0]], 0
        for candidate in left[:count]:
            for i in range(len(first)):
                if abs(rows[candidate, i] - first[i]) > distance:
                    left[kept] = candidate
                    kept += 1
                    break
        taken, count = taken + 1, kept
    return taken


@dataclass(frozen=True)
class EntropyIntegral:
    """The bound on the Rademacher average, and the alpha at which it is smallest."""

    value: float
    alpha: float


@checked
def integral(covering: Covering, n: AtLeast1, reach: Positive) -> EntropyIntegral:
    """inf over alpha in (0, B] of 4 alpha + 10 int_alpha^B sqrt(log2 N(eps) / n) d eps; equations (5) and (6).

    Parameters
    ----------
    covering : Covering
    n : float >= 1
        Queries.
    reach : float > 0
        B, the bound on the loss; sqrt(B r) for (5) with Proposition 15.

    Raises
    ------
    DataError
        When n < 1 or the reach is not a finite number > 0.

    Example
    -------
    >>> best = integral(proposition_7(n=10_000, m=10, lipschitz=2.0, radius=1.0, feature_norm=1.0), 10_000, 4.0)
    >>> round(best.value, 4), round(best.alpha, 4)
    (3.6808, 0.2108)
    >>> integral(Covering(100.0, 50.0), 10, 1.0).value
    4.0
    """
    if float(covering.log2(reach)) > 0.16 * n:
        return EntropyIntegral(4.0 * reach, reach)
    alpha = _balanced(covering, n, reach)
    exact_from = min(reach, max(alpha, covering.scale / math.sqrt(STEPS)))
    area = _by_steps(covering, exact_from, reach) + _smoothly(covering, alpha, exact_from)
    return EntropyIntegral(4.0 * alpha + 10.0 * area / math.sqrt(n), alpha)


def _balanced(covering: Covering, n: float, reach: float) -> float:
    # log2 N <= 0.16 n at the upper end and above it at the lower one: A^2 / eps^2 alone is 0.64 n there.
    low, high = math.log(min(reach, covering.scale / math.sqrt(0.64 * n))), math.log(reach)
    while low < (middle := 0.5 * (low + high)) < high:
        low, high = (middle, high) if covering._log2(np.float64(math.exp(middle))) > 0.16 * n else (low, middle)
    return math.exp(high)


def _by_steps(covering: Covering, low: float, high: float) -> float:
    # log2 N is constant between the values of eps at which one of the ceilings changes.
    if low >= high:
        return 0.0
    first, last = math.floor((covering.scale / high) ** 2), math.ceil((covering.scale / low) ** 2)
    of_scale = covering.scale / np.sqrt(np.arange(max(first, 1), last + 1, dtype=np.float64))
    of_reach = covering.reach / np.arange(1.0, math.floor(covering.reach / low) + 1.0)
    edges = np.unique(np.clip(np.concatenate([[low, high], of_scale, of_reach]), low, high))
    middle = 0.5 * (edges[1:] + edges[:-1])
    return float(np.sum(np.sqrt(covering.log2(middle)) * np.diff(edges)))


def _smoothly(covering: Covering, low: float, high: float) -> float:
    # Gauss and Legendre's rule in log eps.
    if low >= high:
        return 0.0
    nodes, weights = np.polynomial.legendre.leggauss(NODES)
    half = 0.5 * math.log(high / low)
    eps = low * np.exp(half * (nodes + 1.0))
    return float(half * np.sum(weights * eps * np.sqrt(covering._log2_smoothed(eps))))


@checked
def smallest_integral(covering: Covering, scale: Positive, d: Count, n: AtLeast1, reach: Positive) -> float:
    """inf over alpha in (0, B] of 4 alpha + 10 int_alpha^B sqrt(log2 N(eps) / n) d eps, N the smaller of both.

    The integrand falls, and is taken at the lower end of each of ``FALLING_STEPS`` steps: the result is not too small.

    Parameters
    ----------
    covering : Covering
        Proposition 7 or 10.
    scale : float
        A, the largest change of the loss between the centre and a ranker of the ball.
    d, n, reach
        Features, queries and B.

    Raises
    ------
    DataError
        When B is below 1e-299, where the steps are too short for float64.

    Example
    -------
    >>> smallest_integral(Covering(1.0, 1e6), 1.0, 2, 10**6, 1.0) < 0.03
    True
    """
    if reach < LEAST_REACH:
        raise DataError(f"reach: expected at least {LEAST_REACH:g}, found {reach:g}")
    eps = np.geomspace(reach * 10.0**-DECADES, reach, FALLING_STEPS)
    by_volume = np.where(eps >= scale, 0.0, d * np.log2(1.0 + 2.0 * scale / eps))
    entropies = np.minimum(covering.log2(eps), by_volume)
    areas = np.sqrt(entropies[:-1] / n) * np.diff(eps)
    above = np.concatenate([np.cumsum(areas[::-1])[::-1], [0.0]])
    return float(np.min(4.0 * eps + 10.0 * above))


@checked
def corollary_8(
    *,
    n: AtLeast1,
    m: AtLeast1,
    lipschitz: NonNegative,
    radius: NonNegative,
    feature_norm: NonNegative,
    loss_bound: Positive,
) -> float:
    """Rad <= 10 a log(6 B / (5 a)), a = G W2 R_X sqrt(log2(3 m n) / n): the closed form for the l2 class.

    Example
    -------
    >>> given = dict(n=10_000, m=10, lipschitz=2.0, radius=1.0, feature_norm=1.0)
    >>> round(corollary_8(loss_bound=4.0, **given), 4)
    3.4381
    """
    a = lipschitz * radius * feature_norm * math.sqrt(math.log2(3.0 * m * n) / n)
    return _falling_logarithm(10.0, a, 1.2 * loss_bound)


@checked
def corollary_11(
    *,
    n: AtLeast1,
    m: AtLeast1,
    d: Count,
    lipschitz: NonNegative,
    radius: NonNegative,
    feature_norm: NonNegative,
    loss_bound: Positive,
) -> float:
    """The closed form for the l1 class, as printed: with a = G W1 Rbar_X and b = sqrt(ln d log2(24 m n a)),

        Rad <= 120 sqrt(2) a b n^(-1/2) log^2( (B + 24 m n a) / (40 sqrt(2) a b) ).

    Raises
    ------
    DataError
        When d < 2 or 24 m n a <= 1, where a logarithm under the root is not positive.

    Example
    -------
    >>> given = dict(n=10_000, m=10, lipschitz=2.0, radius=1.0, feature_norm=1.0)
    >>> corollary_11(d=100, loss_bound=4.0, **given) > corollary_8(loss_bound=4.0, **given)
    True
    """
    a = lipschitz * radius * feature_norm
    if d < 2 or 24.0 * m * n * a <= 1.0:
        raise DataError(
            f"Corollary 11: expected d >= 2 and 24 m n G W1 R > 1, found d = {d} and {24.0 * m * n * a:g}; "
            "use the entropy integral"
        )
    b = math.sqrt(math.log(d) * math.log2(24.0 * m * n * a))
    logarithm = math.log((loss_bound + 24.0 * m * n * a) / (40.0 * math.sqrt(2.0) * a * b))
    return 120.0 * math.sqrt(2.0) * a * b / math.sqrt(n) * logarithm**2


@checked
def corollary_16(
    *,
    n: AtLeast1,
    m: AtLeast1,
    smoothness: NonNegative,
    radius: NonNegative,
    feature_norm: NonNegative,
    loss_bound: Positive,
    risk: NonNegative = 1.0,
) -> float:
    """Rad <= 4 sqrt(r) C log(3 sqrt(B) / C), C = 5 sqrt(3) W2 R_X sqrt(H log2(3 m n) / n), for empirical risk <= r.

    Example
    -------
    >>> given = dict(n=10_000, m=10, smoothness=2.0, radius=1.0, feature_norm=1.0, loss_bound=4.0)
    >>> corollary_16(risk=0.25, **given) / corollary_16(**given)
    0.5
    """
    C = 5.0 * math.sqrt(3.0) * radius * feature_norm * math.sqrt(smoothness * math.log2(3.0 * m * n) / n)
    return math.sqrt(risk) * _falling_logarithm(4.0, C, 3.0 * math.sqrt(loss_bound))


def _falling_logarithm(factor: float, x: float, top: float) -> float:
    # factor x log(top / x) up to its largest value, at x = top / e, and that value beyond
    x = min(x, top / math.e)
    return factor * x * math.log(top / x) if x > 0.0 else 0.0
