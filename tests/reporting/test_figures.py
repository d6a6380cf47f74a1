"""Are counts labelled plainly, is everything drawn where it belongs, and does the SVG show all that is drawn?"""

from __future__ import annotations

import itertools
import re
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure as Drawing

from pipeline_lib.reporting import svg
from pipeline_lib.reporting.figures import COLOURS, Figure, heat_maps, line_plot, save, style
from pipeline_lib.reporting.recording import Recording

SVG = "{http://www.w3.org/2000/svg}"
POINTS = [(1.0, 3.0, 2.0, 4.0), (10.0, 30.0, 20.0, 50.0), (200.0, 7.0, 5.0, 9.0)]


@pytest.mark.parametrize(
    ("places", "labels"),
    [
        ((2, 40), {"2", "10", "20"}),
        ((10, 2000), {"10", "100", "1,000"}),
        ((0.001, 1.0), {"0.01", "1"}),
        ((1e-7, 1.0), {"10⁻⁵"}),
    ],
)
def test_counts_are_labelled_plainly(places: tuple[float, float], labels: set[str]) -> None:
    drawing = line_plot({"a": [(x, 1.0, 1.0, 1.0) for x in places]}, xlabel="n", ylabel="y", log="x")
    drawing.draw_without_rendering()
    axis = drawing.axes[0].xaxis
    shown = {label.get_text() for which in ("major", "minor") for label in axis.get_ticklabels(which=which)}
    assert labels <= shown


def test_a_heat_map_without_a_gap_is_drawn() -> None:
    drawing = heat_maps({"hinge": [[0.0, -0.1]]}, ["10"], ["2", "4"], xlabel="m", ylabel="n")
    assert {text.get_text() for text in drawing.axes[0].texts} == {"0.000".lstrip("0"), "-0.100"}


def lines(labels: int = 1, log: str = "xy") -> Drawing:
    series = {f"line {i}": [(x, y + i, low + i, high + i) for x, y, low, high in POINTS] for i in range(labels)}
    return line_plot(series, xlabel="n", ylabel="y", log=log)


@pytest.mark.parametrize("log", ["", "x", "xy"])
def test_markers_lines_and_bands_are_where_matplotlib_puts_them(log: str) -> None:
    drawing = lines(log=log)
    root = ElementTree.fromstring(svg.drawn(drawing, "f"))
    place = drawing.axes[0].transData.transform
    height = 72.0 * drawing.get_size_inches()[1]
    wanted = [(x, height - y) for x, y in place([point[:2] for point in POINTS])]
    groups = [group for group in root.iter(f"{SVG}g") if group.get("fill") == COLOURS[0]]
    markers = [(float(use.get("x")), float(use.get("y"))) for group in groups for use in group.iter(f"{SVG}use")]
    legend = 1
    assert markers[: len(wanted)] == [pytest.approx(one, abs=0.06) for one in wanted]
    assert len(markers) == len(wanted) + legend
    [line] = [
        one.get("d") for one in root.iter(f"{SVG}path") if one.get("stroke") == COLOURS[0] and "M" in one.get("d")
    ][:1]
    assert corners(line) == [pytest.approx(one, abs=0.06) for one in wanted]
    [band] = [one.get("d") for one in root.iter(f"{SVG}path") if one.get("fill-opacity") == "0.15"]
    ends = [(x, height - y) for x, y in place([(x, end) for x, _, low, high in POINTS for end in (low, high)])]
    assert all(any(corner == pytest.approx(end, abs=0.06) for corner in corners(band)) for end in ends)


def corners(data: str) -> list[tuple[float, float]]:
    """The points of a path of straight lines."""
    found: list[tuple[float, float]] = []
    for letter, numbers in re.findall(r"([MLHV])([^MLHVZ]*)", data):
        values = [float(value) for value in numbers.split()]
        last = found[-1] if found else (0.0, 0.0)
        found.append({"H": (values[0], last[1]), "V": (last[0], values[0])}.get(letter) or (values[0], values[1]))
    return found


def test_all_words_of_a_drawing_are_text_within_it() -> None:
    drawing = lines(3)
    root = ElementTree.fromstring(svg.drawn(drawing, "f"))
    width, height = (72.0 * side for side in drawing.get_size_inches())
    texts = list(root.iter(f"{SVG}text"))
    assert {"n", "y", "1", "10", "100", "line 0", "line 1", "line 2"} <= {text.text for text in texts}
    assert all(0.0 < float(text.get("x")) < width and 0.0 < float(text.get("y")) < height for text in texts)


def test_what_a_recording_repeats_is_what_matplotlib_draws() -> None:
    pictures = []
    for recorded in (True, False):
        with style():
            drawing = lines(3)
            recording = Recording(drawing)
            drawing.set_layout_engine("none")
            drawing.dpi = 130
            if recorded:
                drawing.draw = recording.repeat  # type: ignore[method-assign, assignment]
            canvas = FigureCanvasAgg(drawing)
            canvas.draw()
            pictures.append(np.asarray(canvas.buffer_rgba())[..., :3].astype(float))
    one, other = pictures
    assert one.shape == other.shape
    assert one.min() < 100 < one.max()
    # Letters are placed by widths that differ by less than a pixel.
    assert np.abs(one - other).mean() < 3.0
    assert np.abs(one - np.roll(other, 8, axis=1)).mean() > 3.0 * np.abs(one - other).mean()


def test_no_two_of_many_series_look_alike() -> None:
    look = [(line.get_color(), line.get_marker(), line.get_markerfacecolor()) for line in lines(14).axes[0].get_lines()]
    assert len(set(look)) == len(look) == 14
    assert len({(marker, face == colour) for colour, marker, face in look}) == 14  # in grey as well


@pytest.mark.parametrize("count", [1, 3, 9])
@pytest.mark.parametrize("letters", [3, 20, 40])
def test_a_legend_fits_into_the_drawing(count: int, letters: int) -> None:
    series = {f"{i} " + "n" * letters: [(x, y, y, y) for x, y, *_ in POINTS] for i in range(count)}
    with style():
        drawing = line_plot(series, xlabel="n", ylabel="y")
        drawing.draw_without_rendering()
    box = drawing.legends[0].get_window_extent()
    assert box.x0 >= 0.0
    assert box.x1 <= drawing.bbox.x1


def test_a_figure_has_all_its_files_without_a_date_and_identifiers_of_its_own(tmp_path: Path) -> None:
    shown = {}
    for name, folder in itertools.product(("one", "two"), ("first", "again")):
        (tmp_path / folder).mkdir(exist_ok=True)
        shown[name] = save(Figure(name, "Title", "Caption", "s", "Words", lines), tmp_path / folder)
    files = {path.name: path.read_bytes() for path in (tmp_path / "first").iterdir()}
    assert sorted(files) == sorted(f"{name}.{kind}" for name in ("one", "two") for kind in ("svg", "pdf", "png"))
    assert files == {path.name: path.read_bytes() for path in (tmp_path / "again").iterdir()}
    assert files["one.pdf"].startswith(b"%PDF")
    assert b"Date" not in files["one.pdf"]
    one, two = (set(re.findall(r'\bid="([^"]+)"', text)) for text in shown.values())
    assert one
    assert not one & two
    for text in shown.values():
        ids = set(re.findall(r'\bid="([^"]+)"', text))
        used = re.findall(r'href="#([^"]+)"|url\(#([^)]+)\)', text)
        assert {place for pair in used for place in pair if place} <= ids
        assert not re.search(r"#[0-9a-f]{6}", text)  # colours are those of the page
