"""Lemmas 1 to 5 and the estimators, by enumeration of all possible outcomes."""

from __future__ import annotations

from typing import Annotated

from annotated_types import Ge
from pydantic import Field

from pipeline_lib.cost import Cost
from pipeline_lib.experiment import Experiment, Job, Outcome, Step
from pipeline_lib.settings import Positive, Probabilities, Rising, Settings, Whole, at_least, at_most


class ExactnessSettings(Settings):
    """Lemmas 1 to 5 and the estimators, by enumeration of all possible outcomes."""

    lengths: Annotated[Rising, at_least(3), at_most(6)] = Field(
        (3, 4, 5, 6), description="values of m for the enumerations, at most 6"
    )
    shown: Annotated[Rising, at_most(3)] = Field((1, 2, 3), description="values of k for the enumerations")
    gammas: Probabilities = Field((0.05, 0.4), description="values of gamma, the probability of a random order")
    repetitions: Whole = Field(
        2, description="number of score and label vectors for every case; with two or more, the last one has ties"
    )
    y_max: Annotated[Whole, Ge(2)] = Field(3, description="largest label of the enumerations")
    run_rounds: Annotated[Whole, Ge(100)] = Field(
        10000, description="T of the run along which second moments are computed (Lemma 5)"
    )
    run_points: Whole = Field(10, description="number of rounds of that run at which second moments are computed")
    run_queries: Whole = Field(
        20, description="number of queries of that run, all of which are evaluated in each of these rounds"
    )
    radius: Positive = Field(3.0, description="U, the radius of that run")
    matrices: Whole = Field(10, description="number of matrices for every p of Lemma 4")


def _run(job: Job) -> Outcome:
    from pipeline_lib.papers.topk.computations import exactness

    found = exactness.run(job.settings, job.seed)
    return Outcome([found.biases, found.probabilities, found.moments, found.decompositions, found.identities])


EXPERIMENT = Experiment(
    ExactnessSettings,
    (
        Step(
            "exactness",
            _run,
            tables={
                "tables/topk-biases": {
                    **dict.fromkeys(("claim", "surrogate"), str),
                    **dict.fromkeys(("k", "m"), int),
                    "gamma": float,
                    "probabilities": str,
                    "largest_relative_bias": float,
                },
                "tables/topk-probabilities": {
                    "documents": int,
                    **dict.fromkeys(("in_order", "exploited"), bool),
                    "m": int,
                    "shown": str,
                    **dict.fromkeys(("gamma", "probability"), float),
                },
                "tables/topk-moments": {
                    **dict.fromkeys(("surrogate", "where"), str),
                    **dict.fromkeys(("round", "m"), int),
                    "radius": float,
                    "y_max": int,
                    **dict.fromkeys(("gamma", "second_moment", "printed", "valid"), float),
                },
                "tables/topk-decompositions": {
                    **dict.fromkeys(("surrogate", "scores"), str),
                    **dict.fromkeys(("m", "y_max", "labels"), int),
                    **dict.fromkeys(("joint", "beyond"), float),
                },
                "tables/topk-identities": {**dict.fromkeys(("claim", "case", "statistic"), str), "value": float},
            },
            surrogates=("squared", "kl", "smooth-dcg", "ranksvm", "ranknet", "rankboost", "listnet"),
            cost=Cost(1.0, start_mb=500.0),
            seconds=lambda settings, cell: 1.0 * settings.repetitions,
        ),
    ),
)
