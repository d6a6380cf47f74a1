"""Worst gaps of classes of several capacities within one labelling budget, with the plans of discussion 3."""

from __future__ import annotations

from typing import Annotated, Self

from annotated_types import Ge, Lt
from pydantic import Field, model_validator

from pipeline_lib.cost import Cost
from pipeline_lib.experiment import Experiment, Job, Outcome, Step
from pipeline_lib.settings import Positive, Probability, Rising, Settings, Whole, at_least, no_fewer_than


class CapacitiesSettings(Settings):
    """Labelling plans for classes of several capacities, compared by the worst gap of each class."""

    budget: Annotated[Whole, Ge(8)] = Field(1920, description="C, the total number of documents")
    capacities: Annotated[Rising, no_fewer_than(2, "to compare")] = Field(
        (1, 4, 16), description="values of the capacity, the number of features of rankers with weights -1 and 1"
    )
    documents: Annotated[Rising, at_least(2)] = Field(
        (2, 3, 4, 6, 8, 16, 32), description="further values of m, the number of documents per query"
    )
    turned_share: Annotated[Probability, Lt(0.5)] = Field(
        0.3, description="share of the queries for which documents without the feature are relevant"
    )
    noise: Annotated[Probability, Lt(0.5)] = Field(0.1, description="share of wrong labels")
    delta: Probability = Field(0.05, description="delta in the bound that determines the plans")
    c1: Positive = Field(1.0, description="c1 in the bound that determines the plans")
    repetitions: Annotated[Whole, Ge(2)] = Field(1000, description="number of samples for every plan")

    @model_validator(mode="after")
    def _documents_are_within_the_budget(self) -> Self:
        if 2 * self.documents[-1] > self.budget:
            raise ValueError(f"documents: expected at most half the budget {self.budget}, found {self.documents[-1]}")
        return self


def _run(job: Job) -> Outcome:
    from pipeline_lib.papers.twolayer.computations import capacities

    return Outcome([list(capacities.rows(job.settings, job.seed))])


EXPERIMENT = Experiment(
    CapacitiesSettings,
    (
        Step(
            "capacities",
            _run,
            tables={
                "tables/twolayer-capacities": {
                    **dict.fromkeys(("budget", "capacity", "planned_for", "queries"), int),
                    **dict.fromkeys(("gap", "gap_low", "gap_high", "bound"), float),
                }
            },
            cost=Cost(2.0, start_mb=500.0),
            seconds=lambda settings, cell: 1e-6 * settings.repetitions * len(settings.capacities) * settings.budget,
        ),
    ),
)
