"""Measure the perceptron's cumulative loss beside its bounds, and what its step size changes."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import polars as pl

from pipeline_lib import storage
from pipeline_lib.experiments.slam import perceptron
from pipeline_lib.ranking_data import RankingData
from pipeline_lib.reporting.evidence import write_all

AXES: dict[str, type[pl.DataType]] = {
    "stream": pl.String,
    "measure": pl.String,
    "repetition": pl.Int64,
    "eta": pl.String,
    "active": pl.String,
}
SCHEMAS: dict[str, dict[str, type[pl.DataType]]] = {
    "runs": {
        **AXES,
        "T": pl.Int64,
        "cumulative_loss": pl.Float64,
        "mistakes": pl.Int64,
        "largest_ratio": pl.Float64,
        "comparator_loss": pl.Float64,
        "constant": pl.Float64,
        "bound": pl.Float64,
        "gap": pl.Float64,
        "certified": pl.Boolean,
        "gamma": pl.Float64,
        "margin_bound": pl.Float64,
    },
    "etas": {
        **AXES,
        "step": pl.Float64,
        "rounds": pl.Int64,
        "mistakes": pl.Int64,
        "mistakes_at_eta_one": pl.Int64,
        "rounds_that_differ": pl.Int64,
        "cumulative_loss": pl.Float64,
    },
    "v_max": {
        "m": pl.Int64,
        "v_max_map": pl.Float64,
        "half_m": pl.Float64,
        "v_max_ndcg": pl.Float64,
        "v_max_ndcg_limit": pl.Float64,
        "v_max_ndcg_at_k": pl.Float64,
    },
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("--settings", required=True, type=json.loads, help="experiments: slam: perceptron, as JSON")
    parser.add_argument("--seed", required=True, type=int, help="the study's seed")
    parser.add_argument("--documents", nargs="*", type=Path, default=[], help="DATASET/documents.parquet of data sets")
    parser.add_argument("--tables", required=True, nargs=3, type=Path, help="runs, etas, v_max")
    parser.add_argument("--evidence", required=True, nargs="+", type=Path, help="a JSON file a claim")


def run(arguments: argparse.Namespace) -> None:
    """Write the three tables and the evidence."""
    datasets = {path.parent.name: RankingData.read_parquet(path, stored=True) for path in arguments.documents}
    found = perceptron.run(perceptron.Settings.from_mapping(arguments.settings), datasets, arguments.seed)
    for path, name in zip(arguments.tables, SCHEMAS, strict=True):
        storage.write_table(path, pl.DataFrame(getattr(found, name), schema=SCHEMAS[name]))
    write_all(arguments.evidence, found.evidence)
