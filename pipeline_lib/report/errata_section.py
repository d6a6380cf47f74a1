"""How are the errata shown: what is printed, what holds, the claims that decide it, and the smallest instance?"""

import html
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from pipeline_lib import papers
from pipeline_lib.claims import errata
from pipeline_lib.claims.errata import Erratum
from pipeline_lib.claims.judged import JudgedStudy
from pipeline_lib.claims.words import Status
from pipeline_lib.papers.witnesses import Witness
from pipeline_lib.report.blocks import Block, Section, Subsection, mathematics, plain
from pipeline_lib.report.claims_section import linked
from pipeline_lib.report.declared_tables import col, table
from pipeline_lib.report.markdown import prose
from pipeline_lib.report.study import count
from pipeline_lib.report.tables import MISSING, Cell, Table

SHOWN = {
    "printed": "printed",
    "why": "why it is wrong",
    "holds": "what holds",
    "evidence": "checked by",
}
"""The parts of an erratum that are shown as they are, and the words in front of them."""
_MARKUP = re.compile(r"`(?P<code>[^`]+)`|\[(?P<words>[^\]]+)\]\((?P<place>[^)]+)\)|\\(?P<sign>[*_`\[\]])")


@dataclass(frozen=True)
class WitnessList:
    """Exact instances, each with its lines, and the claims of the study to which they can link."""

    witnesses: tuple[Witness, ...]
    known: frozenset[str]
    block: ClassVar[str] = "witnesses"

    def claims(self, one: Witness) -> list[str]:
        """The claims that a witness belongs to, as far as the report shows them."""
        return [name for name in one.claims if name in self.known]


@dataclass(frozen=True)
class ErrataList:
    """Errata, with the witnesses of all papers and the statuses of the claims that the report shows."""

    entries: tuple[Erratum, ...]
    every: tuple[Witness, ...]
    statuses: Mapping[str, Status]
    block: ClassVar[str] = "errata"

    @staticmethod
    def anchor(one: Erratum) -> str:
        """The address of an erratum."""
        return errata.address(one.letter)

    @staticmethod
    def parts(one: Erratum) -> list[tuple[str, str]]:
        """What is printed, why it is wrong, what holds, and where that is checked; as HTML, each with its heading."""
        return [(words, running(getattr(one, name))) for name, words in SHOWN.items()]

    def claims(self, one: Erratum) -> list[tuple[str, Status]]:
        """The claims that depend on the erratum, as far as the report shows them, with their statuses."""
        return [(name, self.statuses[name]) for name in one.claims if name in self.statuses]

    def witnesses(self, one: Erratum) -> list[Witness]:
        """The exact instances of an erratum."""
        return [witness for witness in self.every if witness.errata == one.letter]


def section(judged: JudgedStudy, chosen: Sequence[str]) -> Section | None:
    """The errata that concern the papers of a study, or claims of these papers; no section where there is none."""
    statuses = {claim.id: claim.status for claim in judged.claims if claim.paper in chosen}
    shown = [one for one in errata.load() if {*one.where} & {*chosen} or {*one.claims} & {*statuses}]
    if not shown:
        return None
    every = tuple(witness for name in papers.names() for witness in papers.witnesses(name))
    exact = sum(any(witness.errata == one.letter for witness in every) for one in shown)
    words = (
        f"Here are {count(len(shown), 'statement')} of the papers that we found to be wrong, loose, or in need of a "
        "second reading, with what holds instead. They are known by the claims that are judged in this study, and in "
        f"{exact} cases by the smallest instance on which the statement fails or a smaller bound is attained, "
        "in rational numbers. A short program that shares no code with the rest checks both sides of these in exact "
        "arithmetic: `python -m pipeline_lib witnesses`. Square brackets enclose an irrational number."
    )
    blocks: list[Block] = [prose(words), _table(shown, every, statuses)]
    for name in papers.names():
        own = tuple(one for one in shown if next(iter(one.where), None) == name)
        loose = tuple(one for one in papers.witnesses(name) if not one.errata) if name in chosen else ()
        inner: list[Block] = [ErrataList(own, every, statuses)] if own else []
        if loose:
            inner += [prose("Exact instances that belong to no erratum:"), WitnessList(loose, frozenset(statuses))]
        if inner:
            blocks.append(Subsection(f"errata-{name}", papers.get(name).title, tuple(inner)))
    of_data = tuple(one for one in errata.load() if not one.where)
    if of_data:
        blocks.append(Subsection("errata-data", "Descriptions of data", (ErrataList(of_data, (), statuses),)))
    return Section("errata", "Errata", tuple(blocks))


def running(text: str) -> str:
    """Running text of an erratum as HTML: code, links within the page, and formulas in plain letters.

    Links to other pages of the documentation become the names of their files, since the report stands alone.

    Example
    -------
    >>> running("< R_X^2 ([proof](proof.md), as [B](#b))")
    '&lt; R<sub>X</sub><sup>2</sup> (proof, <code>docs/proof.md</code>, as <a href="#erratum-B">B</a>)'
    """
    held: list[str] = []

    def hold(found: re.Match[str]) -> str:
        if found["sign"]:
            return found["sign"]
        if found["code"]:
            made = f"<code>{html.escape(found['code'])}</code>"
        elif found["place"].startswith("#"):
            made = f'<a href="#{errata.address(found["place"][1:].upper())}">{html.escape(found["words"])}</a>'
        else:
            file = f"<code>docs/{html.escape(found['place'])}</code>"
            made = file if found["words"] == found["place"] else f"{html.escape(found['words'])}, {file}"
        held.append(made)
        return f"\ue000{len(held) - 1}\ue001"

    bare = mathematics(_MARKUP.sub(hold, text))
    return re.sub(r"\ue000(\d+)\ue001", lambda found: held[int(found[1])], bare)


def _table(shown: Sequence[Erratum], every: Sequence[Witness], statuses: Mapping[str, Status]) -> Table:
    rows = []
    for one in shown:
        known = [name for name in one.claims if name in statuses]
        links = ", ".join(linked(name, statuses[name]) for name in known)
        exact = [witness.name for witness in every if witness.errata == one.letter]
        rows.append(
            {
                "erratum": Cell(f"[{one.letter}](#{errata.address(one.letter)})", one.letter, running=True),
                "place": plain(one.place),
                "subject": one.subject,
                "claims": Cell(links or MISSING, " ".join(known), running=True),
                "witnesses": Cell(
                    ", ".join(f"[{name}](#witness-{name})" for name in exact) or MISSING, " ".join(exact), running=True
                ),
            }
        )
    columns = [
        col("erratum", "Erratum", "running"),
        col("place", "Paper and place", "text"),
        col("subject", "Subject", "text"),
        col("claims", "Claims", "running"),
        col("witnesses", "Exact instances", "running"),
    ]
    return table("errata", "The errata, and how they are known", rows, columns, source="docs/errata.md")
