"""How are tables with named columns read: CSV, TSV and Parquet, in pieces?

:mod:`pipeline_lib.data.columns` says which column is what. Text may be compressed. A row of it is a line;
lines end with LF, CRLF or CR, and empty ones are skipped. A value in double quotes may contain separators, but no line
ends; within quotes, two quotes stand for one.
"""

import csv
import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from pipeline_lib.core import storage
from pipeline_lib.core.errors import DataError
from pipeline_lib.data import columns, derived
from pipeline_lib.data.derived import Derived
from pipeline_lib.data.labels import IN_YAML
from pipeline_lib.data.problems import Enough, Problems, Rows
from pipeline_lib.data.stored_data import Columns, rows_per_group
from pipeline_lib.sources import careful_text
from pipeline_lib.sources.compression import opened, other_kind, text_lines, unpacked_name
from pipeline_lib.sources.letor_reader import Block, whole_queries
from pipeline_lib.sources.own_settings import PARQUET, SEPARATORS, TABLES, Separator

__all__: list[str] = []  # internal: what comes here was checked before (see pipeline_lib.core.checks)

_LOG = logging.getLogger(__name__)
_PIECE = 1 << 20


@dataclass(frozen=True)
class Options(Columns):
    """What a person says of the columns of tables, and how labels and values of any file are read.

    ``missing`` values are an error (``refuse``), ``zero``, or the mean of the other documents of the query (``mean``,
    and in tables ``flag`` with a column more for each feature that lacks values). ``separator`` stands between the
    values of text, and ``spelled`` is how a policy for labels is asked for, in messages.

    Documents that are to be ranked have the ``features`` of a model, where these are columns, those of the ``values``
    of encoded columns that it knows, and a feature more for each that is ``flagged``; labels are read if they are
    wanted (``labelled``), and so are the ids of ``documents``.
    """

    spelled: str = IN_YAML
    features: tuple[str, ...] | None = None
    values: Mapping[str, tuple[str, ...]] | None = None
    flagged: frozenset[str] = frozenset()
    labelled: bool = True
    documents: bool = False


class QueryWeights(NamedTuple):
    """The weights of the queries of one file, in their order, and where they stand, in words."""

    of_queries: NDArray[np.float64]
    source: str


@dataclass(frozen=True)
class Layout:
    """What all files of a data set have in common.

    ``textual`` says that queries are named by text; ``first_id`` is the id of the first feature of LETOR text.
    ``columns`` say how the files were read, if labels are; ``derived`` says of which columns of tables the features
    are made. ``weights`` are those that stand next to files of LETOR text.
    """

    n_features: int
    feature_names: tuple[str, ...] | None
    textual: bool
    first_id: int = 1
    columns: Columns | None = None
    derived: Derived = field(default_factory=lambda: Derived(()))
    weights: Mapping[Path, QueryWeights] = field(default_factory=dict)


def is_table(path: Path) -> bool:
    """Whether a file is a table with named columns, by the ending of its name."""
    return _ending(path) in TABLES


def layout(path: Path, options: Options) -> Layout:
    """What must be known of a table before its documents are read.

    Raises
    ------
    DataError
        When columns are missing, or the file is no such table.
    """
    with opened(path) as file:
        if (name := other_kind(file.read(32))) is not None:
            raise DataError(f"{path}: expected a table with named columns, found {name}")
    if _ending(path) in SEPARATORS:
        _check_text(path, _separator(path, options))
    with _reading(path) as source:
        schema = _schema(path, source, options)
        chosen = _roles(path, schema, options)
    textual = columns.is_textual(schema.field(chosen.query).type)
    with _all_problems(path, options, chosen):
        if _ending(path) in SEPARATORS:
            textual = not all(_all_whole(piece.column(0)) for piece in _pieces(path, (chosen.query,), chosen, options))
        flagged = options.flagged
        if options.missing == "flag" and options.features is None:
            flagged = _lacking(path, chosen, options)
        values = _values_in(path, chosen, options) if options.values is None else options.values
    said = None
    if chosen.label is not None:
        how = (options.labels, options.missing, options.separator, options.extreme)
        said = Columns(chosen.label, chosen.query, options.ignore, *how, weight=chosen.weight, one_hot=chosen.one_hot)
    made = Derived(chosen.features, values, flagged)
    return Layout(len(chosen.features), chosen.features, textual, columns=said, derived=made)


