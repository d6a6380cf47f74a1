"""How far is the training risk from the expected one, and what do queries and documents contribute to the difference?

`twolayer`: Theorems 1, 2 and 3, discussions 1 and 2, and the earlier bounds (sections 2.2 and 2.3), on the two-layer
population. Empirical risk minimisers over ||w|| <= W are trained on n queries with m documents each; then

    gap  R(f) - R^(f)  =  query-layer error  R(f) - R^_n(f)  +  document-layer error  R^_n(f) - R^(f),

where R^_n, the middle risk, is over all documents of the sampled queries. A repetition draws one sample and uses its
first queries and first documents throughout the grid, so that a whole repetition is the unit of every interval.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import groupby, product
from operator import attrgetter
from typing import Annotated, Any, Self

import numpy as np
from pydantic import model_validator

from pipeline_lib.core import progress
from pipeline_lib.core.arrays import Floats
from pipeline_lib.core.cost import Cost
from pipeline_lib.core.seeds import Stream, generator
from pipeline_lib.core.settings import Jobs, Names, Positive, Probability, Rising, Settings, Several, Sizes, Whole
from pipeline_lib.data.invariants import above_mean
from pipeline_lib.data.ranking_data import RankingData
from pipeline_lib.data.rows import Count, Field, FromOne, FromZero, Interval, Row
from pipeline_lib.experiment import Experiment, Job, Step
from pipeline_lib.papers.twolayer import risks
from pipeline_lib.papers.twolayer.complexities import Complexities
from pipeline_lib.papers.twolayer.risks import POPULATION, SURROGATES, Loss
from pipeline_lib.sources.population import Population
from pipeline_lib.sources.population_settings import WithoutDocuments
from pipeline_lib.statistics import limits_at_infinity, mean_interval, ratio_interval
from pipeline_lib.theory import pair_losses, two_layer
from pipeline_lib.theory.pair_losses import PairLoss

HINGE = "hinge"
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
    queries: Sizes = Field((10, 40, 160), description="values of n, the number of queries, on the grid")
    documents: Sizes = Field((2, 4, 8, 16, 32), description="values of m, documents per query, on the grid")
    more_queries: Rising = Field((320, 640, 1280, 2560), description="further values of n at the smallest m")
    more_documents: Rising = Field((64, 256, 1024, 2048), description="further values of m at the smallest n")
    repetitions: Several = Field(40, description="repetitions of the whole grid")
    middle_documents: Several = Field(4000, description="fresh documents of the queries, for the middle risk")
    risk_queries: Several = Field(100000, description="fresh queries on which every expected risk is measured")
    reference_queries: Whole = Field(
        20000, description="queries from which the best ranker is computed, whose gap is subtracted from means"
    )
    draws: Several = Field(200, description="samples for every estimate of D(k)")
    slices: Jobs = Field(4, description="jobs among which the repetitions are divided")

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
    def axes(self) -> dict[str, list[tuple[int, int]]]:
        """The two lines through the smallest sample: n grows at the smallest m, and m at the smallest n."""
        n, m = self.queries[0], self.documents[0]
        return {
            "queries": [(one, m) for one in (*self.queries, *self.more_queries)],
            "documents": [(n, one) for one in (*self.documents, *self.more_documents)],
        }

    @property
    def cells(self) -> list[tuple[int, int]]:
        """(n, m) of all samples, the grid first."""
        grid = product(self.queries, self.documents)
        return list(dict.fromkeys((*grid, *self.axes["queries"], *self.axes["documents"])))


class Measured(Row, table="slices/twolayer-gaps/{slice}", key=("loss", "queries", "documents", "repetition")):
    """The risks of one ranker, trained in one repetition with one loss on n queries with m documents each."""

    repetition: Count = Field(description="the repetition, from 0")
    loss: str = Field(description="loss of the risks; zero-one is measured for the rankers trained with the hinge loss")
    queries: FromOne = Field(description="n, queries of the training sample")
    documents: FromOne = Field(description="m, documents of each query")
    empirical: FromZero = Field(description="training risk of the trained ranker")
    middle: FromZero = Field(description="its risk over fresh documents of the sampled queries")
    expected: FromZero = Field(description="its risk on fresh queries")
    expected_error: FromZero = Field(description="standard error of that risk")
    best_empirical: FromZero = Field(description="training risk of the population's best ranker on the same sample")
    best_expected: FromZero = Field(description="risk of the population's best ranker on fresh queries")
    certified: bool = Field(description="whether the trained ranker is a minimiser up to the stated gap")


class Sample(Row):
    """A loss and the size of a sample."""

    loss: str = Field(description="loss of the risks; zero-one is measured for the rankers trained with the hinge loss")
    queries: FromOne = Field(description="n, queries of the training sample")
    documents: FromOne = Field(description="m, documents of each query")


class Gap(
    Sample,
    table="tables/twolayer-gaps",
    key=("loss", "queries", "documents"),
    always=(
        *(above_mean(f"{name}_largest", name) for name in ("gap", "query_error", "document_error")),
        "gap = query_error + document_error",
        "gap_largest <= query_error_largest + document_error_largest",
        "bound = query_complexity + query_concentration + document_complexity + document_concentration",
        "certified <= repetitions",
    ),
):
    """Gaps and bounds at n queries with m documents each: means over the repetitions with 95 % intervals."""

    repetitions: FromOne = Field(description="samples in the means")
    gap: Interval = Field(description="expected minus training risk")
    query_error: Interval = Field(description="expected risk minus the risk over all documents of the sampled queries")
    document_error: Interval = Field(description="risk over all documents of the sampled queries minus training risk")
    centred_gap: Interval = Field(description="gap minus that of the population's best ranker, whose expectation is 0")
    gap_largest: float = Field(description="largest gap of a repetition")
    query_error_largest: float = Field(description="largest query-layer error of a repetition")
    document_error_largest: float = Field(description="largest document-layer error of a repetition")
    risk_error: FromZero = Field(description="largest standard error of an expected risk")
    query_complexity: FromZero = Field(description="first term of Theorem 1, D(n)")
    query_concentration: FromZero = Field(description="second term of Theorem 1, of the fluctuation between queries")
    document_complexity: FromZero = Field(description="third term of Theorem 1, D(floor(m/2))")
    document_concentration: FromZero = Field(
        description="fourth term of Theorem 1, of the fluctuation between documents"
    )
    bound: float = Field(description="Theorem 1, the sum of the four terms")
    query_bound: FromZero = Field(description="Theorem 2, for the query-layer error")
    document_bound: FromZero = Field(description="Theorem 3, for the document-layer error")
    largest_loss: FromZero = Field(description="M, the largest loss of the class")
    certified: Count = Field(description="repetitions whose ranker is a minimiser up to the stated gap")


class Older(Sample, table="tables/twolayer-older-bounds", key=("loss", "queries", "documents")):
    """Earlier bounds beside Theorem 1, along m at the smallest n."""

    gap: Interval = Field(description="centred gap, mean with 95 % interval")
    document_level: FromZero = Field(description="bound for n m independent documents")
    query_level: FromZero = Field(description="bound for n independent queries with their documents")
    two_layer: FromZero = Field(description="Theorem 1")
    two_layer_pooled: FromZero = Field(description="Theorem 2 and one layer of all documents together")


class Remaining(Row, table="tables/twolayer-remaining", key=("loss", "growing")):
    """Shares of the first gap, and of the first bounds, that are left at the end of each axis."""

    loss: str = Field(description="loss of the risks")
    growing: str = Field(description="the number that grows: queries or documents")
    queries: FromOne = Field(description="n at the end of the axis")
    documents: FromOne = Field(description="m at the end of the axis")
    gap: Interval = Field(description="last centred gap over the first, with 95 % interval")
    limit: Interval = Field(description="fitted limit of the gap over the first gap, with 95 % interval")
    document_layer_bound: FromZero = Field(description="last bound of Theorem 3 over the first")
    query_level_bound: FromZero | None = Field(None, description="the same of the query-level bound, along m only")
    document_level_bound: FromZero | None = Field(
        None, description="the same of the document-level bound, along m only"
    )
    two_layer_bound: FromZero | None = Field(None, description="the same of Theorem 1, along m only")


Drawn = Sequence[tuple[RankingData, RankingData]]
"""For every cell its sample, and fresh documents of its queries."""
Cells = Mapping[tuple[str, int, int], Sequence[Measured]]
"""Loss, n and m -> the rows of all repetitions."""


def _complexities(settings: GapsSettings, seed: int) -> Complexities:
    return Complexities(risks.population(settings.population), settings.radius, settings.delta, settings.draws, seed)


def measure(job: Job) -> Iterator[Measured]:
    """Measure the repetitions of one slice: one row for every repetition, loss, n and m."""
    settings, seed, part = job.settings, job.seed, int(job.cell["slice"])
    population = risks.population(settings.population)
    rng = generator(seed, "twolayer-gaps", "pool", role="truth")
    pool = risks.Pool.of(population.draw(settings.risk_queries, rng, 2))
    losses = [pair_losses.get(name) for name in settings.losses]
    best = {}
    for loss in losses:
        rng = generator(seed, "twolayer-gaps", "best", loss.name, role="reference")
        best[loss.name] = risks.best_ranker(population, loss, settings.radius, settings.reference_queries, rng)
    for repetition in progress.counted(range(part, settings.repetitions, settings.slices), "repetitions"):
        drawn = _drawn(settings, population, generator(seed, "twolayer-gaps", "sample", repetition, role="train"))
        for loss in losses:
            yield from _measured(settings, repetition, drawn, pool, loss, best[loss.name])


def _measured(
    settings: GapsSettings, repetition: int, drawn: Drawn, pool: risks.Pool, loss: PairLoss, best: Floats
) -> Iterator[Measured]:
    """Train with one loss on every sample of a repetition, and measure."""
    rankers = [risks.fitted(data, loss, settings.radius) for data, _ in drawn]
    weights = np.column_stack([*(w for w, _ in rankers), best])
    for one in [loss] + ([pair_losses.get(pair_losses.ZERO_ONE)] if loss.name == HINGE else []):
        (*expected, best_expected), errors = pool.risk(one, weights)
        for (n, m), (data, fresh), (w, certified), risk, error in zip(
            settings.cells, drawn, rankers, expected, errors[:-1], strict=True
        ):
            yield Measured(
                repetition=repetition,
                loss=one.name,
                queries=n,
                documents=m,
                empirical=risks.empirical(data, one, w, "train"),
                middle=risks.empirical(fresh, one, w, "middle"),
                expected=risk,
                expected_error=error,
                best_empirical=risks.empirical(data, one, best, "train"),
                best_expected=best_expected,
                certified=certified,
            )


def _drawn(settings: GapsSettings, population: Population, rng: Stream) -> Drawn:
    """The samples are nested in each other."""
    queries = population.draw_queries(max(n for n, _ in settings.cells), rng)
    fresh = {n: max(2, settings.middle_documents // n) for n, _ in settings.cells}
    # Only the first queries need many documents: each has as many as the largest of the cells to which it belongs.
    lengths, fresh_lengths = (
        np.array([max(documents for n, documents in wanted if n > i) for i in range(len(queries))])
        for wanted in (settings.cells, tuple(fresh.items()))
    )
    data = population.draw_documents(queries, lengths, rng)
    others = population.draw_documents(queries, fresh_lengths, rng.continued("middle"))
    return [(risks.first(data, n, m), risks.first(others, n, fresh[n])) for n, m in settings.cells]


def join(job: Job) -> Iterator[Row]:
    """The tables of gaps, older bounds and remaining shares, from the rows of all slices."""
    cells = _by_cell(job.rows(Measured))
    complexities = _complexities(job.settings, job.seed)
    for key, repetitions in cells.items():
        yield _gap(complexities, key, repetitions)
    older = list(_older(job.settings, complexities, cells))
    yield from older
    yield from _remaining(job.settings, complexities, cells, older)


def _by_cell(rows: Iterable[Measured]) -> Cells:
    ordered = sorted(rows, key=attrgetter("loss", "queries", "documents", "repetition"))
    return {cell: list(found) for cell, found in groupby(ordered, key=attrgetter("loss", "queries", "documents"))}


def _differences(rows: Sequence[Measured], greater: str, lesser: str) -> Floats:
    return np.array([getattr(row, greater) - getattr(row, lesser) for row in rows])


def centred_gaps(rows: Sequence[Measured]) -> Floats:
    """Gaps minus those of the population's best ranker on the same samples: the same expectation, less noise."""
    return _differences(rows, "expected", "empirical") - _differences(rows, "best_expected", "best_empirical")


