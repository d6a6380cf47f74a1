"""The powers of queries and documents in the worst gap, and the labelling plans of two bounds, for a simple class."""

from __future__ import annotations

from typing import Annotated, Self

from annotated_types import Ge, Lt
from pydantic import Field, model_validator

from pipeline_lib.cost import Cost
from pipeline_lib.experiment import Experiment, Job, Outcome, Step
from pipeline_lib.settings import Positive, Probability, Rising, Settings, Whole, at_least, no_fewer_than


class RatesSettings(Settings):
    """The rates of the worst gap, and the bound that has them, for rankers with weights -1 and 1."""

    turned_shares: tuple[Annotated[Probability, Lt(0.5)], ...] = Field(
        (0.02, 0.3), description="shares of the queries for which documents without the feature are relevant"
    )
    capacities: Annotated[Rising, no_fewer_than(2, "to compare")] = Field(
        (4, 16), description="values of the capacity, the number of features of rankers with weights -1 and 1"
    )
    noise: Annotated[Probability, Lt(0.5)] = Field(0.1, description="share of wrong labels")
    queries: Annotated[Rising, no_fewer_than(3, "for an exponent")] = Field(
        (25, 100, 400, 1600), description="values of n, the number of queries, with two documents each"
    )
    documents: Annotated[Rising, at_least(2), no_fewer_than(3, "for an exponent")] = Field(
        (64, 256, 1024, 4096), description="values of m, the number of documents of every query"
    )
    fixed_queries: Annotated[Whole, Ge(2)] = Field(100, description="number of queries when documents grow")
    repetitions: Annotated[Whole, Ge(100)] = Field(600, description="number of samples for every n and m")
    budgets: Annotated[Rising, at_least(8)] = Field((1920,), description="values of C, the total number of documents")
    tried: Annotated[Rising, at_least(2)] = Field(
        (2, 3, 4, 6, 8, 16), description="further values of m, the number of documents per query, within a budget"
    )
    plan_repetitions: Annotated[Whole, Ge(2)] = Field(1000, description="number of samples for every plan")
    delta: Probability = Field(0.05, description="bounds hold with probability 1 - delta")
    c1: Positive = Field(1.0, description="c1 in the bound of Theorem 1, for its plan")

    @model_validator(mode="after")
    def _documents_are_within_the_budgets(self) -> Self:
        if 2 * self.tried[-1] > self.budgets[0]:
            raise ValueError(f"tried: expected at most half the budget {self.budgets[0]}, found {self.tried[-1]}")
        return self


def _run(job: Job) -> Outcome:
    from pipeline_lib.papers.twolayer.computations import rates

    results = rates.run(job.settings, job.seed)
    return Outcome([results.rates, results.exponents, results.plans])


def _seconds(settings: RatesSettings, _: object) -> float:
    populations = len(settings.turned_shares) * len(settings.capacities)
    lines = sum(settings.queries) + len(settings.documents) * settings.fixed_queries + settings.queries[-1]
    plans = sum(budget / m for budget in settings.budgets for m in (*settings.tried, 4, 20))
    samples = (populations + 1) * lines * settings.repetitions + populations * plans * settings.plan_repetitions
    return 2.2e-7 * samples


_CASE = {"turned_share": float, "capacity": int}
_TERMS = tuple(f"{layer}_{term}" for layer in ("query", "document") for term in ("complexity", "concentration"))

EXPERIMENT = Experiment(
    RatesSettings,
    (
        Step(
            "rates",
            _run,
            tables={
                "tables/twolayer-rates": {
                    "queries_are": str,
                    **_CASE,
                    "growing": str,
                    **dict.fromkeys(("queries", "documents", "longest", "repetitions"), int),
                    **{f"{name}{end}": float for name in ("gap", "exceeded") for end in ("", "_low", "_high")},
                    **dict.fromkeys(("deviation", "remainder", "bound", "log_rankers"), float),
                    "deviation_of_documents": float,
                    **dict.fromkeys((*_TERMS, "printed"), float),
                },
                "tables/twolayer-rate-exponents": {
                    "queries_are": str,
                    **_CASE,
                    "growing": str,
                    "fixed": int,
                    **{f"exponent{end}": float for end in ("", "_low", "_high")},
                    **dict.fromkeys(("of_deviation", "of_printed"), float),
                },
                "tables/twolayer-rate-plans": {
                    "budget": int,
                    **_CASE,
                    "plan": str,
                    **dict.fromkeys(("queries", "repetitions"), int),
                    **{f"gap{end}": float for end in ("", "_low", "_high")},
                    **dict.fromkeys(("bound", "printed"), float),
                },
            },
            cost=Cost(2.0, start_mb=500.0),
            seconds=_seconds,
        ),
    ),
)
