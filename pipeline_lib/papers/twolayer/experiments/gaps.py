"""The gap between expected and training risk over queries and documents, and Theorems 1, 2 and 3 for it."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from annotated_types import Ge
from pydantic import Field, model_validator

from pipeline_lib.cost import Cost
from pipeline_lib.experiment import Cell, Experiment, Job, Outcome, Step
from pipeline_lib.settings import Jobs, Names, Positive, Probability, Rising, Settings, Whole, at_least
from pipeline_lib.sources.population_settings import WithoutDocuments

Loss = Literal["hinge", "logistic", "exponential"]
SLICES = "slices/twolayer-gaps/{slice}"
# Queries that differ much in what makes a document relevant.
POPULATION = {"features": 10, "label_shares": [0.5, 0.3, 0.2], "noise": 0.1, "query_noise": 1.0, "query_spread": 0.45}
# A limit is fitted with three coefficients.
FEWEST_ON_A_LINE = 3


class GapsSettings(Settings):
    """The grid of queries and documents, and how precisely gaps are measured on it."""

    population: WithoutDocuments = Field(
        POPULATION,
        description="overrides of the population's defaults (docs/population.md); queries differ "
        "greatly in what makes a document relevant",
    )
    radius: Positive = Field(3.0, description="W, the radius of the class ||w|| <= W")
    delta: Probability = Field(0.05, description="bounds hold with probability 1 - delta")
    c1: Positive = Field(1.0, description="c1 in D(k) = c1 sqrt(V/k), used for the 0-1 bounds")
    losses: Annotated[tuple[Loss, ...], *Names.__metadata__] = Field(
        ("hinge", "logistic", "exponential"),
        description="losses used in training; the 0-1 risk is measured for the rankers trained with the hinge loss",
    )
    queries: Annotated[Rising, at_least(2)] = Field(
        (10, 40, 160), description="values of n, the number of queries, on the grid"
    )
    documents: Annotated[Rising, at_least(2)] = Field(
        (2, 4, 8, 16, 32), description="values of m, the number of documents per query, on the grid"
    )
    more_queries: Rising = Field(
        (320, 640, 1280, 2560), description="further values of n at the smallest m, which show the limit of the gap"
    )
    more_documents: Rising = Field(
        (64, 256, 1024, 2048), description="further values of m at the smallest n, which show the limit of the gap"
    )
    repetitions: Annotated[Whole, Ge(2)] = Field(40, description="number of repetitions of the whole grid")
    middle_documents: Annotated[Whole, Ge(2)] = Field(
        4000, description="number of fresh documents of the sampled queries on which the middle risk is measured"
    )
    risk_queries: Annotated[Whole, Ge(2)] = Field(
        100000, description="number of fresh queries on which every expected risk is measured"
    )
    reference_queries: Whole = Field(
        20000,
        description="number of queries from which the best ranker is computed, whose gap is subtracted from means",
    )
    draws: Annotated[Whole, Ge(2)] = Field(200, description="number of samples for every estimate of D(k)")
    searched_queries: Rising = Field((10, 40, 160), description="values of n at which the worst gap is searched for")
    searched_documents: Annotated[Whole, Ge(2)] = Field(
        8, description="value of m at which the worst gap is searched for"
    )
    searches: Whole = Field(1, description="random starts of every search, which also starts at the trained ranker")
    steps: Whole = Field(40, description="steps of ascent of every search")
    search_queries: Whole = Field(
        10000, description="number of fresh queries that stand for the expected risk in a search"
    )
    slices: Jobs = Field(4, description="number of jobs among which the repetitions are divided")

    @model_validator(mode="after")
    def _lines_rise(self) -> Self:
        for name in ("queries", "documents"):
            grid, more = getattr(self, name), getattr(self, f"more_{name}")
            if more[0] <= grid[-1]:
                raise ValueError(
                    f"more_{name}: expected numbers above {grid[-1]}, the last of {name}, found {list(more)}"
                )
            if len(grid) + len(more) < FEWEST_ON_A_LINE:
                raise ValueError(
                    f"more_{name}: expected three numbers together with {name}, to fit a limit and an exponent, "
                    f"found {[*grid, *more]}"
                )
        return self

    @property
    def cells(self) -> list[tuple[int, int]]:
        """(n, m) of all samples, the grid first."""
        grid = [(n, m) for n in self.queries for m in self.documents]
        return [
            *grid,
            *((n, self.documents[0]) for n in self.more_queries),
            *((self.queries[0], m) for m in self.more_documents),
        ]


def _measure(job: Job) -> Outcome:
    from pipeline_lib.papers.twolayer.computations import gaps

    return Outcome([gaps.measure(job.settings, job.seed, int(job.cell["slice"]))])


def _join(job: Job) -> Outcome:
    from pipeline_lib.papers.twolayer.computations import gaps

    results = gaps.join(job.settings, job.rows(SLICES), job.seed)
    return Outcome([results.gaps, results.limits, results.older, results.remaining])


def _search(job: Job) -> Outcome:
    from pipeline_lib.papers.twolayer.computations import worst_gaps

    return Outcome([worst_gaps.run(job.settings, job.seed)])


def _measuring_seconds(settings: GapsSettings, cell: Cell) -> float:
    documents = sum(settings.queries) * sum(settings.documents)
    documents += sum(settings.more_queries) * settings.documents[0] + sum(settings.more_documents) * settings.queries[0]
    return 1.4e-5 * settings.repetitions / settings.slices * documents


def _joining_seconds(settings: GapsSettings, cell: Cell) -> float:
    return 7e-7 * settings.draws * sum(settings.queries) * sum(settings.documents)


def _searching_seconds(settings: GapsSettings, cell: Cell) -> float:
    pairs = settings.search_queries + sum(settings.searched_queries) * settings.searched_documents**2 / 2.0
    return 2e-7 * pairs * settings.steps * (settings.searches + 2) * settings.repetitions


SURROGATES = ("ranksvm", "ranknet", "rankboost")
_WITH_INTERVALS = ("gap", "query_error", "document_error", "centred_gap")
_TERMS = ("query_complexity", "query_concentration", "document_complexity", "document_concentration")

EXPERIMENT = Experiment(
    GapsSettings,
    (
        Step(
            "gaps_slice",
            _measure,
            divided={"slice": lambda settings: range(settings.slices)},
            tables={
                SLICES: {
                    "repetition": int,
                    "loss": str,
                    **dict.fromkeys(("queries", "documents"), int),
                    **dict.fromkeys(("empirical", "middle", "expected", "expected_error"), float),
                    **dict.fromkeys(("best_empirical", "best_expected"), float),
                    "certified": bool,
                }
            },
            surrogates=SURROGATES,
            cost=Cost(2.0, start_mb=800.0),
            seconds=_measuring_seconds,
        ),
        Step(
            "gaps",
            _join,
            reads=[SLICES],
            tables={
                "tables/twolayer-gaps": {
                    "loss": str,
                    **dict.fromkeys(("queries", "documents", "repetitions"), int),
                    **{f"{name}{end}": float for name in _WITH_INTERVALS for end in ("", "_low", "_high")},
                    **{f"{name}_largest": float for name in _WITH_INTERVALS[:3]},
                    **dict.fromkeys(("risk_error", *_TERMS), float),
                    **dict.fromkeys(("bound", "query_bound", "document_bound", "largest_loss"), float),
                    "certified": int,
                },
                "tables/twolayer-limits": {
                    "loss": str,
                    "growing": str,
                    "fixed": int,
                    **{f"{name}{end}": float for name in ("limit", "exponent") for end in ("", "_low", "_high")},
                },
                "tables/twolayer-older-bounds": {
                    "loss": str,
                    **dict.fromkeys(("queries", "documents"), int),
                    **dict.fromkeys(("gap", "gap_low", "gap_high"), float),
                    **dict.fromkeys(("document_level", "query_level", "two_layer", "two_layer_pooled"), float),
                },
                "tables/twolayer-remaining": {
                    "loss": str,
                    "growing": str,
                    **dict.fromkeys(("queries", "documents"), int),
                    **{f"{name}{end}": float for name in ("gap", "limit") for end in ("", "_low", "_high")},
                    "document_layer_bound": float,
                    **dict.fromkeys(("query_level_bound", "document_level_bound", "two_layer_bound"), float),
                },
            },
            surrogates=SURROGATES,
            seconds=_joining_seconds,
        ),
        Step(
            "worst_gaps",
            _search,
            tables={
                "tables/twolayer-worst-gaps": {
                    "loss": str,
                    **dict.fromkeys(("queries", "documents", "repetitions"), int),
                    **{f"{name}{end}": float for name in ("gap", "worst") for end in ("", "_low", "_high")},
                    **dict.fromkeys(("gap_largest", "worst_largest", "risk_error"), float),
                    **dict.fromkeys((*_TERMS, "bound", "largest_loss"), float),
                }
            },
            surrogates=SURROGATES,
            cost=Cost(2.0, start_mb=800.0),
            seconds=_searching_seconds,
        ),
    ),
)
