"""How are the files of a data set read so that they fit into memory, each with what it lacks and where its rows stand?

A file is read once for what all have in common, and once for its documents. Of a large one, whole queries are kept, by
a hash of their names: a query that stands in two files is kept in both or in neither.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline_lib.core import seeds
from pipeline_lib.core.arrays import Floats
from pipeline_lib.core.errors import DataError
from pipeline_lib.core.files import expanded
from pipeline_lib.data import columns, stored_data
from pipeline_lib.data.derived import filled, flagged_among
from pipeline_lib.data.ranking_data import RankingData
from pipeline_lib.data.stored_data import LARGEST_VALUE, Missing
from pipeline_lib.sources import own_data, readers, tables
from pipeline_lib.sources.letor_reader import Block, whole_queries
from pipeline_lib.sources.own_settings import PARQUET, ROLES, OwnDataSettings, problems
from pipeline_lib.sources.tables import Layout, Options

__all__: list[str] = []  # internal: what comes here was checked before (see pipeline_lib.core.checks)

CELLS = 1 << 24
"""So many values of features are kept of all files together: 64 MiB."""


@dataclass(frozen=True, eq=False)
class Part:
    """One file, or one part of data in memory.

    Attributes
    ----------
    name : str
        The file's name, or that of the part.
    role : str
        What it is for (train, validation or test), or nothing.
    data : RankingData
        The queries that were kept, each with the name that the file gives it.
    path : Path or None
    first_rows : int64 array, shape (Q,)
        The row of the file in which each of these queries begins.
    names : sequence of str
        The queries of the whole file.
    named : bool
        Whether queries have names; those of group sizes have none.
    documents : int
        Of the whole file.
    missing : mapping of features, by index, to bool arrays, shape (N,)
        Where values are missing.
    """

    name: str
    role: str
    data: RankingData
    path: Path | None = None
    first_rows: NDArray[np.int64] | None = None
    names: Sequence[str] = ()
    named: bool = True
    documents: int = 0
    missing: Mapping[int, NDArray[np.bool_]] = field(default_factory=dict)

    def where(self, query: int, row: int = 0) -> str:
        """Where a document of a query stands, by the index of the query and the number of the document in it."""
        assert self.data.query_names is not None
        name = self.data.query_names[query]
        if self.path is None or self.first_rows is None:
            return f"{self.name}: query {name}"
        return f"{readers.place(self.path, int(self.first_rows[query]) + row)} (query {name})"


@dataclass(frozen=True)
class Sample:
    """The parts of a data set, with the features that some files lack and the share of the queries that was kept."""

    parts: tuple[Part, ...]
    lacking: Mapping[str, tuple[str, ...]]
    share: float
    note: str = ""


def of_data(parts: Mapping[str, RankingData]) -> Sample:
    """Data in memory, by part."""
    made = []
    widths = {data.n_features for data in parts.values()}
    if len(widths) > 1:
        raise DataError(f"data: expected the same number of features in every part, found {sorted(widths)}")
    for name, data in parts.items():
        names = data.query_names or tuple(map(str, data.qids.tolist()))
        named = replace(data, query_names=names, weights=None)  # queries are checked alike
        made.append(Part(name, name if name in ROLES else "", named, names=names, documents=data.n_documents))
    return Sample(tuple(made), {}, 1.0)


def of_frame(frame: Any, said: Mapping[str, Any]) -> Sample:
    """A data frame, given what an entry says of its columns.

    Raises
    ------
    DataError
        As :meth:`RankingData.from_frame`.
    """
    table = columns.arrow_table(frame, "data")
    missing = _marking(said.get("missing", "refuse"), table.schema.names)
    data = RankingData.from_frame(table, **{**said, "missing": missing})
    names = data.feature_names or ()
    marked = flagged_among(names) if missing == "flag" else frozenset()
    width = len(names) - len(marked)
    places = [j for j, name in enumerate(names) if name in marked]
    plain = replace(data, X=np.ascontiguousarray(data.X[:, :width]), feature_names=names[:width])
    sample = of_data({"frame": plain})
    masks = {j: data.X[:, width + i] > 0.0 for i, j in enumerate(places)}
    return replace(sample, parts=tuple(replace(one, missing=masks) for one in sample.parts))


def _marking(missing: Missing, names: Collection[str]) -> Missing:
    """The policy with which missing values are looked for, where none is said; that of a table with columns of names.

    Where columns are called like marks, there can be no others, and nothing is looked for.
    """
    if missing != "refuse":
        return missing
    return "mean" if flagged_among(names) else "flag"


def of_entry(entry: Mapping[str, Any]) -> tuple[Sample, OwnDataSettings]:
    """The files of an entry of ``datasets``; the first fold where a folder holds several.

    Raises
    ------
    ConfigurationError, DataError
        When the entry is none, or a file is missing or breaks its format.
    """
    settings = OwnDataSettings.parse({"name": "data", **entry}, "entry")
    if wrong := [text for _, text in problems(entry)]:
        raise DataError("\n".join(wrong))
    folds = settings.folds_of_files
    if folds:
        files = [(role, path) for role in ROLES for path in folds[0][role]]
    else:
        given = (settings.files,) if isinstance(settings.files, str) else settings.files or ()
        files = [("", expanded(one)) for one in given]
    note = f"of {len(folds)} folds, the first was read" if len(folds) > 1 else ""
    if len(files) == 1 and is_stored(files[0][1]):
        return _stored(files[0][1]), settings
    options = Options(**own_data.data_set(settings).columns)
    paths = [path for _, path in files]
    names = [name for path in paths if tables.is_table(path) for name in tables.names(path, options)]
    options = replace(
        options,
        missing=_marking(options.missing, names),
        extreme="clip" if options.extreme == "refuse" else options.extreme,
    )
    options, lacking = _in_common(paths, options)
    known = readers.layout(paths, options)
    parts, shares = [], []
    for role, path in files:
        part, share = _read(path, role, options, known, CELLS // len(files))
        parts.append(part)
        shares.append(share)
    return Sample(tuple(parts), lacking, min(shares), note), settings


def is_stored(path: Path) -> bool:
    """Whether a file is one that a run has stored."""
    if path.suffix.lower() not in PARQUET:
        return False
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        return {"qid", "label", "features"} <= set(pq.read_schema(path).names)
    except (OSError, pa.ArrowInvalid):
        return False  # its reader says what is wrong


def _stored(path: Path) -> Sample:
    data = RankingData.read_parquet(path)
    share, kept = 1.0, np.arange(data.n_queries)
    if (cells := data.n_documents * data.n_features) > CELLS:
        share = CELLS / cells
        kept = np.flatnonzero(_draws([str(q) for q in range(data.n_queries)]) < share)
    members = stored_data.queries_of_parts(path) or {path.name: np.arange(data.n_queries)}
    sample = of_data({name: data.take(kept[np.isin(kept, queries)]) for name, queries in members.items()})
    return replace(sample, share=share)


def _in_common(paths: Sequence[Path], options: Options) -> tuple[Options, dict[str, tuple[str, ...]]]:
    """The features that all tables have, where they have not the same, and those that each lacks."""
    import pyarrow as pa

    if len(paths) < 2 or not all(map(tables.is_table, paths)):
        return options, {}
    names = [tables.names(path, options) for path in paths]
    union = {name: None for one in names for name in one}
    lacking = {str(path): tuple(n for n in union if n not in one) for path, one in zip(paths, names, strict=True)}
    lacking = {path: found for path, found in lacking.items() if found}
    if not lacking:
        return options, {}
    common = [name for name in names[0] if all(name in one for one in names)]
    roles = columns.roles(
        pa.schema([(name, pa.string()) for name in common]),
        str(paths[0]),
        label=options.label,
        query=options.query,
        ignore=[name for name in options.ignore if name in common],
        weight=options.weight,
        one_hot=[name for name in options.one_hot if name in common],
    )
    missing = "mean" if options.missing == "flag" else options.missing
    lacking = {path: tuple(name for name in found if name not in options.ignore) for path, found in lacking.items()}
    return replace(options, features=roles.features, ignore=(), one_hot=roles.one_hot, missing=missing), lacking


def _draws(names: Sequence[str]) -> Floats:
    """A number in [0, 1) for every name, always the same."""
    return np.array([seeds.seed("doctor", name) / 2.0**128 for name in names])


@dataclass(frozen=True)
class _Kept:
    """Whole queries: their names, draws, first rows and sizes, and their documents."""

    names: tuple[str, ...]
    draws: Floats
    first_rows: NDArray[np.int64]
    sizes: NDArray[np.int64]
    label: NDArray[np.uint8]
    X: NDArray[np.float32]

    def below(self, share: float) -> "_Kept":
        keep = self.draws < share
        if keep.all():
            return self
        rows = np.repeat(keep, self.sizes)
        names = tuple(name for name, kept in zip(self.names, keep, strict=True) if kept)
        return _Kept(names, self.draws[keep], self.first_rows[keep], self.sizes[keep], self.label[rows], self.X[rows])


def _queries(block: Block, row: int) -> _Kept:
    starts = np.array([start for start, _ in columns.runs(block.qid)], np.int64)
    numbers = block.qid[starts].tolist()
    names = tuple(map(str, numbers) if block.names is None else (block.names[number] for number in numbers))
    return _Kept(names, _draws(names), row + starts, np.diff(np.r_[starts, len(block.qid)]), block.label, block.X)


def _read(path: Path, role: str, options: Options, known: Layout, cells: int) -> tuple[Part, float]:
    """The queries of a file, a share of them where they have more values than ``cells``."""
    kept: list[_Kept] = []
    names: list[str] = []
    share, row, grouped = 1.0, 0, False
    for block in whole_queries(readers.blocks(path, options, known)):
        found = _queries(block, row)
        row += len(block.label)
        grouped |= block.grouped
        names += found.names
        kept.append(found.below(share))
        while sum(one.X.size for one in kept) > cells and sum(len(one.names) for one in kept) > 1:
            share /= 2.0
            kept = [one.below(share) for one in kept]
    # The hash may have left nothing of a file of few and long queries.
    kept = [one for one in kept if one.names] or [found]
    X = np.concatenate([one.X for one in kept])
    starts = np.r_[0, np.cumsum(np.concatenate([one.sizes for one in kept]))].astype(np.int64)
    absent = np.isnan(X)  # only in text: of tables the values are filled, and marked
    if absent.any():
        X = filled(X, starts[:-1])
    marked = known.derived.marked
    width = X.shape[1] - len(marked)
    all_names = known.feature_names
    data = RankingData(
        np.ascontiguousarray(X[:, :width]),
        np.concatenate([one.label for one in kept]).astype(np.int32),
        starts,
        np.arange(sum(len(one.names) for one in kept)),
        None if all_names is None else all_names[:width],
        tuple(name for one in kept for name in one.names),
    )
    missing = {j: X[:, width + i] > 0.0 for i, j in enumerate(marked)}
    missing |= {int(j): absent[:, j] for j in np.flatnonzero(absent.any(axis=0))}
    rows = np.concatenate([one.first_rows for one in kept])
    return Part(path.name, role, data, path, rows, names, not grouped, row, missing), share


def beyond(data: RankingData) -> Iterator[tuple[int, NDArray[np.bool_]]]:
    """The features with values that float32 cannot hold, and where these were."""
    for j in np.flatnonzero(np.abs(data.X).max(axis=0, initial=0.0) >= LARGEST_VALUE):
        yield int(j), np.abs(data.X[:, j]) >= LARGEST_VALUE
