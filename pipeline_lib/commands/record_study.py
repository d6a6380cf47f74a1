"""Record a study: its configuration, its models, what it changes, and which data sets were available."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import yaml

from pipeline_lib import learners, storage
from pipeline_lib.files import write_text
from pipeline_lib.study_settings import ModelSettings, changes, section


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("--configuration", required=True, type=json.loads, help="the merged configuration as JSON")
    parser.add_argument(
        "--availability", required=True, type=json.loads, help="data sets, available or missing, as JSON"
    )
    parser.add_argument(
        "--untrained", default={}, type=json.loads, help="the models that cannot be trained, with the reasons, as JSON"
    )
    parser.add_argument("--output-configuration", required=True, type=Path, help="output file for the configuration")
    parser.add_argument("--output-availability", required=True, type=Path, help="output file for the availability")
    parser.add_argument("--output-models", required=True, type=Path, help="output file for the list of models")
    parser.add_argument(
        "--output-changes", required=True, type=Path, help="output file for the settings that are not at their defaults"
    )


def run(arguments: argparse.Namespace) -> None:
    """Write configuration.yaml, availability.json, models.json and changes.json."""
    config = arguments.configuration
    write_text(arguments.output_configuration, yaml.safe_dump(config, sort_keys=True, allow_unicode=True))
    storage.write_json(arguments.output_availability, {"datasets": arguments.availability})
    described = [describe(model, config, arguments.untrained.get(model["name"])) for model in config["models"]]
    storage.write_json(arguments.output_models, {"models": described})
    storage.write_json(arguments.output_changes, {"changes": [one._asdict() for one in changes(config)]})


def describe(model: dict[str, Any], config: dict[str, Any], untrained: str | None = None) -> dict[str, Any]:
    """One model of the study for the report: its learner and surrogate, its settings, and why it is not trained.

    Example
    -------
    >>> describe({"name": "x", "algorithm": "random"}, {})["control"]
    True
    >>> describe({"name": "x", "algorithm": "lambdamart"}, {}, "lightgbm is not installed")["untrained"]
    'lightgbm is not installed'
    """
    learner, surrogate = learners.get(model["algorithm"]), model.get("surrogate")
    overrides = {key: value for key, value in model.items() if key not in ModelSettings.model_fields}
    return {
        "model": model["name"],
        "title": model.get("title") or model["name"],
        "algorithm": model["algorithm"],
        "surrogate": surrogate,
        "options": model.get("options", {}),
        "control": learner.control,
        "settings": {**config.get(section(model["algorithm"]), {}), **overrides},
        "published": model.get("published"),
        **({} if untrained is None else {"untrained": untrained}),
    }
