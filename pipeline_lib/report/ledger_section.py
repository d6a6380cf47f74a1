"""How is the ledger shown: as a picture with a cell for every claim, by status, and as a table of all claims?"""

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from pipeline_lib import papers as register
from pipeline_lib.claims import coverage, errata
from pipeline_lib.claims.errata import Kind
from pipeline_lib.claims.judged import JudgedClaim, JudgedPaper, JudgedStudy
from pipeline_lib.claims.severity import SLACK, Curve
from pipeline_lib.claims.words import BY_PROOF, STATUSES, plain, rounded_down
from pipeline_lib.core.markup import count
from pipeline_lib.report import theorems
from pipeline_lib.report.blocks import Block, Subsection
from pipeline_lib.report.claims_section import FAULTS, excluded
from pipeline_lib.report.markdown import prose
from pipeline_lib.report.results import Row
from pipeline_lib.report.tables import Cell, whole

WHOSE = {"Stated by the paper": False, "Stated by this project, on its own or as a correction": True}
"""Whether claims about papers are the project's own, by what the ledger calls them."""
PROMISED = "Promised by this software"
"""What it calls those that are about its own commands, and no paper."""
UNLIKELY = 0.05
"""So likely at most is a claim verified that is false by a hair, where its rule is called severe."""


KINDS: Mapping[Kind, tuple[str, str]] = {
    "wrong": ("wrong statement", "wrong statements"),
    "gap": ("gap in a proof", "gaps in proofs"),
    "loose": ("loose bound", "loose bounds"),
    "reading": ("matter of reading", "matters of reading"),
    "misprint": ("misprint", "misprints"),
}
"""What errata of a kind are called, one and several."""
OBJECTS = {
    "Theorem": "Thm",
    "Lemma": "Lemma",
    "Corollar": "Cor",
    "Proposition": "Prop",
    "Definition": "Def",
    "Eq": "Eq.",
    "Table": "Table",
    "Figure": "Fig",
    "Algorithm": "Alg",
    "Appendix": "App",
    "Footnote": "Note",
    "Discussion": "Disc",
    "Section": "§",
}
"""How the beginnings of the names of what a paper numbers are shortened."""
PROOF = re.compile(r",? proof")
AROUND = re.compile(r"(?:before|after|of|to|for|on) (?:the )?(?:text |remark |proof )*(?:of )?$")
"""Ends of the words in front of a name that make a place lie near what it names, or in its proof."""


def short_place(where: str) -> str:
    """The place of a claim as a cell names it: the statement itself where it is one, else the section.

    Example
    -------
    >>> [short_place(one) for one in ("Section 4, Theorem 2", "Section 4, after Eq. 8", "Theorem 5.2, proof")]
    ['Thm 2', '§ 4', 'Thm 5.2 proof']
    """
    found = [
        (name == "Section", match.start(), f"{short} {match[1]}{' proof' if PROOF.match(where, match.end()) else ''}")
        for name, short in OBJECTS.items()
        if (match := re.search(rf"\b{name}[a-z]*\.? (\d[\d.]*\d|\d|[A-Z](?:\.\d)?\b)", where, re.IGNORECASE))
        and not AROUND.search(where[: match.start()])
    ]
    return min(found)[-1] if found else where.partition(",")[0]


@dataclass(frozen=True)
class LedgerRow:
    """One paper of the picture, with its claims in the order of print."""

    paper: str
    title: str
    claims: tuple[JudgedClaim, ...]

    @classmethod
    def of(cls, judged: JudgedStudy, paper: str) -> "LedgerRow":
        """The row of one paper."""
        claims = {claim.id: claim for claim in judged.claims if claim.paper == paper}
        printed = [
            name
            for section in coverage.load(register.get(paper), claims.values())
            for statement in section.statements
            for name in statement.claims
        ]
        ordered = dict.fromkeys([*printed, *claims])
        return cls(paper, judged.papers[paper].title, tuple(claims[name] for name in ordered))

    def whose(self) -> dict[str, list[JudgedClaim]]:
        """The claims of the paper, and those of this project, by what they are called."""
        return {words: [claim for claim in self.claims if claim.own is own] for words, own in WHOSE.items()}

    def counts(self, own: bool) -> str:
        """How many claims of the paper, or of this project's ``own``, have which status, in words."""
        claims = [claim for claim in self.claims if claim.own is own]
        numbers = Counter(claim.status for claim in claims)
        kinds = Counter(errata.kinds().get(claim.id) for claim in claims if claim.status == "refuted")
        words = {one: one.replace("-", " ") for one in STATUSES}
        if known := [f"{kinds[kind]} {said}" for kind, said in FAULTS.items() if kinds[kind]]:
            words["refuted"] += f" ({', '.join(known)})"
        return ", ".join(f"{numbers[one]} {words[one]}" for one in STATUSES if numbers[one]) or "none"


