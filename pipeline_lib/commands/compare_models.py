"""Test every pair of models of a data set on the same queries; all pairs of a measure are one family of tests."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import numpy as np
import polars as pl

from pipeline_lib import statistics
from pipeline_lib.core.errors import DataError
from pipeline_lib.core.files import Output
from pipeline_lib.core.seeds import generator
from pipeline_lib.data.invariants import PER_QUERY, Invariants
from pipeline_lib.metrics import seed_axis

COMPARISONS = {
    **dict.fromkeys(("dataset", "measure", "model_a", "model_b"), pl.String),
    **dict.fromkeys(("difference", "low", "high", "p_value", "p_adjusted", "detectable"), pl.Float64),
}

INVARIANTS = Invariants(
    ("dataset", "measure", "model_a", "model_b"),
    ("low <= difference <= high", "0 <= p_value <= p_adjusted <= 1", "0 <= detectable"),
)


def run(
    *,
    level: Annotated[float, "joint level of the intervals of a family, such as 0.95"],
    resamples: Annotated[int, "number of random sign flips"],
    seed: Annotated[int, "the study's seed"],
    output: Annotated[Output, "output file for the table, as Parquet"],
    evaluations: Annotated[Sequence[Path], "tables of the measures of every query"] = (),
    measures: Annotated[Sequence[str], "measures on which models are compared"] = (),
) -> None:
    """Write one row for every data set with at least two test queries, measure and pair of models.

    Where queries have weights there is none: signs of differences are flipped as those of queries that count alike.
    """
    per_dataset: dict[str, list[pl.DataFrame]] = {}
    for path in evaluations:
        table = PER_QUERY.read(path)
        if not (table.is_empty() or "weight" in table.columns):  # empty as that of a model that could not be trained
            per_dataset.setdefault(table["dataset"][0], []).append(table.sort("fold", "query"))
    families = [
        pairs_of_models(tables, measure, level, resamples, seed)
        for tables in per_dataset.values()
        for measure in measures
        if len(tables) > 1 and len(tables[0]) > 1
    ]
    INVARIANTS.write(output, pl.concat([pl.DataFrame(schema=COMPARISONS), *families]))


def pairs_of_models(
    tables: Sequence[pl.DataFrame], measure: str, level: float, resamples: int, seed: int
) -> pl.DataFrame:
    """Compare all pairs of models of one data set on one measure.

    The family is all of them, whatever is shown of it: the best learner and the best control, with which others are
    compared in the report, were found on the same queries.
    """
    first = tables[0]
    for table in tables[1:]:
        if not table.select("fold", "query").equals(first.select("fold", "query")):
            raise DataError(
                f"{first['dataset'][0]}: expected the same test queries of all models, found others of "
                f"{table['model'][0]} than of {first['model'][0]}"
            )
    values = np.stack([table[measure].to_numpy() for table in tables])
    rng = generator(seed, "compare", first["dataset"][0], seed_axis(measure))
    found = statistics.compare_runs(values, level=level, resamples=resamples, rng=rng)
    models = pl.Series([table["model"][0] for table in tables])
    names = {f"model_{one}": models.gather(found.pairs[:, i]) for i, one in enumerate("ab")}
    numbers = {name: getattr(found, name) for name, kind in COMPARISONS.items() if kind == pl.Float64}
    rows = pl.DataFrame({**names, **numbers}).with_columns(
        pl.col("detectable").fill_nan(None), dataset=pl.lit(first["dataset"][0]), measure=pl.lit(measure)
    )
    return rows.select(*COMPARISONS)
