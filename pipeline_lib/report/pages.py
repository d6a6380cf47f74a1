"""Which pages does the report have, and which sections are on each?

The front page says what was run and what came out. Every data set and every paper has a page of its own; then come this
project's own theorems with their proofs, the errata, the bounds with their costliest steps, their formulas with numbers
to move, the table of all claims, numbers published by others, methods, terms, references and provenance. The single
file contains all of them.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

from pipeline_lib import papers as register
from pipeline_lib.claims.judged import JudgedStudy
from pipeline_lib.core.errors import DataError
from pipeline_lib.report import (
    chains,
    claims_section,
    data_section,
    errata_section,
    ledger_section,
    own_section,
    proofs_section,
    provenance,
    results_section,
    study_pages,
    terms_section,
)
from pipeline_lib.report.blocks import Block, Columns, Prose, Section, Subsection, inline, mathematics, walk
from pipeline_lib.report.claims_section import ClaimList, linked
from pipeline_lib.report.figures import Figure
from pipeline_lib.report.markdown import prose
from pipeline_lib.report.page import PaperPages
from pipeline_lib.report.results import ResultsFolder
from pipeline_lib.report.study import Study

FRONT, ABOUT = "index", "About the study"
SURPRISES = {
    "slam-stalled": ("Does the perceptron's bound hold with the step of its own algorithm?", "slam-thm5-eta1"),
    "twolayer-gap-against-queries": (
        "Must lists of documents be long for a ranker to do on new queries as well as in training?",
        "twolayer-both-corrected",
    ),
    "topk-label-phases": ("How many labels must be seen to rank as well as possible by NDCG?", "topk-more-labels"),
}
"""Figures that the front page shows too, each with the question that it is about and the claim that answers it."""
STEPS = "proof-where-bounds-lose"
"""The page of the documentation that explains how the steps of bounds are measured; it stands with what they cost."""


@dataclass(frozen=True)
class Page:
    """A page of the report: the name of its file without ending, what the contents call it, and what is on it.

    ``part`` heads it in the contents, together with its neighbours of the same part.
    """

    name: str
    title: str
    sections: tuple[Section, ...]
    part: str = ""

    @property
    def anchor(self) -> str:
        """The address of its beginning in the single file."""
        return self.sections[0].id


def build(results: ResultsFolder, claims: JudgedStudy, papers: Sequence[str]) -> list[Page]:
    """All pages in their order, with those of ``papers`` among them."""
    study, templates = Study(results), PaperPages(results, claims)
    chosen = [name for name in register.names() if name in papers]
    every = [found for name in chosen if (found := _paper(name, templates, claims)) is not None]
    of_papers = [one for one in every if one.name not in register.ours()]
    promising = [one for one in every if one not in of_papers]

    def page(name: str, place: str, given: Mapping[str, Any] | None) -> Page | None:
        return _page(name, templates.section(name, place, **given) if given is not None else None)

    bounds = chains.of_papers(results, [one.name for one in of_papers])
    about: dict[str, Any] = {"cards": _cards(of_papers, templates)}
    about["promising"] = [(one.title, one.anchor) for one in promising]
    about |= study_pages.overview(study) | ledger_section.summary(claims, papers)
    about |= {"surprises": _surprises(of_papers, claims)}
    own = {entry["dataset"]: said for entry in study.data if (said := own_section.given(study, entry["dataset"]))}
    # Without papers, what a person wants to know of their own data is the front page.
    about |= {"of_own_data": [] if chosen else list(own.values())}
    stories = {one.title: one.sections for one in of_papers}
    proofs = list(proofs_section.pages()) if of_papers else []
    costs = page("bounds", "bounds", {"found": bounds} if bounds else None)
    if costs is not None:
        costs = replace(costs, sections=(*costs.sections, *(one for one in proofs if one.id == STEPS)))
        proofs = [one for one in proofs if one not in costs.sections]
    parts: dict[str, Sequence[Page | None]] = {
        "": [_page(FRONT, templates.section("overview", "overview", **about))],
        "Data": [page("data-sets", "data", data_section.given(study)), *_data(study, templates, own if chosen else {})],
        "Papers": of_papers,
        "This software": promising,
        "Proofs": [Page(one.id, one.title, (one,)) for one in proofs],
        "Evidence": [
            page("errata", "errata", errata_section.given(claims, papers)),
            costs,
            page("explore", "explore", {"bounds": bool(bounds)} if of_papers else None),
            page("ledger", "claims", ledger_section.given(claims, papers)),
            page("published", "published", study_pages.published(study, stories)),
        ],
        ABOUT: [
            page("methods", "methods", study_pages.methods(study)),
            _page("terms", terms_section.terms()),
            _page("references", terms_section.references()),
        ],
    }
    shown = [replace(one, part=part) for part, several in parts.items() for one in several if one is not None]
    blocks = chain.from_iterable(section.blocks for one in shown for section in one.sections)
    last = page("provenance", "provenance", provenance.given(results, chosen, blocks))
    return [*shown, *([replace(last, part=ABOUT)] if last is not None else [])]


def _page(name: str, section: Section | None) -> Page | None:
    return Page(name, section.title, (section,)) if section is not None else None


def _surprises(of_papers: Sequence[Page], claims: JudgedStudy) -> list[Block]:
    """Questions with the claims that answer them, each before a figure of a paper's page under a name of its own."""
    drawn = {
        block.name: block
        for one in of_papers
        for section in one.sections
        for block in walk(section.blocks)
        if isinstance(block, Figure)
    }
    judged = {claim.id: claim for claim in claims.claims}
    found: list[Block] = []
    for name, (question, claim) in SURPRISES.items():
        if name in drawn and claim in judged:
            answer = f"{inline(linked(claim, judged[claim].status))}: {mathematics(judged[claim].says)}"
            found.append(Prose(f"<p><strong>{question}</strong> {answer}</p>"))
            found.append(replace(drawn[name], name=f"front-{name}", copy_of=name))
    return found


