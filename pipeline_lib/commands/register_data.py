"""Note the sizes and digests of the files of a data set that the configuration describes."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from pipeline_lib.sources import own_data


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    own_data.add_argument(parser)
    parser.add_argument("--planned-with", required=True, help="state of the files when the job was planned")
    parser.add_argument("--manifest", required=True, type=Path, help="output file for the manifest, as JSON")
    parser.add_argument("--record", required=True, type=Path, help="output file for sizes, times and digests, as JSON")


def run(arguments: argparse.Namespace) -> None:
    """Read every file once and write both."""
    own = own_data.entry(arguments)
    manifest = own_data.register(own, arguments.manifest.parent.parent, arguments.record, arguments.planned_with)
    for part in manifest.parts:
        print(f"{part.name}: {part.bytes:,} bytes in {part.origin}", file=sys.stderr)
