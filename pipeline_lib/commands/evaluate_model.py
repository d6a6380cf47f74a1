"""Measure one model on every test query of every fold, one row a query."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import polars as pl

from pipeline_lib import metrics
from pipeline_lib.errors import DataError
from pipeline_lib.files import replacing
from pipeline_lib.learners import models
from pipeline_lib.ranking_data import RankingData
from pipeline_lib.sources import folds


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("--models", required=True, nargs="+", type=Path, help="the model of every fold, as JSON")
    parser.add_argument("--documents", required=True, type=Path, help="documents.parquet of the data set")
    parser.add_argument("--folds", required=True, type=Path, help="folds.parquet of the data set")
    parser.add_argument("--measures", required=True, nargs="+", help="names of measures, such as ndcg@10")
    parser.add_argument("--summary", required=True, type=Path, help="summary.json of the data set")
    parser.add_argument("--output", required=True, type=Path, help="where the table goes, as Parquet")


def run(arguments: argparse.Namespace) -> None:
    """Score the test part of every fold with the fold's model and write the per-query values."""
    labels = json.loads(arguments.summary.read_text(encoding="utf-8"))["labels"]
    y_max = max(int(label) for label in labels)
    tables = [_evaluate(json.loads(path.read_text(encoding="utf-8")), y_max, arguments) for path in arguments.models]
    with replacing(arguments.output) as partial:
        pl.concat(tables).write_parquet(partial, compression="zstd")


def _evaluate(content: dict[str, Any], y_max: int, arguments: argparse.Namespace) -> pl.DataFrame:
    fold = int(content["fold"])
    indices = folds.queries(arguments.folds, fold, "test")
    if not len(indices):
        raise DataError(f"{arguments.folds}: expected test queries in fold {fold}, found none")
    test = RankingData.read_parquet(arguments.documents, indices)
    scores = models.from_dict(content["trained"]).score(test)
    values = metrics.per_query(arguments.measures, scores, test.y, test.offsets, y_max=y_max)
    keys = {
        "dataset": [content["dataset"]] * test.n_queries,
        "model": [content["model"]] * test.n_queries,
        "fold": pl.Series([fold] * test.n_queries, dtype=pl.UInt8),
        "query": indices,
        "qid": test.qids,
    }
    return pl.DataFrame({**keys, **values})
