"""Write the documented default configuration and its JSON Schema from the classes of the settings."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

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
    schema = yaml.safe_dump(_brief(kind.model_json_schema()), sort_keys=True, allow_unicode=True, width=118)
    write_text(arguments.schema, SCHEMA_HEADER + schema)


def _brief(schema: Any) -> Any:
    """The schema without what says nothing new: titles made of names, and defaults of whole sections."""
    if isinstance(schema, list):
        return [_brief(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    left_out = {"title"} if isinstance(schema.get("title"), str) else set()
    if isinstance(schema.get("default"), dict) or (isinstance(schema.get("default"), list) and "items" in schema):
        left_out.add("default")
    return {key: _brief(value) for key, value in schema.items() if key not in left_out}
