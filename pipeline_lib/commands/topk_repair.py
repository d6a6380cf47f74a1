"""Choose, on one data set, the ball and the step with which learning from the labels on top works unbiased."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import polars as pl

from pipeline_lib import storage
from pipeline_lib.experiments.topk import figure
from pipeline_lib.ranking_data import RankingData

SCHEMA = {
    "surrogate": pl.String,
    "radius": pl.Float64,
    "factor": pl.Float64,
    "dataset": pl.String,
    "ndcg": pl.Float64,
    "chosen": pl.Boolean,
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("--settings", required=True, type=json.loads, help="experiments: topk: figure, as JSON")
    parser.add_argument("--seed", required=True, type=int, help="the study's seed")
    parser.add_argument("--documents", required=True, type=Path, help="DATASET/documents.parquet to choose on")
    parser.add_argument("--table", required=True, type=Path, help="what was tried, as Parquet")


def run(arguments: argparse.Namespace) -> None:
    """Write the table."""
    asked = figure.Settings.from_mapping(arguments.settings)
    data = RankingData.read_parquet(arguments.documents, stored=True)
    rows = figure.choose(asked, arguments.documents.parent.name, data, arguments.seed)
    storage.write_table(arguments.table, pl.DataFrame(rows, schema=SCHEMA))
