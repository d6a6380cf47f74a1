"""How good is a ranker on the queries by which settings are chosen?"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from pipeline_lib.errors import DataError
from pipeline_lib.ranking_data import RankingData


def check_queries(learner: str, validation: RankingData, chosen: str) -> None:
    """Raise a DataError when there is no validation query to choose by.

    Example
    -------
    >>> check_queries("erm", RankingData.from_arrays(np.zeros((0, 1)), [], []), "l2")
    Traceback (most recent call last):
    ...
    pipeline_lib.errors.DataError: erm: expected at least one validation query to choose l2 by, found none
    """
    if not validation.n_queries:
        raise DataError(f"{learner}: expected at least one validation query to choose {chosen} by, found none")


def mean_measure(scores: ArrayLike, data: RankingData, measure: str) -> float:
    """The mean over queries of a measure of ``metrics.per_query``, higher is better.

    Example
    -------
    >>> mean_measure([2.0, 1.0], RankingData.from_arrays([[0.0], [0.0]], [1, 0], [7, 7]), "ap")
    1.0
    """
    from pipeline_lib import metrics

    return float(np.mean(metrics.per_query([measure], scores, data.y, data.offsets)[measure]))
