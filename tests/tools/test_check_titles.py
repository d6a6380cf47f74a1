"""Does the check of a study's titles object to a finding that its figure does not warrant?"""

from pathlib import Path

import pytest

from pipeline_lib.report import titles
from pipeline_lib.report.declared_figures import Curves, lines
from pipeline_lib.report.figures import Figure
from pipeline_lib.report.titles import Rule
from tools import check_titles

FALLS = [(1, 9.0, 8.0, 10.0), (10, 2.0, 1.0, 3.0)]


def drawn(*rules: Rule) -> Figure:
    said = titles.finding("The gap falls", *rules, otherwise="The gap")
    return lines("gap", said, "Means", Curves({"gap": FALLS}, "tables/t.parquet"), xlabel="n", ylabel="gap")


ALL = list(check_titles.declared())


@pytest.fixture(autouse=True)
def one_page(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(check_titles, "declared", lambda: iter([(Path("page.md"), "The gap falls")]))


def test_a_finding_that_holds_passes() -> None:
    assert drawn(titles.falls("gap")).title == "The gap falls"
    assert check_titles.problems([drawn(titles.falls("gap"))]) == []


def test_a_finding_that_falls_back_is_named() -> None:
    figure = drawn(titles.falls("gap"), titles.falls_as(2.0, "gap"))
    assert figure.title == "The gap"
    [problem] = check_titles.problems([figure])
    assert problem.startswith("gap: 'The gap falls'")


def test_a_finding_that_could_be_sharper_is_named() -> None:
    assert drawn(titles.grows_at_most_as(1.0, "gap")).title == "The gap falls"
    assert len(check_titles.problems([drawn(titles.grows_at_most_as(1.0, "gap"))])) == 1


def test_a_finding_over_no_figure_is_named() -> None:
    [problem] = check_titles.problems([])
    assert problem.startswith("page.md")


def test_the_findings_of_all_pages_are_read() -> None:
    assert "The longer the lists, the smaller the lead in units of the spread" in [words for _, words in ALL]
    assert "Neither the deepest nor the shallowest judging is best: " in [words for _, words in ALL]
