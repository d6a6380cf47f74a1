"""Record what came out of a study that was run whole: workflow/recorded/STUDY.json.

The record has the status of every claim with the numbers that decide it, and the digests of configuration, data and
tables. `compare-studies STUDY` compares later results with it.
"""

from typing import Annotated

from pipeline_lib.study import recorded


def run(study: Annotated[str, "name of the study"]) -> None:
    """Write the record; DataError if the study has no results."""
    path = recorded.write(recorded.made(study))
    print(f"{path}: {path.stat().st_size:,} bytes")
