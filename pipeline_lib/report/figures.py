"""How do numbers become figures that read alike on paper, on screen and without colour?

Figures are drawn by matplotlib without a window: as SVG for the page, whose letters are text, as PDF for articles and
as PNG for slides. What a figure shows is also said in words (title and description inside the SVG). Series differ in
marker or dashes as well as in colour, and the colours (Okabe and Ito) keep their order of lightness in grey. The same
numbers give the same bytes: no dates, fixed identifiers. Labels are words, never formulas: matplotlib reads none of
them as TeX.
"""

import io
import math
import os
import re
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, NamedTuple
from xml.etree import ElementTree

import matplotlib as mpl
import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure as Drawing
from matplotlib.patches import Rectangle
from matplotlib.ticker import FuncFormatter, LogLocator
from PIL import Image

from pipeline_lib.core.files import replacing, write_text

INK, FAINT, RULE, PAPER = "#222222", "#6b6b6b", "#d9d9d9", "#ffffff"
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#4d4d4d")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
MARKS = ("*", "d", "p")
DASHES = ((5, 2), (7, 2, 1.5, 2), (1.5, 1.5), (9, 2.5), (7, 2, 1.5, 2, 1.5, 2), (3, 3), (12, 3))
FONT = "'DejaVu Sans'"
"""The font by which drawings are laid out; readers who do not have it see one that is as wide or narrower."""
SVG, XLINK = "http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"
WIDTH = 7.2
"""Width of every figure in inches: the width of the page's column."""

LETTER, HANDLE = 4.8, 40.0
"""About how many points a letter of a legend takes, and the sign in front of a label."""
PNG_DPI = 120
SHORT = 50.0
"""Logarithmic axes over less than this factor have ticks between the powers of ten."""
SHADE = 0.6
"""How dense the darkest cell of a heat map is."""
Band = tuple[float, float, float, float]
"""A point of a line: (x, y, low, high)."""


@dataclass(frozen=True)
class Figure:
    """A figure with a caption that names where its numbers come from.

    ``name`` is the file name of its downloads, ``description`` says in words what is to be seen, ``draw`` makes the
    drawing when it is asked for.
    """

    name: str
    title: str
    caption: str
    source: str
    description: str
    draw: Callable[[], Drawing]
    block: ClassVar[str] = "figure"


@dataclass(frozen=True)
class Dot:
    """One model in a dot plot: mean, interval, and the value of each fold."""

    label: str
    mean: float
    low: float
    high: float
    folds: tuple[float, ...]
    control: bool


def save(figure: Figure, folder: str | os.PathLike[str]) -> str:
    """Draw ``figure``, write it as SVG, PDF and PNG into ``folder``, and return the SVG for the page."""
    path = Path(folder) / figure.name
    with style(figure.name):
        drawing = figure.draw()
        drawing.suptitle(words(figure.title), x=0.005, ha="left", fontsize=9, fontweight="bold")
        # The layout is made once; with an engine at hand, matplotlib would draw everything twice for every format.
        if (layout := drawing.get_layout_engine()) is not None:
            layout.execute(drawing)
        drawing.set_layout_engine(None)
        written, picture = io.StringIO(), io.BytesIO()
        drawing.savefig(written, format="svg", metadata=dict.fromkeys(("Creator", "Date", "Format", "Type")))
        vector = _described(written.getvalue(), figure)
        write_text(path.with_suffix(".svg"), vector)
        with replacing(path.with_suffix(".pdf")) as partial:
            drawing.savefig(partial, format="pdf", metadata=dict.fromkeys(("Creator", "Producer", "CreationDate")))
        drawing.savefig(picture, format="png", dpi=PNG_DPI, pil_kwargs={"compress_level": 0})
        with replacing(path.with_suffix(".png")) as partial:  # with 32 colours it takes a third of the room
            Image.open(picture).convert("RGB").quantize(32, dither=Image.Dither.NONE).save(partial, format="PNG")
    return _for_page(vector)


