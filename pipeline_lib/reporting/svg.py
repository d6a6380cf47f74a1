"""How does a drawing become a small SVG, whose letters are text?

matplotlib's own SVG repeats the style of every line and tick. This renderer writes what is drawn alike once: lines of
one style become one path, a marker is defined once and used at its places, and coordinates have one decimal (a tenth
of a point). Text stays text, which can be searched and selected, and takes the font of the page.
"""

from __future__ import annotations

import html
import math
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from matplotlib.backend_bases import GraphicsContextBase
from matplotlib.colors import to_hex
from matplotlib.path import Path as Outline
from matplotlib.transforms import Affine2D

from pipeline_lib.reporting.recording import POINTS, Recording

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing

FONTS = "DejaVu Sans, Verdana, sans-serif"
"""Text is laid out by the widths of the first; the others are as wide or narrower."""
LARGEST_MARKER = 36.0
"""Width and height of markers in points; what is larger is drawn as a path of its own."""
_LETTERS = {Outline.MOVETO: "M", Outline.LINETO: "L", Outline.CURVE3: "Q", Outline.CURVE4: "C"}
_ANCHORS = {"left": ("start", 0.0), "center": ("middle", 0.5), "right": ("end", 1.0)}


class Piece(NamedTuple):
    """A part of the drawing: how it is painted, of what kind it is, and what there is to be painted."""

    paint: str
    kind: str
    content: str


def drawn(drawing: Drawing, name: str) -> str:
    """The drawing as SVG; ``name`` begins all its identifiers, so that several drawings can be on one page.

    Example
    -------
    >>> from matplotlib.figure import Figure
    >>> drawn(Figure(figsize=(1, 0.5)), "empty")[:37]
    '<svg xmlns="http://www.w3.org/2000/sv'
    """
    return Renderer(drawing, name).document()


