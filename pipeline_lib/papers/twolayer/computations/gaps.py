"""How far is the training risk from the expected one, and what do queries and documents contribute to the difference?

`twolayer`: Theorems 1, 2 and 3, discussions 1 and 2, and the earlier bounds (sections 2.2 and 2.3), on the two-layer
population. Empirical risk minimisers over ||w|| <= W are trained on n queries with m documents each; then

    gap  R(f) - R^(f)  =  query-layer error  R(f) - R^_n(f)  +  document-layer error  R^_n(f) - R^(f),

where R^_n, the middle risk, is over all documents of the sampled queries. A repetition draws one sample and uses its
first queries and first documents throughout the grid, so that a whole repetition is the unit of every interval.
"""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pipeline_lib import progress
from pipeline_lib.arrays import Floats
from pipeline_lib.claims.evidence import Interval
from pipeline_lib.papers.twolayer.computations import risks
from pipeline_lib.papers.twolayer.computations.complexities import ZERO_ONE, Complexities
from pipeline_lib.papers.twolayer.computations.intervals import (
    columns,
    joint_level,
    limits_at_infinity,
    mean_interval,
    ratio_interval,
)
from pipeline_lib.ranking_data import RankingData
from pipeline_lib.seeds import Stream, generator
from pipeline_lib.sources.population import Population, PopulationSettings
from pipeline_lib.statistics import fit_exponent
from pipeline_lib.theory import pair_losses, two_layer
from pipeline_lib.theory.pair_losses import PairLoss

if TYPE_CHECKING:
    from pipeline_lib.papers.twolayer.experiments.gaps import GapsSettings

_LOG = logging.getLogger(__name__)

Row = Mapping[str, Any]

HINGE = "hinge"
LEVELS = ("query_level", "document_level", "two_layer")


@dataclass(frozen=True)
class Results:
    """Rows of the four tables."""

    gaps: list[dict[str, Any]]
    limits: list[dict[str, Any]]
    older: list[dict[str, Any]]
    remaining: list[dict[str, Any]]


def _population(settings: GapsSettings) -> Population:
    """The population that all samples are drawn from."""
    return Population(PopulationSettings.from_mapping(settings.population))


def measure(settings: GapsSettings, seed: int, part: int) -> list[dict[str, Any]]:
    """Measure the repetitions of slice ``part``, which counts from 0: one row for every repetition, loss, n and m."""
    population = _population(settings)
    rng = generator(seed, "twolayer-gaps", "pool", role="truth")
    pool = risks.Pool.of(population.draw(settings.risk_queries, rng, 2))
    losses = [pair_losses.get(name) for name in settings.losses]
    best = {
        loss.name: risks.best_ranker(
            population,
            loss,
            settings.radius,
            settings.reference_queries,
            generator(seed, "twolayer-gaps", "best", loss.name, role="reference"),
        )
        for loss in losses
    }
    rows = []
    for repetition in progress.counted(range(part, settings.repetitions, settings.slices), _LOG, "repetitions"):
        drawn = _drawn(settings, population, generator(seed, "twolayer-gaps", "sample", repetition, role="train"))
        for loss in losses:
            rows += [
                {"repetition": repetition, **row} for row in _measured(settings, drawn, pool, loss, best[loss.name])
            ]
    return rows


