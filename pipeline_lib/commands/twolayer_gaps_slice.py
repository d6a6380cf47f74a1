"""Measure some repetitions of the gaps of the paper twolayer on its population."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import polars as pl

from pipeline_lib import storage
from pipeline_lib.experiments.twolayer import gaps

SCHEMA = {
    "repetition": pl.Int64,
    "loss": pl.String,
    "queries": pl.Int64,
    "documents": pl.Int64,
    "empirical": pl.Float64,
    "middle": pl.Float64,
    "expected": pl.Float64,
    "expected_error": pl.Float64,
    "best_empirical": pl.Float64,
    "best_expected": pl.Float64,
    "certified": pl.Boolean,
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("--settings", required=True, type=json.loads, help="experiments: twolayer: gaps, as JSON")
    parser.add_argument("--seed", required=True, type=int, help="the study's seed")
    parser.add_argument("--slice", required=True, type=int, help="which slice of the repetitions, from 0")
    parser.add_argument("--output", required=True, type=Path, help="a row for every repetition, loss, n and m")


def run(arguments: argparse.Namespace) -> None:
    """Write the slice's measurements."""
    rows = gaps.measure(gaps.Settings.from_mapping(arguments.settings), arguments.seed, arguments.slice)
    storage.write_table(arguments.output, pl.DataFrame(rows, schema=SCHEMA))
