"""With which powers of queries and documents does the worst gap fall, and does the budget that follows make it smaller?

`twolayer`, discussion 3, advises fewer queries with more documents each for larger classes, because n* falls with the
capacity. Whether that makes the worst gap smaller is measured within the first budget, and computed for a class whose
rankers differ in their variances (:mod:`pipeline_lib.papers.twolayer.rates.mixed`).

The rankers with weights -1 and 1 (:mod:`pipeline_lib.papers.twolayer.sign_rankers`) have a worst gap that is known on
every sample, and variances that are known exactly. In the populations that *differ*, queries concern different
features; in the one that is *alike*, all queries concern the same feature in the same way. Two lines are measured:
queries grow at two documents each, and documents grow, from many on, at a fixed number of queries.
"""

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Annotated, Any, Self

import numpy as np
from annotated_types import Ge, Lt
from numpy.typing import NDArray
from pydantic import model_validator

from pipeline_lib.core.arrays import Floats
from pipeline_lib.core.cost import Cost
from pipeline_lib.core.seeds import generator
from pipeline_lib.core.settings import (
    Positive,
    Probability,
    Rising,
    Settings,
    Several,
    Sizes,
    Whole,
    at_least,
    no_fewer_than,
)
from pipeline_lib.data.rows import Field, FromOne, FromZero, Interval, Proportion, Row
from pipeline_lib.experiment import Cell, Experiment, Job, Step
from pipeline_lib.papers.twolayer.rates import mixed
from pipeline_lib.papers.twolayer.sign_rankers import Signs, are_counted, even_lists
from pipeline_lib.statistics import fit_exponent, mean_interval, needed_for_quantile, quantile_interval
from pipeline_lib.theory import two_layer, two_layer_rates
from pipeline_lib.theory.two_layer_rates import Variances

SHORTEST = 2
DIFFER, ALIKE = "differ", "alike"
QUERIES, DOCUMENTS, UNEQUAL = "queries", "documents", "unequal lists"
PRINTED, CORRECTED = "printed", "corrected"


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
    documents: Annotated[Sizes, no_fewer_than(3, "for an exponent")] = Field(
        (64, 256, 1024, 4096), description="values of m, the number of documents of every query"
    )
    fixed_queries: Several = Field(100, description="queries when documents grow")
    repetitions: Annotated[Whole, Ge(100)] = Field(600, description="samples for every n and m")
    budgets: Annotated[Rising, at_least(8)] = Field((1920,), description="values of C, the total number of documents")
    tried: Sizes = Field((2, 3, 4, 6, 8, 16), description="further values of m, documents per query, within a budget")
    planned_capacities: Annotated[Rising, no_fewer_than(2, "to compare")] = Field(
        (1, 4, 16), description="values of the capacity whose plans by Theorem 1 are tried on all of them"
    )
    planned_documents: Sizes = Field((2, 3, 4, 6, 8, 16, 32), description="further values of m there")
    rankers_by_documents: Annotated[Rising, no_fewer_than(2, "to compare")] = Field(
        (1, 10, 100, 1000), description="numbers of rankers that documents decide, beside one that queries decide"
    )
    plan_repetitions: Several = Field(1000, description="samples for every plan")
    delta: Probability = Field(0.05, description="bounds hold with probability 1 - delta")
    c1: Positive = Field(1.0, description="c1 in the bound of Theorem 1, for its plan")

    @model_validator(mode="after")
    def _documents_are_within_the_budgets(self) -> Self:
        for name, longest in (("tried", self.tried[-1]), ("planned_documents", self.planned_documents[-1])):
            if 2 * longest > self.budgets[0]:
                raise ValueError(f"{name}: expected at most half the budget {self.budgets[0]}, found {longest}")
        return self

    @model_validator(mode="after")
    def _repetitions_suffice_for_quantiles(self) -> Self:
        needed, found = needed_for_quantile(1.0 - self.delta), self.repetitions
        if found < needed:
            raise ValueError(f"repetitions: expected at least {needed} for delta = {self.delta:g}, found {found}")
        return self


