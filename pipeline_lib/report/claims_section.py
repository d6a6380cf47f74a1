"""How is a claim shown: its statement and verdict, how it could have failed, and, folded, its rule and evidence?"""

import itertools
from collections.abc import Container, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from pipeline_lib import papers
from pipeline_lib.claims import coverage, errata
from pipeline_lib.claims.judged import JudgedClaim, JudgedProof, JudgedStudy
from pipeline_lib.claims.severity import NOTICED, POINTS, Curve, Plant, Severity
from pipeline_lib.claims.words import STATUSES, Status, plain, setting_words, shown_value, spoken
from pipeline_lib.core.markup import count
from pipeline_lib.report.blocks import Section
from pipeline_lib.report.markdown import prose
from pipeline_lib.report.tables import Cell

SIGNS: dict[Status, str] = {
    "refuted": "✗",
    "deviates": "≈",
    "proved": "∎",
    "proved-for-sizes": "□",
    "argued": "∴",
    "verified": "✓",
    "answered": "!",
    "inconclusive": "~",
    "not-run": "○",
}
"""The sign of every status, for readers who cannot tell its colour, in the order of the report."""


def linked(claim: str, status: Status) -> str:
    """The sign and the name of a claim's status, with a link to it, as running text."""
    return f"[{SIGNS[status]}\u00a0{status.replace('-', ' ')}](#claim-{claim})"


FAULTS: dict[errata.Kind, str] = {
    "wrong": "false",
    "gap": "gap in a proof",
    "loose": "loose",
    "reading": "in one reading",
    "misprint": "misprint",
}
"""What is wrong with a statement that is refuted, by the kind of the erratum about it."""


def fault(claim: JudgedClaim) -> str:
    """What is wrong with a statement that is refuted; empty where no erratum is about it."""
    kind = errata.kinds().get(claim.id)
    return errata.faults().get(claim.id, FAULTS[kind] if kind else "")


def badge(claim: JudgedClaim) -> str:
    """The name of a status: of a refuted claim with what is wrong, of a verified one with the trials that could fail.

    Example
    -------
    >>> about = ("slam", "identity", "", "", "", "", "")
    >>> badge(JudgedClaim("slam-a", *about, "proved-for-sizes", ""))
    'proved for sizes'
    >>> badge(JudgedClaim("slam-eq8", *about, "refuted", ""))
    'refuted: false'
    """
    words = claim.status.replace("-", " ")
    if claim.status == "refuted" and (what := fault(claim)):
        return f"{words}: {what}"
    if claim.status == "verified" and claim.severity is not None:
        return f"{words} in {claim.severity.informative} of {claim.severity.trials}"
    return words


