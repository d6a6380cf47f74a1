"""Assign the queries of a data set to the training, validation and test part of every fold."""

from __future__ import annotations

import argparse
from pathlib import Path

from pipeline_lib.sources import folds, own_data


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    own_data.add_argument(parser)
    parser.add_argument("--documents", required=True, type=Path, help="documents.parquet of the data set")
    parser.add_argument("--folds", required=True, type=Path, help="output file for the table of folds, as Parquet")


def run(arguments: argparse.Namespace) -> None:
    """Divide the queries as the catalogue or the configuration specifies and write the folds."""
    folds.write_folds(own_data.entry(arguments), arguments.documents, arguments.folds)
