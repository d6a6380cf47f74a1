"""Errors on four distributions for which they, and the bounds of Theorems 1, 2 and 3, are known exactly."""

from __future__ import annotations

from typing import Annotated

from annotated_types import Ge, Lt
from pydantic import AfterValidator, Field

from pipeline_lib.cost import Cost
from pipeline_lib.experiment import Experiment, Job, Outcome, Step
from pipeline_lib.papers.twolayer.experiments.statements import falling
from pipeline_lib.settings import Probability, Rising, Settings, Whole, at_least, no_fewer_than


class ExtremesSettings(Settings):
    """Distributions whose gaps come close to the bounds of Theorems 1, 2 and 3, by exact computation."""

    share: Annotated[Probability, Lt(0.5)] = Field(
        0.2, description="rho, the share of pairs that a class with a memory can order correctly at will"
    )
    sizes: Annotated[Rising, at_least(4), no_fewer_than(2, "to compare")] = Field(
        (100, 10000, 1000000), description="values of n and of m, the numbers of queries and of documents per query"
    )
    short_queries: Whole = Field(3, description="number of short lists in the sample with one long list")
    short: Annotated[Whole, Ge(4)] = Field(50, description="number of documents of the short lists")
    long: Annotated[Whole, Ge(4)] = Field(4000, description="number of documents of the long list")
    deltas: Annotated[tuple[Probability, ...], AfterValidator(falling)] = Field(
        (0.05, 1e-12, 1e-100), description="values of delta, falling; bounds hold with probability 1 - delta"
    )


def _run(job: Job) -> Outcome:
    from pipeline_lib.papers.twolayer.computations import extremes

    return Outcome([list(extremes.rows(job.settings))])


_LAYERS = ("query", "document")
_TERMS = tuple(f"{layer}_{term}" for layer in _LAYERS for term in ("complexity", "concentration"))
_APART = ("error", "failure", "bound", "bound_complexity", "bound_concentration")

EXPERIMENT = Experiment(
    ExtremesSettings,
    (
        Step(
            "extremes",
            _run,
            tables={
                "tables/twolayer-extremes": {
                    "population": str,
                    **dict.fromkeys(("queries", "documents", "longest", "total"), int),
                    "delta": float,
                    **dict.fromkeys(("gap", "gap_failure", *_TERMS, "bound"), float),
                    **{f"{layer}_{name}": float for layer in _LAYERS for name in _APART},
                    "document_level": float,
                }
            },
            cost=Cost(4.0, start_mb=500.0),
        ),
    ),
)
