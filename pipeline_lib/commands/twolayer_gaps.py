"""Join the measured gaps of the paper twolayer, and put its bounds beside them."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import polars as pl

from pipeline_lib import storage
from pipeline_lib.experiments.twolayer import gaps
from pipeline_lib.reporting.evidence import write_all

_WITH_INTERVALS = ("gap", "query_error", "document_error", "centred_gap")
_TERMS = ("query_complexity", "query_concentration", "document_complexity", "document_concentration")
SCHEMAS = {
    "gaps": {
        "loss": pl.String,
        "queries": pl.Int64,
        "documents": pl.Int64,
        "repetitions": pl.Int64,
        **{f"{name}{end}": pl.Float64 for name in _WITH_INTERVALS for end in ("", "_low", "_high")},
        **{f"{name}_largest": pl.Float64 for name in _WITH_INTERVALS[:3]},
        "risk_error": pl.Float64,
        **dict.fromkeys((*_TERMS, "bound", "query_bound", "document_bound", "largest_loss"), pl.Float64),
        "certified": pl.Int64,
    },
    "limits": {
        "loss": pl.String,
        "growing": pl.String,
        "fixed": pl.Int64,
        **{f"{name}{end}": pl.Float64 for name in ("limit", "exponent") for end in ("", "_low", "_high")},
    },
    "older": {
        "loss": pl.String,
        "queries": pl.Int64,
        "documents": pl.Int64,
        **dict.fromkeys(("gap", "gap_low", "gap_high"), pl.Float64),
        **dict.fromkeys(("document_level", "query_level", "two_layer", "two_layer_pooled"), pl.Float64),
    },
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("--settings", required=True, type=json.loads, help="experiments: twolayer: gaps, as JSON")
    parser.add_argument("--seed", required=True, type=int, help="the study's seed")
    parser.add_argument("--slices", required=True, nargs="+", type=Path, help="what twolayer-gaps-slice wrote")
    parser.add_argument("--tables", required=True, nargs=3, type=Path, help="gaps, limits, older bounds")
    parser.add_argument("--evidence", required=True, nargs="+", type=Path, help="a JSON file a claim")


def run(arguments: argparse.Namespace) -> None:
    """Write the three tables and the evidence."""
    rows = [row for path in arguments.slices for row in storage.read_table(path).iter_rows(named=True)]
    found = gaps.join(gaps.Settings.from_mapping(arguments.settings), rows, arguments.seed)
    for path, name in zip(arguments.tables, SCHEMAS, strict=True):
        storage.write_table(path, pl.DataFrame(getattr(found, name), schema=SCHEMAS[name]))
    write_all(arguments.evidence, found.evidence)
