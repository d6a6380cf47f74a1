"""How do numbers become figures that read alike on paper, on screen and without colour?

Figures are drawn by matplotlib without a window, as SVG, whose letters are text. Where Typst is installed, it makes a
PDF of each for articles and slides, with the same letters as text. What a figure shows is also said in words (title and
description inside the SVG). Series differ in marker or dashes as well as in colour, and the colours (Okabe and Ito)
keep their order of lightness in grey. The same numbers give the same bytes: no dates, fixed identifiers. Labels are
words, never formulas: matplotlib reads none of them as TeX. How all drawings look is in ``templates/figure.mplstyle``.
"""

import html
import io
import os
import re
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import matplotlib as mpl
import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.colors import LinearSegmentedColormap, to_rgba
from matplotlib.container import ErrorbarContainer
from matplotlib.figure import Figure as Drawing
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

from pipeline_lib.core.files import write_text
from pipeline_lib.report import typesetting
from pipeline_lib.report.blocks import TEMPLATES
from pipeline_lib.report.tables import short
from pipeline_lib.report.titles import Drawn, Finding

INK, FAINT, RULE, PAPER = "#222222", "#6b6b6b", "#d9d9d9", "#ffffff"
"""The colours of ``figure.mplstyle``, for which the page has its own."""
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#4d4d4d")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
MARKS = ("*", "d", "p")
DASHES = ((5, 2), (7, 2, 1.5, 2), (1.5, 1.5), (9, 2.5), (7, 2, 1.5, 2, 1.5, 2), (3, 3), (12, 3))
WIDTH = 4.6
"""Width of every figure in inches: where a page is 390 pixels wide, a point is then more than a pixel."""
POINTS = 72.0 * WIDTH
LETTER, WIDE, HANDLE = 4.9, 6.4, 42.0
"""About how many points a letter takes, a bold letter or a capital, and the sign in front of a label of a legend."""
UNCUT = 20
"""Words of so many letters are never cut, however little room there is."""
LINE = 0.15
"""Height of a line of text in inches."""
HEAD, SMALL = 9, 8.0
"""Size in points of titles, and of the smallest letters: those in the cells of a heat map."""
SHORT = 50.0
"""Logarithmic axes over less than this factor have ticks between the powers of ten."""
LONG = 1e5
"""Logarithmic axes name powers of ten from here on as such."""
FAINTEST, SHADE = 0.06, 0.6
"""How dense the lightest and the darkest cell of a heat map are."""
Band = tuple[float, float, float, float]
"""A point of a line: (x, y, low, high)."""


class Measured(NamedTuple):
    """A number with the ends of its interval, which are the number itself where it has none."""

    value: float
    low: float
    high: float


Row = tuple[str, Mapping[str, Measured]]
"""A row of a figure: its label, and its numbers by series."""


@dataclass(frozen=True)
class Figure:
    """A figure with a caption that names where its numbers come from.

    ``name`` is the file name of its downloads, unless it is a ``copy_of`` a figure of another page, ``description``
    says in words what is to be seen, ``draw`` makes the drawing when it is asked for. Where the title may be a finding,
    ``finding`` is that, and ``drawn`` what it is judged on.
    """

    name: str
    title: str
    caption: str
    source: str
    description: str
    draw: Callable[[], Drawing]
    copy_of: str = field(default="", kw_only=True)
    finding: Finding | None = field(default=None, kw_only=True)
    drawn: Drawn | None = field(default=None, kw_only=True)
    block: ClassVar[str] = "figure"


