"""The expressions over the columns of a table that claims are read by, evaluated by SQLite.

They are written for Polars, whose SQL differs in a few words. What differs is translated word by word:

- Columns have names that tell capital from small letters: every column has a number here.
- The quotient of two whole numbers is a fraction there: ``a / b`` becomes ``a * 1.0 / b``; ``//`` is whole division.
- A summary in a condition or in a further column is that of all rows: it becomes a window over all of them.
- ``settings.NAME`` is a setting of the experiment: it becomes its value.
"""

import json
import re
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import Any

import polars as pl

WORDS = re.compile(r"""'(?:[^']|'')*'|"(?:[^"]|"")*"|settings\.\w+|(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|\w+|\s+|//|.""")
SUMMARIES = ("MAX", "MIN", "SUM", "COUNT", "AVG", "FIRST")
RENAMED = {"FIRST": "FIRST_OF", "LEFT": "LEFT_PART", "ARRAY_GET": "ELEMENT", "STRPOS": "INSTR"}

PARENT = "part before"
"""The column with the number of the part that was divided."""


class Database:
    """A database in memory, with the functions that SQLite does not have.

    Example
    -------
    >>> rows = Database().rows(pl.DataFrame({"m": [2, 3], "M": [0.5, 4.0]}), {"delta": 0.5})
    >>> rows.values("MAX(m) / 2 + settings.delta")
    {0: [2.0]}
    >>> rows.by({"the m": "m"}).values("MAX(M)")
    {0: [0.5], 1: [4.0]}
    """

    def __init__(self) -> None:
        self.connection = sqlite3.connect(":memory:")
        self.connection.execute("PRAGMA case_sensitive_like = 1")
        self.connection.execute("PRAGMA temp_store = MEMORY")
        self._names = (f"t{number}" for number in count())
        for name, arguments, function in (
            ("STARTS_WITH", 2, lambda text, start: text.startswith(start)),
            ("CONCAT", -1, lambda *texts: "".join("" if text is None else str(text) for text in texts)),
            ("GREATEST", -1, lambda *numbers: max((one for one in numbers if one is not None), default=None)),
            ("LEFT_PART", 2, lambda text, length: text[:length]),
            ("SPLIT_PART", 3, lambda text, mark, place: _element(text.split(mark), place, "")),
            ("ELEMENT", 2, lambda text, place: _element(json.loads(text), place, None)),
            ("STRING_TO_ARRAY", 2, lambda text, mark: json.dumps(text.split(mark))),
            ("ARRAY_LENGTH", 1, lambda text: len(json.loads(text))),
        ):
            self.connection.create_function(name, arguments, function, deterministic=True)
        self.connection.create_aggregate("FIRST_OF", 1, _FirstOf)  # type: ignore[arg-type]

    def rows(self, frame: pl.DataFrame, settings: Mapping[str, Any]) -> "Rows":
        """The rows of a table, all in one part."""
        columns = {name: f"c{number}" for number, name in enumerate(frame.columns)}
        table, places = next(self._names), ", ".join("?" * (2 + len(columns)))
        self.connection.execute(f"CREATE TEMP TABLE {table} (position, part, {', '.join(columns.values())})")
        numbered = ((i, 0, *row) for i, row in enumerate(frame.iter_rows()))
        self.connection.executemany(f"INSERT INTO {table} VALUES ({places})", numbered)
        return Rows(self, table, columns, settings)

    def kept(self, query: str) -> str:
        """Keep what a query selects, in the order of the rows; returns the name of the table."""
        table = next(self._names)
        self.connection.execute(f"CREATE TEMP TABLE {table} AS SELECT * FROM ({query}) ORDER BY position")
        return table


