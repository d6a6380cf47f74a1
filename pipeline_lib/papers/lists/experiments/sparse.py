"""Gap, excess risk and bound of the l1 class with many features: Theorem 12."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import Field, model_validator

from pipeline_lib.cost import Cost
from pipeline_lib.experiment import Cell, Experiment, Job, Outcome, Step
from pipeline_lib.papers.lists.level_controls import LEAST_QUERIES
from pipeline_lib.papers.lists.losses import LOSS
from pipeline_lib.settings import Positive, Probability, Rising, Settings, Whole, at_least


class SparseSettings(Settings):
    """The l1 class with many features (Theorem 12)."""

    features: Annotated[Rising, at_least(2)] = Field(
        (10, 100, 1000, 10000), description="values of d, the number of features"
    )
    active: Whole = Field(5, description="number of features on which the labels depend")
    queries: Whole = Field(50, ge=2, description="n, the number of queries")
    documents: Whole = Field(8, ge=2, description="m, the number of documents per query")
    held_out_queries: Whole = Field(
        1000, ge=LEAST_QUERIES, description="number of fresh queries on which every risk is measured"
    )
    repetitions: Whole = Field(20, ge=2, description="number of samples for every d")
    radius: Positive = Field(2.5, description="W1 in ||w||_1 <= W1")
    tol: Positive = Field(
        1e-4, le=0.1, description="certified relative gap between the objective of minimisers and its minimum"
    )
    ascent_steps: Whole = Field(10, description="number of steps in the search for the worst gap")
    delta: Probability = Field(0.05, description="bounds hold with probability 1 - delta")
    fitted_at: Whole = Field(1000000000, description="a large value of n, for which the bound is computed too")

    @model_validator(mode="after")
    def _active_features_are_there(self) -> Self:
        if self.active > self.features[0]:
            raise ValueError(f"features: expected none below active, {self.active}, found {list(self.features)}")
        return self


def _run(job: Job) -> Outcome:
    from pipeline_lib.papers.lists.computations import sparse

    return Outcome([sparse.run(job.settings, job.seed)])


def _seconds(settings: SparseSettings, cell: Cell) -> float:
    return 6e-8 * settings.queries * settings.documents * settings.repetitions * sum(settings.features)


def _megabytes(settings: SparseSettings) -> float:
    # One sample, and the reference sample number of steps in the search for the worst gap, which has twice its size.
    return 12e-6 * 3 * settings.queries * settings.documents * max(settings.features)


EXPERIMENT = Experiment(
    SparseSettings,
    (
        Step(
            "sparse",
            _run,
            tables={
                "tables/lists-sparse": {
                    **dict.fromkeys(("d", "n", "m", "repetition"), int),
                    "learner": str,
                    **dict.fromkeys(("empirical", "risk", "risk_error", "gap", "excess", "excess_error"), float),
                    **dict.fromkeys(("certified_gap", "best_certified_gap"), float),
                    **dict.fromkeys(("bound", "excess_bound", "loss_bound", "bound_far"), float),
                    "fitted_at": int,
                }
            },
            surrogates=(LOSS,),
            cost=Cost(2.0, start_mb=1000.0),
            seconds=_seconds,
            megabytes=_megabytes,
        ),
    ),
)
