"""What do the terms mean that the report uses, and which works does it cite?

The pages of the documentation for both become pages of the report, whose entries have addresses.
"""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from pipeline_lib.core import shipped
from pipeline_lib.core.errors import DataError
from pipeline_lib.report import markdown
from pipeline_lib.report.blocks import Section, Subsection

GLOSSARY = shipped.page("glossary.md")
"""The glossary of the documentation."""
REFERENCES = shipped.page("references.md")
"""The works that are cited, and how much of each was read."""
_ENTRY = re.compile(r"(?P<head>\*\*.+?): (?P<meaning>.+)")
_PAGE = re.compile(r"\[[^\]]+\]\(([\w-]+\.md)\)")


@dataclass(frozen=True)
class Term:
    """An entry: its address, the term in words, and what it means, as HTML."""

    place: str
    name: str
    html: str


@dataclass(frozen=True)
class Terms:
    """The terms of one part of the glossary."""

    terms: tuple[Term, ...]
    block: ClassVar[str] = "terms"


def terms(path: Path = GLOSSARY) -> Section | None:
    """The page of the terms, with a part for each part of the glossary; None in a copy of the project without it.

    Raises
    ------
    DataError
        When an entry is not ``**Term**: meaning.``
    """
    if not path.is_file():
        return None
    parts = [
        Subsection(f"terms-{slug(title)}", title, (Terms(tuple(map(_term, entries))),))
        for title, entries in _parts(path, "-")
    ]
    return Section("terms", "Terms", tuple(parts))


def references(path: Path = REFERENCES) -> Section | None:
    """The page of the references, the works of each field with addresses of their own; None in a copy without it.

    Example
    -------
    >>> [part.id for part in references().subsections()][:1]
    ['references-online-learning-and-partial-feedback']
    """
    if not path.is_file():
        return None
    introduction = path.read_text(encoding="utf-8").partition("\n")[2].partition("\n## ")[0]
    parts = []
    for title, works in _parts(path, "###"):
        named = [work.partition("\n") for work in works]
        entries = (Term(f"ref-{slug(name)}", name, markdown.prose(about).html) for name, _, about in named)
        parts.append(Subsection(f"references-{slug(title)}", title, (Terms(tuple(entries)),)))
    return Section("references", "References", (markdown.prose(_PAGE.sub(r"`docs/\1`", introduction)), *parts))


def _parts(path: Path, sign: str) -> Iterator[tuple[str, list[str]]]:
    """The parts of a page of the documentation: their titles, and their entries, each of which begins with a sign."""
    for part in re.split(r"^## ", path.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]:
        title, *entries = re.split(rf"^{sign} ", part, flags=re.MULTILINE)
        yield title.strip(), entries


def _term(entry: str) -> Term:
    found = _ENTRY.fullmatch(" ".join(entry.split()))
    if found is None:
        raise DataError(f"{GLOSSARY.name}: expected '**Term**: meaning.', found {entry.strip()!r}")
    name = found["head"].replace("**", "")
    return Term(f"term-{slug(name)}", name, markdown.prose(_PAGE.sub(r"`docs/\1`", found["meaning"])).html)


def slug(words: str) -> str:
    """Words as part of an address, without their accents."""
    words = unicodedata.normalize("NFKD", words).encode("ascii", "ignore").decode()
    return re.sub(r"\W+", "-", words.strip().lower()).strip("-")
