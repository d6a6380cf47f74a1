"""Retrain ConeRank without each query, for one number of queries."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import polars as pl

from pipeline_lib import storage
from pipeline_lib.experiments.cone import stability

SCHEMA = {
    "P": pl.Int64,
    "method": pl.String,
    "repetition": pl.Int64,
    **dict.fromkeys(
        (
            *("s_max", "s_mean", "beta", "beta_bound", "largest_ratio", "gamma", "empirical_risk", "test_risk"),
            *("test_risk_low", "test_risk_high", "bound", "bound_by_theorem_2", "largest_possible_risk"),
        ),
        pl.Float64,
    ),
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("--settings", required=True, type=json.loads, help="experiments: cone: stability, as JSON")
    parser.add_argument("--seed", required=True, type=int, help="the study's seed")
    parser.add_argument("--queries", required=True, type=int, help="P, the number of training queries")
    parser.add_argument("--output", required=True, type=Path, help="where the slice goes, as Parquet")


def run(arguments: argparse.Namespace) -> None:
    """Write the slice of one P."""
    asked = stability.Settings.from_mapping(arguments.settings)
    rows = stability.run_slice(asked, arguments.queries, arguments.seed)
    storage.write_table(arguments.output, pl.DataFrame(rows, schema=SCHEMA))
