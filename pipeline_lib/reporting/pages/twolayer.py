"""What was found about the paper `twolayer`? Its page of the report: one part an experiment, in the paper's order."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from pipeline_lib.reporting.blocks import Block, Formula, Paragraph, Section, Subsection
from pipeline_lib.reporting.figures import Figure, heat_maps, line_plot
from pipeline_lib.reporting.results import ResultsFolder, Row
from pipeline_lib.reporting.tables import Cell, Column, number, scientific, simple, span, text, whole

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing

Part = Callable[[ResultsFolder], tuple[Block, ...]]
Point = tuple[float, float, float, float]

GAPS = "tables/twolayer-gaps.parquet"
LIMITS = "tables/twolayer-limits.parquet"
OLDER = "tables/twolayer-older-bounds.parquet"
SAMPLINGS = "tables/twolayer-samplings.parquet"
TRADEOFF = "tables/twolayer-tradeoff.parquet"
BEST = "tables/twolayer-best-splits.parquet"
PLANS = "tables/twolayer-plans.parquet"

KINDS = {
    "two_layer": "two layers (Theorem 1)",
    "two_layer_pooled": "two layers, Definition 3 kept",
    "query_level": "queries only (2.3)",
    "document_level": "documents only (2.2)",
}
TERMS = {
    "query_complexity": "Queries: complexity",
    "query_concentration": "Queries: concentration",
    "document_complexity": "Documents: complexity",
    "document_concentration": "Documents: concentration",
}


def build(results: ResultsFolder) -> Section | None:
    """Join the parts whose tables are there; no section where none is."""
    blocks = tuple(block for part in PARTS for block in part(results))
    title = "Two-layer generalization analysis"
    return Section("twolayer", title, blocks) if blocks else None


def gaps(results: ResultsFolder) -> tuple[Block, ...]:
    """Gap, its two layers and the four terms of the bound over the grid."""
    rows = results.rows(GAPS, columns=["loss", "queries", "documents", "centred_gap", "gap_largest", "bound", *TERMS])
    if not rows:
        return ()
    losses = list(dict.fromkeys(row["loss"] for row in rows))
    grid_n, grid_m = _full_grid(rows)
    by = {(row["loss"], row["queries"], row["documents"]): row for row in rows}
    panels = {loss: [[by[loss, n, m]["centred_gap"] for m in grid_m] for n in grid_n] for loss in losses}
    closest = min(rows, key=lambda row: row["bound"] - row["gap_largest"])
    broken = sum(row["gap_largest"] > row["bound"] for row in rows)
    held = "No repetition breaks it" if not broken else f"{broken} cells break it"
    words = (
        "Rankers are trained on n queries with m documents each, drawn from a population of which fresh samples are "
        "free, so that the expected risk is known. How far below it is the training risk? The gap falls with more "
        "queries and with more documents:"
    )
    bound = (
        f"Theorem 1 bounds the gap by four terms, two a layer. {held}: over {len(rows)} cells the largest gap of "
        f"{rows[0]['repetitions']} repetitions stays {closest['bound'] - closest['gap_largest']:.2f} or more below. "
        "The bound is far above what is measured, as bounds of this kind are; what it says of the roles of n and m "
        "is looked at below."
    )
    figure = Figure(
        name="twolayer-gaps",
        title="The gap between expected and training risk",
        caption="Mean gap over repetitions, by number of queries n and documents per query m",
        source=GAPS,
        description="The gap falls along both axes, for every loss.",
        draw=partial(_heat, panels, grid_n, grid_m),
    )
    return (
        Subsection(
            "twolayer-gaps-part",
            "The gap and Theorem 1",
            (Paragraph(words), figure, Paragraph(bound), _terms(rows, losses), *_layers(by, losses, grid_n, grid_m)),
        ),
    )


def _heat(panels: dict[str, list[list[float]]], grid_n: Sequence[int], grid_m: Sequence[int]) -> Drawing:
    return heat_maps(
        panels, [f"{n}" for n in grid_n], [f"{m}" for m in grid_m], xlabel="documents m", ylabel="queries n"
    )


def _full_grid(rows: Sequence[Row]) -> tuple[list[int], list[int]]:
    """The n that were measured with more than one m, and the m that were measured with all of these."""
    cells = {(row["queries"], row["documents"]) for row in rows}
    n = sorted({one for one, _ in cells if sum(q == one for q, _ in cells) > 1})
    return n, sorted(m for m in {m for _, m in cells} if all((one, m) in cells for one in n))


def _terms(rows: Sequence[Row], losses: Sequence[str]) -> Block:
    columns = [Column("loss", "Loss", "left"), Column("n", "n"), Column("m", "m"), Column("gap", "Largest gap")]
    columns += [*(Column(name, title) for name, title in TERMS.items()), Column("bound", "Bound")]
    cells = []
    for loss in losses:
        mine = [row for row in rows if row["loss"] == loss]
        corners = [mine[0], max(mine, key=lambda row: row["documents"]), max(mine, key=lambda row: row["queries"])]
        for row in corners:
            values = [scientific(row[name]) for name in ("gap_largest", *TERMS, "bound")]
            cells.append([text(loss), whole(row["queries"]), whole(row["documents"]), *values])
    notes = [
        "The smallest sample, the most documents per query, and the most queries; all cells are in the table of "
        "results."
    ]
    return simple("twolayer-terms", "The four terms of Theorem 1 beside the largest gap", GAPS, columns, cells, notes)


def _layers(
    by: dict[tuple[str, int, int], Row], losses: Sequence[str], grid_n: Sequence[int], grid_m: Sequence[int]
) -> tuple[Block, ...]:
    columns = [Column("loss", "Loss", "left"), Column("n", "n"), Column("m", "m"), Column("gap", "Gap")]
    columns += [Column("query", "Query-layer error"), Column("document", "Document-layer error")]
    cells = []
    for loss in losses:
        for n, m in (
            (grid_n[0], grid_m[0]),
            (grid_n[0], grid_m[-1]),
            (grid_n[-1], grid_m[0]),
            (grid_n[-1], grid_m[-1]),
        ):
            row = by[loss, n, m]
            errors = [_with_half(row, name) for name in ("gap", "query_error", "document_error")]
            cells.append([text(loss), whole(n), whole(m), *errors])
    words = (
        "The middle risk, over all documents of the sampled queries, splits the gap in two: what comes from having "
        "few queries, and what comes from having few documents of them. Theorems 2 and 3 bound the two apart."
    )
    notes = ["Means over repetitions ± half of their 95 % intervals."]
    return (
        Paragraph(words),
        simple("twolayer-layers", "The gap by layer, at the corners of the grid", GAPS, columns, cells, notes),
    )


def _with_half(row: Row, name: str) -> Cell:
    half = (row[f"{name}_high"] - row[f"{name}_low"]) / 2.0
    cell = number(row[name], 4)
    return Cell(cell.text, cell.raw, number(half, 4).text, half)


def limits(results: ResultsFolder) -> tuple[Block, ...]:
    """Where the gap goes when one of n and m grows alone."""
    rows = results.rows(LIMITS, columns=["loss", "growing", "fixed", "limit", "limit_low", "limit_high"])
    measured = results.rows(
        GAPS, columns=["loss", "queries", "documents", "centred_gap", "centred_gap_low", "centred_gap_high", "bound"]
    )
    if not rows or not measured:
        return ()
    stays = {axis: [row for row in rows if row["growing"] == axis] for axis in ("documents", "queries")}
    above = {axis: sum(row["limit_low"] > 0.0 for row in mine) for axis, mine in stays.items()}
    n, m = stays["documents"][0]["fixed"], stays["queries"][0]["fixed"]
    words = (
        "Discussion 2 says that the gap vanishes only if queries and documents both grow. Two lines through the grid "
        f"test it. At {n} queries and ever more documents the gap levels off above 0 for {above['documents']} of "
        f"{len(stays['documents'])} losses: few queries leave an error that no judging of documents mends. At {m} "
        f"documents and ever more queries it levels off above 0 for {above['queries']} of {len(stays['queries'])}. "
        "There it is not the gap that stays but the bound: the training risk is an average over independent queries, "
        "each without bias whatever m ≥ 2, and Theorem 3 replaces the supremum of this average by the average of "
        "suprema (errata, letter R)."
    )
    columns = [
        Column("loss", "Loss", "left"),
        Column("growing", "Growing alone", "left"),
        Column("limit", "Limit of the gap"),
    ]
    columns += [
        Column("interval", "95 % interval"),
        Column("exponent", "Exponent"),
        Column("exponent_interval", "95 % interval"),
    ]
    cells = []
    for row in rows:
        fitted = row["exponent"] is not None
        between = span(row["exponent_low"], row["exponent_high"], 2, signed=True) if fitted else text(None)
        cells.append(
            [
                text(row["loss"]),
                text(f"{row['growing']}, {_other(row['growing'])} = {row['fixed']}"),
                number(row["limit"], 4, signed=True),
                span(row["limit_low"], row["limit_high"], 4, signed=True),
                number(row["exponent"], 2, signed=True),
                between,
            ]
        )
    notes = ["Limits: gap = limit + b/x + c/x² through the four largest x. Exponents: of the whole line, −1 for 1/x."]
    figures = tuple(_line(measured, axis, fixed) for axis, fixed in (("queries", m), ("documents", n)))
    table = simple(
        "twolayer-limits", "Where the gap goes when one of the two grows alone", LIMITS, columns, cells, notes
    )
    return (Subsection("twolayer-limits-part", "Do both have to grow?", (Paragraph(words), *figures, table)),)


def _other(axis: str) -> str:
    return {"queries": "m", "documents": "n"}[axis]


def _line(rows: Sequence[Row], axis: str, fixed: int) -> Figure:
    other = {"queries": "documents", "documents": "queries"}[axis]
    series = {}
    for loss in dict.fromkeys(row["loss"] for row in rows):
        mine = sorted((row for row in rows if row["loss"] == loss and row[other] == fixed), key=lambda row: row[axis])
        series[loss] = [
            _point(row[axis], row["centred_gap"], row["centred_gap_low"], row["centred_gap_high"])
            for row in mine
            if row["centred_gap"] > 0.0
        ]
    if axis == "queries":
        # What levels off when queries grow alone is the bound.
        loss = "hinge" if "hinge" in series else next(iter(series))
        mine = sorted((row for row in rows if row["loss"] == loss and row[other] == fixed), key=lambda row: row[axis])
        series[f"Theorem 1, {loss}"] = [(row[axis], *[row["bound"]] * 3) for row in mine]
    letter = {"queries": "queries, n", "documents": "documents per query, m"}[axis]
    beside = f"{fixed} {'queries' if axis == 'documents' else 'documents per query'}"
    return Figure(
        name=f"twolayer-gap-against-{axis}",
        title=f"The gap against the number of {axis}, with {beside}",
        caption="Mean gap with its 95 % interval",
        source=GAPS,
        description="With documents the gap becomes flat; with queries it keeps falling, and the bound becomes flat.",
        draw=partial(line_plot, series, xlabel=letter, ylabel="gap, bound" if axis == "queries" else "gap", log="xy"),
    )


def _point(x: float, y: float, low: float, high: float) -> Point:
    # A band that reaches 0 or below has no place on a logarithmic axis: it is drawn down to a tenth of the value.
    return (x, y, max(low, y / 10.0), high)


def older(results: ResultsFolder) -> tuple[Block, ...]:
    """Three kinds of bound on one axis, beside the gap."""
    rows = results.rows(OLDER, columns=["loss", "queries", "documents", "gap", "gap_low", "gap_high", *KINDS])
    if not rows:
        return ()
    loss = rows[0]["loss"] if all(row["loss"] != "hinge" for row in rows) else "hinge"
    mine = [row for row in rows if row["loss"] == loss]
    series = {"measured gap": [_point(row["documents"], row["gap"], row["gap_low"], row["gap_high"]) for row in mine]}
    series |= {title: [(row["documents"], *[row[name]] * 3) for row in mine] for name, title in KINDS.items()}
    first, last = mine[0], mine[-1]
    left = {name: last[name] / first[name] for name in ("gap", *KINDS)}
    further = left["document_level"] < left["gap"]
    falls = ": it falls on where the gap levels off, counting every document as new evidence" if further else ""
    words = (
        f"How do bounds that know one layer only compare? At {first['queries']} queries and from {first['documents']} "
        f"to {last['documents']} documents per query ({loss} loss), {100 * left['gap']:.1f} % of the gap remains. The "
        f"bound for queries as wholes keeps {100 * left['query_level']:.0f} %: documents do not enter it. The bound "
        f"for independent documents keeps {100 * left['document_level']:.1f} %{falls}. Theorem 1 keeps "
        f"{100 * left['two_layer']:.0f} %, down to its layer of queries."
    )
    figure = Figure(
        name="twolayer-older-bounds",
        title=f"Three kinds of bound and the gap against documents per query, with {first['queries']} queries",
        caption=f"Bounds that hold with the same probability, {loss} loss",
        source=OLDER,
        description="The bound for queries is flat, that for documents falls on, the two-layer bound levels off.",
        draw=partial(line_plot, series, xlabel="documents per query, m", ylabel="bound, gap", log="xy"),
    )
    return (Subsection("twolayer-older-part", "The bounds that stood before", (Paragraph(words), figure)),)


def tradeoff(results: ResultsFolder) -> tuple[Block, ...]:
    """Deep against shallow judging at a fixed budget."""
    rows = results.rows(TRADEOFF, columns=["dataset", "budget", "queries", "documents", "error", "low", "high"])
    best = results.rows(BEST, columns=["dataset", "budget", "best_queries", "predicted_queries", "error_inner"])
    if not rows or not best:
        return ()
    inner = sum(
        row["error_deepest_low"] > row["error_inner"] and row["error_shallowest_low"] > row["error_inner"]
        for row in best
    )
    words = (
        "A budget of C documents buys many queries with few documents each (shallow judging) or few queries with "
        f"many (deep). In {inner} of {len(best)} cases both ends are worse than a split between them, beyond their "
        "intervals, as "
        "discussion 3 says." + _growth(best)
    )
    formula = Formula("n^* = (c_1 V^{1/2} + (2 log(4/δ))^{1/2}) / (c_1 (2V)^{1/2}) · C^{1/2},  m^* = C / n^*")
    figures = tuple(_curve(rows, best, dataset) for dataset in dict.fromkeys(row["dataset"] for row in best))
    columns = [
        Column("place", "Data", "left"),
        Column("C", "C"),
        Column("best", "Best n, measured"),
        Column("star", "n*"),
    ]
    columns += [
        Column("shallow", "Error, m = 2"),
        Column("inner", "Error, best inner split"),
        Column("deep", "Error, n = 2"),
    ]
    cells = [
        [
            text(row["dataset"]),
            whole(row["budget"]),
            whole(round(row["best_queries"])),
            number(row["predicted_queries"], 1),
            _with_half(row, "error_shallowest"),
            number(row["error_inner"], 4),
            _with_half(row, "error_deepest"),
        ]
        for row in best
    ]
    notes = ["Errors of the ends ± half of the 95 % interval of their paired difference from the inner split."]
    table = simple("twolayer-best-splits", "Best splits of a budget", BEST, columns, cells, notes)
    return (
        Subsection("twolayer-tradeoff-part", "Deep or shallow judging?", (Paragraph(words), formula, *figures, table)),
    )


def _growth(best: Sequence[Row]) -> str:
    mine = sorted((row for row in best if row["dataset"] == "population"), key=lambda row: row["budget"])
    if len(mine) < 2:
        return ""
    budgets = math.log(mine[-1]["budget"] / mine[0]["budget"])
    measured = math.log(mine[-1]["best_queries"] / mine[0]["best_queries"]) / budgets
    stated = math.log(mine[-1]["predicted_queries"] / mine[0]["predicted_queries"]) / budgets
    return (
        f" But from C = {mine[0]['budget']} to {mine[-1]['budget']} the best number of queries of the population "
        f"grows as C to the power {measured:.2f}, n* as C to the power {stated:.2f}: it is a number of documents per "
        "query that stays best, because more queries make up for few documents, which Theorem 3 does not see "
        "(errata, letter R)."
    )


def _curve(rows: Sequence[Row], best: Sequence[Row], dataset: str) -> Figure:
    mine = [row for row in rows if row["dataset"] == dataset]
    budgets = sorted({row["budget"] for row in mine})
    series = {
        f"C = {budget}": [
            (row["queries"], row["error"], row["low"], row["high"]) for row in mine if row["budget"] == budget
        ]
        for budget in budgets
    }
    stars = {f"n* for C = {row['budget']}": row["predicted_queries"] for row in best if row["dataset"] == dataset}
    return Figure(
        name=f"twolayer-tradeoff-{dataset.lower()}",
        title=f"Error at a fixed number of judged documents: {dataset}",
        caption="Pairwise 0-1 error of the trained ranker, mean with its 95 % interval",
        source=TRADEOFF,
        description="; ".join(
            f"C = {row['budget']}: lowest at {row['best_queries']:.0f} queries, n* = {row['predicted_queries']:.0f}"
            for row in best
            if row["dataset"] == dataset
        ),
        draw=partial(line_plot, series, xlabel="queries, n", ylabel="pairwise 0-1 error", log="x", vertical=stars),
    )


def capacity(results: ResultsFolder) -> tuple[Block, ...]:
    """n* against capacity and confidence."""
    rows = results.rows(PLANS, columns=["budget", "vc_dimension", "delta", "c1", "queries"])
    if not rows:
        return ()
    values = sorted({row["c1"] for row in rows})
    c1 = values[len(values) // 2]
    budget = max(row["budget"] for row in rows)
    mine = [row for row in rows if row["c1"] == c1 and row["budget"] == budget]
    series = {
        f"confidence {1 - delta:g}": [
            (row["vc_dimension"], *[row["queries"]] * 3) for row in mine if row["delta"] == delta
        ]
        for delta in sorted({row["delta"] for row in mine}, reverse=True)
    }
    words = (
        f"What does n* depend on? For C = {budget:,} and c1 = {c1:g} it falls with the capacity V of the class and "
        "grows with the confidence asked for, towards the same limit for large V: the concentration terms matter "
        "less and less. Try your own budget with `python -m pipeline_lib budget --documents 50000 --features 46 "
        "--delta 0.05`."
    )
    figure = Figure(
        name="twolayer-capacity",
        title="The best number of queries by the bound",
        caption=f"n* for a budget of {budget:,} documents",
        source=PLANS,
        description="All lines fall with V; a higher confidence lies above a lower one.",
        draw=partial(line_plot, series, xlabel="VC dimension, V", ylabel="n*", log="x"),
    )
    return (Subsection("twolayer-capacity-part", "Capacity and confidence", (Paragraph(words), figure)),)


def samplings(results: ResultsFolder) -> tuple[Block, ...]:
    """Two-layer sampling beside (n, m)-sampling."""
    rows = results.rows(SAMPLINGS, columns=["queries", "documents", "sampling", "gap", "low", "high"])
    if not rows:
        return ()
    names = list(dict.fromkeys(row["sampling"] for row in rows))
    by = {(row["queries"], row["documents"], row["sampling"]): row for row in rows}
    places = list(dict.fromkeys((row["queries"], row["documents"]) for row in rows))
    columns = [Column("n", "n"), Column("m", "m"), *(Column(f"s{i}", name) for i, name in enumerate(names))]
    cells = []
    for place in places:
        found = [by[(*place, name)] for name in names]
        shown = [
            Cell(number(r["gap"]).text, r["gap"], number((r["high"] - r["low"]) / 2).text, (r["high"] - r["low"]) / 2)
            for r in found
        ]
        cells.append([whole(place[0]), whole(place[1]), *shown])
    words = (
        "Section 3.1 sets two-layer sampling apart from (n, m)-sampling by two things: queries may have different "
        "numbers of documents, and documents of one query are not independent as feature vectors. What does each do "
        "to the gap? Uneven lists with the same mean length, and lists of elements that are all independent, stand "
        "beside the common case."
    )
    table = simple(
        "twolayer-samplings",
        "The gap under three ways of sampling",
        SAMPLINGS,
        columns,
        cells,
        ["Means ± half of their 95 % intervals."],
    )
    return (Subsection("twolayer-samplings-part", "Two-layer and (n, m)-sampling", (Paragraph(words), table)),)


# A part reads its own tables and gives blocks, none where its tables are absent. Order: that of the page.
PARTS: tuple[Part, ...] = (gaps, limits, older, tradeoff, capacity, samplings)