def with_derived(path: Path, known: Layout, seen: Sequence[Derived]) -> Layout:
    """The layout with the features that are made of the columns of all files, given those of each.

    Raises
    ------
    DataError
        When these are too many features or none, or a column has too many values in all files together.
    """
    assert known.feature_names is not None
    values = {name: derived.values_of(path, name, [one.values[name] for one in seen]) for name in seen[0].values}
    made = Derived(known.feature_names, values, frozenset().union(*(one.flagged for one in seen))).checked(path)
    return replace(known, n_features=len(made.names), feature_names=made.names, derived=made)


def names(path: Path, options: Options) -> list[str]:
    """The names of the columns of a table."""
    with _reading(path) as source:
        return list(_schema(path, source, options).names)


def blocks(path: Path, options: Options, known: Layout) -> Iterator[Block]:
    """The documents of a table, block by block.

    Raises
    ------
    DataError
        ``file:line`` or ``file: row``, what was expected in which column, and what was found, with a line for each of
        the first problems.
    """
    with _reading(path) as source:
        chosen = _roles(path, _schema(path, source, options), options)
    if known.feature_names is not None:  # the order of the first file
        chosen = replace(chosen, features=known.derived.plain)
    with _all_problems(path, options, chosen):
        found = _blocks(path, options, known, chosen)
        if options.missing in ("mean", "flag"):
            found = (with_means(block, known.derived.marked) for block in whole_queries(found))
        yield from found


def _blocks(path: Path, options: Options, known: Layout, chosen: columns.Roles) -> Iterator[Block]:
    queries = columns.Queries(textual=known.textual)
    weights = columns.Weights(queries)
    place, row, size = place_of(path), 0, rows_per_group(known.n_features)
    waiting: list[Block] = []
    unknown = 0
    for piece in _shorter(_pieces(path, chosen.all, chosen, options), size):
        here = partial(_later, place, row)
        X, y = _values(piece, chosen, options, here)
        if options.missing == "zero":
            X[np.isnan(X)] = 0.0
        if known.derived.values:
            encoded, others = derived.encoded(piece, known.derived.values, str(path))
            X, unknown = np.hstack([X, encoded]), unknown + others
        qid = queries.number(piece.column(chosen.query), chosen.query, here)
        row += len(y)
        of_queries = _weights(piece, chosen, here, weights, qid)
        waiting.append(Block(qid, y, X, queries.names, documents=_ids(piece, chosen, here), weights=of_queries))
        if sum(len(block.qid) for block in waiting) >= size:
            joined = Block.joined(waiting)
            full = len(joined.qid) // size * size
            yield from (joined.rows(slice(start, start + size)) for start in range(0, full, size))
            waiting = [joined.rows(slice(full, None))]
    if not row:
        raise DataError(f"{path}: expected at least one document, found none")
    if len((rest := Block.joined(waiting)).qid):
        yield rest
    if unknown:
        _LOG.info(f"{path}: {derived.unknown(unknown, known.derived.values)}")


def _shorter(pieces: Iterator[Any], rows: int) -> Iterator[Any]:
    """The same rows, at most so many at a time: a short line may have many features."""
    for piece in pieces:
        yield from (piece.slice(start, rows) for start in range(0, piece.num_rows, rows))


def _values(piece: Any, chosen: columns.Roles, options: Options, place: columns.Place) -> tuple[Any, Any]:
    """The features, NaN where they may be missing, and the labels, 0 where these are not read."""
    advice = "fill it in first (`missing: mean` does so in a study)"
    X = columns.features(
        piece, chosen.features, place, missing=options.missing != "refuse", extreme=options.extreme, advice=advice
    )
    if chosen.label is None:
        return X, np.zeros(len(X), np.uint8)
    label = piece.column(chosen.label)
    return X, columns.labels(label, chosen.label, place, policy=options.labels, spelled=options.spelled)


def _ids(piece: Any, chosen: columns.Roles, place: columns.Place) -> Any:
    """The ids of the documents, or None where these are not read."""
    return None if (name := chosen.documents) is None else columns.ids(piece.column(name), name, place)


def _weights(piece: Any, chosen: columns.Roles, place: columns.Place, weights: columns.Weights, qid: Any) -> Any:
    """The weights of the rows' queries, or None where these have none."""
    return None if (name := chosen.weight) is None else weights.read(piece.column(name), name, place, qid)


