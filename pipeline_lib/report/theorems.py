r"""How do pages of the documentation with theorems and proofs become parts of the article?

These pages are Markdown whose formulas stand in plain letters, ``sum_t f_t(u) + 4 ||u||^2``, alone on indented lines
or within sentences. Here they become HTML with raised and lowered letters.
"""

import html
import re
from collections.abc import Collection, Iterator, Sequence

from pipeline_lib import papers
from pipeline_lib.claims import errata
from pipeline_lib.core import shipped
from pipeline_lib.report import markdown
from pipeline_lib.report.blocks import Prose, Subsection, mathematics
from pipeline_lib.report.terms_section import slug

LEFT_OUT = frozenset({"In use", "Reading the figure of a chain"})
"""Parts of the pages that are about using the programs."""
_LINK = re.compile(r"\[([^\]]+)\]\(([\w-]+)\.md(?:#([\w-]+))?\)")
_PIECES = re.compile(r"(<pre>.*?</pre>|<code>.*?</code>|<math.*?</math>|<[^>]+>)", re.DOTALL)
_INDEXED = "\ue000"
"""Stands where a raised or lowered word follows."""
_LETTER = re.compile(
    rf"(?<![\w.])(?<!&#x27;)(?:[b-zB-HJ-Z]\u0302?(?![\w;])|[aAI](?={_INDEXED}))(?!&#x27;[a-z]|\) [A-Z])"
)
_SET = ("<em>", "<strong>", "<sub>", "<sup>", "<a ")
"""Tags after which letters stay as they are."""
_READABLE = (
    (re.compile(r"\b([LR])\^(?=\(\w\)|[\s,;.)<>=])"), "\\1\u0302"),  # R^(f), the mean over a sample
    (re.compile(r"\b([LR])hat\b"), "\\1\u0302"),
    (re.compile(r"\^-(\w+)"), r"^{−\1}"),
    (re.compile(r"<([^<>=\s][^<>=,]{0,24}, [^<>=,]{1,40})>"), r"⟨\1⟩"),
    (re.compile(r"(?<![A-Za-z])([A-Za-z](?:_\w+)?)'(?!\w)"), r"\1′"),
    (re.compile(r"(?<=\s)-(?=(?:eta|eps|[A-Za-z])(?![A-Za-z]))|(?<=[=<>] )-(?=[\w<⟨(])|(?<=\()-(?=\w)"), "−"),
    (re.compile(r"(?<![A-Za-z])eps(?![A-Za-z])"), "ε"),
    (
        re.compile(r"(?<![A-Za-z])(Delta|chi|tau|theta|Psi|psi|pi)(?![A-Za-z])"),
        lambda found: html.unescape(f"&{found[0]};"),
    ),
    (re.compile(r"\bsum(?=_)"), "∑"),
    (re.compile(r"!="), "≠"),
)


def parts(names: Sequence[str]) -> list[Subsection]:
    """The pages as parts of an article, each with its own parts; a page that a copy of the project lacks is left out.

    Example
    -------
    >>> [part.id for part in parts(["the-two-layer-gap"])]
    ['part-the-two-layer-gap']
    """
    return [_part(name, names) for name in names if shipped.page(f"{name}.md").is_file()]


def of(chosen: Collection[str]) -> list[str]:
    """The names of the pages with the new results on the papers, in the order of the papers."""
    return [name for paper in papers.every() if paper.name in chosen for name in paper.results]


def _part(name: str, names: Sequence[str]) -> Subsection:
    text = shipped.page(f"{name}.md").read_text(encoding="utf-8")
    first, *others = re.split(r"^## ", text, flags=re.MULTILINE)
    title, _, introduction = first.removeprefix("# ").partition("\n")
    inner = []
    for other in others:
        heading, _, words = other.partition("\n")
        if heading.strip() not in LEFT_OUT:
            prose = Prose(formatted(words, names))
            inner.append(Subsection(f"part-{name}-{slug(heading)}", heading.strip(), (prose,)))
    return Subsection(f"part-{name}", title.strip(), (Prose(formatted(introduction, names)), *inner))


def formatted(text: str, names: Collection[str]) -> str:
    """Markdown with formulas in plain letters as HTML; ``names`` are the pages to which links can lead.

    Example
    -------
    >>> formatted("At most *c* sum_t x_t, see [here](the-two-layer-gap.md).", ["the-two-layer-gap"]).strip()
    '<p>At most <em>c</em> ∑<sub>t</sub> <em>x</em><sub>t</sub>, see <a href="#part-the-two-layer-gap">here</a>.</p>'
    """
    # What is a page of the documentation is a part of the article.
    words = text.replace("This page", "This part")
    linked = _LINK.sub(lambda found: _target(found, names), words)
    return italic("".join(_typeset(markdown.prose(linked).html)))


def italic(fragment: str) -> str:
    """HTML with the single letters of formulas in plain letters set in italics.

    Example
    -------
    >>> italic("a gap of R<sub>X</sub> in <code>n</code>")
    'a gap of <em>R</em><sub>X</sub> in <code>n</code>'
    """
    pieces = [*_PIECES.split(fragment), ""]
    for i in range(0, len(pieces) - 1, 2):
        if not (i and pieces[i - 1].startswith(_SET)):
            after = _INDEXED if pieces[i + 1] in ("<sub>", "<sup>") else ""
            pieces[i] = _LETTER.sub(r"<em>\g<0></em>", pieces[i] + after).removesuffix(after)
    return "".join(pieces)


def _typeset(page: str) -> Iterator[str]:
    for i, piece in enumerate(_PIECES.split(page)):
        if piece.startswith("<pre>"):
            yield _displayed(html.unescape(re.sub(r"<[^>]+>", "", piece)))
        else:
            yield piece if i % 2 else raised(html.unescape(piece))


def _displayed(formula: str) -> str:
    """Lines of a formula that stands alone; wide gaps stay."""
    lines = formula.strip("\n").split("\n")
    margin = min(len(line) - len(line.lstrip()) for line in lines)
    shown = ("".join(italic(raised(line[margin:].rstrip())).replace("   ", "\u2003")) for line in lines)
    return f'<p class="lines">{"<br />".join(shown)}</p>\n'


def raised(text: str) -> str:
    r"""A statement with mathematics in plain letters, or in TeX between ``\(`` and ``\)``, as HTML.

    Example
    -------
    >>> raised("R^(f) <= Delta_T for <u, x_i>, u != 0")
    'R̂(f) ≤ Δ<sub>T</sub> for ⟨u, x<sub>i</sub>⟩, u ≠ 0'
    """
    pieces = re.split(r"(\\\(.+?\\\))", text)
    for pattern, sign in _READABLE:
        pieces[::2] = [pattern.sub(sign, piece) for piece in pieces[::2]]
    return mathematics("".join(pieces))


def _target(found: re.Match[str], names: Collection[str]) -> str:
    """A link as the article has it: to another part, to the bibliography, to an erratum, or as the name of a file."""
    words, page, place = found.groups()
    if page in names:
        return f"[{words}](#part-{page})"
    if page == "references" and place:
        return f"[{words}](#ref-{slug(place)})"
    if page == "errata" and place:
        return f"[{words}](#{errata.address(place.upper())})"
    return words if page in ("errata", "references") else f"{words}, `docs/{page}.md`"