@dataclass(frozen=True)
class Rows:
    """Rows of a table in a database, in parts, each of which is summarised by itself.

    A part has the number of its first row.
    """

    database: Database
    table: str
    columns: Mapping[str, str]
    settings: Mapping[str, Any]

    def with_column(self, name: str, text: str) -> "Rows":
        """The same rows with one more column, or another of the same name."""
        column = f"c{len(self.columns)}"
        others = {one: column for one, column in self.columns.items() if one != name}
        if name in self.columns:  # its number is free
            column = self.columns[name]
        chosen = ", ".join(("position", "part", *others.values()))
        query = f"SELECT {chosen}, {self._translated(text, of_part=True)} AS {column} FROM {self.table}"
        return replace(self, table=self.database.kept(query), columns={**others, name: column})

    def where(self, text: str | None) -> "Rows":
        """The rows that meet a condition, with those of the part."""
        if text is None:
            return self
        condition = self._translated(text, of_part=True)
        chosen = ", ".join(("position", "part", *self.columns.values()))
        query = f"SELECT {chosen} FROM (SELECT *, {condition} AS kept FROM {self.table}) WHERE kept"
        return replace(self, table=self.database.kept(query))

    def by(self, keys: Mapping[str, str]) -> "Rows":
        """Divide every part by the values of some expressions, which become columns; see :data:`PARENT`."""
        made = [self._translated(text, of_part=True) for text in keys.values()] + ["part"]
        numbers = [f"c{len(self.columns) + i}" for i in range(len(made))]
        chosen = ", ".join(f"{text} AS {number}" for text, number in zip(made, numbers, strict=True))
        own = ", ".join(("position", *self.columns.values()))
        query = (
            f"SELECT {own}, {', '.join(numbers)}, MIN(position) OVER (PARTITION BY {', '.join(numbers)}) AS part "
            f"FROM (SELECT {own}, {chosen} FROM {self.table})"
        )
        columns = {**self.columns, **dict(zip((*keys, PARENT), numbers, strict=True))}
        return replace(self, table=self.database.kept(query), columns=columns)

    def parts(self) -> list[int]:
        """The numbers of the parts, in the order in which they first appear."""
        return [
            part for (part,) in self.database.connection.execute(f"SELECT DISTINCT part FROM {self.table} ORDER BY 1")
        ]

    def values(self, text: str) -> dict[int, list[Any]]:
        """What an expression gives in every part, each value once: one value where it is a summary."""
        summarised = any(_summaries(WORDS.findall(text)))
        query = f"SELECT {'' if summarised else 'DISTINCT'} part, {self._translated(text)} FROM {self.table}"
        found: dict[int, list[Any]] = {}
        for part, value in self.database.connection.execute(query + (" GROUP BY part" if summarised else "")):
            found.setdefault(part, []).append(value)
        return dict(sorted(found.items()))

    def _translated(self, text: str, *, of_part: bool = False) -> str:
        """The expression as SQLite has it; with ``of_part`` every row has the summaries of its part."""
        if text in self.columns:
            return self.columns[text]
        words = WORDS.findall(text)
        over = {end: place for place, end in _summaries(words)} if of_part else {}
        found = []
        for i, word in enumerate(words):
            found.append(self._word(word, is_call=_next(words, i) == "("))
            if i in over:
                found.append(" OVER (PARTITION BY part)")
        if of_part:
            for place in over.values():
                found[place] = "FIRST_VALUE" if words[place] == "FIRST" else found[place]
        return "".join(found)

    def _word(self, word: str, *, is_call: bool) -> str:
        if word.startswith("settings."):
            return _literal(self.settings[word.partition(".")[2]])
        if word.startswith('"') and (name := word[1:-1].replace('""', '"')) in self.columns:
            return self.columns[name]
        if is_call:
            return RENAMED.get(word, word)
        return self.columns.get(word, {"/": "* 1.0 /", "//": "/"}.get(word, word))


class _FirstOf:
    """The first of some values, in the order in which they come."""

    def __init__(self) -> None:
        self.values: list[Any] = []

    def step(self, value: Any) -> None:
        self.values = self.values or [value]

    def finalize(self) -> Any:
        return self.values[0] if self.values else None


def _element(elements: Sequence[Any], place: int, otherwise: Any) -> Any:
    """The element at a place, counted from 1, or from the end if it is negative."""
    return elements[place - (place > 0)] if 0 < abs(place) <= len(elements) else otherwise


def _next(words: Sequence[str], place: int) -> str:
    return next((word for word in words[place + 1 :] if word.strip()), "")


def _summaries(words: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Where the summaries of an expression begin and end that are no windows already."""
    for place, word in enumerate(words):
        if word in SUMMARIES and _next(words, place) == "(":
            depth = 0
            for end in range(place + 1, len(words)):
                depth += (words[end] == "(") - (words[end] == ")")
                if words[end] == ")" and depth == 0:
                    break
            if _next(words, end) != "OVER":
                yield place, end


def _literal(value: Any) -> str:
    """A setting as a literal of SQL; a list as the text of JSON."""
    if value is None:
        return "NULL"
    if isinstance(value, bool | int | float):
        return repr(float(value) if isinstance(value, float) else int(value))
    return "'" + (value if isinstance(value, str) else json.dumps(value)).replace("'", "''") + "'"
