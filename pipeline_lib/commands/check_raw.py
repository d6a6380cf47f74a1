"""Compare a data set's raw text files with its manifest by their SHA-256; obtain again those that are missing."""

from __future__ import annotations

import argparse
from pathlib import Path

from pipeline_lib.sources import acquisition, catalog, mirrors, raw_files
from pipeline_lib.sources.manifest import required


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("--dataset", required=True, help="name of the data set in data/catalog.yaml")
    parser.add_argument("--manifest", required=True, type=Path, help="RAW/DATASET/manifest.json")
    parser.add_argument("--planned-with", required=True, help="the state of the files that the check was planned with")
    parser.add_argument("--record", required=True, type=Path, help="where sizes, times and digests go, as JSON")


def run(arguments: argparse.Namespace) -> None:
    """Check the files and write down their state."""
    data_set = catalog.get(arguments.dataset)
    raw = arguments.manifest.parent.parent
    manifest = required(data_set, raw)
    if data_set.source == "download" and not all(path.exists() for path in manifest.files(raw).values()):
        acquisition.obtain(data_set, raw, mirrors.configured_mirrors(), network=True)
    raw_files.write_record(arguments.record, raw_files.check(data_set, raw, manifest), arguments.planned_with)
