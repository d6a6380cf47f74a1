"""What is a row of a table of results?

The columns of a table are declared once, as the fields of a class: with their type, and their meaning as a description.
A step yields objects of such classes; each is checked when it is made, so that the first wrong row is the error. From
the class follow how the table is stored, how it is read again, and how it is documented.

Example
-------
>>> class Gap(Row, table="tables/toy-gaps", key=("loss", "n"), always=("gap <= 1",)):
...     '''The gap of one loss on n queries.'''
...
...     loss: str = Field(description="loss of the training")
...     n: Count = Field(description="queries of the sample")
...     gap: Interval | None = Field(description="expected minus training risk, in the mean over samples")
>>> Gap.table, [column.name for column in columns(Gap)]
('tables/toy-gaps', ['loss', 'n', 'gap', 'gap_low', 'gap_high'])
>>> frame([Gap(loss="hinge", n=10, gap=Interval(0.5, 0.25, 0.75))], Gap).row(0)
('hinge', 10, 0.5, 0.25, 0.75)
>>> Gap(loss="hinge", n=10.5, gap=None)
Traceback (most recent call last):
...
pydantic_core._pydantic_core.ValidationError: 1 validation error for Gap
n
  Input should be a valid integer [type=int_type, input_value=10.5, input_type=float]
...
>>> check("toy", frame([Gap(loss="hinge", n=-1, gap=None)], Gap), Gap)
Traceback (most recent call last):
...
pipeline_lib.core.errors.DataError: toy: expected 0 <= n in every row, found 1 of 1 rows in which it does not hold, \
the first at loss = hinge, n = -1: 0 and -1
"""

from __future__ import annotations

import types
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, NamedTuple, Self, Union, get_args, get_origin

from pydantic import BaseModel, ConfigDict, Field

from pipeline_lib.core.errors import ConfigurationError
from pipeline_lib.data.invariants import Invariants
from pipeline_lib.statistics import Interval

if TYPE_CHECKING:
    import polars as pl

__all__ = [
    "Column",
    "Count",
    "Ends",
    "Field",
    "FromOne",
    "FromZero",
    "Interval",
    "OnlyInterval",
    "OnlyProportion",
    "Proportion",
    "ProportionInterval",
    "Row",
    "Within",
    "check",
    "columns",
    "frame",
    "invariants",
    "schema",
]


@dataclass(frozen=True)
class Ends:
    """Annotation of a field of type :class:`Interval`: the columns of its ends, by default NAME_low and NAME_high."""

    low: str
    high: str


OnlyInterval = Annotated[Interval, Ends("low", "high")]
"""The only interval of a row, whose ends are the columns low and high."""


@dataclass(frozen=True)
class Within:
    """Annotation of a field that holds numbers: between which limits they lie, the ends of an interval among them."""

    least: float
    largest: float | None = None


Count = Annotated[int, Within(0)]
"""A number of things, at least 0."""
FromOne = Annotated[int, Within(1)]
"""A number of things of which there is one at least, or a place among them, counted from 1."""
FromZero = Annotated[float, Within(0)]
"""A norm, a distance, a standard error, a loss: a number of at least 0."""
Proportion = Annotated[float, Within(0, 1)]
"""A share, a probability, or a measure from 0 to 1."""
ProportionInterval = Annotated[Interval, Within(0, 1)]
"""A proportion with its interval, which is cut at 0 and 1."""
OnlyProportion = Annotated[OnlyInterval, Within(0, 1)]
"""The same where it is the only interval of a row."""
STORED = {str: "String", int: "Int64", float: "Float64", bool: "Boolean"}
"""The type of polars of each type of values."""


