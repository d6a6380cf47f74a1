"""Does the page of twolayer say what its tables hold, and nothing without them?"""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from pipeline_lib import storage
from pipeline_lib.papers.twolayer import page as twolayer
from pipeline_lib.papers.twolayer import page_budget as twolayer_budget
from pipeline_lib.papers.twolayer import page_gaps as twolayer_gaps
from pipeline_lib.reporting.blocks import Paragraph, Subsection
from pipeline_lib.reporting.figures import Figure, save
from pipeline_lib.reporting.results import ResultsFolder


def words(blocks: tuple[object, ...]) -> str:
    [part] = blocks
    assert isinstance(part, Subsection)
    return " ".join(block.text for block in part.blocks if isinstance(block, Paragraph))


def written(folder: Path, name: str, rows: list[dict[str, object]]) -> ResultsFolder:
    (folder / "tables").mkdir(exist_ok=True)
    storage.write_table(folder / name, pl.DataFrame(rows))
    return ResultsFolder.at(folder)


def test_no_tables_no_page(tmp_path: Path) -> None:
    assert twolayer.build(ResultsFolder.at(tmp_path)) is None


def grid(gap: float) -> list[dict[str, object]]:
    parts = ("gap", "query_error", "document_error", "centred_gap")
    return [
        {
            "loss": "hinge",
            "queries": n,
            "documents": m,
            "repetitions": 3,
            "certified": 2,
            **{f"{part}{end}": gap / (n * m) for part in parts for end in ("", "_low", "_high")},
            "gap_largest": gap / (n * m),
            "bound": 2.0,
            "largest_loss": n / 10.0,
            "query_bound": 1.0,
            "document_bound": 1.0,
            **dict.fromkeys(twolayer_gaps.TERMS, 0.5),
        }
        for n, m in ((10, 2), (10, 4), (40, 2), (40, 4), (160, 2))
    ]


def test_a_broken_bound_is_said(tmp_path: Path) -> None:
    assert "Of the rankers, 10 of 15 are certified" in words(
        twolayer_gaps.gaps(written(tmp_path, twolayer_gaps.GAPS, grid(1.0)))
    )
    assert "No repetition violates it" in words(twolayer_gaps.gaps(written(tmp_path, twolayer_gaps.GAPS, grid(1.0))))
    broken = words(twolayer_gaps.gaps(written(tmp_path, twolayer_gaps.GAPS, grid(41.0))))
    assert "1 of 5 cells break it, by up to 0.05" in broken
    assert "no estimate" not in broken


def test_how_often_the_bound_could_fail_is_said(tmp_path: Path) -> None:
    said = words(twolayer_gaps.gaps(written(tmp_path, twolayer_gaps.GAPS, grid(1.0))))
    assert "smaller than the largest loss, so that a gap could break it at all, in 3 of 5 cells" in said


def drawn(blocks: tuple[object, ...]) -> list[Figure]:
    [part] = blocks
    assert isinstance(part, Subsection)
    return [block for block in part.blocks if isinstance(block, Figure)]


@pytest.mark.parametrize("gap", [0.0, -1.0])
def test_a_page_without_gaps_is_written(tmp_path: Path, gap: float) -> None:
    folder = written(tmp_path, twolayer_gaps.GAPS, grid(gap))
    assert "no estimate" not in words(twolayer_gaps.gaps(folder))
    folder = written(tmp_path, twolayer_gaps.LIMITS, limit_rows(0.1))
    for figure in (*drawn(twolayer_gaps.gaps(folder)), *drawn(twolayer_gaps.limits(folder))):
        assert "<svg" in save(figure, tmp_path / "figures")
    older = [{"loss": "hinge", "queries": 10, "documents": m, **dict.fromkeys(GAP, gap), **BOUNDS} for m in (2, 4)]
    folder = written(tmp_path, twolayer_gaps.OLDER, older)
    assert "<svg" in save(drawn(twolayer_gaps.older(folder))[0], tmp_path / "figures")
    assert "of the gap remains" not in words(twolayer_gaps.older(folder))


