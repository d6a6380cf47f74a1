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

import math
import re
from collections.abc import Iterator, Mapping
from string import Formatter
from typing import Annotated, Any, Self

import polars as pl
from pydantic import BeforeValidator, Field, model_validator

from pipeline_lib.claims.trials import Trial, Value, is_number
from pipeline_lib.claims.verdicts import Name, Prose, Titled
from pipeline_lib.core.errors import DataError
from pipeline_lib.core.expressions import column, evaluated, parsed
from pipeline_lib.core.markup import Direction, rounded
from pipeline_lib.core.settings import Settings, Truth, demand
from pipeline_lib.statistics import Interval

SETTINGS = "settings"
"""The column whose fields are the settings of the experiment."""
NO_NOTE = "What is noted here summarises rows that this study does not have."
"""Stands for a note of which an expression has no value, as in a study with fewer lengths than the note is about."""


def _named(entry: Any) -> Any:
    """A mapping that may be written as a list, in which a name alone is that of a column."""
    if not isinstance(entry, list | tuple):
        return entry
    pairs = [pair for one in entry for pair in (one.items() if isinstance(one, Mapping) else [(one, f'"{one}"')])]
    if len(dict(pairs)) < len(pairs):
        raise ValueError(f"expected every name once, found {[name for name, _ in pairs]}")
    return dict(pairs)


def listed(entry: Any) -> Any:
    """What may also be written without the brackets of a list that has one entry."""
    return entry if isinstance(entry, list | tuple) else [entry]


_ONE_OR_THREE = demand(
    "a number, or a number and the ends of its interval", lambda expressions: len(expressions) in (1, 3)
)
Expression = Annotated[str, Field(min_length=1, coerce_numbers_to_str=True)]
"""An expression of SQL over the columns of the table, or a number."""
Expressions = dict[str, Expression]


class Measured(Settings):
    """One value of a trial: a number, or the three numbers of an interval, read from some rows of the trial.

    ``optional`` values are left out of trials that have no such row. ``freedom`` is the expression for the degrees of
    freedom of the interval; where there is none, that of the reading.
    """

    value: Annotated[tuple[Expression, ...], BeforeValidator(listed), _ONE_OR_THREE]
    where: Prose | None = None
    optional: Truth = False
    freedom: Expression | None = None


def _measured(entry: Any) -> Any:
    return entry if isinstance(entry, Mapping | Measured) else {"value": entry}


AnyMeasured = Annotated[Measured, BeforeValidator(_measured)]


