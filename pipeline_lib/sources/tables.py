"""How are tables with named columns read: CSV, TSV and Parquet, in pieces?

:mod:`pipeline_lib.data.columns` says which column is what. Text may be compressed. A row of it is a line;
lines end with LF, CRLF or CR, and empty ones are skipped. A value in double quotes may contain separators, but no line
ends; within quotes, two quotes stand for one.
"""

import csv
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np

from pipeline_lib.core import storage
from pipeline_lib.core.errors import DataError
from pipeline_lib.data import columns
from pipeline_lib.data.stored_data import Columns, rows_per_group
from pipeline_lib.sources.compression import opened, text_lines, unpacked_name
from pipeline_lib.sources.letor_reader import MAX_FEATURES, Block

__all__: list[str] = []  # internal: what comes here was checked before (see pipeline_lib.core.checks)

SEPARATORS = {".csv": ",", ".tsv": "\t"}
PARQUET = (".parquet", ".pq")
_PIECE = 1 << 20
_WRONG_VALUE = re.compile(
    r"In CSV column #(\d+): Row #(\d+): .*(?:invalid value '(.*)'|(invalid UTF8 data))", re.DOTALL
)
_WRONG_COUNT = re.compile(r"CSV parse error: Row #(\d+): Expected (\d+) columns, got (\d+)")


@dataclass(frozen=True)
class Options:
    """What a person says of the columns of tables; ``rounded`` also takes labels that are not whole.

    Documents that are to be ranked have the ``features`` of a model, where these have names; labels are read if they
    are wanted (``labelled``), and so are the ids of ``documents``.
    """

    label: str | None = None
    query: str | None = None
    ignore: tuple[str, ...] = ()
    rounded: bool = False
    features: tuple[str, ...] | None = None
    labelled: bool = True
    documents: bool = False


@dataclass(frozen=True)
class Layout:
    """What all files of a data set have in common.

    ``textual`` says that queries are named by text; ``first_id`` is the id of the first feature of LETOR text, and
    ``columns`` are those of tables that are no features, if their labels are read.
    """

    n_features: int
    feature_names: tuple[str, ...] | None
    textual: bool
    first_id: int = 1
    columns: Columns | None = None


def is_table(path: Path) -> bool:
    """Whether a file is a table with named columns, by the ending of its name."""
    return _ending(path) in (*SEPARATORS, *PARQUET)


def layout(path: Path, options: Options) -> Layout:
    """What must be known of a table before its documents are read.

    Raises
    ------
    DataError
        When columns are missing, or the file is no such table.
    """
    if _ending(path) in SEPARATORS:
        _check_text(path)
    with _reading(path) as source:
        schema = _schema(path, source)
        chosen = _roles(path, schema, options)
        if len(chosen.features) > MAX_FEATURES:
            raise DataError(f"{path}: expected at most {MAX_FEATURES} features, found {len(chosen.features)}")
    textual = columns.is_textual(schema.field(chosen.query).type)
    if _ending(path) in SEPARATORS:
        textual = not all(_all_whole(piece.column(0)) for piece in _pieces(path, (chosen.query,), chosen))
    said = None if chosen.label is None else Columns(chosen.label, chosen.query, options.ignore)
    return Layout(len(chosen.features), chosen.features, textual, columns=said)


def names(path: Path) -> list[str]:
    """The names of the columns of a table."""
    with _reading(path) as source:
        return list(_schema(path, source).names)


def blocks(path: Path, options: Options, known: Layout) -> Iterator[Block]:
    """The documents of a table, block by block.

    Raises
    ------
    DataError
        ``file:line`` or ``file: row``, what was expected in which column, and what was found.
    """
    with _reading(path) as source:
        chosen = _roles(path, _schema(path, source), options)
    if known.feature_names is not None:  # the order of the first file
        chosen = replace(chosen, features=known.feature_names)
    queries = columns.Queries(textual=known.textual)
    of_ids = chosen.documents if options.documents else None
    read = tuple(name for name in (chosen.query, chosen.label, *chosen.features, of_ids) if name is not None)
    place, row, size = _place(path), 0, rows_per_group(known.n_features)
    waiting: list[Block] = []
    for piece in _pieces(path, read, chosen):

        def here(index: int, first: int = row) -> str:
            return place(first + index)

        X = columns.features(piece, chosen, here)
        y = np.zeros(len(X), np.uint8)
        if chosen.label is not None:
            y = columns.labels(piece.column(chosen.label), chosen.label, here, rounded=options.rounded)
        qid = queries.number(piece.column(chosen.query), chosen.query, here)
        row += len(y)
        ids = None if of_ids is None else columns.ids(piece.column(of_ids), of_ids, here)
        waiting.append(Block(qid, y, X, queries.names, documents=ids))
        if sum(len(block.qid) for block in waiting) >= size:
            joined = Block.joined(waiting)
            full = len(joined.qid) // size * size
            yield from (joined.rows(slice(start, start + size)) for start in range(0, full, size))
            waiting = [joined.rows(slice(full, None))]
    if not row:
        raise DataError(f"{path}: expected at least one document, found none")
    if len((rest := Block.joined(waiting)).qid):
        yield rest


