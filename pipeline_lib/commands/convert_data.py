"""Read the files of a data set in bounded memory and store them as one Parquet file."""

from __future__ import annotations

import argparse
from pathlib import Path

from pipeline_lib import storage
from pipeline_lib.errors import DataError
from pipeline_lib.sources import catalog, conversion, own_data, raw_files
from pipeline_lib.sources.manifest import Manifest, required
from pipeline_lib.sources.tables import Options


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    own_data.add_argument(parser)
    parser.add_argument("--manifest", required=True, type=Path, help="RAW/DATASET/manifest.json")
    parser.add_argument("--documents", required=True, type=Path, help="output file for the documents, as Parquet")
    parser.add_argument("--summary", required=True, type=Path, help="output file for the counts, as JSON")


def run(arguments: argparse.Namespace) -> None:
    """Convert the text; reject it if it differs from the manifest, or its counts from the catalogue."""
    data_set = own_data.entry(arguments)
    raw = arguments.manifest.parent.parent
    manifest = required(data_set, raw)
    summary = _converted(data_set, manifest, raw, arguments.documents)
    try:
        raw_files.compare(data_set, raw, manifest, {part.name: part.sha256 for part in summary.parts})
        if not any(part.before for part in manifest.parts):
            check_counts(data_set, summary)  # what the counts of a changed data set are, the report says
    except DataError:
        arguments.documents.unlink()
        raise
    content = summary.to_dict()
    listed = {part.name: part for part in manifest.parts}
    for part in content["parts"]:
        if data_set.source == "own":
            part["file"] = listed[part["name"]].origin
        else:
            part["verified"] = part["sha256"] in data_set.parts[part["name"]].sha256
            part["before"] = listed[part["name"]].before
    storage.write_json(arguments.summary, content)


def _converted(
    data_set: catalog.DataSet, manifest: Manifest, raw: Path, documents: Path
) -> conversion.ConversionSummary:
    if data_set.source == "own":
        files = {part: data_set.raw_path(part, raw) for part in data_set.parts}
        options = Options(**data_set.columns, rounded=data_set.labels == "rounded")
        return conversion.convert_own(files, documents, options, shared=data_set.shared)
    try:
        return conversion.convert(
            manifest.files(raw),
            documents,
            n_features=data_set.n_features,
            labels=data_set.labels,
            qid=data_set.qid,
        )
    except DataError:
        raw_files.check(data_set, raw, manifest)  # if a file has changed, that is the better explanation
        raise


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
