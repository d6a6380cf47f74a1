"""Write the report of a study: its pages, also in one file, and all tables and figures as files."""

from __future__ import annotations

import argparse
from pathlib import Path

from pipeline_lib import provenance, storage
from pipeline_lib.reporting import site


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("--results", required=True, type=Path, help="results folder of the study")
    parser.add_argument("--claims", required=True, type=Path, help="the judged claims, as JSON")
    parser.add_argument("--papers", nargs="*", default=[], help="papers whose experiments are part of the study")
    parser.add_argument("--report", required=True, type=Path, help="output folder for the report")


def run(arguments: argparse.Namespace) -> None:
    """Record the software with which the report is made, then write the report."""
    storage.write_json(arguments.results / "provenance.json", provenance.collect())
    site.render(arguments.results, arguments.report, claims=arguments.claims, papers=arguments.papers)
    shown = [path for path in (arguments.claims, arguments.results / "configuration.yaml") if path.is_file()]
    storage.write_digests(arguments.report / site.DIGESTS, [*site.files(arguments.report), *shown])
