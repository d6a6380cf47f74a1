"""Find a data set by hand, in a mirror (LTR_MIRROR) or on the network; unpack and verify its parts."""

from __future__ import annotations

import argparse
import os
import sys
from dataclasses import replace
from pathlib import Path

from pipeline_lib.sources import acquisition, catalog, mirrors, raw_files
from pipeline_lib.sources.manifest import UNCHANGED


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("--dataset", required=True, help="name of the data set in data/catalog.yaml")
    parser.add_argument("--manifest", required=True, type=Path, help="RAW/DATASET/manifest.json, written last")
    parser.add_argument(
        "--planned-with", default=UNCHANGED, help="state of the files when the job was planned (default: as obtained)"
    )
    parser.add_argument(
        "--offline",
        action="store_true",
        help=f"use only folders, never the network; also in force where {mirrors.OFFLINE} is set",
    )


def run(arguments: argparse.Namespace) -> None:
    """Obtain the data set, keeping parts that are already complete, also those that a person has changed since."""
    data_set = catalog.get(arguments.dataset)
    raw = arguments.manifest.parent.parent
    manifest = raw_files.relisted(data_set, raw)
    if manifest is None:
        network = not (arguments.offline or os.environ.get(mirrors.OFFLINE))
        manifest = acquisition.obtain(data_set, raw, mirrors.configured_mirrors(), network=network)
    replace(manifest, planned_with=arguments.planned_with).write(raw)
    for part in manifest.parts:
        state = "changed" if part.before else "verified" if part.verified else "no published digest"
        print(f"{part.file}: {part.bytes:,} bytes from {part.origin}, {state}", file=sys.stderr)
