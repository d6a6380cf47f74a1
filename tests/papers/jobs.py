"""Jobs of experiments that are handed their inputs and read no files, and what steps yield, as tables."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pipeline_lib.data.ranking_data import RankingData
from pipeline_lib.data.rows import Row
from pipeline_lib.experiment import Job


@dataclass(frozen=True)
class Given(Job):
    """A job with its data sets and the rows of earlier steps."""

    data: Mapping[str, RankingData] = field(default_factory=dict)
    earlier: Iterable[Row] = ()

    def datasets(self) -> dict[str, RankingData]:
        return dict(self.data)

    def rows(self, table: Any) -> list[Any]:
        return of(table, self.earlier)


def of(kind: type[Row], rows: Iterable[Row]) -> list[Any]:
    """The rows of one class."""
    return [row for row in rows if isinstance(row, kind)]


def tables(rows: Iterable[Row]) -> dict[str, list[dict[str, Any]]]:
    """Rows as the tables that claims read, by name."""
    found: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        name = type(row).table.removeprefix("tables/").removeprefix("slices/").partition("/")[0]
        found.setdefault(name, []).append(row.plain())
    return found
