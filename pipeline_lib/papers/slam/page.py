"""What was found about the paper `slam`? Its page of the report: one part an experiment, in the paper's order."""

from __future__ import annotations

from collections.abc import Callable

from pipeline_lib.markup import listed
from pipeline_lib.papers.slam import page_batch, page_online
from pipeline_lib.reporting.blocks import Block, Formula, Paragraph, Section, Subsection
from pipeline_lib.reporting.figures import Figure, line_plot
from pipeline_lib.reporting.results import ResultsFolder, Row
from pipeline_lib.reporting.tables import Column, number, scientific, simple, text, whole

Part = Callable[[ResultsFolder], tuple[Block, ...]]

CHECKS = "tables/slam-losses.parquet"
CONSTANTS = "tables/slam-constants.parquet"
GROWTH = "tables/slam-growth.parquet"
WEIGHTS = "tables/slam-weights.parquet"
TITLES = {"ndcg": "v for NDCG", "map": "v for MAP (label ≥ 1 counts)", "ndcg@3": "v for NDCG@3"}
BOUNDS = {"ndcg": "1 − NDCG", "map": "1 − AP", "ndcg@10": "1 − NDCG@10"}
ROUNDING = 1e-9
"""What counts as equal: the tolerance of the ledger."""


def build(results: ResultsFolder) -> Section | None:
    """Join the parts whose tables are there; no section where none is."""
    blocks = tuple(block for part in PARTS for block in part(results))
    return Section("slam", "Perceptron-like algorithms and generalization bounds", blocks) if blocks else None


def weights(results: ResultsFolder) -> tuple[Block, ...]:
    """What the three weight vectors look like on one list."""
    rows = results.rows(WEIGHTS, columns=["position", "label", "kind", "weight"])
    if not rows:
        return ()
    kinds = list(dict.fromkeys(row["kind"] for row in rows))
    labels = [row["label"] for row in rows if row["kind"] == kinds[0]]
    series = {
        TITLES.get(kind, kind): [
            (row["position"], row["weight"], row["weight"], row["weight"]) for row in rows if row["kind"] == kind
        ]
        for kind in kinds
    }
    sums = ", ".join(f"{sum(y for _, y, _, _ in points):.3f} ({name})" for name, points in series.items())
    figure = Figure(
        name="slam-weights",
        title="The weights of one list",
        caption=f"Weights of documents with the labels {', '.join(map(str, labels))}, numbered by decreasing label",
        source=WEIGHTS,
        description=f"Weights decrease with the position; documents of the lowest label have weight 0. Sums: {sums}.",
        draw=lambda: line_plot(series, xlabel="document, by decreasing label", ylabel="weight v"),
    )
    words = (
        "For every document i, SLAM adds the hinge of the best less relevant document, multiplied by the weight of i. "
        f"The weights make the loss an upper bound on a ranking loss. On this list they sum to {sums}; section 4 "
        "states that no sum exceeds 1."
    )
    formula = Formula("φ^v(s, y) = Σ_i v_i max(0, 1 + max_j s_j − s_i),  j over the documents of lower label than i")
    return (Subsection("slam-weights-part", "The loss and its weights", (Paragraph(words), formula, figure)),)


def bounds(results: ResultsFolder) -> tuple[Block, ...]:
    """How far the loss lies above the ranking loss it bounds."""
    rows = results.rows(CHECKS, columns=["claim", "statistic", "value"])
    slacks = [row for row in rows if row["statistic"] == "smallest_slack"]
    if not slacks:
        return ()
    smallest = min(row["value"] for row in slacks)
    held = "No list violates a bound" if smallest >= -ROUNDING else "At least one list violates a bound"
    words = (
        "Theorems 2 and 3 and Corollary 7 state that the loss is never below the ranking loss. Is the difference, the "
        "slack, ever negative on random and adversarial lists, or after descent from the lists with the least slack? "
        f"{held}: over {len(slacks)} settings the smallest slack is {_exponent(smallest)}, with rounding errors "
        "of up to 1e-9. The lines show the median of the slack over lists that are ranked wrongly, with its quartiles "
        "as a band."
    )
    labels = max(row["y_max"] for row in slacks)
    series = {title: points for kind, title in BOUNDS.items() if (points := _slack_by_length(rows, kind, labels))}
    blocks: list[Block] = [Paragraph(words)]
    if series:
        blocks.append(
            Figure(
                name="slam-slack",
                title="How far SLAM lies above the ranking loss",
                caption=f"Median and quartiles of the slack over wrongly ranked lists, labels up to {labels}",
                source=CHECKS,
                description=f"All slacks are at least {_exponent(smallest)}.",
                draw=lambda: line_plot(
                    series, xlabel="documents in the list, m", ylabel="loss − ranking loss", log="x"
                ),
            )
        )
    columns = [
        Column("loss", "Ranking loss", "left"),
        Column("settings", "Settings"),
        Column("slack", "Smallest slack"),
    ]
    columns.append(Column("printed", "Smallest slack, eq. 30 as printed"))
    cells = []
    for kind in dict.fromkeys(row["kind"] for row in slacks):
        mine = [row["value"] for row in slacks if row["kind"] == kind]
        printed = [r["value"] for r in rows if r["kind"] == kind and r["statistic"] == "smallest_slack_as_printed"]
        name = BOUNDS.get(kind, f"1 − {kind.upper()}")
        cells.append([text(name), whole(len(mine)), scientific(min(mine)), scientific(min(printed, default=None))])
    notes = ["A setting is a length m and a largest label. Negative numbers of about 1e-15 are rounding errors."]
    printed = [row["value"] for row in rows if row["statistic"] == "smallest_slack_as_printed"]
    if min(printed, default=0.0) < -ROUNDING:
        notes.append(
            "Eq. 30 contains a sum over the first k documents where the first k ranks are meant. As printed, the "
            "bound fails: the ranking loss then depends on the order of equally relevant documents, and SLAM does not."
        )
    blocks.append(simple("slam-slacks", "Smallest slack by ranking loss", CHECKS, columns, cells, notes))
    return (Subsection("slam-bounds-part", "Upper bounds on ranking losses", tuple(blocks)),)


