"""Where do the numbers come from: software, command, seeds and configuration?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pipeline_lib.reporting.blocks import (
    Block,
    Definitions,
    Details,
    Listing,
    Note,
    Section,
)
from pipeline_lib.reporting.study import (
    Study,
    as_text,
)


def provenance(study: Study) -> Section:
    """Where the numbers come from: versions, command, seeds and configuration."""
    found = study.results.provenance()
    configuration = study.results.configuration()
    blocks: list[Block] = []
    if found:
        blocks.append(Definitions(tuple(_flattened(found))))
    else:
        blocks.append(Note("The study contains no record of its software: provenance.json is absent."))
    if configuration:
        blocks.append(Details("Configuration, as resolved (configuration.yaml)", (Listing(configuration),)))
    else:
        blocks.append(Note("The study contains no configuration: configuration.yaml is absent."))
    return Section("provenance", "Provenance", tuple(blocks))


def _flattened(found: Mapping[str, Any], prefix: str = "") -> list[tuple[str, str]]:
    entries: list[tuple[str, str]] = []
    for key, value in found.items():
        name = f"{prefix}{key}"
        if isinstance(value, Mapping) and value:
            entries += _flattened(value, f"{name} / ")
        else:
            entries.append((name, as_text(value)))
    return entries
