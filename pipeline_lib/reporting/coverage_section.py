"""How is a paper shown section by section, with the status of every claim?"""

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


def sections(judged: JudgedStudy, paper: str) -> list[Section]:
    """The statements of a paper in the order of print; nothing where the paper does not list its sections."""
    found = coverage.load(papers.get(paper))
    if not found:
        return []
    statuses = {claim.id: claim.status for claim in judged.claims}
    covered, reasons = coverage.counts(found)
    words = (
        "Every numbered statement, remark with mathematical content, figure, table and cited bound of the paper, in "
        f"the order of print, with the claims that stand for it and their status in this study: {covered} statements "
        f"have claims, and {reasons} a reason why there is none."
    )
    blocks = (Paragraph(words), Details("All statements", (_table(paper, found, statuses),)))
    return [Section(f"coverage-{paper}", f"The sections of {paper}", blocks)]


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
