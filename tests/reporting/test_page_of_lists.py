"""Does the page of lists say what the tables of gaps, bounds and averages hold?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from pipeline_lib import experiment, papers, storage
from pipeline_lib.papers.lists import page as lists
from pipeline_lib.papers.lists.computations import summary
from pipeline_lib.papers.lists.experiments.grid import GridSettings
from pipeline_lib.reporting.blocks import Block, Paragraph, Subsection
from pipeline_lib.reporting.figures import Figure
from pipeline_lib.reporting.results import ResultsFolder
from pipeline_lib.reporting.tables import Table

ASKED = GridSettings.parse(
    {
        "queries": [10, 20, 40],
        "lengths": [3, 6, 12],
        "documents_at_most": 480,
        "repetitions": 3,
        "rate_repetitions": 3,
        "held_out_documents": 600,
        "held_out_queries_at_least": 100,
        "best_ranker_documents": 3000,
        "radius": 2.5,
        "tol": 1e-4,
        "ascent_steps": 3,
        "delta": 0.05,
        "populations": {"noisy": {"features": 4}, "realisable": {"features": 4}},
        "realisable_lengths": [3],
        "realisable_losses": ["listnet"],
        "losses": [{"name": "listnet", "surrogate": "listnet", "options": {}}],
    }
)
TABLES = {
    f"{name}.parquet": {name: columns} for *_, step in papers.steps(["lists"]) for name, columns in step.tables.items()
}


def write(folder: Path, path: str, rows: list[dict[str, Any]]) -> None:
    """Write a table as the paper declares it."""
    experiment.write(TABLES[path], [folder / path], experiment.Outcome([rows]))


def made_row(
    kind: str, m: int, n: int, repetition: int, learner: str, growth: float, certified: float | None
) -> dict[str, Any]:
    return {
        "loss": "listnet",
        "population": kind,
        "m": m,
        "n": n,
        "repetition": repetition,
        "learner": learner,
        "empirical": 0.5,
        "risk": 0.5 + m**growth * n**-0.5,
        "risk_error": 0.001,
        "excess": 1.0 / n,
        "excess_error": 0.0001,
        "optimal_risk": 0.1 if kind == "noisy" else 0.0,
        "optimal_risk_error": 0.00001,
        "certified_gap": certified,
    }


def write_summary(folder: Path, growth: float, certified: float | None = None) -> None:
    learners = ("erm", "worst", "rerm", "ogd", "smooth-ogd")
    rows = [
        made_row(kind, m, n, repetition, learner, growth, certified)
        for kind, lengths in (("noisy", ASKED.lengths), ("realisable", ASKED.realisable_lengths))
        for m in lengths
        for n in ASKED.queries
        for repetition in range(3)
        for learner in learners
    ]
    found = summary.run(ASKED, rows, [])
    for name, path in (("cells", lists.CELLS), ("bounds", lists.BOUNDS), ("exponents", lists.EXPONENTS)):
        write(folder, path, getattr(found, name))


def inside(blocks: tuple[Block, ...], kind: type) -> list[Any]:
    [part] = blocks
    assert isinstance(part, Subsection)
    return [block for block in part.blocks if isinstance(block, kind)]


def words(blocks: tuple[Block, ...]) -> str:
    return " ".join(block.text for block in inside(blocks, Paragraph))


@pytest.mark.parametrize(
    ("growth", "said"),
    [(0.5, "the gap grows with the list for listnet"), (-0.2, "lies below it for listnet; the gap grows")],
)
def test_growth_with_the_list_is_said(tmp_path: Path, growth: float, said: str) -> None:
    (tmp_path / "tables").mkdir()
    write_summary(tmp_path, growth)
    blocks = lists.gaps(ResultsFolder.at(tmp_path))
    assert said in words(blocks)
    names = [figure.name for figure in inside(blocks, Figure)]
    assert names == ["lists-gap-against-m", "lists-gap-against-n", "lists-gap-heat", "lists-realisable"]
    for figure in inside(blocks, Figure):
        figure.draw()
    assert "Above the largest loss B = 7 a bound is vacuous" in words(blocks)
    assert "certified" not in words(blocks)


@pytest.mark.parametrize("gap", [5e-5, 0.5])
def test_certified_gaps_are_said(tmp_path: Path, gap: float) -> None:
    (tmp_path / "tables").mkdir()
    write_summary(tmp_path, 0.0, certified=gap)
    said = "Minimisers of convex losses are certified to a relative gap of at most"
    assert f"{said} {gap:.2g}." in words(lists.gaps(ResultsFolder.at(tmp_path)))


@pytest.mark.parametrize(
    ("error", "said"),
    [(4e-5, "for the best ranker with listnet at m = 3, listnet at m = 6"), (1e-3, "with no loss and length")],
)
def test_how_surely_risks_are_known_is_said(tmp_path: Path, error: float, said: str) -> None:
    (tmp_path / "tables").mkdir()
    write_summary(tmp_path, 0.0)
    cells = pl.read_parquet(tmp_path / lists.CELLS).with_columns(optimal_risk_error=pl.lit(error))
    storage.write_table(tmp_path / lists.CELLS, cells)
    blocks = lists.gaps(ResultsFolder.at(tmp_path))
    assert said in words(blocks)
    # Errors of .001 and risks of .5 + n^-.5, the smallest .658.
    assert "0.15 % of the risk after training and 0.15 % where" in words(blocks)
    [table] = [table for table in inside(blocks, Table) if table.name == "lists-accuracy"]
    assert [row[3].raw for row in table.rows()] == pytest.approx([100 * error / 0.1] * 3)
    assert [row[4].raw for row in table.rows()] == [4 if error < 5e-5 else 2] * 3


def test_table_1_counts_what_is_vacuous_and_says_where_the_optimistic_bound_wins(tmp_path: Path) -> None:
    (tmp_path / "tables").mkdir()
    write_summary(tmp_path, 0.0)
    blocks = lists.table_1(ResultsFolder.at(tmp_path))
    rows = pl.read_parquet(tmp_path / lists.BOUNDS)
    noisy = rows.filter(pl.col("population") == "noisy")
    assert f"{noisy['vacuous'].sum()} of {len(noisy)} do not" in words(blocks)
    wins = rows.filter(pl.col("beats_theorem_9_from").is_not_null())
    assert f"the smallest {wins['beats_theorem_9_from'].min():,}" in words(blocks)
    first, second = inside(blocks, Table)
    assert len(first.rows()) == 6
    assert len(second.rows()) == len(rows.filter(pl.col("bound") == "optimistic"))


def test_closed_forms_below_their_integrals_are_said(tmp_path: Path) -> None:
    (tmp_path / "tables").mkdir()
    average = {
        "class": "l2",
        "n": 30,
        "m": 5,
        "linear": 0.4,
        "linear_error": 0.01,
        "found": 0.05,
        "found_error": 0.003,
        "integral": 25.0,
        "closed_form": 24.0,
        "loss_bound": 7.0,
    }
    write(tmp_path, lists.AVERAGES, [average])
    for closed, said in ((24.0, "In 1 of 1 settings they are not"), (26.0, "In all of 1 settings")):
        row = {
            "corollary": 8,
            "radius": 1.0,
            "n": 100,
            "m": 5,
            "loss_bound": 7.0,
            "closed_form": closed,
            "integral": 25.0,
            "alpha": 1.0,
        }
        write(tmp_path, lists.CLOSED_FORMS, [row])
        assert said in words(lists.averages(ResultsFolder.at(tmp_path)))
        assert "500 to 500 times above" in words(lists.averages(ResultsFolder.at(tmp_path)))


def test_features_and_data_sets(tmp_path: Path) -> None:
    (tmp_path / "tables").mkdir()
    sparse = [
        {
            "d": d,
            "n": 50,
            "m": 8,
            "repetition": repetition,
            "learner": learner,
            "empirical": 0.1,
            "risk": 0.1 + gap,
            "risk_error": 0.01,
            "gap": gap * (1 + repetition),
            "excess": 0.02 * repetition if d == 10 else -0.01 * (2 - repetition),
            "excess_error": 0.001,
            "certified_gap": 1e-4,
            "best_certified_gap": 1e-7,
            "bound": 60.0,
            "excess_bound": 61.0,
            "bound_far": 0.01 * d,
            "fitted_at": 10**9,
        }
        for d in (10, 100)
        for repetition in (0, 1)
        for learner, gap in (("erm", 0.1), ("worst", 0.3))
    ]
    write(tmp_path, lists.SPARSE, sparse)
    results = ResultsFolder.at(tmp_path)
    said = words(lists.sparse(results))
    assert "from 0.1 to 1" in said.replace("grows ", "")
    assert "the largest gap is 0.2 with 10 and 0.2 with 100 features" in said
    assert "the worst gap found is 0.6 with 10 and 0.6 with 100 features" in said
    assert "the largest excess risk is 0.02 with 10 and -0.01 with 100 features" in said
    assert "on the excess risk from 61 to 61" in said
    inside(lists.sparse(results), Figure)[0].draw()
    real = {
        "dataset": "made",
        "m": 5,
        "n": 25,
        "repetition": 0,
        "loss": "listnet",
        "learner": "erm",
        "empirical": 0.1,
        "risk": 0.3,
        "risk_error": 0.01,
        "gap": 0.2,
        "excess": 0.04,
        "excess_error": 0.002,
        "certified_gap": 1e-5,
        "bound": 40.0,
        "loss_bound": 22.0,
    }
    storage.write_table(tmp_path / lists.REAL.format(dataset="made"), pl.DataFrame([real]))
    assert "The largest gap is 0.5 % of Theorem 9's bound" in words(lists.real(results))
    [table] = inside(lists.real(results), Table)
    assert [[row[1].text, row[2].text, row[3].raw, row[3].spread] for row in table.rows()] == [
        ["gap, minimiser", "5", 0.2, "0.01"],
        ["excess risk, minimiser", "5", 0.04, "0.002"],
    ]
    storage.write_table(tmp_path / lists.REAL.format(dataset="tiny-set"), pl.DataFrame([real]).clear())
    assert "tiny-set: left out, because it has too few queries" in words(lists.real(results))


@pytest.mark.parametrize("excess", [0.0, 0.25])
def test_the_lemma_on_operator_norms_is_on_the_page(tmp_path: Path, excess: float) -> None:
    (tmp_path / "tables").mkdir()
    values = {"largest_relative_difference": 0.25, "largest_relative_excess": excess}
    check = {"claim": "lists-lemma4", "case": "p = 2", "m": None, "d": None}
    rows = [{**check, "statistic": name, "value": value} for name, value in values.items()]
    write(tmp_path, lists.CHECKS, rows)
    said = words(lists.lemmas(ResultsFolder.at(tmp_path)))
    assert f"at most 0.25 of it, and exceeds it by {excess:.2g} at most" in said
