"""How does a page in Markdown become a page of the site, with addresses for its headings and links that lead there?"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from pipeline_lib.errors import DataError
from pipeline_lib.reporting import markdown
from pipeline_lib.reporting.blocks import mathematics
from pipeline_lib.reporting.formulas import mathml

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

_PLACE = re.compile(r"\s*\{#([\w.-]+)\}$")
_IDENTIFIER = re.compile(
    r"(\b(?:[a-z]{4,}_[a-z]{2,}|[a-z]{3,}_[a-z]{4,}|[a-z]+\d?_[a-z]{5,}|[a-z]+\d_[a-z]{3,}|[a-z\d]+_[a-z]+_|[A-Z]{2,}_[A-Z])\w*)"
)
"""Names of the code, in which ``_`` lowers nothing: subscripts are shorter, or of shorter words."""
_CODE = re.compile(r"^ *(?:def |class |import |from |@|>>>|\$ )|\s--\w|\w\(\w+=|^\w+/", re.MULTILINE)
"""What indented text has that is code, a command or a list of files."""
_ESTIMATED = re.compile(r"\b([A-Z])\^(?=_|\([fw]\)|[ ,.;]|$)")
"""A letter with a hat, such as that of the empirical risk, R^(f), which raises nothing."""
_LONGEST = 160


@dataclass(frozen=True)
class Heading:
    """A heading: its level (2 and more), its address, its words, and how the text below it begins."""

    level: int
    id: str
    words: str
    begins: str


@dataclass(frozen=True)
class Text:
    """A page of the site: its title, its HTML below the title, its headings, and all links and pictures in it."""

    title: str
    begins: str
    html: str
    headings: tuple[Heading, ...]
    links: tuple[str, ...]


def text(markdown_text: str, where: str, linked: Callable[[str], str], *, letters: bool = False) -> Text:
    """Read a page; ``linked`` turns a link or the address of a picture into that of the site.

    With ``letters``, the running text writes mathematics in plain letters, as docstrings do: ``v_max`` is set with a
    lowered max. ``where`` names the page in errors.

    Raises
    ------
    DataError
        When the page does not begin with a title, two of its headings have one address, or a formula is no TeX.

    Example
    -------
    >>> page = text("# Terms\\n\\nAll of them.\\n\\n## A rank\\n\\nOf [documents](a.md#b).", "terms", str.upper)
    >>> page.title, page.begins, page.headings[0].id, page.links
    ('Terms', 'All of them.', 'a-rank', ('a.md#b',))
    >>> 'href="A.MD#B"' in page.html
    True
    """
    parser = _parser()
    tokens = parser.parse(markdown_text)
    if not tokens or tokens[0].tag != "h1":
        raise DataError(f"{where}: expected a title, '# ...', on its first line, found {markdown_text.strip()[:40]!r}")
    title, tokens = _words(tokens[1]), tokens[3:]
    headings = tuple(_headings(tokens))
    if twice := next((one.id for one in headings if sum(one.id == other.id for other in headings) > 1), None):
        raise DataError(f"{where}: expected every address once, found #{twice} twice")
    links = tuple(_relinked(tokens, linked))
    try:
        body = parser.renderer.render(tokens, parser.options, {"letters": letters})
    except DataError as error:
        raise DataError(f"{where}: {error}") from error
    return Text(title, _begins(tokens), body, headings, links)


def slug(words: str, used: Sequence[str] = ()) -> str:
    """The address of a heading, as GitHub forms it; with a number where others have the same.

    Example
    -------
    >>> slug("Which queries train, and which test?"), slug("Rules", ["rules"])
    ('which-queries-train-and-which-test', 'rules-1')
    """
    plain = re.sub(r"[^\w\- ]", "", words.strip().lower()).replace(" ", "-")
    same = sum(other == plain or re.fullmatch(rf"{re.escape(plain)}-\d+", other) is not None for other in used)
    return f"{plain}-{same}" if plain in used else plain


@cache
def _parser() -> MarkdownIt:
    parser = markdown.parser()
    parser.add_render_rule("heading_close", _heading_close)
    parser.add_render_rule("table_open", lambda *_: f"{_TABLE}<table>\n")
    parser.add_render_rule("table_close", lambda *_: "</table>\n</div></figure>\n")
    parser.add_render_rule("fence", _code)
    parser.add_render_rule("code_block", _displayed)
    parser.add_render_rule("text", _letters)
    parser.add_render_rule("code_inline", _name)
    parser.add_render_rule("math_inline", _formula)
    for tag in ("th", "td"):
        parser.add_render_rule(f"{tag}_open", _cell)
    return parser


_TABLE = '<figure class="table"><div class="scroll" role="region" tabindex="0" aria-label="Table">'


def _heading_close(self: Any, tokens: Sequence[Token], i: int, options: Any, env: Any) -> str:
    opened = next(token for token in reversed(tokens[:i]) if token.type == "heading_open")
    sign = f' <a class="here" href="#{opened.attrGet("id")}" aria-label="Link to this part">#</a>'
    return f"{sign}</{tokens[i].tag}>\n"


def _code(self: Any, tokens: Sequence[Token], i: int, options: Any, env: Any) -> str:
    language = tokens[i].info.partition(" ")[0]
    kind = f' class="{html.escape(language)}"' if language else ""
    content = re.sub(r" *# doctest: .*", "", tokens[i].content)
    return f'<pre tabindex="0"{kind}>{html.escape(content, quote=False)}</pre>\n'


def _name(self: Any, tokens: Sequence[Token], i: int, options: Any, env: Any) -> str:
    """Code in a line, which may be broken behind the signs that join long names."""
    words = re.sub(r"(::|[/_])(?=\w)", r"\1<wbr>", html.escape(tokens[i].content, quote=False))
    return f"<code>{words}</code>"


def _formula(self: Any, tokens: Sequence[Token], i: int, options: Any, env: Any) -> str:
    """A formula in a line; GitHub wants backticks within the dollar signs where Markdown would read it otherwise."""
    return mathml(tokens[i].content.strip("`"))


def _displayed(self: Any, tokens: Sequence[Token], i: int, options: Any, env: Any) -> str:
    """Indented text, which is a formula in plain letters where the page writes any, unless it is code."""
    content = tokens[i].content
    if not env.get("letters") or _CODE.search(content):
        return _code(self, tokens, i, options, env)
    words = _lowered(content.rstrip("\n"))
    if "\n" in words:
        return f'<pre tabindex="0" class="formula">{words}</pre>\n'
    return f'<p class="formula">{words}</p>\n'


def _letters(self: Any, tokens: Sequence[Token], i: int, options: Any, env: Any) -> str:
    content = tokens[i].content
    return _lowered(content) if env.get("letters") else html.escape(content, quote=False)


def _lowered(content: str) -> str:
    """Text with mathematics in plain letters as HTML."""
    content = _ESTIMATED.sub("\\1\u0302", content)
    pieces = _IDENTIFIER.split(content)
    return "".join(html.escape(piece) if j % 2 else mathematics(piece) for j, piece in enumerate(pieces))


def _cell(self: Any, tokens: Sequence[Token], i: int, options: Any, env: Any) -> str:
    right = "right" in str(tokens[i].attrGet("style"))
    scope = ' scope="col"' if tokens[i].tag == "th" else ""
    return f'<{tokens[i].tag}{scope} class="{"right" if right else "left"}">'


def _headings(tokens: Sequence[Token]) -> Iterator[Heading]:
    """Give every heading its address, and say what the headings are."""
    used: list[str] = []
    for i, token in enumerate(tokens):
        if token.type != "heading_open":
            continue
        inner = tokens[i + 1]
        address = _PLACE.search(inner.content)
        if address is not None:
            inner.children[-1].content = _PLACE.sub("", inner.children[-1].content)  # type: ignore[index]
        words = _words(inner)
        place = address[1] if address is not None else slug(words, used)
        used.append(place)
        token.attrSet("id", place)
        yield Heading(int(token.tag[1]), place, words, _begins(tokens[i + 3 :]))


def _relinked(tokens: Sequence[Token], linked: Callable[[str], str]) -> Iterator[str]:
    """Put the addresses of the site in place of those of the files; say what these were."""
    for token in tokens:
        for name in ("href", "src"):
            if name in token.attrs:
                link = str(token.attrs[name])
                token.attrSet(name, linked(link))
                yield link
        yield from _relinked(token.children or (), linked)


def _words(inline: Token) -> str:
    """What an inline token shows, without markup."""
    shown = (" " if one.type == "softbreak" else one.content for one in inline.children or ())
    return "".join(shown)


def _begins(tokens: Sequence[Token]) -> str:
    """The first sentence of the first paragraph, where one stands before the next heading."""
    for i, token in enumerate(tokens):
        if token.type == "heading_open":
            return ""
        if token.type == "paragraph_open":
            words = _words(tokens[i + 1])
            first = re.split(r"(?<=[.?!:])\s", words, maxsplit=1)[0]
            return first if len(first) <= _LONGEST else first[:_LONGEST].rpartition(" ")[0] + " ..."
    return ""
