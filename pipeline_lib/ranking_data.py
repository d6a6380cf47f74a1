"""What is a learning-to-rank data set in memory, and how is it stored?

One type, :class:`RankingData`, is spoken by every part of the project: all documents below each other, the
documents of a query contiguous, and the offsets where each query begins. Stored, it is a Parquet file with the
columns ``qid``, ``label`` and ``features``.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pipeline_lib.errors import DataError
from pipeline_lib.files import replacing

if TYPE_CHECKING:
    import pyarrow as pa

MAX_LABEL = 255
PARTS_KEY = b"pipeline_lib.parts"
SOURCES_KEY = b"pipeline_lib.sources"
ROWS_PER_GROUP = 65_536
BYTES_PER_GROUP = 1 << 26


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
        for array in (self.X, self.y, self.offsets, self.qids):
            array.flags.writeable = False

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
        """Number of documents of every query, shape (Q,)."""
        return np.diff(self.offsets)

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
        pipeline_lib.errors.DataError: row 2: query 1 appears again after other queries; sort the rows by query
        """
        features = np.array(X, dtype=np.float64)
        if features.ndim != 2:
            raise DataError(f"X: expected a matrix (documents x features), found {features.ndim} dimension(s)")
        labels, names = _whole_numbers(y, "y"), _whole_numbers(qid, "qid")
        if not len(features) == len(labels) == len(names):
            raise DataError(
                f"X, y and qid: expected one row per document in each, found {len(features)}, "
                f"{len(labels)} and {len(names)}"
            )
        bad = np.flatnonzero((labels < 0) | (labels > MAX_LABEL))
        if len(bad):
            raise DataError(f"row {bad[0]}: expected a label in 0..{MAX_LABEL}, found {labels[bad[0]]}")
        starts = np.flatnonzero(np.r_[True, names[1:] != names[:-1]]) if len(names) else np.zeros(0, np.int64)
        _check_contiguous(names, starts)
        offsets = np.r_[starts, len(names)].astype(np.int64)
        with np.errstate(over="ignore"):
            stored = features.astype(np.float32)
        return cls(stored, labels.astype(np.int32), offsets, names[starts])

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
        chosen = np.atleast_1d(np.asarray(indices))
        if chosen.dtype == bool or (len(chosen) and not np.issubdtype(chosen.dtype, np.integer)):
            raise DataError(f"take: expected whole-number query indices, found {chosen.dtype}")
        chosen = chosen.astype(np.int64)
        wrong = np.flatnonzero((chosen < 0) | (chosen >= self.n_queries))
        if len(wrong):
            raise DataError(f"take: expected query indices in 0..{self.n_queries - 1}, found {chosen[wrong[0]]}")
        sizes = self.documents_per_query[chosen]
        offsets = np.r_[0, np.cumsum(sizes)].astype(np.int64)
        rows = np.arange(offsets[-1]) + np.repeat(self.offsets[chosen] - offsets[:-1], sizes)
        return RankingData(self.X[rows], self.y[rows], offsets, self.qids[chosen])

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
        if m < 1:
            raise DataError(f"subsample_documents: expected m >= 1, found {m}")
        query = np.repeat(np.arange(self.n_queries), self.documents_per_query)
        # The m smallest of i.i.d. uniform keys within a query are a uniform draw without replacement.
        order = np.lexsort((rng.random(self.n_documents), query))
        rank = np.arange(self.n_documents) - np.repeat(self.offsets[:-1], self.documents_per_query)
        rows = np.sort(order[rank < m])
        offsets = np.r_[0, np.cumsum(np.minimum(self.documents_per_query, m))].astype(np.int64)
        return RankingData(self.X[rows], self.y[rows], offsets, self.qids.copy())

    def write_parquet(self, path: str | os.PathLike[str]) -> None:
        """Write the data set as Parquet: ``qid`` int64, ``label`` uint8, ``features`` FixedSizeList<float32>[d].

        The file appears under its name only when complete.
        """
        import pyarrow.parquet as pq

        parts = [{"name": "all", "rows": self.n_documents, "queries": self.n_queries}]
        schema = parquet_schema(self.n_features).with_metadata(parquet_metadata(parts, {}))
        with replacing(path) as partial, pq.ParquetWriter(partial, schema) as writer:
            names = np.repeat(self.qids, self.documents_per_query)
            for start in range(0, self.n_documents, ROWS_PER_GROUP):
                rows = slice(start, start + ROWS_PER_GROUP)
                writer.write_table(parquet_table(names[rows], self.y[rows], self.X[rows], schema))

    @classmethod
    def read_parquet(cls, path: str | os.PathLike[str], queries: ArrayLike | None = None) -> RankingData:
        """Read a data set from Parquet, whole or only some queries (by index, in the order given).

        Only the row groups that hold the wanted queries are read.

        Raises
        ------
        DataError
            When the file is not such a Parquet file, or an index is outside it.
        """
        import pyarrow as pa
        import pyarrow.parquet as pq

        try:
            file = pq.ParquetFile(path)
        except (OSError, pa.ArrowInvalid) as error:
            raise DataError(f"{path}: expected a Parquet file, found something else ({error})") from error
        with file:
            _check_columns(file.schema_arrow, path)
            offsets, qids = _query_boundaries(file)
            wanted = np.arange(len(qids)) if queries is None else np.atleast_1d(np.asarray(queries, dtype=np.int64))
            if len(wanted) and (wanted.min() < 0 or wanted.max() >= len(qids)):
                raise DataError(f"{path}: expected query indices in 0..{len(qids) - 1}, found {wanted.max()}")
            return _read_queries(file, offsets, qids, wanted)


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
            raise DataError("standardisation: expected at least one document, found none")
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
            raise DataError(f"standardisation: expected {len(self.mean)} features, found {data.n_features}")
        X = ((data.X - self.mean) / self.scale).astype(np.float32)
        return RankingData(X, data.y, data.offsets, data.qids)


