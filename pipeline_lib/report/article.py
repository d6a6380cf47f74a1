"""How does a study become an article: its source for Typst and for LaTeX, and a PDF where Typst is installed?

The article is made of what the pages of the report are made of. ``templates/article.md`` says what is in it and in
which order, and ``article.typ.j2`` and ``article.tex.j2`` say how a building block is set.
"""

import logging
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, ClassVar

from pipeline_lib import papers as register
from pipeline_lib.claims import errata
from pipeline_lib.claims.judged import JudgedClaim, JudgedStudy
from pipeline_lib.claims.words import BY_PROOF
from pipeline_lib.core.errors import DataError
from pipeline_lib.core.files import write_text
from pipeline_lib.core.markup import count
from pipeline_lib.report import citation, errata_section, ledger_section, study_pages
from pipeline_lib.report.blocks import Subsection, inline, mathematics, walk
from pipeline_lib.report.errata_section import ErrataList
from pipeline_lib.report.figures import Figure
from pipeline_lib.report.page import PaperPages
from pipeline_lib.report.pages import Page
from pipeline_lib.report.results import ResultsFolder
from pipeline_lib.report.study import Study
from pipeline_lib.report.tables import Table, sources
from pipeline_lib.report.typesetting import LATEX, TYPST, Dialect, has_engine, write_pdf

NAME = "article"
LEFT_OUT = frozenset({"In use", "Reading the figure of a chain"})
"""Parts of the pages with proofs that are about the use of programs."""
WITHOUT_ENGINE = (
    "article.pdf and the PDFs of figures are not written: they need `pip install 'pipeline_lib[typst]'`; article.typ "
    "and figures/*.svg are their sources"
)
_LOG = logging.getLogger(__name__)


@dataclass(frozen=True)
class Statements:
    """All claims of one paper as a table: what each says, where, its status, and by what that is decided."""

    paper: str
    title: str
    claims: tuple[JudgedClaim, ...]
    block: ClassVar[str] = "statements"

    @staticmethod
    def decided(claim: JudgedClaim) -> str:
        """What decided a claim: a certificate, or how many of its trials could have contradicted it.

        Example
        -------
        >>> Statements.decided(JudgedClaim("a", "slam", "identity", "", "", "", "", "", "not-run", ""))
        '–'
        """
        if claim.status in BY_PROOF.values():
            return "certificate"
        found = claim.severity
        return f"{found.informative} of {count(found.trials, 'trial')}" if found is not None else "–"


def write(
    results: ResultsFolder, judged: JudgedStudy, papers: Sequence[str], pages: Sequence[Page], folder: Path, title: str
) -> None:
    """Write ``article.typ`` and ``article.tex``, and ``article.pdf`` where the package ``typst`` is installed.

    The figures must be in ``folder/figures``. The same results give the same bytes, as far as Typst is the same.

    Raises
    ------
    DataError
        When something in it is neither text nor a formula that an article can show.
    """
    templates = PaperPages(results, judged)
    section = templates.section(NAME, NAME, **_given(results, templates, judged, papers, pages))
    if section is None:
        return
    about = {"title": title, "date": _date(results), "section": section}
    for dialect, ending in ((TYPST, "typ"), (LATEX, "tex")):
        write_text(folder / f"{NAME}.{ending}", _written(dialect, ending, about))
    _compile(folder)


def files(folder: Path) -> list[Path]:
    """The files of the article in the folder of a report, as far as they are there."""
    return [path for path in (folder / f"{NAME}.{ending}" for ending in ("typ", "tex", "pdf")) if path.is_file()]


