"""Does TeX become MathML that browsers set, wherever a page may hold it, and is broken TeX refused?"""

import html
import re
import unicodedata
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import fromstring

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline_lib import learners, metrics, surrogates
from pipeline_lib.core.errors import DataError
from pipeline_lib.core.markup import quoted
from pipeline_lib.report.blocks import inline, mathematics, plain
from pipeline_lib.report.formulas import mathml
from pipeline_lib.report.tables import Column, Group, Table, text, to_latex

ROOT = Path(__file__).parents[2]
FORMULAS = {
    **{f"surrogate {name}": surrogates.create(name).formula for name in surrogates.NAMES},
    **{f"learner {name}": learners.get(name).formula for name in learners.NAMES},
    **{f"measure {name}": metrics.get(name.replace("K", "10")).formula for name in metrics.NAMES},
}


@pytest.mark.parametrize("name", FORMULAS)
def test_every_formula_is_tex_that_can_be_set(name: str) -> None:
    tex = FORMULAS[name]
    assert tex.isascii()
    for display in (True, False):
        root = fromstring(mathml(tex, display=display))
        assert root.tag == "math"
        assert not any("\\" in (element.text or "") for element in root.iter())


def shown(formula: str) -> set[str]:
    """The characters that browsers show: a letter that stands alone is italic."""
    found = set()
    for element in fromstring(formula).iter():
        words = (element.text or "").strip()
        if element.tag == "mi" and len(words) == 1 and "mathvariant" not in element.attrib:
            words = "ℎ" if words == "h" else italic(words)
        found |= set(words)
    return found


def italic(letter: str) -> str:
    name = unicodedata.name(letter).replace("LATIN ", "").replace("GREEK ", "").replace("LETTER ", "")
    try:
        return unicodedata.lookup(f"MATHEMATICAL ITALIC {name}")
    except KeyError:
        return letter


def test_the_font_of_the_report_has_every_character_of_its_formulas(report: Path) -> None:
    sheet = (report / "report.css").read_text(encoding="utf-8")
    ranges = re.findall(r"U\+(\w+)-?(\w*)", sheet.partition("unicode-range: ")[2].partition(";")[0])
    known = {chr(code) for first, last in ranges for code in range(int(first, 16), int(last or first, 16) + 1)}
    of_page = re.findall("<math.*?</math>", (report / "report.html").read_text(encoding="utf-8"))
    templates = [path.read_text(encoding="utf-8") for path in (ROOT / "pipeline_lib").rglob("*.md")]
    of_templates = [mathml(tex) for text in templates for tex in re.findall(r"\$\$?((?:[^$\n{]|\{(?![{%]))+)\$", text)]
    assert len(of_page) > 1000
    assert len(of_templates) > 100
    assert set().union(*map(shown, [*of_page, *of_templates])) <= known


def test_the_documentation_shows_the_same_formulas(registers: Any) -> None:
    page = registers.pages(ROOT)["registers"]
    shown = [(title, tex) for title, tex in re.findall(r"^### `(.+)`\n(?:\n.+\n)?\n\$\$(.+)\$\$$", page, re.MULTILINE)]
    assert sorted(shown) == sorted((name.partition(" ")[2], tex) for name, tex in FORMULAS.items())


@pytest.mark.parametrize(
    "tex",
    [
        r"\frac{a}{", r"\frac{a}", r"x^", r"x^{", "a_b_c", "}", "a & b", r"\summ_i x", r"\begin{cases} a", r"\left( x",
        r"\sqrt", "", " ", "$x$", r"\bigl\lvert x",
    ],
)  # fmt: skip
def test_broken_tex_is_refused_and_quoted(tex: str) -> None:
    with pytest.raises(DataError, match=re.escape(repr(tex))):
        mathml(tex)


@pytest.mark.parametrize(
    ("tex", "tag", "shown"),
    [
        (r"\mathbb{1}", "mn", "\N{MATHEMATICAL DOUBLE-STRUCK DIGIT ONE}"),
        (r"\mathbf{x}", "mi", "\N{MATHEMATICAL BOLD SMALL X}"),
        (r"\mathbb{R}", "mi", "\N{DOUBLE-STRUCK CAPITAL R}"),
        (r"\mathrm{NDCG}", "mi", "NDCG"),
        (r"\lVert", "mo", "\N{DOUBLE VERTICAL LINE}"),
        (r"\text{a <b> & c}", "mtext", "a <b> & c"),
    ],
)
def test_signs_are_those_that_browsers_know(tex: str, tag: str, shown: str) -> None:
    found = list(fromstring(mathml(tex)).iter(tag))
    assert [(element.text or "").replace("\N{NO-BREAK SPACE}", " ") for element in found] == [shown]
    assert "mathvariant" not in found[0].attrib


def test_limits_go_below_where_a_formula_stands_alone() -> None:
    for tex in (r"\sum_i x_i", r"\max_i x_i"):
        assert fromstring(mathml(tex, display=True)).find(".//munder") is not None


def test_cases_are_two_rows_aligned_to_the_left() -> None:
    root = fromstring(mathml(r"\begin{cases} 1 & \text{if } x > 0 \\ 0 & \text{otherwise} \end{cases}", display=True))
    assert len(list(root.iter("mtr"))) == 2
    assert {cell.get("style") for cell in root.iter("mtd")} == {"text-align: left"}


def test_running_text_and_statements_may_hold_tex() -> None:
    formula = mathml("x_i < 1")
    assert inline(r"where \(x_i < 1\), see `\(`") == rf"where {formula}, see <code>\(</code>"
    assert inline(r"[of \(x_i < 1\)](#there)") == f'<a href="#there">of {formula}</a>'
    assert mathematics(r"\(x_i < 1\) & v_max") == f"{formula} &amp; v<sub>max</sub>"
    assert plain(r"where \(x_i < 1\)") == "where x_i < 1"
    table = Table("t", r"Where \(x_i\) & y_i", "t", (Column("a", "A"),), (Group("", ((text("b"),),)),))
    assert r"Where \(x_i\) \& y\_i" in to_latex(table)


@pytest.mark.parametrize("shown", [inline, mathematics])
def test_broken_tex_in_running_text_is_refused(shown: object) -> None:
    with pytest.raises(DataError, match="frac"):
        shown(r"of \(\frac{1}\)")  # type: ignore[operator]


@settings(max_examples=300)
@given(st.text(alphabet="\\()[]`#$_^{}&<x 1"))
def test_what_somebody_else_chose_is_never_mathematics(words: str) -> None:
    assert inline(quoted(words)) == html.escape(words)
    assert inline(rf"{quoted(words)} (\(m\) documents)") == f"{html.escape(words)} ({mathml('m')} documents)"


def test_names_of_functions_stand_apart_from_factors_but_not_from_operators_and_brackets() -> None:
    for tex, spaces in ((r"m \log k", 2), (r"m \log^2 m", 2), (r"\log k", 1), (r"1 + \log(k)", 0)):
        assert len(fromstring(mathml(tex)).findall(".//mspace")) == spaces


def test_bars_in_pairs_are_brackets_that_do_not_grow() -> None:
    bars = fromstring(mathml(r"\lVert u \rVert^2 \le \lvert x_i \rvert")).iter("mo")
    assert [bar.get("form") for bar in bars if bar.get("stretchy") == "false"] == ["prefix", "postfix"] * 2
    alone = next(one for one in fromstring(mathml(r"P(a | b)")).iter("mo") if one.text == "|")
    assert alone.get("form") is None
