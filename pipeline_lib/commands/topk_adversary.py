"""Play the game of Theorem 5.2, in which no learner that sees one label can tell two adversaries apart."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import polars as pl

from pipeline_lib import storage
from pipeline_lib.experiments.topk import adversary
from pipeline_lib.reporting.evidence import write_all

SCHEMAS = {
    "table_1": {
        "adversary": pl.String,
        "quantity": pl.String,
        "document": pl.Int64,
        "measured": pl.Float64,
        "published": pl.Float64,
    },
    "game": {
        "learner": pl.String,
        "T": pl.Int64,
        "regret": pl.Float64,
        "low": pl.Float64,
        "high": pl.Float64,
        "linear_limit": pl.Float64,
    },
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("--settings", required=True, type=json.loads, help="experiments: topk: adversary, as JSON")
    parser.add_argument("--seed", required=True, type=int, help="the study's seed")
    parser.add_argument("--tables", required=True, nargs=2, type=Path, help="table_1 and game, as Parquet")
    parser.add_argument("--evidence", required=True, nargs="+", type=Path, help="a JSON file a claim")


def run(arguments: argparse.Namespace) -> None:
    """Write the two tables and the evidence."""
    found = adversary.run(adversary.Settings.from_mapping(arguments.settings), arguments.seed)
    for path, name in zip(arguments.tables, SCHEMAS, strict=True):
        storage.write_table(path, pl.DataFrame(getattr(found, name), schema=SCHEMAS[name]))
    write_all(arguments.evidence, found.evidence)
