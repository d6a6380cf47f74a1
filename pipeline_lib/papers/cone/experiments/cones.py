"""Projections onto cones, norms and spectrum of pair differences, and the objective on its way down."""

from __future__ import annotations

from typing import Annotated

from annotated_types import Ge
from pydantic import Field

from pipeline_lib.cost import Cost
from pipeline_lib.experiment import EVERY, Cell, Experiment, Job, Outcome, Step
from pipeline_lib.settings import Positive, Rising, Settings, Whole
from pipeline_lib.sources.population_settings import Overrides


class SmallSettings(Settings):
    """A small sample of a population, traced on its whole way down."""

    queries: Whole = Field(8, description="in the sample")
    population: Overrides = Field(
        {"features": 5, "documents": 3, "label_shares": [0.2, 0.2, 0.2, 0.2, 0.2]},
        description="overrides of the population's defaults (docs/population.md)",
    )
    basis: Whole = Field(2, description="K, at most the number of features")
    step: Positive | None = Field(0.02, description="mu of every method; null: the published ones, with more passes")
    passes: Annotated[Whole, Ge(2)] = Field(2500, description="of each trace")
    fold_steps: Rising = Field(
        (10, 20000), description="of each folding-in, at most: cut short, and solved; a trace for each"
    )


class ConesSettings(Settings):
    """Projections, norms and spectrum of pair differences, and the objective on its way down."""

    cones: Whole = Field(20, description="random cones of every shape")
    features: Rising = Field((3, 10, 46), description="their d")
    bases: Rising = Field((1, 2, 5, 10), description="their K, where at most d")
    pairs: Whole = Field(2000, description="of every data set, about, for the traces of the objective")
    basis: Whole = Field(10, description="K of the traces")
    # A trace of one pass could not rise.
    passes: Annotated[Whole, Ge(2)] = Field(10, description="of each trace")
    fold_steps: Whole = Field(200, description="of each folding-in, at most, where the basis moves once a pass")
    small: SmallSettings = Field(SmallSettings.parse({}), description="a small sample, on its whole way down")


def _run(job: Job) -> Outcome:
    from pipeline_lib.papers.cone.computations import cones

    found = cones.run(job.settings, job.datasets(), job.seed)
    return Outcome([found.identities, found.spectrum, found.descent, found.descent_summary], found.evidence)


def _seconds(settings: ConesSettings, cell: Cell) -> float:
    # The first passes on a data set, and the fold steps of the small sample.
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
            claims=("cone-project", "cone-norm", "cone-descent", "cone-fig4"),
            cost=Cost(2.0, start_mb=800.0),
            seconds=_seconds,
        ),
    ),
)