@dataclass(frozen=True)
class ClaimList:
    """Claims that stand together, each with its verdict."""

    claims: tuple[JudgedClaim, ...]
    block: ClassVar[str] = "claims"
    shown: ClassVar[int] = 10
    """Trials a claim lists on the page, the deciding ones first; claims.json holds all."""
    proof_of: ClassVar[dict[str, str]] = {
        "all": "Proved for",
        "sizes": "Proved for these sizes:",
        "steps": "Argued, with steps that are checked, for",
        "part": "A part is proved:",
    }
    """How a line on a certificate begins, by what it covers."""

    badge = staticmethod(badge)
    plain = staticmethod(plain)

    @staticmethod
    def trials(claim: JudgedClaim) -> list[tuple[str, str, str, str]]:
        """Setting, values, status and table of the trials shown, the deciding ones first."""
        found = sorted(claim.trials, key=lambda trial: STATUSES.index(trial.status))[: ClaimList.shown]
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
    def errata(claim: JudgedClaim) -> list[tuple[str, str]]:
        """The errata on which the judgement depends: letter and address."""
        return [(letter, errata.address(letter)) for letter in errata.of_claims().get(claim.id, ())]

    @staticmethod
    def tested(found: Severity) -> str:
        """In one line, how severe the test was: trials that could have failed, the margin, and the controls."""
        words = [f"{found.informative} of {count(found.trials, 'trial')} could have failed"]
        words += [found.sharper] if found.sharper and not found.noisy else []
        for holds, noun, outcome in ((False, "negative control", "caught"), (True, "positive control", "passed")):
            alike = [plant.caught for plant in found.planted if plant.holds is holds]
            words += [f"{sum(alike)} of {count(len(alike), noun)} {outcome}"] if alike else []
        return "; ".join(words)

    @staticmethod
    def noticed(curve: Curve) -> str:
        """In words, what the severity curves of a statement show, with the numbers in the middle of their axis."""
        middle, whole = POINTS // 2, curve.everywhere
        where = {1: "in the one trial", 2: "in both trials"}.get(curve.trials, f"in all {curve.trials} trials")
        if curve.exact:
            where += f" with intervals ({curve.exact} {'is' if curve.exact == 1 else 'are'} exact)"
        words = f"False by {sized(curve, curve.largest / 2)} {where}, it would have passed with probability "
        words += (
            f"{1 - whole.noticed[middle]:.2f} and been contradicted with probability {whole.contradicted[middle]:.2f}"
        )
        if (some := curve.in_some) is not None:
            words += f"; in {some.false_in} of them only, it would have passed with probability "
            words += f"{1 - some.noticed[middle]:.2f}"
        least, either = curve.noticed_from, " in either case" if curve.in_some else ""
        if least is None:
            return f"{words}. No amount would be noticed with probability {NOTICED}{either}."
        since = f"from {sized(curve, least)} on" if least else "by whatever amount it were false"
        return f"{words}. It would have been noticed with probability {NOTICED}{either} {since}."

    @staticmethod
    def path(shares: Sequence[float]) -> str:
        """A line of a severity curve, as the points of a picture that is 200 wide and 70 high."""
        return " ".join(f"{200 * i / POINTS:g},{70 * (1 - share):.3g}" for i, share in enumerate(shares))

    @staticmethod
    def checked(proof: JudgedProof) -> str:
        """What the checker of proofs has checked of a certificate."""
        wrong = count(proof.neighbours, "wrong statement")
        return f"{count(proof.cases, 'case')} checked; {wrong} next to it refuted by counterexamples"

    @staticmethod
    def outcome(plant: Plant) -> str:
        """What became of a control."""
        if plant.problem:
            return f"could not be tried ({plant.problem})"
        if plant.holds:
            return "passes, as it should" if plant.caught else "does not pass, as it should"
        return "caught" if plant.caught else "not caught"


def sized(curve: Curve, amount: float) -> str:
    """An amount by which the statement of a severity curve is false.

    Example
    -------
    >>> from pipeline_lib.claims.severity import Line
    >>> never = Line(1, (), (), None)
    >>> [sized(Curve("x", unit, 1, 0, 1.0, never, None), 0.05) for unit in ("% of the limit", "in the exponent", "")]
    ['0.05 % of the limit', '0.05 in the exponent', '0.05']
    """
    return f"{plain(amount)} {curve.unit}".rstrip()


def further(judged: JudgedStudy, paper: str, shown: Container[str]) -> Section | None:
    """The claims of a paper that its story does not show, such as those whose experiment was not run."""
    claims = [claim for claim in judged.claims if claim.paper == paper and claim.id not in shown]
    claims.sort(key=lambda claim: STATUSES.index(claim.status))
    if not claims:
        return None
    words = "These claims belong to parts of the paper of which this study has no results."
    return Section(f"further-{paper}", "Further claims", (prose(words), ClaimList(tuple(claims))))


def statements(judged: JudgedStudy, paper: str) -> dict[str, Any] | None:
    """What the template shows: the statements of a paper in the order of print; None where it does not list them."""
    claims = [claim for claim in judged.claims if claim.paper == paper]
    found = coverage.load(papers.get(paper), claims)
    if not found:
        return None
    statuses = {claim.id: claim.status for claim in claims}
    numbers = itertools.count(1)
    statements = [
        {
            "heading": one.heading,
            "place": Cell(entry.what, entry.what, place=f"statement-{paper}-{next(numbers)}"),
            "statement": entry.says,
            "claims": Cell(
                ", ".join(linked(name, statuses[name]) for name in entry.claims) or entry.reason,
                " ".join(entry.claims) or entry.reason,
                running=True,
            ),
        }
        for one in found
        for entry in one.statements
    ]
    covered, reasons = coverage.counts(found)
    return {"paper": paper, "statements": statements, "covered": covered, "reasons": reasons}


def excluded(severity: Severity) -> str:
    """Exponents that the intervals of all trials exclude."""
    return "; ".join(
        f"{spoken(name)} below {plain(low)} and above {plain(high)}" for name, (low, high) in severity.excludes.items()
    )