def with_means(block: Block, marked: Sequence[int] = ()) -> Block:
    """The block with the mean of its query for each missing value, and marks of these columns."""
    starts = np.array([start for start, _ in columns.runs(block.qid)])
    return replace(block, X=derived.completed(block.X, starts, "mean", marked))


def _lacking(path: Path, chosen: columns.Roles, options: Options) -> frozenset[str]:
    """The features that lack a value somewhere."""
    derived.check_marks(path, chosen.features)
    found: set[str] = set()
    for piece in _pieces(path, chosen.features, chosen, options):
        X = columns.features(piece, chosen.features, place_of(path), missing=True, extreme=options.extreme)
        found |= {chosen.features[column] for column in np.flatnonzero(np.isnan(X).any(axis=0))}
    return frozenset(found)


def _values_in(path: Path, chosen: columns.Roles, options: Options) -> dict[str, tuple[str, ...]]:
    """The values of the columns that are encoded."""
    found: dict[str, set[str]] = {name: set() for name in chosen.one_hot}
    for piece in _pieces(path, chosen.one_hot, chosen, options) if found else ():
        for name, values in found.items():
            texts = derived.texts(piece.column(name), name, str(path))
            values |= set(derived.values_of(path, name, [tuple(values), texts]))
    return {name: tuple(sorted(values)) for name, values in found.items()}


@contextmanager
def _all_problems(path: Path, options: Options, chosen: columns.Roles) -> Iterator[None]:
    """Let an error about a row tell of all problems of the file, for which it is read once more."""
    try:
        yield
    except DataError as error:
        found, queries = Problems(), columns.Queries(textual=True)
        weights = columns.Weights(queries)
        try:
            for rows, piece, numeric in _careful_pieces(path, options, chosen):
                _values(piece, numeric, options, rows)
                qid = queries.number(piece.column(chosen.query), chosen.query, rows)
                _weights(piece, chosen, rows, weights, qid)
                _ids(piece, chosen, rows)
                rows.hand_over(found)
        except Enough:
            pass
        except Exception:  # the error of the first reading says why
            found.lines.clear()
        raise DataError(found.message(path) if found.lines else str(error)) from error


def _ending(path: Path) -> str:
    return Path(unpacked_name(path)).suffix.lower()


def _roles(path: Path, schema: Any, options: Options) -> columns.Roles:
    found = columns.roles(
        schema,
        str(path),
        label=options.label,
        query=options.query,
        ignore=options.ignore,
        features=options.features,
        labelled=options.labelled,
        weight=options.weight,
        one_hot=options.one_hot,
    )
    return found if options.documents else replace(found, documents=None)


@contextmanager
def _reading(path: Path) -> Iterator[Any]:
    """The open file, and what Arrow says of it put into words."""
    import pyarrow as pa

    if _ending(path) in PARQUET:
        with opened(path) as source, storage.parquet_of_others(path):
            yield source
        return
    try:
        with opened(path) as source:
            yield source
    except pa.ArrowInvalid as error:
        raise DataError(
            f"{path}: expected text with a line of column names and a line per document, found something else ({error})"
        ) from error


def _line(path: Path, row: int) -> int:
    """The number of the line in which row number ``row`` begins; the column names are row 1."""
    numbers = (number for number, line in enumerate(text_lines(path), start=1) if line != "\n")
    return next(islice(numbers, row - 1, None), row)


def _separator(path: Path, options: Options) -> str:
    return options.separator or SEPARATORS[_ending(path)]


def _check_text(path: Path, separator: str) -> None:
    """Raise DataError where a quote is never closed, so that the documents behind it would be part of one value.

    The same where the first bytes are those of UTF-16, or the columns are separated by something else.
    """
    header = next(text_lines(path), "").removesuffix("\n")
    if header.startswith(("\xff\xfe", "\xfe\xff")):
        raise DataError(f"{path}:1: expected text in UTF-8, found UTF-16: convert it")
    others = [other for other in get_args(Separator) if other in header]
    if others and separator not in header:
        found = header.encode("latin-1").decode("utf-8", "backslashreplace")
        raise DataError(
            f"{path}:1: expected columns separated by {separator!r}, found one column {found!r}; name the separator "
            f"(`separator`), or give the file the ending of its separator: .csv for commas, .tsv for tabs"
        )
    # The line that is added is a row of its own, unless the last value goes on up to the end of the file.
    rows = csv.reader(chain(text_lines(path), [""]), delimiter=separator)
    number = 0
    try:
        while next(rows, None) is not None:
            number += 1
            if rows.line_num > number:
                break
        else:
            return
    except csv.Error:  # a value is longer than any that Arrow reads
        number += 1
    raise DataError(
        f"{path}:{number}: expected a second quote, at the end of a value that begins with one, found none in the "
        "line; close or double the quotes, and write no line ends into values"
    )


