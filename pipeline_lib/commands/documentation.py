"""Write the documentation as a folder of pages that open from disk: docs/*.md, and a reference made from the code.

Every link in it is checked.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from pipeline_lib.documentation import site


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("--project", type=Path, default=Path(), help="the project's folder (default: the current one)")
    parser.add_argument("--folder", required=True, type=Path, help="folder to write; index.html is the first page")


def run(arguments: argparse.Namespace) -> None:
    """Write the pages; DataError if a page is malformed or one of its links leads nowhere."""
    number = site.build(arguments.project, arguments.folder)
    print(f"{number} pages: {arguments.folder / 'index.html'}")
