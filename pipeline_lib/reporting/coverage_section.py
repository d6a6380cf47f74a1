"""How are the papers shown section by section, with the status of every claim?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pipeline_lib import papers
from pipeline_lib.claims import coverage
from pipeline_lib.claims.coverage import PaperSection, Statement
from pipeline_lib.claims.judged import JudgedStudy
from pipeline_lib.claims.words import Status
from pipeline_lib.markup import quoted
from pipeline_lib.reporting.blocks import Details, Paragraph, Section
from pipeline_lib.reporting.claims_section import SIGNS
from pipeline_lib.reporting.tables import Cell, Column, Group, Table


def section(judged: JudgedStudy, chosen: Sequence[str]) -> Section | None:
    """The statements of the chosen papers in the order of print; no section where no paper lists its sections."""
    statuses = {claim.id: claim.status for claim in judged.claims}
    parts = []
    for name in papers.names():
        found = coverage.load(papers.get(name)) if name in chosen else ()
        if found:
            covered, reasons = coverage.counts(found)
            summary = (
                f"`{name}`: {covered} statements with claims, {reasons} with the reason why there is none, "
                f"in {len(found)} sections"
            )
            parts.append(Details(summary, (_table(name, found, statuses),)))
    if not parts:
        return None
    words = (
        "Every numbered statement, remark with mathematical content, figure, table and cited bound of the papers, in "
        "the order of print, with the claims that stand for it and their status in this study."
    )
    return Section("coverage", "The papers, section by section", (Paragraph(words), *parts))


def _table(paper: str, sections: Sequence[PaperSection], statuses: Mapping[str, Status]) -> Table:
    columns = (
        Column("place", "Place", "left"),
        Column("statement", "Statement", "left"),
        Column("claims", "Claims", "left"),
    )
    groups = tuple(Group(one.heading, tuple(_row(entry, statuses) for entry in one.statements)) for one in sections)
    source = f"pipeline_lib/papers/{paper}/sections.yaml"
    return Table(f"coverage-{paper}", f"The statements of `{paper}` and their claims", source, columns, groups)


def _row(entry: Statement, statuses: Mapping[str, Status]) -> tuple[Cell, ...]:
    shown = ", ".join(
        f"{SIGNS[statuses[name]]}\u00a0[{name}](#claim-{name})" if name in statuses else quoted(name)
        for name in entry.claims
    )
    return (
        Cell(entry.what, entry.what),
        Cell(entry.says, entry.says, running=True),
        Cell(shown or entry.reason, " ".join(entry.claims) or entry.reason, running=True),
    )