def dot_plot(
    labels: Sequence[str], panels: Mapping[str, Sequence[Dot | None]], *, interval: str = "95 % interval"
) -> Drawing:
    """Draw, for every measure (a panel), each model's mean with its interval above the values of its folds.

    ``labels`` names the rows; a model that was not measured leaves its row empty. A control far outside the learners'
    range is named at the edge instead of stretching the axis.
    """
    figure = drawing(0.34 * len(labels) + 1.45)
    axes = figure.subplots(1, len(panels), sharey=True, squeeze=False)[0]
    every = [dot for dots in panels.values() for dot in dots if dot is not None]
    for axis, (measure, dots) in zip(axes, panels.items(), strict=True):
        known = [dot for dot in dots if dot is not None]
        low, high = _range([dot for dot in known if not dot.control] or known, known)
        for row, dot in enumerate(dots):
            if dot is not None:
                _draw_dot(axis, row, dot, low, high)
        axis.set_xlim(low, high)
        rows_of(axis, labels, measure)
    signs: dict[str, dict[str, Any]] = {
        f"learner, mean and {interval}": {"color": COLOURS[0], "marker": "o", "markersize": 6}
    }
    if any(dot.control for dot in every):
        signs["control"] = {"color": FAINT, "marker": "s", "markersize": 6, "markerfacecolor": PAPER}
    if any(dot.folds for dot in every):
        signs["one fold"] = {"color": FAINT, "marker": "|", "markersize": 5, "linestyle": ""}
    _legend(figure, _signs(axes[0], signs))
    return figure


class Measured(NamedTuple):
    """A number of ours with the ends of its interval, which are the number itself where it has none."""

    value: float
    low: float
    high: float


class Pair(NamedTuple):
    """A published number and ours: what they are about, and each of them; None where there is none."""

    label: str
    published: float | None
    ours: Measured | None


