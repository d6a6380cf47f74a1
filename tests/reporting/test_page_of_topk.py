"""Does the page of topk show the numbers of its tables, and does its prose follow the evidence?"""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from pipeline_lib import storage
from pipeline_lib.claims.judged import JudgedClaim, JudgedStudy
from pipeline_lib.reporting import page
from pipeline_lib.reporting.blocks import Section
from pipeline_lib.reporting.markdown import Prose
from pipeline_lib.reporting.results import ResultsFolder
from pipeline_lib.reporting.tables import Table

GAME = {"adversary": "p", "quantity": "E[y]", "measured": 0.45, "published": 0.45}


@pytest.fixture
def build(tmp_path: Path):
    """Build the page from some tables and statuses of claims."""

    def built(tables: dict[str, list[dict[str, object]]], **statuses: str) -> Section | None:
        folder = tmp_path / f"study{len(list(tmp_path.iterdir()))}"
        (folder / "tables").mkdir(parents=True)
        for name, rows in tables.items():
            storage.write_table(folder / "tables" / f"{name}.parquet", pl.DataFrame(rows))
        claims = [
            JudgedClaim(f"topk-{name}", "topk", "bound", "", "", "", "", status, "", (), "", ())  # type: ignore[arg-type]
            for name, status in statuses.items()
        ]
        return page.build("topk", ResultsFolder.at(folder), JudgedStudy("study", tuple(claims), {}))

    return built


def prose(section: Section | None) -> str:
    assert section is not None
    [part] = section.subsections()
    return " ".join(block.html for block in part.blocks if isinstance(block, Prose))


def tables(section: Section | None) -> dict[str, list[list[str]]]:
    assert section is not None
    found = [block for part in section.subsections() for block in part.blocks if isinstance(block, Table)]
    return {table.name: [[cell.text for cell in row] for row in table.rows()] for table in found}


def game(regret: float, high: float) -> dict[str, list[dict[str, object]]]:
    row = {"learner": "kl", "linear_limit": 2.0, "low": regret, "high": high}
    return {
        "topk-table1": [{**GAME, "document": i} for i in (1, 2, 3)],
        "topk-adversary": [{**row, "T": 100, "regret": regret}, {**row, "T": 1000, "regret": regret * 10.0}],
    }


def test_no_tables_no_page(build) -> None:
    assert build({}) is None


def test_the_largest_bias_is_shown_and_decides_the_words(build) -> None:
    row = {"claim": "topk-estimators", "surrogate": "kl", "k": 1, "gamma": 0.1, "probabilities": "correct"}
    pages = []
    for bias in (1e-15, 0.25):
        rows = [{**row, "largest_relative_bias": value} for value in (0.0, bias)]
        rows.append({**row, "probabilities": "as-printed", "largest_relative_bias": 0.5})
        pages.append(build({"topk-biases": rows}))
    assert tables(pages[1])["topk-biases"][0][1:] == ["1", "2", "0.25", "0.5"]
    assert prose(pages[0]).replace("1e−15", "") != prose(pages[1]).replace("0.25", "")


def test_a_learner_below_the_limit_changes_the_words(build) -> None:
    above, within, below = (prose(build(game(*ends))) for ends in ((9.0, 9.5), (1.9, 2.1), (0.1, 0.15)))
    assert len({above, within, below}) == 3


def test_slopes_and_ratios_of_the_game_are_those_of_the_table(build) -> None:
    [[_, ratio, slope]] = tables(build(game(9.0, 9.5)))["topk-game"]
    assert (ratio, slope) == ("45", "1.00")


def test_the_words_on_regret_follow_the_claim(build) -> None:
    row = {"surrogate": "kl", "T": 100, "regret": 5.0, "low": 4.0, "high": 6.0, "exploration": 1.0}
    shown = {"topk-regret": [row], "topk-exponents": [{"surrogate": "kl", "slope": 0.7, "low": 0.6, "high": 0.8}]}
    verified, refuted = (build(shown, thm41=status) for status in ("verified", "refuted"))
    assert prose(verified) != prose(refuted)
    assert tables(verified)["topk-exponents"][0][1:] == ["0.700", "[0.600, 0.800]", "5", "20 %"]
