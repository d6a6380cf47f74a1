"""Compare a data set's raw text files with its manifest by SHA-256, and obtain missing files again."""

from __future__ import annotations

import argparse
from pathlib import Path

from pipeline_lib.sources import acquisition, catalog, mirrors, raw_files
from pipeline_lib.sources.manifest import required


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("--dataset", required=True, help="name of the data set in data/catalog.yaml")
    parser.add_argument("--manifest", required=True, type=Path, help="RAW/DATASET/manifest.json")
    parser.add_argument("--planned-with", required=True, help="state of the files when the check was planned")
    parser.add_argument(
        "--record", required=True, type=Path, help="output file for sizes, modification times and digests, as JSON"
    )


def run(arguments: argparse.Namespace) -> None:
    """Check the files and record their state."""
    data_set = catalog.get(arguments.dataset)
    raw = arguments.manifest.parent.parent
    manifest = required(data_set, raw)
    if data_set.source == "download" and not all(path.exists() for path in manifest.files(raw).values()):
        acquisition.obtain(data_set, raw, mirrors.configured_mirrors(), network=True)
    raw_files.write_record(arguments.record, raw_files.check(data_set, raw, manifest), arguments.planned_with)
