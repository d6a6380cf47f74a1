"""Compare covering numbers, entropy integrals and their closed forms with packings and Monte Carlo estimates."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from pathlib import Path

import polars as pl

from pipeline_lib import storage
from pipeline_lib.experiments.lists import averages
from pipeline_lib.reporting.evidence import write_all

SCHEMAS: Mapping[str, Mapping[str, type[pl.DataType]]] = {
    "averages": {
        "class": pl.String,
        "n": pl.Int64,
        "m": pl.Int64,
        "linear": pl.Float64,
        "linear_error": pl.Float64,
        "found": pl.Float64,
        "found_error": pl.Float64,
        "integral": pl.Float64,
        "closed_form": pl.Float64,
        "loss_bound": pl.Float64,
    },
    "coverings": {
        "class": pl.String,
        "n": pl.Int64,
        "m": pl.Int64,
        "eps": pl.Float64,
        "log2_packing_found": pl.Float64,
        "log2_covering_bound": pl.Float64,
    },
    "closed_forms": {
        "corollary": pl.Int64,
        "radius": pl.Float64,
        "n": pl.Int64,
        "m": pl.Int64,
        "loss_bound": pl.Float64,
        "closed_form": pl.Float64,
        "integral": pl.Float64,
        "alpha": pl.Float64,
    },
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("--settings", required=True, type=json.loads, help="experiments: lists: averages, as JSON")
    parser.add_argument("--seed", required=True, type=int, help="the study's seed")
    parser.add_argument(
        "--tables", required=True, nargs=3, type=Path, help="Rademacher averages, coverings and closed forms"
    )
    parser.add_argument("--evidence", required=True, nargs="+", type=Path, help="a JSON file a claim")


def run(arguments: argparse.Namespace) -> None:
    """Write the three tables and the evidence."""
    found = averages.run(averages.Settings.from_mapping(arguments.settings), arguments.seed)
    for path, name in zip(arguments.tables, SCHEMAS, strict=True):
        storage.write_table(path, pl.DataFrame(getattr(found, name), schema=SCHEMAS[name]))
    write_all(arguments.evidence, found.evidence)
