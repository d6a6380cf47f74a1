"""Gaps under two-layer sampling and under (n, m)-sampling: what lengths and shared queries change."""

from __future__ import annotations

from typing import Annotated

from annotated_types import Ge
from pydantic import Field

from pipeline_lib.cost import Cost
from pipeline_lib.experiment import Experiment, Job, Outcome, Step
from pipeline_lib.papers.twolayer.experiments.gaps import POPULATION, SURROGATES, Loss
from pipeline_lib.settings import Positive, Rising, Settings, Whole, at_least
from pipeline_lib.sources.population_settings import WithoutDocuments


class SamplingsSettings(Settings):
    """Two-layer sampling compared with (n, m)-sampling: the effects of unequal lengths and of shared queries."""

    population: WithoutDocuments = Field(
        POPULATION, description="overrides of the population's defaults, as for the gaps"
    )
    radius: Positive = Field(3.0, description="W, the radius of the class ||w|| <= W")
    loss: Loss = Field("logistic", description="loss used in training")
    queries: Rising = Field((10, 40), description="values of n, the number of queries")
    documents: Annotated[Rising, at_least(3)] = Field(
        (4, 16), description="values of m, the number of documents per query"
    )
    repetitions: Annotated[Whole, Ge(2)] = Field(100, description="number of samples of every size")
    risk_queries: Annotated[Whole, Ge(2)] = Field(
        50000, description="number of fresh queries on which every expected risk is measured"
    )
    reference_queries: Whole = Field(
        20000, description="number of queries from which the best ranker is computed, whose gap is subtracted"
    )


def _run(job: Job) -> Outcome:
    from pipeline_lib.papers.twolayer.computations import samplings

    return Outcome([samplings.run(job.settings, job.seed)])


EXPERIMENT = Experiment(
    SamplingsSettings,
    (
        Step(
            "samplings",
            _run,
            tables={
                "tables/twolayer-samplings": {
                    **dict.fromkeys(("queries", "documents", "repetitions"), int),
                    "what": str,
                    **dict.fromkeys(("value", "low", "high"), float),
                }
            },
            surrogates=SURROGATES,
            cost=Cost(2.0, start_mb=500.0),
            seconds=lambda settings, cell: (
                4e-5 * settings.repetitions * sum(settings.queries) * sum(settings.documents)
            ),
        ),
    ),
)
