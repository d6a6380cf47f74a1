"""Do seven methods reach the numbers of Table 1, and of which fold are those?

`cone`, Table 1: MAP and NDCG (MeanNDCG of the LETOR 4.0 evaluation) on MQ2007 and MQ2008. The models are trained and
measured as all others of the study; an entry of ``models:`` says with ``published`` which row it reproduces.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pipeline_lib.arrays import Floats
from pipeline_lib.claims.evidence import Evidence, Interval, Trial
from pipeline_lib.errors import DataError
from pipeline_lib.measures import seed_axis
from pipeline_lib.seeds import generator
from pipeline_lib.statistics import bootstrap_interval, over_folds

TABLE = "tables/cone-table1.parquet"
MEASURES = {"map": "MAP", "letor4_mean_ndcg": "NDCG"}
TOLERANCE = 0.015
FOLD = 1

Values = Mapping[int, Floats]
"""One measure of one model: fold -> values of its test queries."""


def claim_of(dataset: str) -> str:
    """The claim that speaks of a data set.

    Example
    -------
    >>> claim_of("MQ2008")
    'cone-table1-mq2008'
    """
    return f"cone-table1-{dataset.lower()}"


def cells(
    published: Sequence[Mapping[str, Any]],
    evaluations: Sequence[Path],
    reproduces: Mapping[str, str],
    seed: int,
    resamples: int,
) -> list[dict[str, Any]]:
    """A row for every cell of the published table for which a model of the study was measured on fold 1.

    ``evaluations`` are the files DATASET/MODEL.parquet with one row per query, ``reproduces`` maps a model to the row
    of the published table that it reproduces.
    """
    import polars as pl

    from pipeline_lib import storage

    rows = []
    for entry in published:
        for path in evaluations:
            dataset, model = path.parent.name, path.stem
            if dataset == entry["dataset"] and reproduces.get(model) == entry["row"]:
                frame = storage.read_table(path, columns=["fold", entry["measure"]])
                values = {
                    fold: frame.filter(pl.col("fold") == fold)[entry["measure"]].to_numpy()
                    for fold in sorted(frame["fold"].unique().to_list())
                }
                if FOLD in values:
                    names = (dataset, entry["row"], model, entry["measure"])
                    rows.append(cell(*names, entry["value"], values, seed=seed, resamples=resamples))
    return rows


def cell(
    dataset: str, method: str, model: str, measure: str, published: float, values: Values, seed: int, resamples: int
) -> dict[str, Any]:
    """One cell: fold 1 with its interval over queries, the mean over folds with its spread, and the difference.

    ``status`` is "verified" when fold 1 is within .015 of what is published, else "deviates".
    """
    if FOLD not in values:
        raise DataError(f"Table 1: expected fold {FOLD} of {model} on {dataset}, found folds {sorted(values)}")
    first = values[FOLD]
    rng = generator(seed, "cone-table1", dataset, model, seed_axis(measure))
    low, high = bootstrap_interval(first, resamples=resamples, rng=rng)
    means = [float(found.mean()) for found in values.values()]
    folds = over_folds(means) if len(means) > 1 else None
    mean = float(first.mean())
    return {
        "dataset": dataset,
        "method": method,
        "model": model,
        "measure": MEASURES[measure],
        "published": published,
        "fold1": mean,
        "fold1_low": min(low, mean),
        "fold1_high": max(high, mean),
        "five_fold_mean": None if folds is None else folds.mean,
        "five_fold_sd": None if folds is None else folds.sd,
        "five_fold_low": None if folds is None else folds.low,
        "five_fold_high": None if folds is None else folds.high,
        "delta": mean - published,
        "status": "verified" if abs(mean - published) <= TOLERANCE * (1.0 + 1e-9) else "deviates",
    }


def evidence(
    rows: Sequence[Mapping[str, Any]], published: Sequence[Mapping[str, Any]], how_to_get: Mapping[str, str]
) -> list[Evidence]:
    """One claim for each data set; one without rows is not run, and ``how_to_get`` says what to do.

    ``published`` holds the cells of the printed table (``dataset``, ``row``): the notes name the methods among them
    that the study does not train.
    """
    found = []
    for dataset in how_to_get:
        trials = tuple(_trial(row) for row in rows if row["dataset"] == dataset)
        if trials:
            sizes = sorted({row["fold1_high"] - row["fold1_low"] for row in rows if row["dataset"] == dataset})
            notes = (
                "Fold 1; beside it the mean over folds with its interval. The 95 % interval of a cell over the test "
                f"queries of fold 1 is {sizes[0]:.2f} to {sizes[-1]:.2f} wide: {sizes[0] / (2 * TOLERANCE):.1f} times "
                "the band that the tolerance allows, or more."
            )
            trained = {row["method"] for row in rows if row["dataset"] == dataset}
            printed = dict.fromkeys(entry["row"] for entry in published if entry["dataset"] == dataset)
            missing = [method for method in printed if method not in trained]
            if missing:
                notes += f" Not trained in this study, and not judged: {', '.join(missing)}."
            found.append(Evidence(claim_of(dataset), trials, notes))
        else:
            found.append(Evidence(claim_of(dataset), not_run=how_to_get[dataset]))
    return found


def _trial(row: Mapping[str, Any]) -> Trial:
    values: dict[str, float | Interval] = {"measured": row["fold1"], "published": row["published"]}
    if row["five_fold_mean"] is not None:
        values["five_folds"] = Interval(row["five_fold_mean"], row["five_fold_low"], row["five_fold_high"])
    return Trial({"dataset": row["dataset"], "method": row["method"], "measure": row["measure"]}, values, TABLE)