class Line(Row):
    """A class of rankers, and what grows from sample to sample."""

    queries_are: str = Field(description="differ, where queries concern different features, or alike")
    turned_share: Proportion = Field(
        description="share of the queries whose documents without the feature are relevant"
    )
    capacity: FromOne = Field(description="features of the rankers with weights -1 and 1")
    growing: str = Field(description="what grows along the line: queries, documents, or unequal lists for one sample")


class Rate(
    Line,
    table="tables/twolayer-rates",
    key=("queries_are", "turned_share", "capacity", "growing", "queries", "documents", "longest"),
    always=(
        "documents <= longest",
        "bound = deviation + remainder",
        "printed = query_complexity + query_concentration + document_complexity + document_concentration",
    ),
):
    """The worst gap of one class on samples of one size, and the bounds for it."""

    queries: FromOne = Field(description="n, queries of a sample")
    documents: FromOne = Field(description="documents of its shortest list")
    longest: FromOne = Field(description="documents of its longest list")
    repetitions: FromOne = Field(description="samples in the mean")
    gap: Interval = Field(description="largest expected minus training risk of the class, mean with 95 % interval")
    exceeded: Interval = Field(description="number that the gap exceeds with probability delta, with 95 % interval")
    deviation: FromZero = Field(description="first term of the bound with the true rates, sqrt(2 S log(N/delta)/n)")
    remainder: FromZero = Field(description="its second term, M log(N/delta)/(3 n)")
    bound: float = Field(description="bound with the true rates, the sum of both terms")
    log_rankers: FromZero = Field(description="log N, of the number of rankers")
    deviation_of_documents: FromZero = Field(description="deviation if queries contributed nothing to the variance S")
    query_complexity: FromZero = Field(description="first term of Theorem 1, with D of Massart's lemma")
    query_concentration: FromZero = Field(description="second term of Theorem 1, of the fluctuation between queries")
    document_complexity: FromZero = Field(description="third term of Theorem 1, with D of Massart's lemma")
    document_concentration: FromZero = Field(
        description="fourth term of Theorem 1, of the fluctuation between documents"
    )
    printed: float = Field(description="Theorem 1, the sum of its four terms")


class Exponent(
    Line, table="tables/twolayer-rate-exponents", key=("queries_are", "turned_share", "capacity", "growing", "fixed")
):
    """The power with which the worst gap of one class falls along one line, and those of the bounds."""

    fixed: FromOne = Field(description="the other")
    exponent: Interval = Field(description="slope of log gap over log number, with 95 % interval")
    of_deviation: float = Field(description="the same of the first term of the bound with the true rates")
    of_printed: float = Field(description="the same of Theorem 1")


class Plan(
    Row,
    table="tables/twolayer-rate-plans",
    key=("budget", "turned_share", "capacity", "plan"),
    always=("queries <= budget",),
):
    """The worst gap of one class where a budget is spread over n queries, and the bounds there."""

    budget: FromOne = Field(description="C, documents of a sample")
    turned_share: Proportion = Field(
        description="share of the queries whose documents without the feature are relevant"
    )
    capacity: FromOne = Field(description="features of the rankers with weights -1 and 1")
    plan: str = Field(description="printed for n* of the paper, corrected for the true rates, or M documents")
    queries: FromOne = Field(description="n, queries among which the documents are divided as evenly as possible")
    gap: Interval = Field(description="largest expected minus training risk of the class, mean with 95 % interval")


class Split(
    Row,
    table="tables/twolayer-capacities",
    key=("budget", "capacity", "planned_for", "queries"),
    always=("queries <= budget",),
):
    """The worst gap of one class where the budget is spread over n queries."""

    budget: FromOne = Field(description="C, documents of a sample")
    capacity: FromOne = Field(description="V, features of the rankers with weights -1 and 1")
    planned_for: FromOne | None = Field(description="capacity for which n is n*; missing for the n of the grid")
    queries: FromOne = Field(description="n, queries among which the documents are divided as evenly as possible")
    gap: Interval = Field(description="largest expected minus training risk of the class, mean with 95 % interval")
    bound: FromZero = Field(description="Theorem 1 with D(k) = c1 sqrt(V/k) and C/n documents for every query")


