"""Do larger classes call for fewer queries with more documents each, if the worst gap is measured?

`twolayer`, discussion 3, advises so because n* falls with the capacity. The rankers with weights -1 and 1
(:mod:`pipeline_lib.papers.twolayer.sign_rankers`) are a class whose worst gap is known on every sample.
"""

from collections.abc import Iterator
from typing import Annotated, Self

from annotated_types import Ge, Lt
from pydantic import model_validator

from pipeline_lib.core.cost import Cost
from pipeline_lib.core.seeds import generator
from pipeline_lib.core.settings import Positive, Probability, Rising, Settings, Sizes, Whole, no_fewer_than
from pipeline_lib.data.rows import Field, Interval, Row
from pipeline_lib.experiment import Experiment, Job, Step
from pipeline_lib.papers.twolayer.risks import Several
from pipeline_lib.papers.twolayer.sign_rankers import Signs, even_lists
from pipeline_lib.statistics import mean_interval
from pipeline_lib.theory import two_layer


class CapacitiesSettings(Settings):
    """Labelling plans for classes of several capacities, compared by the worst gap of each class."""

    budget: Annotated[Whole, Ge(8)] = Field(1920, description="C, the total number of documents")
    capacities: Annotated[Rising, no_fewer_than(2, "to compare")] = Field(
        (1, 4, 16), description="values of the capacity, the number of features of rankers with weights -1 and 1"
    )
    documents: Sizes = Field(
        (2, 3, 4, 6, 8, 16, 32), description="further values of m, the number of documents per query"
    )
    turned_share: Annotated[Probability, Lt(0.5)] = Field(
        0.3, description="share of the queries for which documents without the feature are relevant"
    )
    noise: Annotated[Probability, Lt(0.5)] = Field(0.1, description="share of wrong labels")
    delta: Probability = Field(0.05, description="delta in the bound that determines the plans")
    c1: Positive = Field(1.0, description="c1 in the bound that determines the plans")
    repetitions: Several = Field(1000, description="number of samples for every plan")

    @model_validator(mode="after")
    def _documents_are_within_the_budget(self) -> Self:
        if 2 * self.documents[-1] > self.budget:
            raise ValueError(f"documents: expected at most half the budget {self.budget}, found {self.documents[-1]}")
        return self


class Split(Row, table="tables/twolayer-capacities"):
    """The worst gap of one class where the budget is spread over n queries."""

    budget: int = Field(description="C, documents of a sample")
    capacity: int = Field(description="V, features of the rankers with weights -1 and 1")
    planned_for: int | None = Field(description="capacity for which n is n*; missing for the n of the grid")
    queries: int = Field(description="n, queries among which the documents are divided as evenly as possible")
    gap: Interval = Field(description="largest expected minus training risk of the class, mean with 95 % interval")
    bound: float = Field(description="Theorem 1 with D(k) = c1 sqrt(V/k) and C/n documents for every query")


def measure(job: Job) -> Iterator[Split]:
    """The worst gap of every class with the numbers of queries planned for every capacity, and over a grid."""
    settings = job.settings
    plan = (settings.delta, settings.c1)
    planned = {v: round(two_layer.budget(settings.budget, v, *plan).queries) for v in settings.capacities}
    splits = [*planned.items(), *((None, settings.budget // m) for m in settings.documents)]
    for capacity in settings.capacities:
        signs = Signs(capacity, settings.turned_share, settings.noise)
        for planned_for, n in splits:
            rng = generator(job.seed, "twolayer-capacities", capacity, n)
            gaps = signs.worst_gaps(even_lists(settings.budget, n), settings.repetitions, rng)
            yield Split(
                budget=settings.budget,
                capacity=capacity,
                planned_for=planned_for,
                queries=n,
                gap=mean_interval(gaps),
                bound=two_layer.even_bound(n, settings.budget, capacity, *plan).total,
            )


EXPERIMENT = Experiment(
    CapacitiesSettings,
    (
        Step(
            "capacities",
            measure,
            rows=(Split,),
            cost=Cost(2.0, start_mb=500.0),
            seconds=lambda settings, cell: 1e-6 * settings.repetitions * len(settings.capacities) * settings.budget,
        ),
    ),
)
