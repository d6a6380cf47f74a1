"""Write the report of a study: its pages, also in one file, and all tables and figures as files."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from pipeline_lib.core import storage
from pipeline_lib.core.files import Output
from pipeline_lib.report import site
from pipeline_lib.study import provenance


def run(
    *,
    results: Annotated[Path, "results folder of the study"],
    claims: Annotated[Path, "the judged claims, as JSON"],
    report: Annotated[Output, "output folder for the report"],
    papers: Annotated[Sequence[str], "papers whose experiments are part of the study"] = (),
) -> None:
    """Record the software with which the report is made, then write the report."""
    storage.write_json(results / "provenance.json", provenance.collect())
    site.render(results, report, claims=claims, papers=papers)
    shown = [path for path in (claims, results / "configuration.yaml") if path.is_file()]
    storage.write_digests(report / storage.DIGESTS, [*site.files(report), *shown])
