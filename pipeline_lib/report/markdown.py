"""How does Markdown become a section of the report?

``# Title`` heads the section and ``## Title {#place}`` a part of it, ``place`` being its address on the page. Between
them stands whatever CommonMark knows, with tables, ``$formulas$`` and ``$$displayed formulas$$``, and

    ::: warning            (or missing, information)
    A sentence set apart.
    :::

    ::: details Words to click on
    What opens then.
    :::

Blocks made elsewhere, tables and figures, stand where :func:`placeholder` put them. HTML is shown as it is written, not
executed.
"""

import re
from collections.abc import Sequence
from functools import cache
from itertools import groupby, pairwise
from typing import get_args

from markdown_it import MarkdownIt
from markdown_it.token import Token
from markdown_it.tree import SyntaxTreeNode
from mdit_py_plugins.container import container_plugin
from mdit_py_plugins.dollarmath import dollarmath_plugin

from pipeline_lib.core.errors import DataError
from pipeline_lib.core.markup import quoted
from pipeline_lib.report.blocks import Block, Details, Prose, Section, Subsection, Tone
from pipeline_lib.report.formulas import mathml

_PLACE = re.compile(r"\s*\{#([\w.@-]+)\}$")
_HELD = re.compile(r"\ue000(\d+)\ue001")
_SPECIAL = re.compile(r"([\\`*_\[\]<>#|$~^{}!&])")


def placeholder(number: int) -> str:
    """What stands in the text for the block of that number."""
    return f"\n\n\ue000{number}\ue001\n\n"


def escaped(words: str) -> str:
    r"""The Markdown that shows ``words`` as they are.

    Example
    -------
    >>> print(escaped("[x](y) costs $5"))
    \[x\](y) costs \$5
    """
    return _SPECIAL.sub(r"\\\1", words).replace("\n", " ")


def section(text: str, held: Sequence[Block], name: str) -> Section | None:
    """Read a section; ``name`` is its address, ``held`` are the blocks of the placeholders. None where it is empty.

    Raises
    ------
    DataError
        When the text does not begin with a title, or a part has no address.

    Example
    -------
    >>> part = section("# Regret\\n\\nIt grows.\\n\\n## How fast? {#rate}\\n\\nLike $T^{2/3}$.", (), "topk")
    >>> part.title, [block.id for block in part.subsections()]
    ('Regret', ['rate'])
    """
    tokens = _parser().parse(text)
    if not tokens:
        return None
    if tokens[0].type != "heading_open" or tokens[0].tag != "h1":
        raise DataError(f"page of {name}: expected a title, '# ...', on its first line, found {text.strip()[:40]!r}")
    title = "".join(child.content for child in tokens[1].children or ())
    blocks: list[Block] = []
    heads = [i for i, token in enumerate(tokens) if token.type == "heading_open" and token.tag == "h2"]
    blocks += _blocks(tokens[3 : heads[0] if heads else len(tokens)], held)
    for start, end in pairwise([*heads, len(tokens)]):
        heading = _running(tokens[start + 1])
        place = _PLACE.search(heading)
        if place is None:
            raise DataError(f"page of {name}: expected an address after '## {heading}', such as {{#{name}-rates}}")
        inner = tuple(_blocks(tokens[start + 3 : end], held))
        if inner:
            blocks.append(Subsection(place[1], heading[: place.start()], inner))
    return Section(name, title, tuple(blocks)) if blocks else None


def blocks(text: str, held: Sequence[Block]) -> list[Block]:
    """Read running text without headings; ``held`` are the blocks of the placeholders.

    Example
    -------
    >>> [block.html for block in blocks("It grows.", ())]
    ['<p>It grows.</p>\\n']
    """
    return _blocks(_parser().parse(text), held)


def prose(text: str) -> Prose:
    """Markdown as a block.

    Example
    -------
    >>> prose("A *certified* gap of $x$ <b>").html.strip()
    '<p>A <em>certified</em> gap of <math display="inline"><mrow><mi>x</mi></mrow></math> &lt;b&gt;</p>'
    """
    return Prose(_parser().render(text))


@cache
def _parser() -> MarkdownIt:
    """The Markdown that the report knows."""
    made = MarkdownIt("commonmark", {"html": False, "typographer": False}).enable("table")
    made.use(dollarmath_plugin, allow_digits=False)
    made.add_render_rule("math_inline", lambda self, tokens, i, options, env: mathml(tokens[i].content))
    made.add_render_rule("math_block", lambda self, tokens, i, options, env: _displayed(tokens[i].content))
    # Tables of words: their heads say what they head, and on narrow pages they scroll.
    made.add_render_rule("table_open", lambda *_: '<div class="scroll"><table class="words">\n')
    made.add_render_rule("table_close", lambda *_: "</table></div>\n")
    made.add_render_rule("th_open", lambda *_: '<th scope="col">')
    for name in (*get_args(Tone), "details"):
        made.use(container_plugin, name=name)
    return made


def _displayed(tex: str) -> str:
    return f'<p class="formula">{mathml(tex.strip(), display=True)}</p>\n'


def _blocks(tokens: Sequence[Token], held: Sequence[Block]) -> list[Block]:
    blocks: list[Block] = []
    prose: list[Token] = []
    for node in SyntaxTreeNode(tokens).children:
        one = node.to_tokens()
        kind = one[0].type
        found = _HELD.fullmatch(one[1].content.strip()) if kind == "paragraph_open" else None
        container = kind.removeprefix("container_").removesuffix("_open") if kind.startswith("container_") else ""
        if found is None and not container:
            prose += one
            continue
        blocks += _prose(prose)
        prose = []
        if found is not None:
            blocks.append(held[int(found[1])])
        elif container == "details":
            blocks.append(Details(one[0].info.strip().removeprefix("details").strip(), tuple(_blocks(one[1:-1], held))))
        else:
            blocks += [Prose(block.html, container) for block in _prose(one[1:-1])]  # type: ignore[arg-type]
    return [*blocks, *_prose(prose)]


def _running(heading: Token) -> str:
    """The words of a heading as running text, which may hold code."""
    parts = groupby(heading.children or (), key=lambda child: child.type == "code_inline")
    words = ((code, "".join(child.content for child in children)) for code, children in parts)
    return "".join(f"`{found}`" if code else quoted(found) for code, found in words)


def _prose(tokens: Sequence[Token]) -> list[Prose]:
    parser = _parser()
    return [Prose(parser.renderer.render(tokens, parser.options, {}))] if tokens else []
