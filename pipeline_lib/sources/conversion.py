"""How do the text files of a data set become one Parquet file?"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline_lib.checks import checked
from pipeline_lib.errors import DataError
from pipeline_lib.sources import letor
from pipeline_lib.stored_data import parquet_metadata, parquet_schema, parquet_table, parquet_writer


@dataclass(frozen=True)
class PartSummary:
    """One text file of a data set: its name, its documents and queries, and the SHA-256 of its bytes."""

    name: str
    rows: int
    queries: int
    sha256: str


@dataclass(frozen=True)
class ConversionSummary:
    """What a data set holds, as seen while it was converted.

    ``labels`` maps every label to its number of documents; ``queries_without_relevant`` counts queries whose documents
    are all labelled 0.
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

    def to_dict(self) -> dict[str, Any]:
        """The summary in plain types, ready for JSON (labels become strings there)."""
        return {**asdict(self), "parts": [asdict(part) for part in self.parts]}


@checked
def convert(
    parts: Mapping[str, str | os.PathLike[str]],
    target: str | os.PathLike[str],
    *,
    n_features: int | None = None,
    labels: letor.Labels = "integer",
    qid: letor.Qid = "token",
) -> ConversionSummary:
    """Convert text files, in the order given, into one Parquet file (see ``stored_data`` for its form).

    Queries and documents keep the order of the text; no row group holds documents of two parts, so that a part can be
    read by itself. The footer names the parts and the SHA-256 of their text, computed while it is read. Memory holds a
    few row groups, whatever the size of the files, and a few bytes per query. The same text gives the same bytes.

    Parameters
    ----------
    parts : mapping of part names to paths
        A query's name may occur in several parts; those are different queries.
    target : path
        The Parquet file; it appears only when all text has been read without complaint.
    n_features : int, optional
        As in :func:`letor.read`; by default the largest id of all parts, which costs one more reading of them.
    labels, qid
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
    if not parts:
        raise DataError(f"{target}: expected at least one part to convert, found none")
    if n_features is None:
        n_features = max(letor.count_features(path, labels=labels, qid=qid) for path in parts.values())
    schema = parquet_schema(n_features)
    tally = _Tally()
    with parquet_writer(target, schema) as writer:
        for name, path in parts.items():
            digest = hashlib.sha256()
            for block in letor.read_blocks(path, n_features=n_features, labels=labels, qid=qid, digest=digest):
                writer.write_table(parquet_table(block.qid, block.label, block.X, schema))
                tally.add(block)
            tally.end_part(name, digest.hexdigest())
        described = [{"name": part.name, "rows": part.rows, "queries": part.queries} for part in tally.parts]
        writer.add_key_value_metadata(parquet_metadata(described, {part.name: part.sha256 for part in tally.parts}))
    return tally.summary(n_features)


class _Tally:
    """Counts blocks as they pass. A query may span blocks, never parts."""

    def __init__(self) -> None:
        self.parts: list[PartSummary] = []
        self.labels = np.zeros(256, np.int64)
        self._sizes: list[NDArray[np.int64]] = []
        self._largest: list[NDArray[np.uint8]] = []
        self._open_query: int | None = None
        self._rows = self._queries = 0

    def add(self, block: letor.Block) -> None:
        """Count a block's documents, queries and labels."""
        self.labels += np.bincount(block.label, minlength=256)
        starts = np.flatnonzero(np.r_[True, block.qid[1:] != block.qid[:-1]])
        sizes = np.diff(np.r_[starts, len(block.qid)])
        largest = np.maximum.reduceat(block.label, starts)
        if block.qid[0] == self._open_query:
            self._sizes[-1][-1] += sizes[0]
            self._largest[-1][-1] = max(self._largest[-1][-1], largest[0])
            sizes, largest = sizes[1:], largest[1:]
        if len(sizes):
            self._sizes.append(sizes)
            self._largest.append(largest)
        self._open_query = int(block.qid[-1])
        self._rows += len(block.qid)
        self._queries += len(sizes)

    def end_part(self, name: str, sha256: str) -> None:
        """Note that the next block belongs to another part."""
        self.parts.append(PartSummary(name, self._rows, self._queries, sha256))
        self._open_query = None
        self._rows = self._queries = 0

    def summary(self, n_features: int) -> ConversionSummary:
        """Sum up all parts."""
        sizes = np.concatenate(self._sizes)
        return ConversionSummary(
            rows=int(sizes.sum()),
            queries=len(sizes),
            features=n_features,
            labels={int(label): int(self.labels[label]) for label in np.flatnonzero(self.labels)},
            parts=tuple(self.parts),
            documents_per_query_min=int(sizes.min()),
            documents_per_query_median=float(np.median(sizes)),
            documents_per_query_max=int(sizes.max()),
            queries_without_relevant=int(np.count_nonzero(np.concatenate(self._largest) == 0)),
        )
