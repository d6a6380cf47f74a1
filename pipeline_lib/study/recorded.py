"""What came out of a study that was run whole, in a file small enough to be kept beside the code?

``workflow/recorded/<study>.json`` holds what decided every claim, and the digests of configuration, data and tables, so
that a reader can tell in a second whether a run on another machine gave the same. It is written from finished results,
with a checksum that shows whether it was edited since.
"""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from pydantic import Field

from pipeline_lib import papers
from pipeline_lib.claims import judged, ledger
from pipeline_lib.claims.judged import JudgedClaim
from pipeline_lib.claims.words import Status, plain
from pipeline_lib.core import processor, storage
from pipeline_lib.core.errors import DataError
from pipeline_lib.core.settings import Settings
from pipeline_lib.report.comparison import claims_of, tables_of
from pipeline_lib.report.results import JobCost, ResultsFolder
from pipeline_lib.report.study import PUBLISHED
from pipeline_lib.sources.digests import digest
from pipeline_lib.statistics import Interval

FOLDER = Path(__file__).parents[2] / "workflow/recorded"
OTHER = "other"
"""The name of the costs of all jobs that belong to no paper."""

Range = tuple[float, float]
"""The smallest and the largest of some numbers; of intervals, the ends."""


class RecordedClaim(Settings):
    """What became of one claim."""

    status: Status = Field(description="its status")
    why: str = Field(description="the sentence that gives the reason, with the decisive number")
    ranges: dict[str, Range] = Field(description="by the values that its rule reads, their range over all trials")


class Costs(Settings):
    """What some jobs took."""

    seconds: float = Field(description="sum of their times; nearly every job uses one core")
    longest: float = Field(description="time of the longest, in seconds")
    megabytes: float = Field(description="memory of the largest")


class Published(Settings):
    """A number that others published, beside that measured here: a row of the table of published numbers."""

    source: str = Field(description="where it was published")
    dataset: str = Field(description="data set")
    model: str = Field(description="name of the model that reproduces it")
    folds: str = Field(description="the fold, or the folds over which means are taken")
    measure: str = Field(description="name of the measure")
    published: float = Field(description="as published")
    measured: float = Field(description="as measured here")
    in_standard_errors: float | None = Field(description="the difference, in standard errors of the mean over queries")


class Record(Settings):
    """A study that was run whole."""

    study: str = Field(description="name of the study")
    made_with: dict[str, Any] = Field(description="software and machine, the state of the code, and the time")
    costs: dict[str, Costs] = Field(description="by paper, and of all other jobs: data, models and report")
    rules: dict[str, Costs] = Field({}, description="the same by rule; earlier records lack it")
    configuration: str = Field(description="SHA-256 of the whole configuration")
    data: dict[str, str] = Field(description="by data set, the SHA-256 of its description, which contains its digests")
    claims: dict[str, RecordedClaim] = Field(description="by id, in the order of the report")
    published: list[Published] = Field([], description="numbers that others published, beside those measured here")
    tables: dict[str, str] = Field(description="by path below the results folder, the SHA-256 of the file")


def made(study: str) -> Record:
    """The record of the results of a study in the present folder.

    Raises
    ------
    DataError
        When there are no such results, or a file is damaged.
    """
    folder = ResultsFolder.at(Path("results") / study)
    folder.configuration()  # refuses one that is damaged
    columns = Published.model_fields
    names = {claim.id: claim.names for claim in ledger.load()}
    return Record(
        study=study,
        made_with=dict(folder.provenance()),
        costs=costs(folder, paper_of),
        rules=costs(folder, lambda rule: rule),
        configuration=digest(folder.path / "configuration.yaml"),
        data={PurePosixPath(file).stem: digest(folder.path / file) for file in sorted(folder.described)},
        claims={one.id: _claim(one, names.get(one.id, ())) for one in judged.read(claims_of(folder.path)).claims},
        published=[Published(**{name: row[name] for name in columns}) for row in folder.rows(PUBLISHED)],
        tables={name: digest(folder.path / name) for name in sorted(tables_of(folder.path))},
    )


def costs(folder: ResultsFolder, group: Callable[[str], str]) -> dict[str, Costs]:
    """What the jobs of a study took, by the group of their rules."""
    found: dict[str, list[JobCost]] = {}
    for job in folder.costs:
        found.setdefault(group(job.rule), []).append(job)
    return {
        name: Costs(
            seconds=round(sum(job.seconds for job in jobs), 1),
            longest=max(job.seconds for job in jobs),
            megabytes=max(job.megabytes for job in jobs),
        )
        for name, jobs in sorted(found.items())
    }


