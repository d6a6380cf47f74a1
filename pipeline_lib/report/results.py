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
    """What a job took: its rule, its time in seconds, and its memory in MB; 0 where it ended before it was measured."""

    rule: str
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

    def listed(self, name: str) -> list[Row]:
        """Read ``availability.json``, every data set the study asked for, ``models.json`` or ``changes.json``."""
        return list(self._json(f"{name}.json").get("datasets" if name == "availability" else name, []))

    def datasets(self) -> list[Row]:
        """Read ``data/<dataset>.json`` for every data set, in the order of ``availability.json``, then by name."""
        order = {entry["dataset"]: i for i, entry in enumerate(self.listed("availability"))}
        names = sorted(path.stem for path in (self.path / "data").glob("*.json"))
        return [self._json(f"data/{name}.json") for name in sorted(names, key=lambda name: order.get(name, len(order)))]

    @cached_property
    def costs(self) -> list[JobCost]:
        """Read what every job of the study took, from ``benchmarks/``, in the order of the rules."""
        folder, found = self.path / "benchmarks", []
        for path in sorted(folder.rglob("*.tsv")):
            rule = path.relative_to(folder).parts[0].removesuffix(".tsv")
            with path.open(newline="", encoding="utf-8") as file:
                for row in csv.DictReader(file, delimiter="\t"):
                    # Not the column cpu_time, which lacks what a job did after its last sample: up to half a minute.
                    memory = row.get("max_rss") or ""
                    known = memory.replace(".", "").isdigit()
                    found.append(JobCost(rule, float(row["s"]), float(memory) if known else 0.0))
        return found

    def provenance(self) -> Row:
        """Read ``provenance.json``, or nothing when it is absent."""
        return self._json("provenance.json")

    def configuration(self) -> str:
        """Read the text of ``configuration.yaml``, or nothing when it is absent."""
        path = self.path / "configuration.yaml"
        return path.read_text(encoding="utf-8") if path.exists() else ""

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
