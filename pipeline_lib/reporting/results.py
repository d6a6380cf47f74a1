"""What did a study leave in its results folder?

One class reads everything a report needs from ``results/<study>/``, checks columns and numbers at the door, and gives
plain rows, so that the rest of the reporting knows neither Parquet nor polars.
"""

from __future__ import annotations

import csv
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from pipeline_lib import schemas, storage
from pipeline_lib.errors import DataError

Row = Mapping[str, Any]

COLUMNS: Mapping[str, tuple[str, ...]] = {
    "tables/measures.parquet": ("dataset", "model", "fold", "measure", "value", "n_queries"),
    "tables/summary.parquet": ("dataset", "model", "measure", "mean", "sd", "low", "high", "n_folds", "n_queries"),
    "tables/comparisons.parquet": (
        *("dataset", "measure", "model_a", "model_b"),
        *("difference", "low", "high", "p_value", "p_holm"),
    ),
    "tables/training.parquet": (
        *("dataset", "model", "fold", "algorithm", "surrogate", "l2", "objective", "gap", "relative_gap"),
        *("certified", "certificate", "iterations", "validation_value", "selection"),
    ),
    "tables/published.parquet": ("dataset", "model", "fold", "measure", "published", "measured", "delta", "source"),
    "tables/certificates.parquet": (
        *("dataset", "model", "fold", "bound", "place", "risk", "deviation", "empirical_risk", "largest_loss"),
        *("n", "delta", "informative", "informative_from", "reason"),
    ),
    "tables/validation.parquet": ("dataset", "model", "fold", "l2", "measure", "value"),
    "tables/weights.parquet": ("dataset", "model", "fold", "feature", "weight"),
}
"""The tables the main report reads, and the columns it needs; further columns are welcome."""

MAY_BE_NULL = frozenset(
    {"surrogate", "l2", "objective", "gap", "relative_gap", "certified", "certificate", "iterations"}
    | {"norm", "validation_value", "selection", "sd", "p_holm", "p_value", "fold"}
    | {"bound", "place", "risk", "deviation", "empirical_risk", "largest_loss", "n", "delta", "informative"}
    | {"informative_from", "reason"}
)
"""Columns in which a missing value has a meaning: an algorithm without an objective, one fold without a deviation."""


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
    def at(cls, path: str | os.PathLike[str]) -> ResultsFolder:
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

    def rows(self, name: str, columns: Sequence[str] | None = None) -> list[Row]:
        """Read a Parquet table as rows, or no rows when it is absent.

        ``columns`` are the columns that must be there; for the tables in :data:`COLUMNS` they are known.

        Raises
        ------
        DataError
            When a column is missing or a number is NaN or infinite; the message names table, row and column.
        DamagedFileError
            When the table is not as it was written.
        """
        path = self.path / name
        if not path.exists():
            return []
        frame = storage.read_table(path)
        needed = COLUMNS.get(name, ()) if columns is None else columns
        missing = [column for column in needed if column not in frame.columns]
        if missing:
            raise DataError(f"{path}: expected the columns {list(needed)}, found no {missing[0]!r}")
        rows: list[Row] = list(frame.iter_rows(named=True))
        for number, row in enumerate(rows):
            check_row(str(path), number, row, needed)
        return rows

    def availability(self) -> list[Row]:
        """Read ``availability.json``: every data set the study asked for, and whether it was there."""
        found: list[Row] = self._json("availability.json").get("datasets", [])
        _check_keys(self.path / "availability.json", found, ("dataset", "status", "reason", "how_to_get"))
        return found

    def models(self) -> list[Row]:
        """Read ``models.json``: what every model is. ``description`` and ``options`` may be absent."""
        found: list[Row] = self._json("models.json").get("models", [])
        keys = ("model", "title", "algorithm", "surrogate", "control", "settings")
        _check_keys(self.path / "models.json", found, keys)
        return found

    def changes(self) -> list[Row]:
        """Read ``changes.json``: the settings that are not at their defaults."""
        found: list[Row] = self._json("changes.json").get("changes", [])
        _check_keys(self.path / "changes.json", found, ("setting", "default", "value", "description"))
        return found

    def datasets(self) -> list[Row]:
        """Read ``data/<dataset>.json`` for every data set, in the order of ``availability.json``, then by name."""
        order = {entry["dataset"]: i for i, entry in enumerate(self.availability())}
        paths = sorted((self.path / "data").glob("*.json"), key=lambda path: (order.get(path.stem, len(order)), path))
        found: list[Row] = [self._json(f"data/{path.name}") for path in paths]
        keys = (
            *("dataset", "title", "licence", "citation", "rows", "queries", "features", "labels"),
            *("documents_per_query", "queries_without_relevant", "parts", "expected", "folds"),
        )
        for path, entry in zip(paths, found, strict=True):
            _check_keys(path, [entry], keys)
        return found

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


def _check_keys(path: Path, entries: Sequence[Any], keys: Sequence[str]) -> None:
    for entry in entries:
        missing = [key for key in keys if not isinstance(entry, Mapping) or key not in entry]
        if missing:
            raise DataError(f"{path}: expected the keys {list(keys)}, found no {missing[0]!r}")


def check_row(table: str, number: int, row: Row, needed: Sequence[str] = ()) -> None:
    """Raise a DataError when a number is NaN or infinite, or a value is missing that ``needed`` says must be there.

    Example
    -------
    >>> check_row("regret", 3, {"T": 10, "loss": float("nan")})
    Traceback (most recent call last):
    ...
    pipeline_lib.errors.DataError: regret: row 3, column loss: expected a finite number, found nan
    """
    for column, value in row.items():
        if isinstance(value, float) and not math.isfinite(value):
            raise DataError(f"{table}: row {number}, column {column}: expected a finite number, found {value}")
        if value is None and column in needed and column not in MAY_BE_NULL:
            raise DataError(f"{table}: row {number}, column {column}: expected a value, found none")
