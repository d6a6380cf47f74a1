"""What do the terms mean that the report uses, and which works does it cite?

The pages of the documentation for both become pages of the report, whose entries the search finds.
"""

import re
import unicodedata
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
    """An entry: its address, the term in words, and what it means, in words and as HTML."""

    place: str
    name: str
    meaning: str
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
    parts = []
    for part in re.split(r"^## ", path.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]:
        title, _, body = part.partition("\n")
        entries = [" ".join(entry.split()) for entry in re.split(r"^- ", body, flags=re.MULTILINE)[1:]]
        parts.append(Subsection(f"terms-{_slug(title)}", title.strip(), (Terms(tuple(map(_term, entries))),)))
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
    text = path.read_text(encoding="utf-8").partition("\n")[2]
    introduction, *fields = re.split(r"^## ", text, flags=re.MULTILINE)
    parts = []
    for field in fields:
        title, *works = re.split(r"^### ", field, flags=re.MULTILINE)
        named = [work.partition("\n") for work in works]
        entries = tuple(
            Term(f"ref-{_slug(_plain(name))}", name, " ".join(about.split()), markdown.prose(about).html)
            for name, _, about in named
        )
        parts.append(Subsection(f"references-{_slug(title)}", title.strip(), (Terms(entries),)))
    return Section("references", "References", (markdown.prose(introduction), *parts))


def _term(entry: str) -> Term:
    found = _ENTRY.fullmatch(entry)
    if found is None:
        raise DataError(f"{GLOSSARY.name}: expected '**Term**: meaning.', found {entry!r}")
    name = found["head"].replace("**", "")
    meaning = _PAGE.sub(r"`docs/\1`", found["meaning"])
    return Term(f"term-{_slug(name)}", name, meaning.replace("`", "").replace("*", ""), markdown.prose(meaning).html)


def _plain(words: str) -> str:
    """Words without their accents."""
    return unicodedata.normalize("NFKD", words).encode("ascii", "ignore").decode()


def _slug(words: str) -> str:
    return re.sub(r"\W+", "-", words.strip().lower()).strip("-")
