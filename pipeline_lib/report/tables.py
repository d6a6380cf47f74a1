"""How is a table shown on the page, in CSV and in LaTeX?

A :class:`Table` is built once; the page shows its cells, ``to_csv`` writes the numbers in full precision and
``to_latex`` sets it with booktabs.
"""

import csv
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from pipeline_lib.core.errors import DataError
from pipeline_lib.report.blocks import latex

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
    follow the text; ``strong`` sets it in bold. With ``running`` the text is running text, which may hold code.
    """

    text: str
    raw: Raw = None
    spread: str = ""
    spread_raw: float | None = None
    mark: str = ""
    strong: bool = False
    running: bool = False


@dataclass(frozen=True)
class Group:
    """Rows that belong together, under a title (or none)."""

    title: str
    rows: tuple[tuple[Cell, ...], ...]


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


def to_csv(table: Table) -> str:
    r"""Write the table as CSV: full precision, and a further column ``KEY_sd`` where cells have a spread.

    Example
    -------
    >>> cells = [Cell("ListNet", "listnet"), Cell("0.45", 0.4512, "0.02", 0.0213)]
    >>> columns = Column("model", "Model", "left"), Column("map", "MAP")
    >>> to_csv(Table("t", "c", "s", columns, (Group("", (tuple(cells),)),)))
    'model,map,map_sd\nlistnet,0.4512,0.0213\n'
    """
    rows = table.rows()
    spread = [any(row[i].spread_raw is not None for row in rows) for i in range(len(table.columns))]
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    header = []
    for column, has_spread in zip(table.columns, spread, strict=True):
        header += [column.key, f"{column.key}_sd"] if has_spread else [column.key]
    writer.writerow(header)
    for row in rows:
        values: list[Raw] = []
        for cell, has_spread in zip(row, spread, strict=True):
            raw = "" if cell.raw is None else cell.raw
            values += [raw, "" if cell.spread_raw is None else cell.spread_raw] if has_spread else [raw]
        writer.writerow(values)
    return stream.getvalue()


def to_latex(table: Table) -> str:
    """Set the table with booktabs, everything escaped."""
    align = "".join("l" if column.align == "left" else "r" for column in table.columns)
    lines = [
        "% needs \\usepackage{booktabs}",
        "\\begin{table}",
        "  \\centering",
        f"  \\caption{{{latex(table.caption, escaped)}}}",
        f"  \\label{{tab:{table.name}}}",
        f"  \\begin{{tabular}}{{{align}}}",
        "    \\toprule",
        f"    {' & '.join(escaped(column.title) for column in table.columns)} \\\\",
    ]
    for group in table.groups:
        lines.append("    \\midrule")
        if group.title:
            lines.append(f"    \\multicolumn{{{len(table.columns)}}}{{l}}{{\\emph{{{escaped(group.title)}}}}} \\\\")
        lines += [_latex_row(row) for row in group.rows]
    lines += ["    \\bottomrule", "  \\end{tabular}"]
    lines += [f"  \\par\\small {latex(note, escaped)}" for note in table.notes]
    return "\n".join([*lines, "\\end{table}", ""])


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
    "–": "--",
    "±": "$\\pm$",
    "≤": "$\\le$",
    "≥": "$\\ge$",
    "≈": "$\\approx$",
    "†": "$\\dagger$",
    "‡": "$\\ddagger$",
    "×": "$\\times$",
    "λ": "$\\lambda$",
    "·": "$\\cdot$",
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


def _latex_row(row: Sequence[Cell]) -> str:
    cells = " & ".join(_latex_cell(cell) for cell in row)
    # What follows the end of the line before must not be read as its argument.
    return f"    {'{}' if cells.startswith(('[', '*')) else ''}{cells} \\\\"


def _latex_cell(cell: Cell) -> str:
    shown = latex(cell.text, escaped) if cell.running else escaped(cell.text)
    if cell.strong:
        shown = f"\\textbf{{{shown}}}"
    if cell.spread:
        shown += f" {{\\scriptsize $\\pm$ {escaped(cell.spread)}}}"
    if cell.mark:
        shown += f"\\textsuperscript{{{escaped(cell.mark)}}}"
    return shown
