"""How good is every model on every data set, and which differences are significant?"""

from __future__ import annotations

from collections.abc import Sequence

from pipeline_lib.markup import listed, quoted
from pipeline_lib.reporting import certificate_blocks, training_blocks
from pipeline_lib.reporting.blocks import (
    Block,
    Details,
    Note,
    Paragraph,
    Subsection,
)
from pipeline_lib.reporting.figures import Dot, Figure, dot_plot
from pipeline_lib.reporting.study import (
    COMPARISONS,
    MEASURES,
    SIGNIFICANT,
    SUMMARY,
    Study,
    count,
    measure_title,
    slug,
)
from pipeline_lib.reporting.tables import (
    Cell,
    Column,
    Group,
    Table,
    number,
    probability,
    simple,
    span,
    text,
    whole,
)
from pipeline_lib.reporting.weights import weights_blocks
from pipeline_lib.statistics import smallest_p_value

SHOWN = 9
"""Measures a results table has room for; ``tables/summary.parquet`` holds all."""
ROUNDING = 1e-9
"""What counts as equal: means of the same values in another order."""


def results(study: Study, dataset: str) -> Subsection:
    """Measures of all models on a data set, with spread, significance and training."""
    headlines = study.headlines(dataset)
    blocks: list[Block] = [Paragraph(_how_measured(study, dataset)), *_too_few(study, dataset, headlines)]
    blocks += [_measure_table(study, dataset), _dot_figure(study, dataset, headlines)]
    for measure in headlines:
        blocks += _comparison_blocks(study, dataset, measure)
    blocks += training_blocks.validation(study, dataset)
    blocks += training_blocks.training(study, dataset)
    blocks += certificate_blocks.certificates(study, dataset)
    blocks += weights_blocks(study.weights, dataset, study.model_title)
    return Subsection(f"results-{dataset}", "Results", tuple(blocks))


def _how_measured(study: Study, dataset: str) -> str:
    if study.of_one_fold(dataset):
        words = "Each value is the mean over the test queries of the one fold that was studied."
    else:
        words = "Each value is the mean over folds of the mean over a fold's test queries, with the standard deviation "
        words += "over folds."
    words += " Intervals are bootstrap intervals over all test queries"
    if not study.comparisons:
        return f"{words}."
    return f"{words}; tests are paired over queries, with Holm's correction for the number of comparisons."


def _too_few(study: Study, dataset: str, measures: Sequence[str]) -> list[Block]:
    """A warning where the test queries are too few for any difference to be significant."""
    tests = [row for row in study.comparisons if row["dataset"] == dataset and row["measure"] in measures]
    blind = [measure for measure in measures if not study.can_differ(dataset, measure)]
    if not tests or not blind:
        return []
    queries, most = study.tested_queries(dataset), max(sum(row["measure"] == m for row in tests) for m in blind)
    least = smallest_p_value(queries)
    words = (
        f"{count(queries, 'test query', 'test queries')} cannot show a difference at p < {SIGNIFICANT}: the smallest "
        f"p-value possible in a paired test of so many is {least:.3g}"
    )
    words += f", after Holm's correction for {most} comparisons {min(1.0, most * least):.3g}" if most > 1 else ""
    return [Note(f"{words}. Intervals from so few queries are also imprecise.", "warning")]


