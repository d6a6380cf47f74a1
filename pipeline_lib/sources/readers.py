"""Which reader takes a file, and what must be known of all files of a data set before their documents can be read?

Files whose names end with ``.csv``, ``.tsv`` or ``.parquet`` are tables with named columns, all others LETOR text;
text may be compressed (:mod:`pipeline_lib.sources.compression`). Queries stand in the text or the table itself, or in
a file of group sizes next to the text; the names of the text's features (:mod:`pipeline_lib.sources.feature_names`) and
the weights of its queries may stand in others.
"""

import io
import logging
import math
import os
import re
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from pipeline_lib.core.errors import DataError
from pipeline_lib.data.derived import filled
from pipeline_lib.data.labels import PolicyOrNone
from pipeline_lib.data.ranking_data import RankingData
from pipeline_lib.data.stored_data import Columns, Extreme, Repeated, TextMissing
from pipeline_lib.sources import digests, feature_names, tables
from pipeline_lib.sources.compression import lines, opened
from pipeline_lib.sources.letor_reader import NUMBER, Block, Form, Reader, gathered, whole_queries
from pipeline_lib.sources.own_settings import companions, group_file, weight_file
from pipeline_lib.sources.tables import Layout, QueryWeights

__all__: list[str] = []  # internal: what comes here was checked before (see pipeline_lib.core.checks)

_LOG = logging.getLogger(__name__)

_WHOLE = re.compile(r"0|-?[1-9][0-9]{0,17}")
_DOCUMENT_ID = re.compile(rb"#.*?\bdoc_?id\s*[=:]\s*([^\s#]+)", re.IGNORECASE | re.DOTALL)
"""The id of a document in the comment of its line, as in LETOR, ``#docid = GX008-86-4444840 inc = 1``, and Solr."""
_QUERY = re.compile(rb"qid:([^\s#]+)")
_FIRST_WORD = re.compile(rb"#\s*([^\s#]+)")
"""What RankLib takes for the id of a document where a comment says nothing else: ``# 1370 rocky@example.org``."""


def layout(paths: Sequence[Path], options: tables.Options) -> Layout:
    """Read what must be known of some files, each once; memory holds a block of documents and the names of queries.

    Raises
    ------
    DataError
        When a file breaks its format, or the files do not have the same features.
    """
    seen = [_layout_of(path, options) for path in paths]
    first = seen[0]
    for path, other in zip(paths, seen, strict=True):
        if (first.feature_names is None) != (other.feature_names is None):
            raise DataError(f"{path}: expected features with names in every file or in none, as in {paths[0]}")
        if different := sorted(set(first.feature_names or ()) ^ set(other.feature_names or ())):
            raise DataError(
                f"{path}: expected the same features as in {paths[0]}, found a difference in "
                f"{', '.join(map(repr, different[:5]))}; leave columns that are no features out (`ignore`)"
            )
        if other.feature_names != first.feature_names and not tables.is_table(path):
            raise DataError(f"{path}: expected the names of features in the same order as in {paths[0]}")
    textual = any(one.textual for one in seen)
    first_id = min(one.first_id for one in seen)
    first = replace(first, textual=textual, first_id=first_id, weights=_of_all(paths, seen))
    if first.feature_names is not None:
        return tables.with_derived(paths[0], first, [one.derived for one in seen])
    n_features = max(one.n_features + (one.first_id - first_id) for one in seen)
    return replace(first, n_features=n_features)


def _of_all(paths: Sequence[Path], seen: Sequence[Layout]) -> dict[Path, QueryWeights]:
    """The weights next to all files."""
    found = {path: weights for one in seen for path, weights in one.weights.items()}
    for path in paths if found else ():
        if path not in found:
            raise DataError(
                f"{path}: expected a file with the weights of queries next to every file or to none, as there is next "
                f"to {next(iter(found))}, found none; where all queries count alike, it has a line 1 for each"
            )
    return found


