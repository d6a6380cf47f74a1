"""Which data sets are known, and what does the catalogue state about each?

``data/catalog.yaml`` is read and checked: its keys and values, and how they fit together (names that refer to each
other, counts that must add up, folds that must be disjoint). A package installed from a wheel contains a copy of the
catalogue next to this module. docs/adding-a-data-set.md explains the keys.
"""

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field, Strict, model_validator

from pipeline_lib.core import schemas
from pipeline_lib.core.checks import MAX_LABEL, checked
from pipeline_lib.core.errors import ConfigurationError, hint
from pipeline_lib.core.settings import DataName, NotNegative, Settings, Whole, different
from pipeline_lib.data.stored_data import Extreme
from pipeline_lib.sources.population_settings import Overrides, check_overrides

_INSTALLED = Path(__file__).with_name("catalog.yaml")
CATALOG = _INSTALLED if _INSTALLED.is_file() else Path(__file__).resolve().parents[2] / "data" / "catalog.yaml"
LARGEST_ARCHIVE = 1 << 33
"""Bytes of an archive of which the catalogue states neither ``bytes`` nor ``max_bytes``, at most."""
ROLES = ("train", "validation", "test")

READ_BY: dict[str, tuple[str, ...]] = {
    "simulate_data": ("accepted",),
    "obtain_data": ("accepted",),
    "register_data": ("accepted",),
    "check_raw": ("accepted",),
    "convert_data": ("accepted", "n_features", "labels", "qid", "counts", "columns", "shared", "relevant_from"),
    "split_folds": ("blocks", "split", "folds"),
    "describe_data": ("accepted", "title", "terms", "citation", "n_features", "labels", "counts", "columns", "n_folds"),
}
"""The parts of an entry on which the output of each command depends. Neither a title nor the addresses of files change
a number, so that they are no reason to obtain, convert or train again."""

