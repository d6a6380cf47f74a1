"""Measure AdaRank with five rules for stopping, on every fold of some data sets."""

from __future__ import annotations

import argparse
from pathlib import Path

import polars as pl

from pipeline_lib import storage
from pipeline_lib.experiments.cone import adarank
from pipeline_lib.ranking_data import RankingData
from pipeline_lib.sources import folds

SCHEMA = {
    "dataset": pl.String,
    "fold": pl.Int64,
    "measure": pl.String,
    "repeats": pl.Int64,
    "stop": pl.String,
    "rounds": pl.Int64,
    "features": pl.Int64,
    **dict.fromkeys(("map", "map_low", "map_high", "ndcg", "ndcg_low", "ndcg_high"), pl.Float64),
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("--documents", nargs="*", type=Path, default=[], help="DATASET/documents.parquet of data sets")
    parser.add_argument("--folds", nargs="*", type=Path, default=[], help="DATASET/folds.parquet, in the same order")
    parser.add_argument("--fold-numbers", nargs="+", type=int, default=[1], help="folds, from 1")
    parser.add_argument("--resamples", required=True, type=int, help="bootstrap draws of the validation queries")
    parser.add_argument("--seed", required=True, type=int, help="the study's seed")
    parser.add_argument("--tables", required=True, nargs=1, type=Path, help="where the table goes")


def run(arguments: argparse.Namespace) -> None:
    """Write the table."""
    rows = []
    for documents, table in zip(arguments.documents, arguments.folds, strict=True):
        for fold in arguments.fold_numbers:
            parts = [
                RankingData.read_parquet(documents, folds.queries(table, fold, part), stored=True)
                for part in ("train", "validation", "test")
            ]
            rows += adarank.run_fold(documents.parent.name, fold, parts, arguments.seed, arguments.resamples)
    storage.write_table(arguments.tables[0], pl.DataFrame(rows, schema=SCHEMA))
