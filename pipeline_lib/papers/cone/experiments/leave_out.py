"""Converged cones without one query: Theorems 1 and 2 where they say something, and s_max up to many queries."""

from __future__ import annotations

from typing import Annotated

from annotated_types import Ge, Gt, Le
from pydantic import Field

from pipeline_lib.cost import Cost
from pipeline_lib.experiment import Cell, Experiment, Job, Outcome, Step
from pipeline_lib.settings import Positive, Positives, Probability, Rising, Settings, Whole, at_least, no_fewer_than


class LeaveOutSettings(Settings):
    """Stability of converged cones, on queries of finitely many kinds."""

    queries: Annotated[Rising, at_least(2), no_fewer_than(3, "for an exponent")] = Field(
        (100, 1000, 10000, 100000), description="values of P, the number of training queries"
    )
    repetitions: Annotated[Whole, Ge(2)] = Field(6, description="number of samples for every P")
    kinds: Annotated[Whole, Ge(2)] = Field(10, description="number of kinds of queries in the population")
    features: Whole = Field(3, description="number of features of the random kinds")
    documents: Annotated[Whole, Ge(2)] = Field(3, description="number of documents of the random kinds")
    bases: Rising = Field((1, 2, 3), description="values of K, the number of basis vectors")
    c: Positive = Field(1.0, description="largest norm of a basis vector, in units of rho")
    epsilon: Probability = Field(0.05, description="Theorem 1 holds with probability 1 - epsilon")
    tail_queries: Rising = Field(
        (2, 10, 100, 1000, 10000), description="values of P for exact probabilities of failure"
    )
    tail_epsilons: tuple[Probability, ...] = Field((0.05, 0.25), description="values of epsilon for these")
    tied_queries: Rising = Field(
        (5, 50, 500, 5000), description="queries of each kind in samples for which two bases are equally good"
    )
    tied_features: Annotated[tuple[Annotated[Whole, Ge(2), Le(6)], ...], *Rising.__metadata__] = Field(
        (2, 3), description="values of N = K for these, at most 6, because all orders of the basis vectors are tried"
    )
    tied_sums: Annotated[tuple[Annotated[Positive, Gt(1)], ...], *Positives.__metadata__] = Field(
        (1.5, 2.0, 4.0), description="values of lambda_u above 1 for such samples with N = K = 1"
    )
    tradeoff_queries: Annotated[Rising, at_least(2)] = Field(
        (2, 5, 20), description="values of P for which lambda_u is varied and all samples are enumerated"
    )
    tradeoff_sums: Annotated[Positives, at_least(1), no_fewer_than(2, "to be compared")] = Field(
        (1.0, 1.25, 1.5, 1.75, 2.0), description="values of lambda_u for these"
    )


def _run(job: Job) -> Outcome:
    from pipeline_lib.papers.cone.computations import leave_out, theorem_1, ties, tradeoff

    settings = job.settings
    rows = leave_out.run(settings, job.seed)
    known = (ties.run(settings), tradeoff.run(settings))
    return Outcome([rows, leave_out.exponents(rows), theorem_1.tails(settings), theorem_1.twins(), *known])


def _seconds(settings: LeaveOutSettings, cell: Cell) -> float:
    # The number of trainings, each of which takes a pass over all kinds until it has converged.
    trainings = len(settings.queries) * settings.repetitions * settings.kinds * sum(settings.bases)
    return 1e-3 * trainings * settings.kinds


_MEASURED = {
    "population": str,
    **dict.fromkeys(("K", "P", "repetition", "passes"), int),
    "method": str,
    "d": int,
    **dict.fromkeys(
        (
            *("rho", "c", "s_max", "beta", "beta_worst", "beta_bound", "gamma", "empirical_risk", "risk", "bound"),
            "largest_possible_loss",
        ),
        float,
    ),
    "with_pairs": int,
    **dict.fromkeys(("growth", "change", "change_by_growth"), float),
}

_TRADED = ("beta", "largest_empirical_risk", "mean_empirical_risk", "mean_risk")

EXPERIMENT = Experiment(
    LeaveOutSettings,
    (
        Step(
            "leave_out",
            _run,
            tables={
                "tables/cone-leave-out": _MEASURED,
                "tables/cone-leave-out-exponents": {
                    "population": str,
                    "K": int,
                    **dict.fromkeys(("method", "statistic"), str),
                    **dict.fromkeys(("slope", "low", "high"), float),
                },
                "tables/cone-tails": {
                    "P": int,
                    **dict.fromkeys(
                        ("epsilon", "failure", "failure_of_half", "failure_of_root", "failure_of_decimal"), float
                    ),
                },
                "tables/cone-twins": {
                    **dict.fromkeys(("kinds", "P"), int),
                    **dict.fromkeys(
                        (
                            *("c", "epsilon", "largest_beta", "failure_with_own_beta", "failure_with_largest_beta"),
                            *("failure_without_beta", "failure_without_twice_beta", "failure_with_mean_beta"),
                        ),
                        float,
                    ),
                },
                "tables/cone-ties": {
                    "case": str,
                    **dict.fromkeys(("K", "P"), int),
                    **dict.fromkeys(("largest_sum", "s_max", "least_s_max", "beta", "above_the_bound"), float),
                },
                "tables/cone-tradeoff": {
                    "P": int,
                    **dict.fromkeys(("lambda_u", "next_lambda_u"), float),
                    **dict.fromkeys((of for name in _TRADED for of in (name, f"next_{name}")), float),
                },
            },
            cost=Cost(4.0),
            seconds=_seconds,
        ),
    ),
)
