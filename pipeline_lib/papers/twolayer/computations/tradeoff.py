"""How is a fixed number of documents best spread over queries, and is that what the formula for n* predicts?

`twolayer`, discussion 3: C documents, n = C/m queries with m documents each. Rankers are trained for every m and their
true pairwise 0-1 error is measured: on the two-layer population, and on data sets by taking m documents of each of n
training queries and testing on all documents of the test queries.

The measured optimum is also compared with C/m, where m follows from the variance of the gradients on the population
(``theory.judging_depth``).
"""

from __future__ import annotations

import logging
import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from pipeline_lib import progress
from pipeline_lib.arrays import Floats
from pipeline_lib.claims.evidence import Interval
from pipeline_lib.papers.twolayer.computations import depth, risks
from pipeline_lib.papers.twolayer.computations.complexities import ZERO_ONE
from pipeline_lib.papers.twolayer.computations.intervals import LEVEL, columns, mean_interval
from pipeline_lib.ranking_data import RankingData, Standardisation
from pipeline_lib.seeds import generator
from pipeline_lib.sources.population import Population, PopulationSettings
from pipeline_lib.theory import pair_losses, two_layer

if TYPE_CHECKING:
    from pipeline_lib.papers.twolayer.experiments.tradeoff import TradeoffSettings

_LOG = logging.getLogger(__name__)

Row = Mapping[str, Any]

POPULATION = "population"
# Bootstrap samples of repetitions behind the interval of the best split.
RESAMPLES = 2000
# So many neighbouring splits are compared with the extremes as one, which halves the variance of a difference.
NEIGHBOURS = 3
# Half of a 95 % interval in standard errors, for means over many queries.
NORMAL = 1.96


@dataclass(frozen=True)
class Fold:
    """One fold of a data set: its name and number, the queries that may be judged, and those that measure errors."""

    dataset: str
    number: int
    train: RankingData
    test: RankingData


@dataclass(frozen=True)
class Results:
    """Rows of the two tables."""

    tradeoff: list[dict[str, Any]]
    best: list[dict[str, Any]]


def measure(settings: TradeoffSettings, folds: Iterable[Fold], seed: int, part: int) -> list[dict[str, Any]]:
    """Measure the repetitions of slice ``part``, which counts from 0: one row for every place, repetition and split."""
    rows = _on_population(settings, seed, part)
    for fold in folds:
        rows += _on_data(settings, fold, seed, part)
    return rows


def _on_population(settings: TradeoffSettings, seed: int, part: int) -> list[dict[str, Any]]:
    population = Population(PopulationSettings.from_mapping(settings.population))
    loss, measured = pair_losses.get(settings.loss), pair_losses.get(ZERO_ONE)
    features = population.settings.features
    best = _reference(settings, population, seed)
    rows = []
    for repetition in progress.counted(range(part, settings.repetitions, settings.slices), _LOG, "repetitions"):
        # Splits differ by less than the error of a pool, so that every repetition has another; intervals contain it.
        rng = generator(seed, "twolayer-tradeoff", "pool", repetition, role="truth")
        pool = risks.Pool.of(population.draw(settings.risk_queries, rng, 2))
        for budget in settings.budgets:
            rng = generator(seed, "twolayer-tradeoff", POPULATION, budget, repetition, role="train")
            splits = settings.splits(budget)
            weights, training = [], []
            for n, m in splits:
                sample = population.draw(n, rng, m).in_role("train")
                weights.append(risks.fitted(sample, loss, settings.radius)[0])
                training.append(risks.empirical(sample, measured, weights[-1]))
            errors, _ = pool.risk(measured, np.column_stack([*weights, best]))
            place = {"dataset": POPULATION, "features": features, "budget": budget, "fold": 0}
            rows += _rows({**place, "repetition": repetition}, splits, errors[:-1], training, float(errors[-1]))
    return rows


def _reference(settings: TradeoffSettings, population: Population, seed: int) -> Floats:
    rng = generator(seed, "twolayer-tradeoff", "best", role="reference")
    return risks.best_ranker(
        population, pair_losses.get(settings.loss), settings.radius, settings.reference_queries, rng
    )


def _depth_by_variance(settings: TradeoffSettings, seed: int) -> Interval | None:
    """The best number of documents per query on the population by the variance of gradients."""
    population = Population(PopulationSettings.from_mapping(settings.population))
    w, rng = _reference(settings, population, seed), generator(seed, "twolayer-tradeoff", "variance")
    loss = pair_losses.get(settings.loss)
    best = depth.by_variance(population, loss, settings.radius, w, settings.variance_queries, rng)
    if best is None:
        return None
    half = NORMAL * best.standard_error
    return Interval(best.estimate, best.estimate - half, best.estimate + half)


