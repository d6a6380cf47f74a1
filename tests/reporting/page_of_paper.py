"""The page of one paper, built from rows of its tables, and what it says and shows."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl
from jinja2 import BytecodeCache
from jinja2.bccache import Bucket

from pipeline_lib import experiment, papers, storage
from pipeline_lib.claims import ledger
from pipeline_lib.claims.judged import JudgedClaim, JudgedStudy
from pipeline_lib.claims.ledger import Claim
from pipeline_lib.claims.words import Status
from pipeline_lib.reporting import page
from pipeline_lib.reporting.blocks import Block, Details, Section
from pipeline_lib.reporting.figures import Figure
from pipeline_lib.reporting.markdown import Prose
from pipeline_lib.reporting.page import PaperPages
from pipeline_lib.reporting.results import ResultsFolder
from pipeline_lib.reporting.tables import Table

Rows = Sequence[Mapping[str, Any]]
Tables = dict[str, list[dict[str, Any]]]
Build = Callable[..., Section | None]


class Compiled(BytecodeCache):
    """The templates that were compiled in this process: many pages are built of the same ones."""

    def __init__(self) -> None:
        self._code: dict[str, bytes] = {}

    def load_bytecode(self, bucket: Bucket) -> None:
        if bucket.key in self._code:
            bucket.bytecode_from_string(self._code[bucket.key])

    def dump_bytecode(self, bucket: Bucket) -> None:
        self._code[bucket.key] = bucket.bytecode_to_string()


def _environment(folder: Path, shown: Callable[[Any], Any]) -> Any:
    environment = ENVIRONMENT(folder, shown)
    environment.bytecode_cache = COMPILED
    return environment


COMPILED, ENVIRONMENT = Compiled(), page._environment
page._environment = _environment


@cache
def claims_of(paper: str) -> tuple[Claim, ...]:
    """The claims of one paper, read and checked once."""
    return tuple(ledger.load([papers.get(paper)]))


def build(folder: Path, paper: str, tables: Mapping[str, Rows], statuses: Mapping[str, Any] = {}) -> Section | None:
    """Write the tables as the paper declares them, without values where a row has none, and build its page.

    A table for every data set is called after the data set "made". Claims without a status are verified.
    """
    study = folder / f"study{len(list(folder.iterdir()))}"
    (study / "tables").mkdir(parents=True)
    steps = [step for *_, step in papers.steps([paper])]
    declared = {name.replace("{dataset}", "made"): columns for step in steps for name, columns in step.tables.items()}
    for name, rows in tables.items():
        path = study / "tables" / f"{name}.parquet"
        columns = declared.get(f"tables/{name}")
        if columns is None:  # a table of the study, such as that of its trainings
            storage.write_table(path, pl.DataFrame(rows))
        else:
            complete = [{column: row.get(column) for column in columns} for row in rows]
            experiment.write({f"tables/{name}": columns}, [path], experiment.Outcome([complete]))
    judged = [
        JudgedClaim(
            claim.id, paper, claim.kind, "", "", "", "", statuses.get(claim.id, "verified"), "", None, (), "", ()
        )
        for claim in claims_of(paper)
    ]
    return PaperPages(ResultsFolder.at(study), JudgedStudy("study", tuple(judged), {})).story(paper)


def builder(folder: Path, paper: str, claims: str) -> Build:
    """:func:`build` for one paper; ``m_free="refuted"`` is the status of the claim ``claims`` + "m-free"."""

    def built(tables: Mapping[str, Rows], **statuses: Status) -> Section | None:
        return build(folder, paper, tables, {claims + name.replace("_", "-"): one for name, one in statuses.items()})

    return built


def blocks(section: Section | None, part: str = "") -> list[Block]:
    """All blocks of one part, or of all, also those that open on request."""
    assert section is not None
    within = [block for one in section.subsections() if part in ("", one.id) for block in one.blocks]
    return within + [inner for block in within if isinstance(block, Details) for inner in block.blocks]


def prose(section: Section | None, part: str = "") -> str:
    """The running text of one part, or of all, as HTML on one line."""
    return " ".join(" ".join(block.html for block in blocks(section, part) if isinstance(block, Prose)).split())


def wording(section: Section | None) -> str:
    """The prose without its numbers."""
    return re.sub(r"[\d.,−-]+", "", prose(section))


def shown(section: Section | None, name: str) -> list[list[str]]:
    """The cells of a table as they are shown, row after row."""
    [table] = [block for block in blocks(section) if isinstance(block, Table) and block.name == name]
    return [[cell.text for cell in row] for row in table.rows()]


def raw(section: Section | None, name: str) -> list[list[Any]]:
    """The values of a table, row after row."""
    [table] = [block for block in blocks(section) if isinstance(block, Table) and block.name == name]
    return [[cell.raw for cell in row] for row in table.rows()]


def figures(section: Section | None) -> list[Figure]:
    """The figures of all parts."""
    return [block for block in blocks(section) if isinstance(block, Figure)]
