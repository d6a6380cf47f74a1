"""What was found about the paper `lists`? Its page of the report: one part an experiment, in the paper's order."""

from __future__ import annotations

from collections.abc import Callable

from pipeline_lib.reporting.blocks import Block, Paragraph, Section, Subsection
from pipeline_lib.reporting.figures import Figure, line_plot
from pipeline_lib.reporting.results import ResultsFolder, Row
from pipeline_lib.reporting.tables import Cell, Column, Group, Table, scientific, simple, text, whole

Part = Callable[[ResultsFolder], tuple[Block, ...]]

CONSTANTS = "tables/lists-constants.parquet"
CHECKS = "tables/lists-identities.parquet"
WHATS = {
    "lipschitz-linf": "G, maximum norm",
    "lipschitz-l2": "G, Euclidean norm",
    "smoothness": "H, maximum norm",
    "bound": "B",
}
ROUNDING = 1e-9
"""What counts as equal: the tolerance of the ledger."""


def build(results: ResultsFolder) -> Section | None:
    """Join the parts whose tables are there; no section where none is."""
    blocks = tuple(block for part in PARTS for block in part(results))
    return Section("lists", "Generalization bounds and the length of lists", blocks) if blocks else None


def constants(results: ResultsFolder) -> tuple[Block, ...]:
    """The constants of every surrogate, stated beside searched."""
    columns = ["part", "surrogate", "m", "y_max", "constant", "stated", "searched"]
    rows = results.rows(CONSTANTS, columns=columns)
    if not rows:
        return ()
    exceeded = [row for row in rows if row["searched"] > row["stated"] * (1.0 + ROUNDING)]
    words = (
        "The bounds rest on how steep a loss is in its scores (G), how fast its slope changes (H) and how large it "
        "gets (B). Does a search over scores and labels ever find more than is stated? "
        + (
            f"In {len(exceeded)} of {len(rows)} searches it does."
            if exceeded
            else f"In none of {len(rows)} searches; where nothing is lost between the two, the constant is sharp."
        )
    )
    blocks: list[Block] = [Paragraph(words), *_by_length(rows), *_table(rows)]
    return (Subsection("lists-constants-part", "The constants of every loss", tuple(blocks)),)


def _by_length(rows: list[Row]) -> list[Block]:
    # ListNet's do not mind how long the list is, RankSVM's do.
    y_max = max(row["y_max"] for row in rows)
    series = {}
    for part, constant, title in (
        ("listnet", "lipschitz-linf", "ListNet, G"),
        ("listnet", "smoothness", "ListNet, H"),
        ("ranksvm", "lipschitz-linf", "RankSVM, G"),
    ):
        chosen = [r for r in rows if (r["part"], r["constant"], r["y_max"]) == (part, constant, y_max)]
        if chosen:
            series[title] = [(row["m"], *[row["searched"]] * 3) for row in sorted(chosen, key=lambda row: row["m"])]
    if not series:
        return []
    ends = "; ".join(
        f"{title}: " + ", ".join(f"{value:,.6g} at m = {m:,}" for m, value, *_ in (points[0], points[-1]))
        for title, points in series.items()
    )
    words = (
        "Does the length of lists matter? Proposition 1 says that ListNet's constants are at most 2 for every length, "
        f"section 3.3 that RankSVM's grows as m squared. Found by search: {ends}."
    )
    figure = Figure(
        name="lists-constants",
        title="Constants against the length of the list",
        caption=f"Largest constants found by search, labels up to {y_max}",
        source=CONSTANTS,
        description=f"{ends}.",
        draw=lambda: line_plot(series, xlabel="documents in the list, m", ylabel="constant found", log="xy"),
    )
    return [Paragraph(words), figure]


def _table(rows: list[Row]) -> list[Block]:
    every = [row for row in rows if row["part"] == "all"]
    if not every:
        return []
    m, y_max = max(row["m"] for row in every), max(row["y_max"] for row in every)
    chosen = [row for row in every if (row["m"], row["y_max"]) == (m, y_max)]
    bounds = {row["score_bound"] for row in chosen if row["score_bound"] is not None}
    by = {(row["surrogate"], row["constant"]): row for row in chosen}
    columns = [Column("surrogate", "Loss", "left"), Column("kind", "", "left")]
    columns += [Column(what, title) for what, title in WHATS.items()]
    groups = []
    for name in dict.fromkeys(row["surrogate"] for row in chosen):
        found = [
            [
                text(name),
                text("found" if kind == "searched" else kind),
                *(_value(by.get((name, what)), kind) for what in WHATS),
            ]
            for kind in ("stated", "exact", "searched")
        ]
        groups.append(Group("", tuple(tuple(row) for row in found)))
    notes = [
        "Stated: what the code and the paper use. Exact: the supremum, where it is known. Found: the largest seen.",
        "What is stated for the structured losses and for SLAM is attained, as the documentation of the code shows.",
        f"B, and the constants of losses that are steep without bound, on scores up to {_listed(bounds)}.",
    ]
    caption = f"Constants in lists of at most {m} documents with labels up to {y_max}"
    return [Table("lists-constants", caption, CONSTANTS, tuple(columns), tuple(groups), tuple(notes))]


def _value(row: Row | None, kind: str) -> Cell:
    return scientific(None if row is None else row[kind])


def lemmas(results: ResultsFolder) -> tuple[Block, ...]:
    """Theorem 3 and Lemmas 4 and 14, by computation."""
    rows = results.rows(CHECKS, columns=["claim", "statistic", "value"])
    if not rows:
        return ()
    blocks: list[Block] = []
    dimensions = [row for row in rows if row["claim"] == "lists-thm3"]
    if dimensions:
        twice = all(row["value"] == 2 * row["d"] for row in dimensions)
        words = (
            "How many linear maps from a query's documents to scores respect every reordering of the documents? "
            f"The rank of the constraints gives {'2d in every case' if twice else 'other numbers than 2d'} "
            "(Theorem 3): X w plus one number, a linear function of the summed documents, added to all scores."
        )
        columns = [Column("m", "Documents m"), Column("d", "Features d"), Column("dimension", "Dimension")]
        cells = [[whole(row["m"]), whole(row["d"]), whole(round(row["value"]))] for row in dimensions]
        blocks += [Paragraph(words), simple("lists-invariance", "Permutation-invariant maps", CHECKS, columns, cells)]
    ratios = [row for row in rows if row["claim"] == "lists-lemma14"]
    if ratios:
        largest = max(row["value"] for row in ratios)
        words = (
            "Lemma 14 bounds how far a smooth non-negative loss differs at two score vectors by its values there. The "
            f"larger the ratio of the two sides, the tighter; above 1 it would be wrong. The largest is {largest:.4f}."
        )
        columns = [Column("loss", "Loss", "left"), Column("ratio", "Largest ratio")]
        cells = [
            [text(case), scientific(max(row["value"] for row in ratios if row["case"] == case))]
            for case in dict.fromkeys(row["case"] for row in ratios)
        ]
        blocks += [Paragraph(words), simple("lists-self-bounding", "Self-bounding", CHECKS, columns, cells)]
    return (Subsection("lists-lemmas-part", "Linear maps and smooth losses", tuple(blocks)),)


def _listed(values: set[float]) -> str:
    return ", ".join(f"{value:g}" for value in sorted(values))


# A part reads its own tables and gives blocks, none where its tables are absent. Order: that of the page.
PARTS: tuple[Part, ...] = (constants, lemmas)
