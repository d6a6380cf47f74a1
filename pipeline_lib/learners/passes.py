"""How is the number of passes of an online learner chosen?"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from pipeline_lib.arrays import Floats
from pipeline_lib.learners import selection
from pipeline_lib.learners.features import fitted
from pipeline_lib.learners.ranker import Seed, Trained
from pipeline_lib.ranking_data import RankingData

__all__: list[str] = []  # internal: what comes here was checked before (see pipeline_lib.checks)
_LOG = logging.getLogger(__name__)

Passes = Callable[[RankingData, int], tuple[Floats, dict[str, Any]]]
"""(training part with the features inside, number of passes) -> the weights, and what is recorded of the run."""


def train(
    name: str,
    run: Passes,
    train: RankingData,
    validation: RankingData,
    settings: Mapping[str, Any],
    seed: Seed,
    *,
    rounds: int = 1,
) -> Trained:
    """Run 1, 2, ... passes over ``train``, and keep the number that is best on ``validation``; ties go to fewer.

    ``settings`` has all settings: ``passes``, ``features`` and ``selection`` are used here. The record holds them, the
    ``passes`` kept, ``tried``: for every number of passes what the run recorded, ||w|| and the validation value, and
    the ``iterations``, of which a pass has as many as ``rounds``.
    """
    selection.check_queries(name, train, validation, "the passes")
    features = fitted(settings["features"], train, seed)
    inside = features.apply(train)
    attempts = []
    for passes in range(1, settings["passes"] + 1):
        w, recorded = run(inside, passes)
        model = features.model(w)
        value = selection.mean_measure(model.predict(validation), validation, settings["selection"])
        words = ", ".join(f"{what} {number:.4f}" for what, number in recorded.items())
        _LOG.info(
            f"{name}, {passes} of {settings['passes']} passes: {words}; validation {settings['selection']} {value:.4f}"
        )
        tried = {"passes": passes, **recorded, "norm": float(np.linalg.norm(w)), "validation": value}
        attempts.append((model, passes * rounds, tried))
    return selection.keep_best("passes", settings, attempts)