def certificates(claims: Iterable[JudgedClaim]) -> set[str]:
    """The files of the certificates to which claims owe their status; one may be of several claims, in several papers.

    Example
    -------
    >>> certificates([JudgedClaim("slam-a", "slam", "identity", "", "", "", "", "", "not-run", "")])
    set()
    """
    decided = [claim for claim in claims if claim.status in BY_PROOF.values()]
    return {proof.file for claim in decided for proof in claim.proofs if proof.covers in BY_PROOF}


@dataclass(frozen=True)
class Picture:
    """The ledger as a picture: a row for every paper, and in it a cell for every claim, which links to the claim."""

    rows: tuple[LedgerRow, ...]
    block: ClassVar[str] = "ledger"

    short = staticmethod(short_place)

    @staticmethod
    def words(claim: JudgedClaim) -> str:
        """What a cell says of its claim where it is pointed at: the statement, what came out, and what decided it."""
        return f"{claim.where}: {claim.says} {claim.status.replace('-', ' ').capitalize()}. {claim.explanation}"


def summary(judged: JudgedStudy, papers: Sequence[str]) -> dict[str, Any]:
    """How many claims of the papers have which status, and which papers the study leaves out, with how many claims.

    What this software promises of its own commands is counted apart from them.
    """
    rows = tuple(LedgerRow.of(judged, name) for name in shown(judged, papers))
    chosen, ours = tuple(claim for claim in judged.claims if claim.paper in papers), register.ours()
    every = LedgerRow("", "", tuple(claim for claim in chosen if claim.paper not in ours))
    promised = LedgerRow("", "", tuple(claim for claim in chosen if claim.paper in ours))
    others = [claim.paper for claim in judged.claims if claim.paper not in papers]
    return {
        "claims": len(every.claims),
        "claiming": sum(row.paper not in ours for row in rows),
        "picture": Picture(rows) if rows else None,
        "judged": any(claim.severity is not None for claim in chosen),
        "own": sum(claim.own for claim in every.claims),
        "numbered": theorems.given(every.claims),
        "controls": _controls(every.claims),
        "by_proof": sum(claim.status in BY_PROOF.values() for claim in every.claims),
        "statuses": [every.counts(own) for own in (False, True)],
        "promised": len(promised.claims),
        "promises": promised.counts(True),
        "errata": _errata(papers),
        "left_out": [name for name in judged.papers if name in others],
        "not_judged": len(others),
    }


def _controls(claims: Iterable[JudgedClaim]) -> dict[str, int]:
    """How many statements known to be false were put to the rules of claims, and how many these told apart."""
    every = (plant for claim in claims if claim.severity is not None for plant in claim.severity.planted)
    negative = [plant for plant in every if not plant.holds]
    return {"put": len(negative), "caught": sum(plant.caught for plant in negative)}


def _errata(papers: Sequence[str]) -> list[str]:
    """How many errata of the papers are of which kind."""
    numbers = Counter(one.kind for one in errata.load() if {*one.where} & {*papers})
    return [count(numbers[kind], *words) for kind, words in KINDS.items() if numbers[kind]]


def outcomes(judged: JudgedStudy, paper: str) -> list[Block]:
    """What came out for one paper: how many claims have which status, which are contradicted, and the errata."""
    if paper not in shown(judged, [paper]):
        return []
    row = LedgerRow.of(judged, paper)
    contradicted = {
        status: [f"[{claim.where}](#claim-{claim.id})" for claim in row.claims if claim.status == status]
        for status in ("refuted", "deviates")
    }
    said = f"The paper's claims: {row.counts(False)}. Claims of this project: {row.counts(True)}."
    words = [f"Promises: {row.counts(True)}." if paper in register.ours() else said]
    words += [f"{status.capitalize()}: {'; '.join(links)}." for status, links in contradicted.items() if links]
    if letters := [f"[{one.letter}](#{errata.address(one.letter)})" for one in errata.load() if paper in one.where]:
        words.append(f"[Errata](#errata): {', '.join(letters)}.")
    return [Subsection(f"claims-{paper}", "What came out", tuple(map(prose, words)))]


