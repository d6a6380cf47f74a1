"""What is a row of a table of results?

The columns of a table are declared once, as the fields of a class: with their type, and their meaning as a description.
A step yields objects of such classes; each is checked when it is made, so that the first wrong row is the error. From
the class follow how the table is stored, how it is read again, and how it is documented.

Example
-------
>>> class Gap(Row, table="tables/toy-gaps"):
...     '''The gap of one loss on n queries.'''
...
...     loss: str = Field(description="loss of the training")
...     n: int = Field(description="queries of the sample")
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
"""

from __future__ import annotations

import types
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, NamedTuple, Self, Union, get_args, get_origin

from pydantic import BaseModel, ConfigDict, Field

from pipeline_lib.core.errors import ConfigurationError
from pipeline_lib.statistics import Interval

if TYPE_CHECKING:
    import polars as pl

__all__ = ["Column", "Ends", "Field", "Interval", "OnlyInterval", "Row", "columns", "frame", "schema"]


@dataclass(frozen=True)
class Ends:
    """Annotation of a field of type :class:`Interval`: the columns of its ends, by default NAME_low and NAME_high."""

    low: str
    high: str


OnlyInterval = Annotated[Interval, Ends("low", "high")]
"""The only interval of a row, whose ends are the columns low and high."""
STORED = {str: "String", int: "Int64", float: "Float64", bool: "Boolean"}
"""The type of polars of each type of values."""


class Row(BaseModel):
    """One row of the table ``table``, a path below the results folder with its axes in braces.

    Types are taken strictly: a whole number is no number of numpy's, and ``float | None`` says that a value may be
    missing. Fields of type :class:`Interval` are three columns. A column whose name is a word of Python belongs to a
    field with an underscore behind it, such as ``class_``.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)
    table: ClassVar[str] = ""

    def __init_subclass__(cls, table: str = "", **options: Any) -> None:
        super().__init_subclass__(**options)
        cls.table = table

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
        kind, meaning = _given(field.annotation), field.description
        if meaning is None:
            raise ConfigurationError(f"{row.__name__}.{name}: expected Field(description=...), found none")
        if kind is Interval:
            ends = next((one for one in field.metadata if isinstance(one, Ends)), Ends(f"{name}_low", f"{name}_high"))
            found.append(Column(name, name, "value", float, meaning))
            found.append(Column(ends.low, name, "low", float, f"lower end of the interval of {name}"))
            found.append(Column(ends.high, name, "high", float, f"upper end of the interval of {name}"))
        elif kind in STORED:
            found.append(Column(name.removesuffix("_"), name, "", kind, meaning))
        else:
            raise ConfigurationError(
                f"{row.__name__}.{name}: expected str, int, float, bool or Interval, found {field.annotation}"
            )
    return tuple(found)


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


def _given(annotation: Any) -> Any:
    """The type of values that are not missing."""
    if get_origin(annotation) in (Union, types.UnionType):
        [annotation] = [one for one in get_args(annotation) if one is not types.NoneType]
    return annotation