def save(figure: Figure, folder: str | os.PathLike[str]) -> str:
    """Draw ``figure``, write it as SVG and, with Typst, as PDF into ``folder``, and return the SVG for the page.

    A copy of a figure of another page is drawn, because every drawing on a page has identifiers of its own, but has no
    files.
    """
    path, vector = Path(folder) / figure.name, _vector(figure)
    if not figure.copy_of:
        files, rules = with_classes({figure.name: vector})
        styled = files[figure.name].replace("<title", f"<defs><style>\n{rules}\n</style></defs>\n<title", 1)
        write_text(path.with_suffix(".svg"), styled)
        if typesetting.has_engine():
            title, words = map(typesetting.TYPST.words, (figure.title, figure.description))
            alone = f"#set document(title: {title}, date: none)\n#set page(width: auto, height: auto, margin: 0pt)\n"
            typesetting.write_pdf(f'{alone}#image("{path.stem}.svg", alt: {words})', path.with_suffix(".pdf"))
    return _for_page(vector)


def on_page(figure: Figure) -> str:
    """Draw ``figure`` as SVG for a page, and write no file."""
    return _for_page(_vector(figure))


def with_classes(pictures: Mapping[str, str]) -> tuple[dict[str, str], str]:
    """Pictures with a class in place of every style of their elements, and the rules of these classes.

    Example
    -------
    >>> with_classes({"a": '<svg><g style="fill: red"/><g style="fill: red"/></svg>'})
    ({'a': '<svg><g class="d0"/><g class="d0"/></svg>'}, '.d0 { fill: red }')
    """
    numbers: dict[str, int] = {}
    with_numbers = {
        name: re.sub(r' style="([^"]*)"', lambda found: f' class="d{numbers.setdefault(found[1], len(numbers))}"', svg)
        for name, svg in pictures.items()
    }
    return with_numbers, "\n".join(f".d{number} {{ {style} }}" for style, number in numbers.items())