def blocks(path: Path, options: tables.Options, known: Layout) -> Iterator[Block]:
    """The documents of a file, block by block."""
    groups = _groups(path)
    if tables.is_table(path):
        documents = tables.blocks(path, options, known)
    else:
        qid = "none" if groups else "text" if known.textual else "token"
        documents = Reader(path, _form(options, known.n_features, qid, known.first_id)).blocks()
        if options.documents:
            documents = _with_ids(documents, path)
    if groups is not None:
        documents = _grouped(documents, path, groups)
    if path in known.weights:
        documents = _weighted(documents, known.weights[path].of_queries)
    if options.missing == "mean" and not tables.is_table(path):
        documents = map(tables.with_means, whole_queries(documents))
    yield from documents


def digest(path: Path) -> str:
    """The SHA-256 of a file, and of its companions, used or not: all count as the data."""
    return digests.digest(path, *companions(path))


def read(
    path: str | os.PathLike[str],
    labels: PolicyOrNone,
    extreme: Extreme = "refuse",
    missing: TextMissing = "refuse",
    repeated: Repeated = "refuse",
) -> RankingData:
    """Read a file of LETOR text whole: see :meth:`RankingData.from_letor`."""
    path = Path(path)
    groups = _groups(path)
    qid: Literal["none", "text"] = "none" if groups else "text"
    reader = Reader(path, Form(labels=labels, qid=qid, first_id=0, extreme=extreme, missing=missing, repeated=repeated))
    X, y, number = gathered(reader)
    if groups:
        sizes = group_sizes(groups)
        _check_sum(path, groups, sizes, len(y))
        offsets = np.r_[0, np.cumsum(sizes)]
    else:
        offsets = np.r_[np.flatnonzero(np.r_[True, number[1:] != number[:-1]]), len(y)].astype(np.int64)
    if missing == "mean":
        X = filled(X, offsets[:-1])
    weights = None if labels == "ignored" else query_weights(path, np.diff(offsets), reader.names)
    of_queries = None if weights is None else weights.of_queries
    names = None
    if (found := feature_names.beside(path, reader.skipped, reader.n_features)) is not None:
        first_id, names = found
        unmentioned = len(names) - X.shape[1]
        before = reader.skipped - first_id
        X = np.pad(X, ((0, 0), (before, unmentioned - before)))
    # Documents to be ranked are then read alike.
    how = None if missing == "refuse" else Columns(missing=missing, extreme=extreme, repeated_features=repeated)
    if groups:
        return RankingData(X, y, offsets, np.arange(len(offsets) - 1), names, columns=how, weights=of_queries)
    assert reader.names is not None
    if all(map(_WHOLE.fullmatch, reader.names)):
        numbers = np.array([int(name) for name in reader.names], np.int64)
        return RankingData(X, y, offsets, numbers, names, columns=how, weights=of_queries)
    numbers = np.arange(len(reader.names))
    return RankingData(X, y, offsets, numbers, names, tuple(reader.names), how, weights=of_queries)


def place(path: Path, row: int) -> str:
    """Where a document stands: the file, and the line of text or the row of Parquet, counted from 0."""
    if tables.is_table(path):
        return tables.place_of(path)(row)
    number = next(islice(_lines_of_documents(path), row, None))[0]
    return f"{path}:{number}"


def group_sizes(path: Path) -> NDArray[np.int64]:
    """The number of documents of every query, as a file of LightGBM or XGBoost lists them.

    Raises
    ------
    DataError
        Naming the line that holds anything but whole numbers of at least 1.
    """
    sizes: list[int] = []
    for number, line in lines(path):
        for word in line.split():
            if not re.fullmatch(rb"[0-9]{1,18}", word) or int(word) < 1:
                raise DataError(
                    f"{path}:{number}: expected the number of documents of a query, a whole number of at least 1, "
                    f"found {word[:40].decode('utf-8', 'backslashreplace')!r}"
                )
            sizes.append(int(word))
    if not sizes:
        raise DataError(f"{path}:1: expected the number of documents of every query, found none")
    return np.array(sizes, np.int64)


