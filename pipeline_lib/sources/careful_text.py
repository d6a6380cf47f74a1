"""How is a table of text read so that a wrong value hides no other?

Arrow stops at the first value that it cannot read. Where it has stopped, this module reads the table once more, value
by value, to say of each what is wrong.
"""

import csv
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pipeline_lib.data import columns
from pipeline_lib.data.derived import ABSENT
from pipeline_lib.data.problems import Rows
from pipeline_lib.sources.compression import text_lines

__all__: list[str] = []  # internal: what comes here was checked before (see pipeline_lib.core.checks)

_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
_INFINITE = re.compile(r"[+-]?inf(inity)?", re.IGNORECASE)
_ROWS = 4096


def pieces(path: Path, separator: str, chosen: columns.Roles) -> Iterator[tuple[Rows, Any]]:
    """Some rows of a table at a time as numbers, and what is wrong in them so far."""
    names: list[str] = []
    numbers: list[int] = []
    cells: list[list[str]] = []
    rows = _rows(path, numbers)
    for number, line in enumerate(text_lines(path), start=1):
        if line == "\n":
            continue
        row = next(csv.reader([line], delimiter=separator))
        if not names:
            names = list(map(_decoded, row))
        elif len(row) != len(names):
            what = f"{path}:{number}: expected {len(names)} columns, found {len(row)}"
            rows.found.append((len(cells), "columns", what))
        else:
            numbers.append(number)
            cells.append(row)
        if len(cells) == _ROWS:
            yield rows, _table(rows, names, cells, chosen)
            numbers, cells = [], []
            rows = _rows(path, numbers)
    yield rows, _table(rows, names, cells, chosen)


def _rows(path: Path, numbers: list[int]) -> Rows:
    return Rows(lambda row: f"{path}:{numbers[row]}")


def _decoded(text: str) -> str:
    return text.encode("latin-1").decode("utf-8", "backslashreplace")


def _table(rows: Rows, names: list[str], cells: list[list[str]], chosen: columns.Roles) -> Any:
    import pyarrow as pa

    place = {name: index for index, name in enumerate(names)}
    columns_read: dict[str, Any] = {}
    for name in (name for name in (chosen.label, chosen.weight, *chosen.features) if name is not None):
        column = [row[place[name]] for row in cells]
        columns_read[name] = pa.array(
            [_value(rows, index, name, text) for index, text in enumerate(column)], pa.float64()
        )
    for name in (chosen.query, *([chosen.documents] if chosen.documents else []), *chosen.one_hot):
        texts = [_text(rows, index, name, row[place[name]]) for index, row in enumerate(cells)]
        columns_read[name] = pa.array(texts, pa.string())
    return pa.table(columns_read)


def _text(rows: Rows, index: int, name: str, text: str) -> str:
    try:
        return text.encode("latin-1").decode("utf-8")
    except UnicodeDecodeError:
        expected = f"expected text in the column {name!r}, found bytes that are not UTF-8"
        rows.found.append((index, name, f"{rows(index)}: {expected}"))
        return f"{index}"


def _value(rows: Rows, index: int, name: str, text: str) -> float | None:
    if text in ABSENT:
        return None
    text = text.strip(" \t")
    if _NUMBER.fullmatch(text) or _INFINITE.fullmatch(text):
        return float(text)
    advice = columns.NO_NUMBER
    if _NUMBER.fullmatch(text.replace(",", ".")):
        advice = "write decimals with a point"
    shown = repr(_decoded(text)[:40])
    rows.found.append(
        (index, name, f"{rows(index)}: expected a number in the column {name!r}, found {shown}; {advice}")
    )
    return 0.0
