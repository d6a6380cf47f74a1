"""Test every pair of models of a data set on the same queries, with Holm's correction."""

from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from typing import Annotated

import polars as pl

from pipeline_lib import statistics
from pipeline_lib.core import storage
from pipeline_lib.core.files import Output
from pipeline_lib.core.seeds import generator
from pipeline_lib.metrics import seed_axis

COMPARISONS = {
    **dict.fromkeys(("dataset", "measure", "model_a", "model_b"), pl.String),
    **dict.fromkeys(("difference", "low", "high", "p_value", "p_holm"), pl.Float64),
}


def run(
    *,
    level: Annotated[float, "level of the intervals, such as 0.95"],
    resamples: Annotated[int, "number of bootstrap draws and of random sign flips"],
    seed: Annotated[int, "the study's seed"],
    output: Annotated[Output, "output file for the table, as Parquet"],
    evaluations: Annotated[Sequence[Path], "tables of the measures of every query"] = (),
    measures: Annotated[Sequence[str], "measures on which models are compared"] = (),
) -> None:
    """Write one row for every data set, measure and pair of models."""
    per_dataset: dict[str, list[pl.DataFrame]] = {}
    for path in evaluations:
        table = storage.read_table(path)
        per_dataset.setdefault(table["dataset"][0], []).append(table.sort("fold", "query"))
    rows = []
    for tables in per_dataset.values():
        for measure in measures:
            rows += pairs_of_models(tables, measure, level, resamples, seed)
    storage.write_table(output, pl.DataFrame(rows, schema=COMPARISONS, orient="row"))


def pairs_of_models(
    tables: list[pl.DataFrame], measure: str, level: float, resamples: int, seed: int
) -> list[tuple[object, ...]]:
    """Compare all pairs of models of one data set on one measure; Holm's family is these pairs."""
    rows: list[tuple[object, ...]] = []
    p_values = []
    for first, second in combinations(tables, 2):
        dataset, model_a, model_b = first["dataset"][0], first["model"][0], second["model"][0]
        a, b = first[measure].to_numpy(), second[measure].to_numpy()
        axes = (seed, "compare", dataset, seed_axis(measure), model_a, model_b)
        draws, flips = generator(*axes, "bootstrap"), generator(*axes, "randomisation")
        low, high = statistics.bootstrap_interval(a - b, level=level, resamples=resamples, rng=draws)
        p_values.append(statistics.paired_randomisation_test(a, b, resamples=resamples, rng=flips))
        rows.append((dataset, measure, model_a, model_b, float((a - b).mean()), low, high))
    if not rows:
        return []
    corrected = statistics.holm(p_values)
    return [(*row, float(p), float(q)) for row, p, q in zip(rows, p_values, corrected, strict=True)]
