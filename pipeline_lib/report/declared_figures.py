"""How does a page declare a figure: by its rows and what its axes show?

{{ lines("topk-regret", "Regret against the number of rounds", "Mean over seeds with 95 % intervals",
         curves(rows("topk-regret"), "T", "regret", band=("low", "high"), by="surrogate"),
         xlabel="rounds, T", ylabel="regret", log="xy") }}
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from pipeline_lib.core.errors import DataError
from pipeline_lib.report import figures
from pipeline_lib.report.figures import Band, Figure, Measured, Row
from pipeline_lib.report.queries import Rows
from pipeline_lib.report.tables import short
from pipeline_lib.report.titles import Drawn, Finding, Points

LEAST_SHOWN = 0.1
"""A band that comes near 0 is cut at this share of its value on a logarithmic axis, where 0 has no place.

Values that are not above 0 are left out there, and the caption says so.
"""


@dataclass(frozen=True)
class Curves:
    """Series of points ``(x, y, low, high)`` by label, and the files they come from."""

    points: Mapping[str, Sequence[Band]]
    source: str

    def __add__(self, other: "Curves") -> "Curves":
        """Both, in this order."""
        both = dict.fromkeys([*self.source.split(", "), *other.source.split(", ")])
        return Curves({**self.points, **other.points}, ", ".join(filter(None, both)))


NONE = Curves({}, "")
PRINTED, OURS = "published", "measured here"
"""The series of a comparison."""


@dataclass(frozen=True)
class RowFigure(Figure):
    """A figure of rows of numbers, with these by panel."""

    rows: Mapping[str, Sequence[Row]]


def curves(
    rows: Rows,
    x: str,
    y: str,
    label: str = "",
    *,
    by: str = "",
    names: Mapping[Any, str] | None = None,
    band: tuple[str, str] | None = None,
) -> Curves:
    """One curve through all rows under ``label``, or one for every value of the column ``by``.

    ``names`` are words for the values of ``by`` (and then only these values are drawn, in this order), ``band`` the
    columns with the ends of an interval. Points are put in ascending order of ``x``; rows without a value are left out.

    Example
    -------
    >>> rows = Rows([{"T": 20, "regret": 3.0, "loss": "kl"}, {"T": 10, "regret": 2.0, "loss": "kl"}], ("t",))
    >>> curves(rows, "T", "regret", by="loss", names={"kl": "KL", "squared": "squared"}).points
    {'KL': [(10, 2.0, 2.0, 2.0), (20, 3.0, 3.0, 3.0)]}
    """
    parts = rows.by(by) if by else {label: rows}
    titles = {value: str(value) for value in parts} if names is None or not by else names
    series = {title: _points(parts[value], x, y, band) for value, title in titles.items() if value in parts}
    return Curves({title: points for title, points in series.items() if points}, rows.source)


def power(curve: Curves, exponent: float, label: str) -> Curves:
    """A reference line ``x^exponent`` through the first point of the first curve."""
    if not curve.points:
        return NONE
    points = next(iter(curve.points.values()))
    x_0, y_0 = points[0][:2]
    heights = ((x, y_0 * (x / x_0) ** exponent) for x, *_ in points)
    return Curves({label: [(x, y, y, y) for x, y in heights]}, curve.source)


def lines(
    name: str,
    title: str | Finding,
    caption: str,
    drawn: Curves | Mapping[str, Curves],
    *,
    xlabel: str,
    ylabel: str,
    log: str = "",
    dashed: Curves | Mapping[str, Curves] = NONE,
    marks: Curves = NONE,
) -> Figure:
    """Declare a figure of curves on one pair of axes, or on a pair for every title; a label has one colour in all.

    ``dashed`` are lines without a band, in all pairs or by title, ``marks`` single points; ``log`` names the
    logarithmic axes. The ends of every curve are said in words.
    """
    parts = {"": drawn} if isinstance(drawn, Curves) else drawn
    bounds = dict.fromkeys(parts, dashed) if isinstance(dashed, Curves) else dashed
    shown = {panel: _for_axis(one, log) for panel, one in parts.items()}
    told = (f"{panel}: {in_words(one, xlabel)}" if panel else in_words(one, xlabel) for panel, one in parts.items())
    source = sum((*parts.values(), *bounds.values(), marks), NONE).source
    return Figure(
        name=name,
        caption=caption + _cut(parts.values(), log),
        source=source,
        **_titled(title, Drawn(_by_panel(parts), source, _by_panel(bounds))),
        description=" ".join(told),
        draw=lambda: figures.line_plot(
            {panel: one.points for panel, one in shown.items()},
            xlabel=xlabel,
            ylabel=ylabel,
            log=log,
            dashed={panel: one.points for panel, one in bounds.items()},
            marks=marks.points,
        ),
    )


def heat(
    name: str,
    title: str | Finding,
    caption: str,
    rows: Mapping[str, Rows] | Rows,
    *,
    x: str,
    y: str,
    value: str,
    xlabel: str,
    ylabel: str,
    form: str = ".3g",
) -> Figure:
    """Declare tables of positive numbers in shades, one for each title of ``rows``; cells without a row stay empty."""
    parts = {"": rows} if isinstance(rows, Rows) else dict(rows)
    across = sorted({place for part in parts.values() for place in part.column(x)})
    down = sorted({place for part in parts.values() for place in part.column(y)})
    values = {words: _grid(part, across, down, x, y, value) for words, part in parts.items()}
    ends = [v for grid in values.values() for row in grid for v in row if v is not None]
    words = f"{len(down)} by {len(across)} cells, from {short(min(ends))} to {short(max(ends))}." if ends else ""
    source = ", ".join(dict.fromkeys(part.source for part in parts.values()))
    return Figure(
        name=name,
        caption=caption,
        source=source,
        **_titled(title, Drawn({panel: _along(grid, down, across, xlabel) for panel, grid in values.items()}, source)),
        description=words,
        draw=lambda: figures.heat_maps(
            values, [_place(v) for v in down], [_place(v) for v in across], xlabel=xlabel, ylabel=ylabel, form=form
        ),
    )


def against(
    name: str,
    title: str | Finding,
    caption: str,
    rows: Mapping[str, Rows] | Rows,
    *,
    label: str,
    published: str,
    ours: str,
    band: tuple[str, str] | None = None,
    xlabel: str,
) -> RowFigure:
    """Declare published numbers and ours on one axis, a pair for each row and a panel for each title of ``rows``.

    ``label``, ``published`` and ``ours`` are columns, ``band`` the columns with the ends of our interval. The report's
    page of published numbers lists all of them, with a link to the figure.
    """
    parts = {"": rows} if isinstance(rows, Rows) else dict(rows)

    def shown(row: Any) -> Row:
        printed, value = getattr(row, published), getattr(row, ours)
        known = {} if printed is None else {PRINTED: Measured(printed, printed, printed)}
        known |= {} if value is None else {OURS: Measured(value, *_ends(row, value, band))}
        return str(getattr(row, label)), known

    drawn = {words: [shown(row) for row in part] for words, part in parts.items()}
    source = ", ".join(dict.fromkeys(part.source for part in parts.values()))
    return row_figure(name, title, caption, drawn, xlabel=xlabel, source=source)


def row_figure(
    name: str,
    title: str | Finding,
    caption: str,
    panels: Mapping[str, Sequence[Row]],
    *,
    xlabel: str,
    source: str,
    log: str = "",
    beyond: str = "",
    line: float | None = None,
) -> RowFigure:
    """A figure of rows, whose numbers are all said in words; ``beyond`` is a series from which on rows are shaded.

    Intervals are read against the vertical ``line``, where there is one.

    Example
    -------
    >>> panels = {"": [("G", {"published": Measured(2.0, 2.0, 2.0), "measured here": Measured(1.5, 1.4, 1.6)})]}
    >>> row_figure("g", "G", "Ours", panels, xlabel="constant", source="tables/made.parquet").description
    'G: published 2, measured here 1.5 [1.4, 1.6].'
    """
    said = []
    for panel, rows in panels.items():
        for label, known in rows:
            numbers = ", ".join(f"{series} {_with_interval(one)}" for series, one in known.items())
            said.append(f"{panel}, {label}: {numbers}" if panel else f"{label}: {numbers}")
    draw = partial(figures.row_plot, panels, xlabel=xlabel, log=log, beyond=beyond, line=line)
    return RowFigure(
        name=name,
        caption=caption,
        source=source,
        description=f"{'; '.join(said)}.",
        draw=draw,
        rows=panels,
        **_titled(title, Drawn({panel: _by_series(rows) for panel, rows in panels.items()}, source)),
    )


def _with_interval(one: Measured) -> str:
    return short(one.value) if one.low == one.high else f"{short(one.value)} [{short(one.low)}, {short(one.high)}]"


def _titled(title: str | Finding, drawn: Drawn) -> dict[str, Any]:
    """The title of a figure, and the finding that it may be."""
    if isinstance(title, str):
        return {"title": title}
    return {"title": title.title(drawn), "finding": title, "drawn": drawn}


def _by_panel(parts: Mapping[str, Curves]) -> dict[str, Mapping[str, Points]]:
    return {panel: one.points for panel, one in parts.items()}


def _along(
    grid: Sequence[Sequence[float | None]], down: Sequence[Any], across: Sequence[Any], xlabel: str
) -> dict[str, Points]:
    """The rows of a shaded table under their places, and its columns under theirs, after what they are."""

    def points(places: Sequence[Any], cells: Sequence[float | None]) -> Points:
        return [(x, v, v, v) for x, v in zip(places, cells, strict=True) if v is not None]

    rows = {_place(y): points(across, cells) for y, cells in zip(down, grid, strict=True)}
    columns = zip(across, zip(*grid, strict=True), strict=True)
    return rows | {f"{xlabel} = {_place(x)}": points(down, cells) for x, cells in columns}


def _by_series(rows: Sequence[Row]) -> dict[str, Points]:
    names = dict.fromkeys(name for _, known in rows for name in known)
    return {name: [(label, *known[name]) for label, known in rows if name in known] for name in names}


def in_words(drawn: Curves, x: str) -> str:
    """The ends of every curve.

    Example
    -------
    >>> in_words(Curves({"KL": [(10, 2.0, 2.0, 2.0), (20, 3.0, 3.0, 3.0)]}, "t"), "rounds, T")
    'From the least to the largest value of rounds, T: KL from 2 at 10 to 3 at 20.'
    """
    ends = [
        f"{label} from {short(points[0][1])} at {_place(points[0][0])} to {short(points[-1][1])} at "
        f"{_place(points[-1][0])}"
        for label, points in drawn.points.items()
    ]
    return f"From the least to the largest value of {x}: {'; '.join(ends)}."


def _ends(row: Any, value: float, band: tuple[str, str] | None) -> tuple[float, float]:
    """The ends of a row's interval, which are the value itself where there is none."""
    low, high = (getattr(row, end) for end in band) if band else (None, None)
    return value if low is None else low, value if high is None else high


