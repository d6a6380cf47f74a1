"""How are the exact counterexamples shown: instance, printed relation, corrected relation?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from pipeline_lib import papers
from pipeline_lib.reporting.blocks import Paragraph, Section
from pipeline_lib.witnesses import Witness


@dataclass(frozen=True)
class WitnessList:
    """The witnesses of one paper, each with its lines, and the claims of the study to which they can link."""

    witnesses: tuple[tuple[Witness, list[tuple[str, str]]], ...]
    known: frozenset[str]
    block: ClassVar[str] = "witnesses"

    def claims(self, one: Witness) -> list[str]:
        """The claims that a witness belongs to, as far as the page shows them."""
        return [name for name in one.claims if name in self.known]


def sections(paper: str, claims: Sequence[str]) -> list[Section]:
    """The counterexamples to statements of a paper, with links to ``claims``; nothing where there are none."""
    found = papers.witnesses(paper)
    if not found:
        return []
    words = (
        "The smallest instances on which printed statements fail, in rational numbers. A short program that shares no "
        "code with the rest checks both sides in exact arithmetic: `python -m pipeline_lib witnesses`. Square brackets "
        "enclose an irrational number. Letters are those of the errata (`docs/errata.md`)."
    )
    blocks = (Paragraph(words), WitnessList(tuple((one, one.lines()) for one in found), frozenset(claims)))
    return [Section(f"witnesses-{paper}", f"Exact counterexamples to {paper}", blocks)]
