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
    """What different lengths, and documents that share a query, change against (n, m)-sampling."""

    population: WithoutDocuments = Field(
        POPULATION, description="overrides of the population's defaults, as for the gaps"
    )
    radius: Positive = Field(3.0, description="W of the class ||w|| <= W")
    loss: Loss = Field("logistic", description="to train with")
    queries: Rising = Field((10, 40), description="n")
    documents: Annotated[Rising, at_least(3)] = Field((4, 16), description="m")
    repetitions: Annotated[Whole, Ge(2)] = Field(100, description="samples of every size")
    risk_queries: Annotated[Whole, Ge(2)] = Field(50000, description="fresh queries behind every expected risk")
    reference_queries: Whole = Field(20000, description="that give the best ranker, whose gap is subtracted")


def _run(job: Job) -> Outcome:
    from pipeline_lib.papers.twolayer.computations import samplings

    found = samplings.run(job.settings, job.seed)
    return Outcome([found.samplings], found.evidence)


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
            claims=("two-nm-sampling",),
            surrogates=SURROGATES,
            cost=Cost(2.0, start_mb=500.0),
            seconds=lambda settings, cell: (
                4e-5 * settings.repetitions * sum(settings.queries) * sum(settings.documents)
            ),
        ),
    ),
)
