"""Do the pages of slam and lists say what their tables hold, and nothing without them?"""

from __future__ import annotations

from pathlib import Path

import polars as pl

from pipeline_lib.reporting.blocks import Paragraph, Subsection
from pipeline_lib.reporting.pages import lists, slam, slam_batch, slam_online
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


def run_row(**changes: object) -> dict[str, object]:
    row = {"stream": "noisy", "measure": "ndcg", "repetition": 0, "eta": "theory", "active": "margin", "T": 100}
    row |= {"cumulative_loss": 5.0, "mistakes": 9, "largest_ratio": 0.5, "comparator_loss": 8.0, "constant": 1.0}
    row |= {"bound": 17.0, "gap": 0.0, "certified": True, "gamma": None, "margin_bound": None}
    return {**row, **changes}


def every_variant(**changes: object) -> list[dict[str, object]]:
    return [
        run_row(eta=eta, active=active, **changes)
        for eta, active in (slam_online.THEOREM, slam_online.PRINTED, slam_online.MISORDERED)
    ]


def test_a_broken_loss_bound_is_said(tmp_path: Path) -> None:
    (tmp_path / "tables").mkdir()
    for loss, said in ((5.0, "it holds in every run at every T"), (18.0, "it fails 1 times")):
        pl.DataFrame(every_variant(cumulative_loss=loss)).write_parquet(tmp_path / slam_online.RUNS)
        assert said in words(slam_online.cumulative(ResultsFolder.at(tmp_path)))


def test_the_share_of_the_last_half_is_said(tmp_path: Path) -> None:
    (tmp_path / "tables").mkdir()
    separable = {"stream": "separable", "gamma": 0.5, "margin_bound": 40.0}
    rows = every_variant(**separable, T=50, cumulative_loss=4.0) + every_variant(**separable, cumulative_loss=5.0)
    pl.DataFrame(rows).write_parquet(tmp_path / slam_online.RUNS)
    assert "it grows by at most 20.0 % more" in words(slam_online.separable(ResultsFolder.at(tmp_path)))


def test_rounds_that_differ_are_said(tmp_path: Path) -> None:
    (tmp_path / "tables").mkdir()
    row = {"stream": "noisy", "measure": "ndcg", "repetition": 0, "eta": "0.1", "step": 0.1, "rounds": 100}
    row |= {"mistakes": 9, "mistakes_at_eta_one": 9, "cumulative_loss": 5.0}
    for moved, said in ((0, "there the statement is true"), (3, "3 rounds differed in 1 runs")):
        rows = [{**row, "active": "margin", "rounds_that_differ": 7}]
        rows.append({**row, "active": "misordered", "rounds_that_differ": moved})
        pl.DataFrame(rows).write_parquet(tmp_path / slam_online.ETAS)
        found = words(slam_online.steps(ResultsFolder.at(tmp_path)))
        assert "In 1 of 1 runs another step changed" in found
        assert said in found


def test_an_excess_above_theorem_8_is_counted(tmp_path: Path) -> None:
    (tmp_path / "tables").mkdir()
    row = {"surrogate": "listnet", "radius": 1.0, "regularisation": "theorem", "n": 10, "low": 0.0, "high": 9.0}
    row |= {"bound": 1.0, "l2": 0.1, "norm": 0.5}
    for excess, said in ((0.5, "holds in 1 of 1 cells"), (2.0, "holds in 0 of 1 cells")):
        pl.DataFrame([{**row, "excess_risk": excess}]).write_parquet(tmp_path / slam_batch.RISKS)
        assert said in words(slam_batch.excess_risk(ResultsFolder.at(tmp_path)))


def test_a_lead_is_called_one_only_beyond_chance(tmp_path: Path) -> None:
    (tmp_path / "tables").mkdir()
    row = {"dataset": "d", "question": "practice", "model": "a", "title": "A", "value": 0.6, "other": "b"}
    row |= {"other_title": "B", "other_value": 0.5, "difference": 0.1, "low": 0.05, "high": 0.2, "n_queries": 9}
    for p, said in ((0.01, "A (0.6000) is better than B"), (0.2, "A (0.6000) is not told apart from B")):
        pl.DataFrame([{**row, "p_holm": p}]).write_parquet(tmp_path / slam_batch.PRACTICE)
        assert said in words(slam_batch.practice(ResultsFolder.at(tmp_path)))
