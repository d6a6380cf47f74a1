"""Find a data set by hand, in a mirror (LTR_MIRROR) or on the network; unpack and verify its parts."""

import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated

from pipeline_lib.sources import acquisition, catalog, mirrors, raw_files
from pipeline_lib.sources.manifest import UNCHANGED


def run(
    *,
    dataset: Annotated[str, "name of the data set in data/catalog.yaml"],
    manifest: Annotated[Path, "RAW/DATASET/manifest.json, written last"],
    planned_with: Annotated[str, "state of the files when the job was planned"] = UNCHANGED,
    offline: Annotated[
        bool, f"use only folders, never the network; also in force where {mirrors.OFFLINE} is set"
    ] = False,
) -> None:
    """Obtain the data set, keeping parts that are already complete, also those that a person has changed since."""
    data_set = catalog.get(dataset)
    raw = manifest.parent.parent
    listed = raw_files.relisted(data_set, raw)
    if listed is None:
        network = not (offline or os.environ.get(mirrors.OFFLINE))
        listed = acquisition.obtain(data_set, raw, mirrors.configured_mirrors(), network=network)
    replace(listed, planned_with=planned_with).write(raw)
    for part in listed.parts:
        state = "changed" if part.before else "verified" if part.verified else "no published digest"
        print(f"{part.file}: {part.bytes:,} bytes from {part.origin}, {state}", file=sys.stderr)
