"""Write the documented default configuration and its JSON Schema from the classes of the settings."""

from __future__ import annotations

import argparse
from pathlib import Path

import yaml

from pipeline_lib.configuration_text import document
from pipeline_lib.files import write_text
from pipeline_lib.study_settings import study_settings

SCHEMA_HEADER = "# The configuration of a study; written by `make config` from the classes of the settings.\n"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("--configuration", required=True, type=Path, help="where the YAML goes")
    parser.add_argument("--schema", required=True, type=Path, help="where the JSON Schema goes, as YAML")


def run(arguments: argparse.Namespace) -> None:
    """Write both files."""
    kind = study_settings()
    write_text(arguments.configuration, document(kind.parse({})))
    schema = yaml.safe_dump(kind.model_json_schema(), sort_keys=True, allow_unicode=True, width=118)
    write_text(arguments.schema, SCHEMA_HEADER + schema)
