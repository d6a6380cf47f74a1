"""By which steps does Theorem 8 lead from the measured excess risk to the number that it states?"""

from __future__ import annotations

from typing import Annotated, Literal

from annotated_types import Ge
from pydantic import Field

from pipeline_lib.cost import Cost
from pipeline_lib.experiment import EVERY, Experiment, Job, Outcome, Step
from pipeline_lib.papers.chains import COLUMNS, ChainSettings
from pipeline_lib.settings import Names, Positive, Rising, Whole, at_least

Surrogate = Literal["slam-ndcg", "slam-map", "listnet"]


class SlamChainSettings(ChainSettings):
    """What every step of the proof of Theorem 8 costs, on samples of the queries of every available data set."""

    queries: Annotated[Rising, at_least(2)] = Field(
        (100, 1000), description="values of n, the number of queries in a sample, drawn with replacement"
    )
    radius: Positive = Field(5.0, description="B in ||w||_2 <= B, for documents scaled to ||x||_2 <= 1")
    documents: Annotated[Whole, Ge(2)] = Field(
        8,
        description="longer lists are cut to so many documents at random: on long ones with noisy labels, w = 0 has "
        "the least SLAM risk",
    )
    repetitions: Whole = Field(6, ge=2, description="number of samples in the mean of every measured link")
    replaced: Whole = Field(2, description="number of queries of every sample that are replaced, one at a time")
    surrogates: Annotated[tuple[Surrogate, ...], *Names.__metadata__] = Field(
        ("slam-ndcg",), description="losses used in training"
    )


def _run(job: Job) -> Outcome:
    from pipeline_lib.papers.slam.computations import chain

    return Outcome([chain.run(job.settings, job.datasets(), job.seed)])


EXPERIMENT = Experiment(
    SlamChainSettings,
    (
        Step(
            "chain",
            _run,
            tables={"tables/slam-chain": COLUMNS},
            documents=EVERY,
            surrogates=lambda settings: settings.surrogates,
            cost=Cost(3.0, start_mb=500.0),
            seconds=lambda settings, cell: (
                0.1 * settings.repetitions * (1 + settings.replaced) * len(settings.queries) * len(settings.surrogates)
            ),
        ),
    ),
)
