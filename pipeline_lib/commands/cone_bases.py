"""Join the folds of ConeRank's comparison of bases and hand in what they say."""

from __future__ import annotations

import argparse
from pathlib import Path

import polars as pl

from pipeline_lib import storage
from pipeline_lib.commands.cone_bases_fold import MEASURED, VOTES
from pipeline_lib.experiments.cone import bases
from pipeline_lib.reporting.evidence import write_all


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("--measured", nargs="*", type=Path, default=[], help="what was measured, a file a fold")
    parser.add_argument("--votes", nargs="*", type=Path, default=[], help="the votes, a file a fold")
    parser.add_argument("--tables", required=True, nargs=2, type=Path, help="what was measured, and the votes")
    parser.add_argument("--evidence", required=True, nargs="+", type=Path, help="a JSON file a claim")


def run(arguments: argparse.Namespace) -> None:
    """Write the two tables and the evidence."""
    slices = ((arguments.measured, MEASURED), (arguments.votes, VOTES))
    joined = [pl.concat([pl.DataFrame(schema=schema), *map(storage.read_table, paths)]) for paths, schema in slices]
    for path, frame in zip(arguments.tables, joined, strict=True):
        storage.write_table(path, frame)
    write_all(arguments.evidence, bases.evidence(*(frame.to_dicts() for frame in joined)))
