"""Record a study: its configuration, its models, what it changes, and which data sets were available."""

import json
from collections.abc import Mapping
from typing import Annotated, Any

import yaml

from pipeline_lib import learners
from pipeline_lib.core import storage
from pipeline_lib.core.files import Output
from pipeline_lib.study.study_settings import ModelSettings, changes, section


def run(
    *,
    configuration: Annotated[Mapping[str, Any], "the merged configuration as JSON"],
    availability: Annotated[list[Mapping[str, Any]], "data sets, available or missing, as JSON", {"type": json.loads}],
    output_configuration: Annotated[Output, "output file for the configuration"],
    output_availability: Annotated[Output, "output file for the availability"],
    output_models: Annotated[Output, "output file for the list of models"],
    output_changes: Annotated[Output, "output file for the settings that are not at their defaults"],
    untrained: Annotated[Mapping[str, Any], "the models that cannot be trained, with the reasons, as JSON"] = {},
) -> None:
    """Write configuration.yaml, availability.json, models.json and changes.json."""
    storage.write_text(output_configuration, yaml.safe_dump(configuration, sort_keys=True, allow_unicode=True))
    storage.write_json(output_availability, {"datasets": availability})
    described = [describe(model, configuration, untrained.get(model["name"])) for model in configuration["models"]]
    storage.write_json(output_models, {"models": described})
    storage.write_json(output_changes, {"changes": [one._asdict() for one in changes(configuration)]})


def describe(model: Mapping[str, Any], config: Mapping[str, Any], untrained: str | None = None) -> dict[str, Any]:
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