Line = Annotated[str, Strict(), Field(pattern=r"^[^\x00-\x1f\x7f-\x9f\u2028\u2029]+$")]
Words = Annotated[str, Strict(), Field(min_length=1)]
WebAddress = Annotated[str, Strict(), Field(pattern="^https?://")]
FileName = Annotated[str, Strict(), Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")]
Member = Annotated[str, Strict(), Field(pattern=r"^[^/\\]+(/[^/\\]+)*$")]
Sha256 = Annotated[str, Strict(), Field(pattern="^[0-9a-f]{64}$")]
Md5 = Annotated[str, Strict(), Field(pattern="^[0-9a-f]{32}$")]
PartName = Annotated[str, Strict(), Field(pattern="^[A-Za-z][A-Za-z0-9]*$")]
Block = Annotated[str, Strict(), Field(pattern="^[A-Za-z][A-Za-z0-9]*(/[1-9][0-9]*)?$")]
Blocks = Annotated[tuple[Block, ...], Field(min_length=1), AfterValidator(different)]
Bytes = Annotated[Whole, Field(le=2**63 - 1)]


class Archive(Settings):
    """A file that contains the whole data set.

    The digests are those of accepted copies; there are none if none is known. At most ``max_bytes`` are downloaded.
    """

    name: FileName
    bytes: Bytes | None = None
    max_bytes: Bytes | None = None
    sha256: tuple[Sha256, ...] = ()
    md5: tuple[Md5, ...] = ()


class Address(Settings):
    """An address from which an archive can be downloaded."""

    address: WebAddress
    archive: FileName
    kind: Literal["official", "mirror"]


class Part(Settings):
    """One text file of the data set: how its path may end, and how a correct copy is recognised."""

    members: Annotated[tuple[Member, ...], AfterValidator(different)] = ()
    sha256: tuple[Sha256, ...] = ()
    max_bytes: Whole | None = None
    rows: Whole | None = None
    queries: Whole | None = None


class Counts(Settings):
    """The contents of a complete copy; ``labels[r]`` documents have label r; ``approximate`` names unchecked counts."""

    rows: Whole
    queries: Whole
    labels: Annotated[tuple[NotNegative, ...], Field(min_length=2)] | None = None
    approximate: Annotated[tuple[Literal["rows", "queries", "labels"], ...], AfterValidator(different)] = ()


class Fold(Settings):
    """The blocks (parts, or shares ``PART/i`` of a split part) that play each role in one fold."""

    train: Blocks
    validation: Blocks
    test: Blocks


class Form(Settings):
    """How the LETOR text is read."""

    labels: Literal["integer", "rounded"]
    qid: Literal["token", "comment"]
    extreme: Extreme = "refuse"


class Simulation(Settings):
    """How a generated data set is drawn, unless the configuration says otherwise.

    ``population`` overrides the defaults of :class:`pipeline_lib.sources.population_settings.PopulationSettings`.
    """

    queries: Whole
    population: Overrides = Field({})

    def with_settings(self, settings: Mapping[str, Any]) -> dict[str, Any]:
        """The ``queries`` and the ``population`` of a study, whose ``settings`` override those of the catalogue.

        Example
        -------
        >>> simulation = Simulation(queries=300, population={"noise": 0.1})
        >>> simulation.with_settings({"queries": 50, "population": {"features": 3}})
        {'queries': 50, 'population': {'noise': 0.1, 'features': 3}}
        """
        return {"queries": settings["queries"], "population": {**self.population, **settings["population"]}}

    def fitting(self, overrides: dict[str, Any]) -> dict[str, Any]:
        """The overrides of a study, if a population can have them together with those of the catalogue.

        Raises
        ------
        ValueError
            Which a class of settings turns into its own error.
        """
        check_overrides({**self.population, **overrides})
        return overrides


class Entry(Settings):
    """What the catalogue states about one data set."""

    title: Line
    source: Literal["download", "generated"]
    terms: Words
    terms_page: WebAddress
    citation: Words
    n_features: Annotated[Whole, Field(le=2**31 - 1)] | None = Field(None, alias="features")
    max_label: Annotated[Whole, Field(le=MAX_LABEL)] | None = None
    text: Form | None = None
    simulation: Simulation | None = None
    counts: Counts | None = None
    archives: tuple[Archive, ...] = ()
    addresses: tuple[Address, ...] = ()
    by_hand: Annotated[str, Strict(), Field(pattern=r"^$|\{folder\}")] = ""
    parts: Annotated[dict[PartName, Part], Field(min_length=1)]
    split: dict[PartName, Annotated[Whole, Field(ge=2, le=100)]] = Field({})
    folds: Annotated[tuple[Fold, ...], Field(min_length=1)]

    @property
    def blocks(self) -> tuple[str, ...]:
        """The pieces of which folds consist: every part that is not split, and the shares of those that are."""
        return tuple(
            block
            for part in self.parts
            for block in ([f"{part}/{i + 1}" for i in range(self.split[part])] if part in self.split else [part])
        )

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        (self._check_generated if self.source == "generated" else self._check_download)()
        if self.counts is not None:
            self._check_counts(self.counts)
        self._check_folds()
        return self

    def _check_generated(self) -> None:
        if self.simulation is None:
            raise ValueError("expected the key 'simulation' of a generated data set, found none")
        if self.archives or self.addresses or self.by_hand:
            raise ValueError("source: a generated data set has no archives, addresses or by_hand; remove them")
        if self.simulation.queries < len(self.parts):
            raise ValueError(f"simulation.queries: expected one for each of the {len(self.parts)} parts or more")

    def _check_download(self) -> None:
        if self.simulation is not None:
            raise ValueError("simulation: only a generated data set is drawn; remove the key")
        for key in ("features", "max_label", "text", "counts", "archives", "by_hand"):
            if not getattr(self, "n_features" if key == "features" else key):
                raise ValueError(f"{key}: a data set to be downloaded needs this key; add it")
        names = [archive.name for archive in self.archives]
        if len(set(names)) < len(names):
            raise ValueError(f"archives: expected different names, found {', '.join(names)}")
        for i, address in enumerate(self.addresses):
            if address.archive not in names:
                raise ValueError(
                    f"addresses[{i}].archive: expected one of {', '.join(names)}; found {address.archive!r}"
                )
        for name, part in self.parts.items():
            if not part.members:
                raise ValueError(f"parts.{name}.members: say how the file's path in the archive ends")

    def _check_counts(self, counts: Counts) -> None:
        if counts.labels is not None:
            if sum(counts.labels) != counts.rows:
                raise ValueError(f"counts.labels: expected a sum of {counts.rows} (rows), found {sum(counts.labels)}")
            if (largest := len(counts.labels) - 1) != self.max_label:
                raise ValueError(f"counts.labels: expected labels 0..{self.max_label}, found 0..{largest}")
        for key, total in (("rows", counts.rows), ("queries", counts.queries)):
            known = [getattr(part, key) for part in self.parts.values()]
            if None not in known and sum(known) != total:
                raise ValueError(f"counts.{key}: expected {sum(known)}, the sum over the parts; found {total}")

    def _check_folds(self) -> None:
        for part in self.split:
            if part not in self.parts:
                raise ValueError(f"split.{part}: expected a part ({', '.join(self.parts)})")
        for number, fold in enumerate(self.folds):
            used = [*fold.train, *fold.validation, *fold.test]
            for block in used:
                place = f"folds[{number}]"
                if block not in self.blocks:
                    raise ValueError(f"{place}: unknown part or block {block!r}; {hint(block, self.blocks)}")
                if used.count(block) > 1:
                    raise ValueError(f"{place}: {block!r} has more than one role; the roles of a fold must be disjoint")
        tests = [block for fold in self.folds for block in fold.test]
        if len(self.folds) > 1 and sorted(tests) != sorted(self.blocks):
            raise ValueError(
                f"folds: the test parts must contain every block once ({', '.join(self.blocks)}); found {tests}"
            )


class DataSet(Entry):
    """One data set: its entry in the catalogue, or what a configuration says of an own one.

    Attributes
    ----------
    name : str
        As in the configuration and in file names.
    source : "download", "generated" or "own"
        ``own`` is not from the catalogue but from a configuration (:mod:`pipeline_lib.sources.own_data`).
    n_features, max_label : int or None
        None only for a generated data set, whose configuration decides.
    parts : mapping of names to Part, in the order of storage
    split : mapping of part names to the number of blocks over which their queries are distributed
    columns : mapping
        What is known of the columns of tables.
    shared : bool
        Whether a query that occurs in several parts is one query, which is stored once.
    about_cells : int
        An estimate of the number of feature values if the counts are not known.
    simulation : Simulation, optional
        What there is of every generated data set, and of no other.
    """

    name: DataName
    source: Literal["download", "generated", "own"]  # type: ignore[assignment]
    columns: dict[str, Any] = Field({})
    shared: bool = False
    relevant_from: int = 1
    about_cells: int = 0

    @property
    def labels(self) -> Literal["integer", "rounded"]:
        """How labels are read."""
        return self.text.labels if self.text else "integer"

    @property
    def qid(self) -> Literal["token", "comment"]:
        """Where the text names the queries."""
        return self.text.qid if self.text else "token"

    @property
    def extreme(self) -> Extreme:
        """What is done about values beyond the range of float32."""
        return self.text.extreme if self.text else "refuse"

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
        >>> corrected = entry.model_copy(update={"title": "MQ2008"})
        >>> [entry.digest(name) == corrected.digest(name) for name in ("convert_data", "describe_data")]
        [True, False]
        """
        read = {name: getattr(self, name) for name in READ_BY[command]}
        return hashlib.sha256(json.dumps(read, sort_keys=True, default=Settings.plain).encode()).hexdigest()[:16]

    @property
    def has_text(self) -> bool:
        """Whether it is converted from files, and not drawn into the stored form at once."""
        return self.simulation is None or self.text is not None

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
            return tuple((name, part.sha256) for name, part in self.parts.items())
        archives = tuple((archive.name, archive.bytes, archive.sha256, archive.md5) for archive in self.archives)
        return (archives, tuple((name, part.members, part.sha256) for name, part in self.parts.items()))

    def raw_paths(self, part: str, raw_folder: Path) -> tuple[Path, ...]:
        """Where the text of a part lies, and the group sizes next to an own one."""
        if self.source == "own":
            return tuple(map(Path, self.parts[part].members))
        return (raw_folder / self.name / f"{part}.txt",)


class _Catalogue(Settings):
    data_sets: Annotated[dict[DataName, Entry], Field(min_length=1)]


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
    try:
        entries = _Catalogue.parse(document).data_sets
    except ConfigurationError as error:
        raise ConfigurationError("\n".join(f"{path}: {problem}" for problem in str(error).splitlines())) from None
    return {name: _data_set(name, entry) for name, entry in entries.items()}


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
    pipeline_lib.core.errors.ConfigurationError: unknown data set 'MQ2009'; did you mean 'MQ2008'?
    """
    data_sets = load(path)
    if name not in data_sets:
        raise ConfigurationError(f"unknown data set {name!r}; {hint(name, data_sets)}")
    return data_sets[name]


def _data_set(name: str, entry: Entry) -> DataSet:
    """The entry with a limit of every archive: by default, the text with 32 bytes a value, once and for every fold."""
    most = LARGEST_ARCHIVE
    if entry.counts and entry.n_features:
        text = 32 * entry.counts.rows * (entry.n_features + 4)  # label, query and comment take as four
        most = min(LARGEST_ARCHIVE, text * (1 + len(entry.folds)))
    limited = tuple(
        archive.model_copy(update={"max_bytes": archive.bytes or archive.max_bytes or most})
        for archive in entry.archives
    )
    return DataSet.model_construct(**{**dict(entry), "name": name, "archives": limited})
