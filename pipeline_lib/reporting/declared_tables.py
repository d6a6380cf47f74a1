"""How does a page declare a table: by its rows and its columns?

{{ table("topk-exponents", "Exponents of the regret", rows("topk-exponents"), [
     col("surrogate", "Loss"),
     col("slope", "Exponent", digits=3),
     col(("low", "high"), "95 % interval", digits=3)]) }}
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, Literal

from pipeline_lib.errors import DataError
from pipeline_lib.reporting.queries import Rows
from pipeline_lib.reporting.tables import (
    MISSING,
    Cell,
    Column,
    Group,
    Table,
    number,
    plus_minus,
    probability,
    scientific,
    span,
    text,
    whole,
)

Form = Literal["text", "whole", "number", "scientific", "percent", "p", "yes"]


@dataclass(frozen=True)
class Declared:
    """A column: its head, and what it shows of a row."""

    column: Column
    cell: Callable[[SimpleNamespace], Cell]


def col(
    key: str | Sequence[str],
    title: str,
    form: Form | None = None,
    *,
    digits: int | None = None,
    signed: bool = False,
    names: Mapping[Any, str] | Callable[[Any], str] | None = None,
    spread: str | Sequence[str] = (),
    strong: str = "",
    align: Literal["left", "right"] | None = None,
) -> Declared:
    """Declare a column.

    ``key`` is a column of the rows, or two that are the ends of an interval. ``form`` is how its values are shown;
    without it words are shown as they are, whole numbers with their thousands parted, other numbers with ``digits``
    decimals or, without ``digits``, with three significant digits. ``names``, a mapping or a function, gives the words
    for values. ``spread`` is a column with half an interval or a standard deviation, or two with the ends of an
    interval, shown after ± where it is known. ``strong`` is a column that says whether the cell is set in bold.

    Example
    -------
    >>> row = SimpleNamespace(loss="kl", slope=0.6543, low=0.61, high=0.7)
    >>> [col("loss", "Loss", names={"kl": "KL"}).cell(row).text, col("slope", "Exponent", digits=2).cell(row).text]
    ['KL', '0.65']
    >>> col(("low", "high"), "Interval", digits=2).cell(row).text
    '[0.61, 0.70]'
    """
    left = align == "left" or (align is None and (form == "text" or names is not None))
    if not isinstance(key, str):
        low, high = key
        ends = Column("interval" if low == "low" else f"{low}_{high}", title, align or "right")
        return Declared(
            ends,
            lambda row: (
                Cell(MISSING)
                if _of(row, low) is None
                else span(_of(row, low), _of(row, high), 4 if digits is None else digits, signed=signed)
            ),
        )

    def cell(row: SimpleNamespace) -> Cell:
        value = _of(row, key)
        if names is not None:
            shown = Cell(names(value) if callable(names) else str(names.get(value, value)), raw=value)
        elif spread and value is not None:
            half, shown_digits = _half(row, spread), 4 if digits is None else digits
            shown = (
                number(value, shown_digits, signed=signed)
                if half is None
                else plus_minus(value, half, shown_digits, signed=signed)
            )
        else:
            shown = shown_as(value, form, digits, signed)
        if strong and _of(row, strong):
            return Cell(shown.text, shown.raw, shown.spread, shown.spread_raw, shown.mark, strong=True)
        return shown

    return Declared(Column(key, title, align or ("left" if left else "right")), cell)


def table(
    name: str,
    caption: str,
    rows: Rows,
    columns: Sequence[Declared],
    *,
    notes: Sequence[str] = (),
    group: str = "",
    groups: Mapping[Any, str] | None = None,
    source: str = "",
) -> Table:
    """Make a table of rows.

    ``group`` is a column whose values part the rows into groups, with ``groups`` the words for them. Columns of words
    are set flush left. ``source`` is needed only where the rows do not know their tables.
    """
    found = list(rows)
    heads = tuple(_head(one, found) for one in columns)
    cells = {id(row): tuple(one.cell(row) for one in columns) for row in found}
    parts: dict[Any, list[SimpleNamespace]] = {}
    for row in found:
        parts.setdefault(_of(row, group) if group else "", []).append(row)
    titles = groups or {}
    grouped = tuple(
        Group(str(titles.get(key, key)), tuple(cells[id(row)] for row in some)) for key, some in parts.items()
    )
    return Table(name, caption, source or rows.source, heads, grouped or (Group("", ()),), tuple(filter(None, notes)))


def shown_as(value: Any, form: Form | None = None, digits: int | None = None, signed: bool = False) -> Cell:
    """The cell that shows a value.

    Example
    -------
    >>> [shown_as(v).text for v in ("KL", 12345, 0.00012345, None, True)]
    ['KL', '12,345', '0.000123', '–', 'yes']
    >>> shown_as(0.1234, "percent").text, shown_as(0.1234, "percent", 1).text
    ('12 %', '12.3 %')
    """
    if value is None or value == "":
        return Cell(MISSING)
    if form == "text" or (form is None and isinstance(value, str)):
        return text(value)
    if form == "yes" or isinstance(value, bool):
        return Cell("yes" if value else "no", raw=bool(value))
    if form == "percent":
        return Cell(f"{100.0 * value:.{digits or 0}f} %".replace("-", "−"), raw=value)
    if form == "p":
        return probability(value)
    if form == "whole" or (form is None and isinstance(value, int)):
        return whole(round(value))
    if form == "number" or digits is not None:
        return number(value, 4 if digits is None else digits, signed=signed)
    return scientific(value)


def _head(declared: Declared, rows: Sequence[SimpleNamespace]) -> Column:
    """The head of a column, flush left over words."""
    head = declared.column
    values = [getattr(row, head.key, None) for row in rows]
    words = any(isinstance(value, str) for value in values)
    return Column(head.key, head.title, "left") if words and head.align == "right" else head


def _half(row: SimpleNamespace, spread: str | Sequence[str]) -> float | None:
    if isinstance(spread, str):
        return _of(row, spread)
    low, high = (_of(row, end) for end in spread)
    return None if low is None or high is None else 0.5 * (high - low)


def _of(row: SimpleNamespace, key: str) -> Any:
    if not hasattr(row, key):
        raise DataError(f"expected the column {key!r}, found {sorted(vars(row))}")
    return getattr(row, key)
