"""Projections onto cones, norms and spectrum of pair differences, and the descent of the objective."""

from __future__ import annotations

from typing import Annotated

from annotated_types import Ge
from pydantic import Field

from pipeline_lib.cost import Cost
from pipeline_lib.experiment import EVERY, Cell, Experiment, Job, Outcome, Step
from pipeline_lib.settings import Positive, Rising, Settings, Whole
from pipeline_lib.sources.population_settings import Overrides


class SmallSettings(Settings):
    """A small sample of a population, whose objective is followed until it converges."""

    queries: Whole = Field(8, description="number of queries in the sample")
    population: Overrides = Field(
        {"features": 5, "documents": 3, "label_shares": [0.2, 0.2, 0.2, 0.2, 0.2]},
        description="overrides of the population's defaults (docs/population.md)",
    )
    basis: Whole = Field(2, description="K, at most the number of features")
    step: Positive | None = Field(
        0.02, description="mu of every method; null means the published values, with more passes"
    )
    passes: Annotated[Whole, Ge(2)] = Field(2500, description="number of passes in each trace")
    fold_steps: Rising = Field(
        (10, 20000),
        description="largest numbers of steps of each folding-in, one cut short and one converged; each has a trace",
    )


class ConesSettings(Settings):
    """Projections onto cones, norms and spectrum of pair differences, and the descent of the objective."""

    cones: Whole = Field(20, description="number of random cones of every shape")
    features: Rising = Field((3, 10, 46), description="values of d for the cones")
    bases: Rising = Field(
        (1, 2, 5, 10), description="values of K for the cones, next to the smallest d; those above d are left out"
    )
    pairs: Whole = Field(
        2000, description="approximate number of pairs from every data set for the traces of the objective"
    )
    basis: Whole = Field(10, description="K in the traces")
    # The objective of a trace with one pass could not rise.
    passes: Annotated[Whole, Ge(2)] = Field(10, description="number of passes in each trace")
    fold_steps: Whole = Field(
        200, description="largest number of steps of each folding-in, when the basis is updated once per pass"
    )
    small: SmallSettings = Field(
        SmallSettings.parse({}), description="a small sample, whose objective is followed until it converges"
    )


def _run(job: Job) -> Outcome:
    from pipeline_lib.papers.cone.computations import cones

    results = cones.run(job.settings, job.datasets(), job.seed)
    return Outcome([results.identities, results.norms, results.spectrum, results.descent, results.descent_summary])


def _seconds(settings: ConesSettings, cell: Cell) -> float:
    # The first passes over a data set, and the fold steps of the small sample.
    fold_steps = settings.small.queries * settings.small.passes * sum(settings.small.fold_steps)
    return 1e-4 * settings.pairs * settings.passes + 1e-8 * fold_steps


EXPERIMENT = Experiment(
    ConesSettings,
    (
        Step(
            "cones",
            _run,
            documents=EVERY,
            tables={
                "tables/cone-identities": {"claim": str, "case": str, "d": int, "K": int, "value": float},
                "tables/cone-norms": {
                    "dataset": str,
                    **dict.fromkeys(("scale", "alpha"), float),
                    **dict.fromkeys(("d", "pairs"), int),
                    **dict.fromkeys(
                        ("largest_norm", "largest_with_maximum_norm", "largest_with_difference", "largest_with_root"),
                        float,
                    ),
                },
                "tables/cone-spectrum": {"dataset": str, "index": int, "eigenvalue": float, "cumulative": float},
                "tables/cone-descent": {
                    **dict.fromkeys(("dataset", "method", "updates"), str),
                    "fold_steps": int,
                    "step": float,
                    "pass": int,
                    **dict.fromkeys(("objective", "met", "gap"), float),
                },
                "tables/cone-descent-summary": {
                    **dict.fromkeys(("dataset", "method", "updates"), str),
                    "fold_steps": int,
                    **dict.fromkeys(("step", "first", "last", "gap", "largest_relative_increase"), float),
                    **dict.fromkeys(("increases", "steps", "largest_fold_excess", "relative_gap"), float),
                },
            },
            cost=Cost(2.0, start_mb=800.0),
            seconds=_seconds,
        ),
    ),
)
