"""Say how good the models on own data are at least, and how many queries would tell each two of them apart.

On each of F folds, another ranker is measured on n_f queries that it does not know. With confidence 1 - delta, and
whatever the law of the values x_f, for all M models together,

    mean over folds of the true means >= mean over folds of L(x_f; delta / (M F)),

with L of `pipeline_lib.evaluation.betting.lower_limit`. Values of different folds are not independent, because a
query that is tested on one fold trains the ranker of another; L of all values at once, beside it, is the limit if
they were. Bayle and others ("Cross-validation confidence intervals for test error", NeurIPS 2020) prove for stable
learners that the normal interval of the mean over folds of the true means, with the standard deviation of all values
as of one sample, is right in the limit of many queries. Nothing like that is known of L for few. The number of
queries for a pair is that of `pipeline_lib.evaluation.planning` for the difference that was measured, at the level
that a pair has among all pairs, by Bonferroni.
"""

import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import polars as pl

from pipeline_lib import statistics
from pipeline_lib.core import storage
from pipeline_lib.core.arrays import Floats
from pipeline_lib.core.errors import DataError
from pipeline_lib.core.files import Output
from pipeline_lib.data.invariants import PER_QUERY
from pipeline_lib.evaluation import betting, pilot

LIMITS = {
    **dict.fromkeys(("dataset", "model", "measure"), pl.String),
    **dict.fromkeys(("mean", "lower", "low", "high", "pooled", "level"), pl.Float64),
    **dict.fromkeys(("chosen_from", "n_folds", "n_queries"), pl.Int64),
}
PLANS = {
    **dict.fromkeys(("dataset", "measure", "model_a", "model_b"), pl.String),
    **dict.fromkeys(("difference", "sd", "sd_planned"), pl.Float64),
    **dict.fromkeys(("n_queries", "needed"), pl.Int64),
    "reason": pl.String,
}


def run(
    *,
    level: Annotated[float, "confidence of the limits and joint level of the tests, such as 0.95"],
    limits: Annotated[Output, "output file for the table of limits, as Parquet"],
    plans: Annotated[Output, "output file for the table of planned queries, as Parquet"],
    evaluations: Annotated[Sequence[Path], "tables of the measures of every query"] = (),
    measures: Annotated[Sequence[str], "measures of which limits are wanted"] = (),
) -> None:
    """Write a row for every data set, measure and model, and one for every pair of models.

    Where queries have weights there is none: the limits are those of means over queries that count alike.
    """
    per_dataset: dict[str, list[pl.DataFrame]] = {}
    for path in evaluations:
        table = PER_QUERY.read(path)
        if not (table.is_empty() or "weight" in table.columns):  # empty as that of a model that could not be trained
            # By their names, so that the order of files says nothing.
            ordered = table.sort("fold", pl.col("qid").cast(pl.String), "query")
            per_dataset.setdefault(table["dataset"][0], []).append(ordered)
    of_all = [(tables, measure) for tables in per_dataset.values() for measure in measures]
    limited = [row for tables, measure in of_all for row in limits_of(tables, measure, level)]
    planned = [row for tables, measure in of_all for row in plans_of(tables, measure, level)]
    storage.write_table(limits, pl.DataFrame(limited, schema=LIMITS, orient="row"))
    storage.write_table(plans, pl.DataFrame(planned, schema=PLANS, orient="row"))


def limits_of(tables: Sequence[pl.DataFrame], measure: str, level: float) -> list[dict[str, Any]]:
    """The limits of all models of a data set, which hold together.

    Example
    -------
    >>> keys = {"dataset": ["mine"] * 200, "model": ["a"] * 200, "fold": [1, 2] * 100}
    >>> [row] = limits_of([pl.DataFrame({**keys, "map": [0.5, 0.5, 1.0, 0.5] * 50})], "map", 0.95)
    >>> row["mean"], round(row["lower"], 3), row["n_folds"], row["n_queries"]
    (0.625, 0.584, 2, 200)
    """
    rows = []
    for table in tables:
        folds = [part[measure].to_numpy() for part in table.partition_by("fold", maintain_order=True)]
        of_all = table[measure].to_numpy()
        joint = 1.0 - (1.0 - level) / len(tables)
        each = 1.0 - (1.0 - level) / (len(tables) * len(folds))
        rows.append(
            {
                "dataset": table["dataset"][0],
                "model": table["model"][0],
                "measure": measure,
                "mean": float(np.mean([x.mean() for x in folds])),
                "lower": float(np.mean([betting.lower_limit(x, level=each) for x in folds])),
                "pooled": betting.lower_limit(of_all, level=joint),
                "level": level,
                "chosen_from": len(tables),
                "n_folds": len(folds),
                "n_queries": len(table),
            }
            | dict(zip(("low", "high"), np.mean([betting.interval(x, level=each) for x in folds], axis=0), strict=True))
        )
    return rows


def plans_of(tables: Sequence[pl.DataFrame], measure: str, level: float) -> list[dict[str, Any]]:
    """How many queries would show the measured difference of each two models, or why that cannot be said."""
    pairs = list(itertools.combinations(tables, 2))
    joint = 1.0 - (1.0 - level) / max(len(pairs), 1)
    return [
        {"dataset": a["dataset"][0], "measure": measure, "model_a": a["model"][0], "model_b": b["model"][0]}
        | _plan(a[measure].to_numpy() - b[measure].to_numpy(), joint)
        for a, b in pairs
    ]


def _plan(d: Floats, level: float) -> dict[str, Any]:
    known: dict[str, Any] = {"difference": float(d.mean()), "n_queries": len(d)}
    try:
        found = pilot.spread(d, "differences")
        known |= {"sd": found.sd.value, "sd_planned": found.upper}
        if abs(known["difference"]) <= 1e-12:
            return {**known, "reason": "differences: expected a mean other than 0, found 0"}
        needed = pilot.queries_for_power(found.upper, abs(known["difference"]), statistics.POWER, level)
    except DataError as error:
        return {**known, "reason": str(error)}
    return {**known, "needed": needed}
