"""The perceptron's loss bounds with and without the length of the lists, on short and on long lists."""

from __future__ import annotations

from typing import Annotated

from annotated_types import Ge
from pydantic import Field

from pipeline_lib.cost import Cost
from pipeline_lib.experiment import Experiment, Job, Outcome, Step
from pipeline_lib.settings import Positive, Rising, Settings, Whole, at_least


class ListLengthsSettings(Settings):
    """The perceptron's loss bounds with and without the length of the lists, on short and on long lists."""

    lengths: Annotated[Rising, at_least(2)] = Field(
        (5, 10, 30, 100, 300, 1000), description="values of m, the documents per query"
    )
    rounds: Annotated[Whole, Ge(2)] = Field(1000, description="T, the number of rounds in a stream")
    queries: Annotated[Whole, Ge(2)] = Field(20, description="number of different queries in a stream")
    margin: Positive = Field(0.2, description="gap between neighbouring grades of the separable population")


def _run(job: Job) -> Outcome:
    from pipeline_lib.papers.slam.computations import lengths

    return Outcome([lengths.run(job.settings, job.seed)])


EXPERIMENT = Experiment(
    ListLengthsSettings,
    (
        Step(
            "lengths",
            _run,
            tables={
                "tables/slam-lengths": {
                    **dict.fromkeys(("stream", "measure", "active"), str),
                    **dict.fromkeys(("m", "T"), int),
                    **dict.fromkeys(("cumulative_loss", "bound", "gap", "margin_bound", "largest_loss"), float),
                    **dict.fromkeys(("reversed_loss", "never_loss", "share_of_printed"), float),
                    **dict.fromkeys(("factor", "feature_norm", "gamma"), float),
                }
            },
            surrogates=("slam-ndcg", "slam-map"),
            cost=Cost(3.0, start_mb=500.0),
            seconds=lambda settings, cell: 2e-7 * settings.rounds * sum(settings.lengths),
        ),
    ),
)