class Renderer(Recording):
    """Collects what matplotlib draws, and records it for other formats."""

    def __init__(self, drawing: Drawing, name: str) -> None:
        self.name = name
        self._pieces: list[Piece] = []
        self._axes: list[list[int]] = []
        self._defined: dict[str, str] = {}
        super().__init__(drawing)

    def document(self) -> str:
        """Everything that was drawn."""
        defined = "".join(self._defined.values())
        size = f"{_short(self.width)} {_short(self.height)}"
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size}" width="{_short(self.width)}pt" '
            f'height="{_short(self.height)}pt" font-family="{FONTS}">'
            + (f"<defs>{defined}</defs>" if defined else "")
            + "".join(_joined(list(alike)) for _, alike in groupby(self._in_order(), key=lambda piece: piece[:2]))
            + "</svg>"
        )

    def open_group(self, s: str, gid: str | None = None) -> None:
        if s == "matplotlib.axis":
            self._axes.append([len(self._pieces)])

    def close_group(self, s: str) -> None:
        if s == "matplotlib.axis":
            self._axes[-1].append(len(self._pieces))

    def _in_order(self) -> list[Piece]:
        """The pieces, those of an axis by kind instead of tick by tick, and text last: nothing covers it."""
        pieces = list(self._pieces)
        for start, end in self._axes:
            pieces[start:end] = _by_paint(pieces[start:end])
        texts = [piece for piece in pieces if piece.kind == "text"]
        return [piece for piece in pieces if piece.kind != "text"] + _by_paint(texts)

    def draw_path(self, gc: GraphicsContextBase, path: Any, transform: Any, rgbFace: Any = None) -> None:
        super().draw_path(gc, path, transform, rgbFace)
        self._shape(gc, path, transform, rgbFace)

    def _shape(self, gc: GraphicsContextBase, path: Any, transform: Any, rgbFace: Any) -> None:
        if rgbFace is None and not gc.get_linewidth():
            return
        data, clip = self._outline(gc, path, transform, filled=rgbFace is not None)
        if not data:
            return
        face = "none" if rgbFace is None else to_hex(rgbFace)
        paint = f'fill="{face}"{_opacity("fill", rgbFace, gc)}{self._stroke(gc)}{clip}'
        # Where shapes of one path overlap, they would cover each other differently.
        self._pieces.append(Piece(paint, "line" if rgbFace is None else "shape", data))
        if gc.get_hatch():
            hatched = f'fill="url(#{self._hatch(gc)})"{clip}'
            self._pieces.append(Piece(hatched, "shape", data))

    def draw_markers(
        self,
        gc: GraphicsContextBase,
        marker_path: Any,
        marker_trans: Any,
        path: Any,
        transform: Any,
        rgbFace: Any = None,
    ) -> None:
        super().draw_markers(gc, marker_path, marker_trans, path, transform, rgbFace)
        places = transform.transform(path.vertices)
        places = places[np.isfinite(places).all(axis=1)]
        if np.ptp(marker_path.vertices @ marker_trans.get_matrix()[:2, :2].T, axis=0).max() > LARGEST_MARKER:
            # A collection of one shape, such as a band, comes as a marker at the origin.
            for x, y in places:
                self._shape(gc, marker_path, marker_trans + Affine2D().translate(x, y), rgbFace)
            return
        box = gc.get_clip_rectangle()
        if box is not None:
            inside = (places >= (box.x0 - 0.5, box.y0 - 0.5)) & (places <= (box.x1 + 0.5, box.y1 + 0.5))
            places = places[inside.all(axis=1)]
        if not len(places):
            return
        flipped = marker_trans + Affine2D().scale(1.0, -1.0)
        if len(marker_path.vertices) == 2:  # a tick
            ticks = (_data(flipped.transform_path(marker_path).transformed(self._shift(*place))) for place in places)
            self._pieces.append(Piece(f'fill="none"{self._stroke(gc)}', "line", "".join(ticks)))
            return
        shape = _data(flipped.transform_path(marker_path), digits=2)
        marker = self._define("m", shape, f'<path id="{{}}" d="{shape}"/>')
        face = "none" if rgbFace is None else to_hex(rgbFace)
        paint = f'fill="{face}"{_opacity("fill", rgbFace, gc)}{self._stroke(gc)}'
        spots = dict.fromkeys((_short(x), _short(self.height - y)) for x, y in places)
        uses = "".join(f'<use href="#{marker}" x="{x}" y="{y}"/>' for x, y in spots)
        self._pieces.append(Piece(paint, "markers", uses))

    def _shift(self, x: float, y: float) -> Affine2D:
        return Affine2D().translate(x, self.height - y)

    def draw_text(
        self,
        gc: GraphicsContextBase,
        x: float,
        y: float,
        s: str,
        prop: Any,
        angle: float,
        ismath: Any = False,
        mtext: Any = None,
    ) -> None:
        super().draw_text(gc, x, y, s, prop, angle, ismath, mtext)
        # By the end at which a text is aligned it stays in place where the font is another.
        anchor, share = _ANCHORS["center" if angle else mtext.get_horizontalalignment() if mtext else "left"]
        width, *_ = self.get_text_width_height_descent(s, prop, False)
        x += share * width * math.cos(math.radians(angle))
        y -= share * width * math.sin(math.radians(angle))  # matplotlib has turned y around for texts
        place = f'x="{_short(x)}" y="{_short(y)}"'
        turned = f' transform="rotate({-angle:g} {_short(x)} {_short(y)})"' if angle else ""
        paint = f'font-size="{prop.get_size_in_points():g}" fill="{to_hex(gc.get_rgb())}"'
        paint += ' font-weight="bold"' if prop.get_weight() == "bold" else ""
        paint += f' text-anchor="{anchor}"' if anchor != "start" else ""
        self._pieces.append(Piece(paint, "text", f"<text {place}{turned}>{html.escape(s, quote=False)}</text>"))

    def _outline(self, gc: GraphicsContextBase, path: Any, transform: Any, *, filled: bool) -> tuple[str, str]:
        """What is seen of a path, and the attribute that cuts it where that is not all of it."""
        flipped = transform + Affine2D().scale(1.0, -1.0).translate(0.0, self.height)
        box = gc.get_clip_rectangle()
        clean = path.cleaned(flipped, remove_nans=True, curves=True, simplify=path.should_simplify and not filled)
        if box is None:
            return _data(clean), ""
        left, right, top, bottom = box.x0, box.x1, self.height - box.y1, self.height - box.y0
        seen = clean.vertices[~np.isin(clean.codes, (Outline.STOP, Outline.CLOSEPOLY))]
        slack = 0.5  # half of a line's width, and the error of rounding
        if ((seen >= (left - slack, top - slack)) & (seen <= (right + slack, bottom + slack))).all():
            return _data(clean), ""
        edges = f'x="{_short(left)}" y="{_short(top)}" width="{_short(right - left)}" height="{_short(bottom - top)}"'
        place = self._define("c", edges, f'<clipPath id="{{}}"><rect {edges}/></clipPath>')
        return _data(clean), f' clip-path="url(#{place})"'

    def _stroke(self, gc: GraphicsContextBase) -> str:
        if not gc.get_linewidth() or gc.get_rgb()[3] == 0.0:
            return ""
        dashes: Any = gc.get_dashes()[1]
        words = f' stroke="{to_hex(gc.get_rgb())}" stroke-width="{gc.get_linewidth():.3g}"'
        words += _opacity("stroke", gc.get_rgb(), gc)
        if dashes is not None:
            words += f' stroke-dasharray="{" ".join(f"{dash:.3g}" for dash in dashes)}"'
        elif gc.get_capstyle() != "butt":
            words += ' stroke-linecap="square"'
        return words

    def _hatch(self, gc: GraphicsContextBase) -> str:
        data = _data(gc.get_hatch_path().transformed(Affine2D().scale(POINTS)))
        colour, width = to_hex(gc.get_hatch_color()), gc.get_hatch_linewidth()
        content = f'<path d="{data}" stroke="{colour}" stroke-width="{width:.3g}"/>'
        side = f'width="{POINTS:g}" height="{POINTS:g}"'
        return self._define(
            "h", content, f'<pattern id="{{}}" patternUnits="userSpaceOnUse" {side}>{content}</pattern>'
        )

    def _define(self, kind: str, key: str, element: str) -> str:
        """The identifier of something that is defined once and used in several places."""
        key = kind + key
        place = f"{self.name}-{kind}{list(self._defined).index(key) if key in self._defined else len(self._defined)}"
        self._defined.setdefault(key, element.format(place))
        return place


