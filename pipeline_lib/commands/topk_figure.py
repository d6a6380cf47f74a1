"""Play the games of Figure 1 on one data set: every learner, with printed, correct and repaired estimates."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import polars as pl

from pipeline_lib import storage
from pipeline_lib.experiments.topk import figure
from pipeline_lib.ranking_data import RankingData

SCHEMA = {
    "dataset": pl.String,
    "panel": pl.String,
    "learner": pl.String,
    "round": pl.Int64,
    "ndcg": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
    "seeds": pl.Int64,
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("--settings", required=True, type=json.loads, help="experiments: topk: figure, as JSON")
    parser.add_argument("--seed", required=True, type=int, help="the study's seed")
    parser.add_argument("--documents", required=True, type=Path, help="DATASET/documents.parquet to play on")
    parser.add_argument("--repair", required=True, type=Path, help="what `topk-repair` wrote")
    parser.add_argument("--table", required=True, type=Path, help="the curves, as Parquet")


def run(arguments: argparse.Namespace) -> None:
    """Write the table."""
    asked = figure.Settings.from_mapping(arguments.settings)
    data = RankingData.read_parquet(arguments.documents, stored=True)
    repair = storage.read_table(arguments.repair).to_dicts()
    rows = figure.curves(asked, arguments.documents.parent.name, data, repair, arguments.seed)
    storage.write_table(arguments.table, pl.DataFrame(rows, schema=SCHEMA))
