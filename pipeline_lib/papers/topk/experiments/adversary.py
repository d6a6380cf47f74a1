"""Theorem 5.2 and Table 1: two adversaries that the labels of the top documents cannot distinguish."""

from __future__ import annotations

from typing import Annotated

from annotated_types import Ge
from pydantic import Field

from pipeline_lib.cost import Cost
from pipeline_lib.experiment import Experiment, Job, Outcome, Step
from pipeline_lib.settings import Positive, Rising, Settings, Whole, at_least, no_fewer_than


class AdversarySettings(Settings):
    """Theorem 5.2 and Table 1: two adversaries that the labels of the top documents cannot distinguish."""

    rounds: Annotated[Rising, at_least(100), no_fewer_than(3, "for an exponent")] = Field(
        (10000, 30000, 100000, 300000, 1000000), description="values of T from which exponents are fitted"
    )
    seeds: Annotated[Whole, Ge(2)] = Field(3, description="number of games for every learner, adversary and T")
    radius: Positive = Field(3.0, description="U, the radius of the learners that have one")


def _run(job: Job) -> Outcome:
    from pipeline_lib.papers.topk.computations import adversary

    found = adversary.run(job.settings, job.seed)
    return Outcome([found.table_1, found.game])


EXPERIMENT = Experiment(
    AdversarySettings,
    (
        Step(
            "adversary",
            _run,
            tables={
                "tables/topk-table1": {
                    **dict.fromkeys(("adversary", "quantity"), str),
                    "document": int,
                    **dict.fromkeys(("measured", "reciprocal", "natural", "unnormalised", "published"), float),
                },
                "tables/topk-adversary": {
                    "learner": str,
                    "T": int,
                    **dict.fromkeys(("regret", "low", "high", "linear_limit"), float),
                    **dict.fromkeys(("slope", "slope_low", "slope_high"), float),
                },
            },
            surrogates=("squared", "kl", "smooth-dcg", "squared-ndcg"),
            cost=Cost(2.0, start_mb=500.0),
            seconds=lambda settings, cell: 4e-6 * sum(settings.rounds) * settings.seeds,
            # the scores of several learners in every round of the longest game
            megabytes=lambda settings: 4e-4 * settings.rounds[-1],
        ),
    ),
)
