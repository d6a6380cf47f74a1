"""Gap and excess risk on subsampled queries and documents of every data set."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from pipeline_lib.cost import Cost
from pipeline_lib.experiment import Experiment, Job, Outcome, Step
from pipeline_lib.papers.lists.losses import Losses, LossSettings
from pipeline_lib.settings import Positive, Probability, Rising, Settings, Whole, at_least

TABLE = "tables/lists-real-{dataset}"


class RealSettings(Settings):
    """Gap and excess risk on subsampled queries and documents of every available data set.

    The queries that are not in the sample represent the population.
    """

    queries: Annotated[Rising, at_least(4)] = Field(
        (25, 50, 100, 200, 400), description="values of n; those above half of a data set's queries are left out"
    )
    lengths: Annotated[Rising, at_least(2)] = Field(
        (5, 10, 20), description="values of m; longer lists are subsampled at random"
    )
    repetitions: Whole = Field(20, ge=2, description="number of samples for every n and m")
    radius: Positive = Field(10.0, description="W2 in ||w||_2 <= W2, for documents scaled to ||x||_2 <= 1")
    tol: Positive = Field(
        1e-4, le=0.1, description="certified relative gap between the objective of minimisers and its minimum"
    )
    ascent_steps: Whole = Field(10, description="number of steps in the search for the worst gap")
    delta: Probability = Field(0.05, description="bounds hold with probability 1 - delta")
    losses: Losses = Field(
        (
            LossSettings(name="listnet", surrogate="listnet"),
            LossSettings(name="ranksvm-mean", surrogate="ranksvm", options={"normalisation": "mean"}),
        ),
        description="the losses; `options` are passed to the surrogate",
    )


def _run(job: Job) -> Outcome:
    from pipeline_lib.papers.lists.computations import real

    [(dataset, data)] = job.datasets().items()
    return Outcome([real.run(job.settings, data, dataset, job.seed)])


EXPERIMENT = Experiment(
    RealSettings,
    (
        Step(
            "real",
            _run,
            tables={
                TABLE: {
                    "dataset": str,
                    **dict.fromkeys(("m", "n", "repetition"), int),
                    **dict.fromkeys(("loss", "learner"), str),
                    **dict.fromkeys(("empirical", "risk", "risk_error", "gap", "excess", "excess_error"), float),
                    **dict.fromkeys(("certified_gap", "excess_bound", "bound", "loss_bound"), float),
                }
            },
            surrogates=lambda settings: [loss.surrogate for loss in settings.losses],
            cost=Cost(2.0, 5.0, 800.0, 20.0),
            seconds=lambda settings, cell: 4e-4 * settings.repetitions * sum(settings.queries),
        ),
    ),
)
