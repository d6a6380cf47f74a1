"""How does a docstring become Markdown?

Docstrings have the sections of numpydoc: ``Parameters``, ``Raises``, ``Example`` and others, underlined by hyphens.
Their text is close to Markdown: what differs are code between two backticks, the roles of Sphinx (``:func:`name```),
displayed formulas (``.. math::``) and ``::`` before indented text.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from textwrap import dedent, indent

RETURNED = ("Returns", "Yields")
"""Sections of types with indented text below each, or of running text."""
ENTRIES = ("Parameters", "Attributes", "Raises", "Warns", *RETURNED)
"""Sections of names, with indented text below each."""

_MARKED = re.compile(r"(\n *)([>+=#])(?=[ =])")
"""Signs of a formula that would be markup because they begin a line."""
_UNMARKED = r"(?<![`\w/\[])(?<!\]\()"
_PAGE = re.compile(rf"{_UNMARKED}docs/(errata)\.md,\s+(?:letter )?([A-Z]{{1,2}})\b|{_UNMARKED}docs/([a-z-]+)\.md")
"""A page that a docstring names, and the letter of an erratum."""
_SECTION = re.compile(r"^([A-Z][A-Za-z ]+)\n(-{3,})\n", re.MULTILINE)
_ROLE = re.compile(r":(?:func|class|mod|data|attr|meth):`~?([^`]+)`")
_MATH = re.compile(r"^( *)\.\. math::(.*(?:\n+(?:\1 +\S.*))*)", re.MULTILINE)


@dataclass(frozen=True)
class Docstring:
    """The first sentence, the text after it, and the sections by their titles."""

    summary: str
    text: str
    sections: tuple[tuple[str, str], ...]


def parsed(docstring: str | None) -> Docstring:
    """The parts of a docstring.

    Example
    -------
    >>> found = parsed('''The mean.
    ...
    ...     Of all values.
    ...
    ...     Raises
    ...     ------
    ...     DataError
    ...         When there is none.
    ... ''')
    >>> found.summary, found.text, found.sections
    ('The mean.', 'Of all values.', (('Raises', 'DataError\\n    When there is none.'),))
    """
    text = inspect.cleandoc(docstring or "")
    pieces = _SECTION.split(text)
    summary, _, rest = pieces[0].strip().partition("\n\n")
    titles = zip(pieces[1::3], pieces[3::3], strict=True)
    return Docstring(
        " ".join(summary.split()), rest.strip("\n"), tuple((title, body.strip()) for title, body in titles)
    )


def markdown(docstring: str | None, linked: Callable[[str], str]) -> str:
    """A docstring in Markdown; ``linked`` gives the Markdown of a name that it refers to.

    Example
    -------
    >>> print(markdown("The mean; see :func:`total`.\\n\\nRaises\\n------\\nDataError\\n    When empty.", str))
    The mean; see total.
    <BLANKLINE>
    **Raises**
    <BLANKLINE>
    - `DataError`: When empty.
    """
    found = parsed(docstring)
    blocks = [prose(found.summary, linked), prose(found.text, linked)]
    for title, body in found.sections:
        blocks.append(f"**{title}**")
        named = title in ENTRIES and (title not in RETURNED or "\n  " in body)
        blocks.append("\n".join(_entries(body, linked)) if named else prose(body, linked))
    return "\n\n".join(block for block in blocks if block)


def prose(text: str, linked: Callable[[str], str]) -> str:
    """Running text of a docstring in Markdown; examples of a session are code.

    Example
    -------
    >>> print(prose("A sum::\\n\\n    x + y", str))
    A sum:
    <BLANKLINE>
        x + y
    """
    return "\n\n".join(_paragraphs(text, linked))


def _paragraphs(text: str, linked: Callable[[str], str]) -> Iterator[str]:
    session: list[str] = []
    text = _MATH.sub(lambda found: f"{found[1]}$${' '.join(dedent(found[2]).split())}$$", text)
    for paragraph in re.split(r"\n{2,}", text):
        if paragraph.startswith(">>>"):
            session.append(paragraph)
            continue
        yield from _session(session)
        session = []
        if paragraph.strip():
            yield paragraph if paragraph.startswith("    ") else _running(paragraph, linked)
    yield from _session(session)


def _session(paragraphs: list[str]) -> Iterator[str]:
    if paragraphs:
        yield "```python\n" + "\n\n".join(paragraphs) + "\n```"


def _running(paragraph: str, linked: Callable[[str], str]) -> str:
    paragraph = pages_linked(_ROLE.sub(lambda found: linked(found[1]), paragraph))
    paragraph = _MARKED.sub(r"\1\\\2", re.sub(r"::$", ":", paragraph))
    # A number that ends a sentence may begin a line.
    return paragraph if re.match(r"\d+\. ", paragraph) else re.sub(r"(\n *\d+)\. ", r"\1\\. ", paragraph)


def pages_linked(text: str) -> str:
    """The text with links to the pages that it names, and to errata.

    Example
    -------
    >>> pages_linked("(docs/errata.md, letter W)"), pages_linked("docs/claims.md")
    ('([docs/errata.md, letter W](errata.md#w))', '[docs/claims.md](claims.md)')
    """

    def link(found: re.Match[str]) -> str:
        letter, page = found[2], found[1] or found[3]
        return f"[{found[0]}]({page}.md#{letter.lower()})" if letter else f"[{found[0]}]({page}.md)"

    return _PAGE.sub(link, text)


def _entries(body: str, linked: Callable[[str], str]) -> Iterator[str]:
    """The items of a list: a name, its type, and what is said of it."""
    for entry in re.split(r"\n(?=\S)", body):
        head, _, said = entry.partition("\n")
        name, _, kind = head.partition(" : ")
        item = f"- `{name.strip()}`" + (f" ({_running(kind, linked)})" if kind else "")
        text = indent(prose(dedent(said).strip(), linked), "  ").strip()
        yield f"{item}: {text}" if text else item
