"""How is what a command of this folder has measured kept? As a table next to it."""

from __future__ import annotations

import csv
import io
import typing
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from pipeline_lib.core.files import write_text

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    Row = TypeVar("Row", bound=DataclassInstance)


def read(path: Path, kind: type[Row]) -> list[Row]:
    """The rows of a table, in its order; none where nothing has been measured yet."""
    if not path.exists():
        return []
    types = typing.get_type_hints(kind)
    with path.open(encoding="utf-8", newline="") as handle:
        return [kind(**{name: types[name](text) for name, text in row.items()}) for row in csv.DictReader(handle)]


def write(path: Path, kind: type[Row], rows: Iterable[Row]) -> None:
    """Write the rows as a table with a column for each field."""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(kind.__dataclass_fields__), lineterminator="\n")
    writer.writeheader()
    writer.writerows(map(asdict, rows))
    write_text(path, text.getvalue())
