"""How does a page declare a table, and how is that shown on the page, in CSV and in LaTeX?

A table is declared by its rows and its columns:

{{ table("topk-exponents", "Exponents of the regret", rows("topk-exponents"), [
     col("surrogate", "Loss"),
     col("slope", "Exponent", digits=3),
     col(("low", "high"), "95 % interval", digits=3)]) }}

The page shows its cells, ``to_csv`` writes the numbers in full precision and ``to_latex`` sets it with booktabs.
"""

import csv
import io
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from types import SimpleNamespace
from typing import Any, ClassVar, Literal

from jinja2 import Environment, FileSystemLoader, Template

from pipeline_lib.core.errors import DataError
from pipeline_lib.report.blocks import TEMPLATES, latex
from pipeline_lib.report.queries import Rows

Form = Literal["text", "running", "whole", "number", "scientific", "percent", "p", "yes"]
Raw = str | int | float | bool | None

MISSING = "–"
"""Shown where a value does not apply; every table that uses it says so below."""


@dataclass(frozen=True)
class Column:
    """A column: its name in CSV, its title on the page, and its alignment."""

    key: str
    title: str
    align: Literal["left", "right"] = "right"

    def __post_init__(self) -> None:
        if not self.title.strip():
            raise DataError(f"column {self.key!r}: expected a title, found none; every column of a table is headed")


@dataclass(frozen=True)
class Cell:
    """What one cell shows and what it is.

    ``text`` is shown as it is and ``raw`` is written to CSV; ``spread`` (shown small, after ±) and ``mark`` (raised)
    follow the text; ``strong`` sets it in bold. With ``running`` the text is running text, which may hold code; with
    ``stated`` it is a statement with mathematics in plain letters. ``place`` is the address of the cell on the page,
    and ``share`` the length of a bar beside the text, between 0 and 1.
    """

    text: str
    raw: Raw = None
    spread: str = ""
    spread_raw: float | None = None
    mark: str = ""
    strong: bool = False
    running: bool = False
    stated: bool = False
    place: str = ""
    share: float | None = None


@dataclass(frozen=True)
class Group:
    """Rows that belong together, under a title (or none), which leads to ``place`` if that is an address."""

    title: str
    rows: tuple[tuple[Cell, ...], ...]
    place: str = ""


@dataclass(frozen=True)
class Table:
    """A table with a caption that names where its numbers come from; caption and notes are running text.

    ``name`` is the file name of its downloads, ``source`` the table of results behind it; the first column heads the
    rows.
    """

    name: str
    caption: str
    source: str
    columns: tuple[Column, ...]
    groups: tuple[Group, ...]
    notes: tuple[str, ...] = ()
    block: ClassVar[str] = "table"

    def rows(self) -> list[tuple[Cell, ...]]:
        """All rows, group after group."""
        return [row for group in self.groups for row in group.rows]

    @property
    def has_missing(self) -> bool:
        """Whether some cell shows that a value does not apply."""
        return any(cell.text == MISSING for row in self.rows() for cell in row)


def text(value: object) -> Cell:
    """A cell of words; nothing becomes :data:`MISSING`."""
    return Cell(MISSING) if value is None or value == "" else Cell(str(value), raw=str(value))


def number(value: float | None, digits: int = 4, *, signed: bool = False) -> Cell:
    """A cell with a number to a fixed number of decimals.

    Example
    -------
    >>> number(0.45678).text, number(-0.0012, 3, signed=True).text, number(None).text
    ('0.4568', '−0.001', '–')
    """
    if value is None:
        return Cell(MISSING)
    shown = f"{value:+.{digits}f}" if signed else f"{value:.{digits}f}"
    return Cell(shown.replace("-", "−"), raw=value)


def scientific(value: float | None) -> Cell:
    """A cell with a number of any size, to three significant digits.

    Example
    -------
    >>> scientific(1.234e-7).text, scientific(0.25).text, scientific(12345.0).text
    ('1.23e−7', '0.25', '12,345')
    """
    if value is None:
        return Cell(MISSING)
    if 1e3 <= abs(value) < 1e7:
        return Cell(f"{value:,.0f}".replace("-", "−"), raw=value)
    shown = re.sub(r"e([+-])0*(\d)", lambda found: f"e{found[1].strip('+')}{found[2]}", f"{value:.3g}")
    return Cell(shown.replace("-", "−"), raw=value)


def short(value: float) -> str:
    """A number of any size in words."""
    return scientific(value).text


def whole(value: int | None) -> Cell:
    """A cell with a count, thousands parted.

    Example
    -------
    >>> whole(15211).text
    '15,211'
    """
    return Cell(MISSING) if value is None else Cell(f"{int(value):,d}", raw=int(value))


