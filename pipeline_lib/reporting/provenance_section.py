"""Where do the numbers come from: software, command, seeds and configuration?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pipeline_lib.reporting.blocks import (
    Block,
    Definitions,
    Details,
    Listing,
    Note,
    Paragraph,
    Section,
)
from pipeline_lib.reporting.study import (
    Study,
    as_text,
)
from pipeline_lib.reporting.tables import Cell, Column, Table, simple, text


def provenance(study: Study, origins: Sequence[Block]) -> Section:
    """Where the numbers come from: versions, command, seeds and configuration, then ``origins`` for each experiment."""
    found = study.results.provenance()
    configuration = study.results.configuration()
    blocks: list[Block] = []
    if found:
        blocks.append(Definitions(tuple(_flattened(found))))
    else:
        blocks.append(Note("The study contains no record of its software: provenance.json is absent."))
    changes = study.results.changes()
    if changes:
        blocks.append(_changes(changes))
    elif configuration:
        blocks.append(Paragraph("All settings are those of the default study."))
    if configuration:
        blocks.append(Details("Configuration, as resolved (configuration.yaml)", (Listing(configuration),)))
    else:
        blocks.append(Note("The study contains no configuration: configuration.yaml is absent."))
    return Section("provenance", "Provenance", (*blocks, *origins))


def _changes(changes: Sequence[Mapping[str, Any]]) -> Table:
    """The settings that are not at their defaults, with their meaning."""
    columns = (
        Column("setting", "Setting", "left"),
        Column("default", "Default", "left"),
        Column("value", "In this study", "left"),
        Column("description", "Meaning", "left"),
    )
    rows = [
        [
            Cell(one["setting"], one["setting"]),
            text(_words(one["default"])),
            text(_words(one["value"])),
            text(one["description"].split(". ")[0]),
        ]
        for one in changes
    ]
    return simple("changes", "Settings that differ from the default study", "changes.json", columns, rows)


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
