"""Which trials does a table hold for a claim, by what the ledger says of it?

A claim whose numbers stand in tables says under ``evidence`` where: the table, the rows that count, the axes by which
they fall into trials, and the values of every trial. What is written there are expressions of SQL (those that
:func:`polars.sql_expr` reads) over the columns of the table, so that no experiment needs code for it::

    evidence:
      table: topk-curves
      where: "round = MAX(round) AND panel = 'as-printed'"
      axes: [dataset]
      setting: {T: MAX(round)}
      values:
        ranksvm: {where: "learner = 'ranksvm'", value: [ndcg, low, high]}
      notes: "The last of {MAX(round):,} rounds."

The settings of the experiment that made the table are the fields of ``settings``, as in ``settings.seeds``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from string import Formatter
from typing import TYPE_CHECKING, Any

from pipeline_lib.claims.evidence import Interval, Label, Trial, Value
from pipeline_lib.errors import ConfigurationError, DataError

if TYPE_CHECKING:
    import polars as pl

SETTINGS = "settings"
"""The column whose fields are the settings of the experiment."""


@dataclass(frozen=True)
class Measured:
    """One value of a trial: a number, or the three numbers of an interval, read from some rows of the trial.

    ``optional`` values are left out of trials that have no such row. ``freedom`` is the expression for the degrees of
    freedom of the interval, empty for a normal quantile.
    """

    expressions: tuple[str, ...]
    where: str = ""
    optional: bool = False
    freedom: str = ""

    @classmethod
    def of(cls, entry: Any, freedom: str) -> Measured:
        """Take a value as the ledger writes it: an expression, a list of three, or a mapping with ``value``.

        ``freedom`` is what the reading says of all its intervals.
        """
        given = entry if isinstance(entry, Mapping) else {"value": entry}
        expressions = _listed(given["value"])
        freedom = str(given.get("freedom", freedom)) if len(expressions) > 1 else ""
        return cls(expressions, given.get("where", ""), given.get("optional", False), freedom)


@dataclass(frozen=True)
class Reading:
    """What the ledger says of the trials in one table, key by key (docs/claims.md explains the keys)."""

    table: str
    columns: Mapping[str, str] = field(default_factory=dict)
    where: str = ""
    axes: Mapping[str, str] = field(default_factory=dict)
    setting: Mapping[str, str] = field(default_factory=dict)
    values: Mapping[str, Measured] = field(default_factory=dict)
    named_by: str = ""
    named: Measured | None = None
    notes: str = ""

    def __post_init__(self) -> None:
        try:
            expressions = list(self.expressions())
        except ValueError as error:
            raise ConfigurationError(
                f"notes: expected expressions in braces, found {self.notes!r} ({error})"
            ) from error
        for text in expressions:
            if re.search(r"\bFILTER\s*\(", text, re.IGNORECASE):
                # Some versions of polars leave it out without a word.
                raise ConfigurationError(f"expected CASE WHEN ... THEN ... END in place of FILTER, found {text!r}")

    @classmethod
    def of(cls, entry: Mapping[str, Any]) -> Reading:
        """Take an entry of the ledger that was validated against the schema.

        Raises
        ------
        ConfigurationError
            When the braces of the notes do not match, or an expression has a clause that not all versions know.
        """
        axes, freedom = entry.get("axes", ()), str(entry.get("freedom", ""))
        return cls(
            table=f"tables/{entry['table']}",
            columns=_texts(entry.get("columns", {})),
            where=entry.get("where", ""),
            axes=_texts(axes if isinstance(axes, Mapping) else {axis: f'"{axis}"' for axis in axes}),
            setting=_texts(entry.get("setting", {})),
            values={name: Measured.of(value, freedom) for name, value in entry.get("values", {}).items()},
            named_by=entry.get("named_by", ""),
            named=Measured.of(entry["value"], freedom) if "value" in entry else None,
            notes=entry.get("notes", ""),
        )

    def expressions(self) -> Iterator[str]:
        """Every expression, those of ``columns`` first."""
        yield from self.columns.values()
        yield from filter(None, (self.where, self.named_by))
        yield from (*self.axes.values(), *self.setting.values())
        for measured in (*self.values.values(), *filter(None, [self.named])):
            yield from (*measured.expressions, *filter(None, [measured.where, measured.freedom]))
        yield from (text for _, text, _, _ in Formatter().parse(self.notes) if text)

    @property
    def needs_settings(self) -> bool:
        """Whether an expression looks at the settings of the experiment."""
        return any(re.search(rf"\b{SETTINGS}\.", text) for text in self.expressions())

    def trials(self, path: str, rows: pl.DataFrame, settings: Mapping[str, Any]) -> tuple[list[Trial], str]:
        """Read the trials, in the order in which their axes first appear in the table, and the notes.

        Parameters
        ----------
        path : str
            The table relative to ``results/<study>/``, for the trials and for messages.
        rows : polars.DataFrame
            The rows of the table.
        settings : mapping
            The settings of the experiment that made it.

        Raises
        ------
        DataError
            When an expression cannot be evaluated, or a value is missing, not finite, or not one; the message names
            table, trial and value.

        Example
        -------
        >>> import polars as pl
        >>> rows = pl.DataFrame({"m": [5, 5, 9], "slack": [0.5, 0.25, 2.0]})
        >>> entry = {"table": "slack", "axes": ["m"], "values": {"least": "MIN(slack)"}, "notes": "{COUNT(*)} lists."}
        >>> trials, notes = Reading.of(entry).trials("tables/slack.parquet", rows, {})
        >>> [(trial.setting, trial.values) for trial in trials], notes
        ([({'m': 5}, {'least': 0.25}), ({'m': 9}, {'least': 2.0})], '3 lists.')
        """
        chosen = self._chosen(path, rows, settings)
        if chosen.is_empty():
            return [], ""
        keys = [f"axis {axis}" for axis in self.axes]
        axes = [_column(path, chosen, text).alias(key) for key, text in zip(keys, self.axes.values(), strict=True)]
        marked = chosen.with_columns(axes)
        groups = marked.partition_by(keys, maintain_order=True) if keys else [marked]
        return [self._trial(path, group) for group in groups], _noted(path, chosen, self.notes)

    def written(self, path: str, rows: pl.DataFrame, settings: Mapping[str, Any], text: str) -> str:
        """Write a text with expressions in braces over the rows that count, as under ``notes``."""
        chosen = self._chosen(path, rows, settings)
        return "" if chosen.is_empty() else _noted(path, chosen, text)

    def _chosen(self, path: str, rows: pl.DataFrame, settings: Mapping[str, Any]) -> pl.DataFrame:
        import polars as pl

        if self.needs_settings:
            rows = rows.with_columns(pl.Series(SETTINGS, [dict(settings)]).new_from_index(0, rows.height))
        for name, text in self.columns.items():
            rows = rows.with_columns(_column(path, rows, text).alias(name))
        return _filtered(path, rows, self.where)

    def _trial(self, path: str, rows: pl.DataFrame) -> Trial:
        setting: dict[str, Label] = {}
        labels = {axis: rows[f"axis {axis}"].item(0) for axis in self.axes}
        labels |= {name: _constant(f"{path}: {name}", path, rows, text) for name, text in self.setting.items()}
        setting |= {name: label for name, label in labels.items() if label is not None}
        place = f"{path}: trial at {setting}"
        values: dict[str, Value] = {}
        for name, measured in self.values.items():
            found = _filtered(path, rows, measured.where)
            if not (measured.optional and found.is_empty()):
                values[name] = _value(f"{place}: {name}", path, found, measured)
        if self.named is not None:
            names = _column(path, rows, self.named_by)
            for name in names.unique(maintain_order=True):
                values[str(name)] = _value(f"{place}: {name}", path, rows.filter(names == name), self.named)
        try:
            return Trial(setting, values, path)
        except DataError as error:
            raise DataError(f"{path}: {error}") from error


def _noted(path: str, rows: pl.DataFrame, template: str) -> str:
    parts = []
    for literal, text, form, _ in Formatter().parse(template):
        parts.append(literal)
        if text is not None:
            number = _constant(f"{path}: notes", path, rows, text)
            try:
                parts.append(format(number, form or ""))
            except (TypeError, ValueError) as error:
                raise DataError(f"{path}: notes: cannot write {text!r}, {number!r}, as {form!r}: {error}") from error
    return "".join(parts)


def _listed(entry: Any) -> tuple[str, ...]:
    return tuple(map(str, entry)) if isinstance(entry, list) else (str(entry),)


def _texts(entries: Mapping[str, Any]) -> dict[str, str]:
    return {name: str(text) for name, text in entries.items()}


def _evaluated(path: str, rows: pl.DataFrame, text: str) -> pl.Series:
    import polars as pl

    try:
        return rows.select(pl.sql_expr(text)).to_series()
    except pl.exceptions.PolarsError as error:
        problem = str(error).strip().partition("\n")[0]
        raise DataError(f"{path}: expected an expression over its columns, found {text!r}: {problem}") from error


def _filtered(path: str, rows: pl.DataFrame, where: str) -> pl.DataFrame:
    import polars as pl

    if not where:
        return rows
    found = _column(path, rows, where)
    if found.dtype != pl.Boolean:
        raise DataError(f"{path}: expected a condition on its rows, found {where!r}")
    return rows.filter(found)


def _column(path: str, rows: pl.DataFrame, text: str) -> pl.Series:
    """What an expression gives in every row; a summary of all rows is the same in each."""
    found = _evaluated(path, rows, text)
    return found if len(found) == rows.height else found.new_from_index(0, rows.height)


def _constant(place: str, path: str, rows: pl.DataFrame, text: str) -> Any:
    """What an expression gives that is the same in all rows."""
    found = _evaluated(path, rows, text).unique(maintain_order=True)
    if len(found) != 1:
        raise DataError(f"{place}: expected {text!r} to be the same in all rows, found {found.to_list()[:5]}")
    return found.item(0)


def _value(place: str, path: str, rows: pl.DataFrame, measured: Measured) -> Value:
    numbers = [_number(place, path, rows, text) for text in measured.expressions]
    if measured.freedom:
        numbers.append(_constant(f"{place}: freedom", path, rows, measured.freedom))
    try:
        return Interval(*numbers) if len(numbers) > 1 else numbers[0]
    except DataError as error:
        raise DataError(f"{place}: {error}") from error


def _number(place: str, path: str, rows: pl.DataFrame, text: str) -> float:
    import polars as pl

    if rows.is_empty():
        raise DataError(f"{place}: expected a row, found none")
    found = _evaluated(path, rows, text)
    for column in pl.sql_expr(text).meta.root_names():
        # Sums, maxima and counts would leave such rows out without a word.
        wrong = [value for value in rows[column].to_list() if value is None or _not_finite(value)]
        if wrong:
            raise DataError(f"{place}: expected a finite number in every row of {column!r}, found {wrong[0]}")
    if len(found) != 1:
        raise DataError(f"{place}: expected one row or a summary of all, found {text!r} in {len(found)} rows")
    number = found.item(0)
    if isinstance(number, bool) or not isinstance(number, int | float) or not math.isfinite(number):
        raise DataError(f"{place}: expected {text!r} to be a finite number, found {number!r}")
    return number


def _not_finite(value: Any) -> bool:
    return isinstance(value, float) and not math.isfinite(value)