def _measured(
    settings: GapsSettings,
    drawn: Sequence[tuple[RankingData, RankingData]],
    pool: risks.Pool,
    loss: PairLoss,
    best: Floats,
) -> list[dict[str, Any]]:
    """Train with one loss on every sample of a repetition, and measure."""
    rankers = [risks.fitted(data.in_role("train"), loss, settings.radius) for data, _ in drawn]
    weights = np.column_stack([*(w for w, _ in rankers), best])
    rows = []
    for one in [loss] + ([pair_losses.get(ZERO_ONE)] if loss.name == HINGE else []):
        expected, errors = pool.risk(one, weights)
        for column, ((n, m), (data, fresh), (w, certified)) in enumerate(
            zip(settings.cells, drawn, rankers, strict=True)
        ):
            rows.append(
                {
                    "loss": one.name,
                    "queries": n,
                    "documents": m,
                    "empirical": risks.empirical(data.in_role("train"), one, w),
                    "middle": risks.empirical(fresh.in_role("middle"), one, w),
                    "expected": float(expected[column]),
                    "expected_error": float(errors[column]),
                    "best_empirical": risks.empirical(data, one, best),
                    "best_expected": float(expected[-1]),
                    "certified": certified,
                }
            )
    return rows


def _drawn(settings: GapsSettings, population: Population, rng: Stream) -> list[tuple[RankingData, RankingData]]:
    """For every cell its sample, and fresh documents of its queries; the samples are nested in each other."""
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


def join(settings: GapsSettings, rows: Iterable[Row], seed: int) -> Results:
    """Tables from the rows of all slices."""
    cells = _by_cell(rows)
    complexities = Complexities(settings, _population(settings), seed)
    gaps = [_gap(settings, complexities, key, repetitions) for key, repetitions in cells.items()]
    limits = _limits(settings, cells)
    older = _older(settings, complexities, cells)
    return Results(gaps, limits, older, list(_remaining(settings, complexities, cells, older)))


Key = tuple[str, int, int]


def _by_cell(rows: Iterable[Row]) -> dict[Key, list[Row]]:
    cells: dict[Key, list[Row]] = defaultdict(list)
    for row in rows:
        cells[row["loss"], row["queries"], row["documents"]].append(row)
    return {key: sorted(cell, key=lambda row: row["repetition"]) for key, cell in sorted(cells.items())}


def _differences(rows: Sequence[Row], greater: str, lesser: str) -> Floats:
    return np.array([row[greater] - row[lesser] for row in rows])


def centred_gaps(rows: Sequence[Row]) -> Floats:
    """Gaps minus those of the population's best ranker on the same samples: the same expectation, less noise."""
    return _differences(rows, "expected", "empirical") - _differences(rows, "best_expected", "best_empirical")


def _gap(settings: GapsSettings, complexities: Complexities, key: Key, rows: Sequence[Row]) -> dict[str, Any]:
    loss, n, m = key
    bound, (queries, documents) = complexities.bound(loss, n, m), complexities.layers(loss, n, m)
    error = max(row["expected_error"] for row in rows)
    row: dict[str, Any] = {"loss": loss, "queries": n, "documents": m, "repetitions": len(rows)}
    parts = {
        "gap": ("expected", "empirical"),
        "query_error": ("expected", "middle"),
        "document_error": ("middle", "empirical"),
    }
    for name, (greater, lesser) in parts.items():
        values = _differences(rows, greater, lesser)
        row |= {**columns(name, mean_interval(values)), f"{name}_largest": float(values.max())}
    return row | {
        **columns("centred_gap", mean_interval(centred_gaps(rows))),
        "risk_error": error,
        "query_complexity": bound.query_complexity,
        "query_concentration": bound.query_concentration,
        "document_complexity": bound.document_complexity,
        "document_concentration": bound.document_concentration,
        "bound": bound.total,
        "query_bound": queries.total,
        "document_bound": documents.total,
        "largest_loss": complexities.largest(loss),
        "certified": sum(bool(row["certified"]) for row in rows),
    }


def _axes(settings: GapsSettings) -> dict[str, list[tuple[int, int]]]:
    """The two lines through the smallest sample: n grows at the smallest m, and m at the smallest n."""
    n, m = settings.queries[0], settings.documents[0]
    return {
        "queries": [(one, m) for one in (*settings.queries, *settings.more_queries)],
        "documents": [(n, one) for one in (*settings.documents, *settings.more_documents)],
    }


