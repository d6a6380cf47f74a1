"""Read a data set's LETOR text in bounded memory and store it as one Parquet file."""

from __future__ import annotations

import argparse
from pathlib import Path

from pipeline_lib import storage
from pipeline_lib.errors import DataError
from pipeline_lib.sources import catalog, conversion
from pipeline_lib.sources.manifest import read_manifest


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("--dataset", required=True, help="name of the data set in data/catalog.yaml")
    parser.add_argument("--manifest", required=True, type=Path, help="RAW/DATASET/manifest.json")
    parser.add_argument("--documents", required=True, type=Path, help="where the Parquet file goes")
    parser.add_argument("--summary", required=True, type=Path, help="where the counts go, as JSON")


def run(arguments: argparse.Namespace) -> None:
    """Convert, and refuse a data set whose counts are not those of the catalogue."""
    data_set = catalog.get(arguments.dataset)
    raw = arguments.manifest.parent.parent
    manifest = read_manifest(data_set, raw)
    if manifest is None:
        raise DataError(
            f"{arguments.manifest}: expected the files of {data_set.name} as the manifest lists them, found others; "
            f"delete {arguments.manifest.parent} and obtain the data set again"
        )
    summary = conversion.convert(
        manifest.files(raw),
        arguments.documents,
        n_features=data_set.n_features,
        labels=data_set.labels,
        qid=data_set.qid,
    )
    try:
        check_counts(data_set, summary)
    except DataError:
        arguments.documents.unlink()
        raise
    storage.write_json(arguments.summary, summary.to_dict())


def check_counts(data_set: catalog.DataSet, summary: conversion.ConversionSummary) -> None:
    """Compare what was read with the catalogue's exact counts; approximate ones are left to the report.

    Raises
    ------
    DataError
        When rows, queries or labels differ.
    """
    expected = data_set.counts
    if expected is None:
        return
    labels = tuple(summary.labels.get(label, 0) for label in range(max(summary.labels) + 1))
    found = {"rows": summary.rows, "queries": summary.queries, "labels": labels}
    for name, value in found.items():
        wanted = getattr(expected, name)
        if wanted is not None and name not in expected.approximate and wanted != value:
            raise DataError(f"{data_set.name}: expected {name} {wanted}, found {value}; the files are not the data set")
