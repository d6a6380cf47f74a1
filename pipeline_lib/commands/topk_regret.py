"""Join the games of learning from the labels on top: how fast their regret grows, beside Theorem 4.1."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import polars as pl

from pipeline_lib import storage
from pipeline_lib.experiments.topk import regret
from pipeline_lib.reporting.evidence import write_all

SCHEMAS = {
    "regret": {
        "surrogate": pl.String,
        "T": pl.Int64,
        "regret": pl.Float64,
        "low": pl.Float64,
        "high": pl.Float64,
        "exploration": pl.Float64,
        "best_fixed_loss": pl.Float64,
        "squared_norm": pl.Float64,
        **dict.fromkeys(("loss_minus_bound", "loss_minus_bound_low", "loss_minus_bound_high"), pl.Float64),
    },
    "exponents": {
        "surrogate": pl.String,
        "slope": pl.Float64,
        "low": pl.Float64,
        "high": pl.Float64,
    },
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("--settings", required=True, type=json.loads, help="experiments: topk: regret, as JSON")
    parser.add_argument("--seed", required=True, type=int, help="the study's seed")
    parser.add_argument("--slices", required=True, nargs="+", type=Path, help="what topk-regret-slice wrote")
    parser.add_argument("--tables", required=True, nargs=2, type=Path, help="regret and exponents, as Parquet")
    parser.add_argument("--evidence", required=True, nargs="+", type=Path, help="a JSON file a claim")


def run(arguments: argparse.Namespace) -> None:
    """Write the two tables and the evidence."""
    rows = [row for path in arguments.slices for row in storage.read_table(path).iter_rows(named=True)]
    found = regret.join(regret.Settings.from_mapping(arguments.settings), rows, arguments.seed)
    for path, name in zip(arguments.tables, SCHEMAS, strict=True):
        storage.write_table(path, pl.DataFrame(getattr(found, name), schema=SCHEMAS[name]))
    write_all(arguments.evidence, found.evidence)
