"""Measures of models, from the evaluations per query and the records of training."""

import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from pipeline_lib.core import storage
from pipeline_lib.recompute.arithmetic import spread
from pipeline_lib.recompute.comparison import Comparison, Row
from pipeline_lib.recompute.rows import with_ends
from pipeline_lib.recompute.study import Study

KEYS = ("dataset", "model", "fold", "query", "qid", "weight")
MODEL = ("dataset", "model", "fold")
Queries = Mapping[tuple[int, int], float]
"""Fold and number of every test query -> its value."""
Values = Mapping[tuple[str, str, str], Queries]
"""Data set, model and measure -> the values of all test queries."""


def compare(study: Study, found: Comparison) -> None:
    """Compare the tables of measures, tests, training and certificates, and the practice of SLAM."""
    values = per_query(study)
    if study.has("measures") and not any("weight" in frame.columns for frame in study.evaluations()):
        found.table("measures", (*MODEL, "measure"), _rows(study, "measures"), _folds(values))
        found.table("summary", ("dataset", "model", "measure"), _rows(study, "summary"), _summary(values))
        for row in _rows(study, "comparisons") if study.has("comparisons") else ():
            dataset, measure, a, b = (row[name] for name in ("dataset", "measure", "model_a", "model_b"))
            one, other = values[dataset, a, measure], values[dataset, b, measure]
            again = float(np.mean([one[query] - other[query] for query in one]))
            found.cell("comparisons", f"{dataset}, {measure}, {a}, {b}", "difference", row["difference"], again)
            found.columns["comparisons"].update(("dataset", "measure", "model_a", "model_b"))
    for table in ("validation", "training", "certificates"):
        if study.has(table):
            keys = (*MODEL, *{"validation": ("l2",), "training": (), "certificates": ("bound",)}[table])
            found.table(table, keys, _rows(study, table), RECORDS[table](study))
    if study.has("slam-practice"):
        keys = ("dataset", "question", "model", "other")
        found.table("slam-practice", keys, _rows(study, "slam-practice"), _practice(study, values))


def per_query(study: Study) -> Values:
    """The values of every measure; a query that is evaluated twice in a fold counts once."""
    found: dict[tuple[str, str, str], Queries] = {}
    for frame in study.evaluations():
        folds, queries = frame["fold"].to_list(), frame["query"].to_list()
        for measure in (name for name in frame.columns if name not in KEYS):
            key = frame["dataset"][0], frame["model"][0], measure
            found[key] = dict(zip(zip(folds, queries, strict=True), frame[measure].to_list(), strict=True))
    return found


def _rows(study: Study, table: str) -> Iterator[Row]:
    return study.table(table).iter_rows(named=True)


def _by_fold(queries: Queries) -> dict[int, list[float]]:
    folds: dict[int, list[float]] = {}
    for (fold, _), value in queries.items():
        folds.setdefault(fold, []).append(value)
    return folds


def _folds(values: Values) -> Iterator[Row]:
    for (dataset, model, measure), queries in values.items():
        for fold, of_fold in _by_fold(queries).items():
            of_model = {"dataset": dataset, "model": model, "fold": fold, "measure": measure}
            yield {**of_model, "value": math.fsum(of_fold) / len(of_fold), "n_queries": len(of_fold)}


def _summary(values: Values) -> Iterator[Row]:
    for (dataset, model, measure), queries in values.items():
        means = [math.fsum(one) / len(one) for one in _by_fold(queries).values()]
        yield {
            "dataset": dataset,
            "model": model,
            "measure": measure,
            "mean": math.fsum(means) / len(means),
            "sd": spread(means) if len(means) > 1 else None,
            "n_folds": len(means),
            "n_queries": len(queries),
        }


# Training and certificates


def _records(study: Study) -> Iterator[Mapping[str, Any]]:
    """The stored models of the published rows."""
    of_rows = {tuple(row[name] for name in MODEL) for row in _rows(study, "training")}
    for dataset, model, fold in sorted(of_rows):
        path: Path = study.results / "models" / dataset / model / f"fold-{fold}.json"
        yield storage.read_json(path)


