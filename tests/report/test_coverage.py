"""Does the list of a paper's sections leave nothing out, and what is said where it does?"""

import copy
import dataclasses

import pytest
import yaml
from page_of_paper import judged

from pipeline_lib import papers
from pipeline_lib.claims import coverage, ledger
from pipeline_lib.claims.judged import JudgedPaper, JudgedStudy
from pipeline_lib.core.errors import ConfigurationError
from pipeline_lib.report import claims_section
from tests import readings

LEDGER = ledger.load([papers.get("cone")])
CLAIMS = [claim.id for claim in LEDGER]
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
    for path in papers.get("cone").ledger:
        (folder / path.parent.name).mkdir(parents=True)
        (folder / path.parent.name / "claims.yaml").write_bytes(path.read_bytes())
    found = papers.get("cone")
    monkeypatch.setattr(papers, "FOLDER", tmp_path)

    def write(sections):
        (folder / "sections.yaml").write_text(yaml.safe_dump({"sections": sections}), encoding="utf-8")
        return found

    return write


def test_sections_are_read_in_the_order_of_print(paper):
    found = coverage.load(paper(SECTIONS), LEDGER)
    assert [one.heading for one in found] == ["1 Introduction", "3.2 Cones"]
    assert found[1].statements[0].claims == tuple(CLAIMS)
    assert coverage.counts(found) == (1, 1)


def test_a_paper_without_the_file_has_no_sections(paper):
    one = dataclasses.replace(paper(SECTIONS))
    (one.folder / "sections.yaml").unlink()
    assert coverage.load(one, LEDGER) == ()


def test_a_claim_that_no_statement_mentions_stands_at_the_end(paper):
    sections = copy.deepcopy(SECTIONS)
    sections[1]["statements"][0]["claims"] = CLAIMS[1:]
    [*_, last] = coverage.load(paper(sections), LEDGER)
    assert last.title == coverage.OTHERS
    assert [statement.claims for statement in last.statements] == [(CLAIMS[0],)]


@pytest.mark.parametrize("name", sorted({*papers.names()} - papers.ours()))
def test_the_sections_of_every_paper_mention_all_claims_of_the_topics_that_it_puts_in_order(name):
    paper = papers.get(name)
    sections = coverage.load(paper, ledger.load([paper]))
    assert sections
    others = {claim for one in sections if one.title == coverage.OTHERS for s in one.statements for claim in s.claims}
    assert others <= readings.added_claims()


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (
            lambda s: s[1]["statements"][0]["claims"].append("cone-thm9"),
            "3.2 Cones, Theorem 1: unknown claim 'cone-thm9'",
        ),
        (lambda s: s[0]["statements"][0].update(claims=CLAIMS), "[0].statements[0]: Motivation: expected either"),
        (lambda s: s[0]["statements"][0].pop("reason"), "Motivation: expected either"),
        (lambda s: s[0]["statements"].clear(), "sections[0].statements: expected no fewer entries than 1"),
        (lambda s: s[1].update(titel="Cones"), "sections[1]: unknown key 'titel'; did you mean 'title'?"),
    ],
    ids=["unknown claim", "claims and reason", "neither", "empty section", "misspelt key"],
)
def test_a_wrong_list_is_refused_with_its_place(paper, change, expected):
    sections = copy.deepcopy(SECTIONS)
    change(sections)
    with pytest.raises(ConfigurationError, match=r"sections\.yaml: ") as error:
        coverage.load(paper(sections), LEDGER)
    assert expected in str(error.value)


def test_the_report_shows_every_statement_with_the_status_of_its_claims(paper):
    one = paper(SECTIONS)
    claims = tuple(judged(claim, "refuted") for claim in LEDGER)
    study = JudgedStudy("made", claims, {"cone": JudgedPaper(one.title, one.authors)})
    first, second = claims_section.statements(study, "cone")["statements"]
    assert [one["heading"] for one in (first, second)] == ["1 Introduction", "3.2 Cones"]
    assert first["claims"].text == "It states nothing."
    assert f"[✗\u00a0refuted](#claim-{CLAIMS[0]})" in second["claims"].text