class Row(BaseModel):
    """One row of the table ``table``, a path below the results folder with its axes in braces.

    Types are taken strictly: a whole number is no number of numpy's, and ``float | None`` says that a value may be
    missing. Fields of type :class:`Interval` are three columns. A column whose name is a word of Python belongs to a
    field with an underscore behind it, such as ``class_``.

    ``key`` are the columns that name a row, and ``always`` rules that hold in every table of such rows, whatever its
    numbers are, by :mod:`pipeline_lib.data.invariants`. A class has the rules of its bases, and their key unless it
    states its own.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)
    table: ClassVar[str] = ""
    key: ClassVar[tuple[str, ...] | None] = None
    always: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(
        cls, table: str = "", key: tuple[str, ...] | None = None, always: tuple[str, ...] = (), **options: Any
    ) -> None:
        super().__init_subclass__(**options)
        cls.table, cls.key, cls.always = table, cls.key if key is None else key, (*cls.always, *always)

    @classmethod
    def of(cls, stored: Mapping[str, Any]) -> Self:
        """The row whose columns are ``stored``; the inverse of :meth:`plain`."""
        fields: dict[str, Any] = {}
        for name in cls.model_fields:
            own = [stored[column.name] for column in columns(cls) if column.field == name]
            fields[name] = own[0] if len(own) == 1 else None if own[0] is None else Interval(*own)
        return cls(**fields)

    def plain(self) -> dict[str, Any]:
        """The values of all columns, those of an interval one by one."""
        plain: dict[str, Any] = {}
        for column in columns(type(self)):
            value = getattr(self, column.field)
            plain[column.name] = getattr(value, column.part) if column.part and value is not None else value
        return plain


class Column(NamedTuple):
    """A column: the field it belongs to, for an interval which part of it, the type of its values, its meaning."""

    name: str
    field: str
    part: str
    kind: type
    meaning: str


@cache
def columns(row: type[Row]) -> tuple[Column, ...]:
    """The columns of a class of rows, in the order of its fields.

    Raises
    ------
    ConfigurationError
        When a field is of a type that is not stored, or has no description.
    """
    found: list[Column] = []
    for name, field in row.model_fields.items():
        given, meaning = _given(field.annotation, field.metadata), field.description
        if meaning is None:
            raise ConfigurationError(f"{row.__name__}.{name}: expected Field(description=...), found none")
        if given.kind is Interval:
            ends = given.ends or Ends(f"{name}_low", f"{name}_high")
            found.append(Column(name, name, "value", float, meaning))
            found.append(Column(ends.low, name, "low", float, f"lower end of the interval of {name}"))
            found.append(Column(ends.high, name, "high", float, f"upper end of the interval of {name}"))
        elif given.kind in STORED:
            found.append(Column(name.removesuffix("_"), name, "", given.kind, meaning))
        else:
            raise ConfigurationError(
                f"{row.__name__}.{name}: expected str, int, float, bool or Interval, found {field.annotation}"
            )
    return tuple(found)


@cache
def invariants(row: type[Row]) -> Invariants:
    """What holds of every table of a class of rows: what it declares, and what follows from the types of its fields.

    Example
    -------
    >>> class Missed(Row, table="tables/toy-missed", key=("n",)):
    ...     n: Count = Field(description="queries")
    ...     missed: ProportionInterval = Field(description="share of limits above the mean")
    >>> invariants(Missed).rules
    ('0 <= n', '0 <= missed_low', 'missed_high <= 1', 'missed_low <= missed <= missed_high')
    """
    rules: list[str] = []
    optional = set()
    for name, field in row.model_fields.items():
        given = _given(field.annotation, field.metadata)
        own = [column.name for column in columns(row) if column.field == name]
        least, largest = (own[1], own[2]) if given.kind is Interval else (own[0], own[0])
        if (within := given.within) is not None:
            rules.append(f"{within.least} <= {least}")
            rules += [] if within.largest is None else [f"{largest} <= {within.largest}"]
        if given.kind is Interval:
            rules.append(f"{own[1]} <= {own[0]} <= {own[2]}")
        if given.optional:
            optional.update(own)
    return Invariants(row.key, (*rules, *row.always), frozenset(optional))


def check(place: str, table: pl.DataFrame, row: type[Row]) -> None:
    """Refuse a table in which something does not hold that always holds of rows of its class.

    Raises
    ------
    DataError
        See :meth:`pipeline_lib.data.invariants.Invariants.check`; the message begins with ``place``.
    """
    invariants(row).check(place, table)


def schema(row: type[Row]) -> dict[str, pl.DataType]:
    """The types of polars in which the columns of a class of rows are stored.

    Example
    -------
    >>> class Slack(Row, table="tables/toy-slack"):
    ...     m: int = Field(description="documents of the query")
    ...     slack: float | None = Field(description="bound minus value")
    >>> schema(Slack)
    {'m': Int64, 'slack': Float64}
    """
    import polars as pl  # which whoever only declares rows need not have

    return {column.name: getattr(pl, STORED[column.kind])() for column in columns(row)}


def frame(found: Iterable[Row], row: type[Row]) -> pl.DataFrame:
    """Rows of one class as a table."""
    import polars as pl

    return pl.DataFrame([one.plain() for one in found], schema=schema(row))


class _Given(NamedTuple):
    """What the annotation of a field says: the type of values, whether they may be missing, and what else."""

    kind: Any
    optional: bool
    ends: Ends | None
    within: Within | None


def _given(annotation: Any, metadata: Sequence[Any]) -> _Given:
    optional = get_origin(annotation) in (Union, types.UnionType)
    if optional:
        [annotation] = [one for one in get_args(annotation) if one is not types.NoneType]
    if get_origin(annotation) is Annotated:
        annotation, *own = get_args(annotation)
        metadata = (*own, *metadata)
    ends = next((one for one in metadata if isinstance(one, Ends)), None)
    within = next((one for one in metadata if isinstance(one, Within)), None)
    return _Given(annotation, optional, ends, within)
