"""Play some seeds of the games behind the regret of learning from the labels on top."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import polars as pl

from pipeline_lib import storage
from pipeline_lib.experiments.topk import regret

SCHEMA = {"seed": pl.Int64, "surrogate": pl.String, "T": pl.Int64, **dict.fromkeys(regret.STATISTICS, pl.Float64)}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("--settings", required=True, type=json.loads, help="experiments: topk: regret, as JSON")
    parser.add_argument("--seed", required=True, type=int, help="the study's seed")
    parser.add_argument("--slice", required=True, type=int, help="which slice of the seeds, from 0")
    parser.add_argument("--output", required=True, type=Path, help="a row for every seed, surrogate and T")


def run(arguments: argparse.Namespace) -> None:
    """Write the slice's games."""
    rows = regret.measure(regret.Settings.from_mapping(arguments.settings), arguments.seed, arguments.slice)
    storage.write_table(arguments.output, pl.DataFrame(rows, schema=SCHEMA))