def given(judged: JudgedStudy, papers: Sequence[str]) -> dict[str, Any] | None:
    """What the template shows: the claims by status and paper, and all of them in one table; None without any.

    Within a status, the most severely tested claims come first.
    """
    if not (about := shown(judged, papers)):
        return None
    counted: list[dict[str, Any]] = []
    ours = register.ours()
    for whose in WHOSE:
        rows = [_counted(judged, whose, name, paper.title) for name, paper in about.items() if name not in ours]
        if len(rows) > 1:
            sums = {key: sum(row[key] for row in rows) for key in (*STATUSES, "all")}
            total = {key: replace(whole(number), strong=True) for key, number in sums.items()}
            rows.append({"whose": whose, "paper": Cell("All papers", "all", strong=True), **total})
        counted += rows
    counted += [_counted(judged, PROMISED, name, paper.title) for name, paper in about.items() if name in ours]
    every = sorted((claim for claim in judged.claims if claim.paper in about), key=_order)
    return {
        "slack": plain(SLACK),
        "statuses": STATUSES,
        "counted": counted,
        "every": list(map(_of_claim, every)),
        "by_proof": sum(claim.status in BY_PROOF.values() for claim in every),
        "by_coq": sum(bool(claim.coq) and claim.status in BY_PROOF.values() for claim in every),
        "certificates": len(certificates(claim for claim in every if not claim.coq)),
        "noise": noise(every),
    }


def noise(claims: Iterable[JudgedClaim]) -> dict[str, Any] | None:
    r"""How many verified claims rest on intervals, and how likely one of them is wrong at worst; None without any.

    A claim that is false by a hair in all its trials with intervals is verified with the probability at which its
    severity curves begin, that of its most severe check at most. Those with probabilities :math:`a_i` of at most
    :data:`UNLIKELY` are counted; of these, one at least is verified with probability :math:`1 - \prod_i (1 - a_i)`, if
    they do not depend on each other. The others have a tolerance, or exact trials that hold.
    """
    curves = [c.severity.curves for c in claims if c.status == "verified" and c.severity and c.severity.curves]
    if not curves:
        return None
    passed = [min(1.0 - curve.everywhere.noticed[0] for curve in ones) for ones in curves]
    severe = [one for one in passed if one <= UNLIKELY]
    together = 1.0 - math.prod(1.0 - one for one in severe)
    return {"claims": len(passed), "severe": len(severe), "most": UNLIKELY, "mean": math.fsum(severe), "any": together}


def _order(claim: JudgedClaim) -> tuple[int, bool, Any]:
    """Claims by status, and within a status those that were tested first, the most severely tested at the beginning."""
    return STATUSES.index(claim.status), claim.severity is None, claim.severity.order if claim.severity else ()


def _counted(judged: JudgedStudy, whose: str, paper: str, title: str) -> dict[str, Any]:
    own = WHOSE.get(whose, True)
    numbers = Counter(claim.status for claim in judged.claims if claim.paper == paper and claim.own is own)
    return {"whose": whose, "paper": title, **{status: numbers[status] for status in STATUSES}, "all": numbers.total()}


def shown(judged: JudgedStudy, papers: Sequence[str]) -> dict[str, JudgedPaper]:
    """The papers of the study that claim something."""
    claiming = {claim.paper for claim in judged.claims}
    return {name: paper for name, paper in judged.papers.items() if name in papers and name in claiming}


def _of_claim(claim: JudgedClaim) -> Row:
    severity = claim.severity
    row = {
        "status": claim.status.replace("-", " "),
        "claim": Cell(f"[{claim.id}](#claim-{claim.id})", raw=claim.id, running=True),
        "place": claim.where,
        "statement": Cell(claim.says, raw=claim.says, stated=True),
        "kind": claim.kind,
    }
    if severity is None:
        return row | dict.fromkeys(("informative", "slack_factor", "noticed_from", "excluded", "caught"))
    factor = severity.slack_factor
    planted = len(severity.planted)
    return row | {
        "informative": f"{severity.informative} of {severity.trials}",
        "slack_factor": None if factor is None else Cell(rounded_down(factor), factor),
        "noticed_from": "; ".join(map(_noticed_from, severity.curves)) or None,
        "excluded": excluded(severity),
        "caught": f"{planted - len(severity.missed)} of {planted}" if planted else None,
    }


def _noticed_from(curve: Curve) -> str:
    """From which amount on an error would have been noticed, in few words."""
    least = curve.noticed_from
    if least is None:
        return "never"
    return f"{plain(least)}{' %' if curve.unit.startswith('%') else ''}" if least else "any"
