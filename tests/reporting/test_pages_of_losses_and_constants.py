"""Does the page of slam say what its tables hold, and nothing without them?"""

from __future__ import annotations

from pathlib import Path

import polars as pl

from pipeline_lib import storage
from pipeline_lib.papers.slam import page as slam
from pipeline_lib.papers.slam import page_batch as slam_batch
from pipeline_lib.papers.slam import page_online as slam_online
from pipeline_lib.reporting.blocks import Paragraph, Subsection
from pipeline_lib.reporting.figures import Figure
from pipeline_lib.reporting.results import ResultsFolder


def words(blocks: tuple[object, ...]) -> str:
    [part] = blocks
    assert isinstance(part, Subsection)
    return " ".join(block.text for block in part.blocks if isinstance(block, Paragraph))


def test_no_tables_no_page(tmp_path: Path) -> None:
    results = ResultsFolder.at(tmp_path)
    assert slam.build(results) is None


def test_a_broken_bound_is_said(tmp_path: Path) -> None:
    (tmp_path / "tables").mkdir()
    for slack, said in ((0.0, "No list violates a bound"), (-0.5, "At least one list violates")):
        row = {"claim": "slam-thm2", "kind": "map", "m": 5, "y_max": 1, "statistic": "smallest_slack", "value": slack}
        storage.write_table(tmp_path / slam.CHECKS, pl.DataFrame([row]))
        assert said in words(slam.bounds(ResultsFolder.at(tmp_path)))


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
        storage.write_table(tmp_path / slam_online.RUNS, pl.DataFrame(every_variant(cumulative_loss=loss)))
        assert said in words(slam_online.cumulative(ResultsFolder.at(tmp_path)))


def test_the_share_of_the_last_half_is_said(tmp_path: Path) -> None:
    (tmp_path / "tables").mkdir()
    separable = {"stream": "separable", "gamma": 0.5, "margin_bound": 40.0}
    rows = every_variant(**separable, T=50, cumulative_loss=4.0) + every_variant(**separable, cumulative_loss=5.0)
    storage.write_table(tmp_path / slam_online.RUNS, pl.DataFrame(rows))
    found = words(slam_online.separable(ResultsFolder.at(tmp_path)))
    assert "The second half of the 100 rounds adds at most 20.0 % of the loss" in found
    assert "far above" not in found
    assert "The total is at most 5.0, 12 % of the constant or less" in found


def test_what_the_bound_says_depends_on_the_comparator(tmp_path: Path) -> None:
    (tmp_path / "tables").mkdir()
    for constant, said in ((0.0, "In 1 of 1 cases the best comparator is practically 0"), (1.0, "differs from 0")):
        storage.write_table(tmp_path / slam_online.RUNS, pl.DataFrame(every_variant(constant=constant)))
        found = words(slam_online.cumulative(ResultsFolder.at(tmp_path)))
        assert said in found
        assert ("smallest at 0" in found) == (constant == 0.0)


def test_why_a_comparator_is_0_is_said_stream_by_stream(tmp_path: Path) -> None:
    (tmp_path / "tables").mkdir()
    # With all rounds and the smaller price the noisy stream has another comparator than 0, the adversary's has not.
    rows = every_variant(T=50, constant=0.0) + every_variant(constant=2.0)
    rows += [row for T in (50, 100) for row in every_variant(stream="adversary", T=T, constant=0.0)]
    storage.write_table(tmp_path / slam_online.RUNS, pl.DataFrame(rows))
    found = words(slam_online.cumulative(ResultsFolder.at(tmp_path)))
    assert "In 3 of 4 cases the best comparator is practically 0" in found
    assert "it is still 0 in 1 of 2 runs (adversary)" in found


def test_a_comparator_without_a_certificate_is_said(tmp_path: Path) -> None:
    (tmp_path / "tables").mkdir()
    for certified, said in ((True, "1 of 1 solves are certified"), (False, "0 of 1 solves are certified")):
        storage.write_table(tmp_path / slam_online.RUNS, pl.DataFrame(every_variant(certified=certified)))
        assert said in words(slam_online.cumulative(ResultsFolder.at(tmp_path)))


def test_rounds_that_differ_are_said(tmp_path: Path) -> None:
    (tmp_path / "tables").mkdir()
    row = {"stream": "noisy", "measure": "ndcg", "repetition": 0, "eta": "0.1", "step": 0.1, "rounds": 100}
    row |= {"mistakes": 9, "mistakes_at_eta_one": 9, "cumulative_loss": 5.0}
    for moved, said in ((0, "the statement is true"), (3, "3 rounds differed in 1 runs")):
        rows = [{**row, "active": "margin", "rounds_that_differ": 7}]
        rows.append({**row, "active": "misordered", "rounds_that_differ": moved})
        storage.write_table(tmp_path / slam_online.ETAS, pl.DataFrame(rows))
        found = words(slam_online.steps(ResultsFolder.at(tmp_path)))
        assert "In 1 of 1 runs" in found
        assert said in found


def test_an_excess_above_theorem_8_is_counted(tmp_path: Path) -> None:
    (tmp_path / "tables").mkdir()
    row = {"surrogate": "listnet", "radius": 1.0, "regularisation": "theorem", "n": 10, "low": 0.0, "high": 9.0}
    row |= {"bound": 1.0, "l2": 0.1, "norm": 0.5, "certified": True}
    for excess, said in ((0.5, "holds in 1 of 1 cells"), (2.0, "holds in 0 of 1 cells")):
        storage.write_table(tmp_path / slam_batch.RISKS, pl.DataFrame([{**row, "excess_risk": excess}]))
        assert said in words(slam_batch.excess_risk(ResultsFolder.at(tmp_path)))


