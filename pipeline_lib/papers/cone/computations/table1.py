"""Do seven methods reach the numbers of Table 1, and to which fold do these belong?

Table 1 of `cone` gives MAP and NDCG (MeanNDCG of the LETOR 4.0 evaluation) on MQ2007 and MQ2008. The models are trained
and measured as all others of the study; the key ``published`` of a model names the row that it reproduces.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pipeline_lib.arrays import Floats
from pipeline_lib.errors import DataError
from pipeline_lib.measures import seed_axis
from pipeline_lib.seeds import generator
from pipeline_lib.statistics import bootstrap_interval, over_folds

MEASURES = {"map": "MAP", "letor4_mean_ndcg": "NDCG"}
OTHER = {"MQ2007": "MQ2008", "MQ2008": "MQ2007"}
TOLERANCE = 0.015
FOLD = 1

Values = Mapping[int, Floats]
"""One measure of one model: fold -> values of its test queries."""


def cells(
    published: Sequence[Mapping[str, Any]],
    evaluations: Sequence[Path],
    reproduces: Mapping[str, str],
    seed: int,
    resamples: int,
) -> list[dict[str, Any]]:
    """One row for every cell of the published table for which a model of the study was measured on fold 1.

    ``evaluations`` are the files DATASET/MODEL.parquet with one row per query, ``reproduces`` maps a model to the row
    of the published table that it reproduces.
    """
    import polars as pl

    from pipeline_lib import storage

    rows = []
    printed = {(entry["dataset"], entry["row"], entry["measure"]): entry["value"] for entry in published}
    other_measure = dict(zip(MEASURES, reversed(MEASURES), strict=True))
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
                    found = cell(*names, entry["value"], values, seed=seed, resamples=resamples)
                    # The table with its columns exchanged.
                    exchanged = {
                        "published_other_measure": (dataset, entry["row"], other_measure[entry["measure"]]),
                        "published_other_dataset": (OTHER.get(dataset), entry["row"], entry["measure"]),
                    }
                    rows.append({**found, **{name: printed.get(key) for name, key in exchanged.items()}})
    return rows


def as_published(published: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Every published number, with the best of its column and that of the same method on the other data set.

    Example
    -------
    >>> entry = {"dataset": "MQ2007", "row": "ListNet", "measure": "map", "value": 0.5}
    >>> as_published([entry, {**entry, "dataset": "MQ2008", "value": 0.4}])[0]["other_dataset"]
    0.4
    """
    printed = {(entry["dataset"], entry["row"], entry["measure"]): entry["value"] for entry in published}
    return [
        {
            "dataset": dataset,
            "method": method,
            "measure": MEASURES[measure],
            "published": value,
            "best": max(of for (other, _, same), of in printed.items() if (other, same) == (dataset, measure)),
            "other_dataset": printed.get((OTHER[dataset], method, measure)),
        }
        for (dataset, method, measure), value in printed.items()
    ]


def cell(
    dataset: str, method: str, model: str, measure: str, published: float, values: Values, seed: int, resamples: int
) -> dict[str, Any]:
    """One cell: fold 1 with its interval over queries, the mean over folds with its spread, and the difference.

    ``status`` is "verified" if fold 1 is within .015 of the published value, and otherwise "deviates".
    """
    if FOLD not in values:
        raise DataError(f"Table 1: expected fold {FOLD} of {model} on {dataset}, found folds {sorted(values)}")
    first = values[FOLD]
    rng = generator(seed, "cone-table1", dataset, model, seed_axis(measure))
    low, high = bootstrap_interval(first, resamples=resamples, rng=rng)
    means = [float(of_queries.mean()) for of_queries in values.values()]
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
