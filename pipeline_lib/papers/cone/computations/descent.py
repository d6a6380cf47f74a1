"""Do the alternating steps lower the objective (18), at the start of training and until it converges?

The claim is that of `cone` in section 4. Data sets are traced over their first passes. A small synthetic sample is
traced over many more, with folding-in that converges and folding-in that is cut short: near a stationary point a pass
gains so little that the error which random starts of the coefficients leave can exceed the gain.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from pipeline_lib.arrays import Floats
from pipeline_lib.learners import cone
from pipeline_lib.ranking_data import RankingData, Standardisation
from pipeline_lib.seeds import generator
from pipeline_lib.sources.population import Population, PopulationSettings
from pipeline_lib.theory import cones

if TYPE_CHECKING:
    from pipeline_lib.papers.cone.experiments.cones import SmallSettings

SMALL = "small sample"

FOLD_STEPS_OF_STUDIES = 10
FOLD_TOL = 1e-10
"""Folding-in that may take all its steps ends at a step that moves the coefficients by no more than this."""
RISE = 1e-9
"""Relative increases up to this count as rounding, as in the claim's rule."""


def drawn(small: SmallSettings, seed: int) -> RankingData:
    """Draw the small sample and standardise its features."""
    population = Population(PopulationSettings.from_mapping(small.population))
    data = population.draw(small.queries, generator(seed, "cone-descent", SMALL, "sample"))
    return Standardisation.of(data).apply(data)


@dataclass(frozen=True)
class Run:
    """One training to trace: the method, how often the basis moves, the largest number of fold steps, and mu."""

    method: cone.Method
    updates: Literal["query", "whole", "long"]
    fold_steps: int | None
    step: float | None


TOO_LONG = Run("sg", "long", 200, 0.2)
"""One basis step per pass, with steps too long for the coefficients: a player that does not descend."""
LONG_PASSES = 50


def runs(fold_steps: Sequence[int], step: float | None = None) -> Iterator[Run]:
    """Every method with one basis step per query, as in the studies, and one per pass for each number of fold steps."""
    for method in cone.METHODS:
        if method == "exact":
            yield Run(method, "whole", None, None)
            continue
        mu = cone.PUBLISHED_STEPS[method] if step is None else step
        yield Run(method, "query", FOLD_STEPS_OF_STUDIES, mu)
        for largest in fold_steps:
            yield Run(method, "whole", largest, mu)


def trace(name: str, data: RankingData, K: int, run: Run, passes: int, seed: int) -> list[dict[str, Any]]:
    """Train and follow the objective: one row before the first pass and one after every pass."""
    at_once = run.updates != "query"
    fit = cone.fit(
        data,
        min(K, data.n_features),
        method=run.method,
        step=run.step,
        passes=passes,
        fold_steps=run.fold_steps or 1,
        fold_tol=FOLD_TOL if at_once else 1e-3,
        tol=0.0,
        at_once=at_once,
        seed=(seed, "cone-descent", name),
    )
    gap = cone.basis_gap(data, fit.U)
    return [
        {
            "dataset": name,
            "method": run.method,
            "updates": run.updates,
            "fold_steps": run.fold_steps,
            "step": run.step,
            "pass": t,
            "objective": float(fit.objective[t]),
            "met": None if t == 0 else float(fit.met[t - 1]),
            "gap": gap if t == fit.passes else None,
        }
        for t in range(fit.passes + 1)
    ]


def summary(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Summarise the rows of one trace in a row: first and last objective, last gap, increases, error of folding-in.

    Increases with one basis step per pass are those of the objective at the algorithm's own coefficients. With one step
    per query they are those at the best coefficients, because the basis moves within the pass.
    """
    objective = np.array([row["objective"] for row in rows])
    met = np.array([row["met"] for row in rows[1:]])
    at_once, gap = rows[0]["updates"] != "query", float(rows[-1]["gap"])
    excess = float(_relative(met - objective[:-1], objective).max()) if at_once else None
    return {
        **{name: rows[0][name] for name in ("dataset", "method", "updates", "fold_steps", "step")},
        "first": float(objective[0]),
        "last": float(objective[-1]),
        "gap": gap,
        **_increases(met if at_once else objective),
        "largest_fold_excess": excess,
        "relative_gap": gap / max(float(objective[-1]), np.finfo(np.float64).tiny),
    }


def _increases(values: Floats) -> dict[str, float]:
    change = _relative(np.diff(values), values)
    return {
        "largest_relative_increase": float(change.max(initial=-1.0)),
        "increases": float((change > RISE).sum()),
        "steps": float(len(change)),
    }


def _relative(differences: Floats, values: Floats) -> Floats:
    # Relative to the previous value; a value near 0 is replaced by the rounding error of the first one.
    scale = np.maximum(values[:-1], max(1e-12 * float(values[0]), np.finfo(np.float64).tiny))
    shares: Floats = differences / scale
    return shares


def some_queries(data: RankingData, pairs: int, rng: np.random.Generator) -> RankingData:
    """Random queries of ``data``, in their order: as many as have ``pairs`` pairs together, or all."""
    order = rng.permutation(data.n_queries)
    counted = np.cumsum(cones.pairs_of(data)[order])
    enough = int(np.searchsorted(counted, pairs)) + 1
    return data.take(np.sort(order[:enough]))
