"""Bounds against the exact or the largest possible gap, excess risk and packing, and short statements as printed."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, Field

from pipeline_lib.cost import Cost
from pipeline_lib.experiment import Experiment, Job, Outcome, Step
from pipeline_lib.settings import Positives, Probability, Rising, Settings, Whole, at_least, no_fewer_than


def _even(values: tuple[int, ...]) -> tuple[int, ...]:
    if any(value % 2 for value in values):
        raise ValueError(f"expected even numbers of documents, found {list(values)}")
    return values


EXPECTATIONS = "tables/lists-expectations"
EvenLengths = Annotated[Rising, at_least(2), AfterValidator(_even)]


class ExactSettings(Settings):
    """Bounds where they say something: small classes, many queries, and the worst cases that are known exactly."""

    queries: Annotated[Rising, no_fewer_than(3, "to fit an exponent")] = Field(
        (10**4, 10**6, 10**8, 10**10, 10**12, 10**15), description="values of n for Theorems 9 and 17"
    )
    draws: Annotated[Whole, Field(ge=100)] = Field(4000, description="number of samples for every n")
    directions: Whole = Field(100, ge=2, description="d of the populations with many directions")
    lengths: Annotated[EvenLengths, no_fewer_than(3, "to fit an exponent")] = Field(
        (2, 10, 100, 1000), description="values of m at which gaps are compared"
    )
    features: Annotated[Rising, at_least(2), no_fewer_than(3, "to fit an exponent")] = Field(
        (10, 100, 1000, 10000), description="values of d for Theorem 12"
    )
    sparse_queries: Rising = Field((10**8, 10**10, 10**12), description="values of n for Theorem 12")
    sparse_draws: Annotated[Whole, Field(ge=100)] = Field(400, description="number of samples for every n and d there")
    delta: Probability = Field(0.05, le=0.05, description="bounds hold with probability 1 - delta")
    even_lengths: EvenLengths = Field((2, 64), description="values of m for the learners")
    rounds: Rising = Field((2, 3, 5, 10, 20, 100, 1000, 10000), description="values of n for online gradient descent")
    simulated_up_to: Whole = Field(1000, description="largest n for gradient descent on noisy labels")
    batches: Rising = Field((100, 1000, 10**4, 10**6, 10**8), description="values of n for the regularised minimiser")
    packing_dimensions: Rising = Field((1, 2, 10, 100, 1000, 10000), description="values of d for packings")
    packing_norms: Rising = Field((1, 2, 4, 16), description="largest squared lengths, and l1 norms, of their points")
    compared_queries: Rising = Field(
        (1000, 10000, 100000, 10**6), description="values of n for the comparison with Chapelle and Wu"
    )
    compared_lengths: Rising = Field((100, 300, 1000), description="values of m for that comparison")
    slack_radii: Positives = Field(
        (0.01, 0.1, 0.5, 1.0, 2.0, 5.0), description="radii of the balls among which the nearest gap is sought"
    )
    slack_lengths: Rising = Field(
        (10**2, 10**6, 10**12, 10**18), description="values of m for the highest irrelevant document"
    )
    slack_features: Rising = Field((2, 10, 1000, 10**6), description="values of d for the l1 ball")


def _run_slack(job: Job) -> Outcome:
    from pipeline_lib.papers.lists.computations import slack

    return Outcome([slack.run(job.settings, job.rows(EXPECTATIONS))])


def _run(job: Job) -> Outcome:
    from pipeline_lib.papers.lists.computations import exact

    return Outcome(exact.run(job.settings, job.seed))


EXPERIMENT = Experiment(
    ExactSettings,
    (
        Step(
            "exact",
            _run,
            tables={
                "tables/lists-uniform": {
                    **dict.fromkeys(("case", "labels", "ball", "loss"), str),
                    **dict.fromkeys(("m", "d"), int),
                    "radius": float,
                    "n": int,
                    **dict.fromkeys(("gap", "gap_low", "gap_high", "largest_gap"), float),
                    **dict.fromkeys(("bound", "one_ranker", "loss_bound"), float),
                    **dict.fromkeys(("excess", "excess_low", "excess_high", "largest_excess", "excess_bound"), float),
                    **dict.fromkeys(("bound_optimistic", "fast_terms", "optimal_risk"), float),
                    **dict.fromkeys(("small_excess", "small_excess_low", "small_excess_high"), float),
                    **dict.fromkeys(("largest_small_excess", "small_excess_bound"), float),
                    **dict.fromkeys(("printed_m1", "corrected_m1"), float),
                },
                "tables/lists-growth": {
                    **dict.fromkeys(("axis", "loss", "case", "ball"), str),
                    "fixed": int,
                    **dict.fromkeys(("slope", "low", "high"), float),
                },
                EXPECTATIONS: {
                    **dict.fromkeys(("statement", "case", "loss"), str),
                    **dict.fromkeys(("m", "n"), int),
                    **dict.fromkeys(("radius", "excess", "excess_low", "excess_high"), float),
                    **dict.fromkeys(("bound", "bound_euclidean", "never", "largest_excess", "slow_terms"), float),
                },
                "tables/lists-packings": {
                    **dict.fromkeys(("class", "points"), str),
                    **dict.fromkeys(("d", "n", "m"), int),
                    **dict.fromkeys(("eps", "log2_packing", "log2_covering_bound"), float),
                    **dict.fromkeys(("log2_by_volume", "squared_ratio"), float),
                },
                "tables/lists-sentences": {
                    **dict.fromkeys(("claim", "case"), str),
                    **dict.fromkeys(("m", "n"), int),
                    "statistic": str,
                    "value": float,
                },
            },
            surrogates=("listnet", "ranksvm", "smooth-dcg", "squared"),
            cost=Cost(10.0, start_mb=600.0),
        ),
        Step(
            "slack",
            _run_slack,
            tables={
                "tables/lists-slack": {
                    **dict.fromkeys(("statement", "case"), str),
                    "radius": float,
                    **dict.fromkeys(("m", "d", "n"), int),
                    **dict.fromkeys(("gap", "sharper", "integral", "printed", "largest_gap"), float),
                },
            },
            reads=[EXPECTATIONS],
            surrogates=("listnet", "ranksvm", "smooth-dcg"),
            cost=Cost(3.0, start_mb=600.0),
        ),
    ),
)
