r"""How does a piece of a page, HTML with MathML in it, become a source for Typst or for LaTeX?

Running text and formulas of the report are HTML and MathML when they reach a page (:mod:`pipeline_lib.report.markdown`,
:mod:`pipeline_lib.report.formulas`). A :class:`Dialect` says how each of their elements is written in another language;
what it does not know is an error and never left out. LaTeX is written for XeLaTeX or LuaLaTeX with ``unicode-math``,
where every sign of mathematics stands for itself.
"""

import importlib.util
import re
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element, ParseError, fromstring

import matplotlib as mpl

from pipeline_lib.core.errors import DataError
from pipeline_lib.core.files import replacing
from pipeline_lib.report.tables import escaped

_GROUPS = frozenset({"math", "mrow", "mstyle", "mpadded"})
_LARGE = frozenset("∑∏⋃⋂∫")
_SILENT = frozenset({"div", "span", "thead", "tbody"})


def has_engine() -> bool:
    """Whether Typst is installed, without which there are no PDFs."""
    return importlib.util.find_spec("typst") is not None


def write_pdf(source: str, target: Path) -> None:
    """Typeset a source for Typst, which reads images from the folder of ``target``; the same source, the same bytes.

    The fonts are those that come with Typst and with matplotlib, the same on every machine.

    Raises
    ------
    DataError
        When Typst refuses the source.
    """
    import typst

    folder: Any = target.parent
    try:
        made = typst.compile(source.encode(), root=folder, font_paths=_fonts(), format="pdf")
    except typst.TypstError as error:
        raise DataError(f"{target.name} is not written: Typst refuses its source; {error}") from error
    with replacing(target) as partial:
        partial.write_bytes(made)


@cache  # it reads every file of a font
def _fonts() -> Any:
    import typst

    return typst.Fonts(include_system_fonts=False, font_paths=[Path(mpl.get_data_path()) / "fonts/ttf"])


@dataclass(frozen=True)
class Dialect:
    """How a language writes text and mathematics.

    ``tags`` has a pattern for every element of HTML, ``math`` one for every element of MathML, whose places are filled
    by what the element holds; ``escaped`` writes text as it is, ``raw`` code in a sentence, ``lines`` code that stands
    alone, ``name`` and ``sign`` a name and a sign of a formula, and ``words`` the text in it. ``place`` is a link
    within the document and ``address`` one out of it. ``broken`` ends a line of a displayed formula; ``accents`` are
    the commands by the sign above a letter.
    """

    tags: Mapping[str, str]
    math: Mapping[str, str]
    inline: str
    display: str
    broken: str
    escaped: Callable[[str], str]
    raw: Callable[[str], str]
    lines: Callable[[str], str]
    name: Callable[[str], str]
    sign: Callable[[str], str]
    words: Callable[[str], str]
    place: str
    address: str
    listed: Callable[[str, list[str], int], str]
    table: Callable[[list[list[str]]], str]
    accents: Mapping[str, str]

    def text(self, html: str) -> str:
        r"""The source of a fragment of HTML.

        Raises
        ------
        DataError
            When it is not well formed, or holds an element that the dialect does not know.

        Example
        -------
        >>> TYPST.text("<p>At <em>most</em> 50&#x27;000 <code>x_i</code> &lt; 3</p>").strip()
        'At #emph[most]; 50\'000 #raw("x_i"); \\< 3'
        >>> LATEX.text("<p>At <em>most</em> 5 %</p>").strip()
        'At \\emph{most} 5 \\%'
        """
        try:
            root = fromstring(f"<div>{html}</div>")
        except ParseError as error:
            raise DataError(f"expected HTML that is well formed, found {html[:60]!r}; {error}") from error
        return self._element(root)

    def _element(self, element: Element) -> str:
        tag = element.tag
        if tag == "math":
            written = self.formula(element)
            if element.get("display") != "block":
                return self.inline.format(written)
            # What stands beside a formula at a distance goes below it, since columns are narrow.
            return self.display.format(written.replace(self.math["mspace"].format("1em"), self.broken))
        if tag in ("code", "pre"):
            return (self.raw if tag == "code" else self.lines)("".join(element.itertext()).rstrip())
        if tag in ("ul", "ol"):
            return self.listed(tag, [self._inner(item).strip() for item in element], int(element.get("start", "1")))
        if tag == "table":
            rows = [[self._inner(cell).strip() for cell in row] for row in element.iter("tr")]
            return self.table(rows)
        if tag == "a":
            return self._link(element.get("href", ""), self._inner(element))
        if tag in _SILENT:
            return self._inner(element)
        if tag == "p" and element.get("class"):
            return self.tags[f"p.{element.get('class')}"].format(self._inner(element))
        if tag not in self.tags:
            raise DataError(f"expected an element that an article can show, found <{tag}>")
        return self.tags[tag].format(self._inner(element))

    def _inner(self, element: Element) -> str:
        rest = (self._element(child) + self.escaped(child.tail or "") for child in element)
        return self.escaped(element.text or "") + "".join(rest)

    def _link(self, address: str, words: str) -> str:
        if address.startswith("#"):
            return self.place.format(address[1:], words)
        return self.address.format(address, words) if ":" in address else words

    def formula(self, element: Element) -> str:
        r"""The source of a formula, an element of MathML.

        Example
        -------
        >>> from pipeline_lib.report.formulas import mathml
        >>> formula = fromstring(mathml(r"\frac{1}{n} \sum_{i \le n} x_i"))
        >>> TYPST.formula(formula)
        'frac(1, n) attach(∑, b: i ≤ n) attach(x, b: i)'
        >>> LATEX.formula(formula)
        '\\frac{1}{n} {∑}_{i ≤ n} {x}_{i}'
        """
        tag, text = element.tag, element.text or ""
        if tag in _GROUPS:
            inner = list(filter(None, map(self.formula, element)))
            return (
                self.math["fenced"].format(inner[0], " ".join(inner[1:-1]), inner[-1])
                if _fenced(element)
                else " ".join(inner)
            )
        if tag in ("mi", "mn"):
            return self.name(text)
        if tag == "mo":
            return self.sign(text)
        if tag == "mtext":
            return self.words(text)
        if tag == "mspace":
            return self.math["mspace"].format(element.get("width"))
        if tag == "mtable":
            rows = ([self.formula(cell) for cell in row] for row in element)
            return self.math["mtable"].format(self.math["mtr"].join(self.math["mtd"].join(row) for row in rows))
        parts = list(map(self.formula, element))
        if tag == "mtd":
            return " ".join(parts)
        if tag == "mover" and (element[1].text or "") in self.accents:
            return self.accents[element[1].text or ""].format(parts[0])
        if tag == "msqrt":
            parts = [" ".join(parts)]
        if tag == "mfrac" and element.get("linethickness") == "0":
            tag = "stacked"
        elif tag.startswith(("munder", "mover")) and _is_large(element[0]):
            tag = {"munder": "msub", "mover": "msup", "munderover": "msubsup"}[tag]
        if tag not in self.math:
            raise DataError(f"expected a formula that an article can show, found <{tag}>")
        return self.math[tag].format(*parts)