def row_plot(
    panels: Mapping[str, Sequence[Row]], *, xlabel: str, log: str = "", beyond: str = "", line: float | None = None
) -> Drawing:
    """Draw rows of numbers with their intervals; a series looks alike in all rows.

    Panels with the same rows are next to each other, others below each other. ``log`` is ``"x"`` where the numbers have
    a logarithmic axis. Rows are shaded to the right of the numbers of the series ``beyond``. Intervals are read against
    the vertical ``line``, where there is one.
    """
    labels = [[_folded(label, 0.45 * POINTS) for label, _ in rows] for rows in panels.values()]
    lines = [label.split("\n") for of_panel in labels for label in of_panel]
    pitch = max(0.25, LINE * max(map(len, lines), default=1))
    across = min(2, len(panels)) if all(of_panel == labels[0] for of_panel in labels) else 1
    figure, axes, free = _panels(across, [pitch * len(of_panel) + 0.65 for of_panel in labels])
    room = (POINTS - LETTER * max((len(line) for label in lines for line in label), default=0)) / across
    names = dict.fromkeys(name for rows in panels.values() for _, values in rows for name in values)
    handles: dict[str, ErrorbarContainer] = {}
    for i, (axis, (title, rows)) in enumerate(zip(axes, panels.items(), strict=True)):
        for number, name in enumerate(names):
            places = [place for place, (_, values) in enumerate(rows) if name in values]
            if places:
                handles[name] = _intervals(axis, places, [rows[place][1][name] for place in places], number)
                handles[name].set_label(words(name))
        axis.set_yticks(range(len(rows)), labels[i])
        axis.set_ylim(len(rows) - 0.4, -0.6)
        axis.tick_params(axis="y", length=0, labelleft=i % across == 0)
        axis.set_xlabel(_folded(xlabel, room))
        axis.set_title(_folded(title, room))
        axis.grid(axis="x")
        axis.locator_params(axis="x", nbins=6 // across)
        logarithmic(axis, log)
        if line is not None:
            axis.axvline(line, color=FAINT, linewidth=0.8, zorder=0.5)
        right = axis.get_xlim()[1]
        for place, (_, values) in enumerate(rows):
            if beyond in values:
                left = values[beyond].value
                axis.barh(place, right - left, left=left, height=0.7, color=RULE, zorder=0.5)
        axis.set_xlim(right=right)
    _legend(figure, [handles[name] for name in names], free)
    return figure


def _intervals(axis: Axes, places: Sequence[int], found: Sequence[Measured], number: int) -> ErrorbarContainer:
    """Draw the numbers of a series; the first one has larger, open marks, on which others can be seen."""
    values, low, high = (np.array(column) for column in zip(*found, strict=True))
    ends = np.maximum(0.0, [values - low, high - values])
    size = {"markerfacecolor": "none", "markersize": 6.5} if number == 0 else {"markersize": 4.5}
    return axis.errorbar(values, places, xerr=ends, linestyle="", elinewidth=1.6, **(_look(number) | size))


def bar_plot(panels: Mapping[str, Sequence[tuple[str, float, bool]]], *, ylabels: Sequence[str]) -> Drawing:
    """Draw numbers by classes, in panels below each other that have a label each; marked classes have another colour.

    ``panels`` maps what a panel has classes of to these: the class, its number, and whether it is marked.
    """
    figure, axes, _ = _panels(1, [1.55] * len(panels))
    for axis, (xlabel, bars), ylabel in zip(axes, panels.items(), ylabels, strict=True):
        room = (POINTS - 60.0) / max(len(bars), 1)
        for place, (_, height, marked) in enumerate(bars):
            axis.bar(place, height, width=0.8, color=COLOURS[marked], hatch="//" if marked else None, edgecolor=PAPER)
        axis.set_xticks(range(len(bars)), [_folded(name, room) for name, *_ in bars])
        axis.tick_params(axis="x", length=0)
        axis.locator_params(axis="y", integer=True, nbins=4)
        axis.set_xlabel(_folded(xlabel, POINTS - 60.0))
        axis.set_ylabel(words(ylabel))
        axis.grid(axis="y")
        axis.set_axisbelow(True)
    return figure


def line_plot(
    panels: Mapping[str, Mapping[str, Sequence[Band]]],
    *,
    xlabel: str,
    ylabel: str,
    log: str = "",
    dashed: Mapping[str, Mapping[str, Sequence[Band]]] | None = None,
    marks: Mapping[str, Sequence[Band]] | None = None,
) -> Drawing:
    """Draw lines with bands, in panels on the same axes; a series looks alike in all of them.

    ``panels`` maps the title of a panel to its series by label; each point is ``(x, y, low, high)``, with
    ``low == y == high`` where there is no band. ``log`` names the logarithmic axes (``""``, ``"x"``, ``"y"`` or
    ``"xy"``). ``dashed`` are lines without a band, by panel as well, the first in the colour of the first series, and
    so on; ``marks`` are single points of at most three kinds, drawn in every panel.
    """
    across = min(2, len(panels))
    height = (2.4, 2.0, 1.8)[min(len(panels), 3) - 1]
    figure, axes, free = _panels(across, [height] * len(panels), sharex=True, sharey=True)
    room = (POINTS - 60.0) / across
    labels = list(dict.fromkeys(label for series in panels.values() for label in series))
    bounds = list(dict.fromkeys(label for series in (dashed or {}).values() for label in series))
    handles: dict[str, Artist] = {}
    for axis, (title, series) in zip(axes, panels.items(), strict=True):
        for label, points in series.items():
            x, y, low, high = zip(*points, strict=True)
            look = _look(labels.index(label))
            if low != y or high != y:
                axis.fill_between(x, low, high, color=look["color"], alpha=0.15, linewidth=0)
            often = 0.08 if len(x) > 12 else 1  # by distance, as a share of the drawing, where points are many
            [handles[label]] = axis.plot(x, y, **look, markersize=4, markevery=often, linewidth=1.2)
        for label, curve in (dashed or {}).get(title, {}).items():
            x, y, *_ = zip(*curve, strict=True)
            i = bounds.index(label)
            look = {"color": COLOURS[i % len(COLOURS)], "dashes": DASHES[i % len(DASHES)]}
            [handles[label]] = axis.plot(x, y, **look, linewidth=1.2)
        for sign, (label, places) in zip(MARKS, (marks or {}).items(), strict=False):
            x, y, *_ = zip(*places, strict=True)
            [handles[label]] = axis.plot(x, y, sign, color=PAPER, markeredgecolor=INK, markersize=9, zorder=3)
        logarithmic(axis, log)
        if "x" in log and across > 1:
            axis.xaxis.set_major_locator(LogLocator(numticks=4))
        if "x" not in log and all(float(point[0]).is_integer() for points in series.values() for point in points):
            axis.locator_params(axis="x", integer=True)
        axis.set_title(_folded(title, room))
        axis.grid()
    for axis in axes[-across:]:
        axis.tick_params(axis="x", which="both", labelbottom=True)  # also where the place below is free
        axis.set_xlabel(_folded(xlabel, room))
    if len(axes) > across:
        figure.supylabel(words(ylabel))
    else:
        axes[0].set_ylabel(_folded(ylabel, 72.0 * (height - 0.5)))
    for label, handle in handles.items():
        handle.set_label(words(label))
    _legend(figure, [handles[label] for label in dict.fromkeys([*labels, *handles])], free)
    return figure


def _look(number: int) -> dict[str, Any]:
    """How a series is drawn: no two have both colour and marker in common, and after seven the markers are open."""
    turn, place = divmod(number, len(COLOURS))
    colour = COLOURS[place]
    return {
        "color": colour,
        "marker": MARKERS[(place + turn) % len(MARKERS)],
        "markerfacecolor": PAPER if turn % 2 else colour,
    }


def logarithmic(axes: Axes, log: str) -> None:
    """Make the axes in ``log`` (``"x"``, ``"y"`` or both) logarithmic, with numbers as labels; the data are drawn."""
    for name in log:
        axis: Axis = getattr(axes, f"{name}axis")
        axes.set(**{f"{name}scale": "log"})
        low, high = axis.get_view_interval()
        label = FuncFormatter(
            lambda value, _: short(value) if value < LONG else f"{value:.0e}".replace("e+0", "e").replace("e+", "e")
        )
        axis.set_major_formatter(label)
        axis.set_minor_locator(LogLocator(subs=(2.0, 3.0, 5.0)) if high < SHORT * low else NullLocator())
        axis.set_minor_formatter(label)


def heat_maps(
    panels: Mapping[str, Sequence[Sequence[float | None]]],
    rows: Sequence[str],
    columns: Sequence[str],
    *,
    xlabel: str,
    ylabel: str,
    form: str = ".3f",
) -> Drawing:
    """Draw tables of positive numbers, darker for larger, each cell with its number; None stays empty.

    Every panel has a scale of its own (logarithmic): what is compared is how its numbers change, not the panels.
    """
    shown = {
        title: [["" if value is None else f"{value:{form}}".lstrip("0") for value in row] for row in values]
        for title, values in panels.items()
    }
    names = [_folded(row, 0.45 * POINTS) for row in rows]
    room = POINTS - LETTER * max(len(line) for name in names for line in name.split("\n")) - 30.0
    wide = 0.65 * SMALL * len(columns) * max(len(cell) for table in shown.values() for row in table for cell in row)
    across = min(2, len(panels), max(1, int(room / wide)))
    figure, axes, _ = _panels(across, [0.25 * len(rows) + 0.7] * len(panels), sharey=True)
    size = min(SMALL, SMALL * room / wide)
    places = [_folded(column, room / across / len(columns), WIDE) for column in columns]
    # Transparent colour is light on white and dark on black: the numbers can be read on both.
    shades = LinearSegmentedColormap.from_list("shades", [to_rgba(COLOURS[0], alpha) for alpha in (FAINTEST, SHADE)])
    for axis, (title, values) in zip(axes, panels.items(), strict=True):
        numbers = np.array(values, dtype=float)
        least = np.min(numbers[numbers > 0.0], initial=np.inf)
        logs = np.log(np.maximum(numbers, least if np.isfinite(least) else 1.0))
        axis.pcolormesh(np.ma.masked_invalid(logs), cmap=shades, edgecolors=PAPER, linewidth=1.0)
        for i, j in np.argwhere(~np.isnan(numbers)):
            # In a cell, so that the layout need not measure it
            axis.text(j + 0.5, i + 0.5, shown[title][i][j], ha="center", va="center", fontsize=size, in_layout=False)
        axis.set_ylim(len(rows), 0)
        axis.set_title(_folded(title, room / across))
        axis.set_xticks(np.arange(len(columns)) + 0.5, places)
        axis.set_yticks(np.arange(len(rows)) + 0.5, names)
        axis.tick_params(length=0)
        axis.set_xlabel(_folded(xlabel, room / across))
        axis.spines[:].set_visible(False)
    for axis in axes[::across]:
        axis.set_ylabel(words(ylabel))
    return figure


def _panels(
    across: int, heights: Sequence[float], *, sharex: bool = False, sharey: bool = False
) -> tuple[Drawing, list[Axes], list[Axes]]:
    """A drawing with a pair of axes for each of these heights in inches, ``across`` of them side by side.

    Returns the axes, and those at the end of the last row for which there is nothing to draw.
    """
    rows = heights[::across]
    figure = drawing(sum(rows) + 0.25)
    grid = figure.subplots(len(rows), across, squeeze=False, height_ratios=rows, sharex=sharex, sharey=sharey)
    axes: list[Axes] = grid.ravel().tolist()
    for axis in axes[len(heights) :]:
        axis.set_axis_off()
    return figure, axes[: len(heights)], axes[len(heights) :]


def _legend(figure: Drawing, handles: Sequence[Artist | ErrorbarContainer], free: Sequence[Axes]) -> None:
    """A legend in a free place, or below the drawing in as many columns as its width has room for."""
    widths = [LETTER * len(str(handle.get_label())) + HANDLE for handle in handles]
    if free and max(widths, default=0.0) < POINTS / 2.0:
        free[0].legend(handles=list(handles), loc="center")
        return
    tried = range(min(4, len(handles)), 1, -1)
    columns = next((n for n in tried if sum(map(np.max, np.array_split(widths, n))) < POINTS), 1)
    figure.set_figheight(figure.get_figheight() + 0.1 + 1.2 * LINE * -(-len(handles) // columns))
    figure.legend(handles=list(handles), loc="outside lower center", ncols=columns)


def _folded(label: str, room: float, letter: float = LETTER) -> str:
    """The label in as few lines as fit into so many points, all of about the same length.

    Words that are longer than a line, and than :data:`UNCUT` letters, are cut.
    """
    most = max(int(room / letter), 1)
    cut = re.sub(rf"\S{{{max(most, UNCUT)}}}(?=\S)", r"\g<0> ", label) if len(words(label)) > most else label
    shown = words(cut).replace(" = ", "\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}")
    if len(shown) <= most:
        return shown
    wrap = partial(textwrap.wrap, shown, break_long_words=False, break_on_hyphens=False)
    return min(("\n".join(wrap(n)) for n in range(most // 2 + 1, most + 1)), key=lambda lines: lines.count("\n"))


def words(label: str) -> str:
    """The label that matplotlib shows as it is: no formula between dollar signs, nothing left out of a legend."""
    shown = label.replace("$", r"\$")
    return f" {shown}" if shown.startswith("_") else shown


def drawing(height: float) -> Drawing:
    """An empty drawing of the page's width, ``height`` inches high."""
    return Drawing(figsize=(WIDTH, height), layout="constrained")


STYLE = mpl.rc_params_from_file(TEMPLATES / "figure.mplstyle", use_default_template=False)


def style(name: str = "") -> Any:
    """How all drawings look; ``name`` is that of the figure, to which the identifiers in its SVG are peculiar."""
    return mpl.rc_context({**STYLE, "svg.hashsalt": name})


def _vector(figure: Figure) -> str:
    """The drawing as SVG."""
    with style(figure.name):
        drawing = figure.draw()
        title = _folded(figure.title, POINTS, WIDE)
        further = [f"{axes.get_title()}{axes.get_xlabel()}".count("\n") for axes in drawing.axes]
        across = getattr(drawing.axes[0].get_gridspec(), "ncols", 1)
        drawing.set_figheight(drawing.get_figheight() + LINE * (title.count("\n") + sum(further) / across))
        drawing.suptitle(title, x=0.005, ha="left", fontsize=HEAD)
        # The layout is made once; with an engine at hand, matplotlib would draw everything twice for every format.
        if (layout := drawing.get_layout_engine()) is not None:
            layout.execute(drawing)
        drawing.set_layout_engine(None)
        written = io.StringIO()
        drawing.savefig(written, format="svg", metadata=dict.fromkeys(("Creator", "Date", "Format", "Type")))
    return _described(written.getvalue(), figure)


def _described(svg: str, figure: Figure) -> str:
    """The drawing with title and description for readers who do not see it, and nothing that other drawings share."""
    svg = re.sub(r"<!DOCTYPE.*?>|<defs>\s*<style.*?</style>\s*</defs>", "", svg, count=2, flags=re.DOTALL)
    svg = re.sub(r'<g id="[^"]*"', "<g", svg)  # groups are numbered from one in every drawing
    svg = _without_bare_groups(svg)
    svg = re.sub(r' transform="rotate\(-?0 [^"]*"|(?<=\n) +| +(?=\n)', "", svg)  # every letter is turned by 0
    # A tenth of a point is fine enough, and a letter of a path ends the number before it.
    svg = re.sub(r' (?:d|x|y|transform)="[^"]*"', lambda found: re.sub(r"(\.\d)\d+", r"\1", found[0]), svg)
    svg = re.sub(r'(?<= d=")[^"]*', lambda found: re.sub(r"\s*([A-Za-z])\s*", r"\1", found[0]), svg)
    told = {"title": figure.title, "desc": figure.description}
    said = "".join(f'<{tag} id="{figure.name}-{tag}">{html.escape(text)}</{tag}>' for tag, text in told.items())
    about = f'role="img" aria-labelledby="{figure.name}-title {figure.name}-desc" style="stroke-linejoin: round"'
    return re.sub(r"<svg ([^>]*)>", lambda found: f"<svg {about} {found[1]}>{said}", svg, count=1)


def _without_bare_groups(svg: str) -> str:
    """The drawing without groups that are empty or have no attribute, which are half of them."""
    kept: list[bool] = []

    def shown(tag: re.Match[str]) -> str:
        if not tag[0].startswith("</"):
            kept.append(not tag[0].startswith("<g>"))
            return tag[0] if kept[-1] else ""
        return tag[0] if kept.pop() else ""

    # A group may also be empty, <g .../>, and has no end then.
    return re.sub(r"<g( [^>]*)?(?<!/)>\s*|</g>\s*", shown, re.sub(r"<g( [^>]*)?/>\s*", "", svg))


def _for_page(svg: str) -> str:
    """The SVG for a page: as wide as its column, in colours that follow light and dark, in the page's font."""
    variables = {INK: "ink", FAINT: "faint", RULE: "rule", PAPER: "paper"}
    variables |= {colour: f"series-{i}" for i, colour in enumerate(COLOURS)}
    for colour, variable in variables.items():
        svg = svg.replace(colour, f"var(--{variable})")
    # In a file, a second font for the bold title would take a quarter of the PDF.
    svg = svg.replace(f"font-size: {HEAD}px", f"font-size: {HEAD}px; font-weight: bold")
    # Programs for drawing know xlink:href alone; browsers need no prefix.
    svg = svg[svg.index("<svg") :].replace("'DejaVu Sans'", "var(--sans)").replace(" xlink:href=", " href=")
    return re.sub(r' width="[^"]*pt" height="[^"]*pt"| xmlns(?::xlink)?="[^"]*"', "", svg, count=3)