def _given(
    results: ResultsFolder, templates: PaperPages, judged: JudgedStudy, chosen: Sequence[str], pages: Sequence[Page]
) -> Mapping[str, Any]:
    """What the template shows, beside what the front page shows."""
    blocks = [block for page in pages for section in page.sections for block in walk(section.blocks)]
    figures = {block.name: block for block in blocks if isinstance(block, Figure)}
    tables = {block.name: block for block in blocks if isinstance(block, Table)}
    of_papers = [paper for paper in register.every() if paper.name in chosen and not paper.ours]
    findings = [
        (paper, [*templates.findings(paper.name), *(figures[name] for name in paper.figures if name in figures)])
        for paper in of_papers
    ]
    return {
        **study_pages.overview(Study(results)),
        **ledger_section.summary(judged, chosen),
        "of_papers": of_papers,
        "findings": [Subsection(f"found-{paper.name}", paper.title, tuple(said)) for paper, said in findings if said],
        "tables": tables,
        "figures": figures,
        "proofs": _proofs(pages, [f"proof-{name}" for paper in of_papers for name in paper.proofs]),
        "kinds": _errata(judged, chosen),
        "ledgers": _ledgers(judged, chosen),
        "methods": _methods(pages),
        "works": [block for page in pages if page.name == "references" for block in page.sections[0].blocks],
        "versions": results.provenance(),
        "made": citation.made(results.study, results.provenance()),
        "software": citation.TITLE,
    }


def _methods(pages: Sequence[Page]) -> list[Subsection]:
    """Conventions and measures, and the learners as one part, from the page on methods."""
    known = [part for page in pages if page.name == "methods" for part in page.sections[0].subsections()]
    learners = tuple(part for part in known if part.id.startswith("method-"))
    others = [part for part in known if part not in learners]
    return [*others, Subsection("methods-learners", "Learners and controls", learners)] if learners else others


def _proofs(pages: Sequence[Page], names: Sequence[str]) -> list[Subsection]:
    """This project's own theorems with their proofs, without what is about the use of programs."""
    sections = {section.id: section for page in pages for section in page.sections}
    return [
        Subsection(
            one.id, one.title, tuple(block for block in one.blocks if getattr(block, "title", "") not in LEFT_OUT)
        )
        for one in (sections[name] for name in names if name in sections)
    ]


def _ledgers(judged: JudgedStudy, chosen: Sequence[str]) -> list[Statements]:
    return [
        Statements(name, paper.title, tuple(claim for claim in judged.claims if claim.paper == name))
        for name, paper in ledger_section.shown(judged, chosen).items()
        if name not in register.ours()
    ]


def _errata(judged: JudgedStudy, chosen: Sequence[str]) -> list[Subsection]:
    """The errata of the papers, a part for every kind."""
    statuses = {claim.id: claim.status for claim in judged.claims if claim.paper in chosen}
    own = [one for one in errata.load() if {*one.where} & {*chosen}]
    parts = []
    for kind, (_, several) in ledger_section.KINDS.items():
        if entries := tuple(one for one in own if one.kind == kind):
            title = f"{several.capitalize()} ({len(entries)})"
            parts.append(Subsection(f"errata-of-kind-{kind}", title, (ErrataList(entries, (), statuses),)))
    return parts


def _date(results: ResultsFolder) -> datetime | None:
    """The day on which the report was made, by its provenance; None where that is not recorded."""
    recorded = results.provenance().get("time")
    return datetime.fromisoformat(recorded).astimezone(UTC) if recorded else None


def _written(dialect: Dialect, ending: str, about: Mapping[str, Any]) -> str:
    """The source in one of the languages."""
    made = sources()
    filters: dict[str, Callable[..., str]] = {
        "html": dialect.text,
        "words": dialect.escaped,
        "code": dialect.raw,
        "running": lambda words: dialect.text(inline(words)),
        "heading": lambda words: dialect.text(errata_section.running(words)),
        "statement": lambda words: dialect.text(mathematics(words)),
    }
    made.filters |= filters
    made.globals["address"] = errata.address
    text = made.get_template(f"{NAME}.{ending}.j2").render(about)
    return re.sub(r"\n{3,}", "\n\n", text)


def _compile(folder: Path) -> None:
    """Make the PDF with Typst; where it is missing or refuses the source, a warning says so, and an older PDF goes."""
    target = folder / f"{NAME}.pdf"
    target.unlink(missing_ok=True)
    if not has_engine():
        _LOG.warning(WITHOUT_ENGINE)
        return
    try:
        write_pdf((folder / f"{NAME}.typ").read_text(encoding="utf-8"), target)
    except DataError as error:
        _LOG.warning("%s", error)
