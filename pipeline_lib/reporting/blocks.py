"""What is a page of the report made of?

Building blocks that say what is on the page; the template alone knows HTML. Two more blocks live in modules of their
own: :class:`pipeline_lib.reporting.tables.Table` and :class:`pipeline_lib.reporting.figures.Figure`. Running text may
hold ``code`` between backticks and ``[words](#place)`` links to places of the report; everything else is shown as it
is. Words that somebody else chose, such as titles, are no markup: they get into running text through
:func:`pipeline_lib.markup.quoted`.
"""

from __future__ import annotations

import html
import re
from dataclasses import dataclass
from typing import ClassVar, Literal, Protocol

Tone = Literal["missing", "warning", "information"]
"""Why a sentence is set apart."""


class Block(Protocol):
    """Anything a section holds; ``block`` names the template's macro."""

    @property
    def block(self) -> str:
        """The macro that sets it."""
        ...


@dataclass(frozen=True)
class Paragraph:
    """Running text."""

    text: str
    block: ClassVar[str] = "paragraph"


@dataclass(frozen=True)
class Note:
    """A sentence set apart: something ``missing``, a ``warning``, or ``information``."""

    text: str
    tone: Tone = "information"
    block: ClassVar[str] = "note"


@dataclass(frozen=True)
class Formula:
    """A displayed formula, as :func:`mathematics` reads it."""

    text: str
    block: ClassVar[str] = "formula"


@dataclass(frozen=True)
class Bullets:
    """An unordered list."""

    items: tuple[str, ...]
    block: ClassVar[str] = "bullets"


@dataclass(frozen=True)
class Definitions:
    """Terms and what they are."""

    entries: tuple[tuple[str, str], ...]
    block: ClassVar[str] = "definitions"


@dataclass(frozen=True)
class Listing:
    """Text to be shown as it stands, such as a configuration."""

    text: str
    block: ClassVar[str] = "listing"


@dataclass(frozen=True)
class Details:
    """Blocks that open on request."""

    summary: str
    blocks: tuple[Block, ...]
    block: ClassVar[str] = "details"


@dataclass(frozen=True)
class Subsection:
    """A titled part of a section; ``id`` is its address on the page."""

    id: str
    title: str
    blocks: tuple[Block, ...]
    block: ClassVar[str] = "subsection"


@dataclass(frozen=True)
class Section:
    """A titled part of the report, listed in its table of contents."""

    id: str
    title: str
    blocks: tuple[Block, ...]

    def subsections(self) -> list[Subsection]:
        """The subsections the table of contents shows."""
        return [block for block in self.blocks if isinstance(block, Subsection)]


_MARKUP = re.compile(r"\\([\\`\[])|`([^`]+)`|\[([^\]]+)\]\(([#\w][^)\s:]*)\)")


def inline(text: str) -> str:
    """Turn running text into HTML, escaping all but code and links.

    Example
    -------
    >>> inline("see `a<b` at [claims](#claims)")
    'see <code>a&lt;b</code> at <a href="#claims">claims</a>'
    >>> inline("[x](javascript:alert(1))")
    '[x](javascript:alert(1))'
    """

    def marked(found: re.Match[str]) -> str:
        sign, code, words, place = found.groups()
        if sign is not None:
            return str(sign)
        return f"<code>{code}</code>" if code is not None else f'<a href="{place}">{_inside(words)}</a>'

    def _inside(escaped: str) -> str:
        return _MARKUP.sub(marked, escaped)

    return _inside(html.escape(text))


def plain(text: str) -> str:
    r"""The words that a running text shows, where neither code nor links can be shown.

    Example
    -------
    >>> plain(r"see `a<b` at [claims](#claims) of \[x](y)")
    'see a<b at claims of [x](y)'
    """

    def bare(found: re.Match[str]) -> str:
        sign, code, words, _ = found.groups()
        return str(sign or code or _MARKUP.sub(bare, words))

    return _MARKUP.sub(bare, text)


def mathematics(text: str) -> str:
    """Turn mathematics in plain letters into HTML.

    ``_`` lowers and ``^`` raises the word, the number, or what is in braces or round brackets after it.

    Example
    -------
    >>> mathematics("min_w λ/2 ||w||^2 + φ_{SLAM}(s)")
    'min<sub>w</sub> λ/2 ||w||<sup>2</sup> + φ<sub>SLAM</sub>(s)'
    >>> mathematics("v_max of v^NDCG@k, T^(2/3)")
    'v<sub>max</sub> of v<sup>NDCG@k</sup>, T<sup>2/3</sup>'
    """
    safe = html.escape(text)
    for sign, tag in (("_", "sub"), ("^", "sup")):
        safe = re.sub(rf"\{sign}\{{([^{{}}]+)\}}", rf"<{tag}>\1</{tag}>", safe)
        safe = re.sub(rf"\{sign}\(([^()]+)\)", rf"<{tag}>\1</{tag}>", safe)
        safe = re.sub(rf"\{sign}([\w@]+(?:\.\d+)?)", rf"<{tag}>\1</{tag}>", safe)
    return safe
