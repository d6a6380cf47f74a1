"""Measure one model on every test query of every fold, with one row per query, and its risk on each test part."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from pipeline_lib import metrics, storage, surrogates
from pipeline_lib.errors import DataError
from pipeline_lib.learners import models
from pipeline_lib.learners.ranker import Trained
from pipeline_lib.ranking_data import RankingData
from pipeline_lib.sources import folds
from pipeline_lib.theory import ranker_facts
from pipeline_lib.theory.ranker_facts import Facts


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("--models", required=True, nargs="+", type=Path, help="trained model of every fold, as JSON")
    parser.add_argument("--documents", required=True, type=Path, help="documents.parquet of the data set")
    parser.add_argument("--folds", required=True, type=Path, help="folds.parquet of the data set")
    parser.add_argument("--measures", required=True, nargs="+", help="names of measures, such as ndcg@10")
    parser.add_argument("--summary", required=True, type=Path, help="summary.json of the data set")
    parser.add_argument("--output", required=True, type=Path, help="output file for the table, as Parquet")
    parser.add_argument(
        "--held-out",
        required=True,
        type=Path,
        help="output file for the facts about the model on every test part, as JSON",
    )


def run(arguments: argparse.Namespace) -> None:
    """Apply the model of every fold to its test part; write the measures of every query, and the risk."""
    labels = storage.read_json(arguments.summary)["labels"]
    y_max = max(int(label) for label in labels)
    tables, risks = [], []
    for path in arguments.models:
        trained = models.load(path)
        test, indices = _test_part(path, int(trained.about["fold"]), arguments)
        tables.append(_evaluate(trained, test.in_role("test"), indices, y_max, arguments.measures))
        risks.append(_risk(trained, test.in_role("test")))
    storage.write_table(arguments.output, pl.concat(tables))
    storage.write_json(arguments.held_out, {"folds": risks})


def _test_part(model: Path, fold: int, arguments: argparse.Namespace) -> tuple[RankingData, NDArray[np.int64]]:
    indices = folds.queries(arguments.folds, fold, "test")
    for part in ("train", "validation"):
        seen = np.intersect1d(indices, folds.queries(arguments.folds, fold, part))
        if len(seen):
            raise DataError(
                f"{model}: expected to measure it on queries that it does not know, found {len(seen):,} of the "
                f"{part} part of fold {fold} in {arguments.folds}"
            )
    return folds.read(arguments.documents, arguments.folds, fold, "test"), indices


def _risk(trained: Trained, test: RankingData) -> dict[str, Any]:
    """The facts for the certificate that the test part offers, or why there are none."""
    about, settings = trained.about, trained.about["settings"]
    loss = settings.get("surrogate")
    found = ranker_facts.recorded(trained.model, test, loss and surrogates.create(loss, **settings.get("options", {})))
    if "facts" in found and "facts" in trained.record:
        known = ranker_facts.together(Facts(**found["facts"]), Facts(**trained.record["facts"]))
        found = {"facts": asdict(known)}
    return {**{name: about[name] for name in ("dataset", "model", "fold", "settings")}, **found}


def _evaluate(
    trained: Trained, test: RankingData, indices: NDArray[np.int64], y_max: int, wanted: list[str]
) -> pl.DataFrame:
    about, fold = trained.about, int(trained.about["fold"])
    values = metrics.per_query(wanted, trained.predict(test), test.y, test.offsets, y_max=y_max)
    keys = {
        "dataset": [about["dataset"]] * test.n_queries,
        "model": [about["model"]] * test.n_queries,
        "fold": pl.Series([fold] * test.n_queries, dtype=pl.UInt8),
        "query": indices,
        "qid": test.qids if test.query_names is None else list(test.query_names),
    }
    return pl.DataFrame({**keys, **values})
