"""Measure the excess risk of regularised risk minimisation for one surrogate and some of the repetitions."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import polars as pl

from pipeline_lib import storage
from pipeline_lib.experiments.slam import risk

SCHEMA = {
    "surrogate": pl.String,
    "radius": pl.Float64,
    "regularisation": pl.String,
    "n": pl.Int64,
    "repetition": pl.Int64,
    "l2": pl.Float64,
    "lipschitz": pl.Float64,
    "excess": pl.Float64,
    "truth_error": pl.Float64,
    "best": pl.Float64,
    "best_gap": pl.Float64,
    "norm": pl.Float64,
    "relative_gap": pl.Float64,
    "certified": pl.Boolean,
    "bound": pl.Float64,
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("--settings", required=True, type=json.loads, help="experiments: slam: risk, as JSON")
    parser.add_argument("--surrogate", required=True, choices=risk.SURROGATES, help="what is minimised")
    parser.add_argument("--part", required=True, type=int, help="which repetitions: those that leave it by `parts`")
    parser.add_argument("--seed", required=True, type=int, help="the study's seed")
    parser.add_argument("--output", required=True, type=Path, help="where the table goes, as Parquet")


def run(arguments: argparse.Namespace) -> None:
    """Write one row a sample, radius and regularisation."""
    asked = risk.Settings.from_mapping(arguments.settings)
    rows = risk.measure(asked, arguments.surrogate, arguments.part, arguments.seed)
    storage.write_table(arguments.output, pl.DataFrame(rows, schema=SCHEMA))
