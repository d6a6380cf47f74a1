"""How do gap and bound of the l1 class grow with the number of features?

`lists`, Theorem 12: ||w||_1 <= W1 and ||x||_inf <= Rbar_X. ListNet (above the entropy of the labels) is minimised over
the l1 ball for up to 10,000 features, a few of which matter. The bound's own growth is fitted at a number of queries
large enough that the entropy integral is not at its ceiling of 4 B.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from pipeline_lib import surrogates
from pipeline_lib.errors import ConfigurationError
from pipeline_lib.experiments import settings
from pipeline_lib.experiments.lists import held_out
from pipeline_lib.experiments.lists.intervals import of_largest
from pipeline_lib.learners import erm
from pipeline_lib.reporting.evidence import Evidence, Interval, Trial
from pipeline_lib.seeds import generator
from pipeline_lib.sources.population import Population, PopulationSettings
from pipeline_lib.statistics import fit_exponent
from pipeline_lib.theory import list_bounds

TABLE = "tables/lists-sparse.parquet"
LOSS = "listnet"


@dataclass(frozen=True)
class Settings:
    """What is drawn and measured.

    Attributes
    ----------
    features : rising ints >= 2
        d, at least three.
    active : int
        Features that matter.
    queries, documents : int
        n and m.
    held_out_queries : int
    repetitions : int >= 2
    radius : number > 0
        W1.
    tol : number > 0
        Relative gap to which minimisers are certified.
    delta : number in (0, 1)
    fitted_at : int
        The n at which the bound's exponent in d is fitted.
    """

    features: tuple[int, ...]
    active: int
    queries: int
    documents: int
    held_out_queries: int
    repetitions: int
    radius: float
    tol: float
    delta: float
    fitted_at: int

    def __post_init__(self) -> None:
        where = "lists.sparse"
        settings.wholes(f"{where}.features", self.features, 2)
        for name, least in (
            ("active", 1),
            ("queries", 2),
            ("documents", 2),
            ("held_out_queries", 2),
            ("repetitions", 2),
            ("fitted_at", 1),
        ):
            settings.whole(f"{where}.{name}", getattr(self, name), least)
        settings.positives(f"{where}.radius", (self.radius,))
        settings.positives(f"{where}.tol", (self.tol,))
        if len(self.features) < 3 or self.active > self.features[0]:
            raise ConfigurationError(
                f"{where}.features: expected three numbers or more, none below active, found {list(self.features)}"
            )
        if not 0.0 < self.delta < 1.0:
            raise ConfigurationError(f"{where}.delta: expected a number in (0, 1), found {self.delta}")

    @classmethod
    def from_mapping(cls, mapping: Mapping[str, Any]) -> Settings:
        """Parse the section ``experiments: lists: sparse:``; ConfigurationError if it is wrong."""
        return settings.parse(cls, mapping, "lists.sparse")


def run(asked: Settings, seed: int) -> tuple[list[dict[str, Any]], Evidence]:
    """Rows of the table, one a number of features and repetition, and the evidence for Theorem 12."""
    rows: list[dict[str, Any]] = []
    trials = []
    for d in asked.features:
        found = _measure(asked, d, seed)
        rows += found
        setting = {"d": d, "n": asked.queries, "m": asked.documents}
        values = {"gap": of_largest(found, "gap", "risk_error"), "bound": found[0]["bound"]}
        trials.append(Trial(setting, values, TABLE))
    asymptotic = [_bound(asked, d, asked.fitted_at) for d in asked.features]
    fitted = fit_exponent(asked.features, asymptotic)
    exponent = Interval(fitted.slope, fitted.low, fitted.high)
    trials.append(Trial({"n": asked.fitted_at}, {"bound_exponent_in_d": exponent}, TABLE))
    notes = (
        f"The largest of {asked.repetitions} gaps of the certified minimiser over the l1 ball. The exponent is that of "
        f"the whole bound at n = {asked.fitted_at:,}: with few queries the entropy integral is at its ceiling 4 B, and "
        "the bound does not change with d at all."
    )
    return rows, Evidence("lists-thm12", tuple(trials), notes)


def _population(asked: Settings, d: int) -> Population:
    return Population(PopulationSettings(features=d, documents=asked.documents, active=asked.active))


def _bound(asked: Settings, d: int, n: int) -> float:
    population, loss = _population(asked, d), surrogates.create(LOSS)
    # One bound on features for all d, so that only d changes: ||x||_inf <= ||x||_2 <= R.
    given: dict[str, Any] = {"radius": asked.radius, "feature_norm": population.feature_norm}
    y_max = population.settings.y_max
    constants = list_bounds.of_surrogate("erm-l1", loss, m=asked.documents, y_max=y_max, **given)
    return list_bounds.evaluate("erm-l1", n=n, m=asked.documents, d=d, delta=asked.delta, **given, **constants)


def _measure(asked: Settings, d: int, seed: int) -> list[dict[str, Any]]:
    population, loss = _population(asked, d), surrogates.create(LOSS)
    weights, empirical, gaps = [], [], []
    for repetition in range(asked.repetitions):
        sample = population.draw(asked.queries, generator(seed, "lists-sparse", d, repetition))
        found = erm.fit(sample, loss, l2=0.0, radius=asked.radius, ball="l1", tol=asked.tol)
        weights.append(found.w)
        empirical.append(float(held_out.losses(loss, sample, found.w).mean()))
        gaps.append(found.relative_gap)
    measured = population.risk(
        lambda scores, y, offsets: loss.unchecked(scores, y, offsets)[0] - held_out.floor(loss, y, offsets),
        np.column_stack(weights),
        generator(seed, "lists-sparse", d, "held out"),
        asked.held_out_queries,
    )
    bound = _bound(asked, d, asked.queries)
    return [
        {
            "d": d,
            "n": asked.queries,
            "m": asked.documents,
            "repetition": k,
            "empirical": empirical[k],
            "risk": float(measured.value[k]),
            "risk_error": float(measured.standard_error[k]),
            "gap": float(measured.value[k]) - empirical[k],
            "certified_gap": gaps[k] if math.isfinite(gaps[k]) else None,
            "bound": bound,
            "bound_far": _bound(asked, d, asked.fitted_at),
            "fitted_at": asked.fitted_at,
        }
        for k in range(asked.repetitions)
    ]
