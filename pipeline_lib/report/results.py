"""What did a study leave in its results folder?

One class reads everything a report needs from ``results/<study>/``, checks numbers at the door, and gives plain
rows, so that the rest of the report knows neither Parquet nor polars.
"""

import csv
import math
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from pipeline_lib.core import schemas, storage
from pipeline_lib.core.errors import DataError

Row = Mapping[str, Any]


class JobCost(NamedTuple):
    """What one job took: its name with its axes, seconds of wall time, and the largest memory in MB."""

    name: str
    seconds: float
    megabytes: float


@dataclass(frozen=True)
class ResultsFolder:
    """``results/<study>/``, read lazily; whatever is optional and absent comes back empty."""

    path: Path

    @classmethod
    def at(cls, path: str | os.PathLike[str]) -> "ResultsFolder":
        """Take the folder of one study.

        Raises
        ------
        DataError
            When there is no such folder.
        """
        folder = Path(path)
        if not folder.is_dir():
            raise DataError(f"{folder}: expected the results folder of a study, found none; run the study first")
        return cls(folder)

    @property
    def study(self) -> str:
        """The study's name: the folder's."""
        return self.path.resolve().name

    def rows(self, name: str) -> list[Row]:
        """Read a Parquet table as rows, or no rows when it is absent.

        Raises
        ------
        DataError
            When a number is NaN or infinite; the message names table, row and column.
        DamagedFileError
            When the table is not as it was written.
        """
        path = self.path / name
        return list(checked(storage.read_table(path), str(path))) if path.exists() else []

    def availability(self) -> list[Row]:
        """Read ``availability.json``: every data set the study asked for, and whether it was there."""
        return list(self._json("availability.json").get("datasets", []))

    def models(self) -> list[Row]:
        """Read ``models.json``: what every model is. ``description`` and ``options`` may be absent."""
        return list(self._json("models.json").get("models", []))

    def changes(self) -> list[Row]:
        """Read ``changes.json``: the settings that are not at their defaults."""
        return list(self._json("changes.json").get("changes", []))

    def datasets(self) -> list[Row]:
        """Read ``data/<dataset>.json`` for every data set, in the order of ``availability.json``, then by name."""
        order = {entry["dataset"]: i for i, entry in enumerate(self.availability())}
        names = sorted(path.stem for path in (self.path / "data").glob("*.json"))
        return [self._json(f"data/{name}.json") for name in sorted(names, key=lambda name: order.get(name, len(order)))]

    def provenance(self) -> Row:
        """Read ``provenance.json``, or nothing when it is absent."""
        return self._json("provenance.json")

    def benchmarks(self) -> list[JobCost]:
        """What each job of the study took, as Snakemake recorded it in ``benchmarks/``; the last run counts."""
        folder = self.path / "benchmarks"
        found = []
        for path in sorted(folder.rglob("*.tsv")):
            with path.open(encoding="utf-8") as file:
                runs = list(csv.DictReader(file, delimiter="\t"))
            if runs:
                name = path.relative_to(folder).with_suffix("").as_posix()
                found.append(JobCost(name, _measured(runs[-1].get("s")), _measured(runs[-1].get("max_rss"))))
        return found

    def configuration(self) -> str:
        """Read the text of ``configuration.yaml``, or nothing when it is absent."""
        path = self.path / "configuration.yaml"
        return path.read_text(encoding="utf-8") if path.exists() else ""

    def title(self) -> str | None:
        """The study's own title, or ``None`` when the configuration gives it none."""
        given = self.configured.get("title")
        return given if isinstance(given, str) else None

    def setting(self, section: str, key: str) -> Any:
        """Look up one value of the configuration, or ``None`` when it does not say."""
        part = self.configured.get(section)
        return part.get(key) if isinstance(part, Mapping) else None

    @cached_property
    def configured(self) -> Mapping[str, Any]:
        path = self.path / "configuration.yaml"
        found = schemas.load(path, "a configuration") if path.exists() else None
        return found if isinstance(found, Mapping) else {}

    def _json(self, name: str) -> dict[str, Any]:
        path = self.path / name
        return storage.read_json(path) if path.exists() else {}


def _measured(written: str | None) -> float:
    """A number of a benchmark; 0 where a job was too short to be measured."""
    try:
        return float(written or 0)
    except ValueError:
        return 0.0


def checked(frame: pl.DataFrame, table: str) -> Iterator[dict[str, Any]]:
    """The rows of a table; DataError when a number is NaN or infinite.

    Example
    -------
    >>> import polars as pl
    >>> list(checked(pl.DataFrame({"T": [10], "loss": [float("nan")]}), "regret"))
    Traceback (most recent call last):
    ...
    pipeline_lib.core.errors.DataError: regret: row 0, column loss: expected a finite number, found nan
    """
    for number, row in enumerate(frame.iter_rows(named=True)):
        for column, value in row.items():
            if isinstance(value, float) and not math.isfinite(value):
                raise DataError(f"{table}: row {number}, column {column}: expected a finite number, found {value}")
        yield row
