"""The perceptron's cumulative loss and its bounds, over streams from populations, an adversary and data sets."""

from __future__ import annotations

from typing import Annotated

from annotated_types import Ge
from pydantic import AfterValidator, Field

from pipeline_lib.cost import Cost
from pipeline_lib.experiment import EVERY, Experiment, Job, Outcome, Step
from pipeline_lib.settings import Names, Positive, Positives, Range, Rising, Settings, Text, Whole, at_least


def _both_kinds(measures: tuple[str, ...]) -> tuple[str, ...]:
    for kind, present in (("ndcg", "ndcg" in measures), ("ndcg@K", any(one.startswith("ndcg@") for one in measures))):
        if not present:
            raise ValueError(f"expected {kind} among them, found {list(measures)}")
    return measures


RankingLoss = Annotated[Text, Field(pattern=r"^(ndcg|map|ndcg@[1-9][0-9]*)$")]
RankingLosses = Annotated[tuple[RankingLoss, ...], *Names.__metadata__, AfterValidator(_both_kinds)]


class PerceptronSettings(Settings):
    """The perceptron's cumulative loss and its bounds, over streams from populations, an adversary and data sets."""

    rounds: Annotated[Whole, Ge(200)] = Field(20000, description="T, the number of rounds in a stream")
    adversarial_rounds: Annotated[Whole, Ge(100)] = Field(
        200, description="T where an adversary presents the query that is ranked worst"
    )
    queries: Annotated[Whole, Ge(2)] = Field(
        200, description="number of different queries in a stream drawn from a population"
    )
    documents: Range = Field((5, 15), description="smallest and largest number of documents per query")
    features: Whole = Field(10, description="number of features in the populations")
    margin: Positive = Field(0.02, description="gap between neighbouring grades of the separable population")
    repetitions: Whole = Field(2, description="number of random orders of every stream")
    measures: RankingLosses = Field(
        ("ndcg", "map", "ndcg@10"),
        description="measures whose ranking losses are bounded; ndcg and one ndcg@K are required",
    )
    etas: Positives = Field(
        (1e-3, 0.1, 10.0), description="step sizes compared with eta = 1, in addition to that of Theorem 5"
    )
    checkpoints: Annotated[Whole, Ge(2)] = Field(
        5, description="number of values of T at which the best comparator is computed"
    )
    short_rounds: Annotated[Whole, Ge(200)] = Field(
        5000, description="T in the streams that bring the perceptron close to its bounds"
    )
    orthogonal_queries: Annotated[Whole, Ge(2)] = Field(
        50, description="number of different queries, and of features, in the orthogonal streams among them"
    )
    v_max_lengths: Annotated[Rising, at_least(3)] = Field(
        (3, 10, 30, 100, 300, 1000), description="values of m in the table of v_max"
    )


def _run(job: Job) -> Outcome:
    from pipeline_lib.papers.slam.computations import perceptron

    results = perceptron.run(job.settings, job.datasets(), job.seed)
    return Outcome([results.runs, results.etas, results.v_max, results.players, results.rounds, results.cutoffs])


_AXES = {"stream": str, "measure": str, "repetition": int, "eta": str, "active": str}

EXPERIMENT = Experiment(
    PerceptronSettings,
    (
        Step(
            "perceptron",
            _run,
            documents=EVERY,
            tables={
                "tables/slam-perceptron": {
                    **_AXES,
                    "T": int,
                    "cumulative_loss": float,
                    "mistakes": int,
                    **dict.fromkeys(("largest_ratio", "comparator_loss", "constant", "bound", "gap"), float),
                    "certified": bool,
                    **dict.fromkeys(("gamma", "margin_bound"), float),
                    **dict.fromkeys(("largest_loss", "surrogate_loss", "least_excess", "least_excess_of_half"), float),
                    **dict.fromkeys(("squared_norms", "step"), float),
                },
                "tables/slam-eta": {
                    **_AXES,
                    "step": float,
                    **dict.fromkeys(("rounds", "mistakes", "mistakes_at_eta_one", "rounds_that_differ"), int),
                    "cumulative_loss": float,
                },
                "tables/slam-vmax": {
                    "m": int,
                    **dict.fromkeys(("v_max_map", "half_m", "v_max_ndcg", "v_max_ndcg_limit"), float),
                    "v_max_ndcg_at_k": float,
                },
                "tables/slam-players": {
                    **dict.fromkeys(("stream", "measure"), str),
                    "repetition": int,
                    **dict.fromkeys(("active", "player", "statement"), str),
                    "T": int,
                    **dict.fromkeys(("cumulative_loss", "loss_at_half", "largest_loss"), float),
                    "mistakes": int,
                    **dict.fromkeys(("comparator_loss", "constant", "bound", "gap", "margin_bound"), float),
                },
                "tables/slam-subgradients": {
                    "measure": str,
                    **dict.fromkeys(("m", "relevant", "length"), int),
                    **dict.fromkeys(("feature_norm", "v_max", "surrogate_loss", "squared_norm", "ratio"), float),
                },
                "tables/slam-cutoffs": {
                    "k": int,
                    **dict.fromkeys(("v_max", "v_max_limit", "added_by_doubling", "added_to_share_of_log"), float),
                },
            },
            surrogates=("slam-ndcg", "slam-map", "slam-ndcg@k"),
            cost=Cost(6.0, start_mb=800.0),
            seconds=lambda settings, cell: 2e-4 * settings.rounds * settings.repetitions,
        ),
    ),
)
