"""How does a page declare a figure: by its rows and what its axes show?

{{ lines("topk-regret", "Regret against the number of rounds", "Mean over seeds with 95 % intervals",
         curves(rows("topk-regret"), "T", "regret", band=("low", "high"), by="surrogate"),
         xlabel="rounds, T", ylabel="regret", log="xy") }}
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pipeline_lib.core.errors import DataError
from pipeline_lib.report import figures
from pipeline_lib.report.figures import Band, Figure, Measured, Pair
from pipeline_lib.report.queries import Rows
from pipeline_lib.report.tables import short

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


@dataclass(frozen=True)
class Comparison(Figure):
    """A figure of published numbers and ours, with its numbers by panel."""

    pairs: Mapping[str, Sequence[Pair]]


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


def thinned(drawn: Curves, most: int) -> Curves:
    """At most so many points of every curve, evenly spread on a logarithmic axis; the last is always among them."""
    kept = {}
    for label, points in drawn.points.items():
        last = len(points) - 1
        places = {0, last} | {round(last ** (i / (most - 1))) for i in range(most)} if last > 0 else {0}
        kept[label] = [points[i] for i in sorted(places)]
    return Curves(kept, drawn.source)


def lines(
    name: str,
    title: str,
    caption: str,
    drawn: Curves | Mapping[str, Curves],
    *,
    xlabel: str,
    ylabel: str,
    log: str = "",
    dashed: Curves = NONE,
    marks: Curves = NONE,
    description: str = "",
) -> Figure:
    """Declare a figure of curves on one pair of axes, or on a pair for every title; a label has one colour in all.

    ``dashed`` are lines without a band, ``marks`` single points; ``log`` names the logarithmic axes. Without a
    ``description`` the ends of every curve are said in words.
    """
    parts = {"": drawn} if isinstance(drawn, Curves) else drawn
    shown = {panel: _for_axis(one, log) for panel, one in parts.items()}
    cut = next((words for panel in parts if (words := _cut(parts[panel], shown[panel]))), "")
    told = (f"{panel}: {in_words(one, xlabel)}" if panel else in_words(one, xlabel) for panel, one in parts.items())
    return Figure(
        name=name,
        title=title,
        caption=caption + cut,
        source=sum((*parts.values(), dashed, marks), NONE).source,
        description=description or " ".join(told),
        draw=lambda: figures.line_plot(
            {panel: one.points for panel, one in shown.items()},
            xlabel=xlabel,
            ylabel=ylabel,
            log=log,
            dashed=dashed.points,
            marks=marks.points,
        ),
    )


def heat(
    name: str,
    title: str,
    caption: str,
    rows: Mapping[str, Rows] | Rows,
    *,
    x: str,
    y: str,
    value: str,
    xlabel: str,
    ylabel: str,
    form: str = ".3g",
    description: str = "",
) -> Figure:
    """Declare tables of positive numbers in shades, one for each title of ``rows``; cells without a row stay empty."""
    parts = {title: rows} if isinstance(rows, Rows) else dict(rows)
    across = sorted({place for part in parts.values() for place in part.column(x)})
    down = sorted({place for part in parts.values() for place in part.column(y)})
    values = {words: _grid(part, across, down, x, y, value) for words, part in parts.items()}
    ends = [v for grid in values.values() for row in grid for v in row if v is not None]
    words = f"{len(down)} by {len(across)} cells, from {short(min(ends))} to {short(max(ends))}." if ends else ""
    return Figure(
        name=name,
        title=title,
        caption=caption,
        source=", ".join(dict.fromkeys(part.source for part in parts.values())),
        description=description or words,
        draw=lambda: figures.heat_maps(
            values, [_place(v) for v in down], [_place(v) for v in across], xlabel=xlabel, ylabel=ylabel, form=form
        ),
    )


def against(
    name: str,
    title: str,
    caption: str,
    rows: Mapping[str, Rows] | Rows,
    *,
    label: str,
    published: str,
    ours: str,
    band: tuple[str, str] | None = None,
    names: Mapping[Any, str] | None = None,
    xlabel: str,
    description: str = "",
) -> Comparison:
    """Declare published numbers and ours on one axis, a pair for each row and a panel for each title of ``rows``.

    ``label``, ``published`` and ``ours`` are columns, ``band`` the columns with the ends of our interval, and ``names``
    words for the labels. The report's page of published numbers lists all of them, with a link to the figure.
    """
    parts = {"": rows} if isinstance(rows, Rows) else dict(rows)

    def pair(row: Any) -> Pair:
        which, value = getattr(row, label), getattr(row, ours)
        measured = None if value is None else Measured(value, *_ends(row, value, band))
        return Pair(str((names or {}).get(which, which)), getattr(row, published), measured)

    pairs = {words: [pair(row) for row in part] for words, part in parts.items()}
    differences = [
        (abs(pair.ours.value - pair.published), pair.label, pair.published, pair.ours.value)
        for part in pairs.values()
        for pair in part
        if pair.published is not None and pair.ours is not None
    ]
    words = ""
    if differences:
        _, which, printed, value = max(differences)
        words = (
            f"{len(differences)} published numbers and ours. The largest difference is that of {which}: "
            f"{short(printed)} published, {short(value)} measured here."
        )
    return Comparison(
        name=name,
        title=title,
        caption=caption,
        source=", ".join(dict.fromkeys(part.source for part in parts.values())),
        description=description or words,
        draw=lambda: figures.comparison_plot(pairs, xlabel=xlabel),
        pairs=pairs,
    )


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


def _cut(drawn: Curves, shown: Curves) -> str:
    kept = {label: {point[0]: point for point in points} for label, points in shown.points.items()}
    ends = [(kept.get(label, {}).get(point[0]), point) for label, points in drawn.points.items() for point in points]
    words = "; values of 0 and below have no place on the axis" if any(there is None for there, _ in ends) else ""
    if any(there is not None and there != point for there, point in ends):
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
