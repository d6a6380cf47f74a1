"""Which claims stand for which statement of a paper, and why do some statements have none?

``pipeline_lib/papers/<paper>/sections.yaml`` lists the paper section by section. The report shows it with the status of
every claim, and the register of claims in the documentation without.
"""

from collections.abc import Iterable, Sequence
from typing import Annotated, Protocol, Self

from pydantic import AfterValidator, Field, model_validator

from pipeline_lib.claims.verdicts import Prose, Titled
from pipeline_lib.core import schemas
from pipeline_lib.core.errors import ConfigurationError, hint
from pipeline_lib.core.settings import different
from pipeline_lib.papers import Paper

OTHERS = "Claims under no statement of the paper"
"""The title of the section with the claims that ``sections.yaml`` leaves out."""


class Stated(Protocol):
    """A claim, judged or not: its id, the place in the paper, and what is claimed."""

    @property
    def id(self) -> str: ...
    @property
    def where(self) -> str: ...
    @property
    def says(self) -> str: ...


class Statement(Titled):
    """What is printed in one place, in plain words, with the ids of its claims or the reason why it has none."""

    TITLE = ("what", "says")

    what: Prose
    says: Prose
    claims: Annotated[tuple[Prose, ...], AfterValidator(different)] = ()
    reason: str = ""

    @model_validator(mode="after")
    def _claims_or_reason(self) -> Self:
        if bool(self.claims) == bool(self.reason):
            raise ValueError(f"{self.what}: expected either `claims` or `reason`")
        return self


class PaperSection(Titled):
    """A section as it is numbered and titled in the paper; ``section`` is empty where it has no number."""

    TITLE = ("section", "title")

    section: str
    title: Prose
    statements: Annotated[tuple[Statement, ...], Field(min_length=1)]

    @property
    def heading(self) -> str:
        """Number and title.

        Example
        -------
        >>> stated = [Statement(what="Definition 1", says="A query has documents.", reason="It states nothing.")]
        >>> PaperSection(section="2.1", title="Notation", statements=stated).heading
        '2.1 Notation'
        """
        return f"{self.section} {self.title}".strip()


def load(paper: Paper, claims: Iterable[Stated]) -> tuple[PaperSection, ...]:
    """The sections of a paper in its own order; none where the paper's folder has no ``sections.yaml``.

    Those of the ``claims`` that they leave out, such as the claims of a topic that was added, follow in a section
    of their own.

    Raises
    ------
    ConfigurationError
        When the file is wrong, or a claim is mentioned that the paper does not have; the message names the section and
        the statement.
    """
    path = paper.folder / "sections.yaml"
    if not path.is_file():
        return ()
    entries = schemas.load_list(path, "sections", f"the sections of {paper.name}")
    sections = tuple(PaperSection.parse(entry, f"{path}: sections[{number}]") for number, entry in enumerate(entries))
    known = {claim.id: claim for claim in claims}
    others = dict(known)
    for section in sections:
        for statement in section.statements:
            for name in statement.claims:
                if name not in known:
                    place = f"section {section.heading}, {statement.what}"
                    raise ConfigurationError(f"{path}: {place}: unknown claim {name!r}; {hint(name, known)}")
                others.pop(name, None)
    if not others:
        return sections
    added = tuple(Statement(what=claim.where, says=claim.says, claims=(claim.id,)) for claim in others.values())
    return (*sections, PaperSection(section="", title=OTHERS, statements=added))


def counts(sections: Sequence[PaperSection]) -> tuple[int, int]:
    """How many statements have claims, and how many a reason instead."""
    statements = [entry for one in sections for entry in one.statements]
    covered = sum(bool(entry.claims) for entry in statements)
    return covered, len(statements) - covered
