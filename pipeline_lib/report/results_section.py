"""How good is every model on a data set, which differences are significant, and what does theory certify of it?"""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import polars as pl

from pipeline_lib.core.markup import listed, quoted
from pipeline_lib.report.declared_figures import row_figure
from pipeline_lib.report.figures import Figure, Measured
from pipeline_lib.report.results import Row
from pipeline_lib.report.study import SUMMARY, TIED, WEIGHTS, Study, measure_title, slug
from pipeline_lib.report.tables import Cell, Table, col, number, table
from pipeline_lib.statistics import POWER

SHOWN = 9
"""Measures a results table has room for; ``tables/summary.parquet`` holds all."""
HELD_OUT = "held-out"
"""The bound, in the table of certificates, that the test part gives."""
BEST_IS_ONE = re.compile(r"(map|(linear_)?ndcg(@\d+)?|rr(@\d+)?|letor4_mean_ndcg)$")
"""Measures that are 1 in the best order of any query with a relevant document."""
FEATURES = 20
"""So many features are shown in the table of weights."""


def given(study: Study, dataset: str) -> dict[str, Any]:
    """What the template shows of a data set: measures of all models, with spread, significance and training."""
    headlines = study.headlines(dataset)
    return {
        "one_fold": study.of_one_fold(dataset),
        "slug": slug,
        "power": POWER,
        "blind": any(_tests(study, dataset, one) for one in headlines) and not study.can_differ(dataset),
        "single": study.tested_queries(dataset) == 1,
        "weighted": study.is_weighted(dataset),
        "results": _results(study, dataset),
        "dots": _dot_figure(study, dataset, headlines),
        "compared": [(measure, _tests(study, dataset, measure)) for measure in headlines],
        "titles": {model: study.model_title(model) for model in study.models},
        "trained": _trained(study, dataset),
        "certificates": certificates(study, dataset),
        "weights": weights(study, dataset),
    }


def _tests(study: Study, dataset: str, measure: str) -> list[Row]:
    """The paired tests of a measure, each with the number of queries."""
    queries = {"n_queries": study.tested_queries(dataset)}
    return [{**row, **queries} for row in study.comparisons if (row["dataset"], row["measure"]) == (dataset, measure)]


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
        "marked": study.can_differ(dataset),
        "undecided": _undecided(study, dataset, headline),
        "ideal": _ideal(study, dataset, shown),
        "untrained": [quoted(words) for words in study.untrained(dataset)],
        "at_zero": _at_zero(study, dataset),
        "averaged": study.ties_are_averaged(dataset),
        "open": any(
            range_over_ties(study, dataset, one, model) for one in shown for model in (*learners, *groups["Controls"])
        ),
        "tied": [
            f"{quoted(study.model_title(model))} (on {100 * share:.3g} % of the lists)"
            for model in (*learners, *groups["Controls"])
            if (share := study.tied(dataset, model)) is not None
        ],
    }


def _ideal(study: Study, dataset: str, shown: Sequence[str]) -> Row:
    """Of how many queries without a relevant document it is that the ideal order stays below 1."""
    ideal = next((model for model in study.models if study.is_ideal(model)), "")
    values = {m: row["mean"] for m in shown if (row := study.mean(dataset, ideal, m)) is not None}
    below = [measure for measure, value in values.items() if BEST_IS_ONE.match(measure) and value < 1.0]
    # In the ideal order such a measure is 1 for every query with a relevant document and 0 for the others.
    rows = [r for r in study.measures if (r["dataset"], r["model"], r["measure"]) == (dataset, ideal, *below[:1])]
    total = sum(row["n_queries"] for row in rows)
    return {
        "title": study.model_title(ideal),
        # Of weighted means one cannot tell how many queries are 0.
        "below": bool(below) and not study.is_weighted(dataset),
        "queries": total,
        "without": total - sum(round(row["n_queries"] * row["value"]) for row in rows),
    }