def _cards(of_papers: Sequence[Page], templates: PaperPages) -> Columns | None:
    """What the front page says of every paper."""
    said = [(one, templates.findings(one.name)) for one in of_papers]
    cards = [
        Subsection(f"findings-{one.name}", f"[{one.title}](#{one.anchor})", tuple(words))
        for one, words in said
        if words
    ]
    return Columns(tuple(cards)) if cards else None


def _data(study: Study, templates: PaperPages, own: Mapping[str, Any]) -> Iterator[Page | None]:
    """A page for every data set of which something is known: its description, its results, or both.

    It begins with what is said of ``own`` data, if they are among these.
    """
    known = {entry["dataset"]: entry for entry in study.data}
    measured = study.datasets()
    for name in dict.fromkeys([*measured, *known]):
        about = data_section.about(known[name]) if name in known else None
        given = {"study": study, "dataset": name, "about": about, "measured": name in measured, "own": own.get(name)}
        given |= results_section.given(study, name) if name in measured else {}
        yield _page(f"data-{name}", templates.section("data-set", f"set-{name}", **given))


def _paper(name: str, templates: PaperPages, claims: JudgedStudy) -> Page | None:
    """What a paper says and what was measured, its claims and sections; None where it has nothing."""
    story, paper = templates.story(name), register.get(name)
    outcomes = ledger_section.outcomes(claims, name)
    lists = [block for block in walk(story.blocks if story else ()) if isinstance(block, ClaimList)]
    placed = Counter(claim.id for block in lists for claim in block.claims)
    if twice := [one for one, times in placed.items() if times > 1]:
        raise DataError(f"page of {name}: expected every claim once, found {', '.join(twice)} more often")
    if story is None and outcomes:
        story = Section(name, paper.title, ())
    if story is not None:
        # What came out stands before the first part.
        begin = next((i for i, block in enumerate(story.blocks) if isinstance(block, Subsection)), len(story.blocks))
        cited = [] if paper.ours else [prose(f"{paper.authors}. [{paper.title}]({paper.url}), {paper.published}.")]
        story = replace(story, blocks=(*cited, *story.blocks[:begin], *outcomes, *story.blocks[begin:]))
    covered = claims_section.statements(claims, name)
    sections = [
        story,
        claims_section.further(claims, name, placed),
        templates.section("coverage", f"coverage-{name}", **covered) if covered else None,
    ]
    found = tuple(section for section in sections if section is not None)
    return Page(name, story.title if story is not None else paper.title, found) if found else None
