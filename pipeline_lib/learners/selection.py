"""How good is a ranker on the validation queries, and which of the models that were tried is kept?"""

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pipeline_lib.core.arrays import Floats
from pipeline_lib.core.checks import Seed, checked
from pipeline_lib.core.errors import DataError, UnlearnableError
from pipeline_lib.data.ranking_data import RankingData
from pipeline_lib.learners.features import fitted
from pipeline_lib.learners.ranker import Trained

__all__ = ["check_queries", "mean_measure"]
_LOG = logging.getLogger(__name__)

ROUNDING = 1e-12
"""Means of a measure that differ by at most this are equal up to the rounding of their sums."""
Attempt = Callable[[RankingData, Any], tuple[Floats, int, dict[str, float]]]
"""(training part with the features inside, value) -> weights, iterations, and what else is recorded of the run."""


@checked
def check_queries(learner: str, train: RankingData, validation: RankingData, chosen: str) -> None:
    """Raise a DataError when there is no validation query to choose by, or it has other features than training.

    Example
    -------
    >>> some, none = RankingData.from_arrays([[0.0]], [1], [7]), RankingData.from_arrays(np.zeros((0, 1)), [], [])
    >>> check_queries("erm", some, none, "l2")
    Traceback (most recent call last):
    ...
    pipeline_lib.core.errors.UnlearnableError: validation: erm: expected at least one validation query to choose l2 \
by, found none
    """
    if not train.n_queries:
        raise UnlearnableError(f"train: {learner}: expected at least one query, found none")
    if not validation.n_queries:
        raise UnlearnableError(
            f"validation: {learner}: expected at least one validation query to choose {chosen} by, found none"
        )
    if validation.n_features != train.n_features:
        raise DataError(
            f"validation: {learner}: expected {train.n_features} features as in training, found {validation.n_features}"
        )


@checked
def mean_measure(scores: ArrayLike, data: RankingData, measure: str) -> float:
    """The mean over queries of a measure of ``metrics.per_query``, higher is better; ties count as the data say.

    It is the weighted mean where queries have weights. The largest label of the data counts as that of the scale, which
    ``err`` needs.

    Example
    -------
    >>> mean_measure([2.0, 1.0], RankingData.from_arrays([[0.0], [0.0]], [1, 0], [7, 7]), "map")
    1.0
    """
    from pipeline_lib import metrics

    y_max = int(data.y.max(initial=0))
    judging = data.judging._asdict()
    values = metrics.per_query([measure], scores, data.y, data.offsets, y_max=y_max, **judging)[measure]
    return float(np.average(values, weights=data.weights))


def measured(scores: Iterable[Floats], validation: RankingData, measure: str) -> list[float]:
    """The mean measure of every row of scores."""
    return [mean_measure(row, validation, measure) for row in scores]


def first_best(values: ArrayLike) -> int:
    """The index of the first of the largest numbers, which count as equal where they differ by rounding alone.

    Means of the same values differ by their last digits where queries are summed in another order: the order of the
    queries in a file is not to decide which ranker is chosen.

    Example
    -------
    >>> first_best([0.1, 0.3, 0.1 + 0.2])
    1
    """
    found = np.asarray(values, np.float64)
    return int(np.flatnonzero(found >= found.max() - ROUNDING)[0])


def record_of_rounds(settings: Mapping[str, Any], values: Sequence[float], course: Sequence[Any]) -> dict[str, Any]:
    """The record of a boosting of which the first round with the largest of the validation ``values`` is the last."""
    best = first_best(values)
    kept = {"rounds": best + 1, "iterations": best + 1, "validation": values[best]}
    return {"settings": settings, **kept, "course": course}


def keep_best(
    name: str,
    setting: str,
    values: Iterable[float],
    attempt: Attempt,
    train: RankingData,
    validation: RankingData,
    settings: Mapping[str, Any],
    seed: Seed,
) -> Trained:
    """Run the learner ``name`` with every value of a setting, and keep the ranker best on the validation part.

    Ties go to the smallest value. ``settings`` has all settings: ``features`` and ``selection`` are used here. The
    record holds them, the value kept with its iterations, and ``tried``: for every value what the run recorded, ||w||
    and the validation value.
    """
    check_queries(name, train, validation, f"the {setting}")
    features = fitted(settings["features"], train, seed)
    inside = features.apply(train)
    attempts = []
    for value in values:
        w, iterations, recorded = attempt(inside, value)
        model = features.model(w)
        reached = mean_measure(model.predict(validation), validation, settings["selection"])
        words = ", ".join(f"{what.replace('_', ' ')} {number:.4g}" for what, number in recorded.items())
        _LOG.info(
            f"{name}, {setting} {value:g}: {iterations} iterations, {words}; "
            f"validation {settings['selection']} {reached:.4f}"
        )
        tried = {setting: value, **recorded, "norm": float(np.linalg.norm(w)), "validation": reached}
        attempts.append((model, iterations, tried))
    rising = sorted(attempts, key=lambda attempt: attempt[2][setting])
    model, iterations, best = rising[first_best([tried["validation"] for *_, tried in rising])]
    kept = {setting: best[setting], "validation": best["validation"], "iterations": iterations}
    return Trained(model, {"settings": settings, **kept, "tried": [tried for _, _, tried in attempts]})