def _points(rows: Rows, x: str, y: str, band: tuple[str, str] | None) -> list[Band]:
    known = (row for row in rows if getattr(row, y) is not None)
    return sorted((getattr(row, x), getattr(row, y), *_ends(row, getattr(row, y), band)) for row in known)


def _for_axis(drawn: Curves, log: str) -> Curves:
    if "y" not in log:
        return drawn
    above = {
        label: [(x, y, max(low, LEAST_SHOWN * y), high) for x, y, low, high in points if y > 0.0]
        for label, points in drawn.points.items()
    }
    return Curves({label: points for label, points in above.items() if points}, drawn.source)


def _cut(drawn: Iterable[Curves], log: str) -> str:
    """What a logarithmic axis leaves out."""
    if "y" not in log:
        return ""
    ends = [(y, low) for one in drawn for points in one.points.values() for _, y, low, _ in points]
    words = "; values of 0 and below have no place on the axis" if any(y <= 0.0 for y, _ in ends) else ""
    if any(low < LEAST_SHOWN * y for y, low in ends):
        words += "; bands that come near 0 are cut at a tenth of the value"
    return words


def _grid(part: Rows, across: list[Any], down: list[Any], x: str, y: str, value: str) -> list[list[float | None]]:
    cells: dict[tuple[Any, Any], float | None] = {}
    for row in part:
        key = (getattr(row, y), getattr(row, x))
        if key in cells:
            raise DataError(f"{part.source}: expected one row with {y}, {x} = {key}, found several")
        cells[key] = getattr(row, value)
    return [[cells.get((i, j)) for j in across] for i in down]


def _place(value: Any) -> str:
    return short(value) if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else str(value)