def test_pictures_say_what_was_found_and_what_is_shown(tmp_path: Path) -> None:
    falling = grid(1.0)
    rising = [{**row, "centred_gap": row["queries"] * row["documents"]} for row in grid(1.0)]  # type: ignore[operator]
    for rows, falls in ((falling, 4), (rising, 0)):
        [heat] = drawn(twolayer_gaps.gaps(written(tmp_path, twolayer_gaps.GAPS, rows)))
        assert f"falls in {falls} of 4 steps" in heat.description
        assert "population's best ranker" in heat.caption
        results = written(tmp_path, twolayer_gaps.LIMITS, limit_rows(0.1))
        against_queries, _ = drawn(twolayer_gaps.limits(results))
        assert ("hinge from 0.05 to 0.00313" in against_queries.description) == bool(falls)
        assert ("hinge from 20 to 320" in against_queries.description) != bool(falls)
        assert "population's best ranker" in against_queries.caption


GAP = ("gap", "gap_low", "gap_high")
BOUNDS = dict.fromkeys(twolayer_gaps.KINDS, 1.0)


def test_the_grid_is_full(tmp_path: Path) -> None:
    assert twolayer_gaps._full_grid(grid(1.0)) == ([10, 40], [2, 4])


def limit_rows(low: float) -> list[dict[str, object]]:
    row = {"loss": "hinge", "limit": 0.2, "limit_low": low, "limit_high": 0.3}
    row |= dict.fromkeys(("exponent", "exponent_low", "exponent_high"))
    return [{**row, "growing": axis, "fixed": fixed} for axis, fixed in (("queries", 2), ("documents", 10))]


@pytest.mark.parametrize(("low", "said", "left"), [(-0.1, "above 0 for 0 of 1.", False), (0.1, "1 of 1.", True)])
def test_what_stays_is_counted(tmp_path: Path, low: float, said: str, left: bool) -> None:
    written(tmp_path, twolayer_gaps.GAPS, grid(1.0))
    found = words(twolayer_gaps.limits(written(tmp_path, twolayer_gaps.LIMITS, limit_rows(low))))
    assert said in found
    assert ("an error remains" in found) == left


DEPTHS = ("variance_documents", "variance_documents_low", "variance_documents_high")
EXCESS = {"excess": 0.2, "excess_low": 0.1, "excess_high": 0.3}


