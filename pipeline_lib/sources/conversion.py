"""How do the text files of a data set become one Parquet file?"""

import hashlib
import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline_lib.core import checks
from pipeline_lib.core.checks import Count, Natural, checked
from pipeline_lib.core.errors import DataError
from pipeline_lib.data.columns import runs
from pipeline_lib.data.ranking_data import RankingData
from pipeline_lib.data.stored_data import (
    Columns,
    Extreme,
    Judging,
    parquet_metadata,
    parquet_schema,
    parquet_table,
    parquet_writer,
    rows_per_group,
)
from pipeline_lib.sources import letor, pitfalls, readers
from pipeline_lib.sources.digests import digest
from pipeline_lib.sources.letor_reader import Block, Form, Reader, whole_queries
from pipeline_lib.sources.tables import Options


@dataclass(frozen=True)
class PartSummary:
    """One text file of a data set: its name, its documents and queries, and the SHA-256 of its bytes."""

    name: str
    rows: int
    queries: int
    sha256: str


@dataclass(frozen=True)
class ConversionSummary:
    """The contents of a data set, as counted while it was converted.

    ``labels`` maps every label to its number of documents; ``queries_without_relevant`` counts queries whose documents
    are all labelled 0; ``warnings`` are those about a person's own data (:mod:`pipeline_lib.sources.pitfalls`), and
    ``weights`` says in which files next to the text the weights of queries stand.
    """

    rows: int
    queries: int
    features: int
    labels: dict[int, int]
    parts: tuple[PartSummary, ...]
    documents_per_query_min: int
    documents_per_query_median: float
    documents_per_query_max: int
    queries_without_relevant: int
    warnings: tuple[str, ...] = ()
    weights: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The summary in plain types, ready for JSON (labels become strings there)."""
        plain = {**asdict(self), "parts": [asdict(part) for part in self.parts]}
        said = {name: list(texts) for name in ("warnings", "weights") if (texts := plain.pop(name))}
        return plain | said


@checked
def convert(
    parts: Mapping[str, str | os.PathLike[str]],
    target: str | os.PathLike[str],
    *,
    n_features: Natural | None = None,
    labels: letor.Labels = "integer",
    qid: letor.Qid = "token",
    extreme: Extreme = "refuse",
) -> ConversionSummary:
    """Convert text files, in the given order, into one Parquet file (see ``stored_data`` for its format).

    Queries and documents keep the order of the text. No row group contains documents of two parts, so that a part can
    be read separately. The footer contains the names of the parts and the SHA-256 of their files. The memory needed is
    that of a few row groups, whatever the size of the files, a few bytes per query and one per document. The same text
    gives the same bytes.

    Parameters
    ----------
    parts : mapping of part names to paths
        A query's name may occur in several parts; those are different queries.
    target : path
        The Parquet file; it appears only when all text has been read without an error.
    n_features : int, optional
        As in :func:`letor.read`; by default the largest id of all parts, for which they are read once more.
    labels, qid, extreme
        As in :func:`letor.read`.

    Raises
    ------
    DataError
        When there is no part, or what :func:`letor.read` raises.

    Example
    -------
    >>> import tempfile, pathlib
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "S1.txt").write_text("2 qid:1 1:0.5\\n0 qid:1 2:1\\n0 qid:2 1:1\\n")
    >>> summary = convert({"S1": folder / "S1.txt"}, folder / "data.parquet")
    >>> summary.rows, summary.queries, summary.features, summary.labels, summary.queries_without_relevant
    (3, 2, 2, {0: 2, 2: 1}, 1)
    """
    _at_least_one(parts, target)
    if n_features is None:
        readings = [Reader(path, Form(None, labels, qid, extreme=extreme)) for path in parts.values()]
        for reading in readings:
            reading.read_ids()
        n_features = max(reading.n_features for reading in readings)
    form = Form(n_features, labels, qid, extreme=extreme)

    return _store(
        list(parts),
        lambda part: Reader(parts[part], form).blocks(),
        lambda part: digest(parts[part]),
        target,
        n_features,
        columns=None if extreme == "refuse" else Columns(extreme=extreme),
    )


@checked
def convert_own(
    parts: Mapping[str, str | os.PathLike[str]],
    target: str | os.PathLike[str],
    options: Options,
    *,
    shared: bool = False,
    relevant_from: Count = 1,
) -> ConversionSummary:
    """Convert files of any form that :mod:`pipeline_lib.sources.readers` reads, as :func:`convert` does.

    They are read once more beforehand, for what all must have in common. Where the queries are ``shared``, a query that
    stands in several files with the same documents is stored once, and the footer lists the queries of every part.
    The data are judged by means over ties, and documents are relevant from the label ``relevant_from`` on.

    Raises
    ------
    DataError
        When there is no part; otherwise naming the file and the line or the row.
    """
    _at_least_one(parts, target)
    paths = {name: Path(path) for name, path in parts.items()}
    known = readers.layout(list(paths.values()), options)

    return _store(
        list(paths),
        lambda part: readers.blocks(paths[part], options, known),
        lambda part: readers.digest(paths[part]),
        target,
        known.n_features,
        known.feature_names,
        known.textual,
        _Sharing() if shared else None,
        known.columns,
        Judging("mean", relevant_from),
        tuple(one.source for one in known.weights.values()),
    )


@checked
def convert_drawn(drawn: Mapping[str, Callable[[], RankingData]], target: str | os.PathLike[str]) -> ConversionSummary:
    """Store parts that are drawn and not read, one at a time, as :func:`convert` stores the same documents of a text.

    There is no text: the digest of a part is the SHA-256 of its queries (int64), labels (uint8) and features (float32,
    little-endian), one row group after the other.

    Raises
    ------
    DataError
        When there is no part.

    Example
    -------
    >>> import tempfile, pathlib
    >>> data = RankingData.from_arrays([[0.5], [1.0]], [2, 0], [1, 1])
    >>> summary = convert_drawn({"S1": lambda: data}, pathlib.Path(tempfile.mkdtemp()) / "data.parquet")
    >>> summary.rows, summary.queries, summary.features, summary.labels
    (2, 1, 1, {0: 1, 2: 1})
    """

    def made(part: str) -> RankingData:
        return checks.instance(f"drawn[{part!r}]()", drawn[part](), RankingData)

    _at_least_one(drawn, target)
    names = list(drawn)
    first = made(names[0])
    n_features = first.n_features
    at_hand = {names[0]: first}
    del first

    digests = {name: hashlib.sha256() for name in names}

    def blocks(part: str) -> Iterator[Block]:
        data = at_hand.pop(part, None) or made(part)
        qid = np.repeat(data.qids, data.documents_per_query)
        step = rows_per_group(n_features)
        for start in range(0, data.n_documents, step):
            rows = slice(start, start + step)
            block = Block(qid[rows], data.y[rows].astype(np.uint8), data.X[rows])
            for column, kind in ((block.qid, "<i8"), (block.label, "u1"), (block.X, "<f4")):
                digests[part].update(np.ascontiguousarray(column, kind).tobytes())
            yield block

    return _store(names, blocks, lambda part: digests[part].hexdigest(), target, n_features)


def _at_least_one(parts: Mapping[str, object], target: str | os.PathLike[str]) -> None:
    if not parts:
        raise DataError(f"{target}: expected at least one part to convert, found none")


def _store(
    names: Sequence[str],
    blocks: Callable[[str], Iterator[Block]],
    digest_of: Callable[[str], str],
    target: str | os.PathLike[str],
    n_features: int,
    feature_names: Sequence[str] | None = None,
    textual: bool = False,
    sharing: "_Sharing | None" = None,
    columns: Columns | None = None,
    judging: Judging = Judging(),  # noqa: B008
    weights: tuple[str, ...] = (),
) -> ConversionSummary:
    weighted = bool(weights) or (columns is not None and columns.weight is not None)
    schema = parquet_schema(n_features, named_queries=textual, weighted=weighted)
    parts: list[PartSummary] = []
    starts: list[NDArray[np.int64]] = []
    labels: list[NDArray[np.uint8]] = []
    row = 0
    # The catalogue's data, which are judged by the order of their rows, are known.
    within = pitfalls.WithinQueries(n_features) if judging.ties == "mean" else None
    with parquet_writer(target, schema) as writer:
        for name in names:
            last, first_row, n_queries = None, row, 0
            for block in blocks(name) if sharing is None else sharing.new(name, blocks(name)):
                queries = _query_names(block) if textual else None
                writer.write_table(parquet_table(block.qid, block.label, block.X, schema, queries, block.weights))
                begun = np.flatnonzero(np.r_[last is None or block.qid[0] != last, block.qid[1:] != block.qid[:-1]])
                starts.append(row + begun)
                labels.append(block.label)
                n_queries += len(begun)
                row += len(block.qid)
                last = block.qid[-1]
                if within is not None:
                    within.see(block)
            if within is not None:
                within.end()
            parts.append(PartSummary(name, row - first_row, n_queries, digest_of(name)))
        stored = [{"name": part.name, "rows": part.rows, "queries": part.queries} for part in parts]
        digests = {part.name: part.sha256 for part in parts}
        members = None if sharing is None else sharing.members
        writer.add_key_value_metadata(parquet_metadata(stored, digests, feature_names, members, columns, judging))
    label, first = np.concatenate(labels), np.concatenate(starts)
    sizes, counts = np.diff(np.r_[first, row]), np.bincount(label)
    documents = {int(one): int(counts[one]) for one in np.flatnonzero(counts)}
    warned: list[str] = []
    if within is not None:
        found = pitfalls.found(label, np.r_[first, row], within.differ, feature_names, judging.relevant_from)
        # How many lists have no relevant document is counted for all data, and said of them.
        warned = [str(one) for one in found if one.check != pitfalls.IRRELEVANT]
    return ConversionSummary(
        rows=row,
        queries=len(sizes),
        features=n_features,
        labels=documents,
        parts=tuple(parts if sharing is None else map(sharing.whole, parts)),
        documents_per_query_min=int(sizes.min()),
        documents_per_query_median=float(np.median(sizes)),
        documents_per_query_max=int(sizes.max()),
        queries_without_relevant=int(np.count_nonzero(np.maximum.reduceat(label, first) == 0)),
        warnings=tuple(warned),
        weights=weights,
    )


def _query_names(block: Block) -> list[str]:
    """The name of every row's query; a file of group sizes gives numbers only."""
    if block.names is None:
        return [str(number) for number in block.qid]
    return [block.names[number] for number in block.qid]


