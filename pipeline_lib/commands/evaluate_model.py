"""Measure one model on every test query of every fold, with one row per query."""

from __future__ import annotations

import argparse
from pathlib import Path

import polars as pl

from pipeline_lib import metrics, storage
from pipeline_lib.errors import DataError
from pipeline_lib.learners import models
from pipeline_lib.learners.ranker import Trained
from pipeline_lib.ranking_data import RankingData
from pipeline_lib.sources import folds


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("--models", required=True, nargs="+", type=Path, help="trained model of every fold, as JSON")
    parser.add_argument("--documents", required=True, type=Path, help="documents.parquet of the data set")
    parser.add_argument("--folds", required=True, type=Path, help="folds.parquet of the data set")
    parser.add_argument("--measures", required=True, nargs="+", help="names of measures, such as ndcg@10")
    parser.add_argument("--summary", required=True, type=Path, help="summary.json of the data set")
    parser.add_argument("--output", required=True, type=Path, help="output file for the table, as Parquet")


def run(arguments: argparse.Namespace) -> None:
    """Apply the model of every fold to its test part and write the measures of every query."""
    labels = storage.read_json(arguments.summary)["labels"]
    y_max = max(int(label) for label in labels)
    tables = [_evaluate(models.load(path), y_max, arguments) for path in arguments.models]
    storage.write_table(arguments.output, pl.concat(tables))


def _evaluate(trained: Trained, y_max: int, arguments: argparse.Namespace) -> pl.DataFrame:
    about = trained.about
    fold = int(about["fold"])
    indices = folds.queries(arguments.folds, fold, "test")
    if not len(indices):
        raise DataError(f"{arguments.folds}: expected test queries in fold {fold}, found none")
    test = RankingData.read_parquet(arguments.documents, indices, stored=True)
    scores = trained.predict(test)
    values = metrics.per_query(arguments.measures, scores, test.y, test.offsets, y_max=y_max)
    keys = {
        "dataset": [about["dataset"]] * test.n_queries,
        "model": [about["model"]] * test.n_queries,
        "fold": pl.Series([fold] * test.n_queries, dtype=pl.UInt8),
        "query": indices,
        "qid": test.qids,
    }
    return pl.DataFrame({**keys, **values})
