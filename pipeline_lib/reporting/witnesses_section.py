"""How are the exact counterexamples shown: instance, printed relation, corrected relation, paper by paper?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from pipeline_lib import papers
from pipeline_lib.reporting.blocks import Paragraph, Section, Subsection
from pipeline_lib.witnesses import Witness


@dataclass(frozen=True)
class WitnessList:
    """The witnesses of one paper, with the claims of the study to which they can link."""

    witnesses: tuple[Witness, ...]
    known: frozenset[str]
    block: ClassVar[str] = "witnesses"

    def claims(self, one: Witness) -> list[str]:
        """The claims that a witness belongs to, as far as the page shows them."""
        return [name for name in one.claims if name in self.known]


def section(chosen: Sequence[str], claims: Sequence[str]) -> Section | None:
    """The counterexamples to statements of the chosen papers, with links to ``claims``; no section without any."""
    known = frozenset(claims)
    found = {paper: papers.witnesses(paper) for paper in papers.names() if paper in chosen}
    parts = [
        Subsection(f"witnesses-{paper}", f"Counterexamples to `{paper}`", (WitnessList(ones, known),))
        for paper, ones in found.items()
        if ones
    ]
    if not parts:
        return None
    words = (
        "The smallest instances on which printed statements fail, in rational numbers. A short program that shares no "
        "code with the rest checks both sides in exact arithmetic: `python -m pipeline_lib witnesses`. Square brackets "
        "enclose an irrational number. Letters are those of the errata (`docs/errata.md`)."
    )
    return Section("witnesses", "Exact counterexamples", (Paragraph(words), *parts))
