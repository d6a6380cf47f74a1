"""Section 5, open question: what more than one label on top is worth for NDCG."""

from __future__ import annotations

from typing import Annotated

from annotated_types import Ge, Le
from pydantic import Field

from pipeline_lib.cost import Cost
from pipeline_lib.experiment import Experiment, Job, Outcome, Step
from pipeline_lib.settings import Positive, Rising, Settings, Whole, at_least, no_fewer_than


class LabelsSettings(Settings):
    """Section 5, open question: what more than one label on top is worth for NDCG."""

    documents: Annotated[Rising, at_least(2)] = Field(
        (2, 3, 4, 5, 6, 7), description="lengths of the lists for which label laws are computed"
    )
    grades: Annotated[Rising, at_least(2)] = Field(
        (2, 3, 4, 5), description="numbers of grades for which label laws are computed"
    )
    vectors: Annotated[Whole, Ge(4), Le(1000)] = Field(
        256, description="largest number of label vectors for which laws are computed"
    )
    played: Annotated[Rising, at_least(3)] = Field(
        (3, 4), description="lengths of the lists with which games are played"
    )
    played_grades: Annotated[Rising, at_least(2)] = Field(
        (2, 3), description="numbers of grades with which games are played"
    )
    rounds: Annotated[Rising, at_least(100), no_fewer_than(3, "for an exponent")] = Field(
        (10000, 30000, 100000, 300000, 1000000), description="values of T from which exponents are fitted"
    )
    seeds: Annotated[Whole, Ge(2)] = Field(20, description="number of games for every learner, law and T")
    leader_seeds: Annotated[Whole, Ge(2)] = Field(
        400, description="number of games of the leader that sees all labels, for every law and T"
    )
    learner_rounds: Annotated[Rising, at_least(100), no_fewer_than(3, "for an exponent")] = Field(
        (1000, 3000, 10000), description="values of T in the games of Algorithm 1 and of descent with all labels"
    )
    learner_seeds: Annotated[Whole, Ge(2)] = Field(3, description="number of these games for every learner, law and T")
    radius: Positive = Field(3.0, description="U, the radius of these learners")


def _run(job: Job) -> Outcome:
    from pipeline_lib.papers.topk.computations import label_learners, labels

    games = labels.games(job.settings, job.seed)
    learners = label_learners.games(job.settings, job.seed)
    return Outcome([labels.laws(job.settings), games.regret, games.exponents, learners])


_CASE = dict.fromkeys(("m", "grades", "k"), int)

EXPERIMENT = Experiment(
    LabelsSettings,
    (
        Step(
            "labels",
            _run,
            tables={
                "tables/topk-label-laws": {
                    **_CASE,
                    "learnable": bool,
                    **dict.fromkeys(("largest_gap", "explicit_gap", "linear_rate", "unseen", "exponent"), float),
                },
                "tables/topk-label-regret": {
                    **_CASE,
                    **dict.fromkeys(("law", "learner"), str),
                    "learnable": bool,
                    "T": int,
                    **dict.fromkeys(("regret", "low", "high", "linear_limit"), float),
                },
                "tables/topk-label-exponents": {
                    **_CASE,
                    **dict.fromkeys(("law", "learner"), str),
                    "learnable": bool,
                    **dict.fromkeys(("slope", "low", "high"), float),
                },
                "tables/topk-label-learners": {
                    **_CASE,
                    "learner": str,
                    "learnable": bool,
                    "T": int,
                    **dict.fromkeys(
                        ("regret", "low", "high", "linear_limit", "slope", "slope_low", "slope_high"), float
                    ),
                },
            },
            surrogates=("squared", "kl", "smooth-dcg", "ranksvm", "ranknet", "rankboost", "listnet", "squared-ndcg"),
            cost=Cost(2.0, start_mb=500.0),
            seconds=lambda settings, cell: (
                2.0
                + 2e-5 * sum(T ** (2 / 3) for T in settings.rounds) * settings.seeds
                + 1e-6 * sum(settings.learner_rounds) * settings.learner_seeds * 12.0 * sum(settings.played)
            ),
        ),
    ),
)
