"""Does the page of errata show every erratum of the study's papers, with its claims and exact instances?"""

import re
from collections.abc import Sequence
from pathlib import Path

import pytest
from page_of_paper import claims_of, judged

from pipeline_lib import papers
from pipeline_lib.claims import errata, ledger
from pipeline_lib.claims.judged import JudgedPaper, JudgedStudy
from pipeline_lib.report import errata_section, site
from pipeline_lib.report.blocks import Section, walk
from pipeline_lib.report.claims_section import ClaimList
from pipeline_lib.report.errata_section import ErrataList, WitnessList
from pipeline_lib.report.page import PaperPages
from pipeline_lib.report.pages import Page
from pipeline_lib.report.rerun import Rerun
from pipeline_lib.report.results import ResultsFolder
from tests.readings import papers_in_order

EVERY = {one.name: one for name in papers.names() for one in papers.witnesses(name)}


def study(*chosen: str) -> JudgedStudy:
    """All claims of some papers, verified."""
    claims = [judged(one, "verified") for name in chosen for one in claims_of(name)]
    about = {name: JudgedPaper(papers.get(name).title, "") for name in chosen}
    return JudgedStudy("made", tuple(claims), about)


def section_of(claims: JudgedStudy, chosen: Sequence[str]) -> Section | None:
    """The section as the report shows it."""
    given = errata_section.given(claims, chosen)
    pages = PaperPages(ResultsFolder(Path()), claims)
    return pages.section("errata", "errata", **given) if given is not None else None


def shown(section: Section | None) -> dict[str, list[str]]:
    """Letter -> the names of the exact instances that stand with the erratum; without a letter, those of no erratum."""
    assert section is not None
    found: dict[str, list[str]] = {}
    for block in walk(section.blocks):
        if isinstance(block, ErrataList):
            for one in block.entries:
                assert one.letter not in found
                found[one.letter] = [witness.name for witness in block.witnesses(one)]
        elif isinstance(block, WitnessList):
            found.setdefault("", []).extend(one.name for one in block.witnesses)
    return found


def test_every_erratum_and_every_witness_is_shown_once() -> None:
    every = papers.names()
    found = shown(section_of(study(*every), every))
    assert {*found} - {""} == {one.letter for one in errata.load()}
    assert sorted(name for names in found.values() for name in names) == sorted(EVERY)


@pytest.mark.parametrize("paper", papers.names())
def test_one_paper_shows_what_concerns_it(paper: str) -> None:
    section = section_of(study(paper), [paper])
    own = {claim.id for claim in ledger.load([papers.get(paper)])}
    concerning = {one.letter for one in errata.load() if paper in one.where or own & {*one.claims}}
    if paper not in papers_in_order() and not concerning:
        assert section is None
        return
    assert {*shown(section)} - {""} == concerning | {one.letter for one in errata.load() if not one.where}


def test_a_witness_links_only_to_claims_that_are_shown() -> None:
    linked = next(one for one in EVERY.values() if len(one.claims) > 1)
    assert WitnessList((linked,), frozenset(linked.claims)).claims(linked) == list(linked.claims)
    assert WitnessList((linked,), frozenset(linked.claims[:1])).claims(linked) == [linked.claims[0]]


def test_no_paper_no_errata() -> None:
    assert section_of(study(), []) is None


def test_claims_and_errata_link_to_each_other(tmp_path: Path) -> None:
    lists = study("lists")
    section = section_of(lists, ["lists"])
    assert section is not None
    cards = Section("lists", "Lists", (ClaimList(lists.claims),))
    site.write([Page("errata", "Errata", (section, cards))], tmp_path, "Errata", Rerun(ResultsFolder(tmp_path), []))
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    places = set(re.findall(r'id="([^"]+)"', text))
    links = set(re.findall(r'href="#((?:erratum|claim|witness)-[^"]+)"', text))
    assert links <= places
    for one in errata.load():
        if "lists" in one.where:
            [article] = re.findall(rf'<article class="erratum" id="{errata.address(one.letter)}">.*?</dl>', text, re.S)
            mine = {name for name in one.claims if name.startswith("lists-")}
            assert set(re.findall(r'href="#claim-([^"]+)"', article)) == mine
            for name in mine:
                [card] = re.findall(rf'<article [^>]*id="claim-{name}">.*?</article>', text, re.S)
                assert f'href="#{errata.address(one.letter)}"' in card


@pytest.mark.parametrize(
    ("markdown", "html"),
    [
        (r"L(w\*) <= m_i^2", "L(w*) ≤ m<sub>i</sub><sup>2</sup>"),
        ("`a_b<c`", "<code>a_b&lt;c</code>"),
        ("[T](#t), [AB](#ab)", '<a href="#erratum-T">T</a>, <a href="#erratum-AB">AB</a>'),
        ("[x.md](x.md)", "<code>docs/x.md</code>"),
        ("a <script> & b", "a &lt;script&gt; &amp; b"),
    ],
)
def test_running_text_becomes_html(markdown: str, html: str) -> None:
    assert errata_section.running(markdown) == html
