"""What was found about the paper `lists`? Its page of the report: one part an experiment, in the paper's order."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

from pipeline_lib.reporting.blocks import Block, Paragraph, Section, Subsection
from pipeline_lib.reporting.figures import Figure, banded, heat_maps, line_plot
from pipeline_lib.reporting.results import ResultsFolder, Row
from pipeline_lib.reporting.tables import Cell, Column, Group, Table, number, scientific, simple, span, text, whole

Part = Callable[[ResultsFolder], tuple[Block, ...]]

CONSTANTS = "tables/lists-constants.parquet"
CHECKS = "tables/lists-identities.parquet"
CELLS = "tables/lists-cells.parquet"
BOUNDS = "tables/lists-bounds.parquet"
EXPONENTS = "tables/lists-exponents.parquet"
SPARSE = "tables/lists-sparse.parquet"
AVERAGES = "tables/lists-rademacher.parquet"
CLOSED_FORMS = "tables/lists-closed-forms.parquet"
REAL = "tables/lists-real-{dataset}.parquet"
WHATS = {
    "lipschitz-linf": "G, maximum norm",
    "lipschitz-l2": "G, Euclidean norm",
    "smoothness": "H, maximum norm",
    "bound": "B",
}
BOUND_TITLES = {
    "chapelle-wu": "Chapelle–Wu",
    "ogd": "Theorem 5 (OGD)",
    "rerm": "Theorem 6 (RERM)",
    "erm": "Theorem 9 (ERM)",
    "smooth-ogd": "Equation 8 (smooth OGD)",
    "optimistic": "Theorem 17 (optimistic)",
}
RANKERS = {"erm": "minimiser", "worst": "worst found", "rerm": "regularised", "ogd": "OGD", "smooth-ogd": "smooth OGD"}
ON_DATA = (("erm", "gap"), ("worst", "gap"), ("erm", "excess"), ("rerm", "excess"), ("ogd", "excess"))
"""What the table of a data set shows: rankers and what is measured of them."""
SHOWN = "listnet"
"""The loss of the figures; the tables hold all."""
CUT = "bands that come near 0 are cut at a tenth of the value"
DIGITS = 4
"""To how many digits the study would like to know risks."""
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
        "The bounds depend on the Lipschitz constant of a loss (G), its smoothness constant (H) and how large it "
        "can become (B). Does a search over scores and labels ever find a value above the stated one? "
        + (
            f"In {len(exceeded)} of {len(rows)} searches it does."
            if exceeded
            else f"In none of {len(rows)} searches; where the two are equal, the constant is sharp."
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
        "Does the length of lists matter? Proposition 1 states that ListNet's constants are at most 2 for every "
        "length, "
        f"and section 3.3 that RankSVM's constant grows as m squared. The search finds: {ends}."
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
    columns = [Column("surrogate", "Loss", "left"), Column("kind", "Value", "left")]
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
        "Stated: the constant used in the code and the paper. Exact: the supremum, where known. Found: the largest "
        "value.",
        "The stated constants of the structured losses and of SLAM are attained, as the documentation of the code "
        "shows.",
        f"B, and the constants of losses with an unbounded slope, for scores up to {_listed(bounds)}.",
    ]
    caption = f"Constants in lists of at most {m} documents with labels up to {y_max}"
    return [Table("lists-constants", caption, CONSTANTS, tuple(columns), tuple(groups), tuple(notes))]


def _value(row: Row | None, kind: str) -> Cell:
    return scientific(None if row is None else row[kind])


def lemmas(results: ResultsFolder) -> tuple[Block, ...]:
    """Theorem 3 and Lemmas 4, 13 and 14, by computation."""
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
            "(Theorem 3): X w, plus a number, linear in the sum of the documents, that is added to all scores."
        )
        columns = [Column("m", "Documents m"), Column("d", "Features d"), Column("dimension", "Dimension")]
        cells = [[whole(row["m"]), whole(row["d"]), whole(round(row["value"]))] for row in dimensions]
        blocks += [Paragraph(words), simple("lists-invariance", "Permutation-invariant maps", CHECKS, columns, cells)]
    norms = {
        statistic: max(row["value"] for row in rows if row["statistic"] == statistic)
        for statistic in ("largest_relative_difference", "largest_relative_excess")
        if any(row["statistic"] == statistic for row in rows)
    }
    if len(norms) == 2:
        words = (
            "How far can a feature matrix stretch a vector? By Lemma 4, by at most the norm of its largest row. "
            "Maximisation "
            f"over vectors differs from that norm by at most {norms['largest_relative_difference']:.2g} of it, and "
            "exceeds "
            f"it by {norms['largest_relative_excess']:.2g} at most; only an excess would contradict the lemma."
        )
        blocks.append(Paragraph(words))
    ratios = [row for row in rows if row["claim"] == "lists-lemma14"]
    if ratios:
        largest = max(row["value"] for row in ratios)
        words = (
            "Lemma 14 (Lemma 13 for m = 1) bounds the difference of a smooth non-negative loss at two score vectors by "
            "its values there. The larger the ratio of the two sides, the tighter; above 1 it would be wrong. The "
            f"largest is {largest:.4f}."
        )
        columns = [Column("loss", "Loss", "left"), Column("ratio", "Largest ratio")]
        cells = [
            [text(case), scientific(max(row["value"] for row in ratios if row["case"] == case))]
            for case in dict.fromkeys(row["case"] for row in ratios)
        ]
        blocks += [Paragraph(words), simple("lists-self-bounding", "Self-bounding", CHECKS, columns, cells)]
    return (Subsection("lists-lemmas-part", "Linear maps and smooth losses", tuple(blocks)),)


def gaps(results: ResultsFolder) -> tuple[Block, ...]:
    """Measured gaps and bounds against m and against n, over the grid, and the fitted exponents."""
    rows = results.rows(CELLS)
    if not rows:
        return ()
    cells = [row for row in rows if row["population"] == "noisy" and row["loss"] == SHOWN]
    blocks: list[Block] = []
    if cells:
        blocks += [*_against(cells, "m"), *_against(cells, "n"), *_heat(cells)]
    blocks += [*_exponents(results), *_realisable(rows), *_accuracy(rows)]
    words = (
        "A ranker is fitted to n queries with m documents each. Its gap is the difference between its true risk and "
        "its risk on these queries. The theorems bound it; here it is measured on a population whose risks are known "
        "up "
        "to the standard errors of large fresh samples, and compared with the bounds."
        + (f" For ListNet these errors are at most {max(row['risk_error'] for row in cells):.2g}." if cells else "")
    )
    certified = [row["largest_certified_gap"] for row in rows if row["largest_certified_gap"] is not None]
    if certified:
        words += f" Minimisers of convex losses are certified to a relative gap of at most {max(certified):.2g}."
    return (Subsection("lists-gaps-part", "Gaps and bounds", (Paragraph(words), *blocks)),)


def _against(cells: list[Row], axis: str) -> list[Block]:
    # One line a measured or bounding quantity, along m at the n that has most m, or along n at the m that has most n.
    other = "n" if axis == "m" else "m"
    points = {fixed: {row[axis] for row in cells if row[other] == fixed} for fixed in {row[other] for row in cells}}
    fixed = max(points, key=lambda value: (len(points[value]), value if axis == "m" else -value))
    if len(points[fixed]) < 2:
        return []
    mine = sorted((row for row in cells if row[other] == fixed), key=lambda row: row[axis])
    by = {learner: [row for row in mine if row["learner"] == learner] for learner in ("erm", "worst")}
    series = {
        f"gap, {RANKERS[learner]}": [
            banded(row[axis], row["gap_size"], row["gap_size_low"], row["gap_size_high"]) for row in by[learner]
        ]
        for learner in by
    }
    for column, title in (
        ("bound_erm", "Theorem 9"),
        ("chapelle_wu", "Chapelle–Wu"),
        ("bound_rerm", "Theorem 6"),
        ("bound_ogd", "Theorem 5"),
    ):
        series[title] = [(row[axis], *[row[column]] * 3) for row in by["erm"]]
    series["largest loss B"] = [(row[axis], *[row["loss_bound"]] * 3) for row in by["erm"]]
    first, last = by["erm"][0], by["erm"][-1]
    largest = [f"{row['loss_bound']:.3g}" for row in (first, last)]
    measured = f"from {first['gap_size']:.3g} at {axis} = {first[axis]:,} to {last['gap_size']:.3g} at {last[axis]:,}"
    question = (
        "Does the gap grow with the length of the lists?" if axis == "m" else "How does the gap fall with more queries?"
    )
    words = (
        f"{question} With {other} = {fixed:,} the mean size of ListNet's gap changes {measured}; Chapelle and Wu's "
        "bound "
        f"goes from {first['chapelle_wu']:.3g} to {last['chapelle_wu']:.3g}, that of Theorem 9 from "
        f"{first['bound_erm']:.3g} to {last['bound_erm']:.3g}. Above the largest loss B = "
        f"{' to '.join(dict.fromkeys(largest))} a bound is vacuous."
    )
    label = "documents in the list, m" if axis == "m" else "queries, n"
    figure = Figure(
        name=f"lists-gap-against-{axis}",
        title=f"ListNet: gap and bounds against {axis}, at {other} = {fixed:,}",
        caption=f"Mean size of the gap with its 95 % interval, and bounds, at {other} = {fixed:,}; {CUT}",
        source=CELLS,
        description=words,
        draw=lambda: line_plot(series, xlabel=label, ylabel="gap or bound (loss)", log="xy"),
    )
    return [Paragraph(words), figure]


def _heat(cells: list[Row]) -> list[Block]:
    mine = {(row["m"], row["n"]): row for row in cells if row["learner"] == "worst"}
    lengths, queries = sorted({m for m, _ in mine}), sorted({n for _, n in mine})
    values = [[mine[m, n]["gap_size"] if (m, n) in mine else None for n in queries] for m in lengths]
    n = max(queries, key=lambda n: (sum((m, n) in mine for m in lengths), -n))
    column = [mine[m, n] for m in lengths if (m, n) in mine]
    words = (
        "The whole grid: a row shows the effect of more queries, a column that of longer lists. At "
        f"n = {n:,}, from m = {column[0]['m']:,} to {column[-1]['m']:,}, the worst gap found changes from "
        f"{column[0]['gap_size']:.3g} to {column[-1]['gap_size']:.3g}. Shades are on a logarithmic scale; empty cells "
        "have "
        "more documents than the settings allow."
    )
    figure = Figure(
        name="lists-gap-heat",
        title="ListNet: worst gap found over the grid",
        caption="Mean size of the worst gap found by ascent, for n queries of m documents",
        source=CELLS,
        description="; ".join(f"m = {m}, n = {n}: {mine[m, n]['gap_size']:.3g}" for m, n in sorted(mine)),
        draw=lambda: heat_maps(
            {"mean size of the worst gap found (loss)": values},
            [f"{m:,}" for m in lengths],
            [f"{n:,}" for n in queries],
            xlabel="queries, n",
            ylabel="documents, m",
            form=".3g",
        ),
    )
    return [Paragraph(words), figure]


def _exponents(results: ResultsFolder) -> list[Block]:
    rows = results.rows(EXPONENTS)
    if not rows:
        return []
    free = [r for r in rows if r["axis"] == "m" and r["statistic"] == "gap" and r["learner"] == "erm"]
    flat = [row["loss"] for row in free if row["low"] <= 0.0]
    growing = [row["loss"] for row in free if row["low"] > 0.0]
    words = (
        "The fitted exponents: in m, the interval of the gap's exponent reaches 0 or lies below it for "
        f"{', '.join(flat) or 'no loss'}; the gap grows with the list for {', '.join(growing) or 'no loss'}."
    )
    columns = [
        Column("loss", "Loss", "left"),
        Column("population", "Population", "left"),
        Column("statistic", "What", "left"),
        Column("axis", "Power of", "left"),
        Column("fixed", "at"),
        Column("points", "fitted to", "left"),
        Column("slope", "Exponent"),
        Column("interval", "95 % interval"),
    ]
    cells = [
        [
            text(row["loss"]),
            text(row["population"]),
            text(f"{row['statistic']}, {RANKERS[row['learner']]}" if row["learner"] else row["statistic"]),
            text(row["axis"]),
            text(f"{'n' if row['axis'] == 'm' else 'm'} = {row['fixed']:,}"),
            text(row["points"]),
            number(row["slope"], 2, signed=True),
            span(row["low"], row["high"], 2, signed=True),
        ]
        for row in rows
    ]
    notes = ["The gap is |L − L̂|, averaged over the repetitions; intervals include the error of the held-out sample."]
    return [Paragraph(words), simple("lists-exponents", "Fitted exponents", EXPONENTS, columns, cells, notes)]


def _realisable(rows: list[Row]) -> list[Block]:
    mine = [r for r in rows if r["population"] == "realisable" and r["loss"] == SHOWN and r["learner"] == "smooth-ogd"]
    if len(mine) < 2:
        return []
    m = min(row["m"] for row in mine)
    mine = sorted((row for row in mine if row["m"] == m), key=lambda row: row["n"])
    series = {
        "excess risk, smooth OGD": [
            banded(row["n"], row["excess"], row["excess_low"], row["excess_high"]) for row in mine
        ],
        "Equation 8": [(row["n"], *[row["bound_smooth_ogd"]] * 3) for row in mine],
        "Theorem 5": [(row["n"], *[row["bound_ogd"]] * 3) for row in mine],
    }
    words = (
        f"If some ranker makes no error at all (here L* = {mine[0]['optimal_risk']:.1g}), the bound of "
        "equation 8 falls as 1/n, that of Theorem 5 only as 1/√n. The measured excess risk of online gradient descent "
        f"with the step of equation 7 goes from {mine[0]['excess']:.3g} at n = {mine[0]['n']:,} to "
        f"{mine[-1]['excess']:.3g} at n = {mine[-1]['n']:,}."
    )
    figure = Figure(
        name="lists-realisable",
        title=f"ListNet without noise: excess risk against n, at m = {m:,}",
        caption=f"Mean excess risk of the averaged iterate with its 95 % interval, and bounds, at m = {m:,}",
        source=CELLS,
        description=words,
        draw=lambda: line_plot(series, xlabel="queries, n", ylabel="excess risk or bound (loss)", log="xy"),
    )
    return [Paragraph(words), figure]


def _accuracy(rows: list[Row]) -> list[Block]:
    # On the noisy population: risks near 0 have no leading digits.
    by: dict[tuple[str, int], list[Row]] = {}
    for row in rows:
        if row["population"] == "noisy":
            by.setdefault((row["loss"], row["m"]), []).append(row)
    if not by:
        return []
    trained = {key: _largest_error(row for row in mine if row["learner"] != "worst") for key, mine in by.items()}
    worst = {key: _largest_error(row for row in mine if row["learner"] == "worst") for key, mine in by.items()}
    sure = [
        f"{loss} at m = {m:,}"
        for (loss, m), mine in by.items()
        if _digits(mine[0]["optimal_risk"], mine[0]["optimal_risk_error"]) >= DIGITS
    ]
    words = (
        "How precisely are these risks known? The best ranker is measured on a very large sample, all others together "
        "with it on "
        "a smaller one. The risks of rankers near it are almost as precise; those of distant ones, such as the worst "
        "found, are "
        f"less precise. {DIGITS} digits (a standard error of at most half a unit of the last of them) are reached for "
        "the "
        f"best ranker {'with ' + ', '.join(sure) if sure else 'with no loss and length'}. The largest standard errors "
        f"are {_largest_percent(trained.values())} of the risk after training and {_largest_percent(worst.values())} "
        "where the worst gap was found."
    )
    columns = [Column("loss", "Loss", "left"), Column("m", "m"), Column("risk", "Risk of the best ranker")]
    columns += [Column("best", "Its standard error"), Column("digits", "Digits")]
    columns += [Column("trained", "Largest error of trained rankers"), Column("worst", "of the worst found")]
    cells = [
        [
            text(loss),
            whole(m),
            number(mine[0]["optimal_risk"], 5),
            _percent(mine[0]["optimal_risk_error"] / mine[0]["optimal_risk"] if mine[0]["optimal_risk"] else None),
            whole(_digits(mine[0]["optimal_risk"], mine[0]["optimal_risk_error"])),
            _percent(trained[loss, m]),
            _percent(worst[loss, m]),
        ]
        for (loss, m), mine in sorted(by.items())
    ]
    notes = ["Standard errors in % of the risk, over all n."]
    caption = "Standard errors of true risks"
    return [Paragraph(words), simple("lists-accuracy", caption, CELLS, columns, cells, notes)]


def _percent(share: float | None) -> Cell:
    return number(None if share is None else 100.0 * share, 3)


def _largest_error(rows: Iterable[Row]) -> float | None:
    return max((row["relative_risk_error"] for row in rows if row["relative_risk_error"] is not None), default=None)


def _largest_percent(errors: Iterable[float | None]) -> str:
    known = [error for error in errors if error is not None]
    return f"{100.0 * max(known):.2g} %" if known else "unknown"


def _digits(value: float, error: float) -> int:
    """Leading digits of ``value`` of whose last ``error`` is at most half a unit; 0 where there is none.

    Example
    -------
    >>> _digits(0.1234, 0.00005), _digits(0.1234, 0.00006), _digits(0.9, 0.6), _digits(1.0, 0.0)
    (4, 3, 0, 17)
    """
    if value <= 0.0:
        return 0
    most = 17  # of float64
    if error <= 0.0:
        return most
    return min(most, max(0, 1 + math.floor(math.log10(value)) - math.ceil(math.log10(2.0 * error))))


def table_1(results: ResultsFolder) -> tuple[Block, ...]:
    """Table 1 in numbers: every bound, whether it says something, and from which n on."""
    all_rows = results.rows(BOUNDS)
    rows = [row for row in all_rows if row["population"] == "noisy"]
    if not rows:
        return ()
    m = sorted({row["m"] for row in rows})[len({row["m"] for row in rows}) // 2]
    chosen = [row for row in rows if row["m"] == m]
    n = chosen[0]["n"]
    vacuous = [row for row in rows if row["vacuous"]]
    words = (
        "Table 1 of the paper calls the constants smallest, small, and hidden in logarithms. The table gives the "
        "bounds of "
        f"each theorem at n = {n:,} and m = {m:,}, and the n from which each falls below the largest loss B of the "
        f"class. A bound above B is vacuous; over all losses and lengths {len(vacuous)} of {len(rows)} do not."
    )
    columns = [
        Column("loss", "Loss", "left"),
        Column("bound", "Bound", "left"),
        Column("value", "Value"),
        Column("largest", "Largest loss B"),
        Column("vacuous", "Vacuous", "left"),
        Column("from", "Below B from n ="),
    ]
    groups = [
        Group("", tuple(_bound_cells(row) for row in chosen if row["loss"] == loss))
        for loss in dict.fromkeys(row["loss"] for row in chosen)
    ]
    notes = (
        "Theorems 5 and 6 and equation 8 bound the expected excess risk of one algorithm, the others the gap of all "
        "rankers at once. A bound that does not apply to a loss (not convex, not smooth) has no row.",
        "Theorem 17 is taken at an empirical risk of L*.",
        "Chapelle and Wu's bound is as printed, for losses in [0, 1]: where B is above 1, its second term would have "
        "to be "
        "B times as large.",
    )
    table = Table("lists-table1", f"Bounds at n = {n:,}, m = {m:,}", BOUNDS, tuple(columns), tuple(groups), notes)
    blocks: tuple[Block, ...] = (Paragraph(words), table, *_optimistic(all_rows))
    return (Subsection("lists-table1-part", "Table 1 in numbers", blocks),)


def _optimistic(rows: list[Row]) -> list[Block]:
    mine = [row for row in rows if row["bound"] == "optimistic"]
    if not mine:
        return []
    wins = [row["beats_theorem_9_from"] for row in mine if row["beats_theorem_9_from"] is not None]
    words = (
        "From which n is the optimistic bound of Theorem 17 smaller than that of Theorem 9, at an empirical risk of "
        "L*? "
        + (f"In {len(wins)} of {len(mine)} settings from some n on, the smallest {min(wins):,}; " if wins else "")
        + f"in {len(mine) - len(wins)} for no n up to 10^15."
    )
    columns = [Column("loss", "Loss", "left"), Column("population", "Population", "left"), Column("m", "m")]
    columns += [Column("risk", "L*"), Column("from", "Below Theorem 9 from n =")]
    cells = [
        [
            text(row["loss"]),
            text(row["population"]),
            whole(row["m"]),
            scientific(row["optimal_risk"]),
            whole(row["beats_theorem_9_from"]),
        ]
        for row in mine
    ]
    return [Paragraph(words), simple("lists-optimistic", "Theorem 17 against Theorem 9", BOUNDS, columns, cells)]


def _bound_cells(row: Row) -> tuple[Cell, ...]:
    return (
        text(row["loss"]),
        text(BOUND_TITLES[row["bound"]]),
        scientific(row["value"]),
        scientific(row["loss_bound"]),
        text("yes" if row["vacuous"] else "no"),
        whole(row["not_vacuous_from"]),
    )


def averages(results: ResultsFolder) -> tuple[Block, ...]:
    """Entropy integrals, closed forms and Monte Carlo estimates of Rademacher averages."""
    rows, compared = results.rows(AVERAGES), results.rows(CLOSED_FORMS)
    if not rows or not compared:
        return ()
    slack = [row["integral"] / row["found"] for row in rows if row["found"] > 0.0]
    below = [row for row in compared if row["closed_form"] < row["integral"] * (1.0 - 1e-6)]
    which = sorted({row["corollary"] for row in below})
    words = (
        "Which step makes the bound loose? Rademacher averages of the loss over the class are estimated from below by "
        "ascent "
        f"under random signs; the entropy integral lies {min(slack):,.0f} to {max(slack):,.0f} times above them."
    )
    columns = [
        Column("class", "Class", "left"),
        Column("n", "n"),
        Column("m", "m"),
        Column("linear", "Linear scores"),
        Column("found", "Loss, found by ascent"),
        Column("error", "Standard error"),
        Column("integral", "Entropy integral"),
        Column("closed", "Closed form"),
        Column("bound", "Largest loss B"),
    ]
    cells = [
        [
            text(row["class"]),
            whole(row["n"]),
            whole(row["m"]),
            scientific(row["linear"]),
            scientific(row["found"]),
            scientific(row["found_error"]),
            scientific(row["integral"]),
            scientific(row["closed_form"]),
            scientific(row["loss_bound"]),
        ]
        for row in rows
    ]
    notes = [
        "Class local: rankers of the l2 ball whose risk is at most that of w = 0 (Corollary 16). Closed forms are "
        "those of Corollaries 8, 11 and 16.",
    ]
    closed = "Are the closed forms of the corollaries at least as large as the integrals they bound? " + (
        f"In {len(below)} of {len(compared)} settings they are not, by up to "
        f"{100 * (1 - min(row['closed_form'] / row['integral'] for row in below)):.0f} % "
        f"({', '.join(f'Corollary {number_}' for number_ in which)}): their derivation replaces the ceiling in "
        "the covering number by its argument."
        if below
        else f"In all of {len(compared)} settings."
    )
    ratio_columns = [Column("corollary", "Corollary"), Column("radius", "W2 or W1")]
    ratio_columns += [Column("least", "Least ratio"), Column("largest", "Largest ratio")]
    by: dict[tuple[int, float], list[float]] = {}
    for row in compared:
        by.setdefault((row["corollary"], row["radius"]), []).append(row["closed_form"] / row["integral"])
    ratios = [
        [whole(corollary), scientific(radius), scientific(min(found)), scientific(max(found))]
        for (corollary, radius), found in sorted(by.items())
    ]
    blocks = (
        Paragraph(words),
        simple("lists-rademacher", "Rademacher averages of ListNet's loss", AVERAGES, columns, cells, notes),
        Paragraph(closed),
        simple(
            "lists-closed-forms",
            "Ratio of the closed form to the minimised integral",
            CLOSED_FORMS,
            ratio_columns,
            ratios,
        ),
    )
    return (Subsection("lists-averages-part", "Rademacher averages and entropy", blocks),)


def sparse(results: ResultsFolder) -> tuple[Block, ...]:
    """Gaps, excess risk and bounds of the l1 class against the number of features."""
    rows = results.rows(SPARSE)
    if not rows:
        return ()
    dimensions = sorted({row["d"] for row in rows})
    bounds = {row["d"]: row for row in rows}
    n, far = rows[0]["n"], rows[0]["fitted_at"]
    measured = {
        "largest gap": _largest_of(rows, "erm", "gap", "risk_error"),
        "worst gap found": _largest_of(rows, "worst", "gap", "risk_error"),
        "largest excess risk": _largest_of(rows, "erm", "excess", "excess_error"),
    }
    series = {
        title: [(d, y, low, high) for d, (y, low, high) in ((d, found[d]) for d in dimensions)]
        for title, found in measured.items()
    }
    # A logarithmic axis has no place for what is not above 0.
    series = {title: [banded(*point) for point in points if point[1] > 0.0] for title, points in series.items()}
    series[f"Theorem 12 at n = {n:,}"] = [(d, *[bounds[d]["bound"]] * 3) for d in dimensions]
    series[f"Theorem 12 at n = {far:,}"] = [(d, *[bounds[d]["bound_far"]] * 3) for d in dimensions]
    series = {title: points for title, points in series.items() if points}
    first, last = dimensions[0], dimensions[-1]
    ends = "; ".join(
        f"the {title} is {found[first][0]:.3g} with {first:,} and {found[last][0]:.3g} with {last:,} features"
        for title, found in measured.items()
    )
    words = (
        "What is the cost of many features if the weights are bounded in the l1 norm? By Theorem 12, the square root "
        f"of a logarithm. From {first:,} to {last:,} features the bound grows from {bounds[first]['bound_far']:.3g} to "
        f"{bounds[last]['bound_far']:.3g} at n = {far:,}. Measured at n = {n:,}, where the bound on gaps goes from "
        f"{bounds[first]['bound']:.3g} to {bounds[last]['bound']:.3g} and that on the excess risk from "
        f"{bounds[first]['excess_bound']:.3g} to {bounds[last]['excess_bound']:.3g}: {ends}. Gap and excess risk are "
        "those of the minimiser; the excess is relative to the best ranker, which has no weight on features that do "
        "not "
        "matter."
    )
    figure = Figure(
        name="lists-sparse",
        title="ListNet over the l1 ball: gaps, excess risk and bound against the number of features",
        caption=f"The largest of the repetitions, with twice its standard error, and the bound; {CUT}",
        source=SPARSE,
        description=words,
        draw=lambda: line_plot(series, xlabel="features, d", ylabel="gap, excess risk or bound (loss)", log="xy"),
    )
    return (Subsection("lists-sparse-part", "Many features", (Paragraph(words), figure)),)


def _largest_of(rows: list[Row], learner: str, value: str, error: str) -> dict[int, tuple[float, float, float]]:
    # For every number of features: the largest of the repetitions, and twice its standard error below and above.
    largest: dict[int, Row] = {}
    for row in rows:
        if row["learner"] == learner and (row["d"] not in largest or row[value] > largest[row["d"]][value]):
            largest[row["d"]] = row
    return {d: (row[value], row[value] - 2.0 * row[error], row[value] + 2.0 * row[error]) for d, row in largest.items()}


def real(results: ResultsFolder) -> tuple[Block, ...]:
    """Gaps on subsampled data sets."""
    blocks: list[Block] = []
    pattern = REAL.format(dataset="*")
    for name in sorted(str(path.relative_to(results.path)) for path in results.path.glob(pattern)):
        rows = results.rows(name)
        if not rows:
            dataset = Path(name).stem.removeprefix(Path(pattern).stem.rstrip("*"))
            blocks.append(Paragraph(f"{dataset}: left out, because it has too few queries for samples."))
            continue
        dataset = rows[0]["dataset"]
        by: dict[tuple[str, str, int, int], list[Row]] = {}
        for row in rows:
            by.setdefault((row["loss"], row["learner"], row["m"], row["n"]), []).append(row)
        queries, losses = sorted({row["n"] for row in rows}), dict.fromkeys(row["loss"] for row in rows)
        largest = max(row["gap"] / row["bound"] for row in rows)
        words = (
            f"{dataset}: does the same hold on the queries of a data set? Samples have n queries and at most "
            "m documents of each; all other queries represent the population, whose risks are known up to their "
            "standard error. "
            f"The largest gap is {100 * largest:.2g} % of Theorem 9's bound."
        )
        columns = [Column("loss", "Loss", "left"), Column("what", "What", "left"), Column("m", "m")]
        columns += [Column(f"n{n}", f"n = {n:,}") for n in queries]
        groups = [
            Group("", tuple(_on_data(by, loss, learner, statistic, queries)))
            for loss in losses
            for learner, statistic in ON_DATA
        ]
        error = max(row["risk_error"] for row in rows)
        notes = (
            "Means over the repetitions, with the largest standard error of the held-out queries. The gap is "
            f"|L − L̂|; held-out risks have standard errors up to {error:.2g}.",
            "Excess risks are relative to the minimiser over all queries of the data set.",
        )
        caption = f"Gaps and excess risks on {dataset}"
        table = Table(f"lists-real-{dataset}", caption, name, tuple(columns), tuple(filter(_filled, groups)), notes)
        blocks += [Paragraph(words), table]
    return (Subsection("lists-real-part", "On data sets", tuple(blocks)),) if blocks else ()


def _on_data(
    by: dict[tuple[str, str, int, int], list[Row]], loss: str, learner: str, statistic: str, queries: list[int]
) -> list[tuple[Cell, ...]]:
    # A line a length: mean and standard error for every n.
    lines = []
    for m in sorted({m for own_loss, own, m, _ in by if (own_loss, own) == (loss, learner)}):
        cells = []
        for n in queries:
            rows = by.get((loss, learner, m, n), [])
            if not rows:
                cells.append(scientific(None))
                continue
            mean = sum(abs(row["gap"]) if statistic == "gap" else row["excess"] for row in rows) / len(rows)
            error = max(row["risk_error" if statistic == "gap" else "excess_error"] for row in rows)
            cells.append(replace(scientific(mean), spread=f"{error:.1g}", spread_raw=error))
        what = f"{'gap' if statistic == 'gap' else 'excess risk'}, {RANKERS[learner]}"
        lines.append((text(loss), text(what), whole(m), *cells))
    return lines


def _filled(group: Group) -> bool:
    return bool(group.rows)


def _listed(values: set[float]) -> str:
    return ", ".join(f"{value:g}" for value in sorted(values))


# A part reads its own tables and gives blocks, none where its tables are absent. Order: that of the page.
PARTS: tuple[Part, ...] = (gaps, table_1, constants, lemmas, averages, sparse, real)
