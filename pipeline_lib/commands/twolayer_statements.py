"""Compare the definitions and formulas of the paper twolayer with plain computations of the same numbers."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import polars as pl

from pipeline_lib import storage
from pipeline_lib.experiments.twolayer import statements
from pipeline_lib.reporting.evidence import write_all

SCHEMAS: dict[str, dict[str, pl.DataType | type[pl.DataType]]] = {
    "identities": {
        "statement": pl.String,
        "case": pl.String,
        "m": pl.Int64,
        "two_layer": pl.Float64,
        "two_layer_error": pl.Float64,
        "ordinary": pl.Float64,
        "ordinary_error": pl.Float64,
        "difference": pl.Float64,
    },
    "plans": {
        "budget": pl.Int64,
        "vc_dimension": pl.Int64,
        "delta": pl.Float64,
        "c1": pl.Float64,
        "queries": pl.Float64,
        "documents_per_query": pl.Float64,
        "queries_by_search": pl.Float64,
        "whole_queries": pl.Int64,
        "bound": pl.Float64,
        "whole_bound": pl.Float64,
        "informative_from": pl.Int64,
        "informative_from_sauer": pl.Int64,
    },
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("--settings", required=True, type=json.loads, help="experiments: twolayer: statements, as JSON")
    parser.add_argument("--seed", required=True, type=int, help="the study's seed")
    parser.add_argument("--tables", required=True, nargs=2, type=Path, help="identities, plans")
    parser.add_argument("--evidence", required=True, nargs="+", type=Path, help="a JSON file a claim")


def run(arguments: argparse.Namespace) -> None:
    """Write the two tables and the evidence."""
    found = statements.run(statements.Settings.from_mapping(arguments.settings), arguments.seed)
    for path, name in zip(arguments.tables, SCHEMAS, strict=True):
        storage.write_table(path, pl.DataFrame(getattr(found, name), schema=SCHEMAS[name]))
    write_all(arguments.evidence, found.evidence)
