"""Does the page of topk say what its tables hold, and nothing without them?"""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from pipeline_lib import storage
from pipeline_lib.papers.topk import page as topk
from pipeline_lib.reporting.blocks import Paragraph, Subsection
from pipeline_lib.reporting.figures import Figure
from pipeline_lib.reporting.results import ResultsFolder
from pipeline_lib.reporting.tables import Table


@pytest.fixture
def results(tmp_path: Path) -> ResultsFolder:
    (tmp_path / "tables").mkdir()
    return ResultsFolder.at(tmp_path)


def write(results: ResultsFolder, name: str, rows: list[dict[str, object]]) -> None:
    storage.write_table(results.path / name, pl.DataFrame(rows))


def words(blocks: tuple[object, ...]) -> str:
    [part] = blocks
    assert isinstance(part, Subsection)
    return " ".join(block.text for block in part.blocks if isinstance(block, Paragraph))


def test_no_tables_no_page(results: ResultsFolder) -> None:
    assert topk.build(results) is None


@pytest.mark.parametrize(("bias", "said"), [(1e-15, "they are unbiased"), (0.2, "they are biased")])
def test_a_bias_is_said(results: ResultsFolder, bias: float, said: str) -> None:
    row = {"claim": "topk-estimators", "surrogate": "kl", "k": 1, "gamma": 0.1, "largest_relative_bias": bias}
    rows = [{**row, "probabilities": kind} for kind in ("correct", "as-printed")]
    write(results, topk.BIASES, rows)
    assert said in words(topk.estimators(results))


@pytest.mark.parametrize(
    ("where", "moment", "said"),
    [
        ("along a run", 0.5, "It does not"),
        ("along a run", 5.0, "It does for kl along a run of Algorithm 1:"),
        ("short lists, small ball", 5.0, "It does for kl on short lists in a small ball:"),
    ],
)
def test_an_exceeded_constant_is_said_with_its_place(
    results: ResultsFolder, where: str, moment: float, said: str
) -> None:
    row = {"surrogate": "kl", "where": where, "m": 2, "radius": 1.0, "y_max": 4, "second_moment": moment}
    write(results, topk.MOMENTS, [{**row, "printed": 1.0, "valid": 9.0}])
    assert said in words(topk.moments(results))


@pytest.mark.parametrize(
    ("regret", "high", "said"),
    [
        (9.0, 9.5, "No learner falls below the limit."),
        (1.9, 2.1, "within the interval"),
        (1.0, 1.1, "contradicts the theorem"),
    ],
)
def test_a_learner_below_the_limit_is_said(results: ResultsFolder, regret: float, high: float, said: str) -> None:
    cell = {"adversary": "p", "quantity": "E[y]", "measured": 0.45, "published": 0.45}
    write(results, topk.TABLE_1, [{**cell, "document": i} for i in (1, 2, 3)])
    row = {"learner": "kl", "linear_limit": 2.0, "regret": regret, "low": regret, "high": high}
    write(results, topk.GAME, [{**row, "T": T} for T in (100, 1000)])
    assert said in words(topk.adversary(results))


def test_the_slopes_of_the_game_are_those_of_the_table(results: ResultsFolder) -> None:
    cell = {"adversary": "p", "quantity": "E[y]", "measured": 0.45, "published": 0.45}
    write(results, topk.TABLE_1, [{**cell, "document": i} for i in (1, 2, 3)])
    rows = []
    for learner, power in (("kl", 0.8), ("all labels", 0.5)):
        for T in (100, 1000):
            row = {"learner": learner, "T": T, "linear_limit": 0.01 * T, "regret": T**power}
            rows.append({**row, "low": T**power, "high": T**power})
    write(results, topk.GAME, rows)
    [part] = topk.adversary(results)
    assert isinstance(part, Subsection)
    [drawn] = [block for block in part.blocks if isinstance(block, Figure)]
    assert "0.80 for Algorithm 1, KL and 0.50 for all labels" in drawn.description


