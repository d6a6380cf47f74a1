"""Which results of this project are in print, as far as the nearest works were read?

``pipeline_lib/papers/novelty.yaml`` lists them, and ``docs/what-is-new.md`` is written from it. How much of a work was
read stands in one place, after "Read: " in its entry on the page of the references.
"""

import re
from collections.abc import Mapping
from functools import cache
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from pipeline_lib import papers
from pipeline_lib.claims.verdicts import Prose, Titled
from pipeline_lib.core import schemas, shipped
from pipeline_lib.core.settings import Slug, different

Verdict = Literal["known", "known in part", "seems new"]
"""known: a work states it; known in part: works state a part of it, its kind or its means, or what is nearest could not
be read; seems new: no work that was found states it, and the nearest ones were read."""
FILE = papers.FOLDER / "novelty.yaml"
PAGE = "what-is-new"
"""The page of the documentation that is written from it."""
_READ = re.compile(r"(?:Read: |Not read\b)(.*)", re.DOTALL)
_THEOREMS = re.compile(r"in full\b|statements of ")
_Names = Annotated[tuple[Prose, ...], Field(min_length=1), AfterValidator(different)]


class Result(Titled):
    """A result of this project, the works that are nearest to it, and what follows from them; texts are in Markdown."""

    TITLE = ("id", "says")

    id: Slug
    says: Prose = Field(description="one sentence")
    title: Prose
    claims: Annotated[tuple[Prose, ...], AfterValidator(different)] = Field((), description="the claims that judge it")
    page: Prose = Field(description="the page of the documentation with its proof")
    neighbours: _Names = Field(description="the nearest works, by their titles on the page of the references")
    verdict: Verdict
    sentence: Prose = Field(description="what may be said of its novelty, and no more")

    @model_validator(mode="after")
    def _read(self) -> Self:
        known = works()
        if missing := [name for name in self.neighbours if name not in known]:
            raise ValueError(f"{self.id}: expected works of docs/references.md, found {', '.join(missing)}")
        unread = [name for name in self.neighbours if not has_theorems(known[name])]
        if self.verdict == "seems new" and unread:
            raise ValueError(
                f"{self.id}: expected the theorems of every neighbour to be read where a result seems new, found less "
                f"of {', '.join(unread)}: read them, or choose another verdict"
            )
        return self


@cache
def load() -> tuple[Result, ...]:
    """All results, in the order of the file.

    Raises
    ------
    ConfigurationError
        When the file cannot be read, an entry lacks a key or has a wrong one, names a work that is not on the page of
        the references, or seems new beside a work of which the theorems were not read.

    Example
    -------
    >>> {one.verdict for one in load()} <= {"known", "known in part", "seems new"}
    True
    """
    entries = schemas.load_list(FILE, "results", "results")
    return tuple(Result.parse(entry, f"{FILE}: results[{number}]") for number, entry in enumerate(entries))


@cache
def works() -> Mapping[str, str]:
    """Work -> how much of it was read, as the page of the references says it; empty in a copy without this page.

    Example
    -------
    >>> works()["Holm 1979"]
    'not; the procedure is in textbooks'
    """
    path = shipped.page("references.md")
    text = path.read_text(encoding="utf-8") if path.is_file() else ""
    entries = re.findall(r"^### (.+)\n+((?:(?!#).*\n)*)", text, flags=re.MULTILINE)
    return {name: _words(about) for name, about in entries}


def has_theorems(read: str) -> bool:
    """Whether the theorems of a work were read, by what is said after "Read: ".

    Example
    -------
    >>> has_theorems("statements of Theorems 3 to 5"), has_theorems("abstract and beginning")
    (True, False)
    """
    return _THEOREMS.match(read) is not None


def _words(about: str) -> str:
    found = _READ.search(" ".join(about.split()))
    if found is None:
        return ""
    return ("not" * found[0].startswith("Not") + found[1]).rstrip(". ")
