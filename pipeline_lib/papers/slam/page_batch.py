"""What does the page of the paper `slam` say about risk minimisation, practice, and its Theorem 10?"""

from __future__ import annotations

from collections.abc import Sequence

from pipeline_lib.markup import quoted
from pipeline_lib.reporting.blocks import Block, Formula, Paragraph, Subsection
from pipeline_lib.reporting.figures import Figure, line_plot
from pipeline_lib.reporting.results import ResultsFolder, Row
from pipeline_lib.reporting.tables import Column, number, probability, scientific, simple, span, text, whole

RISKS = "tables/slam-risk.parquet"
RATES = "tables/slam-rates.parquet"
PRACTICE = "tables/slam-practice.parquet"
CHECKS = "tables/slam-losses.parquet"
TRAINING = "tables/training.parquet"
TITLES = {"slam-ndcg": "SLAM-NDCG", "slam-map": "SLAM-MAP", "listnet": "ListNet"}


def excess_risk(results: ResultsFolder) -> tuple[Block, ...]:
    """Theorem 8: the excess risk against the number of queries, with its bound."""
    columns = ["surrogate", "radius", "regularisation", "n", "excess_risk", "low", "high", "bound", "l2", "norm"]
    columns.append("certified")
    rows = results.rows(RISKS, columns=columns)
    rates = results.rows(RATES, columns=["surrogate", "radius", "regularisation", "exponent", "low", "high"])
    theorem = [row for row in rows if row["regularisation"] == "theorem"]
    if not theorem:
        return ()
    over = [row for row in theorem if row["excess_risk"] > row["bound"]]
    closest = max(row["excess_risk"] / row["bound"] for row in theorem)
    words = (
        "Theorem 8 bounds the amount by which the risk of a regularised minimiser over n queries exceeds that of the "
        "best "
        f"ranker in a ball, for one choice of λ. The bound holds in {len(theorem) - len(over)} of {len(theorem)} cells "
        f"of the grid; the measured excess risk is at most {100 * closest:.3g} % of the bound. "
        f"The excess falls as n to the power {_exponents(rates, 'theorem')}, the bound as n to the power −1/2; "
        f"{_certified(rows)}."
    )
    why = _why(theorem, rates)
    blocks: list[Block] = [
        Paragraph(words),
        Formula("E L(ŵ) − min L ≤ 2 L B (8/n + sqrt(2/n))"),
        Paragraph(why),
    ]
    blocks += [_risk_figure(theorem, radius) for radius in sorted({row["radius"] for row in rows})]
    blocks.append(_risk_table(rows, rates))
    return (Subsection("slam-risk-part", "Excess risk of risk minimisation", tuple(blocks)),)


def practice(results: ResultsFolder) -> tuple[Block, ...]:
    """Section 7's open question: SLAM beside others on the data sets."""
    columns = ["dataset", "question", "title", "value", "other_title", "other_value", "difference", "low", "high"]
    rows = results.rows(PRACTICE, columns=[*columns, "p_holm", "n_queries"])
    if not rows:
        return ()
    blocks: list[Block] = []
    level = results.setting("statistics", "level") or 0.95
    for question, introduction in QUESTIONS.items():
        mine = [row for row in rows if row["question"] == question]
        if mine:
            blocks.append(Paragraph(f"{introduction} {_verdicts(mine, level)}"))
            blocks.append(_practice_table(question, mine))
    zero = _at_zero(results)
    if zero:
        words = (
            f"Minimising a SLAM loss led to w = 0: {'; '.join(zero)}. At w = 0 every hinge is active. The minimum is "
            "there if no ranker raises relevant documents sufficiently above the best less relevant ones to compensate "
            "for those that remain below, which is the more likely the longer and noisier the lists are. It leaves the "
            "documents in the order of the file, so its NDCG is that of this order."
        )
        blocks.append(Paragraph(words))
    return (
        Subsection(
            "slam-practice-part", "How well do the learners perform in practice, and with kernels?", tuple(blocks)
        ),
    )


