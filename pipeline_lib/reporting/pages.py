"""Which pages does the report have, and which sections are on each?

The front page says what was run and what came out. Every data set and every paper has a page of its own; then come the
ledger of all claims, numbers published by others, methods and provenance. The single file contains all of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pipeline_lib import papers as register
from pipeline_lib.claims.judged import JudgedStudy
from pipeline_lib.reporting import (
    chains_section,
    claims_section,
    coverage_section,
    data_section,
    ledger_section,
    methods_section,
    overview_section,
    page,
    provenance_section,
    published_section,
    results_section,
    witnesses_section,
)
from pipeline_lib.reporting.blocks import Block, Note, Section, Subsection
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
    of_papers = [found for name in chosen if (found := _paper(name, results, claims)) is not None]
    others = (
        ("ledger", ledger_section.section(claims, papers)),
        ("published", published_section.published(study)),
        ("methods", methods_section.methods(study)),
        ("provenance", provenance_section.provenance(study)),
    )
    return [
        _front(study, claims, papers, of_papers),
        *_data(study),
        *of_papers,
        *(Page(name, found.title, (found,)) for name, found in others if found is not None),
    ]


def _front(study: Study, claims: JudgedStudy, papers: Sequence[str], of_papers: Sequence[Page]) -> Page:
    blocks: list[Block] = [*overview_section.overview(study), *chains_section.certified(study)]
    blocks += ledger_section.left_out(claims, papers)
    if picture := ledger_section.picture(claims, papers):
        blocks.append(Subsection("picture", "Every claim at a glance", tuple(picture)))
    said = ((one, tuple(page.findings(one.name, study.results, claims))) for one in of_papers)
    blocks += [
        Subsection(f"findings-{one.name}", f"[{one.title}](#{one.anchor})", words) for one, words in said if words
    ]
    if lost := chains_section.overview(study, [one.name for one in of_papers]):
        blocks.append(Subsection("bounds", "Where the bounds lose", tuple(lost)))
    blocks += [*overview_section.best_learners(study), *overview_section.cost(study)]
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


def _paper(name: str, results: ResultsFolder, claims: JudgedStudy) -> Page | None:
    """What a paper says and what was measured, its claims, counterexamples and sections; None where it has nothing."""
    story = page.build(name, results, claims)
    sections = [
        *([story] if story is not None else []),
        *claims_section.sections(claims, name),
        *witnesses_section.sections(name, [claim.id for claim in claims.claims if claim.paper == name]),
        *coverage_section.sections(claims, name),
    ]
    title = story.title if story is not None else register.get(name).title
    return Page(name, title, tuple(sections)) if sections else None