def _gap(complexities: Complexities, key: tuple[str, int, int], rows: Sequence[Measured]) -> Gap:
    loss, n, m = key
    bound, (queries, documents) = complexities.bound(loss, n, m), complexities.layers(loss, n, m)
    errors = {
        "gap": _differences(rows, "expected", "empirical"),
        "query_error": _differences(rows, "expected", "middle"),
        "document_error": _differences(rows, "middle", "empirical"),
    }
    means: dict[str, Any] = {name: mean_interval(error) for name, error in errors.items()}
    return Gap(
        loss=loss,
        queries=n,
        documents=m,
        repetitions=len(rows),
        **means,
        centred_gap=mean_interval(centred_gaps(rows)),
        **{f"{name}_largest": error.max() for name, error in errors.items()},
        risk_error=max(row.expected_error for row in rows),
        **asdict(bound),
        bound=bound.total,
        query_bound=queries.total,
        document_bound=documents.total,
        largest_loss=complexities.largest(loss),
        certified=sum(row.certified for row in rows),
    )


def _losses(cells: Cells) -> list[str]:
    return list(dict.fromkeys(loss for loss, *_ in cells))


def _lines(settings: GapsSettings, cells: Cells) -> Iterator[tuple[str, str, list[tuple[int, int]], Floats, Floats]]:
    """For every loss and axis: n and m along it, the number that grows, and the centred gaps of all repetitions."""
    for loss in _losses(cells):
        for axis, places in settings.axes.items():
            x = np.array([place[axis == "documents"] for place in places], np.float64)
            yield loss, axis, places, x, np.column_stack([centred_gaps(cells[loss, *place]) for place in places])


