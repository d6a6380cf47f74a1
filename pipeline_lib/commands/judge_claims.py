"""Turn tables, and the evidence of the experiments, into a status for every claim of the ledger."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from pipeline_lib import storage
from pipeline_lib.claims import ledger


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("--study", required=True, help="name of the study")
    parser.add_argument(
        "--evidence", nargs="*", type=Path, default=[], help="files with the evidence, one JSON file per claim"
    )
    parser.add_argument(
        "--tables", nargs="*", type=Path, default=[], help="tables of the study, from which claims are read"
    )
    parser.add_argument(
        "--settings",
        default={},
        type=json.loads,
        help="settings as JSON: the papers of the study, their experiments, and the settings of each",
    )
    parser.add_argument("--availability", required=True, type=Path, help="availability of the data sets, as JSON")
    parser.add_argument("--output", required=True, type=Path, help="output file for the judgements, as JSON")


def run(arguments: argparse.Namespace) -> None:
    """Judge every claim and write claims.json."""
    availability = storage.read_json(arguments.availability)["datasets"]
    context = ledger.Context.of(arguments.study, availability, tables=arguments.tables, settings=arguments.settings)
    ledger.write(arguments.output, ledger.judge(ledger.load(), arguments.evidence, context), context)
