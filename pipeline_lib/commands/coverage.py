"""List the papers section by section, with the claims that stand for every statement.

Without ``--page``, the command prints for every paper how many of its statements have claims.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from pipeline_lib import papers
from pipeline_lib.claims import coverage, ledger
from pipeline_lib.files import write_text


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("--page", type=Path, help="page in Markdown to write, with every statement")


def run(arguments: argparse.Namespace) -> None:
    """Write the page, or print the counts; ConfigurationError if a file of sections is wrong."""
    for paper in papers.every():
        coverage.check(paper, [claim.id for claim in ledger.load([paper])])
    if arguments.page is not None:
        write_text(arguments.page, coverage.page(papers.every()))
        return
    for paper in papers.every():
        covered, reasons = coverage.counts(coverage.load(paper))
        print(f"{paper.name}: {covered} statements with claims, {reasons} with a reason why there is none")