def dimensions(results: ResultsFolder) -> tuple[Block, ...]:
    """Erratum B: how many permutation-invariant linear maps there are."""
    rows = [
        row
        for row in results.rows(CHECKS, columns=["claim", "statistic", "value"])
        if row["claim"] == "slam-thm10" and row["statistic"] == "dimension"
    ]
    if not rows:
        return ()
    larger = [row for row in rows if row["value"] > row["d"]]
    words = (
        "Theorem 10 states that the linear maps from m × d feature matrices to m scores which commute with every "
        "permutation of the documents form a space of dimension at most d. The rank of the constraints contradicts "
        "this "
        f"in {len(larger)} of {len(rows)} cases (erratum B): in addition to X w, adding the same number "
        "1ᵀX v to all scores is such a map, which gives 2 d dimensions. It does not change the order of documents."
    )
    cells = [[whole(row["m"]), whole(row["d"]), whole(int(row["value"])), whole(2 * row["d"])] for row in rows]
    headings = [Column("m", "m"), Column("d", "d, as printed"), Column("found", "Dimension"), Column("twice", "2 d")]
    table = simple("slam-dimensions", "Dimension of the invariant linear maps", CHECKS, headings, cells)
    return (Subsection("slam-dimensions-part", "How many invariant linear maps are there?", (Paragraph(words), table)),)


def _at_zero(results: ResultsFolder) -> list[str]:
    titles = {entry["model"]: entry["title"] for entry in results.models()}
    folds: dict[tuple[str, str], list[bool]] = {}
    for row in results.rows(TRAINING, columns=["dataset", "model", "surrogate", "norm"]):
        if row["norm"] is not None and (row["surrogate"] or "").startswith("slam-"):
            folds.setdefault((row["model"], row["dataset"]), []).append(row["norm"] == 0.0)
    return [
        f"{quoted(titles.get(model, model))} on {dataset} ({sum(zero)} of {len(zero)} folds)"
        for (model, dataset), zero in folds.items()
        if any(zero)
    ]


QUESTIONS = {
    "practice": "The paper leaves open whether its learners perform well in practice. The best SLAM learner is "
    "compared with "
    "every other learner of the study, by NDCG@10 on the test queries of all folds.",
    "family": "The best learner that is not SLAM's is also compared with each of the other SLAM learners.",
    "kernel": "The paper also asks about kernels. The best perceptron with a kernel is compared with those without.",
}


def _verdicts(rows: Sequence[Row], level: float) -> str:
    said = []
    for dataset in dict.fromkeys(row["dataset"] for row in rows):
        # The best of the others comes first.
        row = next(row for row in rows if row["dataset"] == dataset)
        told_apart = row["p_holm"] <= 1.0 - level
        verdict = (
            ("better than" if row["difference"] > 0 else "worse than") if told_apart else "not distinguishable from"
        )
        said.append(
            f"on {dataset}, {quoted(row['title'])} ({row['value']:.4f}) is {verdict} {quoted(row['other_title'])} "
            f"({row['other_value']:.4f}), the best of them"
        )
    sentence = "; ".join(said)
    return f"{sentence[0].upper()}{sentence[1:]}."


def _practice_table(question: str, rows: Sequence[Row]) -> Block:
    columns = [
        Column("dataset", "Data set", "left"),
        Column("other", "Learner", "left"),
        Column("other_value", "NDCG@10"),
        Column("difference", "Difference"),
        Column("interval", "Interval"),
        Column("p", "p (Holm)"),
    ]
    cells = [
        [
            text(row["dataset"]),
            text(row["other_title"]),
            number(row["other_value"]),
            number(row["difference"], signed=True),
            span(row["low"], row["high"], signed=True),
            probability(row["p_holm"]),
        ]
        for row in rows
    ]
    title = {
        "practice": "The best SLAM learner's lead over all others",
        "family": "The lead of the best learner that is not SLAM's over the other SLAM learners",
        "kernel": "The lead of the best perceptron with a kernel over those without",
    }[question]
    notes = [
        "Differences are paired by query, intervals by bootstrap over queries, p by sign flips with Holm's correction "
        "within a data set, over all tests of SLAM learners or over those of kernels. The learners were chosen by "
        "these same values, which favours the best of either side."
    ]
    return simple(f"slam-{question}", title, PRACTICE, columns, cells, notes)


