"""What was found about the paper `twolayer`? Its page of the report: what is measured first, then what is computed."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from pipeline_lib.reporting.blocks import Block, Formula, Paragraph, Section, Subsection
from pipeline_lib.reporting.figures import Figure, heat_maps, line_plot
from pipeline_lib.reporting.results import ResultsFolder, Row
from pipeline_lib.reporting.tables import Cell, Column, Group, Table, number, scientific, simple, span, text, whole

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
IDENTITIES = "tables/twolayer-identities.parquet"

KINDS = {
    "two_layer": "two layers (Theorem 1)",
    "two_layer_pooled": "two layers, pooled (erratum R)",
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
    return Section("twolayer", title, (*SUBJECT, *blocks)) if blocks else None


SUBJECT = (
    Paragraph(
        "A ranker is trained on n queries with mᵢ judged documents each. Queries are a sample of all that could be "
        "asked, and the documents of a query a sample of all that could be judged. How far can the risk on new "
        "queries and documents, R, lie above the risk in training, Rₜ? With probability 1 − δ, for losses in [0, M] "
        "and all rankers f of a class (Theorem 1),"
    ),
    Formula(
        "R(f) ≤ R_t(f) + D(n) + (2M^2 log(4/δ) / n)^{1/2} + (1/n) Σ_i D(⌊m_i/2⌋) + "
        "(Σ_i 2M^2 log(4/δ) / (m_i n^2))^{1/2}"
    ),
    Paragraph(
        "The first two terms are the layer of queries, the last two that of documents. D(k) bounds the Rademacher "
        "average of the class on k pairs of documents: how well it can follow pure noise. Of each pair of terms the "
        "first is for the complexity of the class, the second for chance."
    ),
)


def gaps(results: ResultsFolder) -> tuple[Block, ...]:
    """Gap, its two layers and the four terms of the bound over the grid."""
    needed = ["loss", "queries", "documents", "centred_gap", "gap_largest", "bound", "query_bound", "document_bound"]
    rows = results.rows(GAPS, columns=[*needed, *TERMS])
    if not rows:
        return ()
    losses = list(dict.fromkeys(row["loss"] for row in rows))
    grid_n, grid_m = _full_grid(rows)
    by = {(row["loss"], row["queries"], row["documents"]): row for row in rows}
    panels = {loss: [[by[loss, n, m]["centred_gap"] for m in grid_m] for n in grid_n] for loss in losses}
    closest = min(rows, key=lambda row: row["bound"] - row["gap_largest"])
    broken = sum(row["gap_largest"] > row["bound"] for row in rows)
    held = "No repetition breaks it" if not broken else f"{broken} cells break it"
    steps = [
        falls
        for one in panels.values()
        for lines in (one, zip(*one, strict=True))
        for line in lines
        for falls in (after < before for before, after in itertools.pairwise(line))
    ]
    words = (
        "Rankers are trained on n queries with m documents each, drawn from a population of which fresh samples are "
        "free, so that the expected risk is known. How far below it is the training risk? From cell to cell the gap "
        f"falls in {sum(steps)} of {len(steps)} steps to more queries or more documents."
    )
    bound = (
        f"Theorem 1 bounds the gap by four terms, two a layer. {held}: over {len(rows)} cells the largest gap of "
        f"{rows[0]['repetitions']} repetitions stays {closest['bound'] - closest['gap_largest']:.2f} or more below. "
        f"It is no estimate of the gap, being {_least_ratio(rows):.0f} times as large or more. What it says of the "
        "roles of n and m is looked at below."
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


def _least_ratio(rows: Sequence[Row]) -> float:
    return min(float(row["bound"] / row["gap_largest"]) for row in rows if row["gap_largest"] > 0.0)


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
    columns = [Column("n", "n"), Column("m", "m"), Column("gap", "Largest gap")]
    columns += [*(Column(name, title) for name, title in TERMS.items()), Column("bound", "Bound")]
    groups = []
    for loss in losses:
        mine = [row for row in rows if row["loss"] == loss]
        corners = [mine[0], max(mine, key=lambda row: row["documents"]), max(mine, key=lambda row: row["queries"])]
        values = ("gap_largest", *TERMS, "bound")
        cells = [
            (whole(row["queries"]), whole(row["documents"]), *(scientific(row[name]) for name in values))
            for row in corners
        ]
        groups.append(Group(loss, tuple(cells)))
    notes = (
        "The smallest sample, the most documents per query, and the most queries; all cells are in the table of "
        "results. Zero-one: of the rankers trained with the hinge loss.",
    )
    caption = "The four terms of Theorem 1 beside the largest gap"
    return Table("twolayer-terms", caption, GAPS, tuple(columns), tuple(groups), notes)


def _layers(
    by: dict[tuple[str, int, int], Row], losses: Sequence[str], grid_n: Sequence[int], grid_m: Sequence[int]
) -> tuple[Block, ...]:
    columns = (
        Column("n", "n"),
        Column("m", "m"),
        Column("gap", "Gap"),
        Column("query", "Query-layer error"),
        Column("query_bound", "Theorem 2"),
        Column("document", "Document-layer error"),
        Column("document_bound", "Theorem 3"),
    )
    corners = [(n, m) for n in (grid_n[0], grid_n[-1]) for m in (grid_m[0], grid_m[-1])]
    groups = []
    for loss in losses:
        rows = [by[loss, n, m] for n, m in corners]
        cells = [
            (
                whole(row["queries"]),
                whole(row["documents"]),
                _with_half(row, "gap"),
                _with_half(row, "query_error"),
                scientific(row["query_bound"]),
                _with_half(row, "document_error"),
                scientific(row["document_bound"]),
            )
            for row in rows
        ]
        groups.append(Group(loss, tuple(cells)))
    few_documents, many_documents = corners[0], corners[1]
    shares = [
        sorted(by[(loss, *place)]["document_error"] / by[(loss, *place)]["gap"] for loss in losses)
        for place in (few_documents, many_documents)
    ]
    words = (
        "The middle risk, over all documents of the sampled queries, splits the gap in two: what comes from having "
        "few queries, and what comes from having few documents of them. "
        f"At {few_documents[0]} queries the layer of documents makes up {_range(shares[0])} of the gap with "
        f"{few_documents[1]} documents per query and {_range(shares[1])} with {many_documents[1]}. Theorems 2 and 3 "
        "bound the two layers apart."
    )
    notes = ("Means over repetitions ± half of their 95 % intervals.",)
    caption = "The gap by layer, at the corners of the grid"
    return Paragraph(words), Table("twolayer-layers", caption, GAPS, columns, tuple(groups), notes)


def _range(shares: Sequence[float]) -> str:
    low, high = f"{100 * shares[0]:.0f}", f"{100 * shares[-1]:.0f}"
    return f"{low} %" if low == high else f"{low} to {high} %"


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
        "Discussion 2 says that the bound goes to 0 only if queries and documents both grow, and that otherwise an "
        "error of the other layer always stays. Two lines through the grid test it. "
        f"At {n} queries and ever more documents the gap levels off above 0 for {above['documents']} of "
        f"{len(stays['documents'])} losses: few queries leave an error that no judging of documents mends. At {m} "
        f"documents and ever more queries the fitted limit is above 0 for {above['queries']} of "
        f"{len(stays['queries'])}."
    )
    why = (
        "Why does the gap go to 0 with the number of queries alone? The training risk is an average over independent "
        "queries, each without bias however few its documents, so that the errors of documents average out over "
        "queries. Theorem 3 bounds the supremum over the class of this average by the average of suprema, which "
        "do not average out: it is the bound that stays, not the gap (errata, letter R)."
    )
    columns = [
        Column("loss", "Loss", "left"),
        Column("growing", "Growing alone", "left"),
        Column("limit", "Limit"),
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
                text(f"{row['growing']}, {_other(row['growing'])}\u00a0=\u00a0{row['fixed']}"),
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
    told = (Paragraph(words), *((Paragraph(why),) if above["queries"] == 0 else ()))
    return (Subsection("twolayer-limits-part", "Do both have to grow?", (*told, *figures, table)),)


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
        "A budget of C documents buys many queries with few documents each (shallow judging) or few queries with "
        "many (deep). Discussion 3 says that neither end is best, and that Theorem 1 is smallest at"
    )
    formula = Formula("n^{*} = (c_1 V^{1/2} + (2 log(4/δ))^{1/2}) / (c_1 (2V)^{1/2}) · C^{1/2},   m^{*} = C / n^{*}")
    found = (
        f"What is best when rankers are trained? In {inner} of {len(best)} cases both ends are worse than a split "
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
            _with_half(row, "error_shallowest"),
            number(row["error_inner"], 4),
            _with_half(row, "error_deepest"),
        ]
        for row in best
    ]
    notes = [
        "Best n: of the smallest mean error, its interval by the bootstrap over repetitions. By variance: to first "
        "order for large C, on the population only. Errors of the ends ± half of the 95 % interval of their paired "
        "difference from the inner split."
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
        " The variance of the gradients, over queries, documents and pairs, tells more than the bound: by it "
        f"{depth:.2f} documents per query are best [{last['variance_documents_low']:.2f}, "
        f"{last['variance_documents_high']:.2f}] whatever the budget, if only it is large; for C = {last['budget']:,} "
        f"that is {'inside' if inside else 'outside'} the interval of the measured optimum."
    )


def _curve(rows: Sequence[Row], best: Sequence[Row], dataset: str) -> Figure:
    mine = sorted((row for row in rows if row["dataset"] == dataset), key=lambda row: row["queries"])
    chosen = sorted((row for row in best if row["dataset"] == dataset), key=lambda row: row["budget"])
    # On the population the error is known to which training tends: what exceeds it is drawn.
    in_excess = all(row["reference_error"] is not None for row in mine)
    series: dict[str, list[Point]] = {}
    marks: dict[str, list[Point]] = {}
    for one in chosen:
        points = [_excess(row) if in_excess else _error(row) for row in mine if row["budget"] == one["budget"]]
        series[f"C = {one['budget']:,}"] = points
        for name, queries in _marked(one).items():
            height = _between(points, queries)
            marks.setdefault(name, []).append((queries, height, height, height))
    what = "excess error" if in_excess else "pairwise 0-1 error"
    beyond = ", in excess of that of the ranker to which training tends" if in_excess else ""
    return Figure(
        name=f"twolayer-tradeoff-{dataset.lower()}",
        title=f"Error at a fixed number of judged documents: {dataset}",
        caption=f"Pairwise 0-1 error of the trained ranker{beyond}, mean with its 95 % interval; deep judging at the "
        "left, shallow at the right",
        source=TRADEOFF,
        description="; ".join(
            f"C = {row['budget']}: lowest at {row['best_queries']:.0f} queries, n* = {row['predicted_queries']:.0f}"
            for row in chosen
        ),
        draw=partial(line_plot, series | marks, xlabel="queries, n", ylabel=what, log="xy" if in_excess else "x"),
    )


def _marked(best: Row) -> dict[str, float]:
    """The places marked on a curve, as numbers of queries."""
    places = {"smallest": best["best_queries"], "at n*": best["predicted_queries"]}
    depth = best["variance_documents"]
    return places if depth is None else places | {"by variance": best["budget"] / depth}


def _error(row: Row) -> Point:
    return row["queries"], row["error"], row["low"], row["high"]


def _excess(row: Row) -> Point:
    reference = row["reference_error"]
    return _point(row["queries"], row["error"] - reference, row["low"] - reference, row["high"] - reference)


def _between(points: Sequence[Point], x: float) -> float:
    """The height of the line through the points at x, which is straight where x is logarithmic."""
    if not points[0][0] < x < points[-1][0]:
        return points[0][1] if x <= points[0][0] else points[-1][1]
    left, right = next(pair for pair in itertools.pairwise(points) if x <= pair[1][0])
    share = math.log(x / left[0]) / math.log(right[0] / left[0])
    return left[1] + share * (right[1] - left[1])


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
        "asked for, 1 − δ. Plan a budget of your own with `python -m pipeline_lib budget --documents 50000 "
        "--features 46 --delta 0.05`."
    )
    figure = Figure(
        name="twolayer-capacity",
        title="The best number of queries by the bound",
        caption=f"n* for a budget of {budget:,} documents",
        source=PLANS,
        description="All lines fall with V; a higher confidence lies above a lower one.",
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
        "From how many queries and documents on does Theorem 1 say anything at all, being smaller than the largest "
        f"loss? For V = {last['vc_dimension']} and the 0-1 loss, {last['informative_from']:,} queries with as many "
        f"documents each if c₁ = {last['c1']:g}, which the paper leaves open, and "
        f"{last['informative_from_sauer']:,} with a constant that can be computed."
    )
    caption = f"The smallest n = m with a bound below 1, 0-1 loss, confidence {1 - delta:g}"
    return Paragraph(words), simple("twolayer-informative", caption, PLANS, columns, cells)


def samplings(results: ResultsFolder) -> tuple[Block, ...]:
    """Two-layer sampling beside (n, m)-sampling."""
    rows = results.rows(SAMPLINGS, columns=["queries", "documents", "what", "value", "low", "high"])
    if not rows:
        return ()
    whats = list(dict.fromkeys(row["what"] for row in rows))
    by = {(row["queries"], row["documents"], row["what"]): row for row in rows}
    places = list(dict.fromkeys((row["queries"], row["documents"]) for row in rows))
    columns = [Column("n", "n"), Column("m", "m")]
    columns += [Column(f"s{i}", DIFFERENCES.get(name, name)) for i, name in enumerate(whats)]
    cells = []
    for place in places:
        found = [by[(*place, name)] for name in whats]
        halves = [(row["high"] - row["low"]) / 2 for row in found]
        shown = [
            Cell(number(row["value"], signed=row["what"] in DIFFERENCES).text, row["value"], number(half).text, half)
            for row, half in zip(found, halves, strict=True)
        ]
        cells.append([whole(place[0]), whole(place[1]), *shown])
    words = (
        "Section 3.1 sets two-layer sampling apart from (n, m)-sampling by two things: queries may have different "
        "numbers of documents, and documents of one query are not independent as feature vectors. What does each do "
        "to the gap? Uneven lists with the same mean length, and lists of elements that are all independent, stand "
        "beside the common case. "
        + " ".join(
            _told(words, [row for row in rows if row["what"] == name])
            for name, words in (("lengths", "Different lengths make"), ("dependence", "Sharing a query makes"))
        )
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


# How the page calls the differences between two of the samplings.
DIFFERENCES = {"lengths": "difference by lengths", "dependence": "difference by dependence"}


def _told(what: str, rows: Sequence[Row]) -> str:
    up, down = (sum(row["low"] > 0.0 for row in rows), sum(row["high"] < 0.0 for row in rows))
    return f"{what} the gap larger in {up} and smaller in {down} of {len(rows)} places, beyond the interval."


def averages(results: ResultsFolder) -> tuple[Block, ...]:
    """Definition 3 and equation 6 beside plain computations."""
    rows = results.rows(IDENTITIES, columns=["statement", "case", "difference"])
    mine = [row for row in rows if row["statement"] == "definition 3"]
    equation = [row for row in rows if row["statement"] == "equation 6"]
    if not mine or not equation:
        return ()
    words = (
        "Theorems 2 and 3 rest on the two-layer Rademacher average of Definition 3: with two documents per query or "
        "with a single query it should be the ordinary average of as many pairs. Monte Carlo agrees with the "
        "ordinary average, and on tiny samples with the exact mean over all signs, to within "
        f"{max(row['difference'] for row in mine):.1f} standard errors. Equation 6, an average over all pairs as one "
        f"over permutations of disjoint pairs, holds up to m = {max(row['m'] for row in equation)} with a largest "
        f"difference of {scientific(max(row['difference'] for row in equation)).text}."
    )
    columns = [
        Column("case", "Sample", "left"),
        Column("two_layer", "Definition 3"),
        Column("other", "Ordinary, or exact"),
        Column("apart", "Standard errors apart"),
    ]
    cells = []
    for row in mine:
        pair = [
            Cell(number(row[name]).text, row[name], number(row[f"{name}_error"]).text, row[f"{name}_error"])
            if row[f"{name}_error"]
            else number(row[name])
            for name in ("two_layer", "ordinary")
        ]
        cells.append([text(row["case"]), *pair, number(row["difference"], 1)])
    notes = ["± standard error; a number without it is exact."]
    table = simple(
        "twolayer-averages", "Two-layer Rademacher averages, linear rankers", IDENTITIES, columns, cells, notes
    )
    return (Subsection("twolayer-averages-part", "The average behind the bounds", (Paragraph(words), table)),)


# A part reads its own tables and gives blocks, none where its tables are absent. Order: that of the page.
PARTS: tuple[Part, ...] = (gaps, limits, older, tradeoff, capacity, samplings, averages)
