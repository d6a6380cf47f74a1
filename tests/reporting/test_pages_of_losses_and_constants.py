"""Do the pages of slam and lists say what their tables hold, and nothing without them?"""

from __future__ import annotations

from pathlib import Path

import polars as pl

from pipeline_lib.reporting.blocks import Paragraph, Subsection
from pipeline_lib.reporting.pages import lists, slam
from pipeline_lib.reporting.results import ResultsFolder


def words(blocks: tuple[object, ...]) -> str:
    [part] = blocks
    assert isinstance(part, Subsection)
    return " ".join(block.text for block in part.blocks if isinstance(block, Paragraph))


def test_no_tables_no_page(tmp_path: Path) -> None:
    results = ResultsFolder.at(tmp_path)
    assert slam.build(results) is None
    assert lists.build(results) is None


def test_a_broken_bound_is_said(tmp_path: Path) -> None:
    (tmp_path / "tables").mkdir()
    for slack, said in ((0.0, "No list breaks a bound"), (-0.5, "Some list breaks a bound")):
        row = {"claim": "slam-thm2", "kind": "map", "m": 5, "y_max": 1, "statistic": "smallest_slack", "value": slack}
        pl.DataFrame([row]).write_parquet(tmp_path / slam.CHECKS)
        assert said in words(slam.bounds(ResultsFolder.at(tmp_path)))


def test_an_exceeded_constant_is_said(tmp_path: Path) -> None:
    (tmp_path / "tables").mkdir()
    for found, said in ((1.5, "In none of 1 searches"), (2.5, "In 1 of 1 searches it does")):
        row = {
            "part": "all",
            "surrogate": "listnet",
            "m": 5,
            "y_max": 1,
            "constant": "lipschitz-linf",
            "score_bound": None,
            "stated": 2.0,
            "exact": None,
            "searched": found,
        }
        pl.DataFrame([row]).write_parquet(tmp_path / lists.CONSTANTS)
        assert said in words(lists.constants(ResultsFolder.at(tmp_path)))
