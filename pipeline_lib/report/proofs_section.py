"""How do the pages of the documentation with this project's own theorems and proofs become pages of the report?

``paper.toml`` names those of a paper; before them stands the page that says what is new. Links between them, to the
errata and to the references lead to the pages of the report; of links to other pages of the documentation, the words
remain.
"""

import re
from collections.abc import Iterator
from functools import cache

from pipeline_lib import papers
from pipeline_lib.claims import novelty
from pipeline_lib.core import shipped
from pipeline_lib.report import markdown
from pipeline_lib.report.blocks import Section
from pipeline_lib.report.terms_section import slug

_LINK = re.compile(r"\[([^\]]+)\]\(([\w-]+)\.md(?:#([^)]*))?\)")
_ERRATA = re.compile(r"\]\(\.\./pipeline_lib/papers/\w+/errata\.yaml\)")
_NAMED = re.compile(r"`?docs/([\w-]+)\.md`?")


def pages() -> Iterator[Section]:
    """What is new, and the pages of all papers, as far as this copy of the project has their files.

    Example
    -------
    >>> next(pages()).id
    'proof-what-is-new'
    """
    for name in _known():
        text = _LINK.sub(_linked, shipped.page(f"{name}.md").read_text(encoding="utf-8"))
        text = _ERRATA.sub("](#errata)", text)  # a study of some papers has not every erratum
        # Titles as addresses, which are those of the one page in which all are shown.
        text = "\n".join(
            f"{line} {{#proof-{name}-{slug(line)}}}" if line.startswith("## ") else line for line in text.split("\n")
        )
        section = markdown.section(text, (), f"proof-{name}")
        assert section is not None, "a page of the documentation is not empty"
        yield section


def linked(text: str) -> str:
    """Running text in which every name of a file with proofs is a link to its page.

    Example
    -------
    >>> linked("proved in `docs/stability-of-cones.md`, unlike docs/models.md")
    'proved in [stability-of-cones](#proof-stability-of-cones), unlike docs/models.md'
    """
    return _NAMED.sub(lambda found: f"[{found[1]}](#proof-{found[1]})" if found[1] in _known() else found[0], text)


@cache
def _known() -> tuple[str, ...]:
    names = (novelty.PAGE, *(name for one in papers.every() for name in one.proofs))
    return tuple(name for name in names if shipped.page(f"{name}.md").is_file())


def _linked(found: re.Match[str]) -> str:
    words, page, place = found.groups()
    if page in _known():
        return f"[{words}](#proof-{page})"
    if page == "references":
        return f"[{words}](#{f'ref-{slug(place)}' if place else 'references'})"
    return words
