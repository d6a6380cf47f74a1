"""Sentences and steps of proofs of sections 3 to 7 that the other experiments leave out."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from pipeline_lib.cost import Cost
from pipeline_lib.experiment import Experiment, Job, Outcome, Step
from pipeline_lib.settings import Rising, Settings, Whole, at_least


class SentencesSettings(Settings):
    """Sentences and steps of proofs that the other experiments leave out."""

    lists: Annotated[Whole, Field(ge=10)] = Field(200, description="number of random lists for every m")
    lengths: Annotated[Rising, at_least(3)] = Field((3, 5, 10, 30), description="values of m for these lists")
    enumerated: Annotated[Rising, at_least(3)] = Field(
        (3, 4, 5), description="values of m for which all label vectors and rankings are enumerated"
    )
    constant_lengths: Annotated[Rising, at_least(2)] = Field(
        (2, 10, 100, 1000), description="values of m for Lipschitz constants"
    )
    sizes: Annotated[Rising, at_least(2)] = Field(
        (10, 100, 1000, 10_000, 1_000_000), description="values of n in the statements on risk minimisation"
    )
    rounds: Annotated[Whole, Field(ge=2)] = Field(30, description="rounds of the perceptron whose w is written out")


def _run(job: Job) -> Outcome:
    from pipeline_lib.papers.slam.computations import sentences

    return Outcome([sentences.run(job.settings, job.seed)])


EXPERIMENT = Experiment(
    SentencesSettings,
    (
        Step(
            "sentences",
            _run,
            tables={
                "tables/slam-sentences": {
                    **dict.fromkeys(("claim", "kind"), str),
                    **dict.fromkeys(("m", "n"), int),
                    "statistic": str,
                    "value": float,
                }
            },
            surrogates=("ranksvm", "structured-ndcg", "svm-map", "listnet", "slam-ndcg", "slam-map", "slam-ndcg@k"),
            cost=Cost(2.0, start_mb=400.0),
            seconds=lambda settings, cell: 1e-4 * settings.lists * len(settings.lengths),
        ),
    ),
)