def _measure_table(study: Study, dataset: str) -> Table:
    measured = study.measured(dataset)
    headline = study.headlines(dataset)[0]
    shown = [headline, *(measure for measure in measured if measure != headline)][:SHOWN]
    columns = [Column("model", "Model", "left"), *(Column(name, measure_title(name)) for name in shown)]
    groups = []
    for title, control in (("Learners", False), ("Controls", True)):
        models = study.ranked(dataset, headline, control=control)
        rows = [_measure_row(study, dataset, model, shown) for model in models]
        if rows:
            groups.append(Group(title, tuple(rows)))
    learners = len(study.ranked(dataset, headline, control=False))
    spread = "Mean over test queries" if study.of_one_fold(dataset) else "Mean ± standard deviation over folds"
    notes = [f"{spread}; bold: the best learner." if learners > 1 else f"{spread}."]
    tested = [m for m in shown if any((r["dataset"], r["measure"]) == (dataset, m) for r in study.comparisons)]
    if tested and not any(study.can_differ(dataset, measure) for measure in tested):
        notes.append("No significance marks: there are too few test queries for them.")
    elif tested:
        names = listed([measure_title(measure) for measure in tested])
        notes.append(
            "† significantly below the best learner; ‡ a learner not significantly above the best control "
            f"(p < {SIGNIFICANT} after Holm's correction; tested: {names})."
        )
    else:
        notes.append(f"No significance marks: {COMPARISONS} contains no tests of these measures.")
    caption = f"Test results on {dataset}"
    notes += _ideal_notes(study, dataset, shown)
    still = _at_zero(study, dataset)
    if left_out := study.untrained():
        notes.append(f"Not trained: {listed(left_out)}.")
    if still:
        notes.append(f"w = 0, which leaves the documents in the order of the file: {listed(still)}.")
    return Table(f"results-{dataset}", caption, SUMMARY, tuple(columns), tuple(groups), tuple(notes))


def _ideal_notes(study: Study, dataset: str, shown: Sequence[str]) -> list[str]:
    """Why the ideal order stays below 1, where it does."""
    ideal = next((model for model in study.models if study.is_ideal(model)), None)
    values = {m: row["mean"] for m in shown if ideal and (row := study.mean(dataset, ideal, m)) is not None}
    notes = []
    below = [measure for measure, value in values.items() if _best_is_one(measure) and value < 1.0]
    if below:
        # In the ideal order such a measure is 1 for every query with a relevant document and 0 for the others.
        rows = [r for r in study.measures if (r["dataset"], r["model"], r["measure"]) == (dataset, ideal, below[0])]
        total = sum(row["n_queries"] for row in rows)
        without = total - sum(round(row["n_queries"] * row["value"]) for row in rows)
        have, are = ("has", "counts") if without == 1 else ("have", "count")
        notes.append(
            f"{study.model_title(str(ideal))} stays below 1: {without:,} of "
            f"{count(total, 'test query', 'test queries')} {have} no relevant document and {are} as 0 in any order, "
            "as in LETOR's own evaluation."
        )
    reached = values[below[0]] if below else 1.0
    others = [measure for measure, value in values.items() if not _best_is_one(measure) and value < reached - ROUNDING]
    if others:
        notes.append(f"Under {listed([measure_title(m) for m in others])} the best order of a query need not reach 1.")
    return notes


def _best_is_one(measure: str) -> bool:
    """Whether the best order of any query with a relevant document has the value 1."""
    return measure in ("map", "ndcg", "letor4_mean_ndcg") or measure.startswith("ndcg@")


def _measure_row(study: Study, dataset: str, model: str, measures: Sequence[str]) -> tuple[Cell, ...]:
    cells = [Cell(study.model_title(model), raw=model)]
    for measure in measures:
        row = study.mean(dataset, model, measure)
        if row is None:
            cells.append(text(None))
            continue
        learners = study.ranked(dataset, measure, control=False)
        best = learners[:1]
        spread = "" if row["sd"] is None else number(row["sd"]).text
        mark = _mark(study, dataset, measure, model, best[0] if best else None)
        cells.append(
            Cell(
                number(row["mean"]).text,
                raw=row["mean"],
                spread=spread,
                spread_raw=row["sd"],
                mark=mark,
                strong=[model] == best and len(learners) > 1,
            )
        )
    return tuple(cells)