def _ending(path: Path) -> str:
    return Path(unpacked_name(path)).suffix.lower()


def _roles(path: Path, schema: Any, options: Options) -> columns.Roles:
    return columns.roles(
        schema,
        str(path),
        label=options.label,
        query=options.query,
        ignore=options.ignore,
        features=options.features,
        labelled=options.labelled,
    )


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
        raise _in_words(path, str(error)) from error


def _in_words(path: Path, said: str) -> DataError:
    if match := _WRONG_COUNT.search(said):
        return DataError(f"{path}:{_line(path, int(match[1]))}: expected {match[2]} columns, found {match[3]}")
    if match := _WRONG_VALUE.search(said):
        with _reading(path) as source:
            name = _schema(path, source).names[int(match[1])]
        line, shown = _line(path, int(match[2])), "bytes that are not UTF-8" if match[4] else repr(match[3][:40])
        expected = "text" if match[4] else "a number"
        return DataError(
            f"{path}:{line}: expected {expected} in the column {name!r}, found {shown}; "
            f"if this is no feature, leave the column out (`ignore`)"
        )
    return DataError(
        f"{path}: expected text with a line of column names and a line per document, found something else ({said})"
    )


def _line(path: Path, row: int) -> int:
    """The number of the line in which row number ``row`` begins; the column names are row 1."""
    numbers = (number for number, line in enumerate(text_lines(path), start=1) if line != "\n")
    return next(islice(numbers, row - 1, None), row)


def _check_text(path: Path) -> None:
    """Raise DataError where a quote is never closed, so that the documents behind it would be part of one value.

    The same where the first bytes are those of UTF-16.
    """
    if next(text_lines(path), "").startswith(("\xff\xfe", "\xfe\xff")):
        raise DataError(f"{path}:1: expected text in UTF-8, found UTF-16: convert it")
    # The line that is added is a row of its own, unless the last value goes on up to the end of the file.
    rows = csv.reader(chain(text_lines(path), [""]), delimiter=SEPARATORS[_ending(path)])
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


def _place(path: Path) -> columns.Place:
    if _ending(path) in PARQUET:
        return lambda row: f"{path}: row {row}"
    return lambda row: f"{path}:{_line(path, row + 2)}"


def _schema(path: Path, source: Any) -> Any:
    if _ending(path) in PARQUET:
        import pyarrow.parquet as pq

        return pq.ParquetFile(source).schema_arrow
    import pyarrow.csv as pc

    with pc.open_csv(source, **_csv(path)) as reader:
        schema = reader.schema
    try:
        names = schema.names
    except UnicodeDecodeError as error:
        raise DataError(f"{path}: expected the names of columns in UTF-8, found {error.object!r}") from error
    if "" in names:
        raise DataError(
            f"{path}: expected a name for every column, found none for column {names.index('') + 1}; if it numbers the "
            "rows, write the table without it"
        )
    if len(names) == 1 and any(separator in names[0] for separator in ",;\t|"):
        raise DataError(
            f"{path}:1: expected columns separated by {SEPARATORS[_ending(path)]!r}, found one column "
            f"{names[0]!r}; a .csv file has commas between its columns, a .tsv file tabs"
        )
    return schema


def _csv(path: Path) -> dict[str, Any]:
    import pyarrow.csv as pc

    return {
        # A row, which may be several times as long as the names of its columns, must fit into a block.
        "read_options": pc.ReadOptions(use_threads=False, block_size=max(_PIECE, 16 * len(next(text_lines(path), "")))),
        "parse_options": pc.ParseOptions(delimiter=SEPARATORS[_ending(path)]),
    }


def _pieces(path: Path, names: tuple[str, ...], chosen: columns.Roles) -> Iterator[Any]:
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

        texts = (chosen.query, chosen.documents)
        types = {name: pa.string() if name in texts else pa.float64() for name in names}
        convert = pc.ConvertOptions(column_types=types, include_columns=list(names))
        with pc.open_csv(source, convert_options=convert, **_csv(path)) as reader:
            yield from reader


def _all_whole(column: Any) -> bool:
    import pyarrow.compute as pc

    return bool(pc.all(pc.match_substring_regex(column, r"^(0|-?[1-9][0-9]{0,17})$"), min_count=0).as_py())
