"""Are counts labelled plainly, and are numbers that are not above 0 drawn as well?"""

from __future__ import annotations

import pytest

from pipeline_lib.reporting.figures import heat_maps, line_plot


@pytest.mark.parametrize(
    ("places", "labels"),
    [((2, 40), {"2", "10", "20"}), ((10, 2000), {"10", "100", "1,000"}), ((0.001, 1.0), {"$\\mathdefault{10^{-2}}$"})],
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
