"""Which claims stand for which statement of a paper, and why do some statements have none?

``pipeline_lib/papers/<paper>/sections.yaml`` lists the paper section by section. The report shows it with the status of
every claim, and the page ``docs/coverage.md`` without (``python -m pipeline_lib coverage``).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pipeline_lib import schemas
from pipeline_lib.errors import ConfigurationError, hint
from pipeline_lib.markup import table_cell
from pipeline_lib.papers import Paper

SCHEMA = Path(__file__).with_name("sections_schema.yaml")


@dataclass(frozen=True)
class Statement:
    """What is printed in one place, in plain words, with the ids of its claims or the reason why it has none."""

    what: str
    says: str
    claims: tuple[str, ...] = ()
    reason: str = ""


@dataclass(frozen=True)
class PaperSection:
    """A section as it is numbered and titled in the paper; ``section`` is empty where it has no number."""

    section: str
    title: str
    statements: tuple[Statement, ...]

    @property
    def heading(self) -> str:
        """Number and title.

        Example
        -------
        >>> PaperSection("2.1", "Notation", ()).heading, PaperSection("", "Abstract", ()).heading
        ('2.1 Notation', 'Abstract')
        """
        return f"{self.section} {self.title}".strip()


def load(paper: Paper) -> tuple[PaperSection, ...]:
    """The sections of a paper in its own order; none where the paper's folder has no ``sections.yaml``.

    Raises
    ------
    ConfigurationError
        When the file is wrong; the message names the section and the statement.
    """
    path = paper.folder / "sections.yaml"
    if not path.is_file():
        return ()
    document = schemas.load(path, f"the sections of {paper.name}")
    wrong = next(schemas.violations(document, SCHEMA), None)
    if wrong is not None:
        raise ConfigurationError(f"{path}: {_explained(wrong, document)}")
    return tuple(_section(entry) for entry in document["sections"])


def check(paper: Paper, claims: Collection[str]) -> None:
    """Check that the sections of a paper mention its claims, all of them and no others.

    Raises
    ------
    ConfigurationError
        When a claim is mentioned that the paper does not have, or one is left out; also when the file is wrong.
    """
    path, mentioned = paper.folder / "sections.yaml", set()
    for one in (sections := load(paper)):
        for entry in one.statements:
            for name in entry.claims:
                if name not in claims:
                    place = f"section {one.heading}, {entry.what}"
                    raise ConfigurationError(f"{path}: {place}: unknown claim {name!r}; {hint(name, claims)}")
            mentioned |= set(entry.claims)
    if sections and (left_out := [name for name in claims if name not in mentioned]):
        raise ConfigurationError(
            f"{path}: expected every claim of claims.yaml under a statement of the paper, found none for "
            f"{', '.join(left_out)}"
        )


def page(chosen: Sequence[Paper]) -> str:
    """The coverage of some papers in Markdown: one table for each section that states anything.

    Claims link to the place in the paper's ledger; statements without a claim are followed by the reason.
    """
    parts = [HEAD]
    for paper in chosen:
        sections = load(paper)
        if not sections:
            continue
        covered, reasons = counts(sections)
        parts.append(
            f"## {paper.title}\n\n{paper.authors}, {paper.published}. The ledger is "
            f"[`{paper.name}/claims.yaml`](../pipeline_lib/papers/{paper.name}/claims.yaml): {covered} of the "
            f"{covered + reasons} entries have claims; the others have a reason."
        )
        for one in sections:
            rows = [
                f"| {table_cell(entry.what)} | {table_cell(entry.says)} | {table_cell(_answer(entry))} |"
                for entry in one.statements
            ]
            parts.append("\n".join([f"### {one.heading}\n", "| place | statement | claims |", "|---|---|---|", *rows]))
    return "\n\n".join(parts) + "\n"


def counts(sections: Sequence[PaperSection]) -> tuple[int, int]:
    """How many statements have claims, and how many a reason instead."""
    statements = [entry for one in sections for entry in one.statements]
    covered = sum(bool(entry.claims) for entry in statements)
    return covered, len(statements) - covered


HEAD = """\
# The papers, section by section

Every numbered statement, remark with mathematical content, figure, table and cited bound of the papers, with the claims
of the ledger that stand for it, or the reason why there is none. [How a claim is judged](claims.md) explains the
ledger; the report of a study shows the same lists with the status of every claim. The page is written by
`python -m pipeline_lib coverage --page docs/coverage.md` from the files `pipeline_lib/papers/*/sections.yaml`."""


def _answer(entry: Statement) -> str:
    return ", ".join(f"`{name}`" for name in entry.claims) or entry.reason


def _section(entry: dict[str, Any]) -> PaperSection:
    statements = tuple(
        Statement(one["what"], one["says"], tuple(one.get("claims", ())), one.get("reason", ""))
        for one in entry["statements"]
    )
    return PaperSection(entry["section"], entry["title"], statements)


def _explained(error: Any, document: Any) -> str:
    """Say in which section and statement a schema error is."""
    parts, words = list(error.absolute_path), []
    entry = document
    for part in parts:
        entry = entry[part]
        if isinstance(entry, dict):
            words.append(str(entry.get("what") or entry.get("section") or f"entry {part + 1}"))
    place = ": ".join(filter(None, [" / ".join(words), str(parts[-1]) if parts and isinstance(parts[-1], str) else ""]))
    message = "expected either `claims` or `reason`" if error.validator == "oneOf" else error.message
    return f"{place}: {message}" if place else message