class Mixed(Row, table="tables/twolayer-mixed", key=("rankers", "documents")):
    """The worst gap of one ranker that queries decide and V that documents decide, within one budget of documents."""

    rankers: FromOne = Field(description="V, rankers that documents decide")
    documents: FromOne = Field(description="m, documents of every query")
    queries: FromOne = Field(description="n, as many queries as the budget has room for")
    gap: float = Field(description="largest expected minus training risk of the class, its expectation")
    bound: FromZero = Field(description="bound with the true rates, one log N for all rankers")
    bound_by_variance: FromZero = Field(description="the same where every kind of rankers has its own log N")


def measure(job: Job) -> Iterator[Row]:
    """Measure the worst gaps along the lines and within the budgets."""
    settings, seed = job.settings, job.seed
    for kind, signs in _populations(settings):
        for growing, fixed, samples in _lines(settings):
            line = {
                "queries_are": kind,
                "turned_share": signs.turned_share,
                "capacity": signs.capacity,
                "growing": growing,
            }
            measured = [_measured(settings, signs, lengths, seed) for lengths in samples]
            rates = [
                _rate(settings, signs, line, lengths, gaps) for lengths, gaps in zip(samples, measured, strict=True)
            ]
            yield from rates
            if growing != UNEQUAL:
                yield _exponent(line, fixed, rates, measured)
        if kind == DIFFER:
            yield from _plans(settings, signs, seed)
    yield from splits(settings, seed)
    yield from _mixed(settings)


def _populations(settings: RatesSettings) -> Iterator[tuple[str, Signs]]:
    for share, capacity in itertools.product(settings.turned_shares, settings.capacities):
        yield DIFFER, Signs(capacity, share, settings.noise)
    yield ALIKE, Signs(1, 0.0, settings.noise)


