"""How is the ledger shown: as a picture with a cell for every claim, by status, and by severity?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from pipeline_lib import errata
from pipeline_lib.claims.judged import JudgedClaim, JudgedPaper, JudgedStudy
from pipeline_lib.claims.severity import SLACK, Severity
from pipeline_lib.claims.words import STATUSES, Status, plain, rounded_down
from pipeline_lib.markup import listed
from pipeline_lib.reporting.blocks import Block, Note, Paragraph, Section, Subsection
from pipeline_lib.reporting.claims_section import excluded
from pipeline_lib.reporting.study import count
from pipeline_lib.reporting.tables import Cell, Column, Group, Table, simple, text, whole

CONTRADICTED: tuple[Status, ...] = ("refuted", "deviates")
"""The statuses of claims that fail as they are stated."""


@dataclass(frozen=True)
class LedgerRow:
    """One paper of the picture, with its claims by status and within a status by severity."""

    paper: str
    title: str
    claims: tuple[JudgedClaim, ...]

    @classmethod
    def of(cls, judged: JudgedStudy, paper: str) -> LedgerRow:
        """The row of one paper."""
        claims = [claim for claim in judged.claims if claim.paper == paper]
        claims.sort(key=lambda claim: (STATUSES.index(claim.status), claim.severity.order if claim.severity else ()))
        return cls(paper, judged.papers[paper].title, tuple(claims))

    def counts(self) -> list[tuple[str, int]]:
        """How many claims have which status, without those that none has."""
        numbers = ((status, sum(claim.status == status for claim in self.claims)) for status in STATUSES)
        return [(status.replace("-", " "), number) for status, number in numbers if number]


@dataclass(frozen=True)
class Picture:
    """The ledger as a picture: a row for every paper, and in it a cell for every claim, which links to the claim."""

    rows: tuple[LedgerRow, ...]
    block: ClassVar[str] = "ledger"

    @staticmethod
    def words(claim: JudgedClaim) -> str:
        """What a cell says of its claim where it is pointed at, or read aloud."""
        found = claim.severity
        tested = f"; {found.informative} of {found.trials} trials informative" if found is not None else ""
        slack = (
            f", slack {rounded_down(found.slack_factor)}"
            if found is not None and found.slack_factor is not None
            else ""
        )
        return f"{claim.id} ({claim.where}): {claim.status.replace('-', ' ')}{tested}{slack}"


def picture(judged: JudgedStudy, papers: Sequence[str]) -> list[Block]:
    """The picture of the claims of some papers, and what its cells are; nothing where there is no claim."""
    rows = [LedgerRow.of(judged, name) for name in shown(judged, papers)]
    if not rows:
        return []
    if not any(claim.severity is not None for row in rows for claim in row.claims):
        return [Picture(tuple(rows)), Note("No claim was judged in this study.", "missing")]
    return [
        Paragraph(
            "Every cell is a claim and leads to its verdict with the evidence. Within a status, the claims that were "
            "tested most severely come first; [the ledger](#claims) says what the statuses mean."
        ),
        Picture(tuple(rows)),
    ]


def summary(judged: JudgedStudy, papers: Sequence[str]) -> list[Block]:
    """How many claims of the papers have which status, in one sentence; nothing where there is no claim."""
    rows = [LedgerRow.of(judged, name) for name in shown(judged, papers)]
    if not rows:
        return []
    every = LedgerRow("", "", tuple(claim for row in rows for claim in row.claims))
    words = listed([f"{number} {status}" for status, number in every.counts()])
    of = f"{count(len(every.claims), 'claim')} of {count(len(rows), 'paper')}"
    return [Paragraph(f"It judges {of}: {words}.")]


def outcomes(judged: JudgedStudy, paper: str) -> list[Block]:
    """What came out for one paper: its row of the picture, and links to the contradicted claims and to the errata."""
    if paper not in shown(judged, [paper]):
        return []
    row = LedgerRow.of(judged, paper)
    contradicted = {
        status: [f"[{claim.where}](#claim-{claim.id})" for claim in row.claims if claim.status == status]
        for status in CONTRADICTED
    }
    words = [f"{status.capitalize()}: {', '.join(links)}." for status, links in contradicted.items() if links]
    if letters := [f"[{one.letter}](#{errata.address(one.letter)})" for one in errata.load() if paper in one.papers]:
        words.append(f"[Errata](#errata): {', '.join(letters)}.")
    return [Subsection(f"claims-{paper}", "What came out", (Picture((row,)), *map(Paragraph, words)))]


def left_out(judged: JudgedStudy, papers: Sequence[str]) -> list[Block]:
    """Which papers the study leaves out, and with them how many claims."""
    others = [claim for claim in judged.claims if claim.paper not in papers]
    if not others:
        return []
    without = [name for name in judged.papers if any(claim.paper == name for claim in others)]
    which = f"The claims of {', '.join(f'`{name}`' for name in without)} are" if papers else "No paper's claims are"
    return [
        Paragraph(
            f"{which} {'not ' if papers else ''}judged in this study, as its configuration says under `papers`: "
            f"{len(others)} claims are listed with their rules, as not run, in [claims.json](claims.json)."
        )
    ]


def section(judged: JudgedStudy, papers: Sequence[str]) -> Section | None:
    """The claims by status and paper, and all that were judged by severity. No section without a claim."""
    if not shown(judged, papers):
        return None
    words = (
        "Every status is computed from the evidence by the rule stated with the claim; none is written by hand. "
        "“Verified” means that the same checks, on the same evidence, caught every wrong statement that was planted, "
        f"and that a limit {plain(SLACK)} times as sharp would have been contradicted; "
        "“consistent”, that nothing contradicts the claim but nothing here could have; “deviates”, that it fails, but "
        "within a stated wider tolerance or in some cells of a table only; “refuted” refers to the statement as "
        "printed and to the trials listed; “answered” is what the paper leaves open, with the answer. All numbers are "
        "in [claims.json](claims.json)."
    )
    judged_claims = [claim for claim in judged.claims if claim.paper in papers and claim.severity is not None]
    tables = [_count_table(judged, papers), *([_ledger(judged_claims)] if judged_claims else [])]
    return Section("claims", "The ledger", (Paragraph(words), *tables))


def shown(judged: JudgedStudy, papers: Sequence[str]) -> dict[str, JudgedPaper]:
    """The papers of the study that claim something."""
    claiming = {claim.paper for claim in judged.claims}
    return {name: paper for name, paper in judged.papers.items() if name in papers and name in claiming}


def _ledger(claims: Sequence[JudgedClaim]) -> Table:
    """The judged claims by status, and within a status the most severely tested first."""
    columns = (
        Column("claim", "Claim", "left"),
        Column("informative", "Informative"),
        Column("trials", "Trials"),
        Column("slack_factor", "Slack"),
        Column("excluded", "Exponents excluded", "left"),
        Column("caught", "Caught"),
        Column("planted", "Planted"),
    )
    groups = []
    for status in STATUSES:
        alike = [(claim, claim.severity) for claim in claims if claim.status == status and claim.severity is not None]
        alike.sort(key=lambda pair: pair[1].order)
        rows = tuple(_severity_row(*pair) for pair in alike)
        groups += [Group(status.replace("-", " "), rows)] if rows else []
    notes = (
        "Informative: trials that could have contradicted the claim. Slack: the largest factor by which every limit "
        "could be sharper before a trial contradicts it, rounded down. Planted: wrong statements, or true ones for a "
        "claim that is refuted, that the same checks must tell apart on the same evidence.",
    )
    return Table("ledger", "The ledger by severity", "claims.json", columns, tuple(groups), notes)


def _severity_row(claim: JudgedClaim, severity: Severity) -> tuple[Cell, ...]:
    factor = severity.slack_factor
    return (
        Cell(f"[{claim.id}](#claim-{claim.id})", raw=claim.id, running=True),
        whole(severity.informative),
        whole(severity.trials),
        text(None) if factor is None else Cell(rounded_down(factor), factor),
        text(excluded(severity) if severity.excludes else None),
        whole(len(severity.planted) - len(severity.missed)),
        whole(len(severity.planted)),
    )


def _count_table(judged: JudgedStudy, papers: Sequence[str]) -> Table:
    found, about = judged.counts(), shown(judged, papers)
    columns = [Column("paper", "Paper", "left"), *(Column(status, status.replace("-", " ")) for status in STATUSES)]
    columns.append(Column("all", "all"))
    numbers = {name: [found[name][status] for status in STATUSES] for name in about}
    rows: list[list[Cell]] = [
        [text(paper.title), *(whole(n) for n in [*numbers[name], sum(numbers[name])])] for name, paper in about.items()
    ]
    if len(rows) > 1:
        sums = [sum(column) for column in zip(*numbers.values(), strict=True)]
        total = [whole(n) for n in [*sums, sum(sums)]]
        rows.append([Cell("All papers", "all", strong=True), *(Cell(c.text, c.raw, strong=True) for c in total)])
    return simple("claims-by-status", "Claims by status", "claims.json", columns, rows)
