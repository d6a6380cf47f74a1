"""Where do the numbers come from: software, command, seeds and configuration?"""

from collections.abc import Mapping
from typing import Any

from pipeline_lib.report.study import Study, as_text


def given(study: Study) -> dict[str, Any]:
    """What the template shows: versions, command and seeds, settings that are not at their defaults, configuration."""
    changes = [
        {
            "setting": one["setting"],
            "default": _words(one["default"]),
            "value": _words(one["value"]),
            "description": one["description"].split(". ")[0],
        }
        for one in study.results.changes()
    ]
    recorded = _flattened(study.results.provenance())
    return {"recorded": recorded, "changes": changes, "configuration": study.results.configuration()}


def _words(value: Any) -> str:
    """A setting as it is printed; names without quotation marks."""
    return (
        ", ".join(value) if isinstance(value, list) and all(isinstance(one, str) for one in value) else as_text(value)
    )


def _flattened(found: Mapping[str, Any], prefix: str = "") -> list[tuple[str, str]]:
    entries: list[tuple[str, str]] = []
    for key, value in found.items():
        name = f"{prefix}{key}"
        if isinstance(value, Mapping) and value:
            entries += _flattened(value, f"{name} / ")
        else:
            entries.append((name, as_text(value)))
    return entries
