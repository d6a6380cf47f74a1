"""Find a data set by hand, in a mirror (LTR_MIRROR) or on the network; unpack and verify its parts."""

import sys
from typing import Annotated

from pipeline_lib.core.files import Output
from pipeline_lib.sources import acquisition, catalog, mirrors


def run(
    *,
    dataset: Annotated[str, "name of the data set in data/catalog.yaml"],
    manifest: Annotated[Output, "RAW/DATASET/manifest.json, written last"],
    offline: Annotated[
        bool, f"use only folders, never the network; also in force where {mirrors.OFFLINE} is set"
    ] = False,
) -> None:
    """Obtain the data set, keeping parts that are already complete."""
    data_set = catalog.get(dataset)
    raw = manifest.parent.parent
    network = mirrors.network_allowed() and not offline
    listed = acquisition.obtain(data_set, raw, mirrors.configured_mirrors(), network=network)
    listed.write(raw)  # also where there is one: the job must have made what it promises
    for part in listed.parts:
        state = "verified" if part.verified else "no published digest"
        print(f"{part.file}: {part.bytes:,} bytes from {part.origin}, {state}", file=sys.stderr)
