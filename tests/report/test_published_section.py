"""Does the overview of published numbers have every number that a figure of a paper's page compares with ours?"""

from collections.abc import Mapping, Sequence
from pathlib import Path

import polars as pl
import pytest

from pipeline_lib.claims.judged import JudgedStudy
from pipeline_lib.core import storage
from pipeline_lib.report import study_pages
from pipeline_lib.report.blocks import Details, Section, Subsection, walk
from pipeline_lib.report.declared_figures import against
from pipeline_lib.report.page import PaperPages
from pipeline_lib.report.queries import Rows
from pipeline_lib.report.results import ResultsFolder
from pipeline_lib.report.study import PUBLISHED, Study
from pipeline_lib.report.tables import Table

ROWS = [
    {"what": "G", "printed": 2.0, "exact": 2.0 + 1e-15, "low": 2.0, "high": 2.0},
    {"what": "H", "printed": 2.0, "exact": 0.5, "low": 0.25, "high": 0.75},
    {"what": "not measured", "printed": 1.0, "exact": None, "low": None, "high": None},
    {"what": "not printed", "printed": None, "exact": 1.0, "low": 1.0, "high": 1.0},
]


@pytest.fixture
def study(tmp_path: Path) -> Study:
    (tmp_path / "study" / "tables").mkdir(parents=True)
    columns = ("dataset", "model", "folds", "measure", "published", "measured", "delta", "in_standard_errors", "source")
    storage.write_table(tmp_path / "study" / PUBLISHED, pl.DataFrame(schema=dict.fromkeys(columns, pl.String)))
    return Study(ResultsFolder.at(tmp_path / "study"))


def published(study: Study, stories: Mapping[str, Sequence[Section]]) -> Section | None:
    given = study_pages.published(study, stories)
    return PaperPages(study.results, JudgedStudy("study", (), {})).section("published", "published", **given)


def test_every_pair_of_numbers_has_a_row_and_a_link(study: Study) -> None:
    figure = against(
        "constants",
        "Constants",
        "Words",
        {"maximum norm": Rows(ROWS, ("made-constants",))},
        label="what",
        published="printed",
        ours="exact",
        band=("low", "high"),
        xlabel="constant",
    )
    story = Section("made", "Made", (Subsection("part", "Part", (Details("More", (figure,)),)),))
    unprinted = against(
        "none", "", "", Rows(ROWS[3:], ("t",)), label="what", published="printed", ours="exact", xlabel="x"
    )
    others = {"Without figures": [Section("b", "B", ())], "Unprinted": [Section("c", "C", (unprinted,))]}
    section = published(study, {"A made paper": [story], **others})
    assert section is not None
    [table] = [block for block in walk(section.blocks) if isinstance(block, Table)]
    assert table.source == "tables/made-constants.parquet"
    [group] = table.groups
    assert group.title == "A made paper"
    assert [[cell.raw for cell in row] for row in group.rows] == [
        ["G, maximum norm", 2.0, 2.0 + 1e-15, None, 0.0, "constants"],
        ["H, maximum norm", 2.0, 0.5, "0.25 0.75", -1.5, "constants"],
        ["not measured, maximum norm", 1.0, None, None, None, "constants"],
    ]
    assert all("](#figure-constants)" in row[-1].text for row in group.rows)


def test_no_numbers_no_section(study: Study) -> None:
    assert published(study, {"A made paper": [Section("made", "Made", ())]}) is None
