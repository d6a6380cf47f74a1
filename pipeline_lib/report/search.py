"""What does the search of the report find? Its index says what stands at every place of the pages.

It is made once, from the pages as they are shown; ``templates/search.js`` looks words up in it, in the browser.
"""

import json
import re
from collections.abc import Iterator, Mapping
from html.parser import HTMLParser
from typing import NamedTuple
from xml.etree.ElementTree import Element, TreeBuilder

from pipeline_lib.report.theorems import NUMBERED

KINDS = {"claim": "Claim", "erratum": "Erratum", "witness": "Counterexample", "table": "Table", "drawing": "Figure"}
"""What is found at an element of some class; at others it is a section, or a term."""
ASIDE = re.compile(r", (proof|corrected)")
"""What makes of the place of a numbered statement that of a step of its proof, or of its corrected form."""
_HEADS = {"h2", "h3", "h4", "h5", "figcaption"}
_PARAGRAPHS = {"p", "li", "dd"}
_APART = {*_HEADS, *_PARAGRAPHS, "table", "pre"}
_LEFT_OUT = {"here", "source", "again", "cells", "legend", "uses"}
_BESIDE = {"td", "th", "tr", "dt", "span", "div", "summary", "br", *_APART}
"""Elements whose words do not continue those before them."""
_VOID = {"br", "hr", "img", "input"}
_WORD = re.compile(r"[^\W\d_]{2,}")


class Entry(NamedTuple):
    """Something that can be found: the address of its place, its kind, what is shown of it, and its other words."""

    place: str
    kind: str
    shown: str
    others: str


def entries(body: str) -> Iterator[Entry]:
    """What can be found on a page: its sections, every paragraph in them, claims, errata, tables, figures and terms.

    Example
    -------
    >>> body = '<section id="risk"><h2>The risk <a class="here">#</a></h2><p>It is <b>small</b>.</p></section>'
    >>> for entry in entries(body):
    ...     print(*entry[:3], sep="; ")
    risk; Section; The risk
    risk; Text; It is small.
    """
    for element in filter(_is_place, _tree(body).iter()):
        yield from _of_place(element)


def script(pages: Mapping[str, tuple[str, str]], bodies: Mapping[str, str]) -> str:
    """The index as a script, which pages can read from disk: ``pages`` has the file and the title of every page."""
    found = [[number, *entry] for number, name in enumerate(pages) for entry in entries(bodies[name])]
    index = json.dumps({"pages": list(pages.values()), "entries": found}, ensure_ascii=False, separators=(",", ":"))
    # In a file of HTML no tag may begin within a script.
    return "const INDEX = " + index.replace("<", "\\u003c") + ";\n"


def is_statement(where: str) -> bool:
    """Whether the place of a claim is a numbered statement of a paper, not a step of its proof or a remark on it.

    Example
    -------
    >>> is_statement("Section 4, Theorem 2"), is_statement("Theorem 5.2, proof")
    (True, False)
    """
    return bool(NUMBERED.match(where)) and not ASIDE.search(where)


def _of_place(element: Element) -> Iterator[Entry]:
    """What is found at a place: itself, and in a section its paragraphs."""
    place, classes = element.get("id", ""), _classes(element)
    kind = next((KINDS[name] for name in classes if name in KINDS), "Section" if element.tag == "section" else "Term")
    parts = list(_parts(element))
    paragraphs = [words for tag, words in parts if kind == "Section" and tag in _PARAGRAPHS]
    others = {word.lower() for tag, words in parts if words not in paragraphs for word in _WORD.findall(words)}
    if kind == "Claim":
        spans = {one.get("class"): _words(one) for one in element.iter("span")}
        where, says = spans["where"], spans["says"]
        kind, shown = "Statement" if is_statement(where) else kind, f"{where}: {says}"
    elif kind == "Term":
        shown = _words(element)
    else:
        shown = next((words for tag, words in parts if tag in _HEADS), "")
    yield Entry(place, kind, shown, " ".join(sorted(others.difference(_WORD.findall(shown.lower())))))
    for words in filter(None, dict.fromkeys(paragraphs)):
        yield Entry(place, "Text", words, "")


def _tree(body: str) -> Element:
    """The elements of a page, without its pictures and those within its formulas."""
    builder = TreeBuilder()

    class Reader(HTMLParser):
        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            builder.start(tag, {name: value or "" for name, value in attrs})
            if tag in _VOID:
                builder.end(tag)

        def handle_endtag(self, tag: str) -> None:
            if tag not in _VOID:
                builder.end(tag)

        def handle_data(self, data: str) -> None:
            builder.data(data)

    without_pictures = re.sub(r"<svg.*?</svg>", "", body, flags=re.DOTALL)
    in_words = re.sub(r"<math.*?</math>", lambda found: re.sub(r"<[^>]*>", "", found[0]), without_pictures)
    Reader().feed(f"<main>{in_words}</main>")
    return builder.close()


def _parts(element: Element) -> Iterator[tuple[str, str]]:
    """The heads, paragraphs and tables of a place, each with its tag, and what stands between them."""
    yield "", element.text or ""
    for child in _shown(element):
        if child.tag in _APART:
            yield child.tag, _words(child)
        else:
            yield from _parts(child)
        yield "", child.tail or ""


def _words(element: Element) -> str:
    """The text of an element, without places that are found by themselves."""

    def pieces(one: Element) -> Iterator[str]:
        yield one.text or ""
        for child in _shown(one):
            apart = " " if child.tag in _BESIDE else ""
            yield from (apart, *pieces(child), apart, child.tail or "")

    return re.sub(r"\s+([.,;:)])", r"\1", " ".join("".join(pieces(element)).split()))


def _shown(element: Element) -> Iterator[Element]:
    return (one for one in element if not _is_place(one) and not _LEFT_OUT.intersection(_classes(one)))


def _is_place(element: Element) -> bool:
    return bool(element.get("id")) and element.tag in ("section", "article", "figure", "div")


def _classes(element: Element) -> list[str]:
    return element.get("class", "").split()
