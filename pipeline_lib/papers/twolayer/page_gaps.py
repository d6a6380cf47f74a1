"""What does the page of the paper `twolayer` say about gaps and bounds? The parts on Theorems 1, 2 and 3."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from pipeline_lib.reporting.blocks import Block, Paragraph, Subsection
from pipeline_lib.reporting.figures import Band, Figure, banded, heat_maps, line_plot
from pipeline_lib.reporting.results import ResultsFolder, Row
from pipeline_lib.reporting.tables import (
    Cell,
    Column,
    Group,
    Table,
    number,
    plus_minus,
    scientific,
    simple,
    span,
    text,
    whole,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing

GAPS = "tables/twolayer-gaps.parquet"
LIMITS = "tables/twolayer-limits.parquet"
OLDER = "tables/twolayer-older-bounds.parquet"

KINDS = {
    "two_layer": "two layers (Theorem 1)",
    "two_layer_pooled": "two layers, pooled (erratum R)",
    "query_level": "queries only (2.3)",
    "document_level": "documents only (2.2)",
}
SHOWN = {"gap": "measured gap", **KINDS}
# What heat maps, lines and limits are of.
CENTRED = "Mean gap minus the gap of the population's best ranker on the same samples, whose expectation is 0"
TERMS = {
    "query_complexity": "Queries: complexity",
    "query_concentration": "Queries: concentration",
    "document_complexity": "Documents: complexity",
    "document_concentration": "Documents: concentration",
}


def gaps(results: ResultsFolder) -> tuple[Block, ...]:
    """Gap, its two layers and the four terms of the bound over the grid."""
    needed = ["loss", "queries", "documents", "centred_gap", "gap_largest", "bound", "query_bound", "document_bound"]
    needed += ["largest_loss", "repetitions", "certified"]
    rows = results.rows(GAPS, columns=[*needed, *TERMS])
    if not rows:
        return ()
    losses = list(dict.fromkeys(row["loss"] for row in rows))
    grid_n, grid_m = _full_grid(rows)
    by = {(row["loss"], row["queries"], row["documents"]): row for row in rows}
    panels = {loss: [[by[loss, n, m]["centred_gap"] for m in grid_m] for n in grid_n] for loss in losses}
    steps = [
        falls
        for one in panels.values()
        for lines in (one, zip(*one, strict=True))
        for line in lines
        for falls in (after < before for before, after in itertools.pairwise(line))
    ]
    words = (
        "Rankers are trained on n queries with m documents each, drawn from a population from which fresh samples can "
        "be drawn, so that the expected risk is known. How far below it is the training risk? From cell to cell the "
        "gap "
        f"falls in {sum(steps)} of {len(steps)} steps to more queries or more documents. Of the rankers, "
        f"{sum(row['certified'] for row in rows):,} of {sum(row['repetitions'] for row in rows):,} are certified "
        "minimisers of the training risk."
    )
    bound = (
        f"Theorem 1 bounds the gap by four terms, two for each layer. {_held(rows)} The bound is smaller than the "
        "largest "
        "loss, so that a gap could break it at all, in "
        f"{sum(row['bound'] < row['largest_loss'] for row in rows)} of {len(rows)} cells. What it implies about the "
        "roles of "
        "n and m is examined below."
    )
    figure = Figure(
        name="twolayer-gaps",
        title="The gap between expected and training risk",
        caption=f"{CENTRED}, by number of queries n and documents per query m",
        source=GAPS,
        description=f"From cell to cell the gap falls in {sum(steps)} of {len(steps)} steps.",
        draw=partial(_heat, panels, grid_n, grid_m),
    )
    return (
        Subsection(
            "twolayer-gaps-part",
            "The gap and Theorem 1",
            (Paragraph(words), figure, Paragraph(bound), _terms(rows, losses), *_layers(by, losses, grid_n, grid_m)),
        ),
    )


def _held(rows: Sequence[Row]) -> str:
    least = min(row["bound"] - row["gap_largest"] for row in rows)
    if least < 0.0:
        broken = sum(row["gap_largest"] > row["bound"] for row in rows)
        return f"{broken} of {len(rows)} cells break it, by up to {-least:.2f}."
    held = (
        f"No repetition violates it: over {len(rows)} cells the largest gap of {rows[0]['repetitions']} repetitions "
        f"stays {least:.2f} or more below."
    )
    times = min((row["bound"] / row["gap_largest"] for row in rows if row["gap_largest"] > 0.0), default=0.0)
    return (
        f"{held} It is not an estimate of the gap, since it is at least {times:.0f} times as large."
        if times > 2.0
        else held
    )


def _heat(
    panels: Mapping[str, Sequence[Sequence[float | None]]], grid_n: Sequence[int], grid_m: Sequence[int]
) -> Drawing:
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
    caption = "The four terms of Theorem 1 and the largest gap"
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
                _interval(row, "gap"),
                _interval(row, "query_error"),
                scientific(row["query_bound"]),
                _interval(row, "document_error"),
                scientific(row["document_bound"]),
            )
            for row in rows
        ]
        groups.append(Group(loss, tuple(cells)))
    few_documents, many_documents = corners[0], corners[1]
    shares = [
        sorted(_share(by[(loss, *place)]) for loss in losses if by[(loss, *place)]["gap"] > 0.0)
        for place in (few_documents, many_documents)
    ]
    parts = ""
    if all(shares):
        parts = (
            f"At {few_documents[0]} queries the layer of documents makes up {_range(shares[0])} of the gap with "
            f"{few_documents[1]} documents per query and {_range(shares[1])} with {many_documents[1]}. "
        )
    words = (
        "The middle risk, over all documents of the sampled queries, divides the gap into the part that is due to "
        "having "
        "few queries and the part that is due to having few documents for each. "
        f"{parts}Theorems 2 and 3 bound the two layers separately."
    )
    notes = ("Means over repetitions ± half of their 95 % intervals.",)
    caption = "The gap by layer, at the corners of the grid"
    return Paragraph(words), Table("twolayer-layers", caption, GAPS, columns, tuple(groups), notes)


def _share(row: Row) -> float:
    return float(row["document_error"] / row["gap"])


def _range(shares: Sequence[float]) -> str:
    low, high = f"{100 * shares[0]:.0f}", f"{100 * shares[-1]:.0f}"
    return f"{low} %" if low == high else f"{low} to {high} %"


def _interval(row: Row, name: str) -> Cell:
    return plus_minus(row[name], (row[f"{name}_high"] - row[f"{name}_low"]) / 2.0)


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
    left = ": with few queries, an error remains that no number of documents removes" if above["documents"] else ""
    words = (
        "Discussion 2 states that the bound goes to 0 only if queries and documents both grow, and that otherwise an "
        "error of the other layer always remains. Two lines through the grid test it. "
        f"At {n} queries and ever more documents the gap levels off above 0 for {above['documents']} of "
        f"{len(stays['documents'])} losses{left}. At {m} documents and ever more queries the fitted limit is above 0 "
        f"for {above['queries']} of {len(stays['queries'])}."
    )
    why = (
        "Why does the gap go to 0 with the number of queries alone? The training risk is an average over independent "
        "queries, each without bias however few its documents, so that the errors of documents average out over "
        "queries. Theorem 3 bounds the supremum over the class of this average by the average of suprema, which "
        "do not average out: it is the bound that levels off, not the gap (errata, letter R)."
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
                number(row["limit"], 5, signed=True),
                span(row["limit_low"], row["limit_high"], 5, signed=True),
                number(row["exponent"], 2, signed=True),
                between,
            ]
        )
    notes = [
        "Limits: gap = limit + b/x + c/x² through the four largest x; the intervals hold jointly with 95 % confidence. "
        "Exponents: of the whole line, −1 for 1/x."
    ]
    figures = [_line(measured, "queries", m)]
    if any(row["queries"] == n and row["centred_gap"] > 0.0 for row in measured):
        figures.append(_line(measured, "documents", n))
    table = simple(
        "twolayer-limits", "Limits of the gap when only one of the two numbers grows", LIMITS, columns, cells, notes
    )
    told = (Paragraph(words), *((Paragraph(why),) if above["queries"] == 0 else ()))
    return (Subsection("twolayer-limits-part", "Do both have to grow?", (*told, *figures, table)),)


def _other(axis: str) -> str:
    return {"queries": "m", "documents": "n"}[axis]


def _line(rows: Sequence[Row], axis: str, fixed: int) -> Figure:
    other = {"queries": "documents", "documents": "queries"}[axis]
    lines = {}
    for loss in dict.fromkeys(row["loss"] for row in rows):
        mine = [row for row in rows if row["loss"] == loss and row[other] == fixed]
        lines[loss] = sorted(mine, key=lambda row: row[axis])
    series = {loss: _positive(line, axis, "centred_gap") for loss, line in lines.items()}
    if axis == "queries":
        # What levels off when queries grow alone is the bound.
        loss = "hinge" if "hinge" in lines else next(iter(lines))
        series[f"Theorem 1, {loss}"] = [(row[axis], *[row["bound"]] * 3) for row in lines[loss]]
    letter = {"queries": "queries, n", "documents": "documents per query, m"}[axis]
    beside = f"{fixed} {'queries' if axis == 'documents' else 'documents per query'}"
    means = {loss: [row["centred_gap"] for row in line] for loss, line in lines.items()}
    ends = ", ".join(f"{loss} from {line[0]:.3g} to {line[-1]:.3g}" for loss, line in means.items())
    return Figure(
        name=f"twolayer-gap-against-{axis}",
        title=f"The gap against the number of {axis}, with {beside}",
        caption=f"{CENTRED}, with its 95 % interval{_not_drawn(itertools.chain(*means.values()))}",
        source=GAPS,
        description=f"Mean gap from the fewest to the most {axis}: {ends}.",
        draw=partial(
            line_plot,
            {name: points for name, points in series.items() if points},
            xlabel=letter,
            ylabel="gap, bound" if axis == "queries" else "gap",
            log="xy",
        ),
    )


def _positive(rows: Sequence[Row], axis: str, name: str) -> list[Band]:
    return [banded(row[axis], row[name], row[f"{name}_low"], row[f"{name}_high"]) for row in rows if row[name] > 0.0]


def _not_drawn(means: Iterable[float]) -> str:
    return "" if all(mean > 0.0 for mean in means) else "; means of 0 and below cannot be shown on the axis"


def older(results: ResultsFolder) -> tuple[Block, ...]:
    """Three kinds of bound on one axis, beside the gap."""
    rows = results.rows(OLDER, columns=["loss", "queries", "documents", "gap", "gap_low", "gap_high", *KINDS])
    if not rows:
        return ()
    loss = rows[0]["loss"] if all(row["loss"] != "hinge" for row in rows) else "hinge"
    mine = [row for row in rows if row["loss"] == loss]
    points = _positive(mine, "documents", "gap")
    series = {"measured gap": points} if points else {}
    series |= {title: [(row["documents"], *[row[name]] * 3) for row in mine] for name, title in KINDS.items()}
    first, last = mine[0], mine[-1]
    left = {name: last[name] / first[name] for name in KINDS}
    gap, falls = "", ""
    if first["gap"] > 0.0:
        gap = f", {100 * last['gap'] / first['gap']:.1f} % of the gap remains"
        if left["document_level"] < last["gap"] / first["gap"]:
            falls = ": it falls further than the gap, counting every document as new evidence"
    words = (
        f"How do bounds that consider only one layer compare? At {first['queries']} queries and from "
        f"{first['documents']} "
        f"to {last['documents']} documents per query ({loss} loss){gap}. The bound for queries as wholes keeps "
        f"{100 * left['query_level']:.0f} %: documents do not enter it. The bound for independent documents keeps "
        f"{100 * left['document_level']:.1f} %{falls}. Theorem 1 keeps "
        f"{100 * left['two_layer']:.0f} %, down to its layer of queries."
    )
    figure = Figure(
        name="twolayer-older-bounds",
        title=f"Three kinds of bound and the gap against documents per query, with {first['queries']} queries",
        caption=f"Bounds that hold with the same probability, {loss} loss; the gap as above, with its 95 % interval"
        + _not_drawn(row["gap"] for row in mine),
        source=OLDER,
        description="From the fewest to the most documents: "
        + ", ".join(f"{title} from {first[name]:.3g} to {last[name]:.3g}" for name, title in SHOWN.items())
        + ".",
        draw=partial(line_plot, series, xlabel="documents per query, m", ylabel="bound, gap", log="xy"),
    )
    return (Subsection("twolayer-older-part", "Earlier bounds", (Paragraph(words), figure)),)