def _by_paint(pieces: list[Piece]) -> list[Piece]:
    """What is painted alike next to each other, in the order of the first of each."""
    first = {piece[:2]: i for i, piece in reversed(list(enumerate(pieces)))}
    return sorted(pieces, key=lambda piece: first[piece[:2]])


def _joined(alike: list[Piece]) -> str:
    """Neighbours that are painted alike, in one element."""
    paint, kind, _ = alike[0]
    contents = [piece.content for piece in alike]
    if kind == "line":
        return f'<path {paint} d="{"".join(contents)}"/>'
    if kind == "shape" and len(contents) == 1:
        return f'<path {paint} d="{contents[0]}"/>'
    inner = "".join(f'<path d="{data}"/>' for data in contents) if kind == "shape" else "".join(contents)
    return f"<g {paint}>{inner}</g>"


def _opacity(what: str, colour: Any, gc: GraphicsContextBase) -> str:
    if colour is None:
        return ""
    alpha = gc.get_alpha() if gc.get_forced_alpha() else colour[3] if len(colour) > 3 else 1.0
    return "" if alpha == 1.0 else f' {what}-opacity="{alpha:.3g}"'


def _data(path: Any, digits: int = 1) -> str:
    """The outline in SVG's letters; a straight line along an axis needs one number."""
    words: list[str] = []
    x = y = ""
    for vertices, code in path.iter_segments(simplify=False, curves=True):
        if code == Outline.CLOSEPOLY:
            words.append("Z")
            continue
        numbers = [_short(value, digits) for value in vertices]
        before, (x, y) = (x, y), numbers[-2:]
        if code == Outline.LINETO and (x, y) == before:
            continue
        if code == Outline.LINETO and x == before[0]:
            words.append(f"V{y}")
        elif code == Outline.LINETO and y == before[1]:
            words.append(f"H{x}")
        else:
            words.append(_LETTERS[code] + " ".join(numbers))
    return "".join(words) if len(words) > 1 else ""


def _short(value: float, digits: int = 1) -> str:
    """A number as short as it can be.

    Example
    -------
    >>> _short(0.04), _short(-0.04), _short(12.0), _short(-0.5), _short(518.44)
    ('0', '0', '12', '-.5', '518.4')
    """
    words = f"{value:.{digits}f}"
    if "." in words:
        words = words.rstrip("0").rstrip(".")
    words = words.replace("0.", ".", 1) if words.startswith(("0.", "-0.")) else words
    return "0" if words in ("-0", "-", "") else words
