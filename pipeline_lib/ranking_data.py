"""What is a learning-to-rank data set in memory, and how is it stored?

One type, :class:`RankingData`, is spoken by every part of the project: all documents below each other, the
documents of a query contiguous, and the offsets where each query begins. Stored, it is a Parquet file with the
columns ``qid``, ``label`` and ``features``.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pipeline_lib import checks, storage
from pipeline_lib.checks import checked
from pipeline_lib.errors import ArgumentError, DataError

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

PARTS_KEY = b"pipeline_lib.parts"
SOURCES_KEY = b"pipeline_lib.sources"
ROWS_PER_GROUP = 65_536
BYTES_PER_GROUP = 1 << 24


@dataclass(frozen=True, eq=False)
class RankingData:
    """Queries, their documents' features and labels; immutable.

    Attributes
    ----------
    X : float32 array, shape (N, d), read-only
        Features, a row a document; the documents of a query are contiguous.
    y : int32 array, shape (N,), read-only
        Graded labels in 0..255; larger is more relevant.
    offsets : int64 array, shape (Q + 1,), read-only
        Query q owns the rows ``offsets[q]:offsets[q + 1]``; every query has at least one document.
    qids : int64 array, shape (Q,), read-only
        The queries' names as the source gives them.

    Example
    -------
    >>> data = RankingData.from_arrays([[0.0], [1.0], [0.5]], [0, 2, 1], [7, 7, 8])
    >>> data
    RankingData(2 queries, 3 documents, 1 features, labels 0..2)
    """

    X: NDArray[np.float32]
    y: NDArray[np.int32]
    offsets: NDArray[np.int64]
    qids: NDArray[np.int64]

    def __post_init__(self) -> None:
        _check_fields(self.X, self.y, self.offsets, self.qids)
        for name in ("X", "y", "offsets", "qids"):
            # Without gaps, or numba would compile every kernel once more. Features may lie column by column: products
            # with them then add up in another order, and what is measured so stays the same to the last bit.
            array = getattr(self, name)
            if not array.flags.forc:
                array = np.ascontiguousarray(array)
            array.flags.writeable = False
            object.__setattr__(self, name, array)

    def __repr__(self) -> str:
        labels = f"labels {self.y.min()}..{self.y.max()}" if self.n_documents else "no labels"
        return (
            f"RankingData({self.n_queries} queries, {self.n_documents} documents, {self.n_features} features, {labels})"
        )

    @property
    def n_queries(self) -> int:
        """Number of queries, Q."""
        return len(self.qids)

    @property
    def n_documents(self) -> int:
        """Number of documents of all queries together, N."""
        return len(self.y)

    @property
    def n_features(self) -> int:
        """Number of features of a document, d."""
        return self.X.shape[1]

    @cached_property
    def documents_per_query(self) -> NDArray[np.int64]:
        """Number of documents of every query, shape (Q,), read-only."""
        sizes = np.diff(self.offsets)
        sizes.flags.writeable = False
        return sizes

    @cached_property
    def X64(self) -> NDArray[np.float64]:
        """The features in double precision, in which all optimisation runs; made once, on first use."""
        wide = self.X.astype(np.float64)
        wide.flags.writeable = False
        return wide

    @classmethod
    def from_arrays(cls, X: ArrayLike, y: ArrayLike, qid: ArrayLike) -> RankingData:
        """Build a data set from a feature matrix, labels and one query name per document.

        Parameters
        ----------
        X : array-like, shape (N, d)
            Finite features; stored as float32.
        y : array-like, shape (N,)
            Whole numbers in 0..255.
        qid : array-like, shape (N,)
            Whole numbers; equal ones must stand together.

        Raises
        ------
        DataError
            When shapes differ, a value is not finite, a label is negative or not whole, or the documents of a query
            are not contiguous. The message names the first offending row.

        Example
        -------
        >>> RankingData.from_arrays([[0.], [1.], [2.]], [0, 1, 0], [1, 2, 1])
        Traceback (most recent call last):
        ...
        pipeline_lib.errors.DataError: qid: row 2: query 1 appears again after other queries; sort the rows by query
        """
        features, labels, names = _float32(X), checks.labels("y", y), checks.whole_numbers("qid", qid)
        if not len(features) == len(labels) == len(names):
            raise DataError(
                f"X, y and qid: expected one row per document in each, found {len(features)}, "
                f"{len(labels)} and {len(names)}"
            )
        starts = np.flatnonzero(np.r_[True, names[1:] != names[:-1]]) if len(names) else np.zeros(0, np.int64)
        _check_contiguous(names, starts)
        offsets = np.r_[starts, len(names)].astype(np.int64)
        return cls(features, np.array(labels), offsets, names[starts])

    def take(self, indices: ArrayLike) -> RankingData:
        """Take queries by index, in the order given (an index may occur more than once).

        Raises
        ------
        DataError
            When an index is outside 0..Q-1.

        Example
        -------
        >>> data = RankingData.from_arrays([[0.], [1.], [2.]], [0, 1, 2], [5, 6, 6])
        >>> data.take([1]).y
        array([1, 2], dtype=int32)
        """
        chosen = checks.query_indices("indices", np.atleast_1d(checks.array("indices", indices)), self.n_queries)
        sizes = self.documents_per_query[chosen]
        offsets = np.r_[0, np.cumsum(sizes)].astype(np.int64)
        rows = np.arange(offsets[-1]) + np.repeat(self.offsets[chosen] - offsets[:-1], sizes)
        return RankingData(self.X[rows], self.y[rows], offsets, self.qids[chosen])

    def with_binary_labels(self) -> RankingData:
        """The same documents, labelled 1 where they are relevant in any degree and 0 elsewhere.

        Example
        -------
        >>> RankingData.from_arrays([[0.], [1.], [2.]], [0, 1, 2], [5, 6, 6]).with_binary_labels().y
        array([0, 1, 1], dtype=int32)
        """
        return RankingData(self.X, np.minimum(self.y, 1), self.offsets, self.qids)

    @checked
    def subsample_documents(self, m: int, rng: np.random.Generator) -> RankingData:
        """Keep at most ``m`` documents of every query, drawn without replacement, in their old order.

        Raises
        ------
        DataError
            When ``m`` is less than 1.

        Example
        -------
        >>> data = RankingData.from_arrays(np.zeros((5, 1)), [0, 1, 0, 1, 2], [1, 1, 1, 1, 2])
        >>> data.subsample_documents(2, np.random.default_rng(0)).documents_per_query
        array([2, 1])
        """
        query = np.repeat(np.arange(self.n_queries), self.documents_per_query)
        # The m smallest of i.i.d. uniform keys within a query are a uniform draw without replacement.
        order = np.lexsort((rng.random(self.n_documents), query))
        rank = np.arange(self.n_documents) - np.repeat(self.offsets[:-1], self.documents_per_query)
        rows = np.sort(order[rank < m])
        offsets = np.r_[0, np.cumsum(np.minimum(self.documents_per_query, m))].astype(np.int64)
        return RankingData(self.X[rows], self.y[rows], offsets, self.qids.copy())

    @checked
    def write_parquet(self, path: str | os.PathLike[str]) -> None:
        """Write the data set as Parquet: ``qid`` int64, ``label`` uint8, ``features`` FixedSizeList<float32>[d].

        The file appears under its name only when complete; it carries checksums (:mod:`pipeline_lib.storage`).
        """
        parts = [{"name": "all", "rows": self.n_documents, "queries": self.n_queries}]
        schema = parquet_schema(self.n_features)
        with parquet_writer(path, schema) as writer:
            writer.add_key_value_metadata(parquet_metadata(parts, {}))
            names = np.repeat(self.qids, self.documents_per_query)
            step = rows_per_group(self.n_features)
            for start in range(0, self.n_documents, step):
                rows = slice(start, start + step)
                writer.write_table(parquet_table(names[rows], self.y[rows], self.X[rows], schema))

    @classmethod
    @checked
    def read_parquet(
        cls, path: str | os.PathLike[str], queries: ArrayLike | None = None, *, stored: bool = False
    ) -> RankingData:
        """Read a data set from Parquet, whole or only some queries (by index, in the order given).

        Only the row groups that hold the wanted queries are read. What the file says of its own checksum is checked;
        files of other programs, which say nothing, are taken as they are unless ``stored`` asks for a file of ours.

        Raises
        ------
        DataError
            When the file is not such a Parquet file, or an index is outside it.
        DamagedFileError
            When its bytes are not those that its checksums state, or it is ``stored`` and states none.
        """
        with _open_parquet(path, stored=stored) as file:
            offsets, qids = _query_boundaries(file, path)
            wanted = np.arange(len(qids)) if queries is None else _chosen(path, queries, len(qids))
            return _read_queries(file, path, offsets, qids, wanted)


@checked
@dataclass(frozen=True, eq=False)
class Standardisation:
    """The affine map of features x -> (x - mean) / scale, learned on one data set and applied to others.

    ``mean`` and ``scale`` are float64 arrays of shape (d,); a feature that is constant in training gets scale 1, so
    that it becomes 0 there and nothing is divided by zero.

    Example
    -------
    >>> data = RankingData.from_arrays([[0., 5.], [2., 5.]], [0, 1], [1, 1])
    >>> Standardisation.of(data).apply(data).X.tolist()
    [[-1.0, 0.0], [1.0, 0.0]]
    """

    mean: NDArray[np.float64]
    scale: NDArray[np.float64]

    @classmethod
    def of(cls, data: RankingData) -> Standardisation:
        """Learn mean and standard deviation (divisor N) of every feature over all documents of ``data``."""
        if not data.n_documents:
            raise DataError("data: expected at least one document, found none")
        mean = data.X.mean(axis=0, dtype=np.float64)
        scale = data.X.std(axis=0, dtype=np.float64)
        # Rounding leaves a tiny deviation in constant columns: anything below float32's resolution is constant.
        constant = scale <= np.finfo(np.float32).eps * np.abs(data.X).max(axis=0)
        return cls(mean, np.where(constant, 1.0, scale))

    def apply(self, data: RankingData) -> RankingData:
        """Map the features of ``data``; labels and queries stay.

        Raises
        ------
        DataError
            When ``data`` has another number of features.
        """
        if data.n_features != len(self.mean):
            raise DataError(f"data: expected {len(self.mean)} features, found {data.n_features}")
        X = ((data.X - self.mean) / self.scale).astype(np.float32)
        return RankingData(X, data.y, data.offsets, data.qids)


def rows_per_group(n_features: int) -> int:
    """How many documents a row group of a stored data set holds: 65,536, but at most 16 MiB of features."""
    return max(1, min(ROWS_PER_GROUP, BYTES_PER_GROUP // (4 * max(1, n_features))))


def parquet_schema(n_features: int) -> pa.Schema:
    """The columns of a stored data set: ``qid``, ``label``, ``features`` (a fixed-size list of float32)."""
    import pyarrow as pa

    fields = [
        pa.field("qid", pa.int64(), nullable=False),
        pa.field("label", pa.uint8(), nullable=False),
        pa.field("features", pa.list_(pa.field("item", pa.float32(), nullable=False), n_features), nullable=False),
    ]
    return pa.schema(fields)


def parquet_writer(
    path: str | os.PathLike[str], schema: pa.Schema
) -> contextlib.AbstractContextManager[pq.ParquetWriter]:
    """Open a Parquet file for the stored form, with the one choice of encoding and compression, whole or not at all.

    Zstandard over split byte streams (all first bytes of the floats, then all second bytes, ...), without a dictionary
    for the features. Measured on MQ2008, OHSUMED, counts with long decimals, and normal variates (one core): 0.50,
    0.48, 0.46 and 0.85 of the bytes, read with 0.8, 0.9, 1.1 and 1.3 GB/s. A dictionary with Zstandard makes
    0.56, 0.62, 0.55 and 0.98 and is slower to read; plain values with Zstandard make 0.45, 0.43, 0.53 and 0.93.
    """
    return storage.parquet_writer(
        path,
        schema,
        compression="zstd",
        use_dictionary=["qid", "label"],
        column_encoding={"features.list.element": "BYTE_STREAM_SPLIT"},
        write_statistics=["qid", "label"],
    )


def read_parts(path: str | os.PathLike[str], *, stored: bool = False) -> list[dict[str, Any]]:
    """Which parts a stored data set has, in the order of its rows: name, rows, queries, and sha256 where known.

    ``stored`` as in :meth:`RankingData.read_parquet`.

    Raises
    ------
    DataError
        When the file is not a stored data set.

    Example
    -------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "data.parquet"
    >>> RankingData.from_arrays([[0.], [1.]], [0, 1], [1, 2]).write_parquet(path); read_parts(path)
    [{'name': 'all', 'queries': 2, 'rows': 2, 'sha256': None}]
    """
    with _open_parquet(path, stored=stored) as file:
        sources = json.loads((file.metadata.metadata or {}).get(SOURCES_KEY, b"{}"))
        return [{**part, "sha256": sources.get(part["name"])} for part in _parts(file)]


def parquet_metadata(parts: Sequence[dict[str, Any]], sources: dict[str, str]) -> dict[bytes, bytes]:
    """Spell what a stored data set says of itself.

    ``parts`` lists, in the order of the rows, ``{"name": ..., "rows": ..., "queries": ...}``; ``sources`` maps the
    name of every part that was read from a file to that file's SHA-256. Both go into the file's footer
    (``ParquetWriter.add_key_value_metadata``), because they are known only once all rows are written.
    """
    return {
        PARTS_KEY: json.dumps(list(parts), sort_keys=True).encode(),
        SOURCES_KEY: json.dumps(sources, sort_keys=True).encode(),
    }


def parquet_table(
    qid: NDArray[np.int64], label: NDArray[np.integer], X: NDArray[np.float32], schema: pa.Schema
) -> pa.Table:
    """Put one block of rows into the stored form; a DataError when a label does not lie in 0..255."""
    import pyarrow as pa

    checks.labels("label", label)

    features = pa.FixedSizeListArray.from_arrays(
        pa.array(np.ascontiguousarray(X).reshape(-1)), type=schema.field("features").type
    )
    columns = [pa.array(qid), pa.array(label.astype(np.uint8)), features]
    return pa.Table.from_arrays(columns, schema=schema)


def _check_fields(X: Any, y: Any, offsets: Any, qids: Any) -> None:
    # The types must be right already: the arrays are kept as they are, so that nothing is copied.
    for name, found, wanted in (("X", X, np.float32), ("y", y, np.int32), ("offsets", offsets, np.int64)):
        _check_field(name, found, wanted)
    _check_field("qids", qids, np.int64)
    checks.array("X", X, ndim=2)
    checks.labels("y", y)
    checks.array("qids", qids, ndim=1)
    if len(X) != len(y):
        raise DataError(f"y: expected one label for each of {len(X)} rows of X, found {len(y)}")
    checks.offsets("offsets", offsets, len(y))
    if len(qids) != len(offsets) - 1:
        raise DataError(f"qids: expected one name for each of {len(offsets) - 1} queries, found {len(qids)}")


def _check_field(name: str, found: Any, wanted: type[np.generic]) -> None:
    if type(found) not in (np.ndarray, np.memmap) or found.dtype != wanted:
        raise ArgumentError(
            f"{name}: expected an array of {wanted.__name__}, found {checks.shown(found)}; use RankingData.from_arrays"
        )


def _float32(X: ArrayLike) -> NDArray[np.float32]:
    with np.errstate(over="ignore"):  # what overflows becomes infinite and is refused as such
        narrow = np.array(checks.array("X", X, ndim=2), dtype=np.float32)
    return checks.array("X (in float32)", narrow)


def _chosen(path: str | os.PathLike[str], queries: ArrayLike, n_queries: int) -> NDArray[np.int64]:
    try:
        return checks.query_indices("queries", np.atleast_1d(checks.array("queries", queries)), n_queries)
    except DataError as error:
        raise type(error)(f"{path}: {error}") from error


def _check_contiguous(names: NDArray[np.int64], starts: NDArray[np.int64]) -> None:
    first_names, first = np.unique(names[starts], return_index=True)
    if len(first_names) == len(starts):
        return
    repeated = np.setdiff1d(np.arange(len(starts)), first)[0]
    row = starts[repeated]
    raise DataError(f"qid: row {row}: query {names[row]} appears again after other queries; sort the rows by query")


def _check_columns(schema: pa.Schema, path: str | os.PathLike[str]) -> None:
    import pyarrow as pa

    missing = [name for name in ("qid", "label", "features") if name not in schema.names]
    if missing:
        raise DataError(f"{path}: expected the columns qid, label and features, found {schema.names}")
    for name in ("qid", "label"):
        if not pa.types.is_integer(schema.field(name).type):
            raise DataError(f"{path}: expected whole numbers as {name}, found {schema.field(name).type}")
    kind = schema.field("features").type
    if not (pa.types.is_fixed_size_list(kind) and kind.value_type == pa.float32()):
        raise DataError(f"{path}: expected features as a fixed-size list of float32, found {kind}")


def query_index(
    path: str | os.PathLike[str], *, stored: bool = False
) -> tuple[NDArray[np.int64], NDArray[np.int64], list[dict[str, Any]]]:
    """Read where the queries of a stored data set begin, without its features.

    Returns the offsets, shape (Q + 1,), the queries' names, shape (Q,), and the parts the file says it is made of, in
    the order of the rows: ``{"name": ..., "rows": ..., "queries": ...}``. ``stored`` as in
    :meth:`RankingData.read_parquet`.

    Raises
    ------
    DataError
        When the file is not a Parquet file of a data set, or its parts do not add up to its rows and queries.
    """
    with _open_parquet(path, stored=stored) as file:
        offsets, qids = _query_boundaries(file, path)
        parts = _parts(file)
    n_queries = sum(part["queries"] for part in parts)
    if parts and n_queries != len(qids):
        raise DataError(
            f"{path}: expected parts of {len(qids)} queries in all, found {n_queries}; convert the data again"
        )
    return offsets, qids, parts


@contextlib.contextmanager
def _open_parquet(path: str | os.PathLike[str], *, stored: bool) -> Iterator[pq.ParquetFile]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    with storage.checked(path, required=stored) as source:
        try:
            file = pq.ParquetFile(source)
        except (OSError, pa.ArrowInvalid) as error:
            raise DataError(f"{path}: expected a Parquet file, found something else ({error})") from error
        _check_columns(file.schema_arrow, path)
        yield file


def _parts(file: pq.ParquetFile) -> list[dict[str, Any]]:
    parts: list[dict[str, Any]] = json.loads((file.metadata.metadata or {}).get(PARTS_KEY, b"[]"))
    return parts


def _query_boundaries(
    file: pq.ParquetFile, path: str | os.PathLike[str]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    names = checks.whole_numbers(f"{path}: qid", _filled(file.read(columns=["qid"], use_threads=False), "qid", path))
    change = np.r_[True, names[1:] != names[:-1]] if len(names) else np.zeros(0, bool)
    row = 0
    parts = _parts(file)
    n_rows = sum(part["rows"] for part in parts)
    if parts and n_rows != len(names):
        raise DataError(f"{path}: expected parts of {len(names)} rows in all, found {n_rows}; convert the data again")
    # A query name may return in another part of the data set: a part always begins a new query.
    for part in parts:
        if part["rows"]:
            change[row] = True
        row += part["rows"]
    starts = np.flatnonzero(change)
    return np.r_[starts, len(names)].astype(np.int64), names[starts].astype(np.int64)


def _filled(table: pa.Table, name: str, path: str | os.PathLike[str]) -> NDArray[Any]:
    column = table.column(name)
    lists = name == "features"
    values = column.combine_chunks().flatten() if lists else column
    if column.null_count or values.null_count:
        raise DataError(f"{path}: expected a value in every row of {name}, found nulls")
    numbers: NDArray[Any] = values.to_numpy(zero_copy_only=False) if lists else values.to_numpy()
    return numbers


def _read_queries(
    file: pq.ParquetFile,
    path: str | os.PathLike[str],
    offsets: NDArray[np.int64],
    qids: NDArray[np.int64],
    wanted: NDArray[np.int64],
) -> RankingData:
    group_sizes = [file.metadata.row_group(g).num_rows for g in range(file.metadata.num_row_groups)]
    group_starts = np.r_[0, np.cumsum(group_sizes)].astype(np.int64)
    unique, position = np.unique(wanted, return_inverse=True)
    d = file.schema_arrow.field("features").type.list_size
    sizes = np.diff(offsets)[unique]
    targets = np.r_[0, np.cumsum(sizes)].astype(np.int64)
    rows = np.arange(targets[-1]) + np.repeat(offsets[:-1][unique] - targets[:-1], sizes)
    X = np.empty((len(rows), d), np.float32)
    y = np.empty(len(rows), np.int32)
    for group in np.unique(np.searchsorted(group_starts, rows, side="right") - 1):
        lo, hi = np.searchsorted(rows, [group_starts[group], group_starts[group + 1]])
        table = file.read_row_group(int(group), columns=["label", "features"], use_threads=False)
        local: NDArray[np.int64] | slice = rows[lo:hi] - group_starts[group]
        if rows[hi - 1] - rows[lo] == hi - lo - 1:  # consecutive rows are copied at once, not gathered one by one
            local = slice(rows[lo] - group_starts[group], rows[hi - 1] - group_starts[group] + 1)
        y[lo:hi] = checks.labels(f"{path}: label", _filled(table, "label", path))[local]
        X[lo:hi] = _filled(table, "features", path).reshape(-1, d)[local]
    try:
        data = RankingData(X, y, targets, qids[unique])
    except DataError as error:
        raise DataError(f"{path}: {error}") from error
    in_file_order = len(unique) == len(wanted) and bool(np.all(position == np.arange(len(wanted))))
    return data if in_file_order else data.take(position)
