r"""What is a page of the report made of?

Building blocks that say what is on the page; the template alone knows HTML. Two more blocks live in modules of their
own: :class:`pipeline_lib.report.tables.Table` and :class:`pipeline_lib.report.figures.Figure`. Running text may
hold ``code`` between backticks, ``[words](#place)`` links to places of the report, and mathematics in TeX between
``\(`` and ``\)``; everything else is shown as it is. Words that somebody else chose, such as titles, are no markup:
they get into running text through :func:`pipeline_lib.core.markup.quoted`.
"""

import html
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal, Protocol

from pipeline_lib.report.formulas import mathml

TEMPLATES = Path(__file__).parent / "templates"
Tone = Literal["missing", "warning", "information"]
"""Why a sentence is set apart."""


class Block(Protocol):
    """Anything a section holds; ``block`` names the template's macro."""

    @property
    def block(self) -> str:
        """The macro that sets it."""
        ...


@dataclass(frozen=True)
class Prose:
    """Running text as HTML, made from Markdown; ``tone`` sets it apart."""

    html: str
    tone: Tone | None = None
    block: ClassVar[str] = "prose"


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
class Interactive:
    """What a script draws, with controls for its numbers: a part of the page on theory, by its name in `explore.js`."""

    name: str
    block: ClassVar[str] = "interactive"


@dataclass(frozen=True)
class Columns:
    """Blocks next to each other where there is room."""

    blocks: tuple[Block, ...]
    block: ClassVar[str] = "columns"


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


def walk(blocks: Iterable[Block]) -> Iterator[Block]:
    """All blocks, those within others among them, in the order of the page."""
    for block in blocks:
        yield block
        yield from walk(getattr(block, "blocks", ()))


_MARKUP = re.compile(
    r"\\(?P<sign>[\\`\[])|\\\((?P<tex>.+?)\\\)|`(?P<code>[^`]+)`|\[(?P<words>[^\]]+)\]\((?P<place>[#\w][^)\s:]*)\)"
)


def inline(text: str) -> str:
    r"""Turn running text into HTML, escaping all but code, links and mathematics.

    Raises
    ------
    DataError
        When there is broken TeX between ``\(`` and ``\)``.

    Example
    -------
    >>> inline("see `a<b` at [claims](#claims)")
    'see <code>a&lt;b</code> at <a href="#claims">claims</a>'
    >>> inline("[x](javascript:alert(1))")
    '[x](javascript:alert(1))'
    >>> inline(r"of \(m\) documents")
    'of <math display="inline"><mrow><mi>m</mi></mrow></math> documents'
    """

    def marked(found: re.Match[str]) -> str:
        if found["tex"] is not None:
            return mathml(found["tex"])
        if found["code"] is not None:
            return f"<code>{html.escape(found['code'])}</code>"
        if found["words"] is not None:
            return f'<a href="{html.escape(found["place"])}">{inline(found["words"])}</a>'
        return html.escape(found["sign"])

    return between(text, html.escape, marked)


def plain(text: str) -> str:
    r"""The words that a running text shows, where neither code nor links can be shown; of mathematics, the TeX.

    Example
    -------
    >>> plain(r"see `a<b` at [claims](#claims) of \[x](y) for \(x_i\)")
    'see a<b at claims of [x](y) for x_i'
    """

    def bare(found: re.Match[str]) -> str:
        return found["sign"] or found["tex"] or found["code"] or plain(found["words"])

    return _MARKUP.sub(bare, text)


def latex(text: str, escaped: Callable[[str], str]) -> str:
    r"""Turn running text into LaTeX: mathematics as it is, everything else as ``escaped`` writes it.

    Example
    -------
    >>> latex(r"50 % of \(x_i\)", lambda words: words.replace("%", r"\%"))
    '50 \\% of \\(x_i\\)'
    """
    return between(text, escaped, lambda found: found[0] if found["tex"] else escaped(plain(found[0])))


def between(text: str, escaped: Callable[[str], str], marked: Callable[[re.Match[str]], str]) -> str:
    """The text with every piece of markup as ``marked`` and everything between as ``escaped`` writes it."""
    pieces, end = [], 0
    for found in _MARKUP.finditer(text):
        pieces += [escaped(text[end : found.start()]), marked(found)]
        end = found.end()
    return "".join([*pieces, escaped(text[end:])])


def mathematics(text: str) -> str:
    r"""Turn a statement with mathematics in plain letters, or in TeX between ``\(`` and ``\)``, into HTML.

    In plain letters ``<=``, ``sqrt`` and names of Greek letters become single signs, and ``_`` lowers and ``^`` raises
    the word, the number, or what is in braces or round brackets after it.

    Example
    -------
    >>> mathematics("min_w λ/2 ||w||^2 + φ_{SLAM}(s)")
    'min<sub>w</sub> λ/2 ‖w‖<sup>2</sup> + φ<sub>SLAM</sub>(s)'
    >>> mathematics("x_i >= -2 sqrt(lambda_u)")
    'x<sub>i</sub> ≥ −2 √(λ<sub>u</sub>)'
    >>> mathematics("Delta of -x and x, not pre-images")
    'Δ of −x and x, not pre-images'
    >>> mathematics("v_max of v^NDCG@k, T^(2/3)")
    'v<sub>max</sub> of v<sup>NDCG@k</sup>, T<sup>2/3</sup>'
    >>> mathematics(r"at most \(m\) of v_max")
    'at most <math display="inline"><mrow><mi>m</mi></mrow></math> of v<sub>max</sub>'
    """
    pieces = re.split(r"\\\((.+?)\\\)", text)
    return "".join(mathml(piece) if i % 2 else _raised(piece) for i, piece in enumerate(pieces))


_SIGNS = {"<=": "≤", ">=": "≥", "||": "‖", "sqrt(": "√(", " - ": " − "}
_GREEK = re.compile(r"(?<![A-Za-z])(Delta|alpha|beta|gamma|delta|epsilon|eta|lambda|mu|rho|sigma|phi)(?![A-Za-z])")


def _raised(text: str) -> str:
    for words, sign in _SIGNS.items():
        text = text.replace(words, sign)
    text = re.sub(r"(?<![\w-])-(?=\w)", "−", text)
    safe = html.escape(_GREEK.sub(lambda found: html.unescape(f"&{found[0]};"), text))
    for sign, tag in (("_", "sub"), ("^", "sup")):
        safe = re.sub(rf"\{sign}\{{([^{{}}]+)\}}", rf"<{tag}>\1</{tag}>", safe)
        safe = re.sub(rf"\{sign}\(([^()]+)\)", rf"<{tag}>\1</{tag}>", safe)
        safe = re.sub(rf"\{sign}([\w@]+(?:\.\d+)?)", rf"<{tag}>\1</{tag}>", safe)
    return safe
