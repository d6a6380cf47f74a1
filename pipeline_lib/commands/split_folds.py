"""Assign the queries of a data set to the training, validation and test part of every fold."""

from __future__ import annotations

import argparse
from pathlib import Path

from pipeline_lib.sources import catalog, folds


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("--dataset", required=True, help="name of the data set in data/catalog.yaml")
    parser.add_argument("--documents", required=True, type=Path, help="documents.parquet of the data set")
    parser.add_argument("--folds", required=True, type=Path, help="output file for the table of folds, as Parquet")


def run(arguments: argparse.Namespace) -> None:
    """Divide the queries as the catalogue specifies and write the folds."""
    folds.write_folds(catalog.get(arguments.dataset), arguments.documents, arguments.folds)
