"""Which statements of the papers are wrong, loose, or in need of a second reading, and what holds instead?

``docs/errata.md`` says it, once; this module reads the page. The witnesses on the page are not read, because the
programs that decide them write them there (:mod:`pipeline_lib.witnesses`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from pipeline_lib import shipped
from pipeline_lib.errors import DataError

PAGE = shipped.page("errata.md")
PARTS = ("Printed", "Why it is wrong", "What holds", "Evidence", "Ledger")
"""What the page says of every erratum."""
_ROW = re.compile(r"^\| \[([A-Z]+)\]\(#[a-z]+\) \| (.+?) \| (.+?) \|$", re.MULTILINE)
_ENTRY = re.compile(r"^### (.+?)\n(.*?)(?=^##|\Z)", re.MULTILINE | re.DOTALL)
_PART = re.compile(r"^- \*\*(.+?)\*\*(?: \(.*?\))?: (.*?)(?=^- \*\*|\Z)", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Erratum:
    """One erratum, as the page has it: running text in Markdown, each on one line.

    ``letter`` is its name: letters, or the title of what is described wrongly. ``papers`` are those of ``place``, none
    for a description of data.
    """

    letter: str
    place: str
    subject: str
    parts: Mapping[str, str]

    @property
    def papers(self) -> tuple[str, ...]:
        """The short names of the papers in which it is."""
        return tuple(re.findall(r"`([\w-]+)`", self.place))

    @property
    def claims(self) -> tuple[str, ...]:
        """The claims whose judgement depends on it."""
        return tuple(re.findall(r"`([\w-]+)`", self.parts["Ledger"]))


@cache
def load(path: Path = PAGE) -> tuple[Erratum, ...]:
    """All errata in the order of the page.

    Raises
    ------
    DataError
        When an erratum lacks a part.

    Example
    -------
    >>> first = load()[0]
    >>> first.letter, first.papers, first.claims
    ('A', ('slam',), ('slam-eta-free', 'slam-thm5-eta1', 'slam-eta-free-corrected'))
    """
    page = path.read_text(encoding="utf-8")
    rows = {letter: (place, subject) for letter, place, subject in _ROW.findall(page)}
    found = []
    for letter, text in _ENTRY.findall(page):
        parts = {name: " ".join(words.split()) for name, words in _PART.findall(text)}
        if missing := [name for name in PARTS if name not in parts]:
            raise DataError(f"{path}: {letter}: expected the parts {', '.join(PARTS)}, found no {', '.join(missing)}")
        place, subject = rows.get(letter, ("", letter))
        found.append(Erratum(letter, place, subject, {name: parts[name] for name in PARTS}))
    return tuple(found)


@cache
def of_claims(path: Path = PAGE) -> Mapping[str, tuple[str, ...]]:
    """Claim -> the letters of the errata on which its judgement depends.

    Example
    -------
    >>> of_claims()["lists-thm3"]
    ('B',)
    """
    letters: dict[str, tuple[str, ...]] = {}
    for one in load(path):
        for claim in one.claims:
            letters[claim] = (*letters.get(claim, ()), one.letter)
    return letters


def address(letter: str) -> str:
    """The address of an erratum in the report.

    Example
    -------
    >>> address("AB"), address("OHSUMED (LETOR 3.0)")
    ('erratum-AB', 'erratum-OHSUMED-LETOR-3-0')
    """
    return "erratum-" + "-".join(re.findall(r"\w+", letter))