def _fenced(row: Element) -> bool:
    """Whether a row stands between brackets that grow with it."""
    ends = [element for element in row if "form" in element.attrib and element.get("stretchy") != "false"]
    return len(ends) == 2 and len(row) > 1 and ends == [row[0], row[-1]]


def _is_large(element: Element) -> bool:
    """Whether it is an operator that has its limits where the language puts them."""
    return element.tag == "mo" and ((element.text or "") in _LARGE or (element.text or "").isalpha())


def _typst_escaped(text: str) -> str:
    text = re.sub(r"([\\*_`$#@<>=~\[\]/+\-\"])", r"\\\1", text)
    return re.sub(r"^(\s*\d+)\.", r"\1\.", text)


def _typst_string(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _typst_name(text: str) -> str:
    if len(text) == 1 and (text.isalnum() or not text.isascii()):
        return text
    # What is an operator to Typst stands close to a bracket, and apart from a letter.
    return text if re.fullmatch(r"[\d.]+", text) else f"op({_typst_string(text)})"


def _typst_sign(text: str) -> str:
    if text.isalpha():
        return f"op({_typst_string(text)}, limits: #true)"
    return "∼" if text == "~" else "".join(f"\\{one}" if one.isascii() and one not in "=<>+!" else one for one in text)


def _typst_list(tag: str, items: list[str], start: int) -> str:
    inner = ", ".join(f"[{item}]" for item in items)
    return f"\n#list({inner})\n" if tag == "ul" else f"\n#enum(start: {start}, {inner})\n"


def _typst_table(rows: list[list[str]]) -> str:
    cells = ",\n  ".join(", ".join(f"[{cell}]" for cell in row) for row in rows)
    return f"\n#small-table({len(rows[0])},\n  {cells})\n"


TYPST = Dialect(
    # A semicolon ends a call: what follows is text, even a bracket.
    tags={
        "p": "{}\n\n",
        "p.formula": "{}",
        "em": "#emph[{}];",
        "strong": "#strong[{}];",
        "sub": "#sub[{}];",
        "sup": "#super[{}];",
        "blockquote": "#quote(block: true)[{}]\n\n",
        "br": " \\ {}",
        "h3": "\n=== {}\n\n",
    },
    math={
        "msub": "attach({}, b: {})",
        "msup": "attach({}, t: {})",
        "msubsup": "attach({}, b: {}, t: {})",
        "munder": "attach(limits({}), b: {})",
        "mover": "attach(limits({}), t: {})",
        "munderover": "attach(limits({}), b: {}, t: {})",
        "mfrac": "frac({}, {})",
        "stacked": "mat(delim: #none, {}; {})",
        "msqrt": "sqrt({})",
        "mroot": "root(index: {1}, {0})",
        "mspace": "#h({})",
        "fenced": "lr({} {} {})",
        "mtable": "mat(delim: #none, {})",
        "mtr": "; ",
        "mtd": ", ",
    },
    inline="${}$",
    display="\n$ {} $\n",
    broken="\\ ",
    escaped=_typst_escaped,
    raw=lambda text: f"#raw({_typst_string(text)});",
    lines=lambda text: f"#raw(block: true, {_typst_string(text)})\n\n",
    name=_typst_name,
    sign=_typst_sign,
    words=_typst_string,
    place='#to("{}")[{}];',
    address='#link("{}")[{}];',
    listed=_typst_list,
    table=_typst_table,
    accents={"¯": "overline({})", "^": "hat({})", "~": "tilde({})", "→": "arrow({})"},
)


_LATEX_SIGNS = {"~": r"\sim", "*": "*", "&": r"\&", "#": r"\#", "%": r"\%", "$": r"\$", "_": r"\_", "^": r"\hat{\ }"}
_LATEX_SIGNS |= {"{": r"\{", "}": r"\}", "\\": r"\backslash"}


def _latex_escaped(text: str) -> str:
    """Text whose signs and lowered letters are written as mathematics, since fonts of text lack them."""

    def one(letter: str) -> str:
        if unicodedata.decomposition(letter).startswith("<sub>"):
            return rf"\textsubscript{{{unicodedata.normalize('NFKD', letter)}}}"
        shown = escaped(letter)
        return (
            rf"\({letter}\)"
            if shown == letter > "\u2000" and unicodedata.category(letter) in ("Sm", "So", "Ps", "Pe")
            else shown
        )

    return "".join(map(one, text.replace("✗", "×")))  # which no usual font of mathematics has


def _latex_name(text: str) -> str:
    plain = "".join(_LATEX_SIGNS.get(letter, letter) for letter in text)
    return plain if len(text) == 1 or re.fullmatch(r"[\d.]+", text) else rf"\mathrm{{{plain}}}"


def _latex_sign(text: str) -> str:
    if text.isalpha():
        return f"\\{text}" if text in ("max", "min", "sup", "inf") else rf"\operatorname*{{{text}}}"
    return "".join(_LATEX_SIGNS.get(letter, letter) for letter in text)


def _latex_list(tag: str, items: list[str], start: int) -> str:
    kind = "itemize" if tag == "ul" else "enumerate"
    begin = rf"\setcounter{{enumi}}{{{start - 1}}}" if tag == "ol" and start > 1 else ""
    inner = "\n".join(rf"\item {item}" for item in items)
    return f"\n\\begin{{{kind}}}{begin}\n{inner}\n\\end{{{kind}}}\n"


def _latex_table(rows: list[list[str]]) -> str:
    head, *body = (" & ".join(row) + r" \\" for row in rows)
    columns = "l" * len(rows[0])
    lines = [rf"\begin{{center}}\small\begin{{tabular}}{{{columns}}}", r"\toprule", head, r"\midrule", *body]
    return "\n" + "\n".join([*lines, r"\bottomrule", r"\end{tabular}\end{center}"]) + "\n"


LATEX = Dialect(
    tags={
        "p": "{}\n\n",
        "p.formula": "{}",
        "em": r"\emph{{{}}}",
        "strong": r"\textbf{{{}}}",
        "sub": r"\textsubscript{{{}}}",
        "sup": r"\textsuperscript{{{}}}",
        "blockquote": "\\begin{{quote}}\n{}\\end{{quote}}\n",
        "br": "\\\\\n{}",
        "h3": "\\subsubsection{{{}}}\n",
    },
    math={
        "msub": "{{{}}}_{{{}}}",
        "msup": "{{{}}}^{{{}}}",
        "msubsup": "{{{}}}_{{{}}}^{{{}}}",
        "munder": r"\underset{{{1}}}{{{0}}}",
        "mover": r"\overset{{{1}}}{{{0}}}",
        "munderover": r"\overset{{{2}}}{{\underset{{{1}}}{{{0}}}}}",
        "mfrac": r"\frac{{{}}}{{{}}}",
        "stacked": r"\genfrac{{}}{{}}{{0pt}}{{}}{{{}}}{{{}}}",
        "msqrt": r"\sqrt{{{}}}",
        "mroot": r"\sqrt[{1}]{{{0}}}",
        "mspace": r"\hspace{{{}}}",
        "fenced": r"\left{} {} \right{}",
        "mtable": r"\begin{{matrix}}{}\end{{matrix}}",
        "mtr": r" \\ ",
        "mtd": " & ",
    },
    inline=r"\({}\)",
    display="\n\\[ \\begin{{gathered}} {} \\end{{gathered}} \\]\n",
    broken=r"\\ ",
    escaped=_latex_escaped,
    raw=lambda text: rf"\texttt{{{escaped(text)}}}",
    lines=lambda text: f"\n\\begin{{verbatim}}\n{text}\n\\end{{verbatim}}\n",
    name=_latex_name,
    sign=_latex_sign,
    words=lambda text: rf"\text{{{_latex_escaped(text)}}}",
    place=r"\hyperref[{}]{{{}}}",
    address=r"\href{{{}}}{{{}}}",
    listed=_latex_list,
    table=_latex_table,
    accents={"¯": r"\overline{{{}}}", "^": r"\hat{{{}}}", "~": r"\tilde{{{}}}", "→": r"\vec{{{}}}"},
)
