"""Join the retrainings of ConeRank without each query, fit exponents, and hand in what they say."""

from __future__ import annotations

import argparse
from pathlib import Path

import polars as pl

from pipeline_lib import storage
from pipeline_lib.experiments.cone import stability
from pipeline_lib.reporting.evidence import write_all

EXPONENTS = {
    "method": pl.String,
    "statistic": pl.String,
    "slope": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("--slices", required=True, nargs="+", type=Path, help="a Parquet file for every P")
    parser.add_argument("--tables", required=True, nargs=2, type=Path, help="all slices, and the exponents")
    parser.add_argument("--evidence", required=True, nargs="+", type=Path, help="a JSON file a claim")


def run(arguments: argparse.Namespace) -> None:
    """Write the two tables and the evidence."""
    joined = pl.concat([storage.read_table(path) for path in arguments.slices])
    exponents, evidence = stability.summary(joined.to_dicts())
    for path, frame in zip(arguments.tables, (joined, pl.DataFrame(exponents, schema=EXPONENTS)), strict=True):
        storage.write_table(path, frame)
    write_all(arguments.evidence, evidence)
