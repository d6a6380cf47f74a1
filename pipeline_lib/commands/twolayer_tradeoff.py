"""Join the errors of deep and shallow judging at a fixed budget, beside the n* of the paper twolayer."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import polars as pl

from pipeline_lib import storage
from pipeline_lib.experiments.twolayer import tradeoff
from pipeline_lib.reporting.evidence import write_all

_PLACE = {"dataset": pl.String, "features": pl.Int64, "budget": pl.Int64}
_ENDS = ("error_deepest", "error_shallowest")
SCHEMAS = {
    "tradeoff": {
        **_PLACE,
        "queries": pl.Int64,
        "documents": pl.Int64,
        "repetitions": pl.Int64,
        **dict.fromkeys(("bound", "error", "low", "high", "excess", "excess_low", "excess_high"), pl.Float64),
    },
    "best": {
        **_PLACE,
        **{f"{name}{end}": pl.Float64 for name in _ENDS for end in ("", "_low", "_high")},
        **dict.fromkeys(("error_inner", "best_queries", "best_queries_low", "best_queries_high"), pl.Float64),
        "predicted_queries": pl.Float64,
        **{f"variance_documents{end}": pl.Float64 for end in ("", "_low", "_high")},
    },
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("--settings", required=True, type=json.loads, help="experiments: twolayer: tradeoff, as JSON")
    parser.add_argument("--seed", required=True, type=int, help="the study's seed")
    parser.add_argument("--slices", required=True, nargs="+", type=Path, help="what twolayer-tradeoff-slice wrote")
    parser.add_argument("--tables", required=True, nargs=2, type=Path, help="errors of all splits, best splits")
    parser.add_argument("--evidence", required=True, nargs="+", type=Path, help="a JSON file a claim")


def run(arguments: argparse.Namespace) -> None:
    """Write the two tables and the evidence."""
    rows = [row for path in arguments.slices for row in storage.read_table(path).iter_rows(named=True)]
    found = tradeoff.join(tradeoff.Settings.from_mapping(arguments.settings), rows, arguments.seed)
    for path, name in zip(arguments.tables, SCHEMAS, strict=True):
        storage.write_table(path, pl.DataFrame(getattr(found, name), schema=SCHEMAS[name]))
    write_all(arguments.evidence, found.evidence)
