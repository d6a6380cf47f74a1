"""Measure gaps and excess risks of one loss over a grid of queries and documents."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import polars as pl

from pipeline_lib import storage
from pipeline_lib.experiments.lists import grid

SCHEMA = {
    "loss": pl.String,
    "population": pl.String,
    "m": pl.Int64,
    "n": pl.Int64,
    "repetition": pl.Int64,
    "learner": pl.String,
    "empirical": pl.Float64,
    "risk": pl.Float64,
    "risk_error": pl.Float64,
    "excess": pl.Float64,
    "excess_error": pl.Float64,
    "optimal_risk": pl.Float64,
    "optimal_risk_error": pl.Float64,
    "certified_gap": pl.Float64,
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("--settings", required=True, type=json.loads, help="experiments: lists: grid, as JSON")
    parser.add_argument("--loss", required=True, help="name of one of the losses of the settings")
    parser.add_argument("--seed", required=True, type=int, help="the study's seed")
    parser.add_argument("--table", required=True, type=Path, help="a row a cell, repetition and learner, as Parquet")


def run(arguments: argparse.Namespace) -> None:
    """Write the table."""
    rows = grid.run(grid.Settings.from_mapping(arguments.settings), arguments.loss, arguments.seed)
    storage.write_table(arguments.table, pl.DataFrame(rows, schema=SCHEMA))
