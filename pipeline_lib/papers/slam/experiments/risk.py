"""Excess risk of regularised risk minimisation and Theorem 8: how it falls with the number of queries."""

from __future__ import annotations

from typing import Annotated

from annotated_types import Ge
from pydantic import Field

from pipeline_lib.cost import Cost
from pipeline_lib.experiment import Cell, Experiment, Job, Outcome, Step
from pipeline_lib.settings import Jobs, Positives, Range, Rising, Settings, Whole, at_least

SURROGATES = ("slam-ndcg", "slam-map", "listnet")
PARTS = "slices/slam-risk/{surrogate}-{part}"


class RiskSettings(Settings):
    """Excess risk of regularised risk minimisation, and Theorem 8."""

    sizes: Annotated[Rising, at_least(2)] = Field(
        (30, 100, 300, 1000), description="values of n, the number of queries in a training sample"
    )
    radii: Positives = Field(
        (10.0,), description="values of B, the radius of the ball in which the best ranker is sought"
    )
    repetitions: Annotated[Whole, Ge(2)] = Field(20, description="number of training samples for every n")
    parts: Jobs = Field(1, description="number of jobs among which the repetitions for one surrogate are divided")
    truth: Annotated[Whole, Ge(100)] = Field(
        5000, description="number of queries in the sample that represents the population"
    )
    documents: Range = Field((5, 15), description="smallest and largest number of documents per query")
    features: Whole = Field(10, description="number of features in the population")
    finite_sizes: Annotated[Rising, at_least(2)] = Field(
        (100, 1000, 10_000, 100_000, 1_000_000, 10_000_000),
        description="values of n for populations of few queries, whose risks are exact",
    )
    finite_queries: Annotated[Whole, Ge(2)] = Field(40, description="number of queries in the simulated one of these")
    finite_documents: Range = Field((2, 4), description="smallest and largest number of documents per query in it")
    finite_repetitions: Annotated[Whole, Ge(2)] = Field(
        10, description="number of training samples from it for every n"
    )


def _measure(job: Job) -> Outcome:
    from pipeline_lib.papers.slam.computations import risk

    return Outcome([risk.measure(job.settings, job.cell["surrogate"], int(job.cell["part"]), job.seed)])


def _join(job: Job) -> Outcome:
    from pipeline_lib.papers.slam.computations import risk

    rates = risk.summarise(job.rows(PARTS), job.facts["statistics"]["level"])
    return Outcome([rates.means, rates.exponents])


def _finite(job: Job) -> Outcome:
    from pipeline_lib.papers.slam.computations import finite_risk

    return Outcome([finite_risk.measure(job.settings, SURROGATES, job.facts["statistics"]["level"], job.seed)])


def _seconds(settings: RiskSettings, cell: Cell) -> float:
    # A fit takes some time whatever the number of queries.
    rounds = len(settings.radii) * settings.repetitions / settings.parts
    return rounds * (0.03 * len(settings.sizes) + 7e-5 * sum(settings.sizes))


_AXES = {"surrogate": str, "radius": float, "regularisation": str}

EXPERIMENT = Experiment(
    RiskSettings,
    (
        Step(
            "risk",
            _measure,
            divided={"surrogate": lambda settings: SURROGATES, "part": lambda settings: range(settings.parts)},
            tables={
                PARTS: {
                    **_AXES,
                    **dict.fromkeys(("n", "repetition"), int),
                    **dict.fromkeys(("l2", "lipschitz", "excess", "truth_error", "best", "best_gap", "norm"), float),
                    "relative_gap": float,
                    "certified": bool,
                    **dict.fromkeys(("bound", "zero_excess", "gap"), float),
                }
            },
            surrogates=SURROGATES,
            cost=Cost(3.0, start_mb=800.0),
            seconds=_seconds,
        ),
        Step(
            "rates",
            _join,
            reads=[PARTS],
            facts=["statistics"],
            tables={
                "tables/slam-risk": {
                    **_AXES,
                    "n": int,
                    **dict.fromkeys(("excess_risk", "low", "high", "truth_error", "bound", "l2", "norm"), float),
                    "certified": bool,
                    **dict.fromkeys(("zero_excess", "gap", "gap_low", "gap_high"), float),
                },
                "tables/slam-rates": {**_AXES, **dict.fromkeys(("exponent", "low", "high"), float)},
            },
        ),
        Step(
            "finite",
            _finite,
            facts=["statistics"],
            tables={
                "tables/slam-finite-risk": {
                    **dict.fromkeys(("population", "surrogate"), str),
                    **dict.fromkeys(("radius", "signal"), float),
                    "relative": bool,
                    "n": int,
                    **dict.fromkeys(("excess_risk", "low", "high"), float),
                    **dict.fromkeys(("zero_excess", "reversed_excess", "fixed_excess", "bound", "lipschitz"), float),
                }
            },
            surrogates=SURROGATES,
            cost=Cost(10.0, start_mb=400.0),
        ),
    ),
)