def _exponents(rates: Sequence[Row], regularisation: str) -> str:
    found = [row["exponent"] for row in rates if row["regularisation"] == regularisation]
    if not found:
        return "unknown (too few sizes)"
    low, high = min(found), max(found)
    return f"{low:.2f} to {high:.2f}".replace("-", "−") if low != high else f"{low:.2f}".replace("-", "−")


def _why(theorem: Sequence[Row], rates: Sequence[Row]) -> str:
    first = min(row["norm"] / row["radius"] for row in theorem)
    last = max(row["norm"] / row["radius"] for row in theorem)
    slower = [row for row in rates if row["regularisation"] == "theorem" and row["low"] > -0.5]
    free = {(row["surrogate"], row["radius"]): row["high"] for row in rates if row["regularisation"] == "none"}
    biased = bool(slower) and all(free.get((row["surrogate"], row["radius"]), 0.0) < row["low"] for row in slower)
    said = (
        f"The λ of the theorem is chosen for the bound, not for the data: it keeps ||ŵ|| between {first:.3f} B and "
        f"{last:.3f} B. "
    )
    if slower:
        said += f"In {len(slower)} lines of the table the excess falls more slowly than the bound. "
    said += (
        "Without regularisation, in the same ball, the excess falls as n to the power "
        f"{_exponents(rates, 'none')}; the table has both."
    )
    return said + (" Hence the slow decrease is due to the bias caused by λ, not to chance." if biased else "")


def _certified(rows: Sequence[Row]) -> str:
    missing = sum(not row["certified"] for row in rows)
    if not missing:
        return "all solutions behind it are certified"
    return f"{missing} of {len(rows)} cells rest on a solution without a certificate"


def _risk_figure(rows: Sequence[Row], radius: float) -> Figure:
    mine = [row for row in rows if row["radius"] == radius]
    series, bounds = {}, {}
    closest = max(row["excess_risk"] / row["bound"] for row in mine)
    for surrogate in dict.fromkeys(row["surrogate"] for row in mine):
        points = sorted((row for row in mine if row["surrogate"] == surrogate), key=lambda row: row["n"])
        title = TITLES.get(surrogate, surrogate)
        series[title] = [(r["n"], r["excess_risk"], r["low"], r["high"]) for r in points]
        bounds[f"Theorem 8, {title}"] = [(r["n"], r["bound"]) for r in points]
    return Figure(
        name=f"slam-risk-{radius:g}",
        title=f"Excess risk and Theorem 8, B = {radius:g}",
        caption="Mean over training samples with its interval, and the bound; λ as in the theorem",
        source=RISKS,
        description=f"The measured excess is at most {100 * closest:.2g} % of the bound.",
        draw=lambda: line_plot(
            series, xlabel="queries in the training sample, n", ylabel="excess risk", log="xy", bounds=bounds
        ),
    )


def _risk_table(rows: Sequence[Row], rates: Sequence[Row]) -> Block:
    sizes = sorted({row["n"] for row in rows})
    columns = [
        Column("surrogate", "Loss", "left"),
        Column("radius", "B"),
        Column("l2", "λ", "left"),
        *(Column(f"n{n}", f"n = {n:,}") for n in sizes),
        Column("exponent", "Exponent"),
        Column("interval", "Interval"),
    ]
    by = {(row["surrogate"], row["radius"], row["regularisation"], row["n"]): row for row in rows}
    slope = {(row["surrogate"], row["radius"], row["regularisation"]): row for row in rates}
    cells = []
    for surrogate, radius, regularisation in dict.fromkeys(key[:3] for key in by):
        rate = slope.get((surrogate, radius, regularisation))
        cells.append(
            [
                text(TITLES.get(surrogate, surrogate)),
                number(radius, 1),
                text("of the theorem" if regularisation == "theorem" else "none"),
                *(scientific(by[surrogate, radius, regularisation, n]["excess_risk"]) for n in sizes),
                number(rate["exponent"] if rate else None, 2),
                span(rate["low"], rate["high"], 2) if rate else text("–"),
            ]
        )
    return simple("slam-risk", "Mean excess risk", RISKS, columns, cells)