def _cell(study: Study, dataset: str, measure: str, model: str) -> Cell | None:
    row = study.mean(dataset, model, measure)
    if row is None:
        return None
    learners = study.ranked(dataset, measure, control=False)
    shown = number(row["mean"])
    mark = TIED if study.tied(dataset, model) is not None else ""
    return replace(
        shown,
        text=shown.text + range_over_ties(study, dataset, measure, model),
        spread="" if row["sd"] is None else number(row["sd"]).text,
        spread_raw=row["sd"],
        mark=mark + (_mark(study, dataset, measure, model, learners[:1]) if study.can_differ(dataset) else ""),
        strong=[model] == learners[:1] and len(learners) > 1,
    )


def range_over_ties(study: Study, dataset: str, measure: str, model: str) -> str:
    """The values in the worst and the best order of equal scores, in brackets, where they differ as they are shown."""
    row = study.ties(dataset, model, measure)
    if row is None:
        return ""
    worst, best = number(row["worst"]).text, number(row["best"]).text
    return f" ({worst} to {best})" if worst != best else ""


def _ends(study: Study, dataset: str, measure: str, model: str) -> dict[str, Measured]:
    """A series of a figure: the values in the worst and the best order of equal scores, where tables show them."""
    row, mean = study.ties(dataset, model, measure), study.mean(dataset, model, measure)
    if row is None or mean is None or not range_over_ties(study, dataset, measure, model):
        return {}
    return {"worst to best order of equal scores": Measured(mean["mean"], row["worst"], row["best"])}


def _mark(study: Study, dataset: str, measure: str, model: str, best: Sequence[str]) -> str:
    behind = model not in best and not study.is_ideal(model)
    mark = "†" if behind and any(study.is_better(dataset, measure, one, model) for one in best) else ""
    control = study.best_control(dataset, measure)
    compared = control is not None and not study.is_control(model)
    if compared and study.test(dataset, measure, model, str(control)) is not None:
        mark += "" if study.is_better(dataset, measure, model, str(control)) else "‡"
    return mark


def _undecided(study: Study, dataset: str, measure: str) -> list[float]:
    """The differences that tests behind missing marks would have found with a probability of POWER, rising."""
    learners, control = study.ranked(dataset, measure, control=False), study.best_control(dataset, measure)
    others = [model for model in study.ranked(dataset, measure, control=True) if not study.is_ideal(model)]
    asked = {frozenset((best, other)) for best in learners[:1] for other in (*learners, *others)}
    asked |= {frozenset((learner, str(control))) for learner in learners}
    tests = (study.test(dataset, measure, *pair) for pair in map(sorted, asked) if len(pair) == 2)
    return sorted(
        test["detectable"]
        for test in tests
        if test is not None and test["detectable"] is not None and not study.is_significant(test)
    )


def _dot_figure(study: Study, dataset: str, measures: Sequence[str]) -> Figure:
    """The means of all models with their intervals, save of the control that sees the labels and is out of reach."""
    order = [model for control in (False, True) for model in study.ranked(dataset, measures[0], control=control)]
    shown = [model for model in order if not study.is_ideal(model)] or order
    panels = {}
    for measure in measures:
        means = [(model, study.mean(dataset, model, measure)) for model in shown]
        panels[measure_title(measure)] = [
            (study.model_title(model), {kind: Measured(row["mean"], *ends)} | _ends(study, dataset, measure, model))
            for model, row in means
            if row is not None
            for kind in ["control" if study.is_control(model) else "learner"]
            for ends in [[row["mean"] if row[end] is None else row[end] for end in ("low", "high")]]
        ]
    left_out = "; the control that sees the labels is left out" if shown != order else ""
    return row_figure(
        f"results-{dataset}",
        f"{listed(list(panels))} of every model on {dataset}",
        f"{dataset}: mean over test queries with its bootstrap interval{left_out}",
        panels,
        xlabel=f"mean with its {study.interval()}",
        source=SUMMARY,
    )


def _at_zero(study: Study, dataset: str) -> list[str]:
    """Learners whose w is 0 on some fold, with how often."""
    folds: dict[str, list[bool]] = {}
    for row in study.training:
        if row["dataset"] == dataset and row.get("norm") is not None:
            folds.setdefault(row["model"], []).append(row["norm"] == 0.0)
    return [
        f"{quoted(study.model_title(m))} ({sum(zero)} of {len(zero)} folds)" for m, zero in folds.items() if any(zero)
    ]


