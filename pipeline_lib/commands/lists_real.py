"""Measure gaps on subsampled queries and documents of one data set, held-out queries standing for the truth."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import polars as pl

from pipeline_lib import storage
from pipeline_lib.experiments.lists import real
from pipeline_lib.ranking_data import RankingData

SCHEMA = {
    "dataset": pl.String,
    "m": pl.Int64,
    "n": pl.Int64,
    "repetition": pl.Int64,
    "loss": pl.String,
    "learner": pl.String,
    "empirical": pl.Float64,
    "risk": pl.Float64,
    "risk_error": pl.Float64,
    "gap": pl.Float64,
    "excess": pl.Float64,
    "excess_error": pl.Float64,
    "certified_gap": pl.Float64,
    "excess_bound": pl.Float64,
    "bound": pl.Float64,
    "loss_bound": pl.Float64,
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("--settings", required=True, type=json.loads, help="experiments: lists: real, as JSON")
    parser.add_argument("--dataset", required=True, help="the data set's name")
    parser.add_argument("--documents", required=True, type=Path, help="the data set as Parquet")
    parser.add_argument("--seed", required=True, type=int, help="the study's seed")
    parser.add_argument(
        "--table", required=True, type=Path, help="a row a loss, m, n, repetition and ranker, as Parquet"
    )


def run(arguments: argparse.Namespace) -> None:
    """Write the table."""
    asked = real.Settings.from_mapping(arguments.settings)
    rows = real.run(
        asked, RankingData.read_parquet(arguments.documents, stored=True), arguments.dataset, arguments.seed
    )
    storage.write_table(arguments.table, pl.DataFrame(rows, schema=SCHEMA))
