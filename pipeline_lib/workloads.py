"""How long does a job take whose work its settings decide, and how much memory?

The data set decides how long a job of most rules takes (:mod:`pipeline_lib.planning`). An experiment's settings decide
it for the jobs here: each formula counts what its cost is proportional to (rounds, documents drawn, pairs of
retrainings) and multiplies it by what one of them took on one core of 2020s server hardware. They are within a factor
of about three of what was measured, for the default study and at paper scale; a cluster is asked for ten times as much.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

Settings = Mapping[str, Any]
Wildcards = Mapping[str, str]
Experiments = Mapping[str, Mapping[str, Settings]]


def _passes(settings: Settings) -> float:
    return 0.02 * float(settings["passes"])


TRAINING: Mapping[str, Callable[[Settings], float]] = {
    "adarank": lambda settings: 0.01 * settings["rounds"],
    "cone": lambda settings: 0.01 * settings["passes"] * settings["restarts"] * sum(settings["basis"]),
    "ogd": _passes,
    # every number of passes up to the largest is run from the start
    "perceptron": lambda settings: 0.01 * float(settings["passes"]) ** 2,
    "rankboost": lambda settings: 0.003 * settings["rounds"],
    "top-k-feedback": _passes,
}
"""Seconds per million cells by a learner's settings, for those whose settings say how long they train."""


def training_seconds(algorithm: str, settings: Settings, cells: float) -> float:
    """Seconds that training takes on a data set of ``cells`` feature values; 1 a million where settings say nothing.

    Example
    -------
    >>> training_seconds("cone", {"passes": 30, "restarts": 2, "basis": [10]}, 2e6), training_seconds("erm", {}, 2e6)
    (12.0, 2.0)
    """
    rate = TRAINING[algorithm](settings) if algorithm in TRAINING else 1.0
    return rate * cells / 1e6
