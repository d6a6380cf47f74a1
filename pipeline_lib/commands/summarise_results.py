"""Compute the tables of the report from the measures of every query and the training records."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import polars as pl

from pipeline_lib import statistics, surrogates
from pipeline_lib.core import storage
from pipeline_lib.core.errors import DataError
from pipeline_lib.core.files import Output
from pipeline_lib.core.seeds import generator
from pipeline_lib.data.invariants import PER_QUERY, Invariants
from pipeline_lib.metrics import seed_axis
from pipeline_lib.surrogates.base import Surrogate
from pipeline_lib.theory import certificates, held_out, list_bounds
from pipeline_lib.theory.ranker_facts import Facts

Model = Mapping[str, Any]
"""The content of the file of a trained model."""

AXES = {"dataset": pl.String, "model": pl.String, "fold": pl.UInt8}
# A query may be named by a text.
KEYS = {**AXES, "fold": pl.Int64, "query": pl.Int64, "qid": pl.String}
MEASURES = {**AXES, "measure": pl.String, "value": pl.Float64, "n_queries": pl.UInt32}
SUMMARY = {
    **dict.fromkeys(("dataset", "model", "measure"), pl.String),
    **dict.fromkeys(("mean", "sd", "low", "high"), pl.Float64),
    **dict.fromkeys(("n_folds", "n_queries"), pl.UInt32),
}
TRAINING = {
    **AXES,
    **dict.fromkeys(("algorithm", "surrogate", "selection"), pl.String),
    **dict.fromkeys(("l2", "objective", "gap", "relative_gap"), pl.Float64),
    "certified": pl.Boolean,
    "certificate": pl.String,
    "iterations": pl.Int64,
    **dict.fromkeys(("norm", "validation_value"), pl.Float64),
}
VALIDATION = {**AXES, "l2": pl.Float64, "measure": pl.String, "value": pl.Float64}
WEIGHTS = {**AXES, "feature": pl.String, "weight": pl.Float64}
TIES = {
    **dict.fromkeys(("dataset", "model", "measure"), pl.String),
    **dict.fromkeys(("worst", "best"), pl.Float64),
    **dict.fromkeys(("lists", "tied_lists"), pl.Int64),
}
PUBLISHED = {
    **dict.fromkeys(("dataset", "model", "folds", "measure"), pl.String),
    **dict.fromkeys(("published", "measured", "delta", "standard_error", "in_standard_errors"), pl.Float64),
    "source": pl.String,
}
CERTIFICATES = {
    **AXES,
    **dict.fromkeys(("surrogate", "bound", "place"), pl.String),
    **dict.fromkeys(("radius", "risk", "deviation", "empirical_risk", "zero_risk", "largest_loss"), pl.Float64),
    "n": pl.Int64,
    "delta": pl.Float64,
    "informative": pl.Boolean,
    "informative_from": pl.Int64,
    "reason": pl.String,
}

INVARIANTS = {
    "measures": Invariants((*AXES, "measure"), ("1 <= n_queries",)),
    "summary": Invariants(("dataset", "model", "measure"), ("1 <= n_folds <= n_queries", "0 <= sd", "low <= high")),
    "training": Invariants(tuple(AXES)),
    "validation": Invariants((*AXES, "l2", "measure")),
    "certificates": Invariants(
        (*AXES, "bound"),
        ("1 <= n", "0 <= delta <= 1", "risk = empirical_risk + deviation", "informative = (risk < zero_risk)"),
        frozenset({"bound"}),  # missing where no bound says anything
    ),
    "published": Invariants(
        ("dataset", "model", "folds", "measure", "source"),
        ("delta = measured - published", "0 <= standard_error", "delta = in_standard_errors * standard_error"),
    ),
    "weights": Invariants((*AXES, "feature")),
    "ties": Invariants(("dataset", "model", "measure"), ("worst <= best", "0 <= tied_lists <= lists")),
}
"""What always holds of the tables."""


def run(
    *,
    level: Annotated[float, "level of the intervals, such as 0.95"],
    resamples: Annotated[int, "bootstrap draws"],
    seed: Annotated[int, "the study's seed"],
    output: Annotated[Output, "folder of the tables"],
    untrained: Annotated[Output, "output file for the models that could not be trained, as JSON"],
    evaluations: Annotated[Sequence[Path], "tables of the measures of every query"] = (),
    models: Annotated[Sequence[Path], "trained models, as JSON"] = (),
    held_out: Annotated[Sequence[Path], "facts about models on test parts, as JSON"] = (),
    published: Annotated[Sequence[Path], "tables transcribed from publications, as CSV"] = (),
    reproduces: Annotated[Mapping[str, Any], "published row that each model reproduces, as a JSON object"] = {},
    weights: Annotated[Output | None, "output file for the weights of features that have names"] = None,
    ties: Annotated[Output | None, "output file for the ranges of measures over the orders of equal scores"] = None,
) -> None:
    """Write all tables of the study as Parquet; those of weights and ties only if an output for each is given."""
    per_query = read_evaluations(evaluations)
    measures = measure_table(per_query)
    trained, left_out = without_untrained([storage.read_json(path) for path in models])
    tables = {
        "measures": measures,
        "summary": summary_table(per_query, measures, level, resamples, seed),
        "training": training_table(trained),
        "validation": validation_table(trained),
        "certificates": pl.concat([certificate_table(trained), held_out_table(held_out)]),
        "published": published_table(per_query, published, reproduces),
    }
    for name, table in tables.items():
        INVARIANTS[name].write(output / f"{name}.parquet", table)
    storage.write_json(untrained, {"untrained": left_out})
    if weights is not None:
        INVARIANTS["weights"].write(weights, weights_table(trained))
    if ties is not None:
        INVARIANTS["ties"].write(ties, ties_table(held_out))


def without_untrained(models: Sequence[Model]) -> tuple[list[Model], list[dict[str, Any]]]:
    """The models of every data set that were trained on all folds, and why others were not, one entry per reason.

    Example
    -------
    >>> about = {"dataset": "mine", "model": "rankboost"}
    >>> reason = "expected documents with different labels in some query, found none"
    >>> without_untrained([{**about, "fold": 1, "untrained": reason}, {**about, "fold": 2, "trained": {}}])[1]
    [{'dataset': 'mine', 'model': 'rankboost', 'reason': 'expected documents with different labels in some query, \
found none', 'folds': [1]}]
    """
    folds: dict[tuple[str, str, str], list[int]] = {}
    for content in models:
        if "untrained" in content:
            key = content["dataset"], content["model"], content["untrained"]
            folds.setdefault(key, []).append(content["fold"])
    left_out = {(dataset, model) for dataset, model, _ in folds}
    trained = [content for content in models if (content["dataset"], content["model"]) not in left_out]
    return trained, [
        {"dataset": dataset, "model": model, "reason": reason, "folds": on}
        for (dataset, model, reason), on in folds.items()
    ]


def read_evaluations(paths: Sequence[Path]) -> pl.DataFrame:
    """Per-query values in long form: one row for every data set, model, fold, query and measure.

    ``weight`` is that of the query, null where queries have none.
    """
    tables = [PER_QUERY.read(path).cast(pl.Schema(KEYS)) for path in paths]
    weighted = [
        table if "weight" in table.columns else table.with_columns(weight=pl.lit(None, pl.Float64)) for table in tables
    ]
    index = [*KEYS, "weight"]
    long = [table.unpivot(index=index, variable_name="measure", value_name="value") for table in weighted]
    columns = {**KEYS, "weight": pl.Float64, "measure": pl.String, "value": pl.Float64}
    return pl.concat([pl.DataFrame(schema=columns), *long])


def measure_table(per_query: pl.DataFrame) -> pl.DataFrame:
    """Mean of every measure over the test queries of every fold; where queries have weights, the weighted mean."""
    grouped = per_query.group_by(["dataset", "model", "fold", "measure"], maintain_order=True)
    value, weight = pl.col("value"), pl.col("weight")
    mean = pl.when(weight.is_null().all()).then(value.mean()).otherwise((weight * value).sum() / weight.sum())
    return grouped.agg(mean.alias("value"), pl.len().alias("n_queries")).cast(pl.Schema(MEASURES))


def summary_table(
    per_query: pl.DataFrame, measures: pl.DataFrame, level: float, resamples: int, seed: int
) -> pl.DataFrame:
    """Mean and standard deviation over folds, with a bootstrap interval over all test queries if there are several.

    Where queries have weights there is no interval, as it is for queries that count alike.
    """
    rows = []
    for (dataset, model, measure), group in per_query.group_by(["dataset", "model", "measure"], maintain_order=True):
        folds = measures.filter(dataset=dataset, model=model, measure=measure)["value"].to_numpy()
        low, high = None, None
        if len(group) > 1 and group["weight"].is_null().all():
            rng = generator(seed, "bootstrap", str(dataset), seed_axis(str(measure)))
            values = group["value"].to_numpy()
            low, high = statistics.bootstrap_interval(values, level=level, resamples=resamples, rng=rng)
        sd = float(folds.std(ddof=1)) if len(folds) > 1 else None
        rows.append((dataset, model, measure, float(folds.mean()), sd, low, high, len(folds), len(group)))
    return pl.DataFrame(rows, schema=SUMMARY, orient="row")


def training_table(models: Sequence[Model]) -> pl.DataFrame:
    """The settings chosen, and the results reached, in the training of every model on every fold."""
    rows: list[dict[str, Any]] = []
    for content in models:
        record = content["record"]
        steps = [step for step in record.get("path", ()) if step["l2"] == record["l2"]]
        known = {**content["settings"], **content, **(steps[0] if steps else record)}
        rows.append({**known, "validation_value": known.get("validation")})
    return pl.DataFrame(rows, schema=TRAINING)


def validation_table(models: Sequence[Model]) -> pl.DataFrame:
    """The selection measure on the validation part along every path of l2."""
    rows = [
        (*_axes(content), step["l2"], content["settings"]["selection"], step["validation"])
        for content in models
        for step in content["record"].get("path", ())
    ]
    return pl.DataFrame(rows, schema=VALIDATION, orient="row")


def weights_table(models: Sequence[Model]) -> pl.DataFrame:
    """The weights of linear models on features that have names, in units of each model's own scale of the feature."""
    rows = []
    for content in models:
        trained = content["trained"]
        names = trained.get("feature_names")
        if names and trained["kind"] == "linear":
            rows += [(*_axes(content), name, weight) for name, weight in zip(names, trained["w"], strict=True)]
    return pl.DataFrame(rows, schema=WEIGHTS, orient="row")