def _limits(settings: GapsSettings, cells: Mapping[Key, Sequence[Row]]) -> list[dict[str, Any]]:
    """For every loss and axis: the limit of the gap, and the exponent with which it falls."""
    rows = []
    losses = list(dict.fromkeys(key[0] for key in cells))
    level = joint_level(2 * len(losses))
    for loss in losses:
        for axis, places in _axes(settings).items():
            x = np.array([place[axis == "documents"] for place in places], np.float64)
            gaps = np.column_stack([centred_gaps(cells[loss, n, m]) for n, m in places])
            row: dict[str, Any] = {"loss": loss, "growing": axis, "fixed": places[0][axis == "queries"]}
            limit, exponent = mean_interval(limits_at_infinity(x, gaps), level), None
            if (gaps.mean(axis=0) > 0.0).all():
                fit = fit_exponent(x, gaps)
                exponent = Interval(fit.slope, fit.low, fit.high)
            rows.append({**row, **columns("limit", limit), **columns("exponent", exponent)})
    return rows


def _older(
    settings: GapsSettings, complexities: Complexities, cells: Mapping[Key, Sequence[Row]]
) -> list[dict[str, Any]]:
    """The three kinds of bound, and the pooled one, along m at the smallest n."""
    rows = []
    for loss in dict.fromkeys(key[0] for key in cells):
        rest = (complexities.largest(loss), settings.delta)
        # The bound of Sauer and Massart has logarithms; the form in the paper shows the rates.
        queries_d, documents_d = (
            two_layer.vc(complexities.vc_dimension, settings.c1) if loss == ZERO_ONE else complexities.of(loss, layer)
            for layer in ("queries", "documents")
        )
        for n, m in _axes(settings)["documents"]:
            gap = mean_interval(centred_gaps(cells[loss, n, m]))
            queries = two_layer.query_layer(n, queries_d, *rest)
            # All documents together are documents of many queries: their pairs are like those of the layer of queries.
            pooled = two_layer.pooled_document_layer(n, m, queries_d, *rest)
            document_level = two_layer.document_layer([n * m], queries_d, *rest)
            rows.append(
                {
                    "loss": loss,
                    "queries": n,
                    "documents": m,
                    "gap": gap.value,
                    "gap_low": gap.low,
                    "gap_high": gap.high,
                    "document_level": document_level.total,
                    "query_level": queries.total,
                    "two_layer": two_layer.bound([m] * n, queries_d, *rest, documents_d).total,
                    "two_layer_pooled": queries.total + pooled.total,
                }
            )
    return rows


def _remaining(
    settings: GapsSettings, complexities: Complexities, cells: Mapping[Key, Sequence[Row]], older: Sequence[Row]
) -> Iterator[dict[str, Any]]:
    """The shares of the gap and of the bounds that remain as n or m grows alone, for every loss with a gap.

    The bound of Theorem 3 is compared along both axes, the earlier bounds along m only, at the smallest n.
    """
    losses = list(dict.fromkeys(key[0] for key in cells))
    for loss in losses:
        for axis, places in _axes(settings).items():
            few, many = (centred_gaps(cells[loss, *place]) for place in (places[0], places[-1]))
            if few.mean() <= 0.0:
                continue
            x = np.array([place[axis == "documents"] for place in places], np.float64)
            limits = limits_at_infinity(x, np.column_stack([centred_gaps(cells[loss, *place]) for place in places]))
            first, *_, last = (row for row in older if row["loss"] == loss)
            of_documents = [complexities.layers(loss, *place)[1].total for place in (places[0], places[-1])]
            along_m = axis == "documents"
            yield {
                "loss": loss,
                "growing": axis,
                "queries": places[-1][0],
                "documents": places[-1][1],
                **columns("gap", ratio_interval(many, few)),
                **columns("limit", ratio_interval(limits, few)),
                "document_layer_bound": of_documents[1] / of_documents[0],
                **{f"{name}_bound": last[name] / first[name] if along_m else None for name in LEVELS},
            }
