"""How is a fixed number of documents best spread over queries, and is that what the formula for n* predicts?

`twolayer`, discussion 3: C documents, n = C/m queries with m documents each. Rankers are trained for every m and their
true pairwise 0-1 error is measured: on the two-layer population, and on data sets by taking m documents of each of n
training queries and testing on all documents of the test queries.
"""

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import Annotated, Any, NamedTuple, Self

import numpy as np
from annotated_types import Ge
from pydantic import model_validator

from pipeline_lib.core import progress
from pipeline_lib.core.arrays import Floats
from pipeline_lib.core.cost import Cost
from pipeline_lib.core.seeds import generator
from pipeline_lib.core.settings import Jobs, Positive, Probability, Rising, Settings, Several, Sizes, Whole, at_least
from pipeline_lib.data.ranking_data import RankingData, Standardisation
from pipeline_lib.data.rows import Count, Field, FromOne, FromZero, Interval, OnlyInterval, Proportion, Row
from pipeline_lib.experiment import EVERY, Experiment, Job, Step
from pipeline_lib.papers.twolayer import risks
from pipeline_lib.papers.twolayer.risks import SURROGATES, Loss
from pipeline_lib.sources.population_settings import WithoutDocuments
from pipeline_lib.statistics import LEVEL, mean_interval
from pipeline_lib.theory import pair_losses, two_layer

POPULATION = "population"
# Bootstrap samples of repetitions behind the interval of the best split.
RESAMPLES = 2000
# So many neighbouring splits are compared with the extremes as one, which halves the variance of a difference.
NEIGHBOURS = 3

Budgets = Annotated[Rising, at_least(6)]


class TradeoffSettings(Settings):
    """Deep compared with shallow judging: C documents, distributed over n queries."""

    population: WithoutDocuments = Field(risks.POPULATION, description="overrides of population defaults, as in gaps")
    loss: Loss = Field("logistic", description="loss used in training")
    radius: Positive = Field(3.0, description="W, the radius of the class ||w|| <= W, on the population")
    data_radius: Positive = Field(10.0, description="W on data sets, for standardised features divided by sqrt(d)")
    delta: Probability = Field(0.05, description="delta in the bound that determines n*")
    c1: Positive = Field(1.0, description="c1 in the bound that determines n*")
    budgets: Budgets = Field((120, 480, 1920), description="values of C, the total documents, on the population")
    data_budgets: Budgets = Field(
        (60,), description="values of C on data sets; a data set needs at least C/2 queries with at least C/2 documents"
    )
    documents: Sizes = Field(
        (2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 24, 30, 40, 60, 120, 240, 480, 960),
        description="values of m, the number of documents per query; used where m divides C",
    )
    data_documents: Sizes = Field((2, 4, 6, 10, 15, 30), description="values of m on data sets; used where m divides C")
    repetitions: Annotated[Whole, Ge(4)] = Field(200, description="repetitions on the population")
    data_repetitions: Annotated[Whole, Ge(4)] = Field(240, description="repetitions on every fold of a data set")
    risk_queries: Several = Field(50000, description="fresh queries in every repetition, for the true error")
    reference_queries: Whole = Field(20000, description="queries that determine the ranker that excess errors refer to")
    slices: Jobs = Field(3, description="jobs among which the repetitions are divided")

    @model_validator(mode="after")
    def _budgets_are_split(self) -> Self:
        tried = [("documents", self.documents, budget) for budget in self.budgets]
        tried += [("data_documents", self.data_documents, budget) for budget in self.data_budgets]
        for name, documents, budget in tried:
            m = [of_query for _, of_query in splits(budget, documents)]
            if len(m) < 3 or (m[0], 2 * m[-1]) != (2, budget):
                between = f"2, {budget // 2} and a divisor between them"
                raise ValueError(f"{name}: expected {between} for the budget {budget}, found {m}")
        return self