@pytest.mark.parametrize(("low", "said"), [(5.0, False), (-1.0, True)])
def test_an_interval_cut_for_a_logarithmic_axis_is_said(results: ResultsFolder, low: float, said: bool) -> None:
    write(results, topk.EXPONENTS, [{"surrogate": "kl", "slope": 0.6, "low": 0.5, "high": 0.7}])
    row = {"surrogate": "kl", "regret": 10.0, "low": low, "high": 11.0, "exploration": 2.0}
    write(results, topk.REGRET, [{**row, "T": T} for T in (100, 1000)])
    [part] = topk.regret(results)
    assert isinstance(part, Subsection)
    [drawn] = [block for block in part.blocks if isinstance(block, Figure)]
    assert ("cut at a tenth of the mean" in drawn.caption) == said


@pytest.mark.parametrize(("low", "said"), [(0.6, "no interval lies above 2/3"), (0.7, "some interval lies above 2/3")])
def test_a_regret_that_grows_too_fast_is_said(results: ResultsFolder, low: float, said: str) -> None:
    write(results, topk.EXPONENTS, [{"surrogate": "kl", "slope": 0.75, "low": low, "high": 0.8}])
    row = {"surrogate": "kl", "regret": 10.0, "low": 9.0, "high": 11.0, "exploration": 2.0}
    write(results, topk.REGRET, [{**row, "T": T} for T in (100, 1000)])
    assert said in words(topk.regret(results))


@pytest.mark.parametrize(("best", "said"), [(1, None), (2, "The choice for kl lies at the edge")])
def test_a_choice_at_the_edge_of_what_was_tried_is_said(results: ResultsFolder, best: int, said: str | None) -> None:
    row = {"surrogate": "kl", "radius": 1.0, "dataset": "made"}
    rows = [{**row, "factor": 4.0**i, "ndcg": 0.6 if i == best else 0.5, "chosen": i == best} for i in range(3)]
    write(results, topk.REPAIR, rows)
    paragraphs = " ".join(block.text for block in topk.repair(results) if isinstance(block, Paragraph))
    assert "made alone" in paragraphs
    assert ("edge" in paragraphs) == (said is not None)
    assert said is None or said in paragraphs


@pytest.mark.parametrize(
    ("kl", "said", "missing"),
    [(0.7, "appears as printed", None), (0.5, "does not appear as printed", None), (0.7, "appears", "ranksvm")],
)
def test_the_published_order_is_looked_for(results: ResultsFolder, kl: float, said: str, missing: str | None) -> None:
    ends = {"ranksvm": 0.7, "kl": kl, "squared": 0.6, "smooth-dcg": 0.3, "smooth-dcg-ascent": 0.6}
    values = {("", "listnet"): 0.8, ("", "random"): 0.4, ("", "ideal"): 1.0}
    values |= {("all-labels", name): 0.75 for name in ends}
    values |= {("all-labels-same-step", name): 0.77 for name in ends if name != missing}
    values |= {(panel, name): value for panel in ("as-printed", "correct") for name, value in ends.items()}
    values |= {("repaired", name): 0.65 for name in ("ranksvm", "kl", "squared")}
    rows = []
    for (panel, learner), value in values.items():
        for t in (100, 1000):
            row = {"dataset": "made", "panel": panel, "learner": learner, "round": t, "ndcg": value, "seeds": 2}
            rows.append({**row, "low": value - 0.01, "high": value + 0.01})
    write(results, topk.CURVES, rows)
    assert said in words(topk.figure_1(results))
    full = "With all labels, the three have 0.770, 0.770, 0.770 with the step of Algorithm 1"
    assert (full in words(topk.figure_1(results))) == (missing is None)
    [part] = topk.figure_1(results)
    assert isinstance(part, Subsection)
    [drawn] = [block for block in part.blocks if isinstance(block, Figure)]
    axes = drawn.draw().axes
    assert [axis.get_title() for axis in axes] == list(topk.PANELS.values())
    assert [len(axis.lines) for axis in axes] == [7, 7, 5]
    [table] = [block for block in part.blocks if isinstance(block, Table)]
    shown = {row[0].text: [cell.text for cell in row[1:]] for row in table.rows()}
    absent = shown["ListNet"][1]
    assert shown["ListNet"] == ["0.800", *[absent] * 4]
    assert shown["RankSVM"] == ["0.750", absent if missing else "0.770", "0.700", "0.700", "0.650"]
    assert shown["ideal order"] == ["1.000"] * 5
    assert shown["random order"] == ["0.400"] * 5
