"""What came out for the numbered theorems: a row for each of them, on one axis of how much sharper it could be?"""

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pipeline_lib import papers as register
from pipeline_lib.claims import errata
from pipeline_lib.claims.errata import Erratum
from pipeline_lib.claims.judged import JudgedClaim
from pipeline_lib.claims.words import Status, rounded_down
from pipeline_lib.core.markup import quoted
from pipeline_lib.report.claims_section import SIGNS, fault
from pipeline_lib.report.tables import Cell, Table, col, short, table

NUMBERED = re.compile(r"(?:Section [\d.]+, )?(?:Theorem|Lemma|Corollary|Proposition)s? \d")
"""How the place of a claim at a numbered statement begins."""
PROOF = re.compile(r"^(?:Section [\d.]+, )?[Pp]roofs? of ")
"""How the place of a step of a proof may begin."""
THEOREM = re.compile(r"(?:Section [\d.]+, )?Theorems? (\d+(?:\.\d+)?)(?: and (?:(\d+(?:\.\d+)?)|.*))?")
"""The place of a claim that is a theorem itself, or two, not a step of a proof; "and" may lead to a second place."""
CORRECTED = re.compile(r"(?<!of )(?<!after )(?<!before )Theorems? (\d+(?:\.\d+)?)(?: and (\d+(?:\.\d+)?))?")
"""The place of an erratum that is about a theorem's own words, not about a proof of it or a remark after it."""
WORST: tuple[Status, ...] = (
    "refuted", "deviates", "not-run", "inconclusive", "verified", "argued", "proved-for-sizes", "proved",
)  # fmt: skip
"""What is said of a theorem of which several claims are made is the first of these that is said of one of them."""
SIZES = ("n", "m", "T", "P")
"""The axes of trials that are sizes: queries, documents of a list, rounds, pairs."""


@dataclass(frozen=True)
class Theorem:
    """A numbered theorem of a paper, with the claims that state it."""

    paper: str
    number: str
    claims: tuple[JudgedClaim, ...]

    @property
    def claim(self) -> JudgedClaim:
        """The claim that decides what is said of the theorem: the worst status, and of several the most trials."""
        return min(self.claims, key=lambda claim: (WORST.index(claim.status), -len(claim.trials)))

    @property
    def errata(self) -> list[Erratum]:
        """The errata that correct its words."""
        return [one for paper, number, one in corrected() if (paper, number) == (self.paper, self.number)]

    @property
    def margin(self) -> float | None:
        """The factor by which its bound could be smaller before a trial contradicts it; None without a bound."""
        claim = self.claim
        return claim.severity.slack_factor if claim.severity is not None and claim.kind == "bound" else None

    @property
    def sizes(self) -> str:
        """For which sizes it is known: those of its proof, or of the trials that could have contradicted it."""
        claim = self.claim
        if claim.status == "proved":
            return "all"
        if claim.status == "proved-for-sizes":
            return "; ".join(proof.sizes for proof in claim.proofs if proof.covers == "sizes")
        ranges = []
        for axis in SIZES:
            found = {
                trial.setting[axis]
                for trial in claim.trials
                if trial.status != "inconclusive" and axis in trial.setting
            }
            if found:
                ends = [short(float(end)) for end in dict.fromkeys((min(found), max(found)))]
                # the exponent of a rate is fitted to sizes up to the one that its trial names
                rate = claim.kind == "rate" and len(ends) == 1
                ranges.append(f"{axis} {'up to' if rate else '='} {' to '.join(ends)}")
        return ", ".join(ranges)


def corrected() -> list[tuple[str, str, Erratum]]:
    """The theorems whose words an erratum corrects: the paper, the number, and the erratum."""
    return [
        (paper, number, one)
        for one in errata.load()
        if one.kind in ("wrong", "reading")
        for paper, where in one.where.items()
        if (found := CORRECTED.search(where))
        for number in filter(None, found.groups())
    ]


