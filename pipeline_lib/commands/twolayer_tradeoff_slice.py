"""Measure some repetitions of deep against shallow judging at a fixed budget, for the paper twolayer."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path

import polars as pl

from pipeline_lib import storage
from pipeline_lib.experiments.twolayer import tradeoff
from pipeline_lib.experiments.twolayer.tradeoff import Fold
from pipeline_lib.ranking_data import RankingData
from pipeline_lib.sources import folds

SCHEMA = {
    "dataset": pl.String,
    "features": pl.Int64,
    "budget": pl.Int64,
    "fold": pl.Int64,
    "repetition": pl.Int64,
    "queries": pl.Int64,
    "documents": pl.Int64,
    "error": pl.Float64,
    "reference_error": pl.Float64,
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("--settings", required=True, type=json.loads, help="experiments: twolayer: tradeoff, as JSON")
    parser.add_argument("--seed", required=True, type=int, help="the study's seed")
    parser.add_argument("--slice", required=True, type=int, help="which slice of the repetitions, from 0")
    parser.add_argument("--documents", nargs="*", type=Path, default=[], help="DATASET/documents.parquet of data sets")
    parser.add_argument("--folds", required=True, type=json.loads, help="the numbers of each data set's folds, as JSON")
    parser.add_argument("--output", required=True, type=Path, help="a row for every place, repetition and split")


def run(arguments: argparse.Namespace) -> None:
    """Write the slice's measurements."""
    asked = tradeoff.Settings.from_mapping(arguments.settings)
    found = _folds(arguments.documents, arguments.folds)
    rows = tradeoff.measure(asked, found, arguments.seed, arguments.slice)
    storage.write_table(arguments.output, pl.DataFrame(rows, schema=SCHEMA))


def _folds(paths: list[Path], numbers: dict[str, list[int]]) -> Iterator[Fold]:
    for path in paths:
        dataset, table = path.parent.name, path.with_name("folds.parquet")
        for number in numbers[dataset]:
            train, test = (
                RankingData.read_parquet(path, folds.queries(table, number, part), stored=True)
                for part in ("train", "test")
            )
            yield Fold(dataset, number, train, test)
