"""What do the games and gradients of several topics share?"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline_lib.core.arrays import Floats
from pipeline_lib.data.ranking_data import RankingData
from pipeline_lib.data.rows import Interval
from pipeline_lib.ranking import discounts
from pipeline_lib.statistics import fit_exponent, mean_interval
from pipeline_lib.surrogates.base import Surrogate
from pipeline_lib.theory.decomposability import LabelFunction


def on_identity(labels: NDArray[np.int64]) -> RankingData:
    """Every label vector, shape (n, m), as a query whose documents have the unit vectors as features: X = I.

    Example
    -------
    >>> data = on_identity(np.array([[0, 0], [0, 1]]))
    >>> data.y.tolist(), data.X[:2].tolist()
    ([0, 0, 0, 1], [[1.0, 0.0], [0.0, 1.0]])
    """
    n, m = labels.shape
    return RankingData.from_arrays(np.tile(np.eye(m), (n, 1)), labels.ravel(), np.repeat(np.arange(n), m))


def gradient(loss: Surrogate, scores: Floats) -> LabelFunction:
    """The gradient of a surrogate at fixed scores, as a function of the labels."""
    return lambda y: loss.gradient(scores, y, [0, len(y)])


def value(estimates: Floats, relevance: Floats) -> Floats:
    """V(P, sigma) of the orders by each row of estimates, shape (rows,).

    Example
    -------
    >>> value(np.array([[0.0, 1.0], [1.0, 0.0]]), np.array([0.5, 1.0])).round(4).tolist()
    [1.3155, 1.1309]
    """
    return np.asarray(relevance[np.argsort(-estimates, axis=1, kind="stable")] @ discounts(len(relevance)))


def exponent(rounds: Sequence[int], regrets: Floats) -> Interval:
    """The power of T with which regrets, shape (games, rounds), grow, with its 95 % interval over games.

    Example
    -------
    >>> round(exponent([1, 100, 10000], np.array([[3.0, 30.0, 300.0], [1.0, 10.0, 100.0]])).value, 6)
    0.5
    """
    # Without any randomness all games agree: then one of them says all, and the fit's own error is the interval.
    fitted = fit_exponent(rounds, regrets if np.ptp(regrets, axis=0).any() else regrets[0])
    return Interval(fitted.slope, fitted.low, fitted.high)


def grown(rounds: Sequence[int], regrets: Floats, rate: float) -> Iterator[dict[str, Any]]:
    """For every T what is measured of regrets, shape (games, rounds), next to a limit that is linear in T.

    Example
    -------
    >>> [row["linear_limit"] for row in grown([1, 10, 100], np.array([[1.0, 5.0, 9.0], [2.0, 4.0, 9.0]]), 0.5)]
    [0.5, 5.0, 50.0]
    """
    slope = exponent(rounds, regrets)
    for T, at_T in zip(rounds, regrets.T, strict=True):
        yield {"T": T, "regret": mean_interval(at_T), "linear_limit": T * rate, "slope": slope}