def splits(budget: int, documents: Sequence[int]) -> list[tuple[int, int]]:
    """(n, m) with n m = C for these m, from the shallowest to the deepest with two queries or more."""
    return [(budget // m, m) for m in documents if budget % m == 0 and budget // m >= 2]


class Place(Row):
    """Data and the size of the samples that are drawn from them."""

    dataset: str = Field(description="data set, or population")
    features: FromOne = Field(description="features, V of linear scores")
    budget: FromOne = Field(description="C, documents of a training sample")


class Measured(
    Place,
    table="slices/twolayer-tradeoff/{slice}",
    key=("dataset", "budget", "fold", "repetition", "queries", "documents"),
    always=("queries * documents <= budget",),
):
    """The error of one ranker, trained in one repetition with one split of a budget."""

    fold: Count = Field(description="fold of the data set, from 1; 0 on the population")
    repetition: Count = Field(description="the repetition, from 0")
    queries: FromOne = Field(description="n, queries of the training sample")
    documents: FromOne = Field(description="m, documents of each query")
    error: Proportion = Field(description="pairwise 0-1 error on fresh queries, or on the test queries of the fold")
    training_error: Proportion = Field(description="pairwise 0-1 error on the training sample")
    reference_error: Proportion | None = Field(
        description="of the best ranker on the same queries; missing on data sets"
    )


class Split(
    Place,
    table="tables/twolayer-tradeoff",
    key=("dataset", "budget", "queries", "documents"),
    always=("queries * documents <= budget", "0 <= error <= 1"),
):
    """The error of rankers trained with one split of a budget."""

    queries: FromOne = Field(description="n, queries of a training sample")
    documents: FromOne = Field(description="m, documents of each query")
    repetitions: FromOne = Field(description="samples in the means, over all folds")
    error: OnlyInterval = Field(description="mean pairwise 0-1 error on other queries, 95 % interval")
    excess: Interval | None = Field(description="error minus that of the best ranker; missing on data sets")


class Best(Place, table="tables/twolayer-best-splits", key=("dataset", "budget")):
    """The best split of a budget, compared with both extremes and with what is predicted.

    The level of each error of an extreme is that of the inner splits; its interval is that of their paired difference.
    """

    repetitions: FromOne = Field(description="samples in the means, over all folds")
    error_deepest: Interval = Field(description="error of the split with the most documents per query")
    error_shallowest: Interval = Field(description="error of the split with two documents per query")
    error_inner: Proportion = Field(description="of the best neighbouring splits inside, chosen on other repetitions")
    best_queries: Interval = Field(description="n of the smallest mean error, with its bootstrap interval")
    predicted_queries: FromZero = Field(description="n* of the paper")
    training_error_deepest: Interval = Field(description="as error_deepest, of errors on the training samples")
    training_error_shallowest: Interval = Field(description="as error_shallowest, of errors on the training samples")
    training_error_inner: Proportion = Field(description="as error_inner, of errors on the training samples")


@dataclass(frozen=True)
class Fold:
    """One fold of a data set: its name and number, the queries that may be judged, and those that measure errors."""

    dataset: str
    number: int
    train: RankingData
    test: RankingData


def measure(job: Job) -> Iterator[Measured]:
    """Measure the repetitions of one slice: one row for every place, repetition and split."""
    part = int(job.cell["slice"])
    yield from _on_population(job.settings, job.seed, part)
    for path in job.documents:
        dataset = path.parent.name
        for number in job.facts["folds"][dataset]:
            fold = Fold(dataset, number, *job.parts(dataset, number, ("train", "test")))
            yield from on_data(job.settings, fold, job.seed, part)


def _on_population(settings: TradeoffSettings, seed: int, part: int) -> Iterator[Measured]:
    population = risks.population(settings.population)
    loss, measured = pair_losses.get(settings.loss), pair_losses.get(pair_losses.ZERO_ONE)
    rng = generator(seed, "twolayer-tradeoff", "best", role="reference")
    best = risks.best_ranker(population, loss, settings.radius, settings.reference_queries, rng)
    for repetition in progress.counted(range(part, settings.repetitions, settings.slices), "repetitions"):
        # Splits differ by less than the error of a pool, so that every repetition has another; intervals contain it.
        rng = generator(seed, "twolayer-tradeoff", "pool", repetition, role="truth")
        pool = risks.Pool.of(population.draw(settings.risk_queries, rng, 2))
        for budget in settings.budgets:
            rng = generator(seed, "twolayer-tradeoff", POPULATION, budget, repetition, role="train")
            sizes = splits(budget, settings.documents)
            samples = [population.draw(n, rng, m) for n, m in sizes]
            weights = [risks.fitted(sample, loss, settings.radius)[0] for sample in samples]
            (*errors, least), _ = pool.risk(measured, np.column_stack([*weights, best]))
            for (n, m), sample, w, error in zip(sizes, samples, weights, errors, strict=True):
                yield Measured(
                    dataset=POPULATION,
                    features=population.settings.features,
                    budget=budget,
                    fold=0,
                    repetition=repetition,
                    queries=n,
                    documents=m,
                    error=error,
                    training_error=risks.empirical(sample, measured, w, "train"),
                    reference_error=least,
                )


def on_data(settings: TradeoffSettings, fold: Fold, seed: int, part: int) -> Iterator[Measured]:
    """Measure the repetitions of one slice on one fold."""
    train, test = (
        replace(data, X=(data.X / math.sqrt(data.n_features)).astype(np.float32))
        for data in map(Standardisation.of(fold.train).apply, (fold.train, fold.test))
    )
    test = test.take(np.flatnonzero(test.documents_per_query >= 2))
    loss, measured = pair_losses.get(settings.loss), pair_losses.get(pair_losses.ZERO_ONE)
    repetitions = range(part, settings.data_repetitions, settings.slices)
    for repetition in progress.counted(repetitions, f"repetitions on {fold.dataset}, fold {fold.number},"):
        for budget in settings.data_budgets:
            rng = generator(seed, "twolayer-tradeoff", fold.dataset, fold.number, budget, repetition)
            eligible = np.flatnonzero(train.documents_per_query >= budget // 2)
            if len(eligible) < budget // 2:
                continue
            for n, m in splits(budget, settings.data_documents):
                sample = train.take(rng.choice(eligible, n, replace=False)).subsample_documents(m, rng)
                w, _ = risks.fitted(sample, loss, settings.data_radius)
                yield Measured(
                    dataset=fold.dataset,
                    features=train.n_features,
                    budget=budget,
                    fold=fold.number,
                    repetition=repetition,
                    queries=n,
                    documents=m,
                    error=risks.empirical(test, measured, w, "test"),
                    training_error=risks.empirical(sample, measured, w, "train"),
                    reference_error=None,
                )


def join(job: Job) -> Iterator[Row]:
    """The two tables from the rows of all slices."""
    settings = job.settings
    places: dict[tuple[str, int, int], dict[int, list[Measured]]] = defaultdict(lambda: defaultdict(list))
    for row in sorted(job.rows(Measured), key=attrgetter("fold", "repetition", "documents")):
        places[row.dataset, row.features, row.budget][row.documents].append(row)
    for (dataset, features, budget), by_documents in sorted(places.items()):
        errors, training = (
            {m: np.array([getattr(row, name) for row in rows]) for m, rows in by_documents.items()}
            for name in ("error", "training_error")
        )
        place: dict[str, Any] = {"dataset": dataset, "features": features, "budget": budget}
        place["repetitions"] = len(errors[2])
        for m, rows in by_documents.items():
            known = [row.reference_error for row in rows if row.reference_error is not None]
            yield Split(
                **place,
                queries=budget // m,
                documents=m,
                error=mean_interval(errors[m]),
                excess=mean_interval(errors[m] - np.array(known)) if known else None,
            )
        rng = generator(job.seed, "twolayer-tradeoff", "bootstrap", dataset, budget)
        yield Best(
            **place,
            **{f"error_{end}": error for end, error in compared(errors)._asdict().items()},
            best_queries=best_queries(errors, budget, rng),
            predicted_queries=two_layer.budget(budget, features, settings.delta, settings.c1).queries,
            **{f"training_error_{end}": error for end, error in compared(training)._asdict().items()},
        )


class Compared(NamedTuple):
    """The errors at both extremes, with intervals of their paired differences from the best inner splits."""

    deepest: Interval
    shallowest: Interval
    inner: float


def compared(errors: Mapping[int, Floats]) -> Compared:
    """Compare the extremes with the best inner splits, by the errors of every m in all repetitions.

    The inner splits are three neighbours, whose errors are averaged: where the average is less than the error of an
    extreme, at least one of the three is better. They are chosen on every other repetition and measured on the rest,
    and the other way round, so that no repetition judges a choice to which it contributed.
    """
    shallowest, *between, deepest = errors.values()
    inner_splits, width = np.array(between), min(NEIGHBOURS, len(between))
    groups = np.array([inner_splits[i : i + width].mean(axis=0) for i in range(len(between) - width + 1)])
    inner = np.empty(groups.shape[1])
    for half in (0, 1):
        inner[1 - half :: 2] = groups[np.argmin(groups[:, half::2].mean(axis=1)), 1 - half :: 2]
    level = float(inner.mean())

    def shifted(difference: Interval) -> Interval:
        return Interval(level + difference.value, level + difference.low, level + difference.high)

    return Compared(shifted(mean_interval(deepest - inner)), shifted(mean_interval(shallowest - inner)), level)


def best_queries(errors: Mapping[int, Floats], budget: int, rng: np.random.Generator) -> Interval:
    """The n of the smallest mean error, with its bootstrap interval over the repetitions."""
    numbers, measured = np.array(list(errors)), np.array(list(errors.values()))
    repetitions = measured.shape[1]
    shares = rng.multinomial(repetitions, np.full(repetitions, 1.0 / repetitions), RESAMPLES)
    again = budget // numbers[np.argmin(measured @ shares.T, axis=0)]
    tail = (1.0 - LEVEL) / 2.0
    low, high = np.quantile(again, [tail, 1.0 - tail], method="nearest")
    best = float(budget // numbers[np.argmin(measured.mean(axis=1))])
    return Interval(best, min(best, float(low)), max(best, float(high)))


EXPERIMENT = Experiment(
    TradeoffSettings,
    Step(
        "tradeoff_slice",
        measure,
        rows=(Measured,),
        divided={"slice": lambda settings: range(settings.slices)},
        documents=EVERY,
        with_folds=True,
        facts=["folds"],
        surrogates=SURROGATES,
        cost=Cost(2.0, start_mb=800.0),
        seconds=lambda settings, cell: 1e-4 * settings.repetitions / settings.slices * sum(settings.budgets),
    ),
    Step(
        "tradeoff", join, reads=(Measured,), rows=(Split, Best), surrogates=SURROGATES, cost=Cost(0.8, start_mb=500.0)
    ),
)