def paper_of(rule: str) -> str:
    """The paper of a rule: that of a step is called <paper>_<step>."""
    name = rule.partition("_")[0]
    return name if name in papers.names() else OTHER


def path_of(study: str) -> Path:
    """The file with the record of a study."""
    return FOLDER / f"{study}.json"


def names() -> list[str]:
    """The studies of which there is a record."""
    return sorted(path.stem for path in FOLDER.glob("*.json"))


def write(record: Record) -> Path:
    """Write a record as the file of its study; returns the file."""
    path = path_of(record.study)
    path.parent.mkdir(exist_ok=True)
    storage.write_json(path, record.model_dump())
    return path


def read(study: str) -> Record:
    """Read the record of a study.

    Raises
    ------
    DataError
        When there is none.
    DamagedFileError
        When it was edited since it was written.
    """
    path = path_of(study)
    if not path.is_file():
        found = ", ".join(names()) or "none"
        raise DataError(f"{path}: expected the record of a study, found none; there are records of {found}")
    return Record.parse(storage.read_json(path), str(path))


def differences(record: Record, found: Record) -> Iterator[str]:
    """What differs between a record and the results found here, one line each; nothing if they are the same."""
    if record.configuration != found.configuration:
        yield "the configuration is another one"
    for name in _unequal(record.data, found.data):
        yield f"data set {name}: {_presence(name, record.data, found.data)}"
    for name in _unequal(record.claims, found.claims):
        here, there = found.claims.get(name), record.claims.get(name)
        if here is None or there is None:
            yield f"claim {name}: {_presence(name, record.claims, found.claims)}"
        elif here.status != there.status:
            yield f"claim {name}: {there.status} in the record, {here.status} here; {here.why}"
        elif here.ranges != there.ranges:
            moved = (
                f"{one} {_words(there, one)}, here {_words(here, one)}" for one in _unequal(there.ranges, here.ranges)
            )
            yield f"claim {name}: {here.status} as in the record, with other numbers: {'; '.join(moved)}"
    for name in _unequal(record.tables, found.tables):
        yield f"{name}: {_presence(name, record.tables, found.tables)}"


def summary(record: Record, found: Record) -> str:
    """How far results agree with a record, in one line."""
    made_with = record.made_with
    compared = f"the record of {made_with['time'][:10]} ({made_with['code']}, {made_with['machine']})"
    if record.configuration != found.configuration:
        return f"Not compared with {compared}: the configuration is another one"
    statuses = [name for name, one in found.claims.items() if record.claims.get(name, one).status != one.status]
    same = sum(record.tables.get(name) == one for name, one in found.tables.items())
    moved = f"other statuses for {', '.join(statuses)}" if statuses else "every claim has the recorded status"
    line = f"Compared with {compared}: {moved}; {same} of {len(record.tables)} tables have the same bytes"
    if record.made_with.get("instructions") == processor.LEVEL != found.made_with.get("instructions"):
        line += (
            f"; this machine has not the level of instructions of the record, {processor.LEVEL}, without which last "
            "digits differ (docs/where-results-may-differ.md)"
        )
    return line


def _claim(claim: JudgedClaim, names: tuple[str, ...]) -> RecordedClaim:
    ranges: dict[str, Range] = {}
    for name in names:
        found = [trial.values[name] for trial in claim.trials if name in trial.values]
        if found:
            low = min(value.low if isinstance(value, Interval) else value for value in found)
            ranges[name] = low, max(value.high if isinstance(value, Interval) else value for value in found)
    return RecordedClaim(status=claim.status, why=claim.explanation, ranges=ranges)


def _unequal(one: Mapping[str, Any], other: Mapping[str, Any]) -> list[str]:
    return [name for name in {**one, **other} if one.get(name) != other.get(name)]


def _presence(name: str, record: Mapping[str, Any], found: Mapping[str, Any]) -> str:
    if name in record and name in found:
        return "other bytes than in the record"
    return "only in the record" if name in record else "not in the record"


def _words(claim: RecordedClaim, name: str) -> str:
    if name not in claim.ranges:
        return "absent"
    low, high = claim.ranges[name]
    return plain(low) if low == high else f"{plain(low)} to {plain(high)}"
