"""The page of one paper, built from rows of its tables, and what it says and shows."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pipeline_lib import experiment, papers
from pipeline_lib.claims.judged import JudgedClaim, JudgedStudy
from pipeline_lib.claims.words import Status
from pipeline_lib.reporting import page
from pipeline_lib.reporting.blocks import Block, Details, Section
from pipeline_lib.reporting.figures import Figure
from pipeline_lib.reporting.markdown import Prose
from pipeline_lib.reporting.results import ResultsFolder
from pipeline_lib.reporting.tables import Table

Rows = Sequence[Mapping[str, Any]]


def build(folder: Path, paper: str, tables: Mapping[str, Rows], statuses: Mapping[str, Status]) -> Section | None:
    """Write the tables as the paper declares them, without values where a row has none, and build its page.

    A table for every data set is called after the data set "made". Claims without a status are verified.
    """
    study = folder / f"study{len(list(folder.iterdir()))}"
    (study / "tables").mkdir(parents=True)
    steps = [step for *_, step in papers.steps([paper])]
    declared = {name.replace("{dataset}", "made"): columns for step in steps for name, columns in step.tables.items()}
    for name, rows in tables.items():
        columns = declared[f"tables/{name}"]
        complete = [{column: row.get(column) for column in columns} for row in rows]
        path = study / "tables" / f"{name}.parquet"
        experiment.write({f"tables/{name}": columns}, [path], experiment.Outcome([complete]))
    judged = [
        JudgedClaim(name, paper, "bound", "", "", "", "", statuses.get(name, "verified"), "", (), "", ())
        for step in steps
        for name in step.claims
    ]
    return page.build(paper, ResultsFolder.at(study), JudgedStudy("study", tuple(judged), {}))


def blocks(section: Section | None) -> list[Block]:
    """All blocks of all parts, also those that open on request."""
    assert section is not None
    within = [block for part in section.subsections() for block in part.blocks]
    return within + [inner for block in within if isinstance(block, Details) for inner in block.blocks]


def prose(section: Section | None) -> str:
    """The running text of all parts, as HTML on one line."""
    return " ".join(block.html for block in blocks(section) if isinstance(block, Prose)).replace("\n", " ")


def wording(section: Section | None) -> str:
    """The prose without its numbers."""
    return re.sub(r"[\d.,−-]+", "", prose(section))


def raw(section: Section | None, name: str) -> list[list[Any]]:
    """The values of a table, row after row."""
    [table] = [block for block in blocks(section) if isinstance(block, Table) and block.name == name]
    return [[cell.raw for cell in row] for row in table.rows()]


def figures(section: Section | None) -> list[Figure]:
    """The figures of all parts."""
    return [block for block in blocks(section) if isinstance(block, Figure)]
