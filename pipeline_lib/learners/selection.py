"""How good is a ranker on the validation queries, and which of the models that were tried is kept?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pipeline_lib.checks import checked
from pipeline_lib.errors import DataError
from pipeline_lib.learners.ranker import Model, Trained
from pipeline_lib.ranking_data import RankingData

__all__ = ["check_queries", "mean_measure"]


@checked
def check_queries(learner: str, train: RankingData, validation: RankingData, chosen: str) -> None:
    """Raise a DataError when there is no validation query to choose by, or it has other features than training.

    Example
    -------
    >>> some, none = RankingData.from_arrays([[0.0]], [1], [7]), RankingData.from_arrays(np.zeros((0, 1)), [], [])
    >>> check_queries("erm", some, none, "l2")
    Traceback (most recent call last):
    ...
    pipeline_lib.errors.DataError: validation: erm: expected at least one validation query to choose l2 by, found none
    """
    if not train.n_queries:
        raise DataError(f"train: {learner}: expected at least one query, found none")
    if not validation.n_queries:
        raise DataError(
            f"validation: {learner}: expected at least one validation query to choose {chosen} by, found none"
        )
    if validation.n_features != train.n_features:
        raise DataError(
            f"validation: {learner}: expected {train.n_features} features as in training, found {validation.n_features}"
        )


@checked
def mean_measure(scores: ArrayLike, data: RankingData, measure: str) -> float:
    """The mean over queries of a measure of ``metrics.per_query``, higher is better.

    Example
    -------
    >>> mean_measure([2.0, 1.0], RankingData.from_arrays([[0.0], [0.0]], [1, 0], [7, 7]), "map")
    1.0
    """
    from pipeline_lib import metrics

    return float(np.mean(metrics.per_query([measure], scores, data.y, data.offsets)[measure]))


def keep_best(
    setting: str, settings: Mapping[str, Any], attempts: Sequence[tuple[Model, int, dict[str, Any]]]
) -> Trained:
    """The model of the attempt with the largest ``validation``, among equals the one whose ``setting`` is smallest.

    An attempt is a model, the number of its iterations, and what is recorded of it, which includes ``validation`` and
    the value of ``setting``. The record holds all ``settings``, these values of the kept model, and ``tried``: what is
    recorded of every attempt.

    Example
    -------
    >>> from pipeline_lib.learners.models import IdealModel, RandomModel
    >>> attempts = [
    ...     (IdealModel(), 10, {"step": 2.0, "validation": 0.5}),
    ...     (RandomModel((1,)), 20, {"step": 0.1, "validation": 0.5}),
    ... ]
    >>> trained = keep_best("step", {"selection": "map"}, attempts)
    >>> trained.model, trained.record["step"], trained.record["iterations"]
    (RandomModel(seed=(1,)), 0.1, 20)
    """
    model, iterations, best = max(attempts, key=lambda attempt: (attempt[2]["validation"], -attempt[2][setting]))
    record = {
        "settings": settings,
        setting: best[setting],
        "validation": best["validation"],
        "iterations": iterations,
        "tried": [tried for _, _, tried in attempts],
    }
    return Trained(model, record)
