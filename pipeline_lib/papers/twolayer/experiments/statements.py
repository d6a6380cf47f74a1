"""Definition 3, equation 6 and the formula for a budget, each compared with a direct computation."""

from __future__ import annotations

from typing import Annotated

from annotated_types import Ge
from pydantic import AfterValidator, Field

from pipeline_lib.cost import Cost
from pipeline_lib.experiment import Experiment, Job, Outcome, Step
from pipeline_lib.settings import Positive, Positives, Probability, Rising, Settings, Whole, at_least, no_fewer_than


def falling(values: tuple[float, ...]) -> tuple[float, ...]:
    if list(values) != sorted(set(values), reverse=True):
        raise ValueError(f"expected falling probabilities, found {list(values)}")
    return values


class StatementsSettings(Settings):
    """Definition 3 and equation 6 compared with direct computations, and n* with numerical minimisation."""

    draws: Annotated[Whole, Ge(100)] = Field(
        20000, description="number of draws of random signs for every Rademacher average"
    )
    radius: Positive = Field(3.0, description="W, the radius of the class ||w|| <= W")
    matrices: Whole = Field(20, description="number of random loss matrices for every m in equation 6")
    score_bounds: Annotated[Positives, no_fewer_than(2, "to compare")] = Field(
        (0.01, 0.1, 1.0), description="values of B, the bound on the scores, for the averages of the losses"
    )
    budgets: Annotated[Rising, at_least(2)] = Field(
        (100, 1000, 10000, 100000), description="values of C, the total number of documents"
    )
    vc_dimensions: Annotated[Rising, no_fewer_than(2, "to compare")] = Field(
        (5, 20, 50, 200), description="values of V, the VC dimension"
    )
    deltas: Annotated[tuple[Probability, ...], no_fewer_than(2, "to compare"), AfterValidator(falling)] = Field(
        (0.2, 0.05, 0.01),
        description="values of delta, from low to high confidence; bounds hold with probability 1 - delta",
    )
    c1: Positives = Field(
        (0.5, 1.0, 2.0), description="values of c1 in D(k) = c1 sqrt(V/k), which the paper leaves open"
    )


def _run(job: Job) -> Outcome:
    from pipeline_lib.papers.twolayer.computations import statements

    results = statements.run(job.settings, job.seed)
    return Outcome([results.identities, results.plans, results.uneven, results.remarks, results.short_lists])


EXPERIMENT = Experiment(
    StatementsSettings,
    (
        Step(
            "statements",
            _run,
            tables={
                "tables/twolayer-identities": {
                    "statement": str,
                    "case": str,
                    "m": int,
                    **dict.fromkeys(("two_layer", "two_layer_error", "ordinary", "ordinary_error"), float),
                    "difference": float,
                    **dict.fromkeys(("signs_of_queries", "equal_weights", "over_pairs", "over_permutations"), float),
                },
                "tables/twolayer-plans": {
                    **dict.fromkeys(("budget", "vc_dimension"), int),
                    **dict.fromkeys(("delta", "c1", "queries", "documents_per_query", "queries_by_search"), float),
                    "queries_of_programme": float,
                    "whole_queries": int,
                    **dict.fromkeys(("bound", "whole_bound"), float),
                    **dict.fromkeys(("informative_from", "informative_from_sauer"), int),
                },
                "tables/twolayer-uneven-plans": {
                    **dict.fromkeys(("queries", "budget", "vc_dimension"), int),
                    **dict.fromkeys(("delta", "c1", "difference", "difference_of_start"), float),
                },
                "tables/twolayer-remarks": {
                    "loss": str,
                    "case": str,
                    **dict.fromkeys(("pairs", "steps_below"), int),
                    **dict.fromkeys(("score_bound", "average", "average_error", "centred_average"), float),
                    **dict.fromkeys(("linear", "contracted"), float),
                    **dict.fromkeys(("without_constant", "with_half_the_constant"), float),
                    **dict.fromkeys(("printed", "largest"), float),
                },
                "tables/twolayer-short-lists": {
                    "queries": int,
                    "which": str,
                    **dict.fromkeys(("short", "vc_dimension"), int),
                    **dict.fromkeys(("delta", "c1", "bound"), float),
                },
            },
            surrogates=("ranksvm", "ranknet", "rankboost"),
            cost=Cost(1.0, start_mb=500.0),
            seconds=lambda settings, cell: 5e-5 * settings.draws,
        ),
    ),
)
