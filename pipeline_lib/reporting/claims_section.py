"""How are the judged claims shown: the contradicted first, everything with its numbers and its rule?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from pipeline_lib.claims.judged import JudgedClaim, JudgedPaper, JudgedStudy
from pipeline_lib.claims.severity import Plant, Severity
from pipeline_lib.claims.words import STATUSES, Status, plain, setting_words, shown_value, spoken
from pipeline_lib.reporting.blocks import Block, Note, Paragraph, Section, Subsection
from pipeline_lib.reporting.tables import Cell, Column, Group, Table, simple, text, whole

SIGNS: dict[Status, str] = {
    "refuted": "✗",
    "deviates": "≈",
    "verified": "✓",
    "answered": "!",
    "consistent": "~",
    "not-run": "○",
}
"""The sign of every status, for readers who cannot tell its colour, in the order of the report."""

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

    @staticmethod
    def severity(claim: JudgedClaim) -> list[tuple[str, str]]:
        """The figures that say how the verdict could have been another, each with its name."""
        found = claim.severity
        if found is None:
            return []
        figures = [("Informative", f"{found.informative} of {len(claim.trials)} trials")]
        if found.slack_factor is not None:
            figures.append(("Slack", f"the limit could be sharper by a factor of {plain(found.slack_factor)}"))
        if found.excludes:
            figures.append(("Excluded", _excluded(found)))
        figures += [("Resolution", _resolved(found))] if any(found.resolution.values()) else []
        return figures

    @staticmethod
    def outcome(plant: Plant) -> str:
        """What became of a planted statement."""
        if plant.holds:
            return "passes, as it should" if plant.caught else "does not pass, as it should"
        return "caught" if plant.caught else "not caught"


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
    elif any(claim.severity is not None for claim in claims):
        blocks.append(Paragraph("No claim that was judged is refuted or deviates."))
    else:
        blocks.append(Note("No claim was judged in this study.", "missing"))
    return blocks


def section(judged: JudgedStudy, papers: Sequence[str]) -> Section | None:
    """All claims, paper by paper; within a paper in the order of the statuses. No section without a claim."""
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
        "“Verified” means that the same checks, on the same evidence, caught every wrong statement that was planted; "
        "“consistent”, that nothing contradicts the claim but nothing here could have; “refuted” refers to the "
        "statement as printed and to the trials listed. All numbers are in [claims.json](claims.json)."
    )
    shown = [claim for claim in judged.claims if claim.paper in papers and claim.severity is not None]
    return Section("claims", "Claims", (Paragraph(words), *([_ledger(shown)] if shown else []), *parts))


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
        "Informative: trials that could have contradicted the claim. Slack: the largest factor by which the limit "
        "could be sharper before a trial contradicts it. Planted: wrong statements, or true ones for a claim that is "
        "refuted, that the same checks must tell apart on the same evidence.",
    )
    return Table("ledger", "The ledger by severity", "claims.json", columns, tuple(groups), notes)


def _severity_row(claim: JudgedClaim, severity: Severity) -> tuple[Cell, ...]:
    factor = severity.slack_factor
    return (
        Cell(f"[{claim.id}](#claim-{claim.id})", raw=claim.id, running=True),
        whole(severity.informative),
        whole(severity.trials),
        text(None) if factor is None else Cell(plain(factor), factor),
        text(_excluded(severity) if severity.excludes else None),
        whole(len(severity.planted) - len(severity.missed)),
        whole(len(severity.planted)),
    )


def _excluded(severity: Severity) -> str:
    """Exponents that the intervals of all trials exclude."""
    return "; ".join(
        f"{spoken(name)} below {plain(low)} and above {plain(high)}" for name, (low, high) in severity.excludes.items()
    )


def _resolved(severity: Severity) -> str:
    """The smallest differences that could have been seen."""
    parts = (f"{spoken(name)} {plain(size)}" for name, size in severity.resolution.items() if size)
    return f"the smallest difference that every trial could have seen: {', '.join(parts)}"


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