def span(low: float, high: float, digits: int = 4, *, signed: bool = False) -> Cell:
    """A cell with an interval.

    Example
    -------
    >>> span(0.41, 0.47, 3).text
    '[0.410, 0.470]'
    """
    ends = (number(end, digits, signed=signed).text for end in (low, high))
    return Cell(f"[{', '.join(ends)}]", raw=f"{low!r} {high!r}")


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
    words = any(isinstance(getattr(row, head.key, None), str) for row in rows)
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


def to_csv(table: Table) -> str:
    r"""Write the table as CSV: full precision, and a further column ``KEY_sd`` where cells have a spread.

    What a spreadsheet would take for a formula (:data:`FORMULA`) begins with an apostrophe, which it does not show;
    numbers, and several of them in a cell, stay as they are. A program that needs the text itself removes the first
    apostrophe of those before such a sign. A carriage return becomes a line feed, which CSV puts in quotation marks.

    Example
    -------
    >>> cells = [Cell("ListNet", "listnet"), Cell("0.45", 0.4512, "0.02", 0.0213)]
    >>> columns = Column("model", "Model", "left"), Column("map", "MAP")
    >>> to_csv(Table("t", "c", "s", columns, (Group("", (tuple(cells),)),)))
    'model,map,map_sd\nlistnet,0.4512,0.0213\n'
    >>> row = Cell("=1+1", "=1+1"), Cell("[-1, 2]", "-1.0 2.0")
    >>> to_csv(Table("t", "c", "s", columns, (Group("", (row,)),))).splitlines()[1]
    "'=1+1,-1.0 2.0"
    """
    rows = table.rows()
    spread = [any(row[i].spread_raw is not None for row in rows) for i in range(len(table.columns))]
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    header = []
    for column, has_spread in zip(table.columns, spread, strict=True):
        header += [column.key, f"{column.key}_sd"] if has_spread else [column.key]
    writer.writerow(map(_without_formula, header))
    for row in rows:
        values: list[Raw] = []
        for cell, has_spread in zip(row, spread, strict=True):
            raw = "" if cell.raw is None else cell.raw
            values += [raw, "" if cell.spread_raw is None else cell.spread_raw] if has_spread else [raw]
        writer.writerow(map(_without_formula, values))
    return stream.getvalue()


FORMULA = re.compile(r"'*[=+\-@\t\r\n]")
"""How a text begins that a spreadsheet takes for a formula, or that became one by taking away an apostrophe."""


def _without_formula(value: Raw) -> Raw:
    """A value of a cell in CSV; text that a spreadsheet would compute begins with an apostrophe."""
    if not isinstance(value, str) or not FORMULA.match(value):
        return value
    try:
        numbers = all(math.isfinite(float(part)) for part in value.split(" "))
    except ValueError:
        numbers = False
    return value if numbers and not re.search(r"[^-+.e\d ]", value) else f"'{value}".replace("\r", "\n")


def to_latex(table: Table) -> str:
    """Set the table with booktabs, everything escaped."""
    return _latex().render(table=table)


@cache
def _latex() -> Template:
    """The template of a table."""
    made = sources()
    made.filters |= {"tex": escaped, "running": lambda words: latex(words, escaped)}
    return made.get_template("table.tex.j2")


def sources() -> Environment:
    """Templates whose commands stand between ``<%`` and ``%>``, since braces are those of LaTeX and Typst."""
    return Environment(
        loader=FileSystemLoader(TEMPLATES),
        block_start_string="<%",
        block_end_string="%>",
        variable_start_string="<<",
        variable_end_string=">>",
        comment_start_string="<#",
        comment_end_string="#>",
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


_LATEX = {
    "\\": "\\textbackslash{}",
    "&": "\\&",
    "%": "\\%",
    "$": "\\$",
    "#": "\\#",
    "_": "\\_",
    "{": "\\{",
    "}": "\\}",
    "~": "\\textasciitilde{}",
    "^": "\\textasciicircum{}",
    "<": "\\textless{}",
    ">": "\\textgreater{}",
    "−": "$-$",
    "≤": "$\\le$",
    "≥": "$\\ge$",
    "≈": "$\\approx$",
    "λ": "$\\lambda$",
    "`": "\\textasciigrave{}",
    "\u00a0": "~",
}


def escaped(words: str) -> str:
    r"""Escape text for LaTeX.

    Example
    -------
    >>> escaped("50 % of R_X & ~ −1")
    '50 \\% of R\\_X \\& \\textasciitilde{} $-$1'
    """
    return "".join(_LATEX.get(letter, letter) for letter in words)
