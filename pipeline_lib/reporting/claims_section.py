"""How are the judged claims shown: the contradicted first, everything with its numbers and its rule?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from pipeline_lib.claims.judged import JudgedClaim, JudgedPaper, JudgedStudy
from pipeline_lib.claims.words import STATUSES, setting_words, shown_value, spoken
from pipeline_lib.reporting.blocks import Block, Note, Paragraph, Section, Subsection
from pipeline_lib.reporting.tables import Cell, Column, Table, simple, text, whole

TRIALS_SHOWN = 20
"""Trials a claim lists on the page, the deciding ones first; claims.json holds all."""


@dataclass(frozen=True)
class ClaimList:
    """The claims of one paper, with the controls that filter by status."""

    claims: tuple[JudgedClaim, ...]
    block: ClassVar[str] = "claims"

    @staticmethod
    def trials(claim: JudgedClaim) -> list[tuple[str, str, str, str]]:
        """Setting, values, status and table of the trials shown, the deciding ones first."""
        found = sorted(claim.trials, key=lambda trial: STATUSES.index(trial.status))[:TRIALS_SHOWN]
        return [
            (
                setting_words(trial) or "the one trial",
                "; ".join(f"{spoken(name)} {shown_value(value)}" for name, value in trial.values.items()),
                trial.status,
                trial.table,
            )
            for trial in found
        ]

    @staticmethod
    def more(claim: JudgedClaim) -> int:
        """Trials that are not shown."""
        return max(0, len(claim.trials) - TRIALS_SHOWN)


@dataclass(frozen=True)
class Contradicted:
    """Claims that deviate or are refuted, each in a line or two with a link to the whole."""

    claims: tuple[JudgedClaim, ...]
    block: ClassVar[str] = "contradicted"


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


def headline(judged: JudgedStudy, papers: Sequence[str]) -> list[Block]:
    """Claims by status and paper, then every claim that deviates or is refuted; nothing where there is no claim."""
    claims = [claim for claim in judged.claims if claim.paper in papers]
    if not claims:
        return []
    contradicted = [claim for claim in claims if claim.status in ("refuted", "deviates")]
    contradicted.sort(key=lambda claim: STATUSES.index(claim.status))
    blocks: list[Block] = [_count_table(judged, papers)]
    if contradicted:
        blocks.append(Paragraph("The following claims are contradicted, wholly or in part:"))
        blocks.append(Contradicted(tuple(contradicted)))
    elif any(claim.status == "verified" for claim in claims):
        blocks.append(Paragraph("No claim that was judged is refuted or deviates."))
    else:
        blocks.append(Note("No claim was judged in this study.", "missing"))
    return blocks


def section(judged: JudgedStudy, papers: Sequence[str]) -> Section | None:
    """All claims, paper by paper; within a paper refuted, deviating, verified, not run. No section without a claim."""
    parts = []
    for name, paper in _shown(judged, papers).items():
        claims = [claim for claim in judged.claims if claim.paper == name]
        claims.sort(key=lambda claim: STATUSES.index(claim.status))
        about = Paragraph(f"{paper.authors}, “{paper.title}”.")
        parts.append(Subsection(f"claims-{name}", f"Claims of `{name}`", (about, ClaimList(tuple(claims)))))
    if not parts:
        return None
    words = (
        "Every status is computed from the evidence by the rule stated with the claim; none is written by hand. "
        "“Refuted” refers to the statement as printed and to the trials listed. All numbers are in "
        "[claims.json](claims.json)."
    )
    return Section("claims", "Claims", (Paragraph(words), *parts))


def _shown(judged: JudgedStudy, papers: Sequence[str]) -> dict[str, JudgedPaper]:
    """The papers of the study that claim something."""
    claiming = {claim.paper for claim in judged.claims}
    return {name: paper for name, paper in judged.papers.items() if name in papers and name in claiming}


def _count_table(judged: JudgedStudy, papers: Sequence[str]) -> Table:
    found, shown = judged.counts(), _shown(judged, papers)
    columns = [Column("paper", "Paper", "left"), *(Column(status, status.replace("-", " ")) for status in STATUSES)]
    columns.append(Column("all", "all"))
    numbers = {name: [found[name][status] for status in STATUSES] for name in shown}
    rows: list[list[Cell]] = [
        [text(paper.title), *(whole(n) for n in [*numbers[name], sum(numbers[name])])] for name, paper in shown.items()
    ]
    if len(rows) > 1:
        sums = [sum(column) for column in zip(*numbers.values(), strict=True)]
        total = [whole(n) for n in [*sums, sum(sums)]]
        rows.append([Cell("All papers", "all", strong=True), *(Cell(c.text, c.raw, strong=True) for c in total)])
    return simple("claims-by-status", "Claims by status", "claims.json", columns, rows)
