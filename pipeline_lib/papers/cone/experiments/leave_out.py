"""Converged cones without one query: Theorems 1 and 2 where they say something, and s_max up to many queries."""

from __future__ import annotations

from typing import Annotated

from annotated_types import Ge
from pydantic import Field

from pipeline_lib.cost import Cost
from pipeline_lib.experiment import Cell, Experiment, Job, Outcome, Step
from pipeline_lib.settings import Positive, Probability, Rising, Settings, Whole, at_least, no_fewer_than


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
    tail_queries: Rising = Field((10, 100, 1000, 10000), description="values of P for exact probabilities of failure")
    tail_epsilons: tuple[Probability, ...] = Field((0.05, 0.25), description="values of epsilon for these")


def _run(job: Job) -> Outcome:
    from pipeline_lib.papers.cone.computations import leave_out, theorem_1

    rows = leave_out.run(job.settings, job.seed)
    return Outcome([rows, leave_out.exponents(rows), theorem_1.tails(job.settings), theorem_1.twins()])


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
}

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
                        ("epsilon", "largest_beta", "failure_with_own_beta", "failure_with_largest_beta"), float
                    ),
                },
            },
            cost=Cost(4.0),
            seconds=_seconds,
        ),
    ),
)
