"""Join the measured excess risks: means with intervals beside Theorem 8, and exponents in n."""

from __future__ import annotations

import argparse
from pathlib import Path

import polars as pl

from pipeline_lib import storage
from pipeline_lib.experiments.slam import risk
from pipeline_lib.reporting.evidence import write_all

AXES = {"surrogate": pl.String, "radius": pl.Float64, "regularisation": pl.String}
SCHEMAS = {
    "means": {
        **AXES,
        "n": pl.Int64,
        "excess_risk": pl.Float64,
        "low": pl.Float64,
        "high": pl.Float64,
        "truth_error": pl.Float64,
        "bound": pl.Float64,
        "l2": pl.Float64,
        "norm": pl.Float64,
        "certified": pl.Boolean,
    },
    "exponents": {**AXES, "exponent": pl.Float64, "low": pl.Float64, "high": pl.Float64},
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("--risks", required=True, nargs="+", type=Path, help="tables of slam-risk")
    parser.add_argument("--level", required=True, type=float, help="level of the intervals, such as 0.95")
    parser.add_argument("--tables", required=True, nargs=2, type=Path, help="means, exponents")
    parser.add_argument("--evidence", required=True, nargs="+", type=Path, help="a JSON file a claim")


def run(arguments: argparse.Namespace) -> None:
    """Write the two tables and the evidence."""
    rows = pl.concat([storage.read_table(path) for path in arguments.risks]).to_dicts()
    found = risk.summarise(rows, arguments.level)
    for path, name in zip(arguments.tables, SCHEMAS, strict=True):
        storage.write_table(path, pl.DataFrame(getattr(found, name), schema=SCHEMAS[name]))
    write_all(arguments.evidence, found.evidence)