def query_weights(path: Path, sizes: NDArray[np.int64], names: Sequence[str] | None) -> QueryWeights | None:
    """The weights in the file next to LETOR text: one for each query, as XGBoost has them, or for each document.

    LightGBM has the latter. They are equal within a query, as a weight is that of the whole query. ``sizes`` are the
    numbers of documents of the queries, whose ``names`` are their places if they have none.

    Raises
    ------
    DataError
        Naming the line that holds anything but a number above 0, or another weight than its query has; and the file,
        where it has another number of weights.
    """
    place = weight_file(path)
    if place is None:
        return None
    numbers, weights = array("q"), array("d")
    for number, line in lines(place):
        for word in line.split():
            weight = float(word) if NUMBER.fullmatch(word) else math.nan
            if not 0.0 < weight < math.inf:
                raise DataError(
                    f"{place}:{number}: expected the weight of a query, a number above 0, found "
                    f"{word[:40].decode('utf-8', 'backslashreplace')!r}; leave the query out if it is not to count"
                )
            numbers.append(number)
            weights.append(weight)
    given = np.array(weights)
    if len(given) == len(sizes):
        return _said_of(place, given, "query")
    if len(given) != sizes.sum():
        raise DataError(
            f"{place}: expected one weight for each of the {len(sizes):,} queries or of the {sizes.sum():,} documents "
            f"of {path.name}, found {len(given):,}"
        )
    of_queries = given[np.r_[0, np.cumsum(sizes)[:-1]]]
    if len(other := np.flatnonzero(given != np.repeat(of_queries, sizes))):
        row = int(other[0])
        q = int(np.searchsorted(np.cumsum(sizes), row, side="right"))
        raise DataError(
            f"{place}:{numbers[row]}: expected one weight for all documents of query {q if names is None else names[q]}"
            f", found {given[row]:g} after {of_queries[q]:g}; weights are those of queries"
        )
    return _said_of(place, of_queries, "document")


def _said_of(place: Path, of_queries: NDArray[np.float64], per: str) -> QueryWeights:
    _LOG.info(f"{place}: read as weights of queries, one for each {per}")
    return QueryWeights(of_queries, f"{place.name}, one for each {per}")


def _layout_of(path: Path, options: tables.Options) -> Layout:
    if tables.is_table(path):
        if options.labelled and options.weight is None and (unread := weight_file(path)) is not None:
            _LOG.warning(f"{unread}: weights next to a table are not read; a column may hold them (`weight`)")
        return tables.layout(path, options)
    if options.weight is not None:
        raise DataError(f"{path}: expected a table with the weights of queries, {options.weight!r}, found LETOR text")
    if options.one_hot:
        raise DataError(f"{path}: expected a table with the column {options.one_hot[0]!r} to encode, found LETOR text")
    groups = _groups(path)
    sizes = group_sizes(groups) if groups else None
    qid = "none" if groups else "text"
    reader = Reader(path, _form(options, None, qid, 0))
    counted = _documents_per_query(reader)
    if groups and sizes is not None:
        _check_sum(path, groups, sizes, int(counted.sum()))
        counted = sizes
    weights = query_weights(path, counted, reader.names) if options.labelled else None
    beside = {} if weights is None else {path: weights}
    textual = not all(map(_WHOLE.fullmatch, reader.names or ()))
    how = Columns(
        labels=options.labels,
        missing=options.missing,
        extreme=options.extreme,
        repeated_features=options.repeated_features,
    )
    said = None if how == Columns() else how
    found = feature_names.beside(path, reader.skipped, reader.n_features)
    if found is None:
        return Layout(reader.n_features, None, textual, reader.skipped, said, weights=beside)
    first_id, names = found
    return Layout(len(names), names, textual, first_id, said, weights=beside)


def _documents_per_query(reader: Reader) -> NDArray[np.int64]:
    """The numbers of documents of all queries of a file, whose queries are numbered from 0, for which it is parsed."""
    sizes = np.zeros(0, np.int64)
    for rows in reader.rows():
        counted = np.bincount(rows.queries, minlength=len(sizes))
        counted[: len(sizes)] += sizes
        sizes = counted
    return sizes


