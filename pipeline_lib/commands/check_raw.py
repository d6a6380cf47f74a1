"""Compare a data set's raw text files with its manifest by SHA-256, and obtain missing files again."""

from pathlib import Path
from typing import Annotated

from pipeline_lib.core.files import Output
from pipeline_lib.sources import acquisition, catalog, mirrors, raw_files
from pipeline_lib.sources.manifest import required


def run(
    *,
    dataset: Annotated[str, "name of the data set in data/catalog.yaml"],
    manifest: Annotated[Path, "RAW/DATASET/manifest.json"],
    planned_with: Annotated[str, "state of the files when the check was planned"],
    record: Annotated[Output, "output file for sizes, modification times and digests, as JSON"],
) -> None:
    """Check the files and record their state."""
    data_set = catalog.get(dataset)
    raw = manifest.parent.parent
    listed = required(data_set, raw)
    if data_set.source == "download" and not all(path.exists() for path in listed.files(raw).values()):
        acquisition.obtain(data_set, raw, mirrors.configured_mirrors(), network=mirrors.network_allowed())
    raw_files.write_record(record, raw_files.check(data_set, raw, listed), planned_with)
