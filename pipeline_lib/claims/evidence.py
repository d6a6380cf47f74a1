"""What is the evidence by which a claim is judged?

The trials that bear on the claim, each with its setting, its numbers and the table they come from; or the reason why
there are none. It is read from tables (:mod:`pipeline_lib.claims.reading`), or handed in by an experiment as one file
per claim, ``results/<study>/evidence/<claim-id>.json``. The rules that turn evidence into
a status live in :mod:`pipeline_lib.claims.rules`; an experiment never writes a status.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pipeline_lib import storage
from pipeline_lib.errors import DataError

Label = str | int | float


@dataclass(frozen=True)
class Interval:
    """A measured number with its interval of 95 % confidence, ``low <= value <= high``, all finite.

    ``freedom`` are the degrees of freedom of the Student distribution whose quantile gave the ends, such as the number
    of repetitions minus 1. None stands for a normal quantile, or for an interval that needed none. By it an interval is
    widened where several are judged jointly (:func:`pipeline_lib.claims.verdicts.jointly`).

    Example
    -------
    >>> Interval(0.64, 0.61, 0.67).high
    0.67
    >>> Interval(0.64, 0.65, 0.67)
    Traceback (most recent call last):
        ...
    pipeline_lib.errors.DataError: interval: expected low <= value <= high, found 0.65, 0.64, 0.67
    """

    value: float
    low: float
    high: float
    freedom: float | None = None

    def __post_init__(self) -> None:
        numbers = (self.value, self.low, self.high)
        if any(isinstance(number, bool) or not isinstance(number, int | float) for number in numbers):
            raise DataError(f"interval: expected three numbers, found {numbers}")
        if not all(math.isfinite(number) for number in numbers):
            raise DataError(f"interval: expected finite numbers, found {numbers}")
        if not self.low <= self.value <= self.high:
            raise DataError(f"interval: expected low <= value <= high, found {self.low}, {self.value}, {self.high}")
        if self.freedom is not None and not (
            isinstance(self.freedom, int | float) and math.isfinite(self.freedom) and self.freedom > 0
        ):
            raise DataError(f"interval: expected degrees of freedom above 0, found {self.freedom}")


Value = float | Interval


@dataclass(frozen=True)
class Trial:
    """One measurement: where it was made, what came out, and the table that holds it.

    Attributes
    ----------
    setting : mapping of str to str, int or float
        The axes of the experiment, such as ``{"dataset": "MQ2008", "k": 10}``.
    values : mapping of str to float or Interval
        Statistics by the names that the claim's rule uses.
    table : str
        The table the numbers come from, relative to ``results/<study>/``.
    """

    setting: Mapping[str, Label]
    values: Mapping[str, Value]
    table: str

    def __post_init__(self) -> None:
        for key, label in self.setting.items():
            if isinstance(label, bool) or not isinstance(label, str | int | float):
                raise DataError(f"trial: expected a plain label for {key!r}, found {label!r}")
            if isinstance(label, float) and not math.isfinite(label):
                raise DataError(f"trial: expected a finite label for {key!r}, found {label}")
        if not self.values:
            raise DataError(f"trial at {dict(self.setting)}: expected at least one number, found none")
        for name, value in self.values.items():
            if isinstance(value, Interval):
                continue
            if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
                raise DataError(
                    f"trial at {dict(self.setting)}: expected a finite number for {name!r}, found {value!r}"
                )
        if not self.table or Path(self.table).is_absolute() or ".." in Path(self.table).parts:
            raise DataError(f"trial: expected the table as a path below the results folder, found {self.table!r}")


@dataclass(frozen=True)
class Evidence:
    """All trials that bear on one claim, or the reason why there are none (exactly one of the two).

    Example
    -------
    >>> trial = Trial({"m": 5}, {"smallest_slack": 0.0}, "tables/slam-weights.parquet")
    >>> Evidence("slam-thm2", (trial,)).tables
    ('tables/slam-weights.parquet',)
    >>> Evidence("slam-thm2")
    Traceback (most recent call last):
        ...
    pipeline_lib.errors.DataError: evidence for slam-thm2: expected either trials or a reason for none, found neither
    """

    claim: str
    trials: tuple[Trial, ...] = ()
    notes: str = ""
    not_run: str = field(default="", kw_only=True)

    def __post_init__(self) -> None:
        if bool(self.trials) == bool(self.not_run):
            found = "both" if self.trials else "neither"
            raise DataError(f"evidence for {self.claim}: expected either trials or a reason for none, found {found}")

    @property
    def tables(self) -> tuple[str, ...]:
        """The tables behind the numbers, each once, sorted."""
        return tuple(sorted({trial.table for trial in self.trials}))


def write_evidence(path: str | os.PathLike[str], evidence: Evidence) -> None:
    """Write ``evidence`` as JSON, whole or not at all; the same evidence gives the same bytes.

    Raises
    ------
    DataError
        When the file's name is not ``<claim-id>.json``.

    Example
    -------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "slam-thm2.json"
    >>> found = Evidence("slam-thm2", (Trial({"m": 5}, {"smallest_slack": 0.25}, "tables/slam.parquet"),))
    >>> write_evidence(path, found)
    >>> read_evidence(path) == found
    True
    """
    _check_name(Path(path), evidence.claim)
    trials = [
        {"setting": dict(trial.setting), "values": _spelled(trial.values), "table": trial.table}
        for trial in evidence.trials
    ]
    document = {"claim": evidence.claim, "trials": trials, "notes": evidence.notes, "not_run": evidence.not_run}
    storage.write_json(path, document, sort_keys=False)


def write_all(paths: Iterable[str | os.PathLike[str]], evidence: Iterable[Evidence]) -> None:
    """Write one piece of evidence to each of ``paths``, ``.../<claim-id>.json``.

    Raises
    ------
    DataError
        When the claims asked for are not exactly those handed in; then nothing is written.

    Example
    -------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "slam-thm2.json"
    >>> write_all([path], [Evidence("slam-thm2", not_run="no binary labels")])
    >>> read_evidence(path).not_run
    'no binary labels'
    """
    asked = {Path(path).stem: path for path in paths}
    found = {one.claim: one for one in evidence}
    if set(asked) != set(found):
        differ = sorted(set(asked) ^ set(found))
        raise DataError(f"evidence: expected it for {sorted(asked)}, found {sorted(found)}; {differ} differ")
    for claim, path in asked.items():
        write_evidence(path, found[claim])


def read_evidence(path: str | os.PathLike[str]) -> Evidence:
    """Read what :func:`write_evidence` wrote.

    Raises
    ------
    DataError
        When the file is not such a document or holds a number that is not finite; the message names file and place.
    DamagedFileError
        When the file is not as it was written.
    """
    document = storage.read_json(path)
    expected = {"claim", "trials", "notes", "not_run"}
    if set(document) != expected:
        raise DataError(
            f"{path}: expected the keys {sorted(expected)}, found {sorted(document)}; write it with write_evidence"
        )
    if not isinstance(document["trials"], list) or not isinstance(document["claim"], str):
        raise DataError(f"{path}: expected a claim's name and a list of trials; write it with write_evidence")
    if not isinstance(document["notes"], str) or not isinstance(document["not_run"], str):
        raise DataError(f"{path}: expected text in notes and not_run; write it with write_evidence")
    _check_name(Path(path), document["claim"])
    try:
        trials = tuple(_trial(entry) for entry in document["trials"])
        return Evidence(document["claim"], trials, document["notes"], not_run=document["not_run"])
    except DataError as error:
        raise DataError(f"{path}: {error}") from error


def _check_name(path: Path, claim: str) -> None:
    if path.name != f"{claim}.json":
        raise DataError(f"{path}: expected evidence for {claim} in {claim}.json")


def _spelled(values: Mapping[str, Value]) -> dict[str, Any]:
    return {name: _ends(value) if isinstance(value, Interval) else value for name, value in values.items()}


def _ends(interval: Interval) -> dict[str, float]:
    ends = {"value": interval.value, "low": interval.low, "high": interval.high}
    return ends if interval.freedom is None else {**ends, "freedom": interval.freedom}


def _trial(entry: Any) -> Trial:
    if not isinstance(entry, dict) or set(entry) != {"setting", "values", "table"}:
        raise DataError("trial: expected the keys setting, table and values")
    if not isinstance(entry["setting"], dict) or not isinstance(entry["values"], dict):
        raise DataError("trial: expected mappings in setting and values")
    if not isinstance(entry["table"], str):
        raise DataError(f"trial: expected the path of a table, found {entry['table']!r}")
    values = {name: _value(name, value) for name, value in entry["values"].items()}
    return Trial(entry["setting"], values, entry["table"])


def _value(name: str, value: Any) -> Value:
    if not isinstance(value, dict):
        return value  # Trial rejects what is not a finite number.
    if set(value) - {"freedom"} != {"value", "low", "high"}:
        raise DataError(f"{name}: expected the keys high, low and value, found {sorted(value)}")
    return Interval(**value)
