"""How is a drawing drawn once, although it is written in several formats?

Most of the time of a drawing goes into the layout and into ticks and labels, not into the output. A recording keeps the
lines, shapes and texts that matplotlib draws, and repeats them for the renderer of another format.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from matplotlib.backend_bases import FigureCanvasBase, GraphicsContextBase, RendererBase
from matplotlib.transforms import Affine2D

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing

POINTS = 72.0
"""Dots per inch of a recording: its unit is a point."""


class Recording(RendererBase):
    """Keeps what is drawn, in points; a format of its own overrides the methods and calls them as well."""

    def __init__(self, drawing: Drawing) -> None:
        super().__init__()
        drawing.dpi = POINTS
        self.dpi = POINTS
        width, height = (float(side) for side in drawing.get_size_inches())
        self.width, self.height = POINTS * width, POINTS * height
        self._kept: list[Callable[[Any, float], None]] = []
        self._sizes: dict[tuple[Any, ...], tuple[float, float, float]] = {}
        _Canvas(drawing, self)
        drawing.draw(self)

    def repeat(self, target: RendererBase) -> None:
        """Draw everything for another renderer."""
        scale: Any = target.points_to_pixels(1.0)
        for draw in self._kept:
            draw(target, scale)

    def draw_path(self, gc: GraphicsContextBase, path: Any, transform: Any, rgbFace: Any = None) -> None:
        paint, placed = _copied(gc), transform.frozen()
        face = None if rgbFace is None else tuple(rgbFace)
        self._kept.append(
            lambda target, scale: target.draw_path(
                _scaled(paint, target, scale), path, placed + Affine2D().scale(scale), face
            )
        )

    def draw_markers(
        self,
        gc: GraphicsContextBase,
        marker_path: Any,
        marker_trans: Any,
        path: Any,
        transform: Any,
        rgbFace: Any = None,
    ) -> None:
        paint, shaped, placed = _copied(gc), marker_trans.frozen(), transform.frozen()
        face = None if rgbFace is None else tuple(rgbFace)
        self._kept.append(
            lambda target, scale: target.draw_markers(
                _scaled(paint, target, scale),
                marker_path,
                shaped + Affine2D().scale(scale),
                path,
                placed + Affine2D().scale(scale),
                face,
            )
        )

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
        if ismath:
            raise NotImplementedError("labels are words, no formulas")
        paint = _copied(gc)
        self._kept.append(
            lambda target, scale: target.draw_text(
                _scaled(paint, target, scale),
                scale * x,
                scale * (y if target.flipy() else self.height - y),
                s,
                prop,
                angle,
            )
        )

    def get_text_width_height_descent(self, s: str, prop: Any, ismath: Any) -> tuple[float, float, float]:
        key = (s, hash(prop))
        if key not in self._sizes:
            self._sizes[key] = super().get_text_width_height_descent(s, prop, ismath)
        return self._sizes[key]

    def get_canvas_width_height(self) -> tuple[float, float]:
        return self.width, self.height


class _Canvas(FigureCanvasBase):
    """Gives the layout of a drawing the renderer for which it is made."""

    def __init__(self, drawing: Drawing, renderer: Recording) -> None:
        super().__init__(drawing)
        self._renderer = renderer

    def get_renderer(self) -> Recording:
        return self._renderer


def _copied(gc: GraphicsContextBase) -> GraphicsContextBase:
    """How something is painted, which does not change when the drawing does."""
    copy = GraphicsContextBase()
    copy.copy_properties(gc)
    box = gc.get_clip_rectangle()
    copy.set_clip_rectangle(None if box is None else box.frozen())
    return copy


def _scaled(paint: GraphicsContextBase, target: RendererBase, scale: float) -> GraphicsContextBase:
    """The same paint for a renderer whose unit is another; widths of lines are points for all of them."""
    gc = target.new_gc()
    gc.copy_properties(paint)
    box = paint.get_clip_rectangle()
    gc.set_clip_rectangle(None if box is None else box.transformed(Affine2D().scale(scale)))
    return gc
