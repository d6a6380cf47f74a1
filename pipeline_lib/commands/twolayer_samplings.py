"""Measure gaps under two-layer sampling and under (n, m)-sampling, for the paper twolayer."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import polars as pl

from pipeline_lib import storage
from pipeline_lib.experiments.twolayer import samplings
from pipeline_lib.reporting.evidence import write_all

SCHEMA = {
    "queries": pl.Int64,
    "documents": pl.Int64,
    "repetitions": pl.Int64,
    "what": pl.String,
    "value": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("--settings", required=True, type=json.loads, help="experiments: twolayer: samplings, as JSON")
    parser.add_argument("--seed", required=True, type=int, help="the study's seed")
    parser.add_argument(
        "--table", required=True, type=Path, help="a row for every n, m, sampling and difference of two"
    )
    parser.add_argument("--evidence", required=True, nargs="+", type=Path, help="a JSON file a claim")


def run(arguments: argparse.Namespace) -> None:
    """Write the table and the evidence."""
    found = samplings.run(samplings.Settings.from_mapping(arguments.settings), arguments.seed)
    storage.write_table(arguments.table, pl.DataFrame(found.samplings, schema=SCHEMA))
    write_all(arguments.evidence, found.evidence)
