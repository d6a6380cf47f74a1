"""Which pages does the documentation have, in which order, and under which of its parts?

``docs/README.md`` says it, in Markdown that is read as it stands, too: every heading is a part, and every item of a
list below it a page.

    ## Tutorial

    - [Your first report](tutorial.md): from a clone to a report on data of your own.
    - **Settings**: every key of `config.yaml`.

An item in bold is generated (:mod:`pipeline_lib.documentation.generated`).
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from pipeline_lib.errors import DataError

FILE = "docs/README.md"
"""Where the contents are, below the project's folder."""
FRONT = "README.md"
"""What the front page shows."""

_PART = re.compile(r"^## (?P<part>.+)$")
_PAGE = re.compile(r"^- (?:\[(?P<title>[^\]]+)\]\((?P<link>[^)]+)\)|\*\*(?P<generated>[^*]+)\*\*):")


@dataclass(frozen=True)
class Entry:
    """A page in the contents: its title, and its file below the project's folder, which a generated page lacks."""

    title: str
    path: str


@dataclass(frozen=True)
class Part:
    """A part of the documentation and its pages, in their order."""

    title: str
    entries: tuple[Entry, ...]


@dataclass(frozen=True)
class Generated:
    """A page that is made from the code: its name and title, and what is on it, in Markdown."""

    name: str
    title: str
    markdown: str
    letters: bool = False
    """Whether its running text writes mathematics in plain letters, as docstrings do."""
    group: str = ""
    """The page below which the navigation lists it, where that page or another of its group is shown."""


def read(root: str | os.PathLike[str]) -> tuple[Part, ...]:
    """The contents of the documentation of the project in the folder ``root``.

    Raises
    ------
    DataError
        When there is no page of contents, it has no parts, or a page stands in it before the first part or twice.
    """
    path = Path(root) / FILE
    if not path.is_file():
        raise DataError(f"{path}: expected the contents of the documentation, found no such file")
    return parsed(path.read_text(encoding="utf-8"))


def parsed(text: str) -> tuple[Part, ...]:
    """The contents that a page in Markdown states.

    Example
    -------
    >>> [part] = parsed("## Reference\\n\\n- [Terms](glossary.md): a sentence each.\\n- **Settings**: all keys.\\n")
    >>> part.title, [(entry.title, entry.path) for entry in part.entries]
    ('Reference', [('Terms', 'docs/glossary.md'), ('Settings', '')])
    """
    parts: list[tuple[str, list[Entry]]] = []
    for line in text.splitlines():
        if found := _PART.match(line):
            parts.append((found["part"], []))
        elif found := _PAGE.match(line):
            if not parts:
                raise DataError(f"{FILE}: expected a part, '## ...', before its first page, found {line!r}")
            parts[-1][1].append(_entry(found))
    if not parts:
        raise DataError(f"{FILE}: expected parts, '## ...', found none")
    found_paths = [entry.path or entry.title for _, entries in parts for entry in entries]
    if twice := next((path for path in found_paths if found_paths.count(path) > 1), None):
        raise DataError(f"{FILE}: expected every page once, found {twice} twice")
    return tuple(Part(title, tuple(entries)) for title, entries in parts)


def paths(parts: Sequence[Part]) -> Iterator[str]:
    """The files of all pages that are written by hand, the front page and the contents among them."""
    yield from (FRONT, FILE)
    yield from (entry.path for part in parts for entry in part.entries if entry.path)


def name_of(path: str) -> str:
    """The name of the page of a file, without ending; a README is called like its folder, that of the project index.

    Example
    -------
    >>> name_of("docs/glossary.md"), name_of("data/README.md"), name_of("README.md")
    ('glossary', 'data', 'index')
    """
    file = PurePosixPath(path)
    if file.name != "README.md":
        return file.stem.lower()
    return file.parent.name or "index"


def _entry(found: re.Match[str]) -> Entry:
    if found["generated"]:
        return Entry(found["generated"], "")
    path = os.path.normpath(PurePosixPath(FILE).parent / found["link"])
    return Entry(found["title"], PurePosixPath(path).as_posix())
