"""How does mathematics written in TeX become MathML, which browsers set without any script?

The conversion itself is that of ``latex2mathml``. It lets unknown commands and stray signs pass as if they were names,
and asks for styles of letters that browsers no longer know: both are taken care of here.
"""

import html
import re
import unicodedata
from collections.abc import Iterator
from xml.etree.ElementTree import Element, tostring

from latex2mathml.converter import convert_to_element

from pipeline_lib.core.errors import DataError

_CHILDREN = {"mfrac": 2, "mroot": 2, "msub": 2, "msup": 2, "munder": 2, "mover": 2, "msubsup": 3, "munderover": 3}
_STRAY = frozenset("{}&$#")


def mathml(tex: str, *, display: bool = False) -> str:
    r"""The MathML of a formula in TeX, without dollar signs around it.

    Parameters
    ----------
    tex : str
        TeX of mathematics, as in a paper; macros of its own it cannot have.
    display : bool
        Whether the formula stands alone (limits go below sums), or in a line of text.

    Raises
    ------
    DataError
        When it is not TeX, or holds a command that the conversion does not know; the message quotes the formula.

    Example
    -------
    >>> mathml(r"\frac{1}{2}")
    '<math display="inline"><mrow><mfrac><mrow><mn>1</mn></mrow><mrow><mn>2</mn></mrow></mfrac></mrow></math>'
    >>> mathml(r"\summ_i x_i")
    Traceback (most recent call last):
    ...
    pipeline_lib.core.errors.DataError: formula '\\summ_i x_i': expected TeX, found the unknown command \summ
    """
    try:
        root = convert_to_element(tex, display="block" if display else "inline")
    except Exception as error:  # broken TeX raises errors of many classes, Python's own among them
        wrong = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", type(error).__name__.removesuffix("Error")).lower()
        raise DataError(f"formula {tex!r}: expected TeX, found what is none ({wrong})") from error
    for element in root.iter():
        element.text = html.unescape(element.text) if element.text else element.text
    problem = next(_problems(root), None)
    if problem:
        raise DataError(f"formula {tex!r}: expected TeX, found {problem}")
    _join_words(root)
    _place_limits(root)
    _space_functions(root)
    _set_bars(root)
    _style_letters(root)
    _align_cells(root)
    root.attrib.pop("xmlns", None)
    return tostring(root, encoding="unicode")


def _problems(root: Element) -> Iterator[str]:
    for element in root.iter():
        text = element.text or ""
        if text.startswith("\\") and element.tag != "mtext":
            yield f"the unknown command {text}"
        if element.tag == "mi" and text in _STRAY:
            yield f"a stray {text}"
        if element.tag == "mo" and not (text or element.attrib):  # how names of operators are left out
            yield r"a command that is not supported, such as \operatorname; write \mathrm"
        if len(element) != _CHILDREN.get(element.tag, len(element)):
            yield "a command without all its arguments"


def _join_words(root: Element) -> None:
    """Make one name of upright letters in a row, as in ``\\mathrm{NDCG}``, so that it is read as a word."""
    for row in root.iter("mrow"):
        letters = [letter for letter in row if letter.tag == "mi" and letter.get("mathvariant") == "normal"]
        if len(letters) == len(row) > 1:
            letters[0].text = "".join(letter.text or "" for letter in letters)
            del letters[0].attrib["mathvariant"]  # names of several letters are upright
            for letter in letters[1:]:
                row.remove(letter)


def _place_limits(root: Element) -> None:
    """Put what max ranges over below it where a formula stands alone, and leave less space around it."""
    for element in root.iter():
        if element.tag == "msub" and element[0].tag == "mo" and (element[0].text or "").isalpha():
            element.tag = "munder"
            element[0].set("movablelimits", "true")
        if element.tag == "mo" and (element.text or "").isalpha():
            element.attrib |= {"lspace": "0.167em", "rspace": "0.167em"}


def _space_functions(root: Element) -> None:
    """Set names of functions apart from what stands next to them, unless that is an operator or a bracket."""
    for row in [one for one in root.iter() if one.tag in ("math", "mrow", "mtd")]:
        for i, child in reversed(list(enumerate(row))):
            core = child[0] if child.tag in ("msub", "msup", "msubsup") else child
            if core.tag == "mi" and core.text in ("log", "ln", "exp"):
                for place in (i + 1, i):
                    if 0 < place < len(row) and row[place if place > i else place - 1].tag != "mo":
                        row.insert(place, Element("mspace", width="0.167em"))


def _set_bars(root: Element) -> None:
    """Make pairs of bars brackets of one height, which they are to browsers only if that is said, and slashes close."""
    for row in [one for one in root.iter() if one.tag in ("math", "mrow", "mtd")]:
        cores = [child[0] if child.tag in ("msub", "msup", "msubsup") else child for child in row]
        bars = [core for core in cores if core.tag == "mo" and core.text in ("|", "‖") and "form" not in core.attrib]
        for opening, closing in zip(bars[::2], bars[1::2], strict=False):
            for bar, form in ((opening, "prefix"), (closing, "postfix")):
                bar.attrib |= {"stretchy": "false", "form": form}
        for core in cores:
            if core.tag == "mo" and core.text == "/":
                core.attrib |= {"lspace": "0", "rspace": "0"}


def _style_letters(root: Element) -> None:
    """Write styled letters and digits by the characters that Unicode has for them: browsers know the style normal."""
    for element in root.iter():
        style = element.get("mathvariant", "normal")
        if style != "normal" and element.text:
            element.text = "".join(_styled(letter, style) for letter in element.text)
            del element.attrib["mathvariant"]


def _align_cells(root: Element) -> None:
    """Align columns by style, which browsers know, in place of an attribute that they do not."""
    for cell in root.iter("mtd"):
        if "columnalign" in cell.attrib:
            cell.set("style", f"text-align: {cell.attrib.pop('columnalign')}")


def _styled(letter: str, style: str) -> str:
    name = unicodedata.name(letter, "").replace("LATIN ", "").replace("GREEK ", "").replace("LETTER ", "")
    words = style.upper().replace("BOLD-", "BOLD ")
    try:
        return unicodedata.lookup(f"MATHEMATICAL {words} {name}")
    except KeyError:
        return letter
