"""With which powers of queries and documents does the worst gap fall, and does the budget that follows make it smaller?

The rankers with weights -1 and 1 (:mod:`pipeline_lib.papers.twolayer.computations.sign_rankers`) have a worst gap that
is known on every sample, and variances that are known exactly. In the populations that *differ*, queries concern
different features; in the one that is *alike*, all queries concern the same feature in the same way. Two lines are
measured: queries grow at two documents each, and documents grow, from many on, at a fixed number of queries.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pipeline_lib.arrays import Floats
from pipeline_lib.claims.evidence import Interval
from pipeline_lib.papers.twolayer.computations.intervals import columns, mean_interval
from pipeline_lib.papers.twolayer.computations.sign_rankers import Signs, even_lists
from pipeline_lib.seeds import generator
from pipeline_lib.statistics import fit_exponent
from pipeline_lib.theory import two_layer, two_layer_rates
from pipeline_lib.theory.two_layer_rates import Variances

if TYPE_CHECKING:
    from pipeline_lib.papers.twolayer.experiments.rates import RatesSettings

SHORTEST = 2
DIFFER, ALIKE = "differ", "alike"
QUERIES, DOCUMENTS, UNEQUAL = "queries", "documents", "unequal lists"
PRINTED, CORRECTED = "printed", "corrected"


@dataclass(frozen=True)
class Results:
    """Rows of the three tables."""

    rates: list[dict[str, Any]]
    exponents: list[dict[str, Any]]
    plans: list[dict[str, Any]]


def run(settings: RatesSettings, seed: int) -> Results:
    """Measure the worst gaps along the lines and within the budgets."""
    rates: list[dict[str, Any]] = []
    exponents: list[dict[str, Any]] = []
    plans: list[dict[str, Any]] = []
    for kind, signs in _populations(settings):
        for growing, fixed, samples in _lines(settings):
            measured = [_measured(settings, signs, lengths, seed) for lengths in samples]
            case = {"queries_are": kind, "turned_share": signs.turned_share, "capacity": signs.capacity}
            rows = [
                {**case, "growing": growing, **_row(settings, signs, lengths, gaps)}
                for lengths, gaps in zip(samples, measured, strict=True)
            ]
            rates += rows
            if growing != UNEQUAL:
                exponents.append({**case, "growing": growing, "fixed": fixed, **_exponents(growing, rows, measured)})
        if kind == DIFFER:
            plans += _plans(settings, signs, seed)
    return Results(rates, exponents, plans)


def _populations(settings: RatesSettings) -> Iterator[tuple[str, Signs]]:
    for share in settings.turned_shares:
        for capacity in settings.capacities:
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


def _row(settings: RatesSettings, signs: Signs, lengths: NDArray[np.int64], gaps: Floats) -> dict[str, Any]:
    variances = signs.variances()
    corrected = _corrected(settings, signs, lengths, variances)
    alone = [Variances(0.0, one.documents, one.pairs) for one in variances]
    printed = two_layer.bound(lengths, two_layer.massart(log_rankers(signs)), 1.0, settings.delta)
    return {
        "queries": len(lengths),
        "documents": int(lengths.min()),
        "longest": int(lengths.max()),
        "repetitions": len(gaps),
        **columns("gap", mean_interval(gaps)),
        **columns("exceeded", quantile(gaps, 1.0 - settings.delta)),
        "deviation": corrected.deviation,
        "remainder": corrected.remainder,
        "bound": corrected.total,
        "log_rankers": log_rankers(signs),
        "deviation_of_documents": _corrected(settings, signs, lengths, alone).deviation,
        "query_complexity": printed.query_complexity,
        "query_concentration": printed.query_concentration,
        "document_complexity": printed.document_complexity,
        "document_concentration": printed.document_concentration,
        "printed": printed.total,
    }


def log_rankers(signs: Signs) -> float:
    """log N of the class."""
    return signs.capacity * math.log(2.0)


def _corrected(
    settings: RatesSettings, signs: Signs, lengths: NDArray[np.int64], variances: Sequence[Variances]
) -> two_layer_rates.Rates:
    return two_layer_rates.bound(lengths, variances, log_rankers(signs), settings.delta)


def quantile(values: Floats, probability: float) -> Interval:
    """A quantile with its 95 % interval, by order statistics: so many values below it are binomially distributed.

    Example
    -------
    >>> quantile(np.arange(1000.0), 0.95)
    Interval(value=950.0, low=936.0, high=963.0, freedom=None)
    """
    from scipy.special import bdtrik

    ordered = np.sort(values)
    low, high = (int(np.ceil(bdtrik(tail, len(values), probability))) for tail in (0.025, 0.975))
    last = len(values) - 1
    at = min(int(probability * len(values)), last)
    return Interval(float(ordered[at]), float(ordered[max(min(low, at), 0)]), float(ordered[min(max(high, at), last)]))


def _exponents(growing: str, rows: Sequence[dict[str, Any]], measured: Sequence[Floats]) -> dict[str, Any]:
    x = [row[growing] for row in rows]
    fit = fit_exponent(x, np.column_stack(measured))
    of_bounds = {f"of_{name}": fit_exponent(x, [row[name] for row in rows]).slope for name in ("deviation", "printed")}
    return {"exponent": fit.slope, "exponent_low": fit.low, "exponent_high": fit.high, **of_bounds}


def _plans(settings: RatesSettings, signs: Signs, seed: int) -> Iterator[dict[str, Any]]:
    """The worst gap within a budget with the plans of both bounds, and over a grid."""
    variances = signs.variances()
    for budget in settings.budgets:
        printed = two_layer.budget(budget, signs.capacity, settings.delta, settings.c1)
        corrected, _ = two_layer_rates.budget(budget, variances, log_rankers(signs), settings.delta)
        grid = {f"{m} documents": budget // m for m in settings.tried}
        for plan, n in {PRINTED: round(printed.queries), CORRECTED: len(corrected), **grid}.items():
            lengths = even_lists(budget, n)
            rng = generator(seed, "twolayer-rates", "plan", signs.turned_share, signs.capacity, budget, n)
            yield {
                "budget": budget,
                "turned_share": signs.turned_share,
                "capacity": signs.capacity,
                "plan": plan,
                "queries": n,
                "repetitions": settings.plan_repetitions,
                **columns("gap", mean_interval(signs.worst_gaps(lengths, settings.plan_repetitions, rng))),
                "bound": _corrected(settings, signs, lengths, variances).total,
                "printed": two_layer.even_bound(n, budget, signs.capacity, settings.delta, settings.c1).total,
            }
