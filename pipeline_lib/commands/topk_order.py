"""Join the curves of Figure 1 of all data sets, and say what their ends mean for the claims."""

from __future__ import annotations

import argparse
from pathlib import Path

import polars as pl

from pipeline_lib import storage
from pipeline_lib.commands.topk_figure import SCHEMA
from pipeline_lib.experiments.topk import figure
from pipeline_lib.reporting.evidence import write_all


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("--curves", nargs="*", type=Path, default=[], help="what `topk-figure` wrote")
    parser.add_argument("--table", required=True, type=Path, help="all curves, as Parquet")
    parser.add_argument("--evidence", required=True, nargs="+", type=Path, help="a JSON file a claim")


def run(arguments: argparse.Namespace) -> None:
    """Write the table and the evidence."""
    curves = pl.concat([pl.DataFrame(schema=SCHEMA), *(storage.read_table(path) for path in arguments.curves)])
    storage.write_table(arguments.table, curves)
    write_all(arguments.evidence, figure.evidence(curves.to_dicts()))
