"""Do the alternating steps lower the objective (18), at the start of training and on the whole way down?

`cone`, section 4. Data sets are traced over their first passes. A small made sample is traced over many more, with
folding-in that is solved and folding-in that is cut short: near a stationary point a pass gains so little that what
random starts of the coefficients leave unsolved can outweigh it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from pipeline_lib.arrays import Floats
from pipeline_lib.claims.evidence import Trial
from pipeline_lib.learners import cone
from pipeline_lib.ranking_data import RankingData, Standardisation
from pipeline_lib.seeds import generator
from pipeline_lib.sources.population import Population, PopulationSettings
from pipeline_lib.theory import cones

if TYPE_CHECKING:
    from pipeline_lib.papers.cone.experiments.cones import SmallSettings

TABLE = "tables/cone-descent.parquet"
SUMMARY = "tables/cone-descent-summary.parquet"
SMALL = "small sample"

FOLD_STEPS_OF_STUDIES = 10
FOLD_TOL = 1e-10
"""Of folding-in that may take all its steps: it ends where a step moves the coefficients by no more."""
RISE = 1e-9
"""Relative increases up to this are rounding, as in the claim's rule."""


def drawn(small: SmallSettings, seed: int) -> RankingData:
    """The small sample, its features standardised."""
    population = Population(PopulationSettings.from_mapping(small.population))
    data = population.draw(small.queries, generator(seed, "cone-descent", SMALL, "sample"))
    return Standardisation.of(data).apply(data)


@dataclass(frozen=True)
class Run:
    """One training to trace: the folding-in, its most steps, mu, and how often the basis moves."""

    method: cone.Method
    updates: Literal["query", "whole"]
    fold_steps: int | None
    step: float | None


def runs(fold_steps: Sequence[int], step: float | None = None) -> Iterator[Run]:
    """Every method with one basis step a query, as the studies train, and one a pass for each number of fold steps."""
    for method in cone.METHODS:
        if method == "exact":
            yield Run(method, "whole", None, None)
            continue
        mu = cone.PUBLISHED_STEPS[method] if step is None else step
        yield Run(method, "query", FOLD_STEPS_OF_STUDIES, mu)
        for most in fold_steps:
            yield Run(method, "whole", most, mu)


