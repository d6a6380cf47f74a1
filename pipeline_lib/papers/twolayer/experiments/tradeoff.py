"""Deep against shallow judging: the error at a fixed budget of documents over all splits, compared with n*."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Self

from annotated_types import Ge
from pydantic import Field, model_validator

from pipeline_lib.cost import Cost
from pipeline_lib.experiment import EVERY, Experiment, Job, Outcome, Step
from pipeline_lib.papers.twolayer.experiments.gaps import POPULATION, SURROGATES, Loss
from pipeline_lib.settings import Jobs, Positive, Probability, Rising, Settings, Whole, at_least
from pipeline_lib.sources.population_settings import WithoutDocuments

if TYPE_CHECKING:
    from pipeline_lib.papers.twolayer.computations.tradeoff import Fold

SLICES = "slices/twolayer-tradeoff/{slice}"
Budgets = Annotated[Rising, at_least(6)]


class TradeoffSettings(Settings):
    """Deep compared with shallow judging: C documents, distributed over n queries."""

    population: WithoutDocuments = Field(
        POPULATION, description="overrides of the population's defaults, as for the gaps"
    )
    loss: Loss = Field("logistic", description="loss used in training")
    radius: Positive = Field(3.0, description="W, the radius of the class ||w|| <= W, on the population")
    data_radius: Positive = Field(10.0, description="W on data sets, for standardised features divided by sqrt(d)")
    delta: Probability = Field(0.05, description="delta in the bound that determines n*")
    c1: Positive = Field(1.0, description="c1 in the bound that determines n*")
    budgets: Budgets = Field(
        (120, 480, 1920), description="values of C, the total number of documents, on the population"
    )
    data_budgets: Budgets = Field(
        (60,),
        description="values of C on data sets; a data set needs at least C/2 queries with at least C/2 documents",
    )
    documents: Annotated[Rising, at_least(2)] = Field(
        (2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 24, 30, 40, 60, 120, 240, 480, 960),
        description="values of m, the number of documents per query; used where m divides C",
    )
    data_documents: Annotated[Rising, at_least(2)] = Field(
        (2, 4, 6, 10, 15, 30), description="values of m on data sets; used where m divides C"
    )
    repetitions: Annotated[Whole, Ge(4)] = Field(200, description="number of repetitions on the population")
    data_repetitions: Annotated[Whole, Ge(4)] = Field(
        240, description="number of repetitions on every fold of a data set"
    )
    risk_queries: Annotated[Whole, Ge(2)] = Field(
        50000,
        description="number of fresh queries in every repetition, for the true error on the population",
    )
    variance_queries: Annotated[Whole, Ge(2)] = Field(
        10000, description="number of queries for the best depth of judging according to the variance of gradients"
    )
    reference_queries: Whole = Field(
        20000,
        description="number of queries that determine the limiting ranker, to which excess errors refer",
    )
    slices: Jobs = Field(3, description="number of jobs among which the repetitions are divided")

    @model_validator(mode="after")
    def _budgets_are_split(self) -> Self:
        for name, budgets, splits in (
            ("documents", self.budgets, self.splits),
            ("data_documents", self.data_budgets, self.data_splits),
        ):
            for budget in budgets:
                tried = [m for _, m in splits(budget)]
                if not self.reaches_both_ends(budget, tried):
                    raise ValueError(
                        f"{name}: expected 2, {budget // 2} and a divisor between them for the budget {budget}, "
                        f"found {tried}"
                    )
        return self

    def splits(self, budget: int) -> list[tuple[int, int]]:
        """(n, m) with n m = C on the population, from the shallowest to the deepest with two queries or more."""
        return self._splits(budget, self.documents)

    def data_splits(self, budget: int) -> list[tuple[int, int]]:
        """The same on data sets."""
        return self._splits(budget, self.data_documents)

    @staticmethod
    def _splits(budget: int, documents: Sequence[int]) -> list[tuple[int, int]]:
        return [(budget // m, m) for m in documents if budget % m == 0 and budget // m >= 2]

    def reaches_both_ends(self, budget: int, documents: Sequence[int]) -> bool:
        """Whether these m hold the two ends of a budget and something between."""
        return len(documents) >= 3 and documents[0] == 2 and 2 * documents[-1] == budget


def _measure(job: Job) -> Outcome:
    from pipeline_lib.papers.twolayer.computations import tradeoff

    return Outcome([tradeoff.measure(job.settings, _folds(job), job.seed, int(job.cell["slice"]))])


def _folds(job: Job) -> Iterator[Fold]:
    """Every fold of every data set, read when its turn comes."""
    from pipeline_lib.papers.twolayer.computations.tradeoff import Fold

    for path in job.documents:
        dataset = path.parent.name
        for number in job.facts["folds"][dataset]:
            yield Fold(dataset, number, *job.parts(dataset, number, ("train", "test")))


def _join(job: Job) -> Outcome:
    from pipeline_lib.papers.twolayer.computations import tradeoff

    results = tradeoff.join(job.settings, job.rows(SLICES), job.seed)
    return Outcome([results.tradeoff, results.best])


_PLACE = {"dataset": str, "features": int, "budget": int}
_ENDS = ("error_deepest", "error_shallowest")

EXPERIMENT = Experiment(
    TradeoffSettings,
    (
        Step(
            "tradeoff_slice",
            _measure,
            divided={"slice": lambda settings: range(settings.slices)},
            documents=EVERY,
            with_folds=True,
            facts=["folds"],
            tables={
                SLICES: {
                    **_PLACE,
                    **dict.fromkeys(("fold", "repetition", "queries", "documents"), int),
                    **dict.fromkeys(("error", "training_error", "reference_error"), float),
                }
            },
            surrogates=SURROGATES,
            cost=Cost(2.0, start_mb=800.0),
            seconds=lambda settings, cell: 5e-5 * settings.repetitions / settings.slices * sum(settings.budgets),
        ),
        Step(
            "tradeoff",
            _join,
            reads=[SLICES],
            tables={
                "tables/twolayer-tradeoff": {
                    **_PLACE,
                    **dict.fromkeys(("queries", "documents", "repetitions"), int),
                    **dict.fromkeys(("bound", "error", "low", "high", "excess", "excess_low", "excess_high"), float),
                },
                "tables/twolayer-best-splits": {
                    **_PLACE,
                    "repetitions": int,
                    **{f"{name}{end}": float for name in _ENDS for end in ("", "_low", "_high")},
                    **dict.fromkeys(("error_inner", "best_queries", "best_queries_low", "best_queries_high"), float),
                    "predicted_queries": float,
                    **{f"variance_documents{end}": float for end in ("", "_low", "_high")},
                    **{f"training_{name}{end}": float for name in _ENDS for end in ("", "_low", "_high")},
                    "training_error_inner": float,
                },
            },
            surrogates=SURROGATES,
            cost=Cost(2.0, start_mb=500.0),
        ),
    ),
)
