"""Are counts labelled plainly, do series differ, do legends fit, and are the files the same again?"""

import itertools
import math
import re
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
from matplotlib.figure import Figure as Drawing
from matplotlib.text import Text

from pipeline_lib.report.figures import Figure, Measured, heat_maps, line_plot, row_plot, save, style

POINTS = [(1.0, 3.0, 2.0, 4.0), (10.0, 30.0, 20.0, 50.0), (200.0, 7.0, 5.0, 9.0)]


@pytest.mark.parametrize(
    ("places", "labels"),
    [
        ((2, 40), {"2", "10", "20"}),
        ((10, 2000), {"10", "100", "1,000"}),
        ((0.001, 1.0), {"0.01", "1"}),
        ((1e-7, 1.0), {"1e−5"}),
    ],
)
def test_counts_are_labelled_plainly(places: tuple[float, float], labels: set[str]) -> None:
    drawing = line_plot({"": {"a": [(x, 1.0, 1.0, 1.0) for x in places]}}, xlabel="n", ylabel="y", log="x")
    drawing.draw_without_rendering()
    axis = drawing.axes[0].xaxis
    shown = {label.get_text() for which in ("major", "minor") for label in axis.get_ticklabels(which=which)}
    assert labels <= shown


def test_a_heat_map_without_a_gap_is_drawn() -> None:
    drawing = heat_maps({"hinge": [[0.0, -0.1]]}, ["10"], ["2", "4"], xlabel="m", ylabel="n")
    assert {text.get_text() for text in drawing.axes[0].texts} == {"0.000".lstrip("0"), "-0.100"}


def test_rows_have_their_numbers_and_panels_with_the_same_rows_name_them_once() -> None:
    ours, printed = Measured(0.5, 0.4, 0.6), Measured(0.7, 0.7, 0.7)
    rows = [("G", {"published": printed, "measured here": ours}), ("H", {"measured here": ours})]
    drawing = row_plot({"a": rows, "b": rows}, xlabel="constant")
    published, measured = (one.lines[0].get_xydata().tolist() for one in drawing.axes[0].containers)
    assert published == [[0.7, 0.0]]
    assert measured == [[0.5, 0.0], [0.5, 1.0]]
    named = [axis.yaxis.get_tick_params()["labelleft"] for axis in drawing.axes]
    assert named == [True, False]


def lines(labels: int = 1) -> Drawing:
    series = {f"line {i}": [(x, y + i, low + i, high + i) for x, y, low, high in POINTS] for i in range(labels)}
    return line_plot({"": series}, xlabel="n", ylabel="y", log="xy")


def test_no_two_of_many_series_look_alike() -> None:
    look = [(line.get_color(), line.get_marker(), line.get_markerfacecolor()) for line in lines(14).axes[0].get_lines()]
    assert len(set(look)) == len(look) == 14
    assert len({(marker, face == colour) for colour, marker, face in look}) == 14  # in grey as well


@pytest.mark.parametrize("count", [1, 3, 9])
@pytest.mark.parametrize("letters", [3, 20, 40])
def test_a_legend_fits_into_the_drawing(count: int, letters: int) -> None:
    series = {f"{i} " + "n" * letters: [(x, y, y, y) for x, y, *_ in POINTS] for i in range(count)}
    with style():
        drawing = line_plot({"": series}, xlabel="n", ylabel="y")
        drawing.draw_without_rendering()
    box = drawing.legends[0].get_window_extent()
    assert box.x0 >= 0.0
    assert box.x1 <= drawing.bbox.x1


LONG = "words that are long enough for several lines, where the drawing has no room for them "


def many_lines(panels: int) -> Drawing:
    series = {f"series {i}": [(x, y * 3**i, y, y * 9**i) for x, y, *_ in POINTS] for i in range(5)}
    return line_plot({f"{i} {LONG}": series for i in range(panels)}, xlabel=LONG, ylabel=LONG[:40], log="xy")


def many_rows(panels: int, *, alike: bool) -> Drawing:
    rows = [
        [(f"{LONG[: 9 * i]}{i if alike else panel}", {"a": Measured(i, i, i)}) for i in range(5)] for panel in "abcd"
    ]
    return row_plot({f"{LONG}{i}": rows[i] for i in range(panels)}, xlabel=LONG)


def many_cells(panels: int, columns: int) -> Drawing:
    values = [[0.001 + 0.03 * i * j for i in range(columns)] for j in range(4)]
    across = [f"NDCG @ {i}" if columns < 5 else str(i) for i in range(columns)]
    return heat_maps({str(i): values for i in range(panels)}, list("abcd"), across, xlabel=LONG, ylabel="rows")


@pytest.mark.parametrize("panels", [1, 2, 3, 4])
def test_all_words_are_inside_the_drawing_and_large_enough_for_a_phone(tmp_path: Path, panels: int) -> None:
    # A window of 390 pixels leaves 358 to a drawing.
    for draw in (
        lambda: many_lines(panels),
        lambda: many_rows(panels, alike=True),
        lambda: many_rows(panels, alike=False),
        lambda: many_cells(panels, 4),
        lambda: many_cells(panels, 10),
    ):
        with style():
            drawing = draw()
        save(Figure("one", LONG, "Caption", "s", "Words", lambda drawing=drawing: drawing), tmp_path)
        drawn, (width, height) = drawing.get_tightbbox(), drawing.get_size_inches()
        assert 0.0 <= drawn.x0 < drawn.x1 <= width
        assert 0.0 <= drawn.y0 < drawn.y1 <= height
        assert all(text.get_fontsize() * 358.0 / (72.0 * width) >= 8.0 for text in drawing.findobj(Text))
        boxes = [axes.get_window_extent() for axes in drawing.axes if axes.axison]
        assert all(box.height > 50.0 for box in boxes)  # of 100 an inch


