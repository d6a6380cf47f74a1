"""Check SLAM's bounds, convexity, gradient and constants on random and adversarial lists, and on the data sets."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import polars as pl

from pipeline_lib import storage
from pipeline_lib.experiments.slam import losses
from pipeline_lib.ranking_data import RankingData
from pipeline_lib.reporting.evidence import write_all

SCHEMAS = {
    "checks": {
        "claim": pl.String,
        "kind": pl.String,
        "m": pl.Int64,
        "y_max": pl.Int64,
        "d": pl.Int64,
        "inputs": pl.String,
        "list": pl.String,
        "statistic": pl.String,
        "value": pl.Float64,
    },
    "constants": {
        "surrogate": pl.String,
        "m": pl.Int64,
        "y_max": pl.Int64,
        "exact": pl.Float64,
        "searched": pl.Float64,
        "published": pl.String,
    },
    "growth": {"surrogate": pl.String, "exponent": pl.Float64, "searched_exponent": pl.Float64},
    "example": {"position": pl.Int64, "label": pl.Int64, "kind": pl.String, "weight": pl.Float64},
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("--settings", required=True, type=json.loads, help="experiments: slam: losses, as JSON")
    parser.add_argument("--seed", required=True, type=int, help="the study's seed")
    parser.add_argument("--documents", nargs="*", type=Path, default=[], help="DATASET/documents.parquet of data sets")
    parser.add_argument("--tables", required=True, nargs=4, type=Path, help="checks, constants, growth, example")
    parser.add_argument("--evidence", required=True, nargs="+", type=Path, help="a JSON file a claim")


def run(arguments: argparse.Namespace) -> None:
    """Write the four tables and the evidence."""
    datasets = {path.parent.name: RankingData.read_parquet(path, stored=True) for path in arguments.documents}
    found = losses.run(losses.Settings.from_mapping(arguments.settings), datasets, arguments.seed)
    for path, name in zip(arguments.tables, SCHEMAS, strict=True):
        storage.write_table(path, pl.DataFrame(getattr(found, name), schema=SCHEMAS[name]))
    write_all(arguments.evidence, found.evidence)