class _Sharing:
    """Which queries of several files are the same: those with the same name, weight, labels and features, in order.

    Attributes
    ----------
    members : mapping of parts to the indices of their queries among those that are stored
    """

    def __init__(self) -> None:
        self.members: dict[str, NDArray[np.int64]] = {}
        self._rows: dict[str, int] = {}
        self._seen: dict[tuple[bytes, int], int] = {}

    def whole(self, part: PartSummary) -> PartSummary:
        """What stands in a part, stored with another or not."""
        return replace(part, rows=self._rows[part.name], queries=len(self.members[part.name]))

    def new(self, part: str, blocks: Iterator[Block]) -> Iterator[Block]:
        """The documents of the queries that stand in no part before."""
        here: Counter[bytes] = Counter()
        members: list[int] = []
        self._rows[part] = 0
        for block in whole_queries(blocks):
            keep = np.zeros(len(block.qid), np.bool_)
            for start, stop in runs(block.qid):
                content = _query_digest(block, start, stop)
                here[content] += 1  # the same documents may stand twice in one file
                known = len(self._seen)
                members.append(self._seen.setdefault((content, here[content]), known))
                keep[start:stop] = members[-1] == known
            self._rows[part] += len(keep)
            if keep.any():
                yield block.rows(keep)
        self.members[part] = np.array(members, np.int64)


def _query_digest(block: Block, start: int, stop: int) -> bytes:
    """A digest of the documents of a query, with its name and its weight where the file gives one."""
    found = hashlib.sha256()
    if not block.grouped:
        name = block.qid[start] if block.names is None else block.names[block.qid[start]]
        found.update(f"{name}\n".encode())
    found.update(block.label[start:stop].tobytes())
    found.update(block.X[start:stop].tobytes())
    if block.weights is not None:
        found.update(block.weights[start].tobytes())
    return found.digest()
