"""Check the constants of every surrogate, stated beside searched, and the lemmas that the bounds rest on."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import polars as pl

from pipeline_lib import storage
from pipeline_lib.experiments.lists import constants
from pipeline_lib.reporting.evidence import write_all

SCHEMAS = {
    "constants": {
        "part": pl.String,
        "surrogate": pl.String,
        "sigma": pl.Float64,
        "k": pl.Int64,
        "m": pl.Int64,
        "y_max": pl.Int64,
        "constant": pl.String,
        "score_bound": pl.Float64,
        "stated": pl.Float64,
        "exact": pl.Float64,
        "searched": pl.Float64,
    },
    "checks": {
        "claim": pl.String,
        "case": pl.String,
        "m": pl.Int64,
        "d": pl.Int64,
        "statistic": pl.String,
        "value": pl.Float64,
    },
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("--settings", required=True, type=json.loads, help="experiments: lists: constants, as JSON")
    parser.add_argument("--seed", required=True, type=int, help="the study's seed")
    parser.add_argument("--tables", required=True, nargs=2, type=Path, help="constants and identities, as Parquet")
    parser.add_argument("--evidence", required=True, nargs="+", type=Path, help="a JSON file a claim")


def run(arguments: argparse.Namespace) -> None:
    """Write the two tables and the evidence."""
    found = constants.run(constants.Settings.from_mapping(arguments.settings), arguments.seed)
    for path, name in zip(arguments.tables, SCHEMAS, strict=True):
        storage.write_table(path, pl.DataFrame(getattr(found, name), schema=SCHEMAS[name]))
    write_all(arguments.evidence, found.evidence)