def risk_parts(tmp_path: Path, slope: float, share: float, **changes: object) -> tuple[str, str]:
    """The words and the figure's description, for an excess of ``share`` times a bound of n^-1/2 at n = 1."""
    row = {"surrogate": "listnet", "radius": 1.0, "l2": 0.1, "norm": 0.5, "certified": True, **changes}
    rows, rates = [], []
    for regularisation in ("theorem", "none"):
        axes = {**row, "regularisation": regularisation}
        for n in (1, 100):
            excess = share * n**slope
            cell = {"n": n, "excess_risk": excess, "low": excess, "high": excess, "bound": n**-0.5}
            rows.append({**axes, **cell})
        rates.append({"surrogate": "listnet", "radius": 1.0, "regularisation": regularisation})
        rates[-1] |= {"exponent": slope, "low": slope, "high": slope}
    (tmp_path / "tables").mkdir(exist_ok=True)
    storage.write_table(tmp_path / slam_batch.RISKS, pl.DataFrame(rows))
    storage.write_table(tmp_path / slam_batch.RATES, pl.DataFrame(rates))
    blocks = slam_batch.excess_risk(ResultsFolder.at(tmp_path))
    [part] = blocks
    assert isinstance(part, Subsection)
    [figure] = [block for block in part.blocks if isinstance(block, Figure)]
    return words(blocks), figure.description


def test_how_fast_the_excess_falls_is_said_as_it_is(tmp_path: Path) -> None:
    slow, described = risk_parts(tmp_path, slope=-0.1, share=0.1)
    assert "falls more slowly than the bound" in slow
    assert described == "The measured excess is at most 63 % of the bound."
    fast, described = risk_parts(tmp_path, slope=-1.0, share=2.0)
    assert "slowly" not in fast
    assert described == "The measured excess is at most 2e+02 % of the bound."


def test_a_risk_without_a_certificate_is_said(tmp_path: Path) -> None:
    assert "all solutions behind it are certified" in risk_parts(tmp_path, -0.1, 0.1)[0]
    assert "4 of 4 cells rest on a solution without" in risk_parts(tmp_path, -0.1, 0.1, certified=False)[0]


def test_rounding_crosses_no_bound(tmp_path: Path) -> None:
    (tmp_path / "tables").mkdir()
    row = {"m": 100, "half_m": 50.0, "v_max_ndcg": 9.0, "v_max_ndcg_limit": 9.5, "v_max_ndcg_at_k": 2.0}
    for found, said in ((50.00000000001, "no line crosses its bound"), (50.1, "a bound is crossed at m = 100")):
        storage.write_table(tmp_path / slam_online.V_MAX, pl.DataFrame([{**row, "v_max_map": found}]))
        assert said in words(slam_online.largest_ratios(ResultsFolder.at(tmp_path)))


def test_every_slam_learner_has_a_row(tmp_path: Path) -> None:
    (tmp_path / "tables").mkdir()
    row = {"dataset": "d", "question": "family", "model": "b", "title": "B", "value": 0.6, "other": "s"}
    row |= {"other_value": 0.5, "difference": 0.1, "low": 0.05, "high": 0.2, "n_queries": 9, "p_holm": 0.01}
    rows = [{**row, "other_title": title} for title in ("SLAM", "SLAM-MAP")]
    storage.write_table(tmp_path / slam_batch.PRACTICE, pl.DataFrame(rows))
    found = slam_batch.practice(ResultsFolder.at(tmp_path))
    assert "B (0.6000) is better than SLAM (0.5000), the best of them" in words(found)


def test_a_lead_is_called_one_only_beyond_chance(tmp_path: Path) -> None:
    (tmp_path / "tables").mkdir()
    row = {"dataset": "d", "question": "practice", "model": "a", "title": "A", "value": 0.6, "other": "b"}
    row |= {"other_title": "B", "other_value": 0.5, "difference": 0.1, "low": 0.05, "high": 0.2, "n_queries": 9}
    for p, said in ((0.01, "A (0.6000) is better than B"), (0.2, "A (0.6000) is not distinguishable from B")):
        storage.write_table(tmp_path / slam_batch.PRACTICE, pl.DataFrame([{**row, "p_holm": p}]))
        assert said in words(slam_batch.practice(ResultsFolder.at(tmp_path)))


def test_a_minimiser_at_zero_is_said(tmp_path: Path) -> None:
    (tmp_path / "tables").mkdir()
    row = {"dataset": "d", "question": "practice", "model": "a", "title": "A", "value": 0.6, "other": "b"}
    row |= {"other_title": "B", "other_value": 0.5, "difference": 0.1, "low": 0.05, "high": 0.2, "n_queries": 9}
    storage.write_table(tmp_path / slam_batch.PRACTICE, pl.DataFrame([{**row, "p_holm": 0.01}]))
    record = {"dataset": "d", "model": "slam-ndcg", "algorithm": "erm", "surrogate": "slam-ndcg"}
    for norms, said in (((0.0, 0.0), "slam-ndcg on d (2 of 2 folds)"), ((0.0, 3.0), "slam-ndcg on d (1 of 2 folds)")):
        storage.write_table(tmp_path / slam_batch.TRAINING, pl.DataFrame([{**record, "norm": norm} for norm in norms]))
        found = words(slam_batch.practice(ResultsFolder.at(tmp_path)))
        assert f"w = 0: {said}." in found
    for other in ({"norm": 2.0}, {"norm": 0.0, "surrogate": "listnet"}, {"norm": None}):
        storage.write_table(tmp_path / slam_batch.TRAINING, pl.DataFrame([{**record, **other}]))
        assert "w = 0" not in words(slam_batch.practice(ResultsFolder.at(tmp_path)))