def _form(options: tables.Options, n_features: int | None, qid: str, first_id: int) -> Form:
    """How a file of LETOR text is read, as a person says."""
    return Form(
        n_features,
        options.labels if options.labelled else "ignored",
        qid,  # type: ignore[arg-type]
        first_id,
        options.spelled,
        options.extreme,
        options.missing,
        options.repeated_features,
    )


def _with_ids(documents: Iterator[Block], path: Path) -> Iterator[Block]:
    """The documents of LETOR text with the ids in their comments."""
    ids = _document_ids(path)
    for block in documents:
        yield replace(block, documents=np.array(list(islice(ids, len(block.label))), dtype=object))


def _document_ids(path: Path) -> Iterator[str | None]:
    pattern = _pattern_of_ids(path)
    for number, line in _lines_of_documents(path):
        found = pattern.search(line)
        try:
            yield None if found is None else found[1].decode()
        except UnicodeDecodeError as error:
            raise DataError(
                f"{path}:{number}: expected the id of the document in UTF-8, found {str(error.object)[1:40]}; convert "
                "the file, as `iconv -t UTF-8` does"
            ) from error


def _pattern_of_ids(path: Path) -> re.Pattern[bytes]:
    """Where the ids stand: in front words of comments only if no comment says docid, and these differ in a query."""
    seen: set[bytes] = set()
    query, front = b"", True
    for _, line in _lines_of_documents(path):
        if _DOCUMENT_ID.search(line):
            return _DOCUMENT_ID
        if (word := _FIRST_WORD.search(line)) is None or not front:
            front = False
            continue
        named = _QUERY.search(line)
        if (named[1] if named else b"") != query:
            query, seen = named[1] if named else b"", set()
        front = word[1] not in seen
        seen.add(word[1])
    return _FIRST_WORD if front else _DOCUMENT_ID


def _lines_of_documents(path: Path) -> Iterator[tuple[int, bytes]]:
    with opened(path) as file, io.BufferedReader(file) as text:
        for number, line in enumerate(text, start=1):
            begun = line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line
            content = begun.removesuffix(b"\n").removesuffix(b"\r").lstrip(b" \t")
            if content and not content.startswith(b"#"):
                yield number, content


def _groups(path: Path) -> Path | None:
    """The file of group sizes next to LETOR text, unless its lines name their queries themselves."""
    groups = None if tables.is_table(path) else group_file(path)
    if groups is None:
        return None
    first = next((line for _, line in lines(path) if not line.lstrip().startswith(b"#")), b"")
    return None if re.match(rb"\s*(\S+\s+)?qid:", first) else groups


def _grouped(documents: Iterator[Block], path: Path, groups: Path) -> Iterator[Block]:
    """The documents of a file whose queries are known from group sizes."""
    sizes = group_sizes(groups)
    ends = np.cumsum(sizes)
    row = 0
    for block in documents:
        rows = np.arange(row, row + len(block.label))
        row += len(block.label)
        yield replace(block, qid=np.searchsorted(ends, rows, side="right"), names=None, grouped=True)
    _check_sum(path, groups, sizes, row)


def _weighted(documents: Iterator[Block], weights: NDArray[np.float64]) -> Iterator[Block]:
    """The documents of a file with the weights of their queries, which are given query by query."""
    query, last = -1, None
    for block in documents:
        of_rows = query + np.cumsum(np.r_[block.qid[0] != last, block.qid[1:] != block.qid[:-1]])
        query, last = int(of_rows[-1]), block.qid[-1]
        yield replace(block, weights=weights[of_rows])


def _check_sum(path: Path, groups: Path, sizes: NDArray[np.int64], n_documents: int) -> None:
    if sizes.sum() != n_documents:
        raise DataError(
            f"{groups}:{len(sizes)}: expected numbers that add up to the {n_documents:,} documents of {path.name}, "
            f"found a sum of {sizes.sum():,}"
        )