def _mark(study: Study, dataset: str, measure: str, model: str, best: str | None) -> str:
    mark = ""
    if not study.can_differ(dataset, measure):
        return mark
    if (
        best is not None
        and model != best
        and not study.is_ideal(model)
        and _better(study, dataset, measure, best, model)
    ):
        mark += "†"
    control = study.best_control(dataset, measure)
    if control is not None and not study.is_control(model):
        test = study.test(dataset, measure, model, control)
        if test is not None and not _better(study, dataset, measure, model, control):
            mark += "‡"
    return mark


def _better(study: Study, dataset: str, measure: str, model: str, other: str) -> bool:
    """Whether the paired test says that ``model`` is above ``other``."""
    test = study.test(dataset, measure, model, other)
    if test is None or test["p_holm"] is None:
        return False
    sign = 1 if test["model_a"] == model else -1
    return bool(sign * test["difference"] > 0 and test["p_holm"] < SIGNIFICANT)


def _dot_figure(study: Study, dataset: str, measures: Sequence[str]) -> Figure:
    order = [model for control in (False, True) for model in study.ranked(dataset, measures[0], control=control)]
    labels = [study.model_title(model) for model in order]
    panels = {measure_title(measure): [_dot(study, dataset, model, measure) for model in order] for measure in measures}
    first = [dot for dot in panels[measure_title(measures[0])] if dot is not None]
    words = "; ".join(f"{dot.label} {dot.mean:.3f} [{dot.low:.3f}, {dot.high:.3f}]" for dot in first)
    return Figure(
        name=f"results-{dataset}",
        title=f"{listed(list(panels))} of every model on {dataset}",
        caption=f"{dataset}: mean over test queries with its bootstrap interval"
        f"{'' if study.of_one_fold(dataset) else '; the ticks below a dot are the single folds'}. "
        "A control outside the range is shown at the edge",
        source=f"{SUMMARY}, {MEASURES}",
        description=f"{measure_title(measures[0])}: {words}.",
        draw=lambda: dot_plot(labels, panels, interval=study.interval()),
    )


def _dot(study: Study, dataset: str, model: str, measure: str) -> Dot | None:
    row = study.mean(dataset, model, measure)
    if row is None:
        return None
    folds = () if study.of_one_fold(dataset) else study.folds(dataset, model, measure)
    return Dot(study.model_title(model), row["mean"], row["low"], row["high"], folds, study.is_control(model))


def _comparison_blocks(study: Study, dataset: str, measure: str) -> list[Block]:
    found = [row for row in study.comparisons if (row["dataset"], row["measure"]) == (dataset, measure)]
    if not found:
        words = f"No paired tests of {measure_title(measure)} on {dataset}: {COMPARISONS} contains none."
        return [Note(words)]
    columns = [Column("model_a", "Model", "left"), Column("model_b", "Compared with", "left")]
    columns += [Column("difference", "Difference"), Column("interval", study.interval())]
    columns += [Column("p_value", "p"), Column("p_holm", "p, Holm"), Column("n_queries", "Queries")]
    rows = [
        [
            Cell(study.model_title(row["model_a"]), raw=row["model_a"]),
            Cell(study.model_title(row["model_b"]), raw=row["model_b"]),
            number(row["difference"], signed=True),
            span(row["low"], row["high"], signed=True),
            probability(row["p_value"]),
            probability(row["p_holm"]),
            whole(study.tested_queries(dataset)),
        ]
        for row in found
    ]
    caption = f"Paired tests on {dataset}, {measure_title(measure)}"
    table = simple(f"tests-{dataset}-{slug(measure)}", caption, COMPARISONS, columns, rows)
    return [Details(f"Paired tests, {measure_title(measure)}", (table,))]


def _at_zero(study: Study, dataset: str) -> list[str]:
    """Learners whose w is 0 on some fold, with how often."""
    folds: dict[str, list[bool]] = {}
    for row in study.training:
        if row["dataset"] == dataset and row.get("norm") is not None:
            folds.setdefault(row["model"], []).append(row["norm"] == 0.0)
    return [
        f"{quoted(study.model_title(m))} ({sum(zero)} of {len(zero)} folds)" for m, zero in folds.items() if any(zero)
    ]
