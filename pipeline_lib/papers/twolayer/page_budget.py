"""What does the page of the paper `twolayer` say about a labelling budget? The parts on discussion 3."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from functools import partial

from pipeline_lib.reporting.blocks import Block, Formula, Paragraph, Subsection
from pipeline_lib.reporting.figures import Band, Figure, banded, line_plot
from pipeline_lib.reporting.results import ResultsFolder, Row
from pipeline_lib.reporting.tables import Cell, Column, number, plus_minus, simple, span, text, whole

TRADEOFF = "tables/twolayer-tradeoff.parquet"
BEST = "tables/twolayer-best-splits.parquet"
PLANS = "tables/twolayer-plans.parquet"


def tradeoff(results: ResultsFolder) -> tuple[Block, ...]:
    """Deep against shallow judging at a fixed budget."""
    needed = ["dataset", "budget", "queries", "documents", "error", "low", "high"]
    rows = results.rows(TRADEOFF, columns=needed)
    best = results.rows(BEST, columns=["dataset", "budget", "best_queries", "predicted_queries", "error_inner"])
    if not rows or not best:
        return ()
    inner = sum(
        row["error_deepest_low"] > row["error_inner"] and row["error_shallowest_low"] > row["error_inner"]
        for row in best
    )
    words = (
        "A budget of C documents pays for many queries with few documents each (shallow judging) or few queries with "
        "many (deep judging). Discussion 3 states that neither extreme is best, and that the bound is smallest at"
    )
    formula = Formula("n^{*} = (c_1 V^{1/2} + (2 log(4/δ))^{1/2}) / (c_1 (2V)^{1/2}) · C^{1/2},   m^{*} = C / n^{*}")
    found = (
        f"Which split is best for trained rankers? In {inner} of {len(best)} cases both extremes are worse than a "
        "split "
        "between them, beyond their intervals." + _growth(best)
    )
    figures = tuple(_curve(rows, best, dataset) for dataset in dict.fromkeys(row["dataset"] for row in best))
    columns = [
        Column("place", "Data", "left"),
        Column("C", "C"),
        Column("best", "Best n"),
        Column("interval", "95 % interval"),
        Column("star", "n*"),
        Column("variance", "n by variance"),
        Column("shallow", "Error, m\u00a0=\u00a02"),
        Column("inner", "Error, best inner split"),
        Column("deep", "Error, n\u00a0=\u00a02"),
    ]
    cells = [
        [
            text(row["dataset"]),
            whole(row["budget"]),
            whole(round(row["best_queries"])),
            span(row["best_queries_low"], row["best_queries_high"], 0),
            number(row["predicted_queries"], 1),
            number(row["budget"] / row["variance_documents"] if row["variance_documents"] else None, 1),
            _interval(row, "error_shallowest"),
            number(row["error_inner"], 4),
            _interval(row, "error_deepest"),
        ]
        for row in best
    ]
    notes = [
        "Best n: of the smallest mean error, its interval by the bootstrap over repetitions. By variance: to first "
        "order for large C, on the population only. Errors of the ends ± half of the interval of their paired "
        "difference from the inner split; these intervals hold jointly with 95 % confidence. A budget is used on a "
        "data "
        "set if a fold has C/2 training queries with C/2 documents."
    ]
    table = simple("twolayer-best-splits", "Best splits of a budget", BEST, columns, cells, notes)
    blocks: tuple[Block, ...] = (Paragraph(words), formula, Paragraph(found), *figures, table)
    return (Subsection("twolayer-tradeoff-part", "Deep or shallow judging?", blocks),)


def _growth(best: Sequence[Row]) -> str:
    mine = sorted((row for row in best if row["dataset"] == "population"), key=lambda row: row["budget"])
    if len(mine) < 2:
        return ""
    first, last = mine[0], mine[-1]
    budgets = math.log(last["budget"] / first["budget"])
    measured = math.log(last["best_queries"] / first["best_queries"]) / budgets
    stated = math.log(last["predicted_queries"] / first["predicted_queries"]) / budgets
    said = (
        f" From C = {first['budget']:,} to {last['budget']:,} the best number of queries of the population grows as C "
        f"to the power {measured:.2f}, n* as C to the power {stated:.2f}."
    )
    if last["best_queries_low"] > last["predicted_queries"]:
        said += (
            " The errors favour shallower judging than the bound does, because errors of documents average out over "
            "queries, which Theorem 3 does not see (errata, letter R)."
        )
    depth = last["variance_documents"]
    if depth is None:
        return said
    inside = last["best_queries_low"] <= last["budget"] / depth <= last["best_queries_high"]
    return said + (
        " According to the variance of the gradients over queries, documents and pairs, "
        f"{depth:.2f} documents per query are best [{last['variance_documents_low']:.2f}, "
        f"{last['variance_documents_high']:.2f}] for every budget that is large enough; for C = {last['budget']:,} "
        f"that is {'inside' if inside else 'outside'} the interval of the measured optimum."
    )


def _curve(rows: Sequence[Row], best: Sequence[Row], dataset: str) -> Figure:
    mine = sorted((row for row in rows if row["dataset"] == dataset), key=lambda row: row["queries"])
    chosen = sorted((row for row in best if row["dataset"] == dataset), key=lambda row: row["budget"])
    # On the population the error is known to which training tends: what exceeds it is drawn.
    in_excess = all(row["excess"] is not None for row in mine)
    positive = in_excess and all(row["excess"] > 0.0 for row in mine)
    series: dict[str, list[Band]] = {}
    marks: dict[str, list[tuple[float, float]]] = {}
    for one in chosen:
        points = [
            _excess(row, positive) if in_excess else _error(row) for row in mine if row["budget"] == one["budget"]
        ]
        series[f"C = {one['budget']:,}"] = points
        for name, queries in _marked(one).items():
            marks.setdefault(name, []).append((queries, _between(points, queries)))
    what = "excess error" if in_excess else "pairwise 0-1 error"
    beyond = ", relative to that of the ranker to which training converges" if in_excess else ""
    return Figure(
        name=f"twolayer-tradeoff-{dataset.lower()}",
        title=f"Error at a fixed number of judged documents: {dataset}",
        caption=f"Pairwise 0-1 error of the trained ranker{beyond}, mean with its 95 % interval; deep judging on the "
        "left, shallow judging on the right",
        source=TRADEOFF,
        description="; ".join(
            f"C = {row['budget']}: lowest at {row['best_queries']:.0f} queries, n* = {row['predicted_queries']:.0f}"
            for row in chosen
        ),
        draw=partial(line_plot, series, xlabel="queries, n", ylabel=what, log="xy" if positive else "x", marks=marks),
    )


def _marked(best: Row) -> dict[str, float]:
    """The places marked on a curve, as numbers of queries."""
    places = {"smallest": best["best_queries"], "at n*": best["predicted_queries"]}
    depth = best["variance_documents"]
    return places if depth is None else places | {"by variance": best["budget"] / depth}


def _error(row: Row) -> Band:
    return row["queries"], row["error"], row["low"], row["high"]


def _excess(row: Row, positive: bool) -> Band:
    point = row["queries"], row["excess"], row["excess_low"], row["excess_high"]
    return banded(*point) if positive else point


def _between(points: Sequence[Band], x: float) -> float:
    """The height of the line through the points at x, which is straight where x is logarithmic."""
    if not points[0][0] < x < points[-1][0]:
        return points[0][1] if x <= points[0][0] else points[-1][1]
    left, right = next(pair for pair in itertools.pairwise(points) if x <= pair[1][0])
    share = math.log(x / left[0]) / math.log(right[0] / left[0])
    return left[1] + share * (right[1] - left[1])


def _interval(row: Row, name: str) -> Cell:
    return plus_minus(row[name], (row[f"{name}_high"] - row[f"{name}_low"]) / 2.0)


def capacity(results: ResultsFolder) -> tuple[Block, ...]:
    """n* against capacity and confidence, and from which size on the bound says something."""
    needed = ["budget", "vc_dimension", "delta", "c1", "queries", "informative_from", "informative_from_sauer"]
    rows = results.rows(PLANS, columns=needed)
    if not rows:
        return ()
    values = sorted({row["c1"] for row in rows})
    c1 = values[len(values) // 2]
    budget = max(row["budget"] for row in rows)
    mine = sorted(
        (row for row in rows if row["c1"] == c1 and row["budget"] == budget), key=lambda row: row["vc_dimension"]
    )
    deltas = sorted({row["delta"] for row in mine}, reverse=True)
    lines = [[row["queries"] for row in mine if row["delta"] == delta] for delta in deltas]
    falls = all(after < before for line in lines for before, after in itertools.pairwise(line))
    grows = all(low < high for pair in itertools.pairwise(lines) for low, high in zip(*pair, strict=True))
    series = {
        f"confidence {1 - delta:g}": [
            (row["vc_dimension"], *[row["queries"]] * 3) for row in mine if row["delta"] == delta
        ]
        for delta in deltas
    }
    words = (
        f"What does n* depend on? For C = {budget:,} and c₁ = {c1:g} it {'falls' if falls else 'does not always fall'} "
        f"with the capacity V of the class and {'grows' if grows else 'does not always grow'} with the confidence "
        "required, 1 − δ. Plan a budget of your own with `python -m pipeline_lib budget --documents 50000 "
        "--features 46 --delta 0.05`."
    )
    figure = Figure(
        name="twolayer-capacity",
        title="The best number of queries by the bound",
        caption=f"n* for a budget of {budget:,} documents",
        source=PLANS,
        description=f"With the capacity V, n* {'falls' if falls else 'does not always fall'}; with the confidence, it "
        f"{'grows' if grows else 'does not always grow'}.",
        draw=partial(line_plot, series, xlabel="VC dimension, V", ylabel="n*", log="x"),
    )
    blocks: tuple[Block, ...] = (Paragraph(words), figure, *_informative(mine, deltas[len(deltas) // 2]))
    return (Subsection("twolayer-capacity-part", "Capacity and confidence", blocks),)


def _informative(rows: Sequence[Row], delta: float) -> tuple[Block, ...]:
    columns = [
        Column("v", "V"),
        Column("vc", f"D(k) = c₁ √(V/k), c₁ = {rows[0]['c1']:g}"),
        Column("sauer", "D(k) of Sauer and Massart"),
    ]
    mine = [row for row in rows if row["delta"] == delta]
    cells = [
        [whole(row["vc_dimension"]), whole(row["informative_from"]), whole(row["informative_from_sauer"])]
        for row in mine
    ]
    last = mine[-1]
    words = (
        "From how many queries and documents is Theorem 1 informative, that is, smaller than the largest "
        f"loss? For V = {last['vc_dimension']} and the 0-1 loss, {last['informative_from']:,} queries with as many "
        f"documents each if c₁ = {last['c1']:g}, which the paper leaves open, and "
        f"{last['informative_from_sauer']:,} with a constant that can be computed."
    )
    caption = f"The smallest n = m with a bound below 1, 0-1 loss, confidence {1 - delta:g}"
    return Paragraph(words), simple("twolayer-informative", caption, PLANS, columns, cells)
