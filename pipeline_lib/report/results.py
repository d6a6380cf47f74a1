"""What did a study leave in its results folder?

One class reads everything a report needs from ``results/<study>/``, checks numbers at the door, and gives plain
rows, so that the rest of the report knows neither Parquet nor polars. What an earlier configuration left there, such as
the description of a data set that was removed from the study, is passed over.
"""

import csv
import math
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from pipeline_lib import papers
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
        """Read ``availability.json``, every data set of the study, or the models, changes or untrained models."""
        return list(self._json(f"{name}.json").get("datasets" if name == "availability" else name, []))

    @property
    def described(self) -> list[str]:
        """The files ``data/<dataset>.json``, in the order of ``availability.json``; by name where that is absent."""
        names = self._names("availability", "dataset") or sorted(path.stem for path in self.path.glob("data/*.json"))
        return [file for name in names if (self.path / (file := f"data/{name}.json")).exists()]

    def datasets(self) -> list[Row]:
        """Read the descriptions of all data sets."""
        return list(map(self._json, self.described))

    def findings(self, dataset: str) -> Row:
        """Read what was found in an own data set, or nothing when that is absent."""
        return self._json(f"findings/{dataset}.json")

    @cached_property
    def costs(self) -> list[JobCost]:
        """Read what every job of the study took, from ``benchmarks/``, in the order of the rules."""
        folder, found = self.path / "benchmarks", []
        for path in sorted(folder.rglob("*.tsv")):
            job = path.relative_to(folder).with_suffix("").as_posix()
            rule = job.partition("/")[0]
            if not self._jobs.fullmatch(job):
                continue
            with path.open(newline="", encoding="utf-8") as file:
                for row in csv.DictReader(file, delimiter="\t"):
                    # Not the column cpu_time, which lacks what a job did after its last sample: up to half a minute.
                    memory = row.get("max_rss") or ""
                    known = memory.replace(".", "").isdigit()
                    found.append(JobCost(rule, float(row["s"]), float(memory) if known else 0.0))
        return found

    @cached_property
    def _jobs(self) -> re.Pattern[str]:
        """The jobs whose data sets, models and papers the configuration names, by the paths of their measurements."""

        def any_of(names: Iterable[str]) -> str:
            return f"(?:{'|'.join(map(re.escape, names)) or '.+'})"

        values = {"dataset": any_of(self._names("availability", "dataset")), "fold": "[0-9]+"}
        model = any_of(self._names("models", "model"))
        chosen = self.configured.get("papers", "all")
        steps = papers.steps(papers.names() if chosen == "all" else chosen)
        every = [
            f"(?!(?:{'|'.join(papers.names())})_)[^/]+",
            f"(?:describe_data|examine_data)/{values['dataset']}",
            f"(?:train_model|train_fold|evaluate_model)/{values['dataset']}/{model}(?:/.*)?",
            *(
                f"{paper}_{step.name}"
                + ("/" if step.axes else "")
                + "-".join(values.get(one, ".+") for one in step.axes)
                for paper, _, step in steps
            ),
        ]
        return re.compile("|".join(every))

    def _names(self, listed: str, key: str) -> list[str]:
        return [entry[key] for entry in self.listed(listed)]

    def provenance(self) -> Row:
        """Read ``provenance.json``, or nothing when it is absent."""
        return self._json("provenance.json")

    def configuration(self) -> str:
        """Read the text of ``configuration.yaml``, or nothing when it is absent."""
        path = self.path / "configuration.yaml"
        return storage.read_text(path) if path.exists() else ""

    def setting(self, section: str, key: str) -> Any:
        """Look up one value of the configuration, or ``None`` when it does not say."""
        part = self.configured.get(section)
        return part.get(key) if isinstance(part, Mapping) else None

    @cached_property
    def configured(self) -> Mapping[str, Any]:
        path = self.path / "configuration.yaml"
        # Damaged text may be YAML, too, and is not the text that anybody wrote.
        found = schemas.load(path, "a configuration") if self.configuration() else None
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