def place_of(path: Path) -> columns.Place:
    """How the rows of a table are named."""
    if _ending(path) in PARQUET:
        return lambda row: f"{path}: row {row}"
    return lambda row: f"{path}:{_line(path, row + 2)}"


def _schema(path: Path, source: Any, options: Options) -> Any:
    if _ending(path) in PARQUET:
        import pyarrow.parquet as pq

        return pq.ParquetFile(source).schema_arrow
    import pyarrow as pa

    header = next((line for line in text_lines(path) if line != "\n"), None)
    if header is None:
        raise DataError(
            f"{path}: expected text with a line of column names and a line per document, found an empty file"
        )
    found = next(csv.reader([header], delimiter=_separator(path, options)))
    try:
        names = [name.encode("latin-1").decode("utf-8") for name in found]
    except UnicodeDecodeError as error:
        raise DataError(f"{path}: expected the names of columns in UTF-8, found {error.object!r}") from error
    if "" in names:
        raise DataError(
            f"{path}: expected a name for every column, found none for column {names.index('') + 1}; if it numbers the "
            "rows, write the table without it"
        )
    return pa.schema([(name, pa.string()) for name in names])


def _csv(path: Path, options: Options) -> dict[str, Any]:
    import pyarrow.csv as pc

    return {
        # A row, which may be several times as long as the names of its columns, must fit into a block.
        "read_options": pc.ReadOptions(use_threads=False, block_size=max(_PIECE, 16 * len(next(text_lines(path), "")))),
        "parse_options": pc.ParseOptions(delimiter=_separator(path, options)),
    }


def _pieces(path: Path, names: tuple[str, ...], chosen: columns.Roles, options: Options) -> Iterator[Any]:
    """Some columns of a table, some rows at a time."""
    import pyarrow as pa

    with _reading(path) as source:
        if _ending(path) in PARQUET:
            import pyarrow.parquet as pq

            file = pq.ParquetFile(path)
            for piece in file.iter_batches(rows_per_group(len(names)), columns=list(names), use_threads=False):
                piece.validate(full=True)  # texts and places in dictionaries, which reading does not check
                yield piece
            return
        import pyarrow.csv as pc

        texts = (chosen.query, chosen.documents, *chosen.one_hot)
        types = {name: pa.string() if name in texts else pa.float64() for name in names}
        convert = pc.ConvertOptions(column_types=types, include_columns=list(names), null_values=derived.ABSENT)
        with pc.open_csv(source, convert_options=convert, **_csv(path, options)) as reader:
            yield from reader


Careful = tuple[Rows, Any, columns.Roles]


def _later(place: columns.Place, first: int, row: int) -> str:
    return place(first + row)


def _careful_pieces(path: Path, options: Options, chosen: columns.Roles) -> Iterator[Careful]:
    """The same, read so that a wrong value hides no other: what is wrong in a piece so far, and what is numeric."""
    if _ending(path) in PARQUET:
        place, row = place_of(path), 0
        for piece in _pieces(path, chosen.all, chosen, options):
            rows = Rows(partial(_later, place, row))
            texts = [name for name in chosen.features if not columns.is_numeric(piece.schema.field(name).type)]
            for name in texts if not row else ():
                try:
                    columns.numbers(piece.column(name), name, rows)
                except DataError as error:
                    rows.found.append((0, name, str(error)))
            yield rows, piece, replace(chosen, features=tuple(name for name in chosen.features if name not in texts))
            row += piece.num_rows
        return
    for rows, piece in careful_text.pieces(path, _separator(path, options), chosen):
        yield rows, piece, chosen


def _all_whole(column: Any) -> bool:
    import pyarrow.compute as pc

    return bool(pc.all(pc.match_substring_regex(column, r"^(0|-?[1-9][0-9]{0,17})$"), min_count=0).as_py())
