"""How does a table with one data set a row become entries of a configuration, as sample sheets do in other workflows?

``datasets: my-sets.tsv`` names a table with tabs (``.tsv``) or commas (``.csv``). Its columns are keys of a data set's
entry (:class:`pipeline_lib.sources.own_settings.OwnDataSettings`), and an empty cell leaves a key out. Semicolons
separate the names of several files or columns. A row that has a name alone names a data set of the catalogue.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pipeline_lib.core.errors import ConfigurationError
from pipeline_lib.core.files import expanded
from pipeline_lib.sources.own_settings import SEPARATORS

__all__: list[str] = []  # internal: a configuration is checked as a whole (pipeline_lib.study.configuration)

LISTS = ("files", "train", "validation", "test", "ignore", "one_hot")
"""Columns whose cells may hold several names."""
BETWEEN = ";"


@dataclass(frozen=True)
class Sheet:
    """The entries of a table, and the line in which each stands."""

    path: str
    entries: tuple[str | dict[str, Any], ...]
    lines: tuple[int, ...]


def named(config: Mapping[str, Any]) -> Sheet | None:
    """The table that a configuration names in place of its data sets, if it names one.

    Raises
    ------
    ConfigurationError
        When there is no such table, or its columns or rows are none of a table.
    """
    given = config.get("datasets")
    if not (isinstance(given, str) and Path(given).suffix.lower() in SEPARATORS):
        return None
    return _read(given, expanded(given))


def _read(name: str, path: Path) -> Sheet:
    try:
        import pandas as pd
    except ModuleNotFoundError as error:
        raise ConfigurationError(
            f"datasets: the table {name} is read by pandas, which is not installed: `python -m pip install pandas`, or "
            "write the data sets as a list"
        ) from error
    try:
        # Every cell as it stands, and the names of columns as a row, so that the same name twice is seen.
        cells = pd.read_csv(
            path,
            sep=SEPARATORS[path.suffix.lower()],
            header=None,
            dtype=str,
            keep_default_na=False,
            skip_blank_lines=False,
            encoding="utf-8-sig",
        ).fillna("")
    except OSError as error:
        raise ConfigurationError(
            f"datasets: expected a readable table, found none: {name} ({error.strerror})"
        ) from error
    except (pd.errors.ParserError, pd.errors.EmptyDataError, UnicodeDecodeError) as error:
        raise ConfigurationError(
            f"{name}: expected a line of column names and a line for each data set, with as many cells, in UTF-8; "
            f"found something else ({str(error).strip()})"
        ) from error
    rows = [[cell.strip() for cell in row] for row in cells.itertuples(index=False, name=None)]
    columns = rows[0]
    if "name" not in columns or "" in columns or len(set(columns)) < len(columns):
        raise ConfigurationError(
            f"{name}, line 1: expected different names of columns, one of them 'name', found "
            f"{', '.join(map(repr, columns))}"
        )
    filled = [(line, row) for line, row in enumerate(rows[1:], start=2) if any(row)]
    if not filled:
        raise ConfigurationError(f"{name}, line 2: expected a line for each data set, found none")
    entries = tuple(_entry(dict(zip(columns, row, strict=True))) for _, row in filled)
    return Sheet(name, entries, tuple(line for line, _ in filled))


def _entry(cells: dict[str, str]) -> str | dict[str, Any]:
    given = {key: _value(key, cell) for key, cell in cells.items() if cell}
    return str(given["name"]) if set(given) == {"name"} else given


def _value(key: str, cell: str) -> str | list[str]:
    parts = [part.strip() for part in cell.split(BETWEEN)]
    # A column to ignore or to encode is a list of one; a single file may be named alone.
    return parts if key in ("ignore", "one_hot") or (key in LISTS and len(parts) > 1) else cell
