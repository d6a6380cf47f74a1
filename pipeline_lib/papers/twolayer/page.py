"""What was found about the paper `twolayer`? Its page of the report: what is measured first, then what is computed."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pipeline_lib.papers.twolayer import page_budget, page_gaps
from pipeline_lib.reporting.blocks import Block, Formula, Paragraph, Section, Subsection
from pipeline_lib.reporting.results import ResultsFolder, Row
from pipeline_lib.reporting.tables import Column, number, plus_minus, scientific, simple, text, whole

Part = Callable[[ResultsFolder], tuple[Block, ...]]

SAMPLINGS = "tables/twolayer-samplings.parquet"
IDENTITIES = "tables/twolayer-identities.parquet"


def build(results: ResultsFolder) -> Section | None:
    """Join the parts whose tables are there; no section where none is."""
    blocks = tuple(block for part in PARTS for block in part(results))
    title = "Two-layer generalization analysis"
    return Section("twolayer", title, (*SUBJECT, *blocks)) if blocks else None


SUBJECT = (
    Paragraph(
        "A ranker is trained on n queries with mᵢ judged documents each. Queries are a sample of all possible "
        "queries, and the documents of a query are a sample of all that could be judged. How far can the risk on new "
        "queries and documents, R, exceed the risk in training, Rₜ? With probability 1 − δ, for losses in [0, M] "
        "and all rankers f of a class (Theorem 1),"
    ),
    Formula(
        "R(f) ≤ R_t(f) + D(n) + (2M^2 log(4/δ) / n)^{1/2} + (1/n) Σ_i D(⌊m_i/2⌋) + "
        "(Σ_i 2M^2 log(4/δ) / (m_i n^2))^{1/2}"
    ),
    Paragraph(
        "The first two terms belong to the query layer, the last two to the document layer. D(k) bounds the Rademacher "
        "average of the class on k pairs of documents: how well it can fit pure noise. In each pair of terms, the "
        "first measures the complexity of the class and the second the random fluctuation."
    ),
)


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
        shown = [
            plus_minus(row["value"], (row["high"] - row["low"]) / 2.0, signed=row["what"] in DIFFERENCES)
            for row in found
        ]
        cells.append([whole(place[0]), whole(place[1]), *shown])
    words = (
        "Section 3.1 names two differences between two-layer sampling and (n, m)-sampling: queries may have different "
        "numbers of documents, and documents of one query are not independent as feature vectors. How does each affect "
        "the gap? Lists of unequal lengths with the same mean length, and lists of independent elements, are "
        "compared with the common case. "
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
        [f"{page_gaps.CENTRED}, ± half of its 95 % interval."],
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
        f"{max(row['difference'] for row in mine):.1f} standard errors. The two sides of Equation 6, an average over "
        "all pairs and one over permutations of disjoint pairs, differ by at most "
        f"{scientific(max(row['difference'] for row in equation)).text} up to m = {max(row['m'] for row in equation)}."
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
            plus_minus(row[name], row[f"{name}_error"]) if row[f"{name}_error"] else number(row[name])
            for name in ("two_layer", "ordinary")
        ]
        cells.append([text(row["case"]), *pair, number(row["difference"], 1)])
    notes = ["The numbers after ± are standard errors; a number without one is exact."]
    table = simple(
        "twolayer-averages", "Two-layer Rademacher averages, linear rankers", IDENTITIES, columns, cells, notes
    )
    return (Subsection("twolayer-averages-part", "The average behind the bounds", (Paragraph(words), table)),)


# A part reads its own tables and gives blocks, none where its tables are absent. Order: that of the page.
PARTS: tuple[Part, ...] = (
    page_gaps.gaps,
    page_gaps.limits,
    page_gaps.older,
    page_budget.tradeoff,
    page_budget.capacity,
    samplings,
    averages,
)