def _trained(study: Study, dataset: str) -> dict[str, Any]:
    """What the training of every model chose and reached, and what certified it."""
    told = ("l2", "objective", "certified", "iterations", "validation_value")
    found = [row for row in study.training if row["dataset"] == dataset and any(row[key] is not None for key in told)]
    return {
        "rows": found,
        "certificates": sorted(
            {row["certificate"] for row in found if row["certificate"] and row["certified"] is not None}
        ),
        "local": sorted({quoted(study.model_title(row["model"])) for row in found if row["certificate"] == "local"}),
    }


def weights(study: Study, dataset: str) -> Table | None:
    """The features that the linear models of a data set weigh most, means over folds; None where they have no names.

    Features stand in the order of their largest share of a model's weights.
    """
    found = [row for row in study.weights if row["dataset"] == dataset]
    if not any(row["weight"] for row in found):
        return None
    share = pl.col("weight").abs() / pl.col("weight").abs().sum().over("model")
    means = pl.DataFrame(found).group_by("model", "feature", maintain_order=True).agg(pl.col("weight").mean())
    means = means.filter((pl.col("weight") != 0).any().over("model")).with_columns(share=share)
    largest = means.group_by("feature", maintain_order=True).agg(pl.col("share").max()).filter(pl.col("share") > 0)
    features = largest.sort("share", descending=True, maintain_order=True)["feature"][:FEATURES].to_list()
    models = means["model"].unique(maintain_order=True).to_list()
    by_place = {(model, feature): weight for model, feature, weight, _ in means.iter_rows()}
    notes = ["Means over folds, in the units in which each model sees the feature."]
    if (known := means["feature"].n_unique()) > FEATURES:
        notes.append(f"The {FEATURES} of {known:,} features that have the largest share of a model's weights.")
    return table(
        f"weights-{dataset}",
        f"Weights of features on {dataset}",
        ({"feature": feature, **{model: by_place[model, feature] for model in models}} for feature in features),
        [col("feature", "Feature", "text"), *(col(model, study.model_title(model), "number") for model in models)],
        notes=notes,
        source=WEIGHTS,
    )


def certificates(study: Study, dataset: str) -> dict[str, Any] | None:
    """The tightest bound of every learner, and why others have none; None where there is no learner."""
    found: dict[str, list[Row]] = {}
    for row in study.certificates:
        if row["dataset"] == dataset and not study.is_control(row["model"]):
            found.setdefault(row["model"], []).append(row)
    if not found:
        return None
    tightest = {model: bound for model, rows in found.items() if (bound := _tightest(rows)) is not None}
    tested = {model: bound for model, rows in found.items() if (bound := _tightest(rows, held_out=True)) is not None}
    without: dict[str, list[str]] = {}
    for model, rows in found.items():
        if model not in tightest:
            reason = next((row["reason"] for row in rows if row["reason"]), "unknown")
            without.setdefault(reason, []).append(study.model_title(model))
    return {
        "rows": [_shown(row, tested.get(model)) for model, row in tightest.items()],
        "tested": bool(tested),
        "informative": sum(row["informative"] for row in tightest.values()),
        "informative_tested": sum(row["informative"] for row in tested.values()),
        "delta": next((row["delta"] for row in tightest.values()), None),
        "without": without,
    }


def _tightest(rows: list[Row], held_out: bool = False) -> Row | None:
    """The least risk that the bounds certify, or the held-out queries; of several folds, where it is largest."""
    best: dict[int, Row] = {}
    for row in rows:
        if (row["bound"] == HELD_OUT) is held_out and row["risk"] is not None:
            best[row["fold"]] = min(best.get(row["fold"], row), row, key=lambda one: one["risk"])
    return max(best.values(), key=lambda row: row["risk"], default=None)


def _shown(row: Row, tested: Row | None) -> Row:
    return {
        **row,
        "bound": row["place"] if row["place"].startswith("Theorem") else row["bound"],
        "informative": "yes" if row["informative"] else "no",
        "informative_from": _first(row),
        "held_out": None if tested is None else tested["risk"],
        "held_out_zero": None if tested is None else tested["zero_risk"],
        "held_out_from": None if tested is None else _first(tested),
    }


def _first(row: Row) -> Cell | int:
    found = row["informative_from"]
    return Cell("beyond 10¹⁵") if found is None else int(found)
