"""What does ``claims.json`` contain? Every claim with its status, its evidence, and the rule that judged it.

:mod:`pipeline_lib.claims.ledger` judges the claims and writes the file, once for a study; the report, and the scripts
of others, read it.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from pipeline_lib.claims.evidence import Interval, Trial, Value
from pipeline_lib.claims.severity import Plant, Severity
from pipeline_lib.claims.words import STATUSES, Status
from pipeline_lib.errors import DataError
from pipeline_lib.files import write_text


@dataclass(frozen=True)
class JudgedTrial(Trial):
    """A trial with its own status."""

    status: Status


@dataclass(frozen=True)
class JudgedClaim:
    """A claim, with the keys of ``claims.json``.

    ``rule`` is the rule in words, ``explanation`` the sentence that gives the reason for the status, ``severity`` how
    the status could have been another; a claim that was not judged has none.
    """

    id: str
    paper: str
    kind: str
    where: str
    says: str
    shows: str
    rule: str
    status: Status
    explanation: str
    severity: Severity | None
    tables: tuple[str, ...]
    notes: str
    trials: tuple[JudgedTrial, ...]


@dataclass(frozen=True)
class JudgedPaper:
    """A paper whose claims are judged."""

    title: str
    authors: str


@dataclass(frozen=True)
class JudgedStudy:
    """All claims of a study, and their papers by short name, both in the order of the report."""

    study: str
    claims: tuple[JudgedClaim, ...]
    papers: Mapping[str, JudgedPaper]

    def counts(self) -> dict[str, dict[str, int]]:
        """Count the claims by status, over all (``"all"``) and by paper.

        Example
        -------
        >>> counts = JudgedStudy("default", (), {"slam": JudgedPaper("A title", "An author")}).counts()
        >>> list(counts), counts["slam"]["verified"]
        (['all', 'slam'], 0)
        """
        table: dict[str, dict[str, int]] = {
            group: {str(status): 0 for status in STATUSES} for group in ("all", *self.papers)
        }
        for claim in self.claims:
            for group in ("all", claim.paper):
                table[group][claim.status] += 1
        return table


def write(path: str | os.PathLike[str], found: JudgedStudy) -> None:
    """Write ``claims.json``: study, counts, every claim, and the papers; the same judgements give the same bytes.

    Every claim is one line, so that two files can be compared line by line.
    """
    claims = ",\n".join(_line(_plain(claim)) for claim in found.claims)
    about = _line({name: _plain(paper) for name, paper in found.papers.items()})
    parts = {"study": _line(found.study), "counts": _line(found.counts()), "claims": f"[\n{claims}\n]", "papers": about}
    text = ",\n".join(f"{_line(name)}: {part}" for name, part in parts.items())
    write_text(path, f"{{\n{text}\n}}\n")


def read(path: str | os.PathLike[str]) -> JudgedStudy:
    """Read what :func:`write` wrote.

    Raises
    ------
    DataError
        When the file is not such a document; the message names the file and the place.

    Example
    -------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "claims.json"
    >>> study = JudgedStudy("default", (), {"slam": JudgedPaper("A title", "An author")})
    >>> write(path, study)
    >>> read(path) == study
    True
    """
    try:
        document = json.loads(Path(path).read_text(encoding="utf-8"))
        return JudgedStudy(
            document["study"],
            tuple(_claim(entry) for entry in document["claims"]),
            {name: JudgedPaper(**entry) for name, entry in document["papers"].items()},
        )
    except (OSError, ValueError, TypeError, AttributeError, KeyError, DataError) as error:
        what = f"no {error}" if isinstance(error, KeyError) else str(error)
        raise DataError(
            f"{path}: expected the judged claims of a study, found {what}; write them with "
            f"`python -m pipeline_lib judge-claims`"
        ) from error


def _line(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def _plain(value: Any) -> Any:
    """Dataclasses as mappings in the order of their fields; an interval as value, ends and, if any, freedom."""
    if isinstance(value, Interval):
        return [value.value, value.low, value.high, *([] if value.freedom is None else [value.freedom])]
    if isinstance(value, tuple):
        return [_plain(one) for one in value]
    if isinstance(value, Mapping):
        return {name: _plain(one) for name, one in value.items()}
    if value == math.inf:
        return "Infinity"  # JSON has no number for it
    if hasattr(value, "__dataclass_fields__"):
        return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
    return value


def _claim(entry: Mapping[str, Any]) -> JudgedClaim:
    trials = tuple(JudgedTrial(**{**trial, "values": _values(trial["values"])}) for trial in entry["trials"])
    severity = None if entry["severity"] is None else _severity(entry["severity"])
    return JudgedClaim(**{**entry, "severity": severity, "tables": tuple(entry["tables"]), "trials": trials})


def _severity(entry: Mapping[str, Any]) -> Severity:
    excludes = {name: (low, high) for name, (low, high) in entry["excludes"].items()}
    slack = None if entry["slack_factor"] is None else float(entry["slack_factor"])
    return Severity(
        **{
            **entry,
            "slack_factor": slack,
            "excludes": excludes,
            "planted": tuple(Plant(**one) for one in entry["planted"]),
        }
    )


def _values(values: Mapping[str, float | Sequence[float]]) -> dict[str, Value]:
    return {name: Interval(*value) if isinstance(value, list) else value for name, value in values.items()}  # type: ignore[misc]
