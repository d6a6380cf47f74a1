"""What claims read from the rows of tables: for tests of experiments, which compute rows and no study."""

import functools
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl
from pydantic import TypeAdapter

from pipeline_lib import papers
from pipeline_lib.claims import ledger
from pipeline_lib.claims.kinds import AnyCheck
from pipeline_lib.claims.ledger import Claim
from pipeline_lib.claims.trials import Trial
from pipeline_lib.claims.verdicts import Check
from pipeline_lib.core import storage
from pipeline_lib.data.rows import schema

Tables = Mapping[str, Sequence[Mapping[str, Any]]]


@functools.cache
def ledger_of_claims() -> tuple[Claim, ...]:
    """The ledger, read once."""
    return tuple(ledger.load())


def papers_in_order() -> list[str]:
    """The papers that put topics in order; one that was added as docs/adding-a-paper.md says puts none."""
    return [paper.name for paper in papers.every() if paper.ordered]


class _Added(papers.Paper):
    @property
    def ledger(self) -> list[Path]:
        """The claims of topics that ``paper.toml`` does not put in order."""
        return [self.folder / path for path in self.added("claims.yaml")]


@functools.cache
def added_claims() -> frozenset[str]:
    """The claims of topics that were added as docs/adding-an-experiment.md says, and of papers added likewise.

    Records, certificates and the sections of a paper may do without them.
    """
    return frozenset(claim.id for claim in ledger.load(_Added(**vars(paper)) for paper in papers.every()))


def check_of(entry: Mapping[str, Any] | str) -> Check:
    """The check that an entry under ``rule`` describes."""
    return TypeAdapter[Check](AnyCheck).validate_python(entry)


def trials(claim: str, tables: Tables, settings: Mapping[str, Any] | None = None) -> list[Trial]:
    """The trials of a claim in tables given as rows under the names that the claim uses."""
    return [trial for trials, _ in _read(claim, tables, settings) for trial in trials]


def notes(claim: str, tables: Tables, settings: Mapping[str, Any] | None = None) -> str:
    """The notes of a claim on such tables."""
    return " ".join(noted for _, noted in _read(claim, tables, settings) if noted)


def judged(claim: str, tables: Tables, settings: Mapping[str, Any], folder: Path) -> ledger.JudgedClaim:
    """A claim, judged on such tables of one experiment, and all that is planted into them.

    Settings that are not given have their defaults, here and in the other functions.
    """
    [found] = [one for one in ledger_of_claims() if one.id == claim]
    paths, used = [], {}
    for name, one in papers.experiments(found.paper).items():
        for table, row in one.tables.items():
            if (rows := tables.get(table.removeprefix("tables/"))) is not None:
                used[name] = {**one.settings().plain(), **settings}
                paths.append(folder / f"{table}.parquet")
                paths[-1].parent.mkdir(parents=True, exist_ok=True)
                storage.write_table(paths[-1], pl.DataFrame(rows, schema=schema(row)))
    [judgement] = ledger.judge([found], ledger.Context("made", tables=paths, settings={found.paper: used}))
    return judgement


def decided(claim: str, tables: Tables, settings: Mapping[str, Any], folder: Path) -> tuple[str, list[str]]:
    """The status of a claim on such tables, and the names of what is planted into them and not noticed."""
    found = judged(claim, tables, settings, folder)
    assert found.severity is not None
    assert found.severity.planted
    return found.status, [plant.name for plant in found.severity.missed]


def _read(claim: str, tables: Tables, settings: Mapping[str, Any] | None) -> list[tuple[list[Trial], str]]:
    [found] = [one for one in ledger_of_claims() if one.id == claim]
    declared = {
        table.removeprefix("tables/"): (schema(row), one.settings().plain())
        for one in papers.experiments(found.paper).values()
        for table, row in one.tables.items()
    }
    return [
        reading.trials(
            f"tables/{reading.table}.parquet",
            pl.DataFrame(tables[reading.table], schema=declared[reading.table][0]),
            {**declared[reading.table][1], **(settings or {})},
        )
        for reading in found.readings
    ]


def values(claim: str, name: str, tables: Tables) -> list[Any]:
    """One value of all trials that have it."""
    return [trial.values[name] for trial in trials(claim, tables) if name in trial.values]