def _on_data(settings: TradeoffSettings, fold: Fold, seed: int, part: int) -> list[dict[str, Any]]:
    scaling = Standardisation.of(fold.train)
    train, test = (_scaled(scaling.apply(data)) for data in (fold.train, fold.test))
    test = test.take(np.flatnonzero(test.documents_per_query >= 2))
    loss, measured = pair_losses.get(settings.loss), pair_losses.get(ZERO_ONE)
    rows = []
    repetitions = range(part, settings.data_repetitions, settings.slices)
    for repetition in progress.counted(repetitions, _LOG, f"repetitions on {fold.dataset}, fold {fold.number},"):
        for budget in settings.data_budgets:
            rng = generator(seed, "twolayer-tradeoff", fold.dataset, fold.number, budget, repetition)
            eligible = np.flatnonzero(train.documents_per_query >= budget // 2)
            if len(eligible) < budget // 2:
                continue
            splits, errors, training = settings.data_splits(budget), [], []
            for n, m in splits:
                sample = train.take(rng.choice(eligible, n, replace=False)).subsample_documents(m, rng)
                w, _ = risks.fitted(sample.in_role("train"), loss, settings.data_radius)
                errors.append(risks.empirical(test.in_role("test"), measured, w))
                training.append(risks.empirical(sample, measured, w))
            place = {"dataset": fold.dataset, "features": train.n_features, "budget": budget, "fold": fold.number}
            rows += _rows({**place, "repetition": repetition}, splits, errors, training, None)
    return rows


def _scaled(data: RankingData) -> RankingData:
    return replace(data, X=(data.X / math.sqrt(data.n_features)).astype(np.float32))


def _rows(
    place: Mapping[str, Any],
    splits: Sequence[tuple[int, int]],
    errors: Sequence[float] | Floats,
    training: Sequence[float],
    reference_error: float | None,
) -> list[dict[str, Any]]:
    return [
        {
            **place,
            "queries": n,
            "documents": m,
            "error": float(error),
            "training_error": on_sample,
            "reference_error": reference_error,
        }
        for (n, m), error, on_sample in zip(splits, errors, training, strict=True)
    ]


def join(settings: TradeoffSettings, rows: Iterable[Row], seed: int) -> Results:
    """The two tables from the rows of all slices."""
    places: dict[tuple[str, int, int], dict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
    references: dict[tuple[str, int, int], dict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
    trainings: dict[tuple[str, int, int], dict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
    for row in sorted(rows, key=lambda row: (row["fold"], row["repetition"], row["documents"])):
        place = row["dataset"], row["features"], row["budget"]
        places[place][row["documents"]].append(row["error"])
        trainings[place][row["documents"]].append(row["training_error"])
        if row["reference_error"] is not None:
            references[place][row["documents"]].append(row["reference_error"])
    tradeoff, best = [], []
    by_variance = _depth_by_variance(settings, seed)
    for (dataset, features, budget), by_documents in sorted(places.items()):
        errors = {m: np.array(measured) for m, measured in by_documents.items()}
        repetitions = len(errors[2])
        terms = [two_layer.even_bound(budget / m, budget, features, settings.delta, settings.c1).total for m in errors]
        on: dict[str, Any] = {"dataset": dataset, "features": features, "budget": budget}
        for (m, measured), bound in zip(errors.items(), terms, strict=True):
            error = mean_interval(measured)
            split: dict[str, Any] = {"queries": budget // m, "documents": m, "repetitions": repetitions, "bound": bound}
            known = references[dataset, features, budget].get(m)
            excess = None if known is None else mean_interval(measured - np.array(known))
            split |= {"error": error.value, "low": error.low, "high": error.high}
            tradeoff.append({**on, **split, **columns("excess", excess)})
        rng = generator(seed, "twolayer-tradeoff", "bootstrap", dataset, budget)
        predicted = two_layer.budget(budget, features, settings.delta, settings.c1).queries
        one = {**_compared(errors), "best_queries": _best_queries(errors, budget, rng), "predicted_queries": predicted}
        training = {m: np.array(measured) for m, measured in trainings[dataset, features, budget].items()}
        on_samples = {f"training_{name}": value for name, value in _compared(training).items()}
        judged = by_variance if dataset == POPULATION else None
        best.append(
            {**on, "repetitions": repetitions, **_flat({**one, **on_samples}), **columns("variance_documents", judged)}
        )
    return Results(tradeoff, best)


def _compared(errors: Mapping[int, Floats]) -> dict[str, float | Interval]:
    """The errors at both extremes and of the best inner splits, with intervals of their paired differences from these.

    The inner splits are three neighbours, whose errors are averaged: where the average is less than the error of an
    extreme, at least one of the three is better. They are chosen on every other repetition and measured on the rest,
    and the other way round, so that no repetition judges a choice to which it contributed.
    """
    numbers = list(errors)
    inner_splits = np.array([errors[m] for m in numbers[1:-1]])
    width = min(NEIGHBOURS, len(inner_splits))
    groups = np.array([inner_splits[i : i + width].mean(axis=0) for i in range(len(inner_splits) - width + 1)])
    inner = np.empty(groups.shape[1])
    for half in (0, 1):
        inner[1 - half :: 2] = groups[np.argmin(groups[:, half::2].mean(axis=1)), 1 - half :: 2]
    level = float(inner.mean())
    return {
        "error_deepest": _shifted(mean_interval(errors[numbers[-1]] - inner), level),
        "error_inner": level,
        "error_shallowest": _shifted(mean_interval(errors[numbers[0]] - inner), level),
    }


def _best_queries(errors: Mapping[int, Floats], budget: int, rng: np.random.Generator) -> Interval:
    """The n of the smallest mean error, with its bootstrap interval over the repetitions."""
    numbers, measured = np.array(list(errors)), np.array(list(errors.values()))
    repetitions = measured.shape[1]
    shares = rng.multinomial(repetitions, np.full(repetitions, 1.0 / repetitions), RESAMPLES)
    again = budget // numbers[np.argmin(measured @ shares.T, axis=0)]
    tail = (1.0 - LEVEL) / 2.0
    low, high = np.quantile(again, [tail, 1.0 - tail], method="nearest")
    best = float(budget // numbers[np.argmin(measured.mean(axis=1))])
    return Interval(best, min(best, float(low)), max(best, float(high)))


def _shifted(difference: Interval, level: float) -> Interval:
    return Interval(level + difference.value, level + difference.low, level + difference.high)


def _flat(values: Mapping[str, float | Interval]) -> dict[str, float | None]:
    flat: dict[str, float | None] = {}
    for name, value in values.items():
        flat |= columns(name, value) if isinstance(value, Interval) else {name: value}
    return flat
