"""Which pages does the report have, and which sections are on each?

The front page says what was run and what came out. Every data set and every paper has a page of its own; then come the
errata, the bounds with their costliest steps, the ledger of all claims, numbers published by others, methods,
terms, references and provenance. The single file contains all of them.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain

from pipeline_lib import papers as register
from pipeline_lib.claims.judged import JudgedStudy
from pipeline_lib.core.errors import DataError
from pipeline_lib.report import (
    chains_section,
    claims_section,
    coverage_section,
    data_section,
    errata_section,
    ledger_section,
    methods_section,
    origins,
    overview_section,
    provenance_section,
    published_section,
    results_section,
    terms_section,
)
from pipeline_lib.report.blocks import Block, Columns, Section, Subsection, walk
from pipeline_lib.report.claims_section import ClaimList
from pipeline_lib.report.markdown import prose
from pipeline_lib.report.page import PaperPages
from pipeline_lib.report.results import ResultsFolder
from pipeline_lib.report.study import Study

FRONT = "index"


@dataclass(frozen=True)
class Page:
    """A page of the report: the name of its file without ending, what the contents call it, and what is on it."""

    name: str
    title: str
    sections: tuple[Section, ...]

    @property
    def anchor(self) -> str:
        """The address of its beginning in the single file."""
        return self.sections[0].id


def build(results: ResultsFolder, claims: JudgedStudy, papers: Sequence[str]) -> list[Page]:
    """All pages in their order, with those of ``papers`` among them."""
    study, templates = Study(results), PaperPages(results, claims)
    chosen = [name for name in register.names() if name in papers]
    of_papers = [found for name in chosen if (found := _paper(name, templates, claims)) is not None]
    cards = [
        Subsection(f"findings-{one.name}", f"[{one.title}](#{one.anchor})", tuple(said))
        for one in of_papers
        if (said := templates.findings(one.name))
    ]
    bounds = chains_section.chains(study, [one.name for one in of_papers])
    ledger = ledger_section.given(claims, papers)
    front = templates.section(
        "overview",
        "overview",
        **overview_section.given(study),
        **ledger_section.summary(claims, papers),
        certified=chains_section.certified(study),
        cards=Columns(tuple(cards)) if cards else None,
        picture=ledger_section.picture(claims, papers),
        bounds=len(bounds),
    )
    stories = published_section.given(study, {one.title: one.sections for one in of_papers})
    pages = [
        _page(FRONT, front),
        _page("data-sets", templates.section("data-sets", "data", **data_section.given(study))),
        *(_page(f"data-{name}", one) for name, one in _data(study, templates).items()),
        *of_papers,
        _page("errata", errata_section.section(claims, papers)),
        _page("bounds", templates.section("bounds", "bounds", found=bounds) if bounds else None),
        _page("ledger", templates.section("ledger", "claims", **ledger) if ledger else None),
        _page("published", templates.section("published", "published", **stories)),
        _page("methods", templates.section("methods", "methods", **methods_section.given(study))),
        _page("terms", terms_section.terms()),
        _page("references", terms_section.references()),
    ]
    shown = [page for page in pages if page is not None]
    blocks = chain.from_iterable(section.blocks for page in shown for section in page.sections)
    made = origins.parts(results, chosen, blocks)
    last = templates.section("provenance", "provenance", **provenance_section.given(study), origins=made)
    return [page for page in (*shown, _page("provenance", last)) if page is not None]


def _page(name: str, section: Section | None) -> Page | None:
    return Page(name, section.title, (section,)) if section is not None else None


def _data(study: Study, templates: PaperPages) -> dict[str, Section | None]:
    """For every data set what is known of it and what was measured on it."""
    known, measured = {entry["dataset"]: entry for entry in study.data}, study.datasets()
    return {
        name: templates.section(
            "data-set",
            f"set-{name}",
            study=study,
            dataset=name,
            about=data_section.about(known[name]) if name in known else None,
            measured=name in measured,
            **(results_section.given(study, name) if name in measured else {}),
        )
        for name in dict.fromkeys([*measured, *known])
    }


def _paper(name: str, templates: PaperPages, claims: JudgedStudy) -> Page | None:
    """What a paper says and what was measured, its claims and sections; None where it has nothing."""
    story = templates.story(name)
    placed = [
        claim.id
        for block in walk(story.blocks if story else ())
        if isinstance(block, ClaimList)
        for claim in block.claims
    ]
    if twice := [one for one, times in Counter(placed).items() if times > 1]:
        raise DataError(f"page of {name}: expected every claim once, found {', '.join(twice)} more often")
    outcomes, paper = ledger_section.outcomes(claims, name), register.get(name)
    if story is None and outcomes:
        story = Section(name, paper.title, ())
    if story is not None:
        cited = prose(f"{paper.authors}. [{paper.title}]({paper.url}). {paper.published}.")
        story = replace(story, blocks=(cited, *story.blocks))
    covered = coverage_section.given(claims, name)
    sections = [
        _after_introduction(story, outcomes) if story is not None else None,
        claims_section.further(claims, name, placed),
        templates.section("coverage", f"coverage-{name}", **covered) if covered else None,
    ]
    title = story.title if story is not None else paper.title
    found = tuple(section for section in sections if section is not None)
    return Page(name, title, found) if found else None


def _after_introduction(story: Section, blocks: Sequence[Block]) -> Section:
    """The story with some blocks before its first part."""
    begin = next((i for i, block in enumerate(story.blocks) if isinstance(block, Subsection)), len(story.blocks))
    return replace(story, blocks=(*story.blocks[:begin], *blocks, *story.blocks[begin:]))