def _older(settings: GapsSettings, complexities: Complexities, cells: Cells) -> Iterator[Older]:
    """The three kinds of bound, and the pooled one, along m at the smallest n."""
    for loss in _losses(cells):
        rest = (complexities.largest(loss), settings.delta)
        # The bound of Sauer and Massart has logarithms; the form in the paper shows the rates.
        queries_d, documents_d = (
            two_layer.vc(complexities.vc_dimension, settings.c1)
            if loss == pair_losses.ZERO_ONE
            else complexities.of(loss, layer)
            for layer in ("queries", "documents")
        )
        for n, m in settings.axes["documents"]:
            queries = two_layer.query_layer(n, queries_d, *rest)
            # All documents together are documents of many queries: their pairs are like those of the layer of queries.
            pooled = two_layer.pooled_document_layer(n, m, queries_d, *rest)
            yield Older(
                loss=loss,
                queries=n,
                documents=m,
                gap=mean_interval(centred_gaps(cells[loss, n, m])),
                document_level=two_layer.document_layer([n * m], queries_d, *rest).total,
                query_level=queries.total,
                two_layer=two_layer.bound([m] * n, queries_d, *rest, documents_d).total,
                two_layer_pooled=queries.total + pooled.total,
            )


def _remaining(
    settings: GapsSettings, complexities: Complexities, cells: Cells, older: Sequence[Older]
) -> Iterator[Remaining]:
    """The shares of the gap and of the bounds that remain as n or m grows alone, for every loss with a gap."""
    for loss, axis, places, x, gaps in _lines(settings, cells):
        few, many = gaps[:, 0], gaps[:, -1]
        if few.mean() <= 0.0:
            continue
        first, *_, last = (row for row in older if row.loss == loss)
        of_documents = [complexities.layers(loss, *place)[1].total for place in (places[0], places[-1])]
        along_m = ("query_level", "document_level", "two_layer") if axis == "documents" else ()
        yield Remaining(
            loss=loss,
            growing=axis,
            queries=places[-1][0],
            documents=places[-1][1],
            gap=ratio_interval(many, few),
            limit=ratio_interval(limits_at_infinity(x, gaps), few),
            document_layer_bound=of_documents[1] / of_documents[0],
            **{f"{name}_bound": getattr(last, name) / getattr(first, name) for name in along_m},
        )


EXPERIMENT = Experiment(
    GapsSettings,
    Step(
        "gaps_slice",
        measure,
        rows=(Measured,),
        divided={"slice": lambda settings: range(settings.slices)},
        surrogates=SURROGATES,
        cost=Cost(2.0, start_mb=800.0),
        seconds=lambda settings, cell: (
            1.4e-5 * settings.repetitions / settings.slices * sum(n * m for n, m in settings.cells)
        ),
    ),
    Step(
        "gaps",
        join,
        reads=(Measured,),
        rows=(Gap, Older, Remaining),
        surrogates=SURROGATES,
        seconds=lambda settings, cell: 7e-7 * settings.draws * sum(settings.queries) * sum(settings.documents),
    ),
)
