"""How is a data set stored? As a Parquet file with the columns ``qid``, ``label`` and ``features``.

Where queries or features have names, these stand in a column ``query`` and in the footer, and weights of queries in a
column ``weight``. The footer also lists the parts of the data set, in the order of the rows, with the SHA-256 of the
text that each was read from, and how a person's file was read.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pipeline_lib.core import checks, storage
from pipeline_lib.core.errors import DataError
from pipeline_lib.data.labels import Policy
from pipeline_lib.ranking import Convention

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

PARTS_KEY = b"pipeline_lib.parts"
SOURCES_KEY = b"pipeline_lib.sources"
FEATURES_KEY = b"pipeline_lib.features"
MEMBERS_KEY = b"pipeline_lib.members"
COLUMNS_KEY = b"pipeline_lib.columns"
JUDGING_KEY = b"pipeline_lib.judging"
QUERY_COLUMN = "query"
WEIGHT_COLUMN = "weight"
ROWS_PER_GROUP = 65_536
BYTES_PER_GROUP = 1 << 24


Missing = Literal["refuse", "zero", "mean", "flag"]
"""What is done about values that a file lacks: see :class:`pipeline_lib.sources.tables.Options`."""
TextMissing = Literal["refuse", "zero", "mean"]
"""The same where features have no names of which ``flag`` could make others, as in LETOR text."""


Extreme = Literal["refuse", "clip", "missing"]
"""What is done about values beyond the range of float32: they are an error, the nearest float32, or no value at all."""
LARGEST_VALUE = float(np.finfo(np.float32).max)

Repeated = Literal["refuse", "last"]
"""What is done about a feature that stands several times in a line of text: it is an error, or the last value counts,
as in RankLib and XGBoost."""


@dataclass(frozen=True)
class Columns:
    """How the file of a person was read: the columns of a table that are no features, and what was done to its values.

    The columns are those of the labels and the queries (None for LETOR text and arrays), those left out, that of the
    queries' weights, if there is one, and those of categories, which are encoded (``one_hot``). ``labels``,
    ``missing``, ``separator``, ``extreme`` and ``repeated_features`` are those of a data set's entry in a
    configuration.
    """

    label: str | None = None
    query: str | None = None
    ignore: tuple[str, ...] = ()
    labels: Policy = "whole"
    missing: Missing = "refuse"
    separator: str | None = None
    extreme: Extreme = "refuse"
    repeated_features: Repeated = "refuse"
    weight: str | None = None
    one_hot: tuple[str, ...] = ()

    def plain(self) -> dict[str, Any]:
        """All of it by name; the columns of weights and categories where there are any.

        Example
        -------
        >>> Columns("stars", "session", weight="clicks").plain()["weight"], "weight" in Columns("stars").plain()
        ('clicks', False)
        """
        known = asdict(self)
        for name in ("weight", "one_hot"):
            if not known[name]:
                known.pop(name)
        return known

    @classmethod
    def of(cls, name: str, said: Any) -> Columns | None:
        """What a file says of them, None if it says nothing; a DataError that names it if it is something else."""
        if said is None:
            return None
        given, keys = checks.instance(name, said, Mapping), [field.name for field in fields(cls)]
        if not {"label", "query"} <= given.keys() <= set(keys):
            raise DataError(f"{name}: expected the keys {', '.join(keys)}, found {checks.shown(said)}")
        lists = {key: tuple(checks.texts(name, given.get(key, ()))) for key in ("ignore", "one_hot")}
        found = cls(**{**given, **lists})
        texts = (found.label, found.query, found.separator, found.weight)
        checks.texts(name, [text for text in texts if text is not None])
        checks.one_of(f"{name}: labels", found.labels, get_args(Policy))
        checks.one_of(f"{name}: missing", found.missing, get_args(Missing))
        checks.one_of(f"{name}: extreme", found.extreme, get_args(Extreme))
        checks.one_of(f"{name}: repeated_features", found.repeated_features, get_args(Repeated))
        return found


class Judging(NamedTuple):
    """How rankings of a data set are judged.

    ``ties`` says what a measure is where scores are equal, and ``relevant_from`` is the smallest label of a relevant
    document. The catalogue's data are judged as LETOR and the papers do, and their files do not say so.
    """

    ties: Convention = "file"
    relevant_from: int = 1


class Stored(NamedTuple):
    """What a file holds of some queries: the fields of a ``RankingData``."""

    X: NDArray[np.float32]
    y: NDArray[np.int32]
    offsets: NDArray[np.int64]
    qids: NDArray[np.int64]
    feature_names: tuple[str, ...] | None
    query_names: tuple[str, ...] | None
    columns: Columns | None
    ties: Convention
    relevant_from: int
    weights: NDArray[np.float64] | None


def read(
    path: str | os.PathLike[str], queries: ArrayLike | None = None, *, stored: bool = False
) -> tuple[Stored, NDArray[np.int64] | None]:
    """Read all queries, or those of some indices in the order of the file.

    What the file says of its own checksum is checked; files of other programs, which say nothing, are taken as they
    are unless ``stored`` asks for a file of ours. Returned are the queries without repetition and, where they were not
    asked for in the order of the file, which of them are to be taken one after the other.

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
        unique, position = np.unique(wanted, return_inverse=True)
        found = _read_queries(file, path, offsets, qids, unique)
    in_file_order = len(unique) == len(wanted) and bool(np.all(position == np.arange(len(wanted))))
    return found, None if in_file_order else position


