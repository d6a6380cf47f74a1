"""Measure gap, worst gap, excess risk and bound of the l1 class against the number of features."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import polars as pl

from pipeline_lib import storage
from pipeline_lib.experiments.lists import sparse
from pipeline_lib.reporting.evidence import write_all

SCHEMA = {
    "d": pl.Int64,
    "n": pl.Int64,
    "m": pl.Int64,
    "repetition": pl.Int64,
    "learner": pl.String,
    "empirical": pl.Float64,
    "risk": pl.Float64,
    "risk_error": pl.Float64,
    "gap": pl.Float64,
    "excess": pl.Float64,
    "excess_error": pl.Float64,
    "certified_gap": pl.Float64,
    "best_certified_gap": pl.Float64,
    "bound": pl.Float64,
    "excess_bound": pl.Float64,
    "bound_far": pl.Float64,
    "fitted_at": pl.Int64,
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("--settings", required=True, type=json.loads, help="experiments: lists: sparse, as JSON")
    parser.add_argument("--seed", required=True, type=int, help="the study's seed")
    parser.add_argument("--table", required=True, type=Path, help="a row a number of features, repetition and ranker")
    parser.add_argument("--evidence", required=True, nargs="+", type=Path, help="a JSON file a claim")


def run(arguments: argparse.Namespace) -> None:
    """Write the table and the evidence."""
    rows, evidence = sparse.run(sparse.Settings.from_mapping(arguments.settings), arguments.seed)
    storage.write_table(arguments.table, pl.DataFrame(rows, schema=SCHEMA))
    write_all(arguments.evidence, [evidence])
