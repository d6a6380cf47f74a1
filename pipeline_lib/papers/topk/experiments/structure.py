"""What losses are made of: necessity in Lemma 1, other listwise losses, calibration, and the noise of the estimates."""

from __future__ import annotations

from typing import Annotated

from annotated_types import Ge
from pydantic import Field

from pipeline_lib.cost import Cost
from pipeline_lib.experiment import Experiment, Job, Outcome, Step
from pipeline_lib.settings import Rising, Settings, Whole, at_least, at_most


class StructureSettings(Settings):
    """What losses are made of: necessity in Lemma 1, other listwise losses, calibration, and the noise of estimates."""

    scores: Whole = Field(10, description="number of random score vectors at which listwise gradients are decomposed")
    lists: Whole = Field(20, description="number of random lists on which losses are taken apart")
    laws: Whole = Field(20, description="number of random laws of labels for Theorem 5.1")
    lengths: Annotated[Rising, at_least(4), at_most(20)] = Field(
        (5, 10), description="values of m at which the variances of the estimates are compared"
    )
    queries: Annotated[Whole, Ge(20)] = Field(60, description="number of queries over which these are averaged")
    horizon: Annotated[Whole, Ge(10)] = Field(100000, description="T, which gives their gamma")


def _run(job: Job) -> Outcome:
    from pipeline_lib.papers.topk.computations import calibration, noise, structure

    measured = noise.measured(job.settings, job.seed)
    return Outcome(
        [
            structure.estimable(),
            structure.listwise(job.settings, job.seed),
            structure.sums(job.settings, job.seed),
            calibration.rows(job.settings, job.seed),
            measured.variances,
            measured.quotients,
            noise.tuning(),
        ]
    )


EXPERIMENT = Experiment(
    StructureSettings,
    (
        Step(
            "structure",
            _run,
            tables={
                "tables/topk-estimable": {
                    **dict.fromkeys(("surrogate", "exploration"), str),
                    **dict.fromkeys(("m", "y_max", "k"), int),
                    **dict.fromkeys(("error", "beyond"), float),
                },
                "tables/topk-listwise": {
                    "surrogate": str,
                    **dict.fromkeys(("m", "y_max", "k"), int),
                    "beyond": float,
                },
                "tables/topk-sums": {**dict.fromkeys(("surrogate", "statistic"), str), "value": float},
                "tables/topk-calibration": {
                    **dict.fromkeys(("surrogate", "laws"), str),
                    **dict.fromkeys(("m", "grades", "number"), int),
                    **dict.fromkeys(("gap", "largest_regret"), float),
                },
                "tables/topk-variances": {
                    **dict.fromkeys(("surrogate", "probabilities"), str),
                    **dict.fromkeys(("m", "k", "queries"), int),
                    **dict.fromkeys(("gamma", "variance", "squared_mean"), float),
                },
                "tables/topk-variance-quotients": {
                    "m": int,
                    **dict.fromkeys(("probabilities", "above", "below"), str),
                    "same_loss": bool,
                    **dict.fromkeys(("quotient", "low", "high"), float),
                },
                "tables/topk-tuning": {
                    "quantity": str,
                    **dict.fromkeys(("U", "C", "B", "exponent"), float),
                },
            },
            surrogates=(
                *("squared", "kl", "smooth-dcg", "ranksvm", "listnet", "structured-ndcg", "svm-map", "squared-ndcg"),
            ),
            cost=Cost(4.0, start_mb=500.0),
        ),
    ),
)