def comparison_plot(panels: Mapping[str, Sequence[Pair]], *, xlabel: str) -> Drawing:
    """Draw published numbers and ours on one axis for each panel, one row for each pair of them."""
    figure = drawing(0.3 * max(map(len, panels.values())) + 1.3)
    axes = figure.subplots(1, len(panels), squeeze=False)[0]
    looks: dict[str, dict[str, Any]] = {
        "published": {"color": COLOURS[1], "marker": "D", "markersize": 7, "markerfacecolor": "none", "linestyle": ""},
        "measured here": {"color": COLOURS[0], "marker": "o", "markersize": 5},
    }
    for axis, (title, rows) in zip(axes, panels.items(), strict=True):
        for i, pair in enumerate(rows):
            if pair.ours is not None:
                ends = [pair.ours.low, pair.ours.high]
                axis.plot(ends, [i, i], color=COLOURS[0], linewidth=1.6, solid_capstyle="butt")
                axis.plot(pair.ours.value, i, **looks["measured here"])
            if pair.published is not None:
                axis.plot(pair.published, i, **looks["published"])
        rows_of(axis, [pair.label for pair in rows], xlabel)
        axis.set_title(words(title), fontsize=8.5)
        axis.locator_params(axis="x", nbins=max(3, 8 // len(panels)))
    _legend(figure, _signs(axes[0], looks))
    return figure


def data_plot(labels: Mapping[str, int], edges: Sequence[float], counts: Sequence[int]) -> Drawing:
    """Draw how labels are spread over documents and, when known, how many documents the queries have."""
    known = len(counts) > 0
    figure = drawing(2.3)
    axes = figure.subplots(1, 2 if known else 1, squeeze=False)[0]
    total = sum(labels.values())
    bars = axes[0].bar(list(labels), [100 * count / total for count in labels.values()], color=COLOURS[0], width=0.62)
    axes[0].bar_label(bars, [f"{count:,}" for count in labels.values()], padding=2, fontsize=7.5, color=FAINT)
    axes[0].set(xlabel="label", ylabel="share of documents (%)")
    axes[0].margins(y=0.15)
    if known:
        axes[1].stairs(counts, edges, fill=True, color=COLOURS[0])
        axes[1].set(xlabel="documents per query", ylabel="queries", xlim=(edges[0], edges[-1]))
        axes[1].yaxis.get_major_locator().set_params(integer=True)
    for axis in axes:
        axis.grid(axis="y")
    return figure


def line_plot(
    panels: Mapping[str, Mapping[str, Sequence[Band]]],
    *,
    xlabel: str,
    ylabel: str,
    log: str = "",
    dashed: Mapping[str, Sequence[Band]] | None = None,
    marks: Mapping[str, Sequence[Band]] | None = None,
) -> Drawing:
    """Draw lines with bands, in panels next to each other on the same axes; a series looks alike in all of them.

    ``panels`` maps the title of a panel to its series by label; each point is ``(x, y, low, high)``, with
    ``low == y == high`` where there is no band. ``log`` names the logarithmic axes (``""``, ``"x"``, ``"y"`` or
    ``"xy"``). ``dashed`` are lines without a band, the first in the colour of the first series, and so on, and
    ``marks`` single points of at most three kinds; both are drawn in every panel.
    """
    alone = len(panels) == 1
    figure = drawing(3.1 if alone else 3.4)
    axes = figure.subplots(1, len(panels), sharex=True, sharey=True, squeeze=False)[0]
    labels = list(dict.fromkeys(label for series in panels.values() for label in series))
    handles: dict[str, Artist] = {}
    for axis, (title, series) in zip(axes, panels.items(), strict=True):
        for label, points in series.items():
            x, y, low, high = zip(*points, strict=True)
            look = _look(labels.index(label))
            if low != y or high != y:
                axis.fill_between(x, low, high, color=look["color"], alpha=0.15, linewidth=0)
            sparse = {"markersize": 4.5} if alone else {"markersize": 3.5, "markevery": max(1, len(x) // 6)}
            [handles[label]] = axis.plot(x, y, **look, **sparse, linewidth=1.2)
        for i, (label, curve) in enumerate((dashed or {}).items()):
            x, y, *_ = zip(*curve, strict=True)
            look = {"color": COLOURS[i % len(COLOURS)], "dashes": DASHES[i % len(DASHES)]}
            [handles[label]] = axis.plot(x, y, **look, linewidth=1.2)
        for sign, (label, places) in zip(MARKS, (marks or {}).items(), strict=False):
            x, y, *_ = zip(*places, strict=True)
            [handles[label]] = axis.plot(x, y, sign, color=PAPER, markeredgecolor=INK, markersize=9, zorder=3)
        logarithmic(axis, log)
        if "x" not in log and all(float(point[0]).is_integer() for points in series.values() for point in points):
            axis.locator_params(axis="x", integer=True)
        axis.set(xlabel=words(xlabel))
        axis.set_title(words(title), fontsize=8.5)
        axis.grid()
    axes[0].set(ylabel=words(ylabel))
    for label, handle in handles.items():
        handle.set_label(words(label))
    _legend(figure, [handles[label] for label in dict.fromkeys([*labels, *handles])])
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
    """Make the axes in ``log`` (``"x"``, ``"y"`` or both) logarithmic, with numbers as labels, or powers of ten.

    matplotlib sets powers as formulas, which takes longer than all else that is drawn.
    """

    class Between(LogLocator):
        """Ticks at 2, 3 and 5 times a power of ten, on short axes only."""

        def tick_values(self, vmin: float, vmax: float) -> Any:
            return super().tick_values(vmin, vmax) if vmax < SHORT * vmin else []

    for name in log:
        axis: Axis = getattr(axes, f"{name}axis")
        axes.set(**{f"{name}scale": "log"})
        view = axis.get_view_interval
        axis.set_major_formatter(FuncFormatter(lambda value, _, view=view: _power_of_ten(value, *view())))
        axis.set_minor_locator(Between(subs=(2.0, 3.0, 5.0)))
        axis.set_minor_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}" if value >= 1.0 else f"{value:.3g}"))


_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def _power_of_ten(value: float, low: float, high: float) -> str:
    """The label of a power of ten on an axis from ``low`` to ``high``.

    Example
    -------
    >>> _power_of_ten(0.01, 0.005, 30.0), _power_of_ten(1000.0, 1.0, 2000.0), _power_of_ten(0.01, 1e-9, 1.0)
    ('0.01', '1,000', '10⁻²')
    """
    exponent = round(math.log10(value))
    if low < 1e-4 or high > 1e6:
        return "10" + str(exponent).translate(_RAISED)
    return f"{value:,.{max(0, -exponent)}f}"


def heat_maps(
    panels: Mapping[str, Sequence[Sequence[float | None]]],
    rows: Sequence[str],
    columns: Sequence[str],
    *,
    xlabel: str,
    ylabel: str,
    form: str = ".3f",
) -> Drawing:
    """Draw tables of positive numbers side by side, darker for larger, each cell with its number; None stays empty.

    Every panel has a scale of its own (logarithmic): what is compared is how its numbers change, not the panels.
    """
    figure = drawing(0.34 * len(rows) + 1.15)
    axes = figure.subplots(1, len(panels), sharey=True, squeeze=False)[0]
    for axis, (title, values) in zip(axes, panels.items(), strict=True):
        known = [value for row in values for value in row if value is not None and value > 0.0] or [1.0]
        low, width = math.log(min(known)), math.log(max(known) / min(known)) or 1.0
        axis.set(xlim=(-0.5, len(columns) - 0.5), ylim=(len(rows) - 0.5, -0.5))
        for i, row in enumerate(values):
            for j, value in enumerate(row):
                if value is not None:
                    # Transparent colour is light on white and dark on black: the number can be read on both.
                    shade = (math.log(max(value, min(known))) - low) / width
                    cell = Rectangle(
                        (j - 0.48, i - 0.46), 0.96, 0.92, color=COLOURS[0], alpha=SHADE * shade, linewidth=0
                    )
                    axis.add_patch(cell)
                    axis.text(j, i, f"{value:{form}}".lstrip("0"), ha="center", va="center", fontsize=6.5)
        axis.set_title(words(title), fontsize=8.5)
        axis.set_xticks(range(len(columns)), [words(column) for column in columns])
        axis.set_yticks(range(len(rows)), [words(row) for row in rows])
        axis.tick_params(length=0)
        axis.set_xlabel(words(xlabel))
        axis.spines[:].set_visible(False)
    axes[0].set_ylabel(words(ylabel))
    return figure


def rows_of(axis: Axes, labels: Sequence[str], xlabel: str) -> None:
    """Make the rows of a drawing, the first on top, with their labels."""
    axis.set_yticks(range(len(labels)), [words(label) for label in labels])
    axis.set_ylim(len(labels) - 0.4, -0.6)
    axis.set_xlabel(words(xlabel))
    axis.grid(axis="x")
    axis.tick_params(axis="y", length=0)


def _signs(axis: Axes, looks: Mapping[str, Mapping[str, Any]]) -> list[Artist]:
    """What a legend shows of lines and markers that look so, by their labels."""
    return [sign for label, look in looks.items() for sign in axis.plot([], [], label=label, **look)]


def _legend(figure: Drawing, handles: Sequence[Artist]) -> None:
    """A legend below the drawing, in as many columns as its width has room for."""
    widths = [LETTER * len(str(handle.get_label())) + HANDLE for handle in handles]
    # matplotlib fills column by column, the first ones with one more where they cannot be alike.
    fits = (
        count
        for count in range(min(4, len(handles)), 1, -1)
        if sum(max(map(float, column)) for column in np.array_split(widths, count)) <= 72.0 * WIDTH
    )
    figure.legend(handles=list(handles), loc="outside lower center", ncols=next(fits, 1))


def _draw_dot(axis: Axes, row: int, dot: Dot, low: float, high: float) -> None:
    colour = FAINT if dot.control else COLOURS[0]
    if not low <= dot.mean <= high:
        over = dot.mean > high
        words = f"{dot.mean:.3f} →" if over else f"← {dot.mean:.3f}"
        place = (high - 0.02 * (high - low)) if over else (low + 0.02 * (high - low))
        axis.text(place, row, words, ha="right" if over else "left", va="center", fontsize=7.5, color=FAINT)
        return
    axis.plot([dot.low, dot.high], [row, row], color=colour, linewidth=1.6, solid_capstyle="butt")
    face = PAPER if dot.control else colour
    axis.plot(dot.mean, row, marker="s" if dot.control else "o", color=colour, markerfacecolor=face, markersize=6)
    axis.plot(dot.folds, [row + 0.27] * len(dot.folds), "|", color=FAINT, markersize=4.5, markeredgewidth=0.9)


def _range(learners: Sequence[Dot], dots: Sequence[Dot]) -> tuple[float, float]:
    """The learners' range, widened to take in what lies within twice its width."""
    values = [value for dot in learners for value in (dot.low, dot.high, *dot.folds)]
    low, high = min(values), max(values)
    reach = 2 * max(high - low, 1e-3)
    near = [v for dot in dots for v in (dot.low, dot.high, *dot.folds) if low - reach <= dot.mean <= high + reach]
    low, high = min(near), max(near)
    margin = 0.06 * max(high - low, 1e-3)
    return low - margin, high + margin


def words(label: str) -> str:
    """The label that matplotlib shows as it is: no formula between dollar signs, nothing left out of a legend."""
    shown = label.replace("$", r"\$")
    return f" {shown}" if shown.startswith("_") else shown


def drawing(height: float) -> Drawing:
    """An empty drawing of the page's width, ``height`` inches high."""
    return Drawing(figsize=(WIDTH, height), layout="constrained")


def style(name: str = "") -> Any:
    """How all drawings look; ``name`` is that of the figure, to which the identifiers in its SVG are peculiar."""
    return mpl.rc_context(
        {
            "svg.fonttype": "none",
            "svg.hashsalt": name,
            "font.family": "DejaVu Sans",
            "font.size": 8.5,
            "text.color": INK,
            "axes.labelcolor": INK,
            "axes.edgecolor": FAINT,
            "axes.linewidth": 0.7,
            "axes.spines.top": False,
            "axes.spines.right": False,
            "axes.axisbelow": True,
            "axes.facecolor": PAPER,
            "figure.facecolor": PAPER,
            "grid.color": RULE,
            "grid.linewidth": 0.6,
            "xtick.color": INK,
            "ytick.color": INK,
            "xtick.major.width": 0.7,
            "ytick.major.width": 0.7,
            "legend.frameon": False,
            "legend.fontsize": 8,
        }
    )


def _described(svg: str, figure: Figure) -> str:
    """The drawing in half the bytes, with title and description for readers who do not see it."""
    ElementTree.register_namespace("", SVG)
    ElementTree.register_namespace("xlink", XLINK)
    looks: dict[str, str] = {}
    root = ElementTree.fromstring(svg)
    root.remove(root[0])  # the definitions begin with a style for all elements, which they inherit here
    [root] = _short(root, f"k{zlib.crc32(figure.name.encode()):x}-", looks)
    root.attrib |= {"role": "img", "style": f"font-family:{FONT}, Verdana, sans-serif;stroke-linejoin:round"}
    told = {
        "title": figure.title,
        "desc": figure.description,
        "style": "".join(f".{k}{{{v}}}" for v, k in looks.items()),
    }
    for place, (tag, text) in enumerate(told.items()):
        element = ElementTree.Element(f"{{{SVG}}}{tag}", {} if tag == "style" else {"id": f"{figure.name}-{tag}"})
        element.text = text
        root.insert(place, element)
    root.set("aria-labelledby", f"{figure.name}-title {figure.name}-desc")
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


def _short(element: ElementTree.Element, prefix: str, looks: dict[str, str]) -> list[ElementTree.Element]:
    """The element, or what it contains if it is a group that says nothing, without what makes it long.

    Numbers have two decimals (of a point), white space is left out, and a style is a class in ``looks``, whose names
    begin with ``prefix``.
    """
    element[:] = [one for child in element for one in _short(child, prefix, looks)]
    element.tail = None
    if not (element.text or "").strip():
        element.text = None
    if element.tag == f"{{{SVG}}}g":
        element.attrib.pop("id", None)  # groups are numbered from one in every drawing
        if not element.attrib:
            return element[:]
    if element.get("transform", "").startswith("rotate(-0 "):
        del element.attrib["transform"]
    for name in {"d", "x", "y", "width", "height", "transform"} & element.attrib.keys():
        value = re.sub(
            r"\d+\.\d+", lambda number: f"{float(number[0]):.2f}".rstrip("0").rstrip("."), element.attrib[name]
        )
        element.set(name, re.sub(r"\s*([A-Za-z])\s*", r"\1", value) if name == "d" else value)
    if look := element.attrib.pop("style", ""):
        look = re.sub(r"font-family: [^;]*(; )?", "", look).replace(": ", ":").replace("; ", ";")
        element.set("class", looks.setdefault(look, f"{prefix}{len(looks)}"))
    return [element]


def _for_page(svg: str) -> str:
    """The SVG for a page: as wide as its column, in colours that follow light and dark, in the page's font."""
    variables = {INK: "ink", FAINT: "faint", RULE: "rule", PAPER: "paper"}
    variables |= {colour: f"series-{i}" for i, colour in enumerate(COLOURS)}
    for colour, variable in variables.items():
        svg = svg.replace(colour, f"var(--{variable})")
    svg = svg[svg.index("<svg") :].replace(f"{FONT}, Verdana, sans-serif", "var(--sans)")
    return re.sub(r' width="[^"]*pt" height="[^"]*pt"| xmlns(?::xlink)?="[^"]*"', "", svg, count=3)
