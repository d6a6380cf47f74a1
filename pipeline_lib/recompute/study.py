"""What a finished study left in its folders: tables, slices, settings, evaluations, and its judged claims."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import polars as pl
import yaml

from pipeline_lib.core import storage

PAPERS = Path(__file__).parents[1] / "papers"
"""Where the ledgers and the declarations of tables are, which are read as text."""
Frames = dict[Path, pl.DataFrame]


@dataclass(frozen=True)
class Study:
    """A folder of results, and that of the report about them."""

    results: Path
    report: Path
    _read: Frames = field(default_factory=dict, init=False, repr=False, compare=False)

    def read(self, path: Path) -> pl.DataFrame:
        """The rows of a stored table, which is read once."""
        if path not in self._read:
            self._read[path] = storage.read_table(path)
        return self._read[path]

    def has(self, table: str) -> bool:
        """Whether the study has a table with rows."""
        path = self.results / "tables" / f"{table}.parquet"
        return path.is_file() and not self.read(path).is_empty()

    def table(self, name: str) -> pl.DataFrame:
        """A table of the study."""
        return self.read(self.results / "tables" / f"{name}.parquet")

    def slices(self, name: str) -> pl.DataFrame:
        """The rows of all slices of a name, in the order of their files."""
        return pl.concat([self.read(path) for path in sorted((self.results / "slices" / name).rglob("*.parquet"))])

    def evaluations(self) -> list[pl.DataFrame]:
        """The measures of every model, query by query."""
        found = map(self.read, sorted((self.results / "evaluation").rglob("*.parquet")))
        return [frame for frame in found if not frame.is_empty()]

    @cached_property
    def tables(self) -> list[str]:
        """The names of all tables."""
        return sorted(path.stem for path in (self.results / "tables").glob("*.parquet"))

    @cached_property
    def configuration(self) -> Mapping[str, Any]:
        """The settings of the study, with those that have their default."""
        found: Mapping[str, Any] = plain(self.results / "configuration.yaml")
        return found

    def settings(self, table: str) -> Mapping[str, Any]:
        """The settings of the experiment that declares a table; none where it has none."""
        found: Mapping[str, Any] = self.configuration["experiments"]
        for name in self._declared[table]:
            found = found.get(name, {})
        return found

    @cached_property
    def _declared(self) -> Mapping[str, tuple[str, str]]:
        """Table -> paper and topic, as the code of the topics names its tables."""
        return {
            table: (path.parts[-3], path.parts[-2])
            for path in PAPERS.glob("*/*/*.py")
            for table in re.findall(r'"tables/([\w-]+)"', path.read_text(encoding="utf-8"))
        }

    @cached_property
    def claims(self) -> list[Mapping[str, Any]]:
        """The judged claims, as ``claims.json`` has them."""
        found: list[Mapping[str, Any]] = json.loads(storage.read_text(self.report / "claims.json"))["claims"]
        return found


def plain(path: Path) -> Any:
    """YAML as it is written, with nothing read into it."""
    return yaml.load(storage.read_text(path), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
