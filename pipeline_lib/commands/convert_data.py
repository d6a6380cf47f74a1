"""Read the files of a data set in bounded memory and store them as one Parquet file."""

import logging
from pathlib import Path
from typing import Annotated

from pipeline_lib.core import storage
from pipeline_lib.core.errors import DataError
from pipeline_lib.core.files import Output
from pipeline_lib.sources import catalog, conversion, own_data, raw_files
from pipeline_lib.sources.manifest import Manifest, required
from pipeline_lib.sources.tables import Options

_LOG = logging.getLogger(__name__)


def run(
    *,
    dataset: own_data.Name,
    manifest: Annotated[Path, "RAW/DATASET/manifest.json"],
    documents: Annotated[Output, "output file for the documents, as Parquet"],
    summary: Annotated[Output, "output file for the counts, as JSON"],
    own: own_data.Own = None,
) -> None:
    """Convert the text; reject it if it differs from the manifest, or its counts from the catalogue."""
    data_set = own_data.entry(dataset, own)
    raw = manifest.parent.parent
    listed = required(data_set, raw)
    converted = _converted(data_set, listed, raw, documents)
    try:
        raw_files.compare(data_set, raw, listed, {part.name: part.sha256 for part in converted.parts})
        check_counts(data_set, converted)
    except DataError:
        documents.unlink()
        raise
    for warning in converted.warnings:
        _LOG.warning(f"{dataset}: {warning}")
    content = converted.to_dict()
    of_manifest = {part.name: part for part in listed.parts}
    for part in content["parts"]:
        if data_set.source == "own":
            part["file"] = of_manifest[part["name"]].origin
        else:
            part["verified"] = part["sha256"] in data_set.parts[part["name"]].sha256
    storage.write_json(summary, content)


def _converted(
    data_set: catalog.DataSet, manifest: Manifest, raw: Path, documents: Path
) -> conversion.ConversionSummary:
    if data_set.source == "own":
        files = {part: data_set.raw_paths(part, raw)[0] for part in data_set.parts}
        return conversion.convert_own(
            files, documents, Options(**data_set.columns), shared=data_set.shared, relevant_from=data_set.relevant_from
        )
    try:
        return conversion.convert(
            manifest.files(raw),
            documents,
            n_features=data_set.n_features,
            labels=data_set.labels,
            qid=data_set.qid,
            extreme=data_set.extreme,
        )
    except DataError:
        raw_files.check(data_set, raw, manifest)  # if a file has changed, that is the better explanation
        raise


def check_counts(data_set: catalog.DataSet, summary: conversion.ConversionSummary) -> None:
    """Compare what was read with the catalogue's exact counts; approximate ones are left to the report.

    Raises
    ------
    DataError
        When rows, queries or labels differ, or the rows or queries of a part.
    """
    expected = data_set.counts
    if expected is None:
        return
    for part in summary.parts:
        for name in ("rows", "queries"):
            wanted, value = getattr(data_set.parts[part.name], name), getattr(part, name)
            if wanted is not None and name not in expected.approximate and wanted != value:
                raise DataError(
                    f"{data_set.name}: expected {wanted} {name} in the part {part.name}, found {value}; its file is "
                    "not that of the data set, or it is that of another part"
                )
    labels = tuple(summary.labels.get(label, 0) for label in range(max(summary.labels) + 1))
    found = {"rows": summary.rows, "queries": summary.queries, "labels": labels}
    for name, value in found.items():
        wanted = getattr(expected, name)
        if wanted is not None and name not in expected.approximate and wanted != value:
            raise DataError(f"{data_set.name}: expected {name} {wanted}, found {value}; the files are not the data set")
