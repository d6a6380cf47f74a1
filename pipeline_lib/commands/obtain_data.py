"""Find a data set by hand, in a mirror (LTR_MIRROR) or on the network; unpack and verify its parts."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from pipeline_lib.sources import acquisition, catalog, mirrors


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("--dataset", required=True, help="name of the data set in data/catalog.yaml")
    parser.add_argument("--manifest", required=True, type=Path, help="RAW/DATASET/manifest.json, written last")
    parser.add_argument("--offline", action="store_true", help="use only folders, never the network")


def run(arguments: argparse.Namespace) -> None:
    """Obtain the data set, keeping parts that are already complete."""
    data_set = catalog.get(arguments.dataset)
    raw = arguments.manifest.parent.parent
    manifest = acquisition.obtain(data_set, raw, mirrors.configured_mirrors(), network=not arguments.offline)
    for part in manifest.parts:
        state = "verified" if part.verified else "no published digest"
        print(f"{part.file}: {part.bytes:,} bytes from {part.origin}, {state}", file=sys.stderr)
