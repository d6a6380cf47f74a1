"""Gap and excess risk over numbers of queries and documents, for every loss, on a population of known risks."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import Field, model_validator

from pipeline_lib.cost import Cost
from pipeline_lib.errors import hint
from pipeline_lib.experiment import Cell, Experiment, Job, Outcome, Step
from pipeline_lib.papers.lists.experiments.real import TABLE as ON_DATA
from pipeline_lib.papers.lists.losses import Losses, LossSettings
from pipeline_lib.settings import Positive, Probability, Rising, Settings, Text, Whole, at_least
from pipeline_lib.sources.population_settings import WithoutDocuments

SLICES = "slices/lists-grid/{loss}"


class PopulationsSettings(Settings):
    """The two populations, as overrides of the defaults (docs/population.md); lengths are set by the grid."""

    noisy: WithoutDocuments = Field({"features": 10}, description="population on which all losses are measured")
    realisable: WithoutDocuments = Field(
        {"features": 10, "noise": 0, "query_noise": 0, "margin": 0.4999},
        description="population on which ListNet reaches L* = 0",
    )


class GridSettings(Settings):
    """Gap and excess risk for every loss over a grid of n and m, on a population of known risks."""

    queries: Annotated[Rising, at_least(2)] = Field(
        (50, 200, 800, 3200), description="values of n, the number of queries"
    )
    lengths: Annotated[Rising, at_least(2)] = Field(
        (5, 20, 80, 320), description="values of m, the number of documents per query"
    )
    documents_at_most: Whole = Field(
        16000, description="cells (n, m) with more than this number of documents, n m, are left out"
    )
    repetitions: Whole = Field(20, ge=2, description="number of samples for every cell")
    rate_repetitions: Whole = Field(
        40, ge=2, description="number of samples for the cells with the shortest lists, where rates in n are fitted"
    )
    held_out_documents: Whole = Field(
        300000, description="number of held-out documents on which all rankers are measured, for every m"
    )
    held_out_queries_at_least: Whole = Field(1250, ge=2, description="smallest number of held-out queries, for every m")
    best_ranker_documents: Whole = Field(
        3000000,
        description="number of documents on which the best ranker alone is measured, for more precise risks",
    )
    radius: Positive = Field(2.5, description="W2 in ||w||_2 <= W2")
    tol: Positive = Field(
        1e-4, le=0.1, description="certified relative gap between the objective of minimisers and its minimum"
    )
    ascent_steps: Whole = Field(10, description="number of steps in the search for the worst gap")
    reference_documents: Whole = Field(
        100000,
        description="number of documents that stand for the population in that search; if that is fewer than twice as "
        "many queries as in the largest sample, so many",
    )
    delta: Probability = Field(0.05, description="bounds hold with probability 1 - delta")
    populations: PopulationsSettings = Field(
        PopulationsSettings(),
        description="overrides of the population's defaults (docs/population.md); the grid sets the documents",
    )
    realisable_lengths: Annotated[Rising, at_least(2)] = Field(
        (5,), description="values of m on the realisable population"
    )
    realisable_losses: tuple[Text, ...] = Field(
        ("listnet",), description="names of the losses measured on the realisable population"
    )
    losses: Losses = Field(
        (
            LossSettings(name="listnet", surrogate="listnet"),
            LossSettings(name="smooth-dcg", surrogate="smooth-dcg", options={"sign": "regret"}),
            LossSettings(name="slam", surrogate="slam-ndcg"),
            LossSettings(name="ranksvm-sum", surrogate="ranksvm"),
            LossSettings(name="ranksvm-mean", surrogate="ranksvm", options={"normalisation": "mean"}),
            LossSettings(name="squared", surrogate="squared"),
        ),
        description="the losses, one job for each; `options` are passed to the surrogate",
    )

    @model_validator(mode="after")
    def _best_ranker_is_measured_longest(self) -> Self:
        if self.best_ranker_documents < self.held_out_documents:
            raise ValueError(
                f"best_ranker_documents: expected no fewer than the {self.held_out_documents} of held_out_documents, "
                f"found {self.best_ranker_documents}"
            )
        return self

    @model_validator(mode="after")
    def _realisable_losses_are_measured(self) -> Self:
        names = [loss.name for loss in self.losses]
        for name in self.realisable_losses:
            if name not in names:
                raise ValueError(f"realisable_losses: unknown loss {name!r}; {hint(name, names)}")
        return self

    def queries_of(self, m: int) -> list[int]:
        """The n of the grid that lists of m documents are measured with."""
        return [n for n in self.queries if n * m <= self.documents_at_most]

    def repetitions_of(self, m: int) -> int:
        """Samples of every cell with lists of m documents."""
        return self.rate_repetitions if m == self.lengths[0] else self.repetitions

    def held_out_queries(self, m: int) -> int:
        """Queries of the sample on which all rankers are measured."""
        return max(self.held_out_queries_at_least, self.held_out_documents // m)

    def reference_queries(self, m: int) -> int:
        """Queries of the sample that stands for the population in the search for the worst gap."""
        return max(2 * self.queries_of(m)[-1], self.reference_documents // m)

    def best_ranker_queries(self, m: int) -> int:
        """Queries of the sample on which the best ranker is measured."""
        return max(self.held_out_queries_at_least, self.best_ranker_documents // m)


def _measure(job: Job) -> Outcome:
    from pipeline_lib.papers.lists.computations import grid

    return Outcome([grid.run(job.settings, job.cell["loss"], job.seed)])


def _join(job: Job) -> Outcome:
    from pipeline_lib.papers.lists.computations import summary

    results = summary.run(job.settings, job.rows(SLICES), job.rows(ON_DATA))
    return Outcome([results.cells, results.on_data, results.bounds, results.exponents])


def _seconds(settings: GridSettings, cell: Cell) -> float:
    trained_on = sum(settings.repetitions_of(m) * m * sum(settings.queries_of(m)) for m in settings.lengths)
    # At most: on both populations.
    best_ranker = settings.best_ranker_documents * (len(settings.lengths) + len(settings.realisable_lengths))
    return 1e-5 * trained_on + 1.5e-7 * best_ranker


def _megabytes(settings: GridSettings) -> float:
    return 6e-4 * max((n * m for m in settings.lengths for n in settings.queries_of(m)), default=0)


_CELL = {"loss": str, "population": str, "m": int, "n": int}
_RISKS = ("optimal_risk", "optimal_risk_error", "risk_error", "relative_risk_error", "largest_certified_gap")
_BOUNDS = ("ogd", "rerm", "erm", "erm_integral", "smooth_ogd", "optimistic")

EXPERIMENT = Experiment(
    GridSettings,
    (
        Step(
            "grid",
            _measure,
            divided={"loss": lambda settings: [loss.name for loss in settings.losses]},
            tables={
                SLICES: {
                    **_CELL,
                    "repetition": int,
                    "learner": str,
                    **dict.fromkeys(("empirical", "risk", "risk_error", "excess", "excess_error"), float),
                    **dict.fromkeys(("optimal_risk", "optimal_risk_error", "certified_gap"), float),
                }
            },
            surrogates=lambda settings: [loss.surrogate for loss in settings.losses],
            cost=Cost(2.0, start_mb=900.0),
            seconds=_seconds,
            megabytes=_megabytes,
        ),
        Step(
            "summary",
            _join,
            reads=[SLICES, ON_DATA],
            tables={
                "tables/lists-cells": {
                    **_CELL,
                    "learner": str,
                    "repetitions": int,
                    **{f"{name}{end}": float for name in ("gap", "gap_size") for end in ("", "_low", "_high")},
                    **dict.fromkeys(("largest_gap", "largest_gap_low", "largest_gap_high"), float),
                    **{f"excess{end}": float for end in ("", "_low", "_high")},
                    **dict.fromkeys((*_RISKS, "loss_bound", "chapelle_wu"), float),
                    **{f"bound_{name}": float for name in _BOUNDS},
                    **{f"largest_excess{end}": float for end in ("", "_low", "_high")},
                    **dict.fromkeys(("excess_bound_erm", "excess_bound_erm_integral"), float),
                    **{f"nearest_gap{end}": float for end in ("", "_low", "_high")},
                    "nearest_optimistic": float,
                },
                "tables/lists-on-data": {
                    **dict.fromkeys(("dataset", "loss"), str),
                    **dict.fromkeys(("m", "n"), int),
                    "learner": str,
                    "repetitions": int,
                    **{
                        f"{name}{end}": float
                        for name in ("excess", "largest_excess", "largest_gap")
                        for end in ("", "_low", "_high")
                    },
                    **dict.fromkeys(("excess_bound", "bound", "loss_bound"), float),
                },
                "tables/lists-bounds": {
                    **_CELL,
                    "bound": str,
                    **dict.fromkeys(("value", "loss_bound"), float),
                    "vacuous": bool,
                    "optimal_risk": float,
                    **dict.fromkeys(("not_vacuous_from", "beats_theorem_9_from"), int),
                },
                "tables/lists-exponents": {
                    **dict.fromkeys(("axis", "loss", "population", "learner", "statistic"), str),
                    "fixed": int,
                    "points": str,
                    **dict.fromkeys(("slope", "low", "high"), float),
                },
            },
            surrogates=lambda settings: [loss.surrogate for loss in settings.losses],
            cost=Cost(1.0),
        ),
    ),
)
