"""How good is every model on every data set, and which differences are significant?"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from pipeline_lib.core.markup import listed, quoted
from pipeline_lib.report import certificate_blocks, training_blocks
from pipeline_lib.report.figures import Dot, Figure, dot_plot
from pipeline_lib.report.results import Row
from pipeline_lib.report.study import MEASURES, SIGNIFICANT, SUMMARY, Study, measure_title, slug
from pipeline_lib.report.tables import Cell, number
from pipeline_lib.report.weights import weights_blocks
from pipeline_lib.statistics import smallest_p_value

SHOWN = 9
"""Measures a results table has room for; ``tables/summary.parquet`` holds all."""
ROUNDING = 1e-9
"""What counts as equal: means of the same values in another order."""


def given(study: Study, dataset: str) -> dict[str, Any]:
    """What the template shows of a data set: measures of all models, with spread, significance and training."""
    headlines = study.headlines(dataset)
    return {
        "one_fold": study.of_one_fold(dataset),
        "significant": SIGNIFICANT,
        "slug": slug,
        "blind": _blind(study, dataset, headlines),
        "results": _results(study, dataset),
        "dots": _dot_figure(study, dataset, headlines),
        "compared": [(measure, _tests(study, dataset, measure)) for measure in headlines],
        "validation": training_blocks.validation(study, dataset),
        "trained": training_blocks.trained(study, dataset),
        "certificates": certificate_blocks.certificates(study, dataset),
        "weights": weights_blocks(study.weights, dataset, study.model_title),
    }


def _tests(study: Study, dataset: str, measure: str) -> list[Row]:
    """The paired tests of a measure, each with the number of queries."""
    queries = {"n_queries": study.tested_queries(dataset)}
    return [{**row, **queries} for row in study.comparisons if (row["dataset"], row["measure"]) == (dataset, measure)]


def _blind(study: Study, dataset: str, measures: Sequence[str]) -> Row | None:
    """The smallest p-values that are possible, where they are too large for any difference to be significant."""
    tests = [
        len(found)
        for measure in measures
        if (found := _tests(study, dataset, measure)) and not study.can_differ(dataset, measure)
    ]
    if not tests:
        return None
    queries, most = study.tested_queries(dataset), max(tests)
    least = smallest_p_value(queries)
    return {"queries": queries, "tests": most, "least": least, "corrected": min(1.0, most * least)}


def _results(study: Study, dataset: str) -> Row:
    """The rows of the table of results, and what its notes say."""
    headline = study.headlines(dataset)[0]
    shown = list(dict.fromkeys([headline, *study.measured(dataset)]))[:SHOWN]
    learners = study.ranked(dataset, headline, control=False)
    groups = {"Learners": learners, "Controls": study.ranked(dataset, headline, control=True)}
    tested = [measure for measure in shown if _tests(study, dataset, measure)]
    return {
        "measures": shown,
        "rows": [
            {"group": title, "model": model, **{one: _cell(study, dataset, one, model) for one in shown}}
            for title, models in groups.items()
            for model in models
        ],
        "learners": len(learners),
        "tested": [measure_title(measure) for measure in tested],
        "marked": any(study.can_differ(dataset, measure) for measure in tested),
        "ideal": _ideal(study, dataset, shown),
        "untrained": [quoted(words) for words in study.untrained()],
        "at_zero": _at_zero(study, dataset),
    }


def _ideal(study: Study, dataset: str, shown: Sequence[str]) -> Row:
    """Why the ideal order stays below 1: queries without a relevant document, and measures that need not reach it."""
    ideal = next((model for model in study.models if study.is_ideal(model)), "")
    values = {m: row["mean"] for m in shown if (row := study.mean(dataset, ideal, m)) is not None}
    below = [measure for measure, value in values.items() if _best_is_one(measure) and value < 1.0]
    # In the ideal order such a measure is 1 for every query with a relevant document and 0 for the others.
    rows = [r for r in study.measures if (r["dataset"], r["model"], r["measure"]) == (dataset, ideal, *below[:1])]
    total = sum(row["n_queries"] for row in rows)
    reached = values[below[0]] if below else 1.0
    others = [measure for measure, value in values.items() if not _best_is_one(measure) and value < reached - ROUNDING]
    return {
        "title": study.model_title(ideal),
        "below": bool(below),
        "queries": total,
        "without": total - sum(round(row["n_queries"] * row["value"]) for row in rows),
        "others": [measure_title(measure) for measure in others],
    }


def _best_is_one(measure: str) -> bool:
    """Whether the best order of any query with a relevant document has the value 1."""
    return measure in ("map", "ndcg", "letor4_mean_ndcg") or measure.startswith("ndcg@")


def _cell(study: Study, dataset: str, measure: str, model: str) -> Cell | None:
    row = study.mean(dataset, model, measure)
    if row is None:
        return None
    learners = study.ranked(dataset, measure, control=False)
    return replace(
        number(row["mean"]),
        spread="" if row["sd"] is None else number(row["sd"]).text,
        spread_raw=row["sd"],
        mark=_mark(study, dataset, measure, model, learners[:1]) if study.can_differ(dataset, measure) else "",
        strong=[model] == learners[:1] and len(learners) > 1,
    )


def _mark(study: Study, dataset: str, measure: str, model: str, best: Sequence[str]) -> str:
    behind = model not in best and not study.is_ideal(model)
    mark = "†" if behind and any(_better(study, dataset, measure, one, model) for one in best) else ""
    control = study.best_control(dataset, measure)
    compared = control is not None and not study.is_control(model)
    if compared and study.test(dataset, measure, model, str(control)) is not None:
        mark += "" if _better(study, dataset, measure, model, str(control)) else "‡"
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


def _at_zero(study: Study, dataset: str) -> list[str]:
    """Learners whose w is 0 on some fold, with how often."""
    folds: dict[str, list[bool]] = {}
    for row in study.training:
        if row["dataset"] == dataset and row.get("norm") is not None:
            folds.setdefault(row["model"], []).append(row["norm"] == 0.0)
    return [
        f"{quoted(study.model_title(m))} ({sum(zero)} of {len(zero)} folds)" for m, zero in folds.items() if any(zero)
    ]