def certificate_table(models: Sequence[Model]) -> pl.DataFrame:
    """What every bound of `lists` certifies of every model on every fold, or the reason why it says nothing of it."""
    rows: list[dict[str, Any]] = []
    for content in models:
        about, record = _about(content), content["record"]
        if "facts" not in record:
            rows.append({**about, "reason": record["without_facts"]})
            continue
        known = Facts(**record["facts"])
        found = certificates.certify(known, _loss(content))
        rows += [{**about, "n": known.n, **_certified(one)} for one in found.holding]
        rows += [
            {**about, "bound": name, "place": list_bounds.place(name), "n": known.n, "reason": reason}
            for name, reason in found.reasons.items()
        ]
    return pl.DataFrame(rows, schema=CERTIFICATES)


def held_out_table(paths: Sequence[Path]) -> pl.DataFrame:
    """What the test parts certify of every model for which the bounds certify something, as in that table."""
    rows: list[dict[str, Any]] = []
    for content in (fold for path in paths for fold in storage.read_json(path)["folds"]):
        if "facts" not in content:
            continue
        known = Facts(**content["facts"])
        about = _about(content) | {"bound": held_out.NAME, "place": held_out.PLACE, "n": known.n}
        try:
            rows.append({**about, **_certified(held_out.certify(known, _loss(content)))})
        except DataError as error:
            rows.append({**about, "reason": str(error)})
    return pl.DataFrame(rows, schema=CERTIFICATES)