def trace(name: str, data: RankingData, K: int, run: Run, passes: int, seed: int) -> list[dict[str, Any]]:
    """Train and follow the objective: a row a pass, the first of them before any."""
    at_once = run.updates == "whole"
    found = cone.fit(
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
    gap = cone.basis_gap(data, found.U)
    return [
        {
            "dataset": name,
            "method": run.method,
            "updates": run.updates,
            "fold_steps": run.fold_steps,
            "step": run.step,
            "pass": t,
            "objective": float(found.objective[t]),
            "met": None if t == 0 else float(found.met[t - 1]),
            "gap": gap if t == found.passes else None,
        }
        for t in range(found.passes + 1)
    ]


def summary(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What the rows of one trace say, as a row of :data:`SUMMARY`.

    One step a pass is judged by the objective that the algorithm sees, at its own coefficients; one a query by that at
    the best coefficients, since the basis moves within the pass.
    """
    objective = np.array([row["objective"] for row in rows])
    met = np.array([row["met"] for row in rows[1:]])
    at_once, gap = rows[0]["updates"] == "whole", float(rows[-1]["gap"])
    excess = float(_relative(met - objective[:-1], objective).max()) if at_once else None
    return {
        **{name: rows[0][name] for name in ("dataset", "method", "updates", "fold_steps", "step")},
        "first": float(objective[0]),
        "last": float(objective[-1]),
        "gap": gap,
        **_judged(met if at_once else objective),
        "largest_fold_excess": excess,
        "relative_gap": gap / max(float(objective[-1]), np.finfo(np.float64).tiny),
    }


def trial(summed: Mapping[str, Any]) -> Trial:
    """The summary of a trace as evidence."""
    setting = {name: summed[name] for name in ("dataset", "method", "updates", "fold_steps")}
    values = {
        name: summed[name]
        for name in ("largest_relative_increase", "increases", "steps", "largest_fold_excess", "relative_gap")
    }
    return Trial(_known(setting), _known(values), TABLE)


def _known(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


def _judged(values: Floats) -> dict[str, float]:
    change = _relative(np.diff(values), values)
    return {
        "largest_relative_increase": float(change.max(initial=-1.0)),
        "increases": float((change > RISE).sum()),
        "steps": float(len(change)),
    }


def _relative(differences: Floats, values: Floats) -> Floats:
    # To the value before; one that has reached 0 counts as the rounding of the first.
    scale = np.maximum(values[:-1], max(1e-12 * float(values[0]), np.finfo(np.float64).tiny))
    shares: Floats = differences / scale
    return shares


def some_queries(data: RankingData, pairs: int, rng: np.random.Generator) -> RankingData:
    """Random queries of ``data``, in their order: as many as it takes to reach so many pairs, or all."""
    order = rng.permutation(data.n_queries)
    counted = np.cumsum(cones.pairs_of(data)[order])
    enough = int(np.searchsorted(counted, pairs)) + 1
    return data.take(np.sort(order[:enough]))


NOTES = (
    "Whole: one basis step a pass along the gradient of the whole risk, as Algorithm 1 is printed; the objective is "
    "that at the coefficients the algorithm has, which exceeds that at the best ones by largest_fold_excess of it. "
    "Query: one basis step a query, the objective at the best coefficients after each pass. Exact: each block solved. "
    "Coefficients start at random in every pass and take fold_steps steps at most. Judged are the steps as printed, "
    "folding-in until it converges and one basis step a pass, and exact blocks, over the passes of each trace; "
    "the gap of the last basis bounds what it could still gain with its best coefficients."
)


def as_printed(trials: Sequence[Trial]) -> list[Trial]:
    """The trials of what the paper says: exact blocks, and one basis step a pass with the longest folding-in.

    Algorithm 1 folds in until it converges before the basis moves. What is cut short, or moves the basis with every
    query, is practice.
    """
    longest: dict[str, int] = {}
    for trial in trials:
        name = str(trial.setting["dataset"])
        longest[name] = max(longest.get(name, 0), int(trial.setting.get("fold_steps") or 0))
    return [
        trial
        for trial in trials
        if trial.setting["updates"] == "whole"
        and trial.setting.get("fold_steps") in (None, longest[str(trial.setting["dataset"])])
    ]


def notes(settings: SmallSettings, trials: Sequence[Trial]) -> str:
    """How descent is judged, and what came out on the small sample."""
    small = [trial for trial in trials if trial.setting["dataset"] == SMALL]
    groups: dict[str, list[Trial]] = {}
    for trial in small:
        groups.setdefault(_title(trial), []).append(trial)
    mu = "the published steps" if settings.step is None else f"mu = {settings.step:g}"
    said = ". ".join(f"{title}: {_outcome(group)}" for title, group in groups.items())
    return (
        f"{NOTES} The {SMALL}, {settings.queries} queries of a synthetic population, is traced over "
        f"{settings.passes:,} passes "
        f"with {mu}. {said}. Increases and gaps are relative to the objective."
    )


def _title(trial: Trial) -> str:
    if trial.setting["method"] == "exact":
        return "Exact blocks"
    if trial.setting["updates"] == "query":
        return "One basis step a query"
    return f"One basis step a pass, at most {trial.setting['fold_steps']:,} fold steps"


def _outcome(trials: Sequence[Trial]) -> str:
    # Which methods rise, and how far from a stationary point they end.
    rises = [
        f"{trial.setting['method']} (by at most {trial.values['largest_relative_increase']:.1e})"
        for trial in trials
        if trial.values["increases"]
    ]
    gaps = sorted(float(trial.values["relative_gap"]) for trial in trials)  # type: ignore[arg-type]
    ends = dict.fromkeys(f"{gap:.1e}" for gap in (gaps[0], gaps[-1]))
    return f"{'passes rise with ' + ', '.join(rises) if rises else 'no pass rises'}; last gap {' to '.join(ends)}"
