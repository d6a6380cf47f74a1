"""Does the list of a paper's sections leave nothing out, and what is said where it does?"""

from __future__ import annotations

import copy
import dataclasses
from pathlib import Path

import pytest
import yaml

from pipeline_lib import cli, papers
from pipeline_lib.claims import coverage, ledger
from pipeline_lib.claims.judged import JudgedClaim, JudgedPaper, JudgedStudy
from pipeline_lib.errors import ConfigurationError
from pipeline_lib.reporting import coverage_section

PAGE = Path(__file__).parents[2] / "docs" / "coverage.md"
CLAIMS = [claim.id for claim in ledger.load([papers.get("cone")])]
SECTIONS = [
    {
        "section": "1",
        "title": "Introduction",
        "statements": [{"what": "Motivation", "says": "What is ranked.", "reason": "It states nothing."}],
    },
    {
        "section": "3.2",
        "title": "Cones",
        "statements": [{"what": "Theorem 1", "says": "All of it | at once.", "claims": CLAIMS}],
    },
]


@pytest.fixture
def paper(tmp_path, monkeypatch):
    """A paper with the claims of `cone`, and a function that writes its sections."""
    folder = tmp_path / "cone"
    folder.mkdir()
    (folder / "claims.yaml").write_bytes((papers.get("cone").folder / "claims.yaml").read_bytes())
    found = papers.get("cone")
    monkeypatch.setattr(papers, "FOLDER", tmp_path)

    def write(sections):
        (folder / "sections.yaml").write_text(yaml.safe_dump({"sections": sections}), encoding="utf-8")
        return found

    return write


def test_sections_are_read_in_the_order_of_print(paper):
    found = coverage.load(paper(SECTIONS))
    assert [one.heading for one in found] == ["1 Introduction", "3.2 Cones"]
    assert found[1].statements[0].claims == tuple(CLAIMS)
    assert coverage.counts(found) == (1, 1)


def test_a_paper_without_the_file_has_no_sections(paper):
    one = dataclasses.replace(paper(SECTIONS))
    (one.folder / "sections.yaml").unlink()
    assert coverage.load(one) == ()
    coverage.check(one, CLAIMS)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda s: s[1]["statements"][0].update(claims=CLAIMS[1:]), CLAIMS[0]),
        (
            lambda s: s[1]["statements"][0]["claims"].append("cone-thm9"),
            "3.2 Cones, Theorem 1: unknown claim 'cone-thm9'",
        ),
        (lambda s: s[0]["statements"][0].update(claims=CLAIMS), "1 / Motivation: expected either"),
        (lambda s: s[0]["statements"][0].pop("reason"), "1 / Motivation: expected either"),
        (lambda s: s[0]["statements"].clear(), "1: statements"),
        (lambda s: s[1].update(titel="Cones"), "'titel' was unexpected"),
    ],
    ids=["claim left out", "unknown claim", "claims and reason", "neither", "empty section", "misspelt key"],
)
def test_a_wrong_list_is_refused_with_its_place(paper, change, expected):
    sections = copy.deepcopy(SECTIONS)
    change(sections)
    with pytest.raises(ConfigurationError, match=r"sections\.yaml: ") as error:
        coverage.check(paper(sections), CLAIMS)
    assert expected in str(error.value)


def test_the_report_shows_every_statement_with_the_status_of_its_claims(paper):
    one = paper(SECTIONS)
    judged = JudgedClaim(CLAIMS[0], "cone", "bound", "", "", "", "", "refuted", "", None, (), "", ())
    study = JudgedStudy("made", (judged,), {"cone": JudgedPaper(one.title, one.authors)})
    [section] = coverage_section.sections(study, "cone")
    (table,) = section.blocks[1].blocks
    assert [group.title for group in table.groups] == ["1 Introduction", "3.2 Cones"]
    assert table.groups[0].rows[0][2].text == "It states nothing."
    assert f"✗\u00a0[{CLAIMS[0]}](#claim-{CLAIMS[0]})" in table.groups[1].rows[0][2].text


def test_the_page_has_every_paper_and_statement(paper):
    page = coverage.page([paper(SECTIONS)])
    assert r"| Theorem 1 | All of it \| at once. |" in page
    assert "### 1 Introduction" in page
    assert all(f"`{name}`" in page for name in CLAIMS)


def test_the_page_of_the_docs_is_what_the_command_writes(tmp_path):
    written = tmp_path / "coverage.md"
    assert cli.main(["coverage", "--page", str(written)]) == 0
    assert written.read_text("utf-8") == PAGE.read_text("utf-8"), (
        "run python -m pipeline_lib coverage --page docs/coverage.md"
    )