@pytest.mark.parametrize(("shift", "explained", "depth"), [(0.0, True, 4.0), (-2450.0, False, 2.0), (0.0, True, None)])
def test_the_growth_of_the_best_split_is_computed(
    tmp_path: Path, shift: float, explained: bool, depth: float | None
) -> None:
    ends = {f"error_{end}{side}": 0.5 for end in ("deepest", "shallowest") for side in ("", "_low", "_high")}
    best = [
        {
            "dataset": "population",
            "budget": c,
            "best_queries": c / 4.0,
            "best_queries_low": c / 4.0 + shift,
            "best_queries_high": c / 4.0,
            "predicted_queries": c**0.5,
            "variance_documents": depth,
            "variance_documents_low": 3.5,
            "variance_documents_high": 4.6,
            "error_inner": 0.4,
            **ends,
        }
        for c in (100, 10_000)
    ]
    place = {"dataset": "population", "error": 0.5, "low": 0.4, "high": 0.6, **EXCESS}
    curve = [
        {**place, "budget": c, "queries": n, "documents": c // n} for c in (100, 10_000) for n in (2, c // 4, c // 2)
    ]
    # A data set has no excess, because nobody knows its best ranker.
    best.append({**best[0], "dataset": "toy", **dict.fromkeys(DEPTHS)})
    curve += [{**row, "dataset": "toy", **dict.fromkeys(EXCESS)} for row in curve if row["budget"] == 100]
    written(tmp_path, twolayer_budget.BEST, best)
    said = words(twolayer_budget.tradeoff(written(tmp_path, twolayer_budget.TRADEOFF, curve)))
    assert "In 3 of 3 cases both extremes are worse" in said
    of_population, of_toy = drawn(twolayer_budget.tradeoff(ResultsFolder.at(tmp_path)))
    assert "relative to" in of_population.caption
    assert "in excess" not in of_toy.caption
    for figure in (of_toy, of_population):
        assert "<svg" in save(figure, tmp_path / "figures")
    assert "to the power 1.00, n* as C to the power 0.50" in said
    assert ("errors favour shallower judging" in said) == explained
    assert ("queries, documents and pairs, 4.00 documents" in said) == (depth == 4.0)
    assert ("that is inside the interval" in said) == (depth == 4.0)
    assert ("that is outside the interval" in said) == (depth == 2.0)


def test_heights_between_points() -> None:
    points = [(1.0, 4.0, 0.0, 0.0), (10.0, 2.0, 0.0, 0.0), (100.0, 6.0, 0.0, 0.0)]
    found = [twolayer_budget._between(points, x) for x in (0.5, 1.0, 10**0.5, 10.0, 10**1.5, 1000.0)]
    assert found == pytest.approx([4.0, 4.0, 3.0, 2.0, 4.0, 6.0])


def test_differences_of_samplings_are_counted(tmp_path: Path) -> None:
    rows = [
        {"queries": n, "documents": 4, "what": what, "value": value, "low": value - 0.1, "high": value + 0.1}
        for n, effect in ((10, 0.3), (40, 0.05))
        for what, value in (("even", 1.0), ("uneven", 1.0 + effect), ("lengths", effect), ("dependence", -effect))
    ]
    said = words(twolayer.samplings(written(tmp_path, twolayer.SAMPLINGS, rows)))
    assert "Different lengths make the gap larger in 1 and smaller in 0 of 2 places" in said
    assert "Sharing a query makes the gap larger in 0 and smaller in 1 of 2 places" in said


def test_the_plans_are_read_as_they_are(tmp_path: Path) -> None:
    def plans(sign: float) -> list[dict[str, object]]:
        return [
            {
                "budget": 100,
                "vc_dimension": v,
                "delta": delta,
                "c1": 1.0,
                "queries": sign * (50.0 - v - 10 * delta),
                "informative_from": 12,
                "informative_from_sauer": 3456,
            }
            for v in (2, 5)
            for delta in (0.2, 0.1)
        ]

    said = words(twolayer_budget.capacity(written(tmp_path, twolayer_budget.PLANS, plans(1.0))))
    assert "it falls with the capacity V of the class and grows with the confidence" in said
    assert "12 queries with as many documents each" in said
    assert "3,456" in said
    said = words(twolayer_budget.capacity(written(tmp_path, twolayer_budget.PLANS, plans(-1.0))))
    assert "does not always fall" in said
    assert "does not always grow" in said


def test_averages_say_how_far_apart(tmp_path: Path) -> None:
    common = {"two_layer": 1.0, "two_layer_error": 0.1, "ordinary": 1.2, "ordinary_error": 0.0}
    rows = [
        {"statement": "definition 3", "case": "tiny", "m": None, **common, "difference": 2.04},
        {"statement": "equation 6", "case": "20", "m": 5, **common, "difference": 2e-15},
    ]
    said = words(twolayer.averages(written(tmp_path, twolayer.IDENTITIES, rows)))
    assert "to within 2.0 standard errors" in said
    assert "Equation 6" in said
    assert "differ by at most 2e−15 up to m = 5" in said


def test_figures_are_drawn(tmp_path: Path) -> None:
    results = written(tmp_path, twolayer_gaps.GAPS, grid(1.0))
    [part] = twolayer_gaps.gaps(results)
    assert isinstance(part, Subsection)
    [figure] = [block for block in part.blocks if isinstance(block, Figure)]
    assert "<svg" in save(figure, tmp_path / "figures")


@pytest.mark.parametrize(
    ("places", "labels"),
    [((2, 40), {"2", "10", "20"}), ((10, 2000), {"10", "100", "1,000"}), ((0.001, 1.0), {"$\\mathdefault{10^{-2}}$"})],
)
def test_counts_are_labelled_plainly(places: tuple[float, float], labels: set[str]) -> None:
    from pipeline_lib.reporting.figures import line_plot

    drawing = line_plot({"a": [(x, 1.0, 1.0, 1.0) for x in places]}, xlabel="n", ylabel="y", log="x")
    drawing.draw_without_rendering()
    axis = drawing.axes[0].xaxis
    shown = {label.get_text() for which in ("major", "minor") for label in axis.get_ticklabels(which=which)}
    assert labels <= shown


def test_a_heat_map_without_a_gap_is_drawn(tmp_path: Path) -> None:
    from pipeline_lib.reporting.figures import heat_maps

    drawing = heat_maps({"hinge": [[0.0, -0.1]]}, ["10"], ["2", "4"], xlabel="m", ylabel="n")
    assert {text.get_text() for text in drawing.axes[0].texts} == {"0.000".lstrip("0"), "-0.100"}
