"""How is one setting of an online learner chosen, such as its step or its number of passes?

The learner is run with every value, and the ranker is kept that is best on the validation part.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from pipeline_lib.arrays import Floats
from pipeline_lib.learners import completed, rounds, selection
from pipeline_lib.learners.features import fitted
from pipeline_lib.learners.ranker import Seed, Trained
from pipeline_lib.ranking_data import RankingData

__all__: list[str] = []  # internal: what comes here was checked before (see pipeline_lib.checks)
_LOG = logging.getLogger(__name__)

Attempt = Callable[[RankingData, Any], tuple[Floats, int, dict[str, float]]]
"""(training part with the features inside, value) -> weights, iterations, and what else is recorded of the run."""


class Course(Protocol):
    """What a run over some rounds returns: the last weights, their mean, and the loss of every round."""

    @property
    def w(self) -> Floats: ...
    @property
    def average(self) -> Floats: ...
    @property
    def losses(self) -> NDArray[Any]: ...


def keep_best_pass(
    name: str,
    run: Callable[[RankingData, NDArray[np.int64]], Course],
    visits: int,
    train: RankingData,
    validation: RankingData,
    settings: Mapping[str, Any],
    seed: Seed,
) -> Trained:
    """Run a learner without a step size for 1, 2, ... ``passes`` passes of so many visits, in random orders.

    Besides what :func:`keep_best` records, ``mistakes`` is the mean loss of a visit so far.
    """
    chosen = completed(name, settings)
    order = rounds.random_passes(visits, chosen["passes"], seed)

    def run_passes(inside: RankingData, passes: int) -> tuple[Floats, int, dict[str, float]]:
        course = run(inside, order[: passes * visits])
        return course.average if chosen["average"] else course.w, passes, {"mistakes": float(course.losses.mean())}

    numbers = range(1, chosen["passes"] + 1)
    return keep_best(name, "passes", numbers, run_passes, train, validation, chosen, seed)


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
    """Run the learner ``name`` with every value of a setting; ties go to the smallest.

    ``settings`` has all settings: ``features`` and ``selection`` are used here. The record holds them, the value kept
    with its iterations, and ``tried``: for every value what the run recorded, ||w|| and the validation value.
    """
    selection.check_queries(name, train, validation, f"the {setting}")
    features = fitted(settings["features"], train, seed)
    inside = features.apply(train)
    attempts = []
    for value in values:
        w, iterations, recorded = attempt(inside, value)
        model = features.model(w)
        reached = selection.mean_measure(model.predict(validation), validation, settings["selection"])
        words = ", ".join(f"{what.replace('_', ' ')} {number:.4g}" for what, number in recorded.items())
        _LOG.info(
            f"{name}, {setting} {value:g}: {iterations} iterations, {words}; "
            f"validation {settings['selection']} {reached:.4f}"
        )
        tried = {setting: value, **recorded, "norm": float(np.linalg.norm(w)), "validation": reached}
        attempts.append((model, iterations, tried))
    return selection.keep_best(setting, settings, attempts)
