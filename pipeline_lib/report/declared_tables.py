"""How does a page declare a table: by its rows and its columns?

{{ table("topk-exponents", "Exponents of the regret", rows("topk-exponents"), [
     col("surrogate", "Loss"),
     col("slope", "Exponent", digits=3),
     col(("low", "high"), "95 % interval", digits=3)]) }}
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any, Literal

from pipeline_lib.core.errors import DataError
from pipeline_lib.report.queries import Rows
from pipeline_lib.report.tables import MISSING, Cell, Column, Group, Table, number, scientific, span, text, whole

Form = Literal["text", "running", "whole", "number", "scientific", "percent", "p", "yes"]


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
) -> Declared:
    """Declare a column.

    ``key`` is a column of the rows, or two that are the ends of an interval. ``form`` is how its values are shown;
    without it words are shown as they are, whole numbers with their thousands parted, other numbers with ``digits``
    decimals or, without ``digits``, with three significant digits; a :class:`Cell` is shown as it is. ``names``, a
    mapping or a function, gives the words for values. ``spread`` is a column with half an interval or a standard
    deviation, or two with the ends of an interval, shown after ± where it is known.

    Example
    -------
    >>> row = SimpleNamespace(loss="kl", slope=0.6543, low=0.61, high=0.7)
    >>> [col("loss", "Loss", names={"kl": "KL"}).cell(row).text, col("slope", "Exponent", digits=2).cell(row).text]
    ['KL', '0.65']
    >>> col(("low", "high"), "Interval", digits=2).cell(row).text
    '[0.61, 0.70]'
    """
    decimals = 4 if digits is None else digits
    if not isinstance(key, str):
        low, high = key

        def interval(row: SimpleNamespace) -> Cell:
            known = _of(row, low) is not None
            return span(_of(row, low), _of(row, high), decimals, signed=signed) if known else Cell(MISSING)

        return Declared(Column("interval" if low == "low" else f"{low}_{high}", title), interval)

    def cell(row: SimpleNamespace) -> Cell:
        value = _of(row, key)
        if names is not None and (value is not None or (not callable(names) and None in names)):
            return Cell(names(value) if callable(names) else str(names.get(value, value)), raw=value)
        if not spread or value is None:
            return shown_as(value, form, digits, signed)
        half, shown = _half(row, spread), number(value, decimals, signed=signed)
        return shown if half is None else replace(shown, spread=number(half, decimals).text, spread_raw=half)

    return Declared(Column(key, title, "left" if form in ("text", "running") or names is not None else "right"), cell)


def table(
    name: str,
    caption: str,
    rows: Rows | Iterable[Mapping[str, Any]],
    columns: Sequence[Declared],
    *,
    notes: Sequence[str] = (),
    group: str = "",
    groups: Mapping[Any, str] | None = None,
    source: str = "",
) -> Table:
    """Make a table of rows.

    ``group`` is a column whose values part the rows into groups, with ``groups`` the words for them. Columns of words
    are set flush left. ``source`` is needed where the rows do not know their tables.
    """
    found = list(rows if isinstance(rows, Rows) else Rows(map(dict, rows), ()))
    heads = tuple(_head(one, found) for one in columns)
    cells = {id(row): tuple(one.cell(row) for one in columns) for row in found}
    parts: dict[Any, list[SimpleNamespace]] = {}
    for row in found:
        parts.setdefault(_of(row, group) if group else "", []).append(row)
    titles = groups or {}
    grouped = tuple(
        Group(str(titles.get(key, key)), tuple(cells[id(row)] for row in some)) for key, some in parts.items()
    )
    return Table(
        name,
        caption,
        source or getattr(rows, "source", ""),
        heads,
        grouped or (Group("", ()),),
        tuple(filter(None, notes)),
    )


def shown_as(value: Any, form: Form | None = None, digits: int | None = None, signed: bool = False) -> Cell:
    """The cell that shows a value.

    Example
    -------
    >>> [shown_as(v).text for v in ("KL", 12345, 0.00012345, None, True)]
    ['KL', '12,345', '0.000123', '–', 'yes']
    >>> shown_as(0.1234, "percent").text, shown_as(0.1234, "percent", 1).text
    ('12 %', '12.3 %')
    >>> shown_as(0.0000012, "p").text, shown_as(0.0317, "p").text
    ('< 0.001', '0.032')
    """
    if isinstance(value, Cell):
        return value
    if value is None or value == "":
        return Cell(MISSING)
    if form == "running":
        return Cell(value, value, running=True)
    if form == "text" or (form is None and isinstance(value, str)):
        return text(value)
    if form == "yes" or isinstance(value, bool):
        return Cell("yes" if value else "no", raw=bool(value))
    if form == "percent":
        return Cell(f"{100.0 * value:.{digits or 0}f} %".replace("-", "−"), raw=value)
    if form == "p":
        return Cell("< 0.001" if value < 0.001 else f"{value:.3f}", raw=value)
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
