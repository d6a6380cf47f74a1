"""Which pages does the report have, and which sections are on each?

The front page says what was run and what came out. Every data set and every paper has a page of its own; then come the
errata, the bounds with their costliest steps, the ledger of all claims, numbers published by others, methods,
terms and provenance. The single file contains all of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from pipeline_lib import papers as register
from pipeline_lib.claims.judged import JudgedStudy
from pipeline_lib.errors import DataError
from pipeline_lib.reporting import (
    chains_section,
    claims_section,
    coverage_section,
    data_section,
    errata_section,
    ledger_section,
    methods_section,
    overview_section,
    provenance_section,
    published_section,
    results_section,
    terms_section,
)
from pipeline_lib.reporting.blocks import Block, Columns, Note, Section, Subsection, walk
from pipeline_lib.reporting.claims_section import ClaimList
from pipeline_lib.reporting.origins import parts as origins_of
from pipeline_lib.reporting.page import PaperPages
from pipeline_lib.reporting.results import ResultsFolder
from pipeline_lib.reporting.study import SUMMARY, Study

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
    study = Study(results)
    chosen = [name for name in register.names() if name in papers]
    templates = PaperPages(results, claims)
    of_papers = [found for name in chosen if (found := _paper(name, templates.story(name), claims)) is not None]
    findings = {one.name: templates.findings(one.name) for one in of_papers}
    bounds = chains_section.section(study, [one.name for one in of_papers])
    others = (
        ("errata", errata_section.section(claims, papers)),
        ("bounds", bounds),
        ("ledger", ledger_section.section(claims, papers)),
        ("published", published_section.published(study, {one.title: one.sections for one in of_papers})),
        ("methods", methods_section.methods(study)),
        ("terms", terms_section.terms()),
    )
    all_but_last = [
        _front(study, claims, papers, of_papers, findings, bounds),
        *_data(study),
        *of_papers,
        *(Page(name, section.title, (section,)) for name, section in others if section is not None),
    ]
    origins = origins_of(
        results, chosen, (block for one in all_but_last for section in one.sections for block in section.blocks)
    )
    last = provenance_section.provenance(study, origins)
    return [*all_but_last, Page("provenance", last.title, (last,))]


def _front(
    study: Study,
    claims: JudgedStudy,
    papers: Sequence[str],
    of_papers: Sequence[Page],
    findings: Mapping[str, Sequence[Block]],
    bounds: Section | None,
) -> Page:
    """What was run, on what, what came out, the ledger, and the cost."""
    blocks: list[Block] = [*overview_section.overview(study), *ledger_section.summary(claims, papers)]
    blocks += chains_section.certified(study)
    blocks += ledger_section.left_out(claims, papers)
    cards = tuple(
        Subsection(f"findings-{one.name}", f"[{one.title}](#{one.anchor})", tuple(findings[one.name]))
        for one in of_papers
        if findings[one.name]
    )
    blocks += [Columns(cards)] if cards else []
    if picture := ledger_section.picture(claims, papers):
        blocks.append(Subsection("picture", "Every claim at a glance", tuple(picture)))
    blocks += [*chains_section.pointer(bounds), *overview_section.best_learners(study), *overview_section.cost(study)]
    return Page(FRONT, "Overview", (Section("overview", "Overview", tuple(blocks)),))


def _data(study: Study) -> list[Page]:
    """The table of all data sets, then a page for each with what is known of it and what was measured on it."""
    known = {entry["dataset"]: entry for entry in study.data}
    measured = study.datasets()
    first = data_section.datasets(study)
    if not measured:
        first = Section(
            first.id, first.title, (*first.blocks, Note(f"No results: {SUMMARY} is absent or empty.", "missing"))
        )
    pages = [Page("data-sets", first.title, (first,))]
    for name in dict.fromkeys([*measured, *known]):
        blocks: list[Block] = [data_section.facts(known[name])] if name in known else []
        blocks += [results_section.results(study, name)] if name in measured else []
        pages.append(Page(f"data-{name}", name, (Section(f"set-{name}", name, tuple(blocks)),)))
    return pages


def _paper(name: str, story: Section | None, claims: JudgedStudy) -> Page | None:
    """What a paper says and what was measured, its claims and sections; None where it has nothing."""
    placed = [
        claim.id
        for block in walk(story.blocks if story else ())
        if isinstance(block, ClaimList)
        for claim in block.claims
    ]
    if twice := [one for one, times in Counter(placed).items() if times > 1]:
        raise DataError(f"page of {name}: expected every claim once, found {', '.join(twice)} more often")
    outcomes = ledger_section.outcomes(claims, name)
    if story is None and outcomes:
        story = Section(name, register.get(name).title, ())
    sections = [
        *([_after_introduction(story, outcomes)] if story is not None else []),
        *claims_section.further(claims, name, placed),
        *coverage_section.sections(claims, name),
    ]
    title = story.title if story is not None else register.get(name).title
    return Page(name, title, tuple(sections)) if sections else None


def _after_introduction(story: Section, blocks: Sequence[Block]) -> Section:
    """The story with some blocks before its first part."""
    begin = next((i for i, block in enumerate(story.blocks) if isinstance(block, Subsection)), len(story.blocks))
    return replace(story, blocks=(*story.blocks[:begin], *blocks, *story.blocks[begin:]))
