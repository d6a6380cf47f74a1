"""Compare SLAM's learners with all others, and perceptrons with and without a kernel, on every data set."""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from pipeline_lib import storage
from pipeline_lib.experiments.slam import practice
from pipeline_lib.reporting.evidence import write_all

SCHEMA = {
    "dataset": pl.String,
    "question": pl.String,
    "model": pl.String,
    "title": pl.String,
    "value": pl.Float64,
    "other": pl.String,
    "other_title": pl.String,
    "other_value": pl.Float64,
    "difference": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
    "n_queries": pl.Int64,
    "p_holm": pl.Float64,
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("--models", required=True, type=Path, help="models.json of the study")
    parser.add_argument("--evaluations", nargs="*", type=Path, default=[], help="per-query tables")
    parser.add_argument("--level", required=True, type=float, help="level of the intervals, such as 0.95")
    parser.add_argument("--resamples", required=True, type=int, help="bootstrap draws and random sign flips")
    parser.add_argument("--seed", required=True, type=int, help="the study's seed")
    parser.add_argument("--table", required=True, type=Path, help="where the table goes, as Parquet")
    parser.add_argument("--evidence", required=True, nargs="+", type=Path, help="a JSON file a claim")


def run(arguments: argparse.Namespace) -> None:
    """Write the table and the evidence."""
    values: dict[str, dict[str, NDArray[np.float64]]] = {}
    for path in arguments.evaluations:
        table = storage.read_table(path).sort("fold", "query")
        if practice.MEASURE in table.columns:
            values.setdefault(table["dataset"][0], {})[table["model"][0]] = table[practice.MEASURE].to_numpy()
    models = [practice.Model.from_entry(entry) for entry in storage.read_json(arguments.models)["models"]]
    found = practice.run(models, values, arguments.level, arguments.resamples, arguments.seed)
    storage.write_table(arguments.table, pl.DataFrame(found.rows, schema=SCHEMA))
    write_all(arguments.evidence, found.evidence)
