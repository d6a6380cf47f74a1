"""Which statements of the papers are wrong, loose, or in need of a second reading, and what holds instead?

The errata of a paper stand in its file ``errata.yaml``, those of descriptions of data in
``pipeline_lib/papers/errata.yaml``. The report shows them, with the exact instances that name them
(:mod:`pipeline_lib.papers.witnesses`); the documentation has a list of them among its registers.
"""

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from pipeline_lib import papers
from pipeline_lib.claims.verdicts import Prose, Titled
from pipeline_lib.core import schemas
from pipeline_lib.core.settings import Slug

Kind = Literal["wrong", "gap", "loose", "reading", "misprint"]
"""wrong: a statement or constant fails as it is meant; gap: a proof fails, and its statement holds; loose: a smaller
bound is attained; reading: it fails, or is incomplete, under one of several readings; misprint: the text around it
corrects it."""


class Erratum(Titled):
    """An erratum: texts are running text in Markdown, as it follows a colon."""

    TITLE = ("id", "subject")

    id: Slug = Field(description="begins with the paper's name")
    letter: Prose = Field(description="its former name, by which code and claims cite it; of data, their title")
    kind: Kind
    where: dict[str, Prose] = Field({}, description="by paper, the place; none for a description of data")
    printed_in: dict[str, Prose] = Field({}, description="by paper, all places, if they are more or say more")
    subject: Prose
    printed: Prose = Field(description="what the paper states")
    why: Prose = Field(description="the shortest argument why it is wrong, or what is missing")
    holds: Prose = Field(description="the statement that is true instead")
    evidence: Prose = Field(description="the code, the test or the table in which this can be checked")
    claims: Annotated[
        dict[str, str], BeforeValidator(lambda entry: dict.fromkeys(entry, "") if isinstance(entry, list) else entry)
    ] = Field({}, description="the claims whose judgement depends on it; a list, or with a remark on each")
    faults: dict[str, Prose] = Field(
        {}, description="of claims that are refuted, in which cases they are false, if the kind says too little"
    )

    @property
    def place(self) -> str:
        """The papers and places in which it is."""
        return ", and ".join(f"`{paper}`, {where}" for paper, where in self.where.items())


def files() -> tuple[Path, ...]:
    """The files in which the errata stand."""
    return tuple(sorted((papers.FOLDER / "errata.yaml", *papers.FOLDER.glob("*/errata.yaml"))))


@cache
def load() -> tuple[Erratum, ...]:
    """All errata, in the order of their letters; those of data follow.

    Raises
    ------
    ConfigurationError
        When a file cannot be read, or an erratum lacks a key or has a wrong one; the message names file and erratum.

    Example
    -------
    >>> first = load()[0]
    >>> first.letter, first.place, next(iter(first.claims))
    ('A', '`slam`, section 5', 'slam-eta-free')
    """
    found = [
        Erratum.parse(entry, f"{path}: errata[{number}]")
        for path in files()
        for number, entry in enumerate(schemas.load_list(path, "errata", "errata"))
    ]
    return tuple(sorted(found, key=lambda one: (not one.where, len(one.letter), one.letter)))


@cache
def of_claims() -> Mapping[str, tuple[str, ...]]:
    """Claim -> the letters of the errata on which its judgement depends.

    Example
    -------
    >>> of_claims()["lists-thm3"]
    ('B',)
    """
    letters: dict[str, tuple[str, ...]] = {}
    for one in load():
        for claim in one.claims:
            letters[claim] = (*letters.get(claim, ()), one.letter)
    return letters


@cache
def kinds() -> Mapping[str, Kind]:
    """Claim -> the kind of the first erratum on which its judgement depends.

    Example
    -------
    >>> kinds()["slam-thm3-exchanges"], kinds()["slam-eta-free"]
    ('gap', 'wrong')
    """
    return {claim: one.kind for one in reversed(load()) for claim in one.claims}


@cache
def faults() -> Mapping[str, str]:
    """Claim -> in which cases it is false, in a few words, where the kind of its erratum says too little.

    Example
    -------
    >>> faults()["topk-lemma3"]
    'needs m > k + 1 or grades'
    """
    return {claim: words for one in load() for claim, words in one.faults.items()}


def address(letter: str) -> str:
    """The address of an erratum in the report.

    Example
    -------
    >>> address("AB"), address("OHSUMED (LETOR 3.0)")
    ('erratum-AB', 'erratum-OHSUMED-LETOR-3-0')
    """
    return "erratum-" + "-".join(re.findall(r"\w+", letter))
