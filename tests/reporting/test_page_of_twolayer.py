"""Does the page of twolayer say what its tables hold, and nothing without them?"""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from pipeline_lib.reporting.blocks import Paragraph, Subsection
from pipeline_lib.reporting.pages import twolayer
from pipeline_lib.reporting.results import ResultsFolder


def words(blocks: tuple[object, ...]) -> str:
    [part] = blocks
    assert isinstance(part, Subsection)
    return " ".join(block.text for block in part.blocks if isinstance(block, Paragraph))


def written(folder: Path, name: str, rows: list[dict[str, object]]) -> ResultsFolder:
    (folder / "tables").mkdir(exist_ok=True)
    pl.DataFrame(rows).write_parquet(folder / name)
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
            **{f"{part}{end}": gap / (n * m) for part in parts for end in ("", "_low", "_high")},
            "gap_largest": gap / (n * m),
            "bound": 2.0,
            **dict.fromkeys(twolayer.TERMS, 0.5),
        }
        for n, m in ((10, 2), (10, 4), (40, 2), (40, 4), (160, 2))
    ]


def test_a_broken_bound_is_said(tmp_path: Path) -> None:
    assert "No repetition breaks it" in words(twolayer.gaps(written(tmp_path, twolayer.GAPS, grid(1.0))))
    assert "1 cells break it" in words(twolayer.gaps(written(tmp_path, twolayer.GAPS, grid(41.0))))


def test_the_grid_is_full(tmp_path: Path) -> None:
    assert twolayer._full_grid(grid(1.0)) == ([10, 40], [2, 4])


@pytest.mark.parametrize(("low", "said"), [(-0.1, "above 0 for 0 of 1."), (0.1, "above 0 for 1 of 1.")])
def test_what_stays_is_counted(tmp_path: Path, low: float, said: str) -> None:
    rows = [
        {
            "loss": "hinge",
            "growing": axis,
            "fixed": 2,
            "limit": 0.2,
            "limit_low": low,
            "limit_high": 0.3,
            "exponent": None,
        }
        for axis in ("queries", "documents")
    ]
    written(tmp_path, twolayer.GAPS, grid(1.0))
    results = written(tmp_path, twolayer.LIMITS, rows)
    assert said in words(twolayer.limits(results))


def test_the_growth_of_the_best_split_is_computed(tmp_path: Path) -> None:
    ends = {f"error_{end}{side}": 0.5 for end in ("deepest", "shallowest") for side in ("", "_low", "_high")}
    best = [
        {
            "dataset": "population",
            "budget": c,
            "best_queries": c / 4.0,
            "predicted_queries": c**0.5,
            "error_inner": 0.4,
            **ends,
        }
        for c in (100, 10_000)
    ]
    curve = [
        {"dataset": "population", "budget": c, "queries": n, "documents": c // n, "error": 0.5, "low": 0.4, "high": 0.6}
        for c in (100, 10_000)
        for n in (2, 50)
    ]
    written(tmp_path, twolayer.BEST, best)
    said = words(twolayer.tradeoff(written(tmp_path, twolayer.TRADEOFF, curve)))
    assert "In 2 of 2 cases both ends are worse" in said
    assert "to the power 1.00, n* as C to the power 0.50" in said


def test_figures_are_drawn(tmp_path: Path) -> None:
    from pipeline_lib.reporting.figures import Figure, save

    results = written(tmp_path, twolayer.GAPS, grid(1.0))
    [part] = twolayer.gaps(results)
    assert isinstance(part, Subsection)
    [figure] = [block for block in part.blocks if isinstance(block, Figure)]
    assert "<svg" in save(figure, tmp_path / "figures")
