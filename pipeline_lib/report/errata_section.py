"""How are the errata shown: what is printed, what holds, the claims that decide it, and a small instance?"""

import html
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from pipeline_lib import papers
from pipeline_lib.claims import errata
from pipeline_lib.claims.errata import Erratum
from pipeline_lib.claims.judged import JudgedStudy
from pipeline_lib.claims.words import Status
from pipeline_lib.core.errors import DataError
from pipeline_lib.papers.witnesses import Witness
from pipeline_lib.report.blocks import between, inline, mathematics
from pipeline_lib.report.proofs_section import linked

SHOWN = {"printed": "printed", "why": "why it is wrong", "holds": "what holds", "evidence": "checked by"}
"""The parts of an erratum that are shown as they are, and the words in front of them."""


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
    def parts(one: Erratum) -> list[tuple[str, str]]:
        """What is printed and where, why it is wrong, what holds, and where that is checked; as HTML with headings."""
        places = "; ".join(f"`{paper}`, {where}" for paper, where in one.printed_in.items())
        texts = [(words, getattr(one, name)) for name, words in SHOWN.items()]
        return [(words, running(text)) for words, text in ([("where", places)] if places else []) + texts]

    def claims(self, one: Erratum) -> list[tuple[str, Status]]:
        """The claims that depend on the erratum, as far as the report shows them, with their statuses."""
        return [(name, self.statuses[name]) for name in one.claims if name in self.statuses]

    def witnesses(self, one: Erratum) -> list[Witness]:
        """The exact instances of an erratum."""
        return [witness for witness in self.every if witness.errata == one.letter]


def given(judged: JudgedStudy, chosen: Sequence[str]) -> dict[str, Any] | None:
    """What the template shows: the errata that concern the papers of a study, or claims of these papers; None if none.

    An erratum of several papers stands with the first one.

    Raises
    ------
    DataError
        When there is no erratum of a witness's letter.
    """
    statuses = {claim.id: claim.status for claim in judged.claims if claim.paper in chosen}
    shown = [one for one in errata.load() if {*one.where} & {*chosen} or {*one.claims} & {*statuses}]
    if not shown:
        return None
    every = tuple(witness for name in papers.names() for witness in papers.witnesses(name))
    if unknown := {one.errata for one in every if one.errata} - {one.letter for one in errata.load()}:
        raise DataError(f"witnesses: expected an erratum for every letter, found none for {', '.join(sorted(unknown))}")
    of_papers = []
    for name in papers.names():
        own = tuple(one for one in shown if next(iter(one.where), None) == name)
        loose = tuple(one for one in papers.witnesses(name) if not one.errata) if name in chosen else ()
        lists = ErrataList(own, every, statuses), WitnessList(loose, frozenset(statuses))
        of_papers.append((name, papers.get(name).title, *lists))
    return {
        "shown": shown,
        "exact": sum(any(witness.errata == one.letter for witness in every) for one in shown),
        "papers": of_papers,
        "data": ErrataList(tuple(one for one in errata.load() if not one.where), (), statuses),
    }


def running(text: str) -> str:
    """Running text of an erratum as HTML: code, links within the page, and formulas in plain letters.

    Links to other pages of the documentation become the names of their files, since the report stands alone.

    Example
    -------
    >>> running("< R_X^2 ([proof](proof.md), as [B](#b))")
    '&lt; R<sub>X</sub><sup>2</sup> (proof, <code>docs/proof.md</code>, as <a href="#erratum-B">B</a>)'
    """

    def marked(found: re.Match[str]) -> str:
        place = found["place"]
        if place is None or place.startswith("#proof-"):
            return inline(found[0])
        if place.startswith("#"):
            return f'<a href="#{errata.address(place[1:].upper())}">{html.escape(found["words"])}</a>'
        file = f"<code>docs/{html.escape(place)}</code>"
        return file if found["words"] == place else f"{html.escape(found['words'])}, {file}"

    return between(linked(text), lambda words: mathematics(re.sub(r"\\([*_])", r"\1", words)), marked)
