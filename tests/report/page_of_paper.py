"""The page of one paper, built from rows of its tables, and what it says and shows."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, get_args

import polars as pl

from pipeline_lib import papers
from pipeline_lib.claims import ledger
from pipeline_lib.claims.judged import JudgedClaim, JudgedStudy, JudgedTrial
from pipeline_lib.claims.ledger import Claim
from pipeline_lib.claims.words import Status
from pipeline_lib.core import storage
from pipeline_lib.data.rows import Row, columns, schema
from pipeline_lib.report.blocks import Block, Details, Prose, Section
from pipeline_lib.report.figures import Figure
from pipeline_lib.report.page import PaperPages
from pipeline_lib.report.results import ResultsFolder
from pipeline_lib.report.tables import Cell, Table

Rows = Sequence[Mapping[str, Any]]
Tables = dict[str, list[dict[str, Any]]]
Build = Callable[..., Section | None]


@cache
def claims_of(paper: str) -> tuple[Claim, ...]:
    """The claims of one paper, read and checked once."""
    return tuple(ledger.load([papers.get(paper)]))


def judged(claim: Claim, status: Status, trials: Iterable[JudgedTrial] = ()) -> JudgedClaim:
    """A claim with a status and trials, of which nothing else is known."""
    about = (claim.id, claim.paper, claim.kind, claim.where, claim.says, claim.words or "", claim.shows, "")
    return JudgedClaim(*about, status, "", None, (), "", tuple(trials))


def build(folder: Path, paper: str, tables: Mapping[str, Rows], statuses: Mapping[str, Any] = {}) -> Section | None:
    """Write the tables as the paper declares them, and build its page.

    A value that is not given is missing where the column allows it, that of its interval for an end of one, and else 1.
    A table for every data set is called after the data set "made". Claims without a status are verified.
    """
    study = folder / f"study{len(list(folder.iterdir()))}"
    (study / "tables").mkdir(parents=True)
    steps = [step for *_, step in papers.steps([paper])]
    declared = {name.replace("{dataset}", "made"): row for step in steps for name, row in step.tables.items()}
    for name, rows in tables.items():
        path = study / "tables" / f"{name}.parquet"
        row = declared.get(f"tables/{name}")
        if row is None:  # a table of the study, such as that of its trainings
            storage.write_table(path, pl.DataFrame(rows))
        else:
            storage.write_table(path, pl.DataFrame([completed(row, given) for given in rows], schema=schema(row)))
    claims = tuple(judged(claim, statuses.get(claim.id, "verified")) for claim in claims_of(paper))
    return PaperPages(ResultsFolder.at(study), JudgedStudy("study", claims, {})).story(paper)


def completed(row: type[Row], given: Mapping[str, Any]) -> dict[str, Any]:
    """The values of all columns of a row."""
    unknown = given.keys() - schema(row).keys()
    assert not unknown, f"{row.__name__} has no columns {unknown}"
    values: dict[str, Any] = {}
    for column in columns(row):
        optional = type(None) in get_args(row.model_fields[column.field].annotation)
        value = values[column.field] if column.part in ("low", "high") else None if optional else column.kind(1)
        values[column.name] = given.get(column.name, value)
    return values


def builder(folder: Path, paper: str) -> Build:
    """:func:`build` for one paper; ``m_free="refuted"`` is the status of its claim "m-free"."""

    def built(tables: Mapping[str, Rows], **statuses: Status) -> Section | None:
        given = {f"{paper}-{name.replace('_', '-')}": one for name, one in statuses.items()}
        return build(folder, paper, tables, given)

    return built


def blocks(section: Section | None, part: str = "") -> list[Block]:
    """All blocks of one part, or of all, also those that open on request."""
    assert section is not None
    within = [block for one in section.subsections() if part in ("", one.id) for block in one.blocks]
    return within + [inner for block in within if isinstance(block, Details) for inner in block.blocks]


def prose(section: Section | None, part: str = "") -> str:
    """The running text of one part, or of all, as HTML on one line."""
    return " ".join(" ".join(block.html for block in blocks(section, part) if isinstance(block, Prose)).split())


def cells(section: Section | None, name: str) -> list[tuple[Cell, ...]]:
    """The cells of a table, row after row."""
    [table] = [block for block in blocks(section) if isinstance(block, Table) and block.name == name]
    return table.rows()


def raw(section: Section | None, name: str) -> list[list[Any]]:
    """The values of a table, row after row."""
    return [[cell.raw for cell in row] for row in cells(section, name)]


def figures(section: Section | None) -> list[Figure]:
    """The figures of all parts."""
    return [block for block in blocks(section) if isinstance(block, Figure)]