def in_turn(path: str | os.PathLike[str], rows: int) -> Iterator[Stored]:
    """All queries in their order, about ``rows`` documents at a time, or one query if it has more.

    Raises
    ------
    DataError
        As :func:`read`.
    """
    with _open_parquet(path, stored=False) as file:
        offsets, qids = _query_boundaries(file, path)
        begin = 0
        while begin < len(qids):
            end = max(begin + 1, int(np.searchsorted(offsets, offsets[begin] + rows, side="right")) - 1)
            yield _read_queries(file, path, offsets, qids, np.arange(begin, end))
            begin = end


def rows_per_group(n_features: int) -> int:
    """How many documents a row group of a stored data set holds: 65,536, but at most 16 MiB of features."""
    return max(1, min(ROWS_PER_GROUP, BYTES_PER_GROUP // (4 * max(1, n_features))))


def parquet_schema(n_features: int, *, named_queries: bool = False, weighted: bool = False) -> pa.Schema:
    """The columns of a stored data set: ``qid``, ``label``, ``features`` (a fixed-size list of float32).

    ``named_queries`` adds the column ``query``, a text, for queries whose names are no numbers; ``weighted`` adds the
    column ``weight``, the weight of a document's query.
    """
    import pyarrow as pa

    fields = [
        pa.field("qid", pa.int64(), nullable=False),
        pa.field("label", pa.uint8(), nullable=False),
        pa.field("features", pa.list_(pa.field("item", pa.float32(), nullable=False), n_features), nullable=False),
    ]
    if named_queries:
        fields.append(pa.field(QUERY_COLUMN, pa.string(), nullable=False))
    if weighted:
        fields.append(pa.field(WEIGHT_COLUMN, pa.float64(), nullable=False))
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
        use_dictionary=[name for name in schema.names if name != "features"],
        column_encoding={"features.list.element": "BYTE_STREAM_SPLIT"},
        write_statistics=["qid", "label"],
    )


def read_parts(path: str | os.PathLike[str], *, stored: bool = False) -> list[dict[str, Any]]:
    """Which parts a stored data set has, in the order of its rows: name, rows, queries, and sha256 where known.

    ``stored`` as in :func:`read`.

    Raises
    ------
    DataError
        When the file is not a stored data set.

    Example
    -------
    >>> import tempfile, pathlib
    >>> from pipeline_lib import RankingData
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "data.parquet"
    >>> RankingData.from_arrays([[0.], [1.]], [0, 1], [1, 2]).write_parquet(path); read_parts(path)
    [{'name': 'all', 'queries': 2, 'rows': 2, 'sha256': None}]
    """
    with _open_parquet(path, stored=stored) as file:
        sources = _said(file, SOURCES_KEY) or {}
        return [{**part, "sha256": sources.get(part["name"])} for part in _parts(file)]


def parquet_metadata(
    parts: Sequence[dict[str, Any]],
    sources: dict[str, str],
    feature_names: Sequence[str] | None = None,
    members: Mapping[str, NDArray[np.int64]] | None = None,
    columns: Columns | None = None,
    judging: Judging = Judging(),  # noqa: B008
) -> dict[bytes, bytes]:
    """Write down what a stored data set says of itself.

    ``parts`` lists, in the order of the rows, ``{"name": ..., "rows": ..., "queries": ...}``; ``sources`` maps the
    name of every part that was read from a file to that file's SHA-256. Both go into the file's footer
    (``ParquetWriter.add_key_value_metadata``), because they are known only once all rows are written. ``members`` maps
    a part to the indices of its queries where a query that several parts share is stored once. ``columns`` are those
    of the tables that the documents were read from; ``judging`` is stated where it is not that of the catalogue.
    """
    said: dict[bytes, Any] = {PARTS_KEY: list(parts), SOURCES_KEY: sources}
    if feature_names is not None:
        said[FEATURES_KEY] = list(feature_names)
    if members is not None:
        said[MEMBERS_KEY] = {name: indices.tolist() for name, indices in members.items()}
    if columns is not None:
        said[COLUMNS_KEY] = columns.plain()
    if judging != Judging():
        said[JUDGING_KEY] = judging._asdict()
    return {key: json.dumps(value, sort_keys=True).encode() for key, value in said.items()}


def parquet_table(
    qid: NDArray[np.int64],
    label: NDArray[np.integer],
    X: NDArray[np.float32],
    schema: pa.Schema,
    names: Sequence[str] | None = None,
    weights: NDArray[np.float64] | None = None,
) -> pa.Table:
    """Put one block of rows into the stored form; a DataError when a label does not lie in 0..255.

    ``names`` holds the name of every row's query where the schema has a column for it, and ``weights`` its weight.
    """
    import pyarrow as pa

    checks.labels("label", label)

    features = pa.FixedSizeListArray.from_arrays(
        pa.array(np.ascontiguousarray(X).reshape(-1)), type=schema.field("features").type
    )
    columns = [pa.array(qid), pa.array(label.astype(np.uint8)), features]
    if QUERY_COLUMN in schema.names:
        columns.append(pa.array(names, pa.string()))
    if WEIGHT_COLUMN in schema.names:
        columns.append(pa.array(weights, pa.float64()))
    return pa.Table.from_arrays(columns, schema=schema)


def _chosen(path: str | os.PathLike[str], queries: ArrayLike, n_queries: int) -> NDArray[np.int64]:
    try:
        return checks.query_indices("queries", np.atleast_1d(checks.array("queries", queries)), n_queries)
    except DataError as error:
        raise type(error)(f"{path}: {error}") from error


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


def queries_of_parts(path: str | os.PathLike[str], *, stored: bool = False) -> dict[str, NDArray[np.int64]]:
    """The indices of the queries of every part, in the part's own order; queries that parts share stand in several.

    Raises
    ------
    DataError
        When the file is not a stored data set.
    """
    with _open_parquet(path, stored=stored) as file:
        members, parts = _said(file, MEMBERS_KEY), _parts(file)
    if members is not None:
        return {name: np.array(indices, np.int64) for name, indices in members.items()}
    ends = np.cumsum([part["queries"] for part in parts])
    return {part["name"]: np.arange(end - part["queries"], end) for part, end in zip(parts, ends, strict=True)}


def query_index(
    path: str | os.PathLike[str], *, stored: bool = False
) -> tuple[NDArray[np.int64], NDArray[np.int64], list[dict[str, Any]]]:
    """Read where the queries of a stored data set begin, without its features.

    Returns the offsets, shape (Q + 1,), the queries' names, shape (Q,), and the parts the file says it is made of, in
    the order of the rows: ``{"name": ..., "rows": ..., "queries": ...}``. ``stored`` as in
    :func:`read`.

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
    import pyarrow.parquet as pq

    with storage.checked(path, required=stored) as source, storage.parquet_of_others(path, compared=stored):
        file = pq.ParquetFile(source)
        _check_columns(file.schema_arrow, path)
        yield file


def _parts(file: pq.ParquetFile) -> list[dict[str, Any]]:
    return _said(file, PARTS_KEY) or []


def _query_boundaries(
    file: pq.ParquetFile, path: str | os.PathLike[str]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    names = checks.whole_numbers(
        f"{path}: qid", column_values(file.read(columns=["qid"], use_threads=False), "qid", path)
    )
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


def column_values(table: pa.Table, name: str, path: str | os.PathLike[str]) -> NDArray[Any]:
    """The numbers of a column, or of its lists one after the other; a DataError where there is none."""
    column = table.column(name).combine_chunks()
    values = column.flatten() if name == "features" else column
    if column.null_count or values.null_count:
        raise DataError(f"{path}: expected a value in every row of {name}, found nulls")
    # Not values.to_numpy(), which imports pandas: a tenth of the time of a short job.
    numbers = np.frombuffer(values.buffers()[1], values.type.to_pandas_dtype(), len(values) + values.offset)
    return numbers[values.offset :]


def _read_queries(
    file: pq.ParquetFile,
    path: str | os.PathLike[str],
    offsets: NDArray[np.int64],
    qids: NDArray[np.int64],
    wanted: NDArray[np.int64],
) -> Stored:
    """Read queries by their indices, ascending and without repetition."""
    import pyarrow as pa

    group_sizes = [file.metadata.row_group(g).num_rows for g in range(file.metadata.num_row_groups)]
    group_starts = np.r_[0, np.cumsum(group_sizes)].astype(np.int64)
    d = file.schema_arrow.field("features").type.list_size
    targets, rows = rows_of(offsets, wanted)
    X = np.empty((len(rows), d), np.float32)
    y = np.empty(len(rows), np.int32)
    named = QUERY_COLUMN in file.schema_arrow.names and pa.types.is_string(file.schema_arrow.field(QUERY_COLUMN).type)
    names: list[str] | None = [] if named else None
    weighted = WEIGHT_COLUMN in file.schema_arrow.names and pa.types.is_float64(
        file.schema_arrow.field(WEIGHT_COLUMN).type
    )
    weights = np.empty(len(rows)) if weighted else None
    columns = ["label", "features"] + ([QUERY_COLUMN] if named else []) + ([WEIGHT_COLUMN] if weighted else [])
    for group in np.unique(np.searchsorted(group_starts, rows, side="right") - 1):
        lo, hi = np.searchsorted(rows, [group_starts[group], group_starts[group + 1]])
        table = file.read_row_group(int(group), columns=columns, use_threads=False)
        local: NDArray[np.int64] | slice = rows[lo:hi] - group_starts[group]
        if rows[hi - 1] - rows[lo] == hi - lo - 1:  # consecutive rows are copied at once, not gathered one by one
            local = slice(rows[lo] - group_starts[group], rows[hi - 1] - group_starts[group] + 1)
        y[lo:hi] = checks.labels(f"{path}: label", column_values(table, "label", path))[local]
        X[lo:hi] = column_values(table, "features", path).reshape(-1, d)[local]
        if weights is not None:
            weights[lo:hi] = column_values(table, WEIGHT_COLUMN, path)[local]
        if names is not None:
            first = targets[np.searchsorted(targets[:-1], lo) : np.searchsorted(targets[:-1], hi)]
            names += table.column(QUERY_COLUMN).take(rows[first] - group_starts[group]).to_pylist()
    said = _said(file, FEATURES_KEY)
    feature_names, query_names = (None if found is None else tuple(found) for found in (said, names))
    no_features = Columns.of(f"{path}: columns", _said(file, COLUMNS_KEY))
    judging = Judging(**(_said(file, JUDGING_KEY) or {}))
    of_queries = None if weights is None else weights[targets[:-1]]
    if of_queries is not None and np.any(np.repeat(of_queries, np.diff(targets)) != weights):
        raise DataError(f"{path}: {WEIGHT_COLUMN}: expected one weight for all documents of a query, found several")
    return Stored(X, y, targets, qids[wanted], feature_names, query_names, no_features, *judging, of_queries)


def rows_of(offsets: NDArray[np.int64], queries: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Some queries one after the other: their own offsets, and the rows of their documents."""
    sizes = np.diff(offsets)[queries]
    targets = np.r_[0, np.cumsum(sizes)].astype(np.int64)
    return targets, np.arange(targets[-1]) + np.repeat(offsets[queries] - targets[:-1], sizes)


def _said(file: pq.ParquetFile, key: bytes) -> Any:
    """What the footer says under a key; None where it says nothing."""
    said = (file.metadata.metadata or {}).get(key)
    return None if said is None else json.loads(said)