def test_panels_are_in_two_columns_and_the_legend_is_in_the_place_that_remains() -> None:
    drawing = line_plot({str(i): {"a": POINTS} for i in range(3)}, xlabel="n", ylabel="y", log="x")
    *panels, free = drawing.axes
    assert [axes.get_subplotspec().colspan.start for axes in panels] == [0, 1, 0]
    assert [axes.xaxis.get_tick_params()["labelbottom"] for axes in panels] == [False, True, True]
    assert not free.axison
    assert [text.get_text() for text in free.get_legend().get_texts()] == ["a"]
    assert drawing.legends == []


def test_a_copy_of_a_figure_is_drawn_and_has_no_files(tmp_path: Path) -> None:
    assert "<svg" in save(Figure("front-one", "Title", "Caption", "s", "Words", lines, copy_of="one"), tmp_path)
    assert not list(tmp_path.iterdir())


def test_a_series_that_was_not_measured_leaves_the_picture_well_formed(tmp_path: Path) -> None:
    # Its group has a clip path and is empty.
    def draw() -> Drawing:
        return line_plot({"": {"all": POINTS, "none": [(1.0, *[math.nan] * 3)]}}, xlabel="n", ylabel="y", log="xy")

    save(Figure("one", "Title", "Caption", "s", "Words", draw), tmp_path)
    assert ElementTree.parse(tmp_path / "one.svg").getroot().tag.endswith("svg")


def test_without_typst_a_figure_has_no_pdf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "typst", None)
    save(Figure("one", "Title", "Caption", "s", "Words", lines), tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["one.svg"]


def test_a_figure_has_all_its_files_without_a_date_and_identifiers_of_its_own(tmp_path: Path) -> None:
    shown = {}
    for name, folder in itertools.product(("one", "two"), ("first", "again")):
        (tmp_path / folder).mkdir(exist_ok=True)
        shown[name] = save(Figure(name, "Title", "Caption", "s", "Words", lines), tmp_path / folder)
    files = {path.name: path.read_bytes() for path in (tmp_path / "first").iterdir()}
    assert sorted(files) == sorted(f"{name}.{kind}" for name in ("one", "two") for kind in ("svg", "pdf"))
    assert files == {path.name: path.read_bytes() for path in (tmp_path / "again").iterdir()}
    assert files["one.pdf"].startswith(b"%PDF")
    assert not re.search(rb"/(Creation|Mod)Date", files["one.pdf"])
    assert b"DejaVuSans" in files["one.pdf"]
    one, two = (set(re.findall(r'\bid="([^"]+)"', text)) for text in shown.values())
    assert one
    assert not one & two
    assert ElementTree.fromstring(files["one.svg"]).get("role") == "img"
    styled = files["one.svg"].decode()
    assert set(re.findall(r' class="(\w+)"', styled)) == set(re.findall(r"^\.(\w+) \{", styled, re.MULTILINE))
    for text in shown.values():
        assert {"n", "y", "10", "Title", "line 0"} <= set(re.findall(r"<text [^>]*>([^<]*)</text>", text))
        ids = set(re.findall(r'\bid="([^"]+)"', text))
        used = re.findall(r'href="#([^"]+)"|url\(#([^)]+)\)', text)
        assert {place for pair in used for place in pair if place} <= ids
        assert "<style" not in text  # it would act on the page around it
        assert "<g>" not in text
        assert not re.search(r" (?:d|x|y|transform)=\"[^\"]*\.\d{2}", text)
        assert not re.search(r"#[0-9a-f]{6}", text)  # colours are those of the page


LONG_WORDS = ["w" * 68, "lambdamart-" + "of-hyphens-that-do-not-break" * 3, "x" * 500, "$" * 70, "_" + "z" * 90]


@pytest.mark.parametrize("word", LONG_WORDS)
def test_a_word_without_a_place_to_break_is_cut(word: str, tmp_path: Path) -> None:
    row = (word, {word: Measured(0.5, 0.4, 0.6), "short": Measured(0.7, 0.7, 0.7)})
    drawings = {
        "rows": lambda: row_plot({word: [row], "b": [row]}, xlabel=word),
        "one-panel": lambda: row_plot({"": [row, ("short", row[1])]}, xlabel="NDCG@10, mean over test queries"),
        "lines": lambda: line_plot({word: {word: POINTS}, "b": {"b": POINTS}}, xlabel=word, ylabel=word),
        "heat": lambda: heat_maps({word: [[0.1, 0.2]]}, [word], [word, "b"], xlabel=word, ylabel=word),
    }
    for name, draw in drawings.items():
        svg = save(Figure(name, word, "caption", "source", word, draw), tmp_path)
        shown = "".join(re.sub(r"<[^>]*>", "", svg).split())
        assert word[-10:] in shown or name == "lines"
    label = row_plot({"": [row]}, xlabel="x").axes[0].get_yticklabels()[0].get_text()
    assert max(map(len, label.replace("\\$", "$").split("\n"))) < 40
    assert label.replace("\n", "").replace("\\$", "$").strip() == word


def test_short_words_are_not_cut_where_there_is_little_room() -> None:
    drawing = heat_maps({"a": [[0.123] * 20]}, ["10"], ["0.000123"] * 20, xlabel="m", ylabel="n")
    assert {tick.get_text() for tick in drawing.axes[0].get_xticklabels()} == {"0.000123"}
