"""Pages of papers built from a few made rows, for the tests of their numbers and of their branches."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl

from pipeline_lib import storage
from pipeline_lib.claims import ledger
from pipeline_lib.claims.judged import JudgedClaim, JudgedStudy
from pipeline_lib.papers import get
from pipeline_lib.reporting import page
from pipeline_lib.reporting.blocks import Section
from pipeline_lib.reporting.markdown import Prose
from pipeline_lib.reporting.results import ResultsFolder
from pipeline_lib.reporting.tables import Table

Tables = dict[str, list[dict[str, Any]]]


def built(folder: Path, paper: str, tables: Tables, **statuses: str) -> Section | None:
    """The page of a paper from some tables; ``statuses`` says what claims (PAPER_ID as ID) came to, else verified."""
    study = folder / f"study{len(list(folder.iterdir()))}"
    (study / "tables").mkdir(parents=True)
    for name, rows in tables.items():
        storage.write_table(study / "tables" / f"{name}.parquet", pl.DataFrame(rows))
    claims = []
    for claim in ledger.load([get(paper)]):
        status: Any = statuses.get(claim.id.removeprefix(f"{paper}-").replace("-", "_"), "verified")
        claims.append(JudgedClaim(claim.id, paper, claim.kind, "", "", "", "", status, "", (), "", ()))
    return page.build(paper, ResultsFolder.at(study), JudgedStudy("study", tuple(claims), {}))


def prose(section: Section | None, part: str = "") -> str:
    """The running text of a part, or of all parts."""
    assert section is not None
    parts = [one for one in section.subsections() if part in ("", one.id)]
    return " ".join(block.html for one in parts for block in one.blocks if isinstance(block, Prose))


def shown(section: Section | None, table: str) -> list[list[str]]:
    """The cells of a table as they are shown."""
    assert section is not None
    [found] = [
        block
        for part in section.subsections()
        for block in part.blocks
        if isinstance(block, Table) and block.name == table
    ]
    return [[cell.text for cell in row] for row in found.rows()]