def rows_per_group(n_features: int) -> int:
    """How many documents a row group of a stored data set holds: 65,536, but at most 64 MiB of features."""
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


def parquet_metadata(parts: Sequence[dict[str, Any]], sources: dict[str, str]) -> dict[bytes, bytes]:
    """Spell what a stored data set says of itself.

    ``parts`` lists, in the order of the rows, ``{"name": ..., "rows": ..., "queries": ...}``; ``sources`` maps every
    source file to its SHA-256.
    """
    return {
        PARTS_KEY: json.dumps(list(parts), sort_keys=True).encode(),
        SOURCES_KEY: json.dumps(sources, sort_keys=True).encode(),
    }


def parquet_table(
    qid: NDArray[np.int64], label: NDArray[np.integer], X: NDArray[np.float32], schema: pa.Schema
) -> pa.Table:
    """Put one block of rows into the stored form; ``label`` must already lie in 0..255."""
    import pyarrow as pa

    features = pa.FixedSizeListArray.from_arrays(
        pa.array(np.ascontiguousarray(X).reshape(-1)), type=schema.field("features").type
    )
    columns = [pa.array(qid), pa.array(label.astype(np.uint8)), features]
    return pa.Table.from_arrays(columns, schema=schema)


def _check_fields(X: NDArray[Any], y: NDArray[Any], offsets: NDArray[Any], qids: NDArray[Any]) -> None:
    if X.dtype != np.float32 or y.dtype != np.int32 or offsets.dtype != np.int64 or qids.dtype != np.int64:
        raise DataError("expected X float32, y int32, offsets int64 and qids int64; use RankingData.from_arrays")
    if X.ndim != 2 or len(X) != len(y) or len(offsets) != len(qids) + 1:
        raise DataError("X, y, offsets and qids do not fit together; use RankingData.from_arrays")
    if offsets[0] != 0 or offsets[-1] != len(y) or np.any(np.diff(offsets) < 1):
        raise DataError(f"offsets: expected to rise strictly from 0 to {len(y)}")
    if not np.isfinite(X).all():
        row, column = np.argwhere(~np.isfinite(X))[0]
        raise DataError(f"row {row}, feature {column}: expected a finite number (in float32), found {X[row, column]}")


def _whole_numbers(values: ArrayLike, name: str) -> NDArray[np.int64]:
    array = np.asarray(values)
    if array.ndim != 1:
        raise DataError(f"{name}: expected one value per document, found {array.ndim} dimension(s)")
    if not len(array):
        return np.zeros(0, np.int64)
    if array.dtype == bool:
        return array.astype(np.int64)
    if not (np.issubdtype(array.dtype, np.integer) or np.issubdtype(array.dtype, np.floating)):
        raise DataError(f"{name}: expected whole numbers, found {array.dtype}")
    bad = np.flatnonzero(~np.isfinite(array) | (array != np.floor(array)))
    if len(bad):
        raise DataError(f"row {bad[0]}: expected a whole number in {name}, found {array[bad[0]]}")
    return array.astype(np.int64)


def _check_contiguous(names: NDArray[np.int64], starts: NDArray[np.int64]) -> None:
    first_names, first = np.unique(names[starts], return_index=True)
    if len(first_names) == len(starts):
        return
    repeated = np.setdiff1d(np.arange(len(starts)), first)[0]
    row = starts[repeated]
    raise DataError(f"row {row}: query {names[row]} appears again after other queries; sort the rows by query")


def _check_columns(schema: pa.Schema, path: str | os.PathLike[str]) -> None:
    import pyarrow as pa

    missing = [name for name in ("qid", "label", "features") if name not in schema.names]
    if missing:
        raise DataError(f"{path}: expected the columns qid, label and features, found {schema.names}")
    kind = schema.field("features").type
    if not (pa.types.is_fixed_size_list(kind) and kind.value_type == pa.float32()):
        raise DataError(f"{path}: expected features as a fixed-size list of float32, found {kind}")


def _query_boundaries(file: Any) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    names = file.read(columns=["qid"]).column("qid").to_numpy()
    change = np.r_[True, names[1:] != names[:-1]] if len(names) else np.zeros(0, bool)
    metadata = file.schema_arrow.metadata or {}
    row = 0
    # A query name may return in another part of the data set: a part always begins a new query.
    for part in json.loads(metadata.get(PARTS_KEY, b"[]")):
        if part["rows"]:
            change[row] = True
        row += part["rows"]
    starts = np.flatnonzero(change)
    return np.r_[starts, len(names)].astype(np.int64), names[starts].astype(np.int64)


def _read_queries(
    file: Any, offsets: NDArray[np.int64], qids: NDArray[np.int64], wanted: NDArray[np.int64]
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
        table = file.read_row_group(int(group), columns=["label", "features"])
        local = rows[lo:hi] - group_starts[group]
        y[lo:hi] = table.column("label").to_numpy()[local]
        values = table.column("features").combine_chunks().flatten()
        X[lo:hi] = values.to_numpy(zero_copy_only=False).reshape(-1, d)[local]
    data = RankingData(X, y, targets, qids[unique])
    in_file_order = len(unique) == len(wanted) and bool(np.all(position == np.arange(len(wanted))))
    return data if in_file_order else data.take(position)
