"""What does the page of the paper `slam` say about its perceptron? The parts on cumulative loss and on eta."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pipeline_lib.markup import listed
from pipeline_lib.reporting.blocks import Block, Formula, Paragraph, Subsection
from pipeline_lib.reporting.figures import Figure, line_plot
from pipeline_lib.reporting.results import ResultsFolder, Row
from pipeline_lib.reporting.tables import Cell, Column, number, scientific, simple, text, whole

RUNS = "tables/slam-perceptron.parquet"
ETAS = "tables/slam-eta.parquet"
V_MAX = "tables/slam-vmax.parquet"

COLUMNS = ["stream", "measure", "repetition", "eta", "active", "T", "cumulative_loss", "mistakes", "largest_ratio"]
COLUMNS += ["comparator_loss", "constant", "bound", "gap", "certified"]
NAMES = {"map": "AP"}
NOISY, SEPARABLE = "noisy", "separable"
THEOREM, PRINTED, MISORDERED = ("theory", "margin"), ("1", "margin"), ("theory", "misordered")
NOTHING = 1e-6
"""A comparator whose term C ||u||^2 is below this share of the bound is 0 for all that the bound is concerned."""


def cumulative(results: ResultsFolder) -> tuple[Block, ...]:
    """The cumulative ranking loss against T, beside Theorem 5 at the best comparator."""
    rows = results.rows(RUNS, columns=COLUMNS)
    theorem = [row for row in rows if _variant(row) == THEOREM]
    if not theorem:
        return ()
    broken = [row for row in theorem if row["cumulative_loss"] > row["bound"] - row["gap"] + 1e-9]
    ratio = max(row["largest_ratio"] for row in rows)
    held = "holds in every run at every T" if not broken else f"fails {len(broken)} times"
    certified = sum(row["certified"] for row in theorem)
    words = (
        "In every round, the perceptron ranks one query and incurs the ranking loss. Theorem 5 bounds the sum of "
        f"these losses, for every comparator u. With the u that minimises the right side "
        f"({certified} of {len(theorem)} solves are certified) it {held}; "
        f"the streams are {listed(_each(theorem, 'stream'))}. The lemma behind it, eq. 16, is never "
        f"closer to equality than a ratio of {number(ratio, 3).text} of its two sides."
    )
    blocks: list[Block] = [
        Paragraph(words),
        Formula("Σ_t RML_t ≤ 2 Σ_t f_t(u) + 4 ||u||² m R² v_max"),
        Paragraph(f"How informative is the bound? {_meaning(theorem, rows)}"),
    ]
    noisy = [row for row in theorem if row["stream"] == NOISY]
    if noisy:
        blocks.append(
            _against_T("slam-cumulative", "Cumulative loss on a noisy population", noisy, "bound", "Theorem 5")
        )
    blocks.append(_table_of_streams(rows))
    return (Subsection("slam-cumulative-part", "The perceptron's cumulative loss", tuple(blocks)),)


def _meaning(theorem: Sequence[Row], rows: Sequence[Row]) -> str:
    empty = [row for row in theorem if _is_zero(row)]
    if not empty:
        return f"It is informative about rankers: in all {len(theorem)} cases the best comparator differs from 0."
    said = (
        f"In {len(empty)} of {len(theorem)} cases the best comparator is practically 0, and the bound only states "
        "that the loss is at most twice the total weight of the documents in rounds with a mistake. Either any other "
        "ranker "
        "is too costly for so few rounds, by the constant 4 m R² v_max, or the losses themselves are smallest at 0, "
        "which happens on long or noisy lists. "
    )
    last = {stream: max(row["T"] for row in rows if row["stream"] == stream) for stream in _each(rows, "stream")}
    whole_runs = [row for row in rows if _variant(row) == MISORDERED and row["T"] == last[row["stream"]]]
    still = [row for row in whole_runs if _is_zero(row)]
    where = f" ({listed(_each(still, 'stream'))})" if still else ""
    return said + (
        "With all rounds and the constant 4 R² of the last columns (see the section on the step size) it is still 0 in "
        f"{len(still)} of {len(whole_runs)} runs{where}."
    )


def _is_zero(row: Row) -> bool:
    return bool(row["constant"] <= NOTHING * row["bound"])


def separable(results: ResultsFolder) -> tuple[Block, ...]:
    """Corollary 6: on separable queries the loss levels off below a constant."""
    rows = [row for row in results.rows(RUNS, columns=COLUMNS) if row["stream"] == SEPARABLE]
    theorem = [row for row in rows if _variant(row) == THEOREM]
    if not theorem:
        return ()
    last = [row for row in theorem if row["T"] == max(r["T"] for r in theorem)]
    other = [row for row in rows if _variant(row) == MISORDERED and row["T"] == last[0]["T"]]
    gamma = (min(row["gamma"] for row in last), max(row["gamma"] for row in last))
    constants = {m: _mean(row["margin_bound"] for row in last if row["measure"] == m) for m in _each(last, "measure")}
    sharper = {m: _mean(row["margin_bound"] for row in other if row["measure"] == m) for m in _each(other, "measure")}
    reached = max(row["cumulative_loss"] / row["margin_bound"] for row in last)
    spoken = "; ".join(
        f"{_name(m)}: {scientific(constants[m]).text}"
        + (f", and {scientific(sharper[m]).text} with only misordered documents" if m in sharper else "")
        for m in constants
    )
    words = (
        "If some unit vector u separates any two documents of a query with different labels by a margin γ, "
        "Corollary 6 bounds the total loss by 4 m R² v_max / γ² for every T. The largest margin, found by "
        f"cutting planes, is between {gamma[0]:.4f} and {gamma[1]:.4f} here. Does the loss level off? The second half "
        f"of the {last[0]['T']:,} rounds adds at most {100 * _largest_share(theorem):.1f} % of the loss. The total is "
        f"at most {max(r['cumulative_loss'] for r in last):.1f}, {100 * reached:.2g} % of the constant or less; the "
        f"constants are {spoken}."
    )
    figure = _against_T(
        "slam-separable", "Cumulative loss on a separable population", theorem, "margin_bound", "Cor. 6"
    )
    return (Subsection("slam-separable-part", "When queries are separable", (Paragraph(words), figure)),)


def steps(results: ResultsFolder) -> tuple[Block, ...]:
    """Erratum A: does the step size matter?"""
    columns = ["stream", "measure", "repetition", "eta", "active", "rounds", "mistakes", "rounds_that_differ"]
    rows = results.rows(ETAS, columns=columns)
    if not rows:
        return ()
    margin = [row for row in rows if row["active"] == "margin"]
    misordered = [row for row in rows if row["active"] == "misordered"]
    changed = [row for row in margin if row["rounds_that_differ"]]
    moved = sum(row["rounds_that_differ"] for row in misordered)
    words = (
        "Section 5 states that the predictions do not depend on the step size η, so that η = 1 may be used. "
        f"In {len(changed)} of {len(margin)} runs, another step size changed the rounds in which a mistake was made "
        "(erratum A): "
        "because of the margin of 1, whether a hinge is active depends on the scale of w. "
        + (
            "If hinges are counted only for misordered documents, the number of rounds that differ is "
            f"{moved} over all {len(misordered)} runs, so the statement is true for this version."
            if not moved
            else f"With misordered documents only, {moved} rounds differed in {len(misordered)} runs."
        )
    )
    sharper = (
        "This version also has a better bound. Let a be the sum of the weights of misordered documents. The ranking "
        "loss is at most a, a is at most 1, and the norm of the subgradient is at most 2 R a. Hence Theorem 5 holds "
        "for "
        "every step size with 4 R² in place of 4 m R² v_max, which does not depend on the length of lists."
    )
    table = simple(
        "slam-steps",
        "Rounds in which a mistake appears or disappears when η is not 1",
        ETAS,
        [
            Column("stream", "Stream", "left"),
            Column("eta", "η", "left"),
            Column("rounds", "Rounds"),
            Column("margin", "Differ, as printed"),
            Column("misordered", "Differ, misordered only"),
            Column("loss", "Loss, as printed"),
            Column("loss_misordered", "Loss, misordered only"),
        ],
        [_steps_row(stream, eta, rows) for stream in _each(rows, "stream") for eta in _each(margin, "eta")],
        ["Means over ranking losses and orders of the stream. “theory” is the step of Theorem 5."],
    )
    return (Subsection("slam-steps-part", "Does the step size matter?", (Paragraph(words), Paragraph(sharper), table)),)


def largest_ratios(results: ResultsFolder) -> tuple[Block, ...]:
    """How v_max grows with the length of lists."""
    columns = ["m", "v_max_map", "half_m", "v_max_ndcg", "v_max_ndcg_limit", "v_max_ndcg_at_k"]
    rows = results.rows(V_MAX, columns=columns)
    if not rows:
        return ()
    words = (
        "The constant of Theorem 5 contains v_max, the largest ratio of two positive weights of a list. The paper "
        "bounds "
        "it by m/2 for MAP and by the order of m log² m for NDCG; for NDCG@k it does not depend on m ≥ k. The lines "
        f"are exact; {_within(rows)}."
    )
    series = {
        "NDCG": [(row["m"], *[row["v_max_ndcg"]] * 3) for row in rows],
        "MAP": [(row["m"], *[row["v_max_map"]] * 3) for row in rows],
        "NDCG@10": [(row["m"], *[row["v_max_ndcg_at_k"]] * 3) for row in rows],
    }
    bounds = {
        "bound for NDCG": [(row["m"], row["v_max_ndcg_limit"]) for row in rows],
        "bound for MAP, m/2": [(row["m"], row["half_m"]) for row in rows],
    }
    figure = Figure(
        name="slam-vmax",
        title="The largest ratio of weights against the length of the list",
        caption="Exact suprema of v_max over lists with labels 0, 1, 2 (for MAP: 0, 1), with the explicit bounds",
        source=V_MAX,
        description=f"From m = {rows[0]['m']} to {rows[-1]['m']}; {_within(rows)}.",
        draw=lambda: line_plot(series, xlabel="documents in the list, m", ylabel="v_max", log="xy", bounds=bounds),
    )
    return (
        Subsection("slam-vmax-part", "How the constant grows with the length of lists", (Paragraph(words), figure)),
    )


def _within(rows: Sequence[Row]) -> str:
    pairs = (("v_max_map", "half_m"), ("v_max_ndcg", "v_max_ndcg_limit"))
    over = [row for row in rows if any(row[value] > row[limit] + 1e-9 for value, limit in pairs)]
    return "no line crosses its bound" if not over else f"a bound is crossed at m = {over[0]['m']}"


def _against_T(name: str, title: str, rows: Sequence[Row], bound: str, label: str) -> Figure:
    series, bounds = {}, {}
    for measure in _each(rows, "measure"):
        mine = [row for row in rows if row["measure"] == measure]
        series[f"1 − {_name(measure)}"] = _band(mine, "cumulative_loss")
        bounds[f"{label}, {_name(measure)}"] = [(T, mean) for T, mean, _, _ in _band(mine, bound)]
    worst = max(row["cumulative_loss"] / row[bound] for row in rows if row[bound] > 0.0)
    return Figure(
        name=name,
        title=title,
        caption=f"Sum of ranking losses after T rounds, step of Theorem 5; dashed: {label}; mean and range over orders",
        source=RUNS,
        description=f"The sums reach at most {100 * worst:.2g} % of their bounds.",
        draw=lambda: line_plot(series, xlabel="rounds T", ylabel="cumulative ranking loss", log="xy", bounds=bounds),
    )


def _band(rows: Sequence[Row], key: str) -> list[tuple[float, float, float, float]]:
    points = []
    for T in sorted({row["T"] for row in rows}):
        values = [row[key] for row in rows if row["T"] == T]
        points.append((T, _mean(values), min(values), max(values)))
    return points


def _table_of_streams(rows: Sequence[Row]) -> Block:
    cells = []
    for stream in _each(rows, "stream"):
        for measure in _each(rows, "measure"):
            mine = [row for row in rows if row["stream"] == stream and row["measure"] == measure]
            T = max(row["T"] for row in mine)
            at = {
                variant: [row for row in mine if _variant(row) == variant and row["T"] == T]
                for variant in (THEOREM, PRINTED, MISORDERED)
            }
            cells.append(
                [
                    text(stream),
                    text(_name(measure)),
                    whole(T),
                    number(_mean(row["cumulative_loss"] for row in at[THEOREM]), 1),
                    number(_mean(row["bound"] for row in at[THEOREM]), 1),
                    number(_mean(row["cumulative_loss"] for row in at[PRINTED]), 1),
                    number(_mean(row["cumulative_loss"] for row in at[MISORDERED]), 1),
                    number(_mean(row["bound"] for row in at[MISORDERED]), 1),
                ]
            )
    columns = [
        Column("stream", "Stream", "left"),
        Column("loss", "Ranking loss", "left"),
        Column("T", "T"),
        Column("theory", "Sum, η of theory"),
        Column("theory_bound", "Bound"),
        Column("one", "Sum, η = 1"),
        Column("misordered", "Sum, misordered"),
        Column("misordered_bound", "Bound, 4 R²"),
    ]
    notes = [
        "Means over orders of the stream. Noisy and separable are populations; the adversary always shows the query "
        "that is ranked worst. The theorem applies only to the step of theory, and the last bound only to misordered "
        "documents."
    ]
    return simple("slam-streams", "Cumulative loss and bounds after all rounds", RUNS, columns, cells, notes)


def _steps_row(stream: str, eta: str, rows: Sequence[Row]) -> list[Cell]:
    mine = [row for row in rows if row["stream"] == stream and row["eta"] == eta]
    by = {active: [row for row in mine if row["active"] == active] for active in ("margin", "misordered")}
    return [
        text(stream),
        text(eta),
        whole(mine[0]["rounds"]),
        *(number(_mean(row["rounds_that_differ"] for row in by[active]), 1) for active in by),
        *(number(_mean(row["cumulative_loss"] for row in by[active]), 1) for active in by),
    ]


def _largest_share(rows: Sequence[Row]) -> float:
    shares = []
    last = max(row["T"] for row in rows)
    for row in rows:
        if row["T"] != last:
            continue
        half = [
            r["cumulative_loss"]
            for r in rows
            if r["T"] == last // 2 and r["measure"] == row["measure"] and r["repetition"] == row["repetition"]
        ]
        if half and row["cumulative_loss"] > 0.0:
            shares.append((row["cumulative_loss"] - half[0]) / row["cumulative_loss"])
    return max(shares, default=0.0)


def _variant(row: Row) -> tuple[str, str]:
    return row["eta"], row["active"]


def _name(measure: str) -> str:
    return NAMES.get(measure, measure.upper())


def _each(rows: Sequence[Row], key: str) -> list[str]:
    return list(dict.fromkeys(row[key] for row in rows))


def _mean(values: Iterable[float]) -> float:
    found = list(values)
    return sum(found) / len(found)
