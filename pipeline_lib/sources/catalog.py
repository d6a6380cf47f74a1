"""Which data sets are known, and what does the catalogue state about each?

``data/catalog.yaml`` is read, checked against ``catalog.schema.yaml`` and for what a schema cannot express (names that
refer to each other, counts that must add up, folds that must be disjoint), and returned as immutable records. A package
installed from a wheel contains a copy of the catalogue next to this module.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from pipeline_lib import schemas
from pipeline_lib.checks import checked
from pipeline_lib.errors import ConfigurationError, DataError, hint
from pipeline_lib.sources import catalog_checks, simulations
from pipeline_lib.sources.simulations import Simulation

CATALOG = simulations.CATALOG
SCHEMA = Path(__file__).with_name("catalog.schema.yaml")
LARGEST_ARCHIVE = 1 << 33
"""Bytes of an archive of which the catalogue states neither ``bytes`` nor ``max_bytes``, at most."""
ROLES = ("train", "validation", "test")

READ_BY: dict[str, tuple[str, ...]] = {
    "simulate_data": ("accepted",),
    "obtain_data": ("accepted",),
    "register_data": ("accepted",),
    "check_raw": ("accepted",),
    "convert_data": ("accepted", "n_features", "labels", "qid", "counts", "columns", "shared"),
    "split_folds": ("blocks", "split", "folds"),
    "describe_data": ("accepted", "title", "terms", "citation", "n_features", "labels", "counts", "n_folds"),
}
"""The parts of an entry on which the output of each command depends. Neither a title nor the addresses of files change
a number, so that they are no reason to obtain, convert or train again."""


@checked
@dataclass(frozen=True)
class Archive:
    """A file that contains the whole data set.

    The digests are those of accepted copies; there are none if none is known. At most ``max_bytes`` are downloaded.
    """

    name: str
    bytes: int | None
    sha256: tuple[str, ...]
    md5: tuple[str, ...]
    max_bytes: int = LARGEST_ARCHIVE


@dataclass(frozen=True)
class Address:
    """An address from which an archive can be downloaded."""

    address: str
    archive: str
    kind: Literal["official", "mirror"]


@dataclass(frozen=True)
class Part:
    """One text file of the data set: how its path may end, and how a correct copy is recognised."""

    name: str
    members: tuple[str, ...]
    sha256: tuple[str, ...]
    max_bytes: int | None
    rows: int | None
    queries: int | None


@dataclass(frozen=True)
class Counts:
    """The contents of a complete copy; ``labels[r]`` documents have label r; ``approximate`` names unchecked counts."""

    rows: int
    queries: int
    labels: tuple[int, ...] | None
    approximate: frozenset[str]


@dataclass(frozen=True)
class Fold:
    """The blocks (parts, or shares ``PART/i`` of a split part) that play each role in one fold."""

    train: tuple[str, ...]
    validation: tuple[str, ...]
    test: tuple[str, ...]


@checked
@dataclass(frozen=True)
class DataSet:
    """One entry of the catalogue.

    Attributes
    ----------
    name : str
        As in the configuration and in file names.
    source : "download", "generated" or "own"
        ``own`` is not from the catalogue but from a configuration (:mod:`pipeline_lib.sources.own_data`).
    n_features, max_label : int or None
        None only for a generated data set, whose configuration decides.
    labels : "integer" or "rounded"
    qid : "token" or "comment"
        How the LETOR text is read.
    parts : mapping of names to Part, in the order of storage
    split : mapping of part names to the number of blocks over which their queries are distributed
    folds : tuple of Fold
    columns : mapping
        What is known of the columns of tables.
    shared : bool
        Whether a query that occurs in several parts is one query, which is stored once.
    about_cells : int
        An estimate of the number of feature values if the counts are not known.
    simulation : Simulation, optional
        What there is of every generated data set, and of no other.
    """

    name: str
    title: str
    source: Literal["download", "generated", "own"]
    terms: str
    terms_page: str
    citation: str
    n_features: int | None
    max_label: int | None
    labels: Literal["integer", "rounded"]
    qid: Literal["token", "comment"]
    counts: Counts | None
    archives: tuple[Archive, ...]
    addresses: tuple[Address, ...]
    by_hand: str
    parts: Mapping[str, Part]
    split: Mapping[str, int]
    folds: tuple[Fold, ...]
    columns: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    shared: bool = False
    about_cells: int = 0
    simulation: Simulation | None = None

    @property
    def n_folds(self) -> int:
        """Number of folds, which are counted from 1."""
        return len(self.folds)

    @property
    def n_cells(self) -> int:
        """Feature values in all, rows times features, or an estimate; 0 where the configuration decides."""
        return self.counts.rows * self.n_features if self.counts and self.n_features else self.about_cells

    def digest(self, command: str) -> str:
        """A short digest of the parts of the entry that a command reads (see :data:`READ_BY`).

        Example
        -------
        >>> entry = load()["MQ2008"]
        >>> corrected = dataclasses.replace(entry, title="MQ2008")
        >>> [entry.digest(name) == corrected.digest(name) for name in ("convert_data", "describe_data")]
        [True, False]
        """
        if command not in READ_BY:
            raise ConfigurationError(f"unknown command {command!r}; {hint(command, READ_BY)}")
        read = {name: getattr(self, name) for name in READ_BY[command]}
        return hashlib.sha256(json.dumps(read, sort_keys=True, default=_plain).encode()).hexdigest()[:16]

    @property
    def has_text(self) -> bool:
        """Whether it is converted from files, and not drawn into the stored form at once."""
        return self.simulation is None or self.simulation.as_text

    @property
    def known_by_parts(self) -> bool:
        """Whether every part has a digest, so that the digests of the parts alone identify the data set."""
        return all(part.sha256 for part in self.parts.values())

    @property
    def accepted(self) -> tuple[object, ...]:
        """What determines which files are accepted as the data set, whatever their origin.

        The names and digests of the parts; where these are not known, also the archives and the paths in them.
        """
        if self.known_by_parts:
            return tuple((part.name, part.sha256) for part in self.parts.values())
        archives = tuple((archive.name, archive.bytes, archive.sha256, archive.md5) for archive in self.archives)
        return (archives, tuple((part.name, part.members, part.sha256) for part in self.parts.values()))

    @cached_property
    def blocks(self) -> tuple[str, ...]:
        """The pieces of which folds consist: every part that is not split, and the shares of those that are."""
        return tuple(
            block
            for part in self.parts
            for block in ([f"{part}/{i + 1}" for i in range(self.split[part])] if part in self.split else [part])
        )

    def raw_path(self, part: str, raw_folder: Path) -> Path:
        """Where the text of a part lies."""
        if self.source == "own":
            return Path(self.parts[part].members[0])
        return raw_folder / self.name / f"{part}.txt"

    def archive(self, name: str) -> Archive:
        """The archive of that file name."""
        for archive in self.archives:
            if archive.name == name:
                return archive
        raise ConfigurationError(
            f"{self.name}: unknown archive {name!r}; {hint(name, (a.name for a in self.archives))}"
        )


@checked
def load(path: str | os.PathLike[str] = CATALOG) -> dict[str, DataSet]:
    """Read and check a catalogue.

    Raises
    ------
    ConfigurationError
        When the file cannot be read, a key is unknown, missing, double or of the wrong kind, or entries do not fit
        together. The message names the file, the key and, for a misspelt key, the nearest valid one.

    Example
    -------
    >>> load()["MQ2008"].n_folds
    5
    """
    document = schemas.load(Path(path), "a catalogue")
    _check_schema(document, Path(path))
    data_sets = {}
    for name, entry in document["data_sets"].items():
        try:
            data_sets[name] = _data_set(name, entry)
        except DataError as error:  # a number that no file can have
            raise ConfigurationError(f"{path}: data_sets.{name}: {error}") from None
    for data_set in data_sets.values():
        problem = catalog_checks.problem(data_set)
        if problem:
            key, sentence = problem
            raise ConfigurationError(f"{path}: data_sets.{data_set.name}.{key}: {sentence}")
    return data_sets


@checked
def get(name: str, path: str | os.PathLike[str] = CATALOG) -> DataSet:
    """Read the entry of one data set.

    Raises
    ------
    ConfigurationError
        When the catalogue is wrong or does not know the name; the nearest known name is given.

    Example
    -------
    >>> get("MQ2009")
    Traceback (most recent call last):
    ...
    pipeline_lib.errors.ConfigurationError: unknown data set 'MQ2009'; did you mean 'MQ2008'?
    """
    data_sets = load(path)
    if name not in data_sets:
        raise ConfigurationError(f"unknown data set {name!r}; {hint(name, data_sets)}")
    return data_sets[name]


def _plain(value: Any) -> Any:
    """Records and sets as values that JSON can hold."""
    return dataclasses.asdict(value) if isinstance(value, Counts | Fold) else sorted(value)


def _check_schema(document: Any, path: Path) -> None:
    error = next(schemas.violations(document, SCHEMA), None)
    if error is not None:
        key = ".".join(str(step) for step in error.absolute_path) or "the file"
        raise ConfigurationError(f"{path}: {key}: {_sentence(error)}")


def _sentence(error: Any) -> str:
    """Describe a violation of the schema in a sentence."""
    if error.validator == "additionalProperties":
        known = list(error.schema.get("properties", {}))
        unknown = next(key for key in error.instance if key not in known)
        return f"unknown key {unknown!r}; {hint(unknown, known)}"
    if error.validator == "required":
        missing = next(key for key in error.validator_value if key not in error.instance)
        return f"the key {missing!r} is missing; add it"
    if error.validator == "enum":
        allowed = ", ".join(map(str, error.validator_value))
        return f"expected one of {allowed}; found {error.instance!r}"
    if error.validator == "pattern":
        expected = error.schema.get("title") or f"text that matches {error.validator_value}"
        return f"expected {expected}; found {error.instance!r}"
    if error.validator == "type":
        return f"expected {error.validator_value}; found {error.instance!r}"
    return str(error.message)


def _data_set(name: str, entry: Mapping[str, Any]) -> DataSet:
    return DataSet(
        name=name,
        title=entry["title"],
        source=entry["source"],
        terms=entry["terms"],
        terms_page=entry["terms_page"],
        citation=entry["citation"],
        n_features=entry.get("features"),
        max_label=entry.get("max_label"),
        labels=entry.get("text", {}).get("labels", "integer"),
        qid=entry.get("text", {}).get("qid", "token"),
        counts=_counts(entry["counts"]) if "counts" in entry else None,
        archives=tuple(_archive(archive, entry) for archive in entry.get("archives", ())),
        addresses=tuple(Address(**address) for address in entry.get("addresses", ())),
        by_hand=entry.get("by_hand", ""),
        parts={part: _part(part, details) for part, details in entry["parts"].items()},
        split=dict(entry.get("split", {})),
        folds=tuple(Fold(**{role: tuple(fold[role]) for role in ROLES}) for fold in entry["folds"]),
        simulation=simulations.of_entry(entry),
    )


def _archive(archive: Mapping[str, Any], entry: Mapping[str, Any]) -> Archive:
    size = archive.get("bytes")
    limit = size or archive.get("max_bytes") or _largest_archive(entry)
    return Archive(archive["name"], size, tuple(archive.get("sha256", ())), tuple(archive.get("md5", ())), limit)


def _largest_archive(entry: Mapping[str, Any]) -> int:
    """The size of the text, written out once and once more for every fold with 32 bytes a value, or the default."""
    if "counts" not in entry or "features" not in entry:
        return LARGEST_ARCHIVE
    text = 32 * int(entry["counts"]["rows"]) * (int(entry["features"]) + 4)  # label, query and comment take as four
    return min(LARGEST_ARCHIVE, text * (1 + len(entry["folds"])))


def _counts(entry: Mapping[str, Any]) -> Counts:
    labels = tuple(entry["labels"]) if "labels" in entry else None
    return Counts(entry["rows"], entry["queries"], labels, frozenset(entry.get("approximate", ())))


def _part(name: str, entry: Mapping[str, Any]) -> Part:
    return Part(
        name=name,
        members=tuple(entry.get("members", ())),
        sha256=tuple(entry.get("sha256", ())),
        max_bytes=entry.get("max_bytes"),
        rows=entry.get("rows"),
        queries=entry.get("queries"),
    )
