"""The numbers of cards, from the tables that their claims name.

What is read from which table stands in the ledgers, ``claims.yaml`` of every topic; here it is evaluated by SQLite.
"""

import re
import sqlite3
from collections import defaultdict
from collections.abc import Iterator, Mapping
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from string import Formatter
from typing import Any

from pipeline_lib.recompute.comparison import Comparison, listed
from pipeline_lib.recompute.expressions import PARENT, Database, Rows
from pipeline_lib.recompute.study import PAPERS, Study, plain

KEYS = ("table", "columns", "where", "axes", "setting", "values", "named_by", "value", "freedom", "notes")
"""The keys of what is read from a table; an entry that begins with another key begins with its table and condition."""
NO_TRIALS = "cards without trials"
NOT_IN_SQLITE = "cards that are read by an expression that SQLite does not evaluate"
Entry = Mapping[str, Any]


def compare(study: Study, found: Comparison) -> None:
    """Compare the settings, values and notes of every judged claim with what its table gives."""
    database = Database()
    tables: dict[str, Rows] = {}
    judged = {claim["id"]: claim for claim in study.claims}
    for name, claim in ledger():
        published = judged.get(name)
        if published is None or not published["trials"]:
            found.leave(NO_TRIALS, "cards", [name])
            continue
        trials, notes = [], []
        try:
            for entry in listed(claim["evidence"]):
                reading = _reading(entry)
                table = reading["table"]
                if not study.has(table):
                    continue
                if table not in tables:
                    tables[table] = database.rows(study.table(table), study.settings(table))
                again, noted = _read(reading, tables[table])
                trials += again
                notes += [noted] if noted and noted not in notes else []
        except sqlite3.OperationalError as error:
            found.leave(NOT_IN_SQLITE, name, [str(error)])
            continue
        _compare(found, published, trials, " ".join(notes))


def ledger() -> Iterator[tuple[str, Entry]]:
    """Every claim of the ledgers: its name, and its entry."""
    for path in sorted(PAPERS.glob("*/*/claims.yaml")):
        for entry in plain(path)["claims"]:
            yield entry.get("id", next(iter(entry))), entry


def _compare(found: Comparison, published: Entry, trials: list[tuple[Entry, Entry]], notes: str) -> None:
    name = f"card {published['id']}"
    stored = published["trials"]
    found.cell(name, "", "trials", len(stored), len(trials))
    for number, (one, (setting, values)) in enumerate(zip(stored, trials, strict=False), 1):
        where = place(number, one["setting"])
        for column in dict.fromkeys((*one["setting"], *setting)):
            found.cell(name, where, column, one["setting"].get(column), setting.get(column))
        for column in dict.fromkeys((*one["values"], *values)):
            found.cell(name, where, column, one["values"].get(column), values.get(column))
    found.cell(name, "", "notes", published["notes"], notes)


def place(number: int, setting: Entry) -> str:
    """A trial by its number and its setting.

    Example
    -------
    >>> place(2, {"m": 5, "loss": "hinge"})
    'trial 2, m = 5, loss = hinge'
    """
    return ", ".join([f"trial {number}", *(f"{axis} = {label}" for axis, label in setting.items())])


def _reading(entry: Entry) -> Entry:
    """An entry with all keys that it means."""
    first = next(iter(entry))
    if first not in KEYS:
        entry = {"table": first, "where": entry[first], **{key: entry[key] for key in entry if key != first}}
    return entry


def _read(entry: Entry, rows: Rows) -> tuple[list[tuple[Entry, Entry]], str]:
    """The settings and values of all trials, and the notes on them."""
    for name, text in entry.get("columns", {}).items():
        rows = rows.with_column(name, str(text))
    rows = rows.where(entry.get("where"))
    if not rows.parts():
        return [], ""
    axes = _named(entry.get("axes", {}))
    trials = rows.by({f"axis {axis}": text for axis, text in axes.items()})
    setting = {axis: trials.values(f"axis {axis}") for axis in axes}
    setting |= {name: trials.values(str(text)) for name, text in entry.get("setting", {}).items()}
    values = _values(entry, trials)
    read: list[tuple[Entry, Entry]] = [
        (
            {name: label for name, of_part in setting.items() if (label := _same(of_part[part])) is not None},
            {name: of_part[part] for name, of_part in values.items() if part in of_part},
        )
        for part in trials.parts()
    ]
    return read, _noted(rows, entry.get("notes", ""))


def _values(entry: Entry, trials: Rows) -> Mapping[str, Mapping[int, Any]]:
    """Every value of every trial, by the numbers of the trials."""
    freedom = entry.get("freedom")
    if "values" in entry:
        measured = {name: _measured(text) for name, text in _named(entry["values"]).items()}
        return {name: _numbers(one, trials.where(one.get("where")), freedom) for name, one in measured.items()}
    named: dict[str, dict[int, Any]] = defaultdict(dict)
    rows = trials.by({"name of the value": entry.get("named_by", "statistic")})
    names, of_trial = rows.values("name of the value"), rows.values(PARENT)
    for part, number in _numbers(_measured(entry.get("value", "value")), rows, freedom).items():
        named[_same(names[part])][_same(of_trial[part])] = number
    return named


def _numbers(one: Entry, rows: Rows, freedom: str | None) -> Mapping[int, Any]:
    texts = [str(text) for text in listed(one["value"])]
    stated = one.get("freedom", freedom)
    if len(texts) > 1 and stated is not None:
        texts.append(str(stated))
    columns = [rows.values(text) for text in texts]
    numbers = {part: [_same(column[part]) for column in columns] for part in columns[0]}
    return {part: ends if len(texts) > 1 else ends[0] for part, ends in numbers.items()}


def _same(found: list[Any]) -> Any:
    """What is the same in all rows; all of it, if it is not."""
    return found[0] if len(found) == 1 else found


def _measured(entry: Any) -> Entry:
    return entry if isinstance(entry, Mapping) else {"value": entry}


def _named(entry: Any) -> Mapping[str, Any]:
    """A mapping that may be written as a list, in which a name alone is that of a column."""
    if isinstance(entry, Mapping):
        return {name: text if isinstance(text, Mapping | list) else str(text) for name, text in entry.items()}
    named: dict[str, Any] = {}
    for one in entry:
        named |= _named(one) if isinstance(one, Mapping) else {one: f'"{one}"'}
    return named


def _noted(rows: Rows, template: str) -> str:
    """The sentence with the numbers of its expressions."""
    written = ""
    for literal, text, form, _ in Formatter().parse(template):
        written += literal + ("" if text is None else _written(_same(rows.values(text)[0]), form or "", literal))
    return written


def _written(number: Any, form: str, before: str) -> str:
    """The number in the format; digits are cut downwards behind "at least", upwards behind "at most" and "up to"."""
    fixed = re.fullmatch(r"(,?)\.(\d)([f%g])", form)
    words = re.search(r"\b(at least|at most|up to) $", before)
    if fixed is None or words is None:
        return format(number, form)
    exact = Decimal(f"{number:.9g}")
    last = {"f": 0, "%": -2, "g": exact.adjusted() + 1}[fixed[3]] - int(fixed[2])
    towards = ROUND_FLOOR if words[1] == "at least" else ROUND_CEILING
    return format(float(exact.quantize(Decimal(1).scaleb(last), rounding=towards)) + 0.0, form)