def theorems(claims: Iterable[JudgedClaim]) -> list[Theorem]:
    """The numbered theorems that some claims state, paper after paper, by number.

    Example
    -------
    >>> about = "slam", "bound", "Theorems 2 and 3", "", "its words", "", ""
    >>> [(one.number, one.claim.status) for one in theorems([JudgedClaim("slam-a", *about, "argued", "")])]
    [('2', 'argued'), ('3', 'argued')]
    """
    found: dict[str, dict[str, list[JudgedClaim]]] = {}
    for claim in claims:
        if not claim.own and claim.status in WORST and (place := THEOREM.fullmatch(claim.where)):
            for number in filter(None, place.groups()):
                found.setdefault(claim.paper, {}).setdefault(number, []).append(claim)
    return [
        Theorem(paper, number, tuple(of_paper[number]))
        for paper, of_paper in found.items()
        for number in sorted(of_paper, key=lambda number: [int(part) for part in number.split(".")])
    ]


def _is_numbered(claim: JudgedClaim) -> bool:
    """Whether a claim is a numbered statement, or a step of the proof of one."""
    return bool(NUMBERED.match(PROOF.sub("", claim.where)))


def given(claims: Sequence[JudgedClaim]) -> Mapping[str, Any]:
    """What the front page and the article show: how many theorems came out how, their table, what else is refuted."""
    found = theorems(claims)
    numbers = Counter(one.claim.status for one in found)
    rows, papers = {(one.paper, one.number) for one in found}, {claim.paper for claim in claims}
    refuted = [claim for claim in claims if not claim.own and claim.status == "refuted" and _is_numbered(claim)]
    return {
        "claims": sum(not claim.own and bool(NUMBERED.match(claim.where)) for claim in claims),
        "theorems": len(found),
        "outcomes": [f"{numbers[status]} {status.replace('-', ' ')}" for status in reversed(WORST) if numbers[status]],
        "corrected": sum(bool(one.errata) for one in found),
        "cited": [
            (paper, f"Theorem {number}", one.subject, errata.address(one.letter))
            for paper, number, one in corrected()
            if paper in papers and (paper, number) not in rows
        ],
        "table": _table(found) if found else None,
        "refuted": [(claim, fault(claim) or "no erratum") for claim in refuted],
    }


def _table(found: Sequence[Theorem]) -> Table:
    largest = max((one.margin for one in found if one.margin is not None and math.isfinite(one.margin)), default=10.0)
    decades = max(1, math.ceil(math.log10(largest)))
    papers = {name: register.get(name) for name in dict.fromkeys(one.paper for one in found)}
    made = table(
        "theorems",
        "The numbered theorems as they are printed, but for what errata correct; the margin is the factor by which a "
        "bound, of several the loosest, could be smaller before a trial contradicts it",
        [dict(_row(one, decades)) for one in found],
        [
            col("theorem", "Theorem", "running"),
            col("says", "What it states", "running"),
            col("known", "Outcome", "running"),
            col("margin", "Margin"),
            col("decisive", "Could have failed", "text"),
            col("sizes", "Sizes", "text"),
        ],
        group="paper",
        groups={name: f"{name}: {paper.title} ({paper.authors}, {paper.published})" for name, paper in papers.items()},
        notes=[
            "A bound with a margin near 1 is attained, or nearly so. Bars are on a logarithmic axis from 1 to "
            f"{10**decades:,}. Sizes are those of the proof, or of the trials that could have failed.",
            "“Could have failed”: in how many of the trials a bound says something and the measurement was precise "
            "enough to contradict it.",
        ],
        source="claims.json",
    )
    linked = (replace(group, place=f"claims-{name}") for group, name in zip(made.groups, papers, strict=True))
    return replace(made, groups=tuple(linked))


def _row(one: Theorem, decades: int) -> Iterator[tuple[str, Any]]:
    claim, margin = one.claim, one.margin
    yield "paper", one.paper
    yield "theorem", f"[Theorem {one.number}](#claim-{claim.id})"
    yield "says", Cell(claim.says, raw=claim.says, stated=True)
    fixed = "".join(f"; corrected: [{quoted(wrong.subject)}](#{errata.address(wrong.letter)})" for wrong in one.errata)
    yield "known", f"{SIGNS[claim.status]}\u00a0{claim.status.replace('-', ' ')}{fixed}"
    shown = None
    if margin is not None:
        share = min(1.0, math.log10(max(margin, 1.0)) / decades)
        shown = Cell(rounded_down(margin), raw=margin, share=share)
    yield "margin", shown
    tried = None if claim.status in ("proved", "proved-for-sizes") else claim.severity
    yield "decisive", f"{tried.informative} of {tried.trials}" if tried is not None else None
    yield "sizes", one.sizes