def _validation(study: Study) -> Iterator[Row]:
    for content in _records(study):
        for step in content["record"].get("path", ()):
            about = {name: content[name] for name in MODEL}
            yield {**about, "l2": step["l2"], "measure": content["settings"]["selection"], "value": step["validation"]}


def _training(study: Study) -> Iterator[Row]:
    columns = [name for name in study.table("training").columns if name not in (*MODEL, "validation_value")]
    for content in _records(study):
        record = content["record"]
        chosen = next((step for step in record.get("path", ()) if step["l2"] == record["l2"]), record)
        sources = (chosen, content, content["settings"])
        again = {name: next((one[name] for one in sources if name in one), None) for name in columns}
        yield {**{name: content[name] for name in MODEL}, **again, "validation_value": chosen.get("validation")}


def _certificates(study: Study) -> Iterator[Row]:
    """What every bound says begins with the mean loss; on the test part Hoeffding's deviation is added."""
    trained = {tuple(one[name] for name in MODEL): one["record"].get("facts") for one in _records(study)}
    tested = {}
    for path in sorted((study.results / "evaluation").rglob("*.held-out.json")):
        for one in storage.read_json(path)["folds"]:
            tested[tuple(one[name] for name in MODEL)] = one.get("facts")
    for row in _rows(study, "certificates"):
        key = tuple(row[name] for name in MODEL)
        facts = (tested if row["bound"] == "held-out" else trained)[key]
        again: dict[str, Any] = {**dict(zip(MODEL, key, strict=True)), "bound": row["bound"]}
        if facts is not None:
            again["n"] = facts["n"]
        if facts is not None and row["risk"] is not None:
            again |= {name: facts[name] for name in ("empirical_risk", "zero_risk")}
            if row["bound"] == "held-out":
                again["deviation"] = row["largest_loss"] * math.sqrt(math.log(1 / row["delta"]) / (2 * facts["n"]))
                again["risk"] = facts["empirical_risk"] + again["deviation"]
        yield again


RECORDS = {"validation": _validation, "training": _training, "certificates": _certificates}

# The practice of SLAM

MEASURE = "ndcg@10"


def _practice(study: Study, values: Values) -> Iterator[Row]:
    """The rows as they are published, with the best learner of SLAM, and of the others, where they are compared."""
    models = storage.read_json(study.results / "models.json")["models"]
    slam = {one["model"] for one in models if _is_slam(one)}
    others = {one["model"] for one in models if not one["control"]} - slam
    for row in _rows(study, "slam-practice"):
        dataset = row["dataset"]
        of_model = {model: of for (name, model, measure), of in values.items() if (name, measure) == (dataset, MEASURE)}
        means = {model: math.fsum(of.values()) / len(of) for model, of in of_model.items()}
        group = {"practice": slam, "family": others}.get(row["question"], {row["model"]})
        best = max(group & set(means), key=lambda model: (means[model], model))
        one, other = of_model[best], of_model[row["other"]]
        yield {
            "dataset": dataset,
            "question": row["question"],
            "model": best,
            "other": row["other"],
            "value": means[best],
            "other_value": means[row["other"]],
            "n_queries": len(one),
            "difference": math.fsum(one[query] - other[query] for query in one) / len(one),
            "file_order": means.get("file-order"),
            **with_ends("worst_fold", _worst_fold(one)),
        }


def _is_slam(model: Mapping[str, Any]) -> bool:
    return bool(model["algorithm"] == "perceptron" or (model["surrogate"] or "").startswith("slam-"))


def _worst_fold(queries: Queries) -> tuple[float, float, float]:
    """How far the worst fold lies below the mean of all others, as a share of it, with 1.96 standard errors."""
    lags = [(0.0, 0.0)]
    folds = _by_fold(queries)
    for fold, inside in folds.items():
        outside = [value for other, of_other in folds.items() if other != fold for value in of_other]
        if min(len(inside), len(outside)) > 1 and any(outside):
            level, lag = (float(np.mean(outside)), float(np.mean(inside) - np.mean(outside)))
            error = math.sqrt(sum(spread(part) ** 2 / len(part) for part in (inside, outside)))
            lags.append((lag / level, 1.96 * error / level))
    lag, half = min(lags)
    return lag, lag - half, lag + half
