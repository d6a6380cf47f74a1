"""Fitted exponents, from the published values that they are fitted to."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from pipeline_lib.recompute import arithmetic
from pipeline_lib.recompute.comparison import Comparison
from pipeline_lib.recompute.rows import alone, grouped, numbers
from pipeline_lib.recompute.study import Study


@dataclass(frozen=True)
class Slope:
    """An exponent b of y = c x^b in a table, for all rows of another that agree with it in some columns.

    ``of`` names the columns x and y; rows with the same x are averaged.
    """

    table: str
    column: str
    source: str
    by: tuple[str, ...]
    of: tuple[str, str]


SLOPES = (
    Slope("topk-exponents", "slope", "topk-regret", ("data", "player", "surrogate"), ("T", "regret")),
    Slope("topk-bandit", "slope", "topk-bandit", ("surrogate",), ("T", "regret")),
    Slope("topk-adversary", "slope", "topk-adversary", ("learner",), ("T", "regret")),
    Slope(
        "topk-label-exponents", "slope", "topk-label-regret", ("m", "grades", "k", "law", "learner"), ("T", "regret")
    ),
    Slope("topk-label-squared", "slope", "topk-label-squared", ("m", "grades", "k", "target"), ("T", "regret")),
    Slope("slam-growth", "exponent", "slam-constants", ("surrogate",), ("m", "exact")),
    Slope("slam-growth", "searched_exponent", "slam-constants", ("surrogate",), ("m", "searched")),
)
FITTED_CONE = ("population", "K", "method")
LINE = ("queries_are", "turned_share", "capacity", "growing")
OF_LINES = {"exponent": "gap", "of_deviation": "deviation", "of_printed": "printed"}


def compare(study: Study, found: Comparison) -> None:
    """Fit every exponent again by plain least squares on logarithms."""
    for one in SLOPES:
        if study.has(one.table) and study.has(one.source):
            _compare(found, study, one)
    if study.has("twolayer-rate-exponents"):
        published = study.table("twolayer-rate-exponents").iter_rows(named=True)
        found.table("twolayer-rate-exponents", LINE, published, _of_lines(study))
    if study.has("cone-leave-out-exponents"):
        published = study.table("cone-leave-out-exponents").iter_rows(named=True)
        found.table("cone-leave-out-exponents", FITTED_CONE, published, _of_cones(study))
    if study.has("lists-ranksvm"):
        published = study.table("lists-ranksvm").iter_rows(named=True)
        found.table("lists-ranksvm", ("surrogate",), published, _of_ranksvm(study))


def _compare(found: Comparison, study: Study, one: Slope) -> None:
    x, y = one.of
    fitted = {
        key: arithmetic.power(rows[x], numbers(rows, y))
        for key, rows in grouped(study.table(one.source), *one.by).items()
    }
    rows = list(study.table(one.table).iter_rows(named=True))
    again = [{name: row[name] for name in one.by} for row in rows]
    found.table(one.table, one.by, rows, [{**key, one.column: fitted.get(tuple(key.values()))} for key in again])


def _of_lines(study: Study) -> Iterator[Mapping[str, object]]:
    for key, rows in grouped(study.table("twolayer-rates"), *LINE).items():
        growing = key[-1]
        if growing in ("queries", "documents"):
            slopes = {name: arithmetic.power(rows[growing], rows[source]) for name, source in OF_LINES.items()}
            [fixed] = set(rows["documents" if growing == "queries" else "queries"])
            yield {**dict(zip(LINE, key, strict=True)), "fixed": fixed, **slopes}


def _of_cones(study: Study) -> Iterator[Mapping[str, object]]:
    """With the intervals over repetitions, whose rows are stored."""
    for key, rows in grouped(study.table("cone-leave-out"), *FITTED_CONE).items():
        sizes = sorted(set(rows["P"]))
        of_size: dict[int, dict[int, float]] = {P: {} for P in sizes}
        for P, repetition, s_max in zip(rows["P"], rows["repetition"], rows["s_max"], strict=True):
            of_size[P][repetition] = s_max
        measured = np.array([[of_size[P][repetition] for P in sizes] for repetition in of_size[sizes[0]]])
        slope = arithmetic.power_of_repetitions(sizes, measured)
        yield {**dict(zip(FITTED_CONE, key, strict=True)), **alone("slope", slope)}


def _of_ranksvm(study: Study) -> Iterator[Mapping[str, object]]:
    """Of the largest of the searched constants of every length, whatever the largest label."""
    largest: dict[int, float] = {}
    for row in study.table("lists-constants").iter_rows(named=True):
        if row["part"] == "ranksvm" and row["surrogate"] == "ranksvm" and row["constant"] == "lipschitz-linf":
            largest[row["m"]] = max(largest.get(row["m"], 0.0), row["searched"])
    exponent = arithmetic.power_of_points(list(largest), list(largest.values()))
    yield {"surrogate": "ranksvm", **alone("exponent", exponent), "freedom": len(largest) - 2}