def constants(results: ResultsFolder) -> tuple[Block, ...]:
    """The table of section 6.1: how large gradients get in lists of m documents."""
    rows = results.rows(CONSTANTS, columns=["surrogate", "m", "exact", "searched", "published"])
    growth = {row["surrogate"]: row["exponent"] for row in results.rows(GROWTH, columns=["surrogate", "exponent"])}
    if not rows or not growth:
        return ()
    names = list(dict.fromkeys(row["surrogate"] for row in rows))
    lengths = sorted({row["m"] for row in rows})
    by = {(row["surrogate"], row["m"]): row for row in rows}
    growing = [name for name in names if growth[name] > 0.5]
    ratios = [row["searched"] / row["exact"] for row in rows]
    rising = listed(growing) or "none"
    words = (
        "The bounds of section 6 are proportional to the largest l1 norm of the gradient with respect to the scores. "
        "Is "
        f"it independent of the length m of the lists? It grows for {rising}, and is bounded for the "
        "others. The "
        f"search finds at least {100 * min(ratios):.2f} % of the exact supremum and at most {max(ratios) - 1:.0e} more."
    )
    columns = [Column("surrogate", "Loss", "left"), Column("published", "As published", "left")]
    columns += [Column(f"m{m}", f"m = {m}") for m in lengths] + [Column("exponent", "Growth exponent")]
    cells = [
        [
            text(name),
            text(by[name, lengths[0]]["published"]),
            *(scientific(by[name, m]["exact"]) for m in lengths),
            number(growth[name], 2),
        ]
        for name in names
    ]
    searched = [[text(name), *(scientific(by[name, m]["searched"]) for m in lengths)] for name in names]
    few = [columns[0], *columns[2:-1]]
    notes = ["Exact suprema; the growth exponent is the slope of their logarithm against that of m."]
    twins = [
        f"{one} and {other}"
        for i, one in enumerate(names)
        for other in names[i + 1 :]
        if all(by[one, m]["exact"] == by[other, m]["exact"] for m in lengths)
    ]
    if twins:
        notes.append(f"With equal suprema, and a single line in the figure: {'; '.join(twins)}.")
    series = {name: [(m, *[by[name, m]["exact"]] * 3) for m in lengths] for name in names}
    figure = Figure(
        name="slam-constants",
        title="The largest l1 norm of the gradient against the length of the list",
        caption="Exact suprema of the l1 norm of the gradient with respect to the scores",
        source=CONSTANTS,
        description=f"The lines of {rising} rise as powers of m; the others level off.",
        draw=lambda: line_plot(series, xlabel="documents in the list, m", ylabel="sup of ||∇φ||₁", log="xy"),
    )
    blocks = (
        Paragraph(words),
        simple("slam-constants", "Largest l1 norm of the gradient (section 6.1)", CONSTANTS, columns, cells, notes),
        figure,
        simple(
            "slam-constants-searched", "Largest l1 norm of the gradient, as found by search", CONSTANTS, few, searched
        ),
    )
    return (
        Subsection("slam-constants-part", "For which losses is the gradient bounded for lists of any length?", blocks),
    )


def _slack_by_length(rows: list[Row], kind: str, y_max: int) -> list[tuple[float, float, float, float]]:
    found: dict[int, dict[str, float]] = {}
    for row in rows:
        if row["kind"] == kind and row["y_max"] == y_max and row["statistic"] in ("lower", "median", "upper"):
            found.setdefault(row["m"], {})[row["statistic"]] = row["value"]
    return [(m, at["median"], at["lower"], at["upper"]) for m, at in sorted(found.items())]


def _exponent(value: float) -> str:
    return scientific(value).text


# A part reads its own tables and gives blocks, none where its tables are absent. Order: that of the paper.
PARTS: tuple[Part, ...] = (
    weights,
    bounds,
    page_online.cumulative,
    page_online.separable,
    page_online.steps,
    page_online.largest_ratios,
    page_batch.excess_risk,
    constants,
    page_batch.dimensions,
    page_batch.practice,
)
