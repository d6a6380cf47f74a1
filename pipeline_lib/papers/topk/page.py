"""What was found about the paper `topk`? Its page of the report: one part an experiment, in the paper's order."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from pipeline_lib.markup import listed
from pipeline_lib.reporting.blocks import Block, Formula, Note, Paragraph, Section, Subsection
from pipeline_lib.reporting.figures import Figure, line_panels, line_plot
from pipeline_lib.reporting.results import ResultsFolder, Row
from pipeline_lib.reporting.tables import Cell, Column, number, scientific, simple, span, text, whole

Part = Callable[[ResultsFolder], tuple[Block, ...]]
Points = list[tuple[float, float, float, float]]

BIASES = "tables/topk-biases.parquet"
MOMENTS = "tables/topk-moments.parquet"
IDENTITIES = "tables/topk-identities.parquet"
REGRET = "tables/topk-regret.parquet"
EXPONENTS = "tables/topk-exponents.parquet"
TABLE_1 = "tables/topk-table1.parquet"
GAME = "tables/topk-adversary.parquet"
CURVES = "tables/topk-curves.parquet"
REPAIR = "tables/topk-repair.parquet"

TITLES = {
    "listnet": "ListNet, all labels",
    "ranksvm": "RankSVM, top 2",
    "kl": "KL, top 1",
    "squared": "squared, top 1",
    "smooth-dcg": "SmoothDCG as printed, top 1",
    "smooth-dcg-ascent": "SmoothDCG ascending, top 1",
    "random": "random order",
}
PLAYERS = {
    "squared": "Algorithm 1, squared",
    "kl": "Algorithm 1, KL",
    "smooth-dcg": "Algorithm 1, SmoothDCG",
    "leader": "leader on the labels seen",
    "constant": "constant guess",
    "all labels": "all labels",
}
PANELS = {"as-printed": "probabilities as printed", "correct": "correct probabilities", "repaired": "correct, repaired"}
EVERY_PANEL = ("listnet", "random")
TOLD = {"all-labels": "all labels, η = T^(−1/2)", "all-labels-same-step": "all labels, η = T^(−2/3)", **PANELS}
"""What learners are told and how they use it: the columns of the tables of ends."""
ROWS = {
    "listnet": "ListNet",
    "ranksvm": "RankSVM",
    "kl": "KL",
    "squared": "squared",
    "smooth-dcg": "SmoothDCG as printed",
    "smooth-dcg-ascent": "SmoothDCG ascending",
    "random": "random order",
    "ideal": "ideal order",
}
PLACES = {"along a run": "along a run of Algorithm 1", "short lists, small ball": "on short lists in a small ball"}
LEAST_SHOWN = 0.1
ROUNDING = 1e-9
"""What counts as equal: the tolerance of the ledger."""


def build(results: ResultsFolder) -> Section | None:
    """Join the parts whose tables are there; no section where none is."""
    blocks = tuple(block for part in PARTS for block in part(results))
    return Section("topk", "Online learning to rank with feedback at the top", blocks) if blocks else None


def estimators(results: ResultsFolder) -> tuple[Block, ...]:
    """Unbiased with the correct probabilities, biased with the printed ones."""
    rows = results.rows(BIASES, columns=["claim", "surrogate", "k", "gamma", "probabilities", "largest_relative_bias"])
    mine = [row for row in rows if row["claim"] == "topk-estimators"]
    if not mine:
        return ()
    by = {
        kind: max(row["largest_relative_bias"] for row in mine if row["probabilities"] == kind)
        for kind in ("correct", "as-printed")
    }
    held = "they are unbiased" if by["correct"] <= ROUNDING else "they are biased"
    words = (
        "A learner that sees only the labels of the k documents it shows first must estimate the gradient that all "
        "labels would give. To do so it explores: with probability γ the order is random. Dividing by the probability "
        "P(A) that "
        "exactly these k documents A are shown should make the estimate correct on average. Are the estimators of "
        "section 4.1 "
        "unbiased? Summed over all possible outcomes, "
        f"{held}: the largest relative bias is {_short(by['correct'])}. With the constant that section 4.2 prints for "
        "all documents, which is correct only for those that exploitation would have shown, it is "
        f"{_short(by['as-printed'])}."
    )
    formula = Formula("P(A) = (1 − γ) 1[A are the top k of s] + γ / C(m, k)")
    columns = [Column("surrogate", "Loss", "left"), Column("k", "Labels shown, k"), Column("cases", "Cases")]
    columns += [Column("correct", "Bias, correct P"), Column("printed", "Bias, P as printed")]
    cells = []
    for name, k in dict.fromkeys((row["surrogate"], row["k"]) for row in mine):
        here = [row for row in mine if (row["surrogate"], row["k"]) == (name, k)]
        worst = {
            kind: max(row["largest_relative_bias"] for row in here if row["probabilities"] == kind)
            for kind in ("correct", "as-printed")
        }
        count = sum(row["probabilities"] == "correct" for row in here)
        cells.append(
            [text(name), whole(k), whole(count), scientific(worst["correct"]), scientific(worst["as-printed"])]
        )
    notes = ["A case is a combination of a list length and a value of γ. Numbers of about 1e−15 are rounding errors."]
    table = simple("topk-biases", "Largest relative bias of the estimators", BIASES, columns, cells, notes)
    return (Subsection("topk-estimators-part", "Gradients from a few labels", (Paragraph(words), formula, table)),)


def information(results: ResultsFolder) -> tuple[Block, ...]:
    """How many labels at a time a gradient takes: Lemmas 2 and 3."""
    rows = results.rows(IDENTITIES, columns=["claim", "case", "statistic", "value"])
    chosen = [row for row in rows if row["claim"] in ("topk-lemma2", "topk-lemma3")]
    if not chosen:
        return ()
    names = {"topk-lemma2": "RankSVM", "topk-lemma3": "ListNet"}
    columns = [Column("loss", "Loss", "left"), Column("case", "Lists", "left")]
    columns += [Column("two", "Two labels together"), Column("three", "Three together")]
    cells = []
    for claim, case in dict.fromkeys((row["claim"], row["case"]) for row in chosen):
        found = {row["statistic"]: row["value"] for row in chosen if (row["claim"], row["case"]) == (claim, case)}
        orders = (found["second_order_difference"], found["third_order_difference"])
        cells.append([text(names[claim]), text(case), *(scientific(value) for value in orders)])
    need = {
        name: max(row["value"] for row in chosen if row["claim"] == claim and row["statistic"].startswith("third"))
        for claim, name in names.items()
    }
    words = (
        "How few labels are sufficient? A gradient that is a sum of terms of k labels each can be estimated from k "
        "labels, and no other gradient can (Lemma 1). The table shows the size of the parts of the gradient that need "
        "two, "
        f"or three, labels together. RankSVM takes two and {'no more' if need['RankSVM'] <= ROUNDING else 'more'}; "
        f"ListNet takes {'three as well' if need['ListNet'] > ROUNDING else 'no three'}, so that neither one nor two "
        "labels estimate it; the paper uses the KL loss instead."
    )
    table = simple(
        "topk-interactions", "Parts of a gradient that depend on several labels jointly", IDENTITIES, columns, cells
    )
    return (Subsection("topk-information-part", "How few labels are sufficient?", (Paragraph(words), table)),)


def moments(results: ResultsFolder) -> tuple[Block, ...]:
    """Lemma 5: the second moment of the estimate against C / γ."""
    rows = results.rows(
        MOMENTS, columns=["surrogate", "where", "m", "radius", "y_max", "second_moment", "printed", "valid"]
    )
    if not rows:
        return ()
    over = [row for row in rows if row["second_moment"] > row["printed"] * (1.0 + ROUNDING)]
    broken = list(dict.fromkeys(row["surrogate"] for row in over))
    places = [PLACES[where] for where in dict.fromkeys(row["where"] for row in over)]
    valid = max(row["second_moment"] / row["valid"] for row in rows)
    words = (
        "The price of few labels is noise: how large is the mean square of the estimated gradient? Lemma 5 bounds it "
        "by C/γ. The ratio of the two sides should not exceed 1. "
        + (
            f"It does for {listed(broken)} {listed(places)}: the proof loses terms that matter where U or R_max is "
            "small (errata, T); "
            if broken
            else "It does not; "
        )
        + f"with the constants that the proof's own steps give, the largest ratio is {valid:.2f}."
    )
    columns = [Column("surrogate", "Loss", "left"), Column("m", "m"), Column("radius", "U"), Column("y_max", "R_max")]
    columns += [Column("printed", "Ratio, C as printed"), Column("valid", "Ratio, valid C")]
    cells = []
    for key in dict.fromkeys((row["surrogate"], row["m"], row["radius"], row["y_max"]) for row in rows):
        here = [row for row in rows if (row["surrogate"], row["m"], row["radius"], row["y_max"]) == key]
        ratios = [max(row["second_moment"] / row[kind] for row in here) for kind in ("printed", "valid")]
        name, m, radius, y_max = key
        cells.append([text(name), whole(m), number(radius, 2), whole(y_max), *(scientific(ratio) for ratio in ratios)])
    notes = ["Documents of norm at most 1; the first row of a loss is the largest ratio along a run of Algorithm 1."]
    table = simple("topk-moments", "Second moment of the estimate over C/γ", MOMENTS, columns, cells, notes)
    return (Subsection("topk-moments-part", "How noisy are the estimates?", (Paragraph(words), table)),)


def regret(results: ResultsFolder) -> tuple[Block, ...]:
    """Theorem 4.1: regret against the number of rounds."""
    rows = results.rows(REGRET, columns=["surrogate", "T", "regret", "low", "high", "exploration"])
    slopes = results.rows(EXPONENTS, columns=["surrogate", "slope", "low", "high"])
    if not rows or not slopes:
        return ()
    series: dict[str, Points] = {}
    for name in dict.fromkeys(row["surrogate"] for row in rows):
        mine = sorted((row for row in rows if row["surrogate"] == name), key=lambda row: row["T"])
        series[TITLES[name]] = _above_zero(mine)
    first = next(iter(series.values()))
    guide = [(T, first[0][1] * (T / first[0][0]) ** (2.0 / 3.0)) for T, *_ in first]
    measured = listed([f"{row['slope']:.3f} for {row['surrogate']}" for row in slopes])
    within = all(row["low"] <= 2.0 / 3.0 for row in slopes)
    words = (
        "Regret is the loss of a learner over T rounds minus that of the best fixed ranker in the ball, computed by "
        "certified "
        "minimisation over the same rounds. Does it grow no faster than T^(2/3), as Theorem 4.1 says? The measured "
        f"exponents are {measured}: {'no interval lies above 2/3' if within else 'some interval lies above 2/3'}. "
        "With all labels, the rate would be T^(1/2)."
    )
    figure = Figure(
        name="topk-regret",
        title="Regret against the number of rounds",
        caption=f"Mean over seeds with 95 % intervals{_cut(rows)}; η = T^(−2/3) and γ = T^(−1/3) for every T",
        source=REGRET,
        description=f"Lines on logarithmic axes; the fitted slopes are {measured}.",
        draw=lambda: line_plot(series, xlabel="rounds, T", ylabel="regret", log="xy", bounds={"slope 2/3": guide}),
    )
    last = max(row["T"] for row in rows)
    columns = [Column("surrogate", "Loss", "left"), Column("slope", "Exponent"), Column("interval", "95 % interval")]
    columns += [Column("regret", f"Regret at T = {last:,}"), Column("exploration", "of it, by exploring")]
    cells = []
    for row in slopes:
        end = next(r for r in rows if r["surrogate"] == row["surrogate"] and r["T"] == last)
        share = end["exploration"] / end["regret"]
        cells.append(
            [
                text(row["surrogate"]),
                number(row["slope"], 3),
                span(row["low"], row["high"], 3),
                scientific(end["regret"]),
                Cell(f"{100 * share:.0f} %", raw=share),
            ]
        )
    table = simple("topk-exponents", "Exponents of the regret", EXPONENTS, columns, cells)
    return (Subsection("topk-regret-part", "How fast does regret grow?", (Paragraph(words), figure, table)),)


def adversary(results: ResultsFolder) -> tuple[Block, ...]:
    """Theorem 5.2: two adversaries that top labels cannot distinguish."""
    cells_1 = results.rows(TABLE_1, columns=["adversary", "quantity", "document", "measured", "published"])
    rows = results.rows(GAME, columns=["learner", "T", "regret", "low", "high", "linear_limit"])
    if not cells_1 or not rows:
        return ()
    names = list(dict.fromkeys(row["learner"] for row in rows))
    blind = [name for name in names if name != "all labels"]
    held = all(row["regret"] >= row["linear_limit"] for row in rows if row["learner"] in blind)
    undecided = all(row["high"] >= row["linear_limit"] for row in rows if row["learner"] in blind)
    last = max(rows, key=lambda row: row["T"])["T"]
    above = next(
        (row["regret"] / row["linear_limit"] for row in rows if (row["learner"], row["T"]) == ("all labels", last)),
        None,
    )
    words = (
        "Can more exploration help with losses that are calibrated for NDCG? According to Theorem 5.2 it cannot: two "
        "adversaries give "
        "every single label the same mean, and yet the best scores differ. A learner that sees the top label cannot "
        "know which one it faces, so its regret, averaged over the two, is at least T ||a − b||²/4, a and b being "
        "the best scores under each. "
        + (
            "No learner falls below the limit"
            if held
            else "Some learner falls below the limit, but within the interval over seeds"
            if undecided
            else "Some learner falls below the limit, which contradicts the theorem"
        )
        + (f"; the learner that sees all labels ends at {above:.2g} times the limit." if above else ".")
    )
    columns = [Column("adversary", "Adversary", "left"), Column("quantity", "Mean of", "left")]
    columns += [Column(f"d{i}", f"Document {i}") for i in (1, 2, 3)]
    recomputed = []
    for name, quantity in dict.fromkeys((row["adversary"], row["quantity"]) for row in cells_1):
        values = {r["document"]: r["measured"] for r in cells_1 if (r["adversary"], r["quantity"]) == (name, quantity)}
        recomputed.append([text(name), text(quantity), *(number(values[i], 4) for i in (1, 2, 3))])
    table_1 = simple("topk-table1", "The two adversaries of Table 1, recomputed", TABLE_1, columns, recomputed)
    limit = sorted({(row["T"], row["linear_limit"]) for row in rows})
    series: dict[str, Points] = {"limit T ||a − b||²/4": [(T, value, value, value) for T, value in limit]}
    for name in names:
        mine = sorted((row for row in rows if row["learner"] == name), key=lambda row: row["T"])
        series[PLAYERS[name]] = _above_zero(mine)
    ends = {name: sorted((r for r in rows if r["learner"] == name), key=lambda row: row["T"])[-2:] for name in names}
    slopes = {
        name: math.log(end["regret"] / before["regret"]) / math.log(end["T"] / before["T"])
        for name, (before, end) in ends.items()
    }
    measured = listed([f"{slope:.2f} for {PLAYERS[name]}" for name, slope in slopes.items()])
    figure = Figure(
        name="topk-adversary",
        title="Regret averaged over two adversaries that top labels cannot distinguish",
        caption=f"Mean over seeds with 95 % intervals{_cut(rows)}, judged by the squared loss against G(y)/Z(y)",
        source=GAME,
        description=(
            f"The limit, of slope 1, is {'below' if held else 'not below'} all learners that see one label; slopes "
            "between the "
            f"last two T: {measured}."
        ),
        draw=lambda: line_plot(series, xlabel="rounds, T", ylabel="regret", log="xy"),
    )
    columns = [Column("learner", "Learner", "left"), Column("ratio", "Regret / limit at the end")]
    columns += [Column("slope", "Slope between the last two T")]
    cells = [
        [text(PLAYERS[name]), scientific(end["regret"] / end["linear_limit"]), number(slopes[name], 2)]
        for name, (_, end) in ends.items()
    ]
    notes = [
        "In addition to its linear part, Algorithm 1 incurs about T^(2/3) for exploration and noise, so its slope may "
        "be "
        "below 1 at these T. The leader shows documents in turn by raising their scores by an arbitrarily small "
        "amount. The constant "
        "guess, (a + b)/2, is the best possible: its regret is the limit plus the contribution of the noise of the "
        "labels."
    ]
    game = simple("topk-game", "Regret of the learners", GAME, columns, cells, notes)
    return (
        Subsection(
            "topk-adversary-part", "What cannot be learned from one label", (Paragraph(words), table_1, figure, game)
        ),
    )


def figure_1(results: ResultsFolder) -> tuple[Block, ...]:
    """Figure 1 on every data set, three times."""
    rows = results.rows(CURVES, columns=["dataset", "panel", "learner", "round", "ndcg", "low", "high", "seeds"])
    if not rows:
        return ()
    last, seeds = max(row["round"] for row in rows), rows[0]["seeds"]
    words = (
        "How good are the rankings that are shown while learning goes on? The curves give NDCG@10 of what was shown, "
        "averaged up to round t. Left: the estimators as printed, whose probabilities are wrong for explored documents "
        "and which therefore reduce the noise at the price of bias. Middle: the unbiased ones of the theorems, whose "
        "gradients are "
        "multiplied by up to m/γ when a document is explored, and for pairs by up to m(m − 1)/(2γ). Right: unbiased "
        "too, with features scaled to norm 1, in a ball chosen on one data set, with a step that is a chosen multiple "
        "of the one that minimises the bound. The tables contain the ends of the curves and, for comparison, "
        "those of descent on the same losses with all labels and without exploration, and of an ideal order."
    )
    blocks: list[Block] = [Paragraph(words)]
    for dataset in dict.fromkeys(row["dataset"] for row in rows):
        blocks += _of_dataset(dataset, [row for row in rows if row["dataset"] == dataset], last, seeds)
    blocks += repair(results)
    return (Subsection("topk-figure-part", "The rankings shown while learning", tuple(blocks)),)


def _of_dataset(dataset: str, rows: Sequence[Row], last: int, seeds: int) -> list[Block]:
    panels: dict[str, dict[str, Points]] = {}
    for panel, title in PANELS.items():
        panels[title] = {}
        for learner, name in TITLES.items():
            where = "" if learner in EVERY_PANEL else panel
            mine = sorted(
                (row for row in rows if (row["panel"], row["learner"]) == (where, learner)),
                key=lambda row: row["round"],
            )
            if mine:
                panels[title][name] = [(row["round"], row["ndcg"], row["low"], row["high"]) for row in mine]
    final = {(row["panel"], row["learner"]): row for row in rows if row["round"] == last}
    printed, correct, repaired = (
        {learner: final[panel, learner]["ndcg"] for learner in TITLES if (panel, learner) in final} for panel in PANELS
    )
    full, chance = final["", "listnet"]["ndcg"], final["", "random"]["ndcg"]
    words = (
        f"{dataset}: after {last:,} rounds, ListNet with all labels has {full:.3f}, random order {chance:.3f}. "
        "RankSVM, "
        f"KL and squared have {_values(printed)} as printed, {_values(correct)} with the correct probabilities and "
        f"{_values(repaired)} repaired. SmoothDCG has {printed['smooth-dcg']:.3f} when it descends on its gain, as "
        f"printed, and {printed['smooth-dcg-ascent']:.3f} when it ascends on it. The published order of the convex "
        "losses "
        f"(ListNet, then RankSVM and KL, then squared, then random) {_appears(printed, full, chance)} as printed, "
        f"{_appears(correct, full, chance)} with the correct probabilities and {_appears(repaired, full, chance)} "
        "repaired."
    )
    figure = Figure(
        name=f"topk-figure-{dataset.lower()}",
        title=f"Average NDCG@10 of the rankings shown, {dataset}",
        caption=f"Mean over {seeds} seeds with 95 % intervals",
        source=CURVES,
        description=words,
        draw=lambda: line_panels(panels, xlabel="round t", ylabel="average NDCG@10 up to t", log="x"),
    )
    caption = f"Average NDCG@10 after {last:,} rounds, {dataset}"
    columns = [Column("learner", "Learner", "left"), *(Column(told, title) for told, title in TOLD.items())]
    cells = [[text(name), *(_final(_end(final, told, learner)) for told in TOLD)] for learner, name in ROWS.items()]
    notes = [
        "The numbers after ± are half the 95 % interval over seeds. Where not all labels are shown, RankSVM is shown "
        "two and the "
        "others one. η = T^(−1/2) is the step of ListNet; with η = T^(−2/3), that of Algorithm 1, learners of the "
        "second column differ from those of the fourth only in that they see all labels and do not explore. Random "
        "and ideal order learn nothing, so that no column changes them."
    ]
    ends = simple(f"topk-final-{dataset.lower()}", caption, CURVES, columns, cells, notes)
    return [Paragraph(words + _told_all(final)), figure, ends]


def _end(final: Mapping[tuple[str, str], Row], told: str, learner: str) -> Row | None:
    if learner in ("random", "ideal") or (learner, told) == ("listnet", "all-labels"):
        return final.get(("", learner))
    return final.get((told, learner))


def _told_all(final: Mapping[tuple[str, str], Row]) -> str:
    ends = {
        told: {name: final[told, name]["ndcg"] for name in ("ranksvm", "kl", "squared") if (told, name) in final}
        for told in ("all-labels", "all-labels-same-step")
    }
    if not all(len(values) == 3 for values in ends.values()):
        return ""
    return (
        f" With all labels, the three have {_values(ends['all-labels-same-step'])} with the step of Algorithm 1, "
        f"η = T^(−2/3), and {_values(ends['all-labels'])} with that of ListNet, η = T^(−1/2)."
    )


def _appears(values: Mapping[str, float], full: float, chance: float) -> str:
    better, worse = (values["ranksvm"], values["kl"]), values["squared"]
    return "appears" if full > max(better) and min(better) > worse > chance else "does not appear"


def _final(row: Row | None) -> Cell:
    if row is None:
        return number(None)
    half = 0.5 * (row["high"] - row["low"])
    return Cell(f"{row['ndcg']:.3f}", raw=row["ndcg"], spread=f"{half:.3f}", spread_raw=half)


def _values(values: Mapping[str, float]) -> str:
    return ", ".join(f"{values[name]:.3f}" for name in ("ranksvm", "kl", "squared"))


def repair(results: ResultsFolder) -> list[Block]:
    """Which ball and step the third panel has, and whether a wider search might have found others."""
    rows = results.rows(REPAIR, columns=["surrogate", "radius", "factor", "dataset", "ndcg", "chosen"])
    if not rows:
        return []
    chosen = [row for row in rows if row["chosen"]]
    words = (
        f"The ball and the step of the right panels were chosen on {chosen[0]['dataset']} alone: the U and c with the "
        "best average NDCG@10 for each loss. Step sizes are c times the one that minimises the bound (4)."
    )
    edges = [row["surrogate"] for row in chosen if any(_at_the_edge(row, rows, name) for name in ("radius", "factor"))]
    if edges:
        words += f" The choice for {listed(edges)} lies at the edge of the values tried; others may be better."
    columns = [Column("surrogate", "Loss", "left"), Column("radius", "U"), Column("factor", "c")]
    columns += [Column("ndcg", "Average NDCG@10"), Column("worst", "Worst tried")]
    cells = [
        [
            text(row["surrogate"]),
            scientific(row["radius"]),
            scientific(row["factor"]),
            number(row["ndcg"], 3),
            number(min(other["ndcg"] for other in rows if other["surrogate"] == row["surrogate"]), 3),
        ]
        for row in chosen
    ]
    formula = Formula("η = c U √(γ / (C T)),  E||z_1||^2 ≤ C/γ at w = 0,  ||x|| ≤ 1")
    table = simple("topk-repair", "Settings chosen for the unbiased learner", REPAIR, columns, cells)
    note = Note(
        "On the data set used for the choice, the right panel shows the best of the values tried; on the others it is "
        "a "
        "test of it."
    )
    return [Paragraph(words), formula, table, note]


def _at_the_edge(chosen: Row, rows: Sequence[Row], name: str) -> bool:
    tried = {row[name] for row in rows if row["surrogate"] == chosen["surrogate"]}
    return len(tried) > 1 and chosen[name] in (min(tried), max(tried))


def _above_zero(rows: Sequence[Row]) -> Points:
    # A logarithmic axis has no room for an interval that reaches 0.
    return [(row["T"], row["regret"], max(row["low"], LEAST_SHOWN * row["regret"]), row["high"]) for row in rows]


def _cut(rows: Sequence[Row]) -> str:
    return ", cut at a tenth of the mean" if any(row["low"] < LEAST_SHOWN * row["regret"] for row in rows) else ""


def _short(value: float) -> str:
    return scientific(value).text


# A part reads its own tables and gives blocks, none where its tables are absent. Order: that of the page.
PARTS: tuple[Part, ...] = (estimators, information, moments, regret, adversary, figure_1)
