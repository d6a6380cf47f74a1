"""By which steps do the bounds lead from measured gaps to the numbers that they state?"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from pipeline_lib.cost import Cost
from pipeline_lib.experiment import EVERY, Experiment, Job, Outcome, Step
from pipeline_lib.papers.chains import COLUMNS, ChainSettings
from pipeline_lib.papers.lists.losses import LOSS, Losses, LossSettings
from pipeline_lib.settings import Positive, Rising, Whole, at_least


class ListsChainSettings(ChainSettings):
    """What every step of the proofs costs, on samples of the queries of every available data set."""

    queries: Annotated[Rising, at_least(2)] = Field(
        (100, 1000, 10000), description="values of n, the number of queries in a sample, drawn with replacement"
    )
    radius: Positive = Field(
        2.5, description="W2 in ||w||_2 <= W2 and W1 in ||w||_1 <= W1, for documents scaled to ||x||_2 <= 1"
    )
    ascent_steps: Whole = Field(20, description="number of steps of every search for a supremum")
    starts: Whole = Field(2, description="number of random points where such a search begins, besides the centre")
    replaced: Whole = Field(3, description="number of queries of every sample that are replaced, one at a time")
    losses: Losses = Field(
        (LossSettings(name=LOSS, surrogate=LOSS),),
        description="the losses; `options` are passed to the surrogate",
    )


def _run(job: Job) -> Outcome:
    from pipeline_lib.papers.lists.computations import chain

    return Outcome([chain.run(job.settings, job.datasets(), job.seed)])


EXPERIMENT = Experiment(
    ListsChainSettings,
    (
        Step(
            "chain",
            _run,
            tables={"tables/lists-chain": COLUMNS},
            documents=EVERY,
            surrogates=lambda settings: [loss.surrogate for loss in settings.losses],
            cost=Cost(2.0, start_mb=500.0),
            seconds=lambda settings, cell: 5e-5 * settings.repetitions * len(settings.losses) * sum(settings.queries),
        ),
    ),
)
