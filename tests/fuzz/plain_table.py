"""CSV and TSV read character by character, as ``docs/your-own-data.md`` and ``pipeline_lib.sources.tables`` have it."""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .plain_letor import NUMBER, PLAIN_WHOLE, label_of, single
from .verdict import Refused

LABELS = ("label", "relevance", "rel", "grade", "y")
QUERIES = ("qid", "query_id", "query", "topic")
MISSING = ("", "NA", "nan", "NaN", "null", "NULL", "N/A")
DOCUMENTS = ("docid", "doc_id", "docno")


def rows(text: bytes, separator: str, where: object) -> Iterator[tuple[int, list[bytes]]]:
    """Every row with the number of the line in which it begins; a character stands for a byte."""
    signs = text.removeprefix(b"\xef\xbb\xbf").decode("latin-1") + "\n"
    values, value, line, begun, within, first = [], "", 1, 1, False, True
    place = 0
    while place < len(signs):
        sign = signs[place]
        place += 1
        ends = sign == "\n" or (sign == "\r" and signs[place : place + 1] != "\n")
        line += ends
        if sign == "\r" and not ends and not within:
            continue  # the line ends with the next character
        if within:
            if sign in "\r\n":
                raise Refused(f"{where}:{begun}: ")
            if sign == '"' and signs[place : place + 1] == '"':
                value += '"'
                place += 1
            elif sign == '"':
                within = False
            else:
                value += sign
        elif sign == '"' and first:
            within, first = True, False
        elif sign == separator or ends:
            if sign == separator or values or value or not first:  # an empty line is no row
                values.append(value.encode("latin-1"))
            if ends and values:
                yield begun, values
                values = []
            if ends:
                begun = line
            value, first = "", True
        else:
            value += sign
            first = False
    if within:
        raise Refused(f"{where}:{begun}: ")


@dataclass
class Table:
    """What a table contains, a value for each document."""

    names: list[str]
    y: list[int]
    queries: list[str]
    values: list[dict[str, np.float32]]
    categories: list[dict[str, str]] = field(default_factory=list)


def read(
    text: bytes,
    separator: str,
    where: object,
    *,
    label: str | None = None,
    query: str | None = None,
    ignore: tuple[str, ...] = (),
    one_hot: tuple[str, ...] = (),
    labels: str = "whole",
    missing: bool = False,
    extreme: str = "refuse",
    of_names: list[list[str]] | None = None,
) -> Table:
    """Read a whole table; the refusal names every line with a fault. ``of_names`` gets the names of the features."""
    if text.startswith((b"\xff\xfe", b"\xfe\xff")):  # the marks of UTF-16
        raise Refused(f"{where}:1: ")
    first = re.split(rb"\r|\n", text.removeprefix(b"\xef\xbb\xbf"), maxsplit=1)[0].decode("latin-1")
    if separator not in first and set(",;|\t") & set(first):  # names that something else separates
        raise Refused(f"{where}:1: ")
    header, *body = list(rows(text, separator, where)) or [(1, [])]
    somewhere = Refused(f"{where}:")
    try:
        names = [name.decode() for name in header[1]]
    except UnicodeDecodeError:
        raise somewhere from None
    if "" in names or len(set(names)) < len(names) or not {*ignore, *one_hot} <= set(names):
        raise somewhere
    if any(f"{name} missing".startswith(f"{one} = ") for name in names if name not in ignore for one in one_hot):
        raise somewhere
    of_labels = [name for name in names if (name == label if label else name.lower() in LABELS)]
    of_queries = [name for name in names if (name == query if query else name.lower() in QUERIES)]
    if len(of_labels) != 1 or len(of_queries) != 1:
        raise somewhere
    rest = [name for name in names if name not in (*of_labels, *of_queries, *ignore, *one_hot)]
    features = [name for name in rest if name.lower() not in DOCUMENTS]
    if not (features or one_hot) or len(rest) - len(features) > 1:
        raise somewhere
    found = Table(features, [], [], [])
    if of_names is not None:
        of_names.append(features)
    roles = (of_labels[0], of_queries[0])
    faults = [line for line, cells in body if not _row(found, names, cells, *roles, one_hot, labels, missing, extreme)]
    if faults or not body:
        raise Refused(*(f"{where}:{line}: " for line in faults), *([f"{where}:"] if not body else []))
    return found


def _row(
    found: Table,
    names: list[str],
    cells: list[bytes],
    label: str,
    of_queries: str,
    one_hot: tuple[str, ...],
    labels: str,
    missing: bool,
    extreme: str,
) -> bool:
    """Add a row; false if it breaks the format. A value that may be missing is NaN."""
    if len(cells) != len(names):
        return False
    row = dict(zip(names, cells, strict=True))
    numbers = {name: _number(row[name]) for name in (label, *found.names)}
    grade = None if (number := numbers[label]) is None else label_of(number, labels)
    there = {name: text for name in found.names if (text := numbers[name]) is not None}
    # A number beyond float64 is inf in a table, which is an error.
    values = {name: single(text, "refuse" if math.isinf(float(text)) else extreme) for name, text in there.items()}
    good = grade is not None and not any(map(np.isinf, values.values()))
    if missing:
        values |= {name: np.float32(np.nan) for name in found.names if row[name].decode("latin-1") in MISSING}
    good = good and len(values) == len(found.names)
    try:
        found.categories.append({name: row[name].decode() for name in one_hot})
        query = row[of_queries].decode()
    except UnicodeDecodeError:
        return False
    good = good and query != "" and (query not in found.queries or found.queries[-1] == query)
    found.queries.append(query)
    found.y.append(grade or 0)
    found.values.append(values)
    return good


def _number(cell: bytes) -> str | None:
    text = cell.decode("latin-1").strip(" \t")
    return text if re.fullmatch(NUMBER, text) else None


def filled(found: Table, missing: str) -> None:
    """Put 0, or the mean of the query, where values are missing, and marks of where that is."""
    means = {}
    for query in set(found.queries):
        of_query = [values for values, other in zip(found.values, found.queries, strict=True) if other == query]
        for name in found.names:
            there = [float(values[name]) for values in of_query if not np.isnan(values[name])]
            means[query, name] = np.float32(sum(there) / len(there)) if there and missing != "zero" else np.float32(0)
    for values, query in zip(found.values, found.queries, strict=True):
        marks = {f"{name} missing": np.float32(np.isnan(values[name])) for name in found.names}
        values |= {name: means[query, name] for name in found.names if np.isnan(values[name])}
        values |= marks


def textual(queries: list[Any]) -> bool:
    """Whether queries are named by text and not by whole numbers."""
    return not all(PLAIN_WHOLE.fullmatch(query) for query in queries)


def encoded(tables: list[Table], one_hot: tuple[str, ...]) -> list[str]:
    """Put a value of 0 or 1 for each category that stands in any of some tables, and name these."""
    names = []
    for column in one_hot:
        of_column = {row[column] for one in tables for row in one.categories} - set(MISSING)
        for value in sorted(of_column):
            names.append(f"{column} = {value}")
            for one in tables:
                for values, row in zip(one.values, one.categories, strict=True):
                    values[names[-1]] = np.float32(row[column] == value)
    return names
