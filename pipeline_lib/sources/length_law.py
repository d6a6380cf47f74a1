"""How many documents do the queries of a population with the log-normal law have?

A list has m documents, low <= m <= high, with probability proportional to the density of a log-normal variable at m::

    p(m)  ~  exp(-(ln m - mu)^2 / (2 spread^2)) / m,    mu such that sum_m m p(m) = mean.

The mean rises with mu, so that there is one such mu for every mean between low and high.
"""

import numpy as np
from numpy.typing import NDArray

from pipeline_lib.core import checks
from pipeline_lib.core.arrays import Floats
from pipeline_lib.core.checks import Natural, checked
from pipeline_lib.core.errors import DataError
from pipeline_lib.sources.population_settings import LogNormalLengths


@checked
def probabilities(law: LogNormalLengths) -> Floats:
    """The probability of every length from ``low`` to ``high``, shape (high - low + 1,).

    Example
    -------
    >>> law = LogNormalLengths(mean=3.0, low=1, high=8, spread=0.5)
    >>> p = probabilities(law)
    >>> len(p), round(float(p.sum()), 12), round(float(p @ np.arange(1, 9)), 9)
    (8, 1.0, 3.0)
    """
    from scipy.optimize import brentq

    lengths = np.arange(law.low, law.high + 1)
    logs = np.log(lengths)

    def of(mu: float) -> Floats:
        exponents = -((logs - mu) ** 2) / (2.0 * law.spread**2) - logs
        weights = np.exp(exponents - exponents.max())
        return np.asarray(weights / weights.sum())

    low, high = float(logs[0]), float(logs[-1])
    while of(low) @ lengths >= law.mean:
        low -= 1.0
    while of(high) @ lengths <= law.mean:
        high += 1.0
    return of(brentq(lambda mu: float(of(mu) @ lengths) - law.mean, low, high, xtol=1e-13))


@checked
def draw(law: LogNormalLengths, n_queries: Natural, rng: np.random.Generator) -> NDArray[np.int64]:
    """Independent lengths of ``n_queries`` lists, by inversion of the distribution function.

    Example
    -------
    >>> draw(LogNormalLengths(mean=3.0, low=1, high=8, spread=0.5), 5, np.random.default_rng(0)).tolist()
    [3, 2, 1, 1, 4]
    """
    steps = np.cumsum(probabilities(law))[:-1]
    return np.asarray(law.low + np.searchsorted(steps, rng.random(n_queries), side="right"), np.int64)


@checked
def exact(law: LogNormalLengths, lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """Change lengths as little as possible, so that they add up to ``mean`` times their number, rounded.

    Where there are at least ``high`` lists, the first of the shortest gets ``low`` documents and the first of the
    longest gets ``high`` (the second list, where all are equally long), so that the extremes are those of the law. Then
    the others get one document more (or less), from the longest to the shortest, again and again until the sum is
    right; none leaves low..high.

    Raises
    ------
    DataError
        When a length is not in low..high, or the extremes leave no room for the mean.

    Example
    -------
    >>> law = LogNormalLengths(mean=3.0, low=1, high=8, spread=0.5)
    >>> exact(law, np.array([3, 2, 2, 2, 4])).tolist()
    [4, 2, 2, 2, 5]
    """
    found = checks.whole_numbers("lengths", lengths, law.low, law.high).copy()
    free = np.ones(len(found), bool)
    if len(found) >= law.high:
        ends = [int(found.argmin()), int(found.argmax())]
        if ends[0] == ends[1]:  # all have the same length
            ends[1] += 1
        found[ends], free[ends] = (law.low, law.high), False
    missing = round(law.mean * len(found)) - int(found.sum())
    order = np.argsort(-found, kind="stable")
    while missing:
        one = 1 if missing > 0 else -1
        can_change = free & (law.low <= found + one) & (found + one <= law.high)
        chosen = order[can_change[order]][: abs(missing)]
        if not len(chosen):
            extremes = f"of which one has {law.low} documents and one has {law.high}"
            raise DataError(f"lengths: {len(found)} lists, {extremes}, cannot have {law.mean} on average")
        found[chosen] += one
        missing -= one * len(chosen)
    return found
