"""Does the page of errata show every erratum of the study's papers, with its claims and exact instances?"""

import html
import re
from collections.abc import Sequence
from pathlib import Path

import pytest
from browser import Browser
from page_of_paper import claims_of, judged

from pipeline_lib import papers
from pipeline_lib.claims import errata, ledger
from pipeline_lib.claims.judged import JudgedPaper, JudgedStudy
from pipeline_lib.core.errors import DataError
from pipeline_lib.papers.witnesses import Witness
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


def test_an_erratum_shows_all_that_its_file_says(tmp_path: Path) -> None:
    every = papers.names()
    section = section_of(study(*every), every)
    assert section is not None
    site.write([Page("errata", "Errata", (section,))], tmp_path, "Errata", Rerun(ResultsFolder(tmp_path), []))
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    for one in errata.load():
        article = text.partition(f'id="{errata.address(one.letter)}"')[2].partition("</details>")[0]
        shown = words(article)
        parts = (
            [one.subject, one.kind, one.printed, one.why, one.holds, one.evidence]
            if one.where
            else [one.why, one.holds]
        )
        assert all(words(errata_section.running(part)) in shown for part in [*parts, *one.printed_in.values()]), one.id
        assert all(claim in shown and words(remark) in shown for claim, remark in one.claims.items()), one.id


def words(markup: str) -> str:
    """The text of HTML, with every gap between words as one space."""
    return " ".join(html.unescape(re.sub(r"<[^>]+>", "", markup)).split())


def test_a_witness_of_an_unknown_erratum_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    unknown = Witness("made", "section 1", "1 is 0.", next(iter(EVERY.values())).compute, errata="ZZ")
    monkeypatch.setattr(papers, "witnesses", lambda name: (unknown,))
    with pytest.raises(DataError, match="found none for ZZ"):
        errata_section.given(study("lists"), ["lists"])


def test_errata_are_open_on_paper(tmp_path: Path, browser: Browser) -> None:
    lists = study("lists")
    section = section_of(lists, ["lists"])
    assert section is not None
    site.write([Page("errata", "Errata", (section,))], tmp_path, "Errata", Rerun(ResultsFolder(tmp_path), []))
    browser.open(tmp_path / "report.html", media="print")
    heights = browser.run(
        "[...document.querySelectorAll('.erratum dl')].map(one => one.getBoundingClientRect().height)"
    )
    assert len(heights) > len([one for one in errata.load() if "lists" in one.where])
    assert min(heights) > 20


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
