"""Check by enumeration what the paper `topk` says of estimates from the labels on top: Lemmas 1 to 5 and section 4."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import polars as pl

from pipeline_lib import storage
from pipeline_lib.experiments.topk import exactness
from pipeline_lib.reporting.evidence import write_all

SCHEMAS = {
    "biases": {
        "claim": pl.String,
        "surrogate": pl.String,
        "k": pl.Int64,
        "m": pl.Int64,
        "gamma": pl.Float64,
        "probabilities": pl.String,
        "largest_relative_bias": pl.Float64,
    },
    "moments": {
        "surrogate": pl.String,
        "where": pl.String,
        "round": pl.Int64,
        "m": pl.Int64,
        "radius": pl.Float64,
        "y_max": pl.Int64,
        "gamma": pl.Float64,
        "second_moment": pl.Float64,
        "printed": pl.Float64,
        "valid": pl.Float64,
    },
    "identities": {"claim": pl.String, "case": pl.String, "statistic": pl.String, "value": pl.Float64},
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("--settings", required=True, type=json.loads, help="experiments: topk: exactness, as JSON")
    parser.add_argument("--seed", required=True, type=int, help="the study's seed")
    parser.add_argument("--tables", required=True, nargs=3, type=Path, help="biases, moments, identities, as Parquet")
    parser.add_argument("--evidence", required=True, nargs="+", type=Path, help="a JSON file a claim")


def run(arguments: argparse.Namespace) -> None:
    """Write the three tables and the evidence."""
    found = exactness.run(exactness.Settings.from_mapping(arguments.settings), arguments.seed)
    for path, name in zip(arguments.tables, SCHEMAS, strict=True):
        storage.write_table(path, pl.DataFrame(getattr(found, name), schema=SCHEMAS[name]))
    write_all(arguments.evidence, found.evidence)
