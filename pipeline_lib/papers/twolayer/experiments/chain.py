"""By which steps do Theorems 1, 2 and 3 lead from measured worst gaps to the numbers that they state?"""

from __future__ import annotations

from typing import Annotated

from annotated_types import Ge
from pydantic import Field

from pipeline_lib.cost import Cost
from pipeline_lib.experiment import EVERY, Experiment, Job, Outcome, Step
from pipeline_lib.papers.chains import COLUMNS, ChainSettings
from pipeline_lib.papers.twolayer.experiments.gaps import SURROGATES, Loss
from pipeline_lib.settings import Names, Positive, Rising, Whole, at_least


class TwoLayerChainSettings(ChainSettings):
    """What every step of the proofs costs, on samples of queries and documents of every available data set."""

    queries: Annotated[Rising, at_least(2)] = Field(
        (100, 1000), description="values of n, the number of queries in a sample, drawn with replacement"
    )
    documents: Annotated[Whole, Ge(2)] = Field(
        8, description="m, the number of documents of every query in a sample, drawn with replacement"
    )
    longest: Annotated[Whole, Ge(2)] = Field(
        40, description="longer lists of the data set are cut to so many documents at random"
    )
    radius: Positive = Field(2.5, description="W in ||w|| <= W, for documents scaled to ||x||_2 <= 1")
    losses: Annotated[tuple[Loss, ...], *Names.__metadata__] = Field(("hinge",), description="losses used in training")
    ascent_steps: Whole = Field(12, description="number of steps of every search for a supremum")
    starts: Whole = Field(2, description="number of random points where such a search begins")
    own_queries: Whole = Field(30, description="number of queries of a sample with suprema of their own")


def _run(job: Job) -> Outcome:
    from pipeline_lib.papers.twolayer.computations import chain

    return Outcome([chain.run(job.settings, job.datasets(), job.seed)])


EXPERIMENT = Experiment(
    TwoLayerChainSettings,
    (
        Step(
            "chain",
            _run,
            tables={"tables/twolayer-chain": COLUMNS},
            documents=EVERY,
            surrogates=SURROGATES,
            cost=Cost(3.0, start_mb=700.0),
            seconds=lambda settings, cell: 0.2 * settings.repetitions * len(settings.queries) * len(settings.losses),
        ),
    ),
)
