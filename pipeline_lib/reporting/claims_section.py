"""How are the claims of a paper shown: the contradicted first, everything with its numbers and its rule?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from pipeline_lib.claims.judged import JudgedClaim, JudgedStudy
from pipeline_lib.claims.severity import Plant, Severity
from pipeline_lib.claims.words import STATUSES, Status, plain, setting_words, shown_value, spoken
from pipeline_lib.reporting.blocks import Paragraph, Section

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

    paper: str
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
            figures.append(("Excluded", excluded(found)))
        figures += [("Resolution", _resolved(found))] if any(found.resolution.values()) else []
        return figures

    @staticmethod
    def outcome(plant: Plant) -> str:
        """What became of a planted statement."""
        if plant.holds:
            return "passes, as it should" if plant.caught else "does not pass, as it should"
        return "caught" if plant.caught else "not caught"


def sections(judged: JudgedStudy, paper: str) -> list[Section]:
    """The claims of one paper in the order of the statuses; nothing where it claims nothing."""
    claims = [claim for claim in judged.claims if claim.paper == paper]
    claims.sort(key=lambda claim: STATUSES.index(claim.status))
    if not claims:
        return []
    about = judged.papers[paper]
    words = (
        f"{about.authors}, “{about.title}”. Every status is computed from the evidence by the rule stated with the "
        "claim; [the ledger](#claims) says what the statuses mean. All numbers are in [claims.json](claims.json)."
    )
    return [Section(f"claims-{paper}", f"Claims of {paper}", (Paragraph(words), ClaimList(paper, tuple(claims))))]


def _resolved(severity: Severity) -> str:
    """The smallest differences that could have been seen."""
    parts = (f"{spoken(name)} {plain(size)}" for name, size in severity.resolution.items() if size)
    return f"the smallest difference that every trial could have seen: {', '.join(parts)}"


def excluded(severity: Severity) -> str:
    """Exponents that the intervals of all trials exclude."""
    return "; ".join(
        f"{spoken(name)} below {plain(low)} and above {plain(high)}" for name, (low, high) in severity.excludes.items()
    )