def _lines(settings: RatesSettings) -> list[tuple[str, int, list[NDArray[np.int64]]]]:
    """What grows, what is fixed, and the lengths of the lists of every sample."""
    n, few, many = settings.fixed_queries, settings.documents[0], settings.documents[-1]
    largest = settings.queries[-1]
    unequal = np.repeat([many, few], [largest - largest // 2, largest // 2])
    return [
        (QUERIES, SHORTEST, [np.full(one, SHORTEST) for one in settings.queries]),
        (DOCUMENTS, n, [np.full(n, one) for one in settings.documents]),
        (UNEQUAL, largest, [unequal]),
    ]


def _measured(settings: RatesSettings, signs: Signs, lengths: NDArray[np.int64], seed: int) -> Floats:
    place = signs.turned_share, signs.capacity, len(lengths), int(lengths[0]), int(lengths[-1])
    return signs.worst_gaps(lengths, settings.repetitions, generator(seed, "twolayer-rates", *place))


def _rate(
    settings: RatesSettings, signs: Signs, line: Mapping[str, Any], lengths: NDArray[np.int64], gaps: Floats
) -> Rate:
    variances, logarithm, delta = signs.variances(), log_rankers(signs), settings.delta
    corrected = two_layer_rates.bound(lengths, variances, logarithm, delta)
    alone = [Variances(0.0, one.documents, one.pairs) for one in variances]
    printed = two_layer.bound(lengths, two_layer.massart(logarithm), 1.0, delta)
    return Rate(
        **line,
        queries=len(lengths),
        documents=int(lengths.min()),
        longest=int(lengths.max()),
        repetitions=len(gaps),
        gap=mean_interval(gaps),
        exceeded=quantile_interval(gaps, gaps, 1.0 - delta),
        **asdict(corrected),
        bound=corrected.total,
        log_rankers=logarithm,
        deviation_of_documents=two_layer_rates.bound(lengths, alone, logarithm, delta).deviation,
        **asdict(printed),
        printed=printed.total,
    )


def log_rankers(signs: Signs) -> float:
    """log N of the class."""
    return signs.capacity * math.log(2.0)


def _exponent(line: Mapping[str, Any], fixed: int, rates: Sequence[Rate], measured: Sequence[Floats]) -> Exponent:
    x = [getattr(rate, line["growing"]) for rate in rates]
    fit = fit_exponent(x, np.column_stack(measured))
    return Exponent(
        **line,
        fixed=fixed,
        exponent=Interval(fit.slope, fit.low, fit.high),
        of_deviation=fit_exponent(x, [rate.deviation for rate in rates]).slope,
        of_printed=fit_exponent(x, [rate.printed for rate in rates]).slope,
    )


def _plans(settings: RatesSettings, signs: Signs, seed: int) -> Iterator[Plan]:
    """The worst gap within a budget with the plans of both bounds, and over a grid."""
    variances, logarithm, delta = signs.variances(), log_rankers(signs), settings.delta
    for budget in settings.budgets:
        printed = two_layer.budget(budget, signs.capacity, delta, settings.c1)
        corrected, _ = two_layer_rates.budget(budget, variances, logarithm, delta)
        grid = {f"{m} documents": budget // m for m in settings.tried}
        for plan, n in {PRINTED: round(printed.queries), CORRECTED: len(corrected), **grid}.items():
            lengths = even_lists(budget, n)
            rng = generator(seed, "twolayer-rates", "plan", signs.turned_share, signs.capacity, budget, n)
            yield Plan(
                budget=budget,
                turned_share=signs.turned_share,
                capacity=signs.capacity,
                plan=plan,
                queries=n,
                gap=mean_interval(signs.worst_gaps(lengths, settings.plan_repetitions, rng)),
            )


def splits(settings: RatesSettings, seed: int) -> Iterator[Split]:
    """The worst gap of every class with the numbers of queries planned for every capacity, and over a grid."""
    budget, plan = settings.budgets[0], (settings.delta, settings.c1)
    planned = {v: round(two_layer.budget(budget, v, *plan).queries) for v in settings.planned_capacities}
    tried = [*planned.items(), *((None, budget // m) for m in settings.planned_documents)]
    for capacity, (planned_for, n) in itertools.product(settings.planned_capacities, tried):
        signs = Signs(capacity, settings.turned_shares[-1], settings.noise)
        rng = generator(seed, "twolayer-capacities", capacity, n)
        yield Split(
            budget=budget,
            capacity=capacity,
            planned_for=planned_for,
            queries=n,
            gap=mean_interval(signs.worst_gaps(even_lists(budget, n), settings.plan_repetitions, rng)),
            bound=two_layer.even_bound(n, budget, capacity, *plan).total,
        )


def _mixed(settings: RatesSettings) -> Iterator[Mixed]:
    def bound(n: int, m: int, log_rankers: float | list[float]) -> float:
        return two_layer_rates.of_even_lists(n, n * m, mixed.KINDS, log_rankers, settings.delta).total

    for rankers, m in itertools.product(settings.rankers_by_documents, settings.tried):
        n = settings.budgets[0] // m
        gaps, probabilities = mixed.worst_gap(n, m, rankers)
        yield Mixed(
            rankers=rankers,
            documents=m,
            queries=n,
            gap=float(gaps @ probabilities),
            bound=bound(n, m, math.log1p(rankers)),
            bound_by_variance=bound(n, m, [0.0, math.log(rankers)]),
        )


def _seconds(settings: RatesSettings, cell: Cell) -> float:
    classes, planned = len(settings.turned_shares) * len(settings.capacities), len(settings.planned_capacities)
    lines = [(len(lengths), int(lengths.max())) for *_, samples in _lines(settings) for lengths in samples]
    # The plans' own numbers of queries are of this order.
    plans = [(budget // m, m) for budget in settings.budgets for m in (*settings.tried, 4, 20)]
    splits = [(settings.budgets[0] // m, m) for m in (*settings.planned_documents, *[4] * planned)]
    samples = (
        ((classes + 1) * settings.repetitions, lines),
        (classes * settings.plan_repetitions, plans),
        (planned * settings.plan_repetitions, splits),
    )
    # A sample takes some time, and some more for every query that is drawn by itself.
    return sum(
        times * (6e-5 + 3e-7 * (0 if are_counted(*size) else size[0])) for times, sizes in samples for size in sizes
    )


EXPERIMENT = Experiment(
    RatesSettings,
    Step("rates", measure, rows=(Rate, Exponent, Plan, Split, Mixed), cost=Cost(2.0, start_mb=500.0), seconds=_seconds),
)