class Reading(Titled):
    """What the ledger says of the trials in one table, key by key (docs/adding-a-paper.md explains the keys)."""

    TITLE = ("table", "where")

    table: Prose = Field(description="as an experiment declares it, without the folder tables/")
    columns: Expressions = Field({}, description="further columns, computed in all rows of the table")
    where: Prose | None = Field(None, description="the rows that count")
    axes: Annotated[Expressions, BeforeValidator(_named)] = Field(
        {}, description="rows that agree in these are a trial; columns, or names with an expression each"
    )
    setting: Expressions = Field({}, description="what else a trial's setting says, the same in all its rows")
    values: Annotated[dict[Name, AnyMeasured], BeforeValidator(_named)] = Field(
        {}, description="the values of a trial; in a list, a name alone is that of its column"
    )
    named_by: Prose | None = Field(
        None,
        description="instead of values: every row is a value, and this is its name; by default, its column statistic",
    )
    value: AnyMeasured | None = Field(None, description="with named_by: the value of a row, by default column value")
    freedom: Expression | None = Field(
        None, description="degrees of freedom of Student's distribution behind the intervals, if they are not normal"
    )
    notes: str = Field("", description="a sentence, with expressions in braces")

    @model_validator(mode="before")
    @classmethod
    def _row_by_row(cls, entry: Any) -> Any:
        if isinstance(entry, Mapping) and not {"values", "named_by", "value"} & {*entry}:
            return {**entry, "named_by": "statistic", "value": "value"}
        return entry

    @model_validator(mode="after")
    def _readable(self) -> Self:
        if bool(self.values) == (self.value is not None) or (self.value is None) != (self.named_by is None):
            raise ValueError("expected either `values`, or `named_by` and `value`")
        try:
            list(self.expressions())
        except ValueError as error:
            raise ValueError(f"notes: expected expressions in braces, found {self.notes!r} ({error})") from error
        return self

    def expressions(self) -> Iterator[str]:
        """Every expression, those of ``columns`` first."""
        yield from self.columns.values()
        yield from filter(None, (self.where, self.named_by))
        yield from (*self.axes.values(), *self.setting.values())
        for measured in (*self.values.values(), *filter(None, [self.value])):
            yield from (*measured.value, *filter(None, [measured.where]), *self._freedom(measured))
        yield from (text for _, text, _, _ in Formatter().parse(self.notes) if text)

    def _freedom(self, measured: Measured) -> list[str]:
        """The expression for the degrees of freedom of an interval; none for a number, or a normal quantile."""
        stated = measured.freedom or self.freedom
        return [stated] if stated and len(measured.value) > 1 else []

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
        >>> trials, notes = Reading.parse(entry).trials("tables/slack.parquet", rows, {})
        >>> [(trial.setting, trial.values) for trial in trials], notes
        ([({'m': 5}, {'least': 0.25}), ({'m': 9}, {'least': 2.0})], '3 lists.')
        """
        chosen = self._chosen(path, rows, settings)
        if chosen.is_empty():
            return [], ""
        keys = [f"axis {axis}" for axis in self.axes]
        axes = [column(path, chosen, text).alias(key) for key, text in zip(keys, self.axes.values(), strict=True)]
        marked = chosen.with_columns(axes)
        groups = marked.partition_by(keys, maintain_order=True) if keys else [marked]
        return [self._trial(path, group) for group in groups], _noted(path, chosen, self.notes)

    def covered(self, path: str, rows: pl.DataFrame, settings: Mapping[str, Any]) -> dict[str, list[str]]:
        """The values of every column of text, among the rows that count: what summaries of several rows range over.

        Example
        -------
        >>> import polars as pl
        >>> rows = pl.DataFrame({"loss": ["hinge", "logistic", "hinge"], "n": [5, 5, 9], "gap": [0.5, 0.25, 2.0]})
        >>> entry = {"table": "gaps", "where": "n = 5", "axes": ["n"], "values": {"largest": "MAX(gap)"}}
        >>> Reading.parse(entry).covered("tables/gaps.parquet", rows, {})
        {'loss': ['hinge', 'logistic']}
        """
        texts = self._chosen(path, rows, settings).select(pl.col(pl.String))
        return {column.name: column.drop_nulls().unique().sort().to_list() for column in texts}

    def written(self, path: str, rows: pl.DataFrame, settings: Mapping[str, Any], text: str) -> str:
        """Write a text with expressions in braces over the rows that count, as under ``notes``."""
        chosen = self._chosen(path, rows, settings)
        return "" if chosen.is_empty() else _noted(path, chosen, text)

    def _chosen(self, path: str, rows: pl.DataFrame, settings: Mapping[str, Any]) -> pl.DataFrame:
        if self.needs_settings:
            rows = rows.with_columns(pl.Series(SETTINGS, [dict(settings)]).new_from_index(0, rows.height))
        for name, text in self.columns.items():
            rows = rows.with_columns(column(path, rows, text).alias(name))
        return _filtered(path, rows, self.where)

    def _trial(self, path: str, rows: pl.DataFrame) -> Trial:
        labels = {axis: rows[f"axis {axis}"].item(0) for axis in self.axes}
        labels |= {name: _constant(f"{path}: {name}", path, rows, text) for name, text in self.setting.items()}
        setting = {name: label for name, label in labels.items() if label is not None}
        place = f"{path}: trial at {setting}"
        values: dict[str, Value] = {}
        for name, measured in self.values.items():
            found = _filtered(path, rows, measured.where)
            if not (measured.optional and found.is_empty()):
                values[name] = self._value(f"{place}: {name}", path, found, measured)
        if self.value is not None and self.named_by is not None:
            names = column(path, rows, self.named_by)
            for name in names.unique(maintain_order=True):
                values[str(name)] = self._value(f"{place}: {name}", path, rows.filter(names == name), self.value)
        try:
            return Trial(setting, values, path)
        except DataError as error:
            raise DataError(f"{path}: {error}") from error

    def _value(self, place: str, path: str, rows: pl.DataFrame, measured: Measured) -> Value:
        numbers = [_number(place, path, rows, text) for text in measured.value]
        numbers += [_constant(f"{place}: freedom", path, rows, text) for text in self._freedom(measured)]
        try:
            return Interval(*numbers) if len(numbers) > 1 else numbers[0]
        except DataError as error:
            raise DataError(f"{place}: {error}") from error


def _noted(path: str, rows: pl.DataFrame, template: str) -> str:
    """The text with its expressions written; in a study without the rows that one of them summarises, a sentence."""
    parts = []
    for literal, text, form, _ in Formatter().parse(template):
        parts.append(literal)
        if text is not None:
            number = _constant(f"{path}: notes", path, rows, text)
            if number is None:
                return NO_NOTE
            try:
                parts.append(_written(number, form or "", literal))
            except (TypeError, ValueError) as error:
                raise DataError(f"{path}: notes: cannot write {text!r}, {number!r}, as {form!r}: {error}") from error
    return "".join(parts)


def _written(number: Any, form: str, before: str) -> str:
    """A number in a format; rounded down behind "at least", and up behind "at most" or "up to".

    Example
    -------
    >>> [_written(225.908, ".0f", words) for words in ("at least ", "at most ", "about ")]
    ['225', '226', '226']
    >>> _written(0.00024, ".2%", "up to "), _written(271.6, ".3g", "at least ")
    ('0.03%', '271')
    """
    digits = re.fullmatch(r",?\.(\d)([f%g])", form)
    side = re.search(r"\b(at least|at most|up to) $", before)
    if digits and side and number:
        towards: Direction = "down" if side[1] == "at least" else "up"
        places = int(digits[1])
        if digits[2] == "g":
            number = rounded(number, towards, digits=places)
        else:
            number = rounded(number, towards, decimals=places + (2 if digits[2] == "%" else 0))
    return format(number, form)


def _filtered(path: str, rows: pl.DataFrame, where: str | None) -> pl.DataFrame:
    if not where:
        return rows
    found = column(path, rows, where)
    if found.dtype != pl.Boolean:
        raise DataError(f"{path}: expected a condition on its rows, found {where!r}")
    return rows.filter(found)


def _constant(place: str, path: str, rows: pl.DataFrame, text: str) -> Any:
    """What an expression gives that is the same in all rows."""
    found = evaluated(path, rows, text).unique(maintain_order=True)
    if len(found) != 1:
        raise DataError(f"{place}: expected {text!r} to be the same in all rows, found {found.to_list()[:5]}")
    return found.item(0)


def _number(place: str, path: str, rows: pl.DataFrame, text: str) -> float:
    if rows.is_empty():
        raise DataError(f"{place}: expected a row, found none")
    found = evaluated(path, rows, text)
    for name in parsed(text, rows.columns).meta.root_names():
        # Sums, maxima and counts would leave such rows out without a word.
        wrong = [
            value
            for value in rows[name].to_list()
            if value is None or (isinstance(value, float) and not math.isfinite(value))
        ]
        if wrong:
            raise DataError(f"{place}: expected a finite number in every row of {name!r}, found {wrong[0]}")
    if len(found) != 1:
        raise DataError(f"{place}: expected one row or a summary of all, found {text!r} in {len(found)} rows")
    number = found.item(0)
    if not is_number(number):
        raise DataError(f"{place}: expected {text!r} to be a finite number, found {number!r}")
    return number  # type: ignore[no-any-return]
