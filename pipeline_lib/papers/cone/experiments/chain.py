"""By which steps do Theorems 1 and 2 lead from the measured gap and stability to the numbers that they state?"""

from __future__ import annotations

from typing import Annotated

from annotated_types import Ge
from pydantic import Field

from pipeline_lib.cost import Cost
from pipeline_lib.experiment import EVERY, Experiment, Job, Outcome, Step
from pipeline_lib.papers.chains import COLUMNS, ChainSettings
from pipeline_lib.settings import Positive, Rising, Whole, at_least


class ConeChainSettings(ChainSettings):
    """What every step of the proofs costs, on samples of some queries of every available data set."""

    queries: Annotated[Rising, at_least(2)] = Field(
        (100, 1000, 10000), description="values of P, the number of queries in a sample, drawn with replacement"
    )
    repetitions: Whole = Field(5, ge=2, description="number of samples in the mean of every measured link")
    kinds: Annotated[Whole, Ge(2)] = Field(10, description="number of queries of the data set that are the population")
    documents: Annotated[Whole, Ge(2)] = Field(6, description="longer lists are cut to so many documents at random")
    basis: Whole = Field(2, description="K, the number of basis vectors")
    c: Positive = Field(1.0, description="largest norm of a basis vector, in units of rho")


def _run(job: Job) -> Outcome:
    from pipeline_lib.papers.cone.computations import chain

    return Outcome([chain.run(job.settings, job.datasets(), job.seed)])


EXPERIMENT = Experiment(
    ConeChainSettings,
    (
        Step(
            "chain",
            _run,
            tables={"tables/cone-chain": COLUMNS},
            documents=EVERY,
            cost=Cost(3.0, start_mb=500.0),
            seconds=lambda settings, cell: 2e-3 * settings.kinds**2 * settings.repetitions * len(settings.queries),
        ),
    ),
)
