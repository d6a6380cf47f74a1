"""How far is the training risk from the expected one, and how do queries and documents share in it?

`twolayer`: Theorems 1, 2 and 3, discussions 1 and 2, and the bounds that stood before (sections 2.2 and 2.3), on the
two-layer population. Empirical risk minimisers over ||w|| <= W are trained on n queries with m documents each; then

    gap  R(f) - R^(f)  =  query-layer error  R(f) - R^_n(f)  +  document-layer error  R^_n(f) - R^(f),

where R^_n, the middle risk, is over all documents of the sampled queries. A repetition draws one sample and uses its
first queries and first documents throughout the grid, so that a whole repetition is the unit of every interval.
"""

from __future__ import annotations

import logging
import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pipeline_lib import progress
from pipeline_lib.arrays import Floats
from pipeline_lib.claims.evidence import Evidence, Interval, Trial
from pipeline_lib.papers.twolayer.computations import risks
from pipeline_lib.ranking_data import RankingData
from pipeline_lib.seeds import generator
from pipeline_lib.sources.population import Population, PopulationSettings
from pipeline_lib.statistics import fit_exponent, over_folds
from pipeline_lib.theory import pair_losses, two_layer
from pipeline_lib.theory.pair_losses import PairLoss
from pipeline_lib.theory.two_layer_rademacher import contracted, disjoint_pairs

if TYPE_CHECKING:
    from pipeline_lib.papers.twolayer.experiments.gaps import GapsSettings

_LOG = logging.getLogger(__name__)

Row = Mapping[str, Any]

GAPS = "tables/twolayer-gaps.parquet"
LIMITS = "tables/twolayer-limits.parquet"
OLDER = "tables/twolayer-older-bounds.parquet"

LEVEL = 0.95
# Pairs behind an estimate of D(k) are drawn in blocks of about this many: 40 MB for 10 features.
PAIRS_PER_BLOCK = 2**18
# Estimates of D(k) are raised by so many standard errors: D must not lie below what it stands for.
SAFETY = 3.0
# A limit is fitted with three coefficients.
FEWEST_ON_A_LINE = 3
ZERO_ONE, HINGE = "zero-one", "hinge"


@dataclass(frozen=True)
class Results:
    """Rows of the three tables, and the evidence."""

    gaps: list[dict[str, Any]]
    limits: list[dict[str, Any]]
    older: list[dict[str, Any]]
    evidence: list[Evidence]


def _population(settings: GapsSettings) -> Population:
    """The population that all samples are drawn from."""
    return Population(PopulationSettings.from_mapping(settings.population))


def measure(settings: GapsSettings, seed: int, part: int) -> list[dict[str, Any]]:
    """Measure the repetitions of one slice, ``part`` from 0: a row for every repetition, loss, n and m."""
    population = _population(settings)
    pool = risks.Pool.of(population.draw(settings.risk_queries, generator(seed, "twolayer-gaps", "pool"), 2))
    losses = [pair_losses.get(name) for name in settings.losses]
    best = {
        loss.name: risks.best_ranker(
            population,
            loss,
            settings.radius,
            settings.reference_queries,
            generator(seed, "twolayer-gaps", "best", loss.name),
        )
        for loss in losses
    }
    rows = []
    for repetition in progress.counted(range(part, settings.repetitions, settings.slices), _LOG, "repetitions"):
        drawn = _drawn(settings, population, generator(seed, "twolayer-gaps", "sample", repetition))
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
    rankers = [risks.fitted(data, loss, settings.radius) for data, _ in drawn]
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
                    "empirical": risks.empirical(data, one, w),
                    "middle": risks.empirical(fresh, one, w),
                    "expected": float(expected[column]),
                    "expected_error": float(errors[column]),
                    "best_empirical": risks.empirical(data, one, best),
                    "best_expected": float(expected[-1]),
                    "certified": certified,
                }
            )
    return rows


