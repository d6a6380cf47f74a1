"""ConeRank retrained without each query: Theorems 1 and 2, and stability as a function of the number of queries."""

from __future__ import annotations

from typing import Annotated

from annotated_types import Ge
from pydantic import Field

from pipeline_lib.cost import Cost
from pipeline_lib.experiment import Cell, Experiment, Job, Outcome, Step
from pipeline_lib.papers.cone.experiments.bases import Methods
from pipeline_lib.settings import Probability, Rising, Settings, Whole, at_least, no_fewer_than

SLICES = "slices/cone-stability/queries-{queries}"


class StabilitySettings(Settings):
    """Stability, measured by retraining ConeRank without each query."""

    queries: Annotated[Rising, at_least(2), no_fewer_than(3, "for an exponent")] = Field(
        (25, 50, 100), description="values of P, the number of training queries"
    )
    repetitions: Annotated[Whole, Ge(2)] = Field(4, description="number of samples for every P")
    methods: Methods = Field(("sg", "exact"), description="methods of training")
    features: Whole = Field(5, description="number of features in the population")
    documents: Annotated[Whole, Ge(2)] = Field(4, description="number of documents per query")
    basis: Whole = Field(3, description="K, the number of basis vectors")
    passes: Whole = Field(100, description="number of passes over the queries")
    test_queries: Annotated[Whole, Ge(2)] = Field(
        2000, description="number of fresh queries on which the true risk is measured"
    )
    compared_queries: Whole = Field(50, description="number of queries on whose pairs the stability is measured")
    epsilon: Probability = Field(0.05, description="Theorem 1 holds with probability 1 - epsilon")


def _retrain(job: Job) -> Outcome:
    from pipeline_lib.papers.cone.computations import stability

    return Outcome([stability.run_slice(job.settings, int(job.cell["queries"]), job.seed)])


def _join(job: Job) -> Outcome:
    from pipeline_lib.papers.cone.computations import stability

    rows = job.rows(SLICES)
    return Outcome([rows, stability.exponents(rows)])


def _seconds(settings: StabilitySettings, cell: Cell) -> float:
    # The number of queries that all retrainings with one P pass over, times that of their pairs of documents.
    visits = int(cell["queries"]) ** 2 * settings.passes * settings.repetitions * len(settings.methods)
    return 1.6e-7 * settings.documents * (settings.documents - 1) * visits


_RETRAINED = {
    "P": int,
    "method": str,
    "repetition": int,
    **dict.fromkeys(
        (
            *("s_max", "s_mean", "beta", "beta_bound", "largest_ratio", "gamma", "empirical_risk", "test_risk"),
            *("test_risk_low", "test_risk_high", "bound", "bound_by_theorem_2", "largest_possible_risk"),
        ),
        float,
    ),
}

EXPERIMENT = Experiment(
    StabilitySettings,
    (
        Step(
            "stability_slice",
            _retrain,
            divided={"queries": lambda settings: settings.queries},
            tables={SLICES: _RETRAINED},
            cost=Cost(1.0),
            seconds=_seconds,
        ),
        Step(
            "stability",
            _join,
            reads=[SLICES],
            tables={
                "tables/cone-stability": _RETRAINED,
                "tables/cone-stability-exponents": {
                    **dict.fromkeys(("method", "statistic"), str),
                    **dict.fromkeys(("slope", "low", "high"), float),
                },
            },
            cost=Cost(1.0),
        ),
    ),
)
