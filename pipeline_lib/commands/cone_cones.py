"""Check projections onto cones, the norms and the spectrum of pair differences, and the descent of ConeRank."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import polars as pl

from pipeline_lib import storage
from pipeline_lib.experiments.cone import cones
from pipeline_lib.ranking_data import RankingData
from pipeline_lib.reporting.evidence import write_all

SCHEMAS = {
    "identities": {"claim": pl.String, "case": pl.String, "d": pl.Int64, "K": pl.Int64, "value": pl.Float64},
    "spectrum": {"dataset": pl.String, "index": pl.Int64, "eigenvalue": pl.Float64, "cumulative": pl.Float64},
    "descent": {
        "dataset": pl.String,
        "method": pl.String,
        "updates": pl.String,
        "fold_steps": pl.Int64,
        "step": pl.Float64,
        "pass": pl.Int64,
        "objective": pl.Float64,
        "met": pl.Float64,
        "gap": pl.Float64,
    },
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("--settings", required=True, type=json.loads, help="experiments: cone: cones, as JSON")
    parser.add_argument("--seed", required=True, type=int, help="the study's seed")
    parser.add_argument("--documents", nargs="*", type=Path, default=[], help="DATASET/documents.parquet of data sets")
    parser.add_argument("--tables", required=True, nargs=3, type=Path, help="identities, spectrum and descent")
    parser.add_argument("--evidence", required=True, nargs="+", type=Path, help="a JSON file a claim")


def run(arguments: argparse.Namespace) -> None:
    """Write the three tables and the evidence."""
    datasets = {path.parent.name: RankingData.read_parquet(path, stored=True) for path in arguments.documents}
    found = cones.run(cones.Settings.from_mapping(arguments.settings), datasets, arguments.seed)
    for path, name in zip(arguments.tables, SCHEMAS, strict=True):
        storage.write_table(path, pl.DataFrame(getattr(found, name), schema=SCHEMAS[name]))
    write_all(arguments.evidence, found.evidence)