def _drawn(
    settings: GapsSettings, population: Population, rng: np.random.Generator
) -> list[tuple[RankingData, RankingData]]:
    """For every cell its sample, and fresh documents of its queries; the samples are nested in each other."""
    queries = population.draw_queries(max(n for n, _ in settings.cells), rng)
    fresh = {n: max(2, settings.middle_documents // n) for n, _ in settings.cells}
    # Many documents are needed of the first queries only: each has as many as the largest of the cells it belongs to.
    lengths, fresh_lengths = (
        np.array([max(documents for n, documents in wanted if n > i) for i in range(len(queries))])
        for wanted in (settings.cells, tuple(fresh.items()))
    )
    data = population.draw_documents(queries, lengths, rng)
    others = population.draw_documents(queries, fresh_lengths, rng)
    return [(risks.first(data, n, m), risks.first(others, n, fresh[n])) for n, m in settings.cells]


def join(settings: GapsSettings, rows: Iterable[Row], seed: int) -> Results:
    """Tables and evidence from the rows of all slices."""
    cells = _by_cell(rows)
    complexities = _Complexities(settings, seed)
    gaps = [_gap(settings, complexities, key, mine) for key, mine in cells.items()]
    limits = _limits(settings, cells)
    older = _older(settings, complexities, cells)
    remaining = tuple(_remaining(settings, cells, older))
    evidence = [
        Evidence("two-thm1", tuple(_theorem_1(gaps)), _noted("two-thm1", gaps, "bound")),
        Evidence("two-thm2", tuple(_theorem_2(gaps)), _noted("two-thm2", gaps, "query_bound")),
        Evidence("two-thm3", tuple(_theorem_3(gaps)), _noted("two-thm3", gaps, "document_bound")),
        Evidence("two-both", tuple(_both(settings, cells, limits)), NOTES["two-both"]),
        Evidence("two-vs-old", remaining, NOTES["two-vs-old"])
        if remaining
        else Evidence("two-vs-old", not_run="No gap was found with the fewest documents, so that none can remain."),
    ]
    return Results(gaps, limits, older, evidence)


CENTRED = "Gaps are less those of the population's best ranker on the same samples, which are 0 in the mean."
MIDDLE = "The middle risk is measured on fresh documents of the sampled queries; intervals do not hold its error."
NOTES = {
    "two-thm1": "The largest gap of all repetitions, with two standard errors of the expected risk, beside the bound "
    "that holds with the required probability. D(k): Sauer and Massart for the 0-1 loss, of the hinge's rankers; for "
    "the others the estimated average of linear rankers, contracted, plus three standard errors.",
    "two-thm2": "The largest error of all repetitions and m. " + MIDDLE,
    "two-thm3": "The largest error of all repetitions. " + MIDDLE,
    "two-both": "Limits are those of gap = limit + b/x + c/x² through the largest x, whole repetitions being the "
    "unit; their intervals hold with 95 % all together. At fixed m the gap of a bounded loss tends to 0 with n, so "
    "that an interval that holds 0, not one below it, contradicts the claim: the empirical risk of lists of m "
    "documents is an average over independent queries without bias. It is the bound that levels off there (errata, "
    "letter R). " + CENTRED,
    "two-vs-old": "What remains when documents grow from the fewest to the most at the smallest n: 1 is all, 0 is "
    "nothing. The bound for independent documents counts all documents together. Losses without "
    "a gap at the fewest documents have no such share. " + CENTRED,
}


def _noted(claim: str, gaps: Sequence[Row], bound: str) -> str:
    telling = sum(row[bound] < row["largest_loss"] for row in gaps)
    return (
        f"{NOTES[claim]} The bound is below the largest loss in {telling} of {len(gaps)} cells; in the others nothing "
        "could break it."
    )


Key = tuple[str, int, int]


def _by_cell(rows: Iterable[Row]) -> dict[Key, list[Row]]:
    cells: dict[Key, list[Row]] = defaultdict(list)
    for row in rows:
        cells[row["loss"], row["queries"], row["documents"]].append(row)
    return {key: sorted(mine, key=lambda row: row["repetition"]) for key, mine in sorted(cells.items())}


def _differences(rows: Sequence[Row], greater: str, lesser: str) -> Floats:
    return np.array([row[greater] - row[lesser] for row in rows])


def centred_gaps(rows: Sequence[Row]) -> Floats:
    """Gaps less those of the population's best ranker on the same samples: the same mean, less noise."""
    return _differences(rows, "expected", "empirical") - _differences(rows, "best_expected", "best_empirical")


def mean_interval(values: Floats, level: float = LEVEL) -> Interval:
    """The mean with its t interval."""
    found = over_folds(values, level=level)
    return Interval(found.mean, found.low, found.high)


def joint_level(intervals: int) -> float:
    """The level of each of so many intervals that hold with 95 % all together (Bonferroni).

    The worst trial decides a claim: with many trials some interval of 95 % would miss by chance.

    Example
    -------
    >>> joint_level(1), joint_level(10)
    (0.95, 0.995)
    """
    return 1.0 - (1.0 - LEVEL) / intervals


class _Complexities:
    """D(k) of every loss in either layer, each estimated once."""

    def __init__(self, settings: GapsSettings, seed: int) -> None:
        self._asked, self._seed = settings, seed
        self._population = _population(settings)
        self._linear: dict[tuple[str, int], float] = {}

    @property
    def vc_dimension(self) -> int:
        """V of linear scores: the number of features."""
        return self._population.settings.features

    def of(self, loss: str, layer: str) -> two_layer.Complexity:
        if loss == ZERO_ONE:
            return two_layer.sauer_massart(self.vc_dimension)
        bound = self._asked.radius * self._population.feature_norm
        return lambda k: contracted(self._linear_average(layer, k), k, pair_losses.get(loss), bound)

    def _linear_average(self, layer: str, k: int) -> float:
        if (layer, k) not in self._linear:
            rng = generator(self._seed, "twolayer-gaps", "complexity", layer, k)
            self._linear[layer, k] = self._estimated(layer, k, rng)
        return self._linear[layer, k]

    def _estimated(self, layer: str, k: int, rng: np.random.Generator) -> float:
        # Pairs of k queries in the layer of queries, k pairs of one query in that of documents; fresh in every draw.
        step = max(1, PAIRS_PER_BLOCK // k)
        blocks = []
        for start in range(0, self._asked.draws, step):
            draws = min(step, self._asked.draws - start)
            data = self._population.draw(*((draws * k, rng, 2) if layer == "queries" else (draws, rng, 2 * k)))
            pairs = disjoint_pairs(data.X64, data.y, data.offsets).differences.reshape(draws, k, -1)
            signs = rng.integers(0, 2, (draws, 1, k)) * 2.0 - 1.0
            blocks.append(np.linalg.norm(signs @ pairs, axis=2)[:, 0])
        lengths = np.concatenate(blocks) * (2.0 * self._asked.radius / k)
        return float(lengths.mean() + SAFETY * lengths.std(ddof=1) / math.sqrt(len(lengths)))

    def bound(self, loss: str, n: int, m: int) -> two_layer.Bound:
        documents = self.of(loss, "documents")
        return two_layer.bound([m] * n, self.of(loss, "queries"), self.largest(loss), self._asked.delta, documents)

    def largest(self, loss: str) -> float:
        return pair_losses.get(loss).largest(self._asked.radius * self._population.feature_norm)

    def layers(self, loss: str, n: int, m: int) -> tuple[two_layer.Layer, two_layer.Layer]:
        rest = (self.largest(loss), self._asked.delta)
        queries = two_layer.query_layer(n, self.of(loss, "queries"), *rest)
        return queries, two_layer.document_layer([m] * n, self.of(loss, "documents"), *rest)


def _gap(settings: GapsSettings, complexities: _Complexities, key: Key, rows: Sequence[Row]) -> dict[str, Any]:
    loss, n, m = key
    bound, (queries, documents) = complexities.bound(loss, n, m), complexities.layers(loss, n, m)
    error = max(row["expected_error"] for row in rows)
    found: dict[str, Any] = {"loss": loss, "queries": n, "documents": m, "repetitions": len(rows)}
    parts = {
        "gap": ("expected", "empirical"),
        "query_error": ("expected", "middle"),
        "document_error": ("middle", "empirical"),
    }
    for name, (greater, lesser) in parts.items():
        values = _differences(rows, greater, lesser)
        interval = mean_interval(values)
        found |= {name: interval.value, f"{name}_low": interval.low, f"{name}_high": interval.high}
        found[f"{name}_largest"] = float(values.max())
    centred = mean_interval(centred_gaps(rows))
    found |= {"centred_gap": centred.value, "centred_gap_low": centred.low, "centred_gap_high": centred.high}
    return found | {
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


def _largest(row: Row, name: str) -> Interval:
    value, half = row[f"{name}_largest"], 2.0 * row["risk_error"]
    return Interval(value, value - half, value + half)


def _theorem_1(gaps: Sequence[Row]) -> Iterable[Trial]:
    terms = ("query_complexity", "query_concentration", "document_complexity", "document_concentration", "bound")
    for row in gaps:
        setting = {"loss": row["loss"], "n": row["queries"], "m": row["documents"]}
        yield Trial(setting, {"gap": _largest(row, "gap"), **{term: row[term] for term in terms}}, GAPS)


def _theorem_2(gaps: Sequence[Row]) -> Iterable[Trial]:
    largest: dict[tuple[str, int], Row] = {}
    for row in gaps:
        key = row["loss"], row["queries"]
        if key not in largest or row["query_error_largest"] > largest[key]["query_error_largest"]:
            largest[key] = row
    for (loss, n), row in largest.items():
        values = {"query_layer_error": _largest(row, "query_error"), "bound": row["query_bound"]}
        yield Trial({"loss": loss, "n": n}, values, GAPS)


def _theorem_3(gaps: Sequence[Row]) -> Iterable[Trial]:
    for row in gaps:
        # Both risks are over the same queries: no error of the expected risk enters.
        values = {"document_layer_error": row["document_error_largest"], "bound": row["document_bound"]}
        yield Trial({"loss": row["loss"], "n": row["queries"], "m": row["documents"]}, values, GAPS)


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
            limit = mean_interval(limits_at_infinity(x, gaps), level)
            row |= {"limit": limit.value, "limit_low": limit.low, "limit_high": limit.high}
            row |= {"exponent": None, "exponent_low": None, "exponent_high": None}
            if (gaps.mean(axis=0) > 0.0).all():
                fit = fit_exponent(x, gaps)
                row |= {"exponent": fit.slope, "exponent_low": fit.low, "exponent_high": fit.high}
            rows.append(row)
    return rows


def limits_at_infinity(x: Floats, y: Floats) -> Floats:
    """The limits of y = limit + b/x + c/x^2 through the largest four x (all, if fewer), shape (repetitions,).

    Least squares for every repetition on its own: linear in y, so that the mean over repetitions is the fit to the
    means.

    Example
    -------
    >>> x = np.array([1.0, 2.0, 4.0, 8.0, 16.0])
    >>> limits_at_infinity(x, (0.25 + 3 / x - 1 / x**2)[None]).round(6)
    array([0.25])
    """
    last = slice(-4, None)
    design = np.column_stack([np.ones_like(x[last]), 1.0 / x[last], 1.0 / x[last] ** 2])[:, : len(x[last])]
    return np.asarray(y[:, last] @ np.linalg.pinv(design)[0])


def _both(settings: GapsSettings, cells: Mapping[Key, Sequence[Row]], limits: Sequence[Row]) -> Iterable[Trial]:
    axes = _axes(settings)
    for loss in dict.fromkeys(key[0] for key in cells):
        ends = {
            axis: [mean_interval(centred_gaps(cells[loss, *place])) for place in (places[0], places[-1])]
            for axis, places in axes.items()
        }
        values: dict[str, float | Interval] = {
            "gap_with_few_queries": ends["queries"][0],
            "gap_with_many_queries": ends["queries"][1],
            "gap_with_few_documents": ends["documents"][0],
            "gap_with_many_documents": ends["documents"][1],
        }
        yield Trial({"loss": loss}, values, GAPS)
        floors = {
            row["growing"]: Interval(row["limit"], row["limit_low"], row["limit_high"])
            for row in limits
            if row["loss"] == loss
        }
        values = {"floor_at_fixed_documents": floors["queries"], "floor_at_fixed_queries": floors["documents"]}
        yield Trial({"loss": loss}, values, LIMITS)


def _older(
    settings: GapsSettings, complexities: _Complexities, cells: Mapping[Key, Sequence[Row]]
) -> list[dict[str, Any]]:
    """The three kinds of bound, and the pooled one, along m at the smallest n."""
    rows = []
    for loss in dict.fromkeys(key[0] for key in cells):
        rest = (complexities.largest(loss), settings.delta)
        # Sauer's bound has logarithms; the paper's own form shows the rates.
        queries_d, documents_d = (
            two_layer.vc(complexities.vc_dimension, settings.c1) if loss == ZERO_ONE else complexities.of(loss, layer)
            for layer in ("queries", "documents")
        )
        for n, m in _axes(settings)["documents"]:
            gap = mean_interval(centred_gaps(cells[loss, n, m]))
            queries = two_layer.query_layer(n, queries_d, *rest)
            # All documents together are documents of many queries: their pairs are as those of the layer of queries.
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


def _remaining(settings: GapsSettings, cells: Mapping[Key, Sequence[Row]], older: Sequence[Row]) -> Iterable[Trial]:
    places = _axes(settings)["documents"]
    for loss in dict.fromkeys(row["loss"] for row in older):
        mine = [row for row in older if row["loss"] == loss]
        few, many = (centred_gaps(cells[loss, *place]) for place in (places[0], places[-1]))
        if few.mean() <= 0.0:
            continue

        def share(name: str, mine: Sequence[Row] = mine) -> float:
            return float(mine[-1][name] / mine[0][name])

        values: dict[str, float | Interval] = {
            "query_level_bound_remaining": share("query_level"),
            "gap_remaining_with_documents": ratio_interval(many, few),
            "document_level_bound_remaining": share("document_level"),
            "two_layer_bound_remaining": share("two_layer"),
        }
        yield Trial({"loss": loss, "n": places[0][0], "m": places[-1][1]}, values, OLDER)


def ratio_interval(above: Floats, below: Floats) -> Interval:
    """mean(above) / mean(below) with its t interval by the delta method, paired by repetition.

    Example
    -------
    >>> ratio_interval(np.array([1.0, 2.0, 3.0]), np.array([2.0, 4.0, 6.0]))
    Interval(value=0.5, low=0.5, high=0.5)
    """
    ratio = float(above.mean() / below.mean())
    return mean_interval(ratio + (above - ratio * below) / below.mean())
