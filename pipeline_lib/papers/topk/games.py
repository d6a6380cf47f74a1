"""What do the games of several topics share?"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pipeline_lib.core.arrays import Floats
from pipeline_lib.data.ranking_data import RankingData
from pipeline_lib.data.rows import Interval
from pipeline_lib.ranking import discounts
from pipeline_lib.statistics import fit_exponent


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
    fitted = fit_exponent(rounds, regrets)
    return Interval(fitted.slope, fitted.low, fitted.high)
