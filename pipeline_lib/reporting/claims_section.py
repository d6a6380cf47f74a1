"""How are the judged claims shown: the contradicted first, everything with its numbers and its rule?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from pipeline_lib.claims.ledger import Judgement, counts
from pipeline_lib.claims.rules import STATUSES, setting_words, shown_value, spoken
from pipeline_lib.papers import names
from pipeline_lib.reporting.blocks import Block, Note, Paragraph, Section, Subsection
from pipeline_lib.reporting.tables import Cell, Column, Table, simple, text, whole

TRIALS_SHOWN = 20
"""Trials a claim lists on the page, the deciding ones first; claims.json holds all."""


@dataclass(frozen=True)
class ClaimList:
    """The claims of one paper, with the controls that filter by status."""

    judgements: tuple[Judgement, ...]
    block: ClassVar[str] = "claims"

    @staticmethod
    def trials(judgement: Judgement) -> list[tuple[str, str, str, str]]:
        """Setting, values, status and table of the trials shown, the deciding ones first."""
        if judgement.evidence is None:
            return []
        pairs = zip(judgement.evidence.trials, judgement.per_trial, strict=True) if judgement.per_trial else []
        found = sorted(pairs, key=lambda pair: STATUSES.index(pair[1]))[:TRIALS_SHOWN]
        return [
            (
                setting_words(trial) or "the one trial",
                "; ".join(f"{spoken(name)} {shown_value(value)}" for name, value in trial.values.items()),
                status,
                trial.table,
            )
            for trial, status in found
        ]

    @staticmethod
    def more(judgement: Judgement) -> int:
        """Trials that are not shown."""
        return max(0, len(judgement.per_trial) - TRIALS_SHOWN)


@dataclass(frozen=True)
class Contradicted:
    """Claims that deviate or are refuted, each in a line or two with a link to the whole."""

    judgements: tuple[Judgement, ...]
    block: ClassVar[str] = "contradicted"


def left_out(judgements: Sequence[Judgement], papers: Sequence[str]) -> list[Block]:
    """Which papers the study leaves out, and with them how many claims."""
    others = [one for one in judgements if one.claim.paper.name not in papers]
    if not others:
        return []
    without = [name for name in names() if any(one.claim.paper.name == name for one in others)]
    which = f"The claims of {', '.join(f'`{name}`' for name in without)} are" if papers else "No paper's claims are"
    return [
        Paragraph(
            f"{which} {'not ' if papers else ''}judged in this study, as its configuration says under `papers`: "
            f"{len(others)} claims are listed with their rules, as not run, in [claims.json](claims.json)."
        )
    ]


def headline(judgements: Sequence[Judgement]) -> list[Block]:
    """Claims by status and paper, then every claim that deviates or is refuted; nothing where there is no claim."""
    if not judgements:
        return []
    contradicted = [one for one in judgements if one.status in ("refuted", "deviates")]
    contradicted.sort(key=lambda one: STATUSES.index(one.status))
    blocks: list[Block] = [_count_table(judgements)]
    if contradicted:
        blocks.append(Paragraph("The following claims are contradicted, wholly or in part:"))
        blocks.append(Contradicted(tuple(contradicted)))
    elif any(one.status == "verified" for one in judgements):
        blocks.append(Paragraph("No claim that was judged is refuted or deviates."))
    else:
        blocks.append(Note("No claim was judged in this study.", "missing"))
    return blocks


def section(judgements: Sequence[Judgement]) -> Section | None:
    """All claims, paper by paper; within a paper refuted, deviating, verified, not run. No section without a claim."""
    if not judgements:
        return None
    papers = {one.claim.paper.name: one.claim.paper for one in judgements}
    text_ = (
        "Every status is computed from the evidence by the rule stated with the claim; none is written by hand. "
        "“Refuted” refers to the statement as printed and to the trials listed. All numbers are in "
        "[claims.json](claims.json)."
    )
    parts = []
    for name in (name for name in names() if name in papers):
        mine = [one for one in judgements if one.claim.paper.name == name]
        mine.sort(key=lambda one: STATUSES.index(one.status))
        paper = papers[name]
        about = Paragraph(f"{paper.authors}, “{paper.title}”.")
        parts.append(Subsection(f"claims-{name}", f"Claims of `{name}`", (about, ClaimList(tuple(mine)))))
    return Section("claims", "Claims", (Paragraph(text_), *parts))


def _count_table(judgements: Sequence[Judgement]) -> Table:
    found = counts(judgements)
    columns = [Column("paper", "Paper", "left"), *(Column(status, status.replace("-", " ")) for status in STATUSES)]
    columns.append(Column("all", "all"))
    titles = {one.claim.paper.name: one.claim.paper.title for one in judgements}
    rows: list[list[Cell]] = []
    for name in names():
        if name in titles:
            numbers = [found[name][status] for status in STATUSES]
            rows.append([text(titles[name]), *(whole(n) for n in [*numbers, sum(numbers)])])
    if len(rows) == 1:
        return simple("claims-by-status", "Claims by status", "evidence/*.json", columns, rows)
    numbers = [found["all"][status] for status in STATUSES]
    total = [whole(n) for n in [*numbers, sum(numbers)]]
    rows.append([Cell("All papers", "all", strong=True), *(Cell(c.text, c.raw, strong=True) for c in total)])
    return simple("claims-by-status", "Claims by status", "evidence/*.json", columns, rows)
