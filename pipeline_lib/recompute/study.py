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
        """Whether the study has a table with rows; tables that a former configuration left are none of it."""
        return table in self.tables and not self.table(table).is_empty()

    def table(self, name: str) -> pl.DataFrame:
        """A table of the study."""
        return self.read(self.results / "tables" / f"{name}.parquet")

    def slices(self, name: str) -> pl.DataFrame:
        """The rows of all slices of a name that belong to the study, in the order of their files."""
        settings = self.settings(name, "slices")
        paths = sorted((self.results / "slices" / name).rglob("*.parquet"))
        return pl.concat([self.read(path) for path in paths if self._is_slice(name, path, settings)])

    def _is_slice(self, name: str, path: Path, settings: Mapping[str, Any]) -> bool:
        """Whether it is no slice that a former configuration left."""
        if "slices" in settings:
            return int(path.stem) < settings["slices"]
        if "parts" in settings:
            other, _, part = path.stem.rpartition("-")
            losses = [one["name"] for one in settings.get("losses", ())] or [other]
            return int(part) < settings["parts"] and other in losses
        inner = path.relative_to(self.results / "slices" / name)
        return any(inner.parts[0] == one or path.stem.startswith(f"{one}-") for one in self.datasets)

    def evaluations(self) -> list[pl.DataFrame]:
        """The measures of every model of the study, query by query."""
        paths = [
            path for one in self.datasets for path in sorted((self.results / "evaluation" / one).glob("*.parquet"))
        ]
        models = {one["model"] for one in storage.read_json(self.results / "models.json")["models"]}
        return [frame for path in paths if path.stem in models and not (frame := self.read(path)).is_empty()]

    @cached_property
    def datasets(self) -> list[str]:
        """The data sets that the study has."""
        listed = storage.read_json(self.results / "availability.json")["datasets"]
        return sorted(one["dataset"] for one in listed if one["status"] != "missing")

    @cached_property
    def tables(self) -> list[str]:
        """The names of all tables of the study."""
        names = sorted(path.stem for path in (self.results / "tables").glob("*.parquet"))
        papers = self.configuration["experiments"]
        return [name for name in names if self._declared.get(f"tables/{name}", (None,))[0] in (None, *papers)]

    @cached_property
    def configuration(self) -> Mapping[str, Any]:
        """The settings of the study, with those that have their default."""
        found: Mapping[str, Any] = plain(self.results / "configuration.yaml")
        return found

    def settings(self, table: str, folder: str = "tables") -> Mapping[str, Any]:
        """The settings of the experiment that declares a table, or slices; none where it has none."""
        found: Mapping[str, Any] = self.configuration["experiments"]
        for name in self._declared[f"{folder}/{table}"]:
            found = found.get(name, {})
        return found

    @cached_property
    def _declared(self) -> Mapping[str, tuple[str, str]]:
        """Table or slices, with the folder -> paper and topic, as the code of the topics names its tables."""
        return {
            table: (path.parts[-3], path.parts[-2])
            for path in PAPERS.glob("*/*/*.py")
            for table in re.findall(r'"((?:tables|slices)/[\w-]+)', path.read_text(encoding="utf-8"))
        }

    @cached_property
    def claims(self) -> list[Mapping[str, Any]]:
        """The judged claims, as ``claims.json`` has them."""
        found: list[Mapping[str, Any]] = json.loads(storage.read_text(self.report / "claims.json"))["claims"]
        return found


def plain(path: Path) -> Any:
    """YAML as it is written, with nothing read into it."""
    return yaml.load(storage.read_text(path), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