def ties_table(paths: Sequence[Path]) -> pl.DataFrame:
    """Where equal scores leave the order open: means over folds in the worst and the best order.

    ``lists`` are the test queries whose documents have different labels, and in ``tied_lists`` of them the model gives
    all documents the same score.
    """
    rows = [
        (
            content["dataset"],
            content["model"],
            measure,
            worst,
            found["best"][measure],
            found["lists"],
            found["tied_lists"],
        )
        for path in paths
        for content in storage.read_json(path)["folds"]
        if (found := content.get("ties")) is not None
        for measure, worst in found["worst"].items()
    ]
    folds = pl.DataFrame(rows, schema=TIES, orient="row").group_by("dataset", "model", "measure", maintain_order=True)
    return folds.agg(pl.col("worst", "best").mean(), pl.col("lists", "tied_lists").sum())


def _about(content: Model) -> dict[str, Any]:
    return {**{name: content[name] for name in AXES}, "surrogate": content["settings"].get("surrogate")}


def _loss(content: Model) -> Surrogate:
    settings = content["settings"]
    return surrogates.create(settings["surrogate"], **settings.get("options", {}))


def _certified(one: certificates.Certificate) -> dict[str, Any]:
    values = {name: getattr(one, name) for name in CERTIFICATES if hasattr(one, name)}
    return {"delta": certificates.DELTA, **values}


def published_table(per_query: pl.DataFrame, paths: Sequence[Path], reproduces: Mapping[str, str]) -> pl.DataFrame:
    """Published numbers compared with ours, for the models that reproduce a published row.

    A number is of one fold, ``1``, or the mean over several, ``1-5``, and is compared where all of them are measured.
    The standard error is that of our mean over the test queries of these folds, which do not share any.
    """
    of_folds = per_query.group_by(["dataset", "model", "measure", "fold"], maintain_order=True).agg(
        pl.col("value").mean(), error=pl.col("value").std() / pl.len().sqrt()
    )
    rows = []
    for path in paths:
        for cell in pl.read_csv(path, comment_prefix="#", infer_schema=False).iter_rows(named=True):
            first, _, last = cell["fold"].partition("-")
            folds = range(int(first), int(last or first) + 1)
            of_row = of_folds.filter(pl.col("fold").is_in(folds), dataset=cell["dataset"], measure=cell["measure"])
            for model in (name for name, row in reproduces.items() if row == cell["row"]):
                found, published = of_row.filter(model=model), float(cell["value"])
                if len(found) < len(folds):
                    continue
                measured = float(found["value"].to_numpy().mean())
                # A fold with a single query has no error.
                error = math.hypot(*found["error"].fill_null(0.0)) / len(folds)
                delta = measured - published
                key = (cell["dataset"], model, cell["fold"], cell["measure"])
                rows.append(
                    (*key, published, measured, delta, error, delta / error if error > 0.0 else None, cell["source"])
                )
    return pl.DataFrame(rows, schema=PUBLISHED, orient="row")


def _axes(content: Model) -> tuple[Any, ...]:
    return tuple(content[name] for name in AXES)
