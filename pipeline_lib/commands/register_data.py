"""Note the sizes and digests of the files of a data set that the configuration describes."""

import sys
from typing import Annotated

from pipeline_lib.core.files import Output
from pipeline_lib.sources import own_data


def run(
    *,
    dataset: own_data.Name,
    planned_with: Annotated[str, "state of the files when the job was planned"],
    manifest: Annotated[Output, "output file for the manifest, as JSON"],
    record: Annotated[Output, "output file for sizes, times and digests, as JSON"],
    own: own_data.Own = None,
) -> None:
    """Read every file once and write both."""
    data_set = own_data.entry(dataset, own)
    for part in own_data.register(data_set, manifest.parent.parent, record, planned_with).parts:
        print(f"{part.name}: {part.bytes:,} bytes in {part.origin}", file=sys.stderr)
