"""Small settings of the experiments of slam, and what is judged on their rows."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests import readings
from tests.small_settings import SETTINGS

SMALL = SETTINGS["slam"]


def parsed(name: str, kind: Any, **changes: Any) -> Any:
    return kind.parse({**SMALL[name], **changes})


def judged(claim: str, tables: Mapping[str, Sequence[Mapping[str, Any]]], name: str, folder: Path) -> tuple[str, bool]:
    """The status of a claim, and whether all that is planted is caught."""
    found = readings.judged(claim, tables, SMALL[name], folder)
    assert found.severity is not None
    return found.status, all(plant.caught for plant in found.severity.planted)
