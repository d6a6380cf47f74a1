"""Train ConeRank with different bases, constants and updates on one fold of a data set."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import polars as pl

from pipeline_lib import storage
from pipeline_lib.experiments.cone import bases
from pipeline_lib.ranking_data import RankingData
from pipeline_lib.sources import folds

MEASURED = {
    "dataset": pl.String,
    "fold": pl.Int64,
    "part": pl.String,
    "level": pl.Float64,
    "method": pl.String,
    "K": pl.Int64,
    "start": pl.Int64,
    "fold_in": pl.String,
    "objective": pl.Float64,
    "passes": pl.Int64,
    "validation": pl.Float64,
    "map": pl.Float64,
    "ndcg": pl.Float64,
}
VOTES = {
    "dataset": pl.String,
    "fold": pl.Int64,
    "method": pl.String,
    "fold_in": pl.String,
    "queries": pl.Int64,
    "in_another_order": pl.Int64,
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("--settings", required=True, type=json.loads, help="experiments: cone: bases, as JSON")
    parser.add_argument("--seed", required=True, type=int, help="the study's seed")
    parser.add_argument("--dataset", required=True, help="name of the data set")
    parser.add_argument("--fold", required=True, type=int, help="fold, from 1")
    parser.add_argument("--documents", required=True, type=Path, help="documents.parquet of the data set")
    parser.add_argument("--folds", required=True, type=Path, help="folds.parquet of the data set")
    parser.add_argument("--tables", required=True, nargs=2, type=Path, help="what was measured, and the votes")


def run(arguments: argparse.Namespace) -> None:
    """Write the fold's slices of the two tables."""
    parts = [
        RankingData.read_parquet(arguments.documents, folds.queries(arguments.folds, arguments.fold, part), stored=True)
        for part in ("train", "validation", "test")
    ]
    asked = bases.Settings.from_mapping(arguments.settings)
    rows, ballots = bases.run_fold(asked, arguments.dataset, arguments.fold, parts, arguments.seed)
    for path, found, schema in zip(arguments.tables, (rows, ballots), (MEASURED, VOTES), strict=True):
        storage.write_table(path, pl.DataFrame(found, schema=schema))
