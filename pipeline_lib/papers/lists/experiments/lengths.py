"""From which length of list on are the bounds in the maximum norm smaller, and must they grow with it at all?"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from pipeline_lib.cost import Cost
from pipeline_lib.experiment import Experiment, Job, Outcome, Step
from pipeline_lib.settings import Positives, Probability, Rising, Settings, Whole, at_least, no_fewer_than


class LengthsSettings(Settings):
    """Bounds against the length of lists: Chapelle and Wu's, those of the paper, and bounds without m."""

    queries: Rising = Field((1000, 10**4, 10**5, 10**6), description="values of n at which bounds are compared")
    lengths: Rising = Field(
        (2, 10, 30, 100, 300, 1000, 3000, 10**4, 10**5, 10**6), description="values of m at which bounds are compared"
    )
    scores: Positives = Field((0.1, 1.0, 2.0, 5.0), description="largest scores W2 R_X of the classes")
    y_max: Whole = Field(4, le=30, description="largest label")
    delta: Probability = Field(0.05, le=0.05, description="bounds hold with probability 1 - delta")
    rare: Probability = Field(1e-6, le=0.05, description="delta for the bounds without m, whose gaps are exact")
    exact_queries: Rising = Field((100, 10**4, 10**6), description="values of n for exact gaps")
    exact_lengths: Annotated[Rising, at_least(2)] = Field((2, 10, 100, 1000), description="values of m for exact gaps")
    exact_scores: Positives = Field((0.01, 0.1, 0.5, 1.0), description="largest scores for exact gaps")
    exact_y_max: Whole = Field(20, le=30, description="label of ListNet's relevant document there")
    largest_losses: Positives = Field((1.0, 10.0, 100.0), description="values of B for a loss that no ranker changes")
    highest_queries: Whole = Field(1000, ge=100, description="n for the loss of the highest irrelevant document")
    highest_lengths: Annotated[Rising, at_least(2), no_fewer_than(3, "to fit an exponent")] = Field(
        (10**2, 10**4, 10**6, 10**8, 10**10, 10**12, 10**15), description="values of m there"
    )
    misled_queries: Rising = Field((8, 12, 16), description="values of n for its minimisers")
    misled_lengths: Annotated[Rising, at_least(2)] = Field(
        (2, 1000, 20_000, 200_000), description="values of m for them"
    )
    local_lengths: Rising = Field((1, 2, 10), description="values of m for the inequality behind Proposition 15")
    local_pairs: Whole = Field(300, description="number of pairs of score vectors for every loss and m there")
    listwise_lengths: Annotated[Rising, at_least(3), no_fewer_than(3, "to fit an exponent")] = Field(
        (10, 20, 50, 100, 200), description="values of m for the constants of ListMLE, ListNet and RankCosine"
    )


def _run(job: Job) -> Outcome:
    from pipeline_lib.papers.lists.computations import highest, lengths, listwise, local

    settings = job.settings
    growth, constants = highest.gaps(settings), listwise.constants(settings, job.seed)
    return Outcome(
        [
            lengths.bounds(settings),
            lengths.crossings(settings),
            lengths.gaps(settings),
            growth,
            highest.minimisers(settings),
            constants,
            [highest.power(growth), *listwise.powers(constants)],
            lengths.unbounded(settings),
            local.rows(settings, job.seed),
        ]
    )


EXPERIMENT = Experiment(
    LengthsSettings,
    (
        Step(
            "lengths",
            _run,
            tables={
                "tables/lists-length-bounds": {
                    "loss": str,
                    "scores": float,
                    **dict.fromkeys(("n", "m"), int),
                    "bound": str,
                    **dict.fromkeys(("value", "spread"), float),
                },
                "tables/lists-crossings": {
                    "loss": str,
                    "scores": float,
                    "n": int,
                    **dict.fromkeys(("bound", "against"), str),
                    "m": int,
                    "value": float,
                    "informative": bool,
                },
                "tables/lists-free": {
                    "loss": str,
                    "scores": float,
                    **dict.fromkeys(("m", "n"), int),
                    **dict.fromkeys(("gap", "average", "bound", "spread"), float),
                },
                "tables/lists-logarithm": {
                    **dict.fromkeys(("n", "m"), int),
                    **dict.fromkeys(("mean_gap", "gap", "theorem_9", "shorter_chain", "free_of_m"), float),
                },
                "tables/lists-misled": {
                    **dict.fromkeys(("n", "m"), int),
                    **dict.fromkeys(("minimiser", "regularised", "theorem_5", "theorem_6", "largest_excess"), float),
                },
                "tables/lists-listwise": {
                    **dict.fromkeys(("loss", "constant"), str),
                    "m": int,
                    **dict.fromkeys(("exact", "searched"), float),
                },
                "tables/lists-length-powers": {
                    **dict.fromkeys(("axis", "case"), str),
                    **dict.fromkeys(("slope", "low", "high"), float),
                },
                "tables/lists-unbounded": {
                    "largest_loss": float,
                    "n": int,
                    **dict.fromkeys(("as_printed", "times_largest", "an_eighth", "delta"), float),
                },
                "tables/lists-local": {"loss": str, "m": int, "largest_ratio": float},
            },
            surrogates=("listnet", "smooth-dcg", "squared"),
            cost=Cost(4.0, start_mb=600.0),
        ),
    ),
)
