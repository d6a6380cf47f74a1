"""How are the documents of a file met query by query, whatever the size of the file?

Memory holds some whole queries at a time: those of one block of the reader, and the last one until its end is known.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from pipeline_lib.checks import checked
from pipeline_lib.ranking_data import RankingData, query_index
from pipeline_lib.sources import letor
from pipeline_lib.sources.letor import Block

PARQUET = (".parquet", ".pq")
ROWS_AT_ONCE = 16_384
"""So many documents of a stored data set are read at a time, or one query if it has more."""


@checked
def batches(path: str | os.PathLike[str], *, n_features: int | None = None) -> Iterator[RankingData]:
    """The queries of a file in their order, some whole ones at a time.

    Parameters
    ----------
    path : path
        A stored data set (``.parquet``), else LETOR text.
    n_features : int, optional
        The number of features; without it, LETOR text is read once more to count them.

    Raises
    ------
    DataError
        When there is no such file, or it breaks its format; the message names the line.

    Example
    -------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "three.txt"
    >>> _ = path.write_text("2 qid:10 1:0.5\\n0 qid:10 2:1\\n1 qid:11 1:1\\n")
    >>> [(batch.qids.tolist(), batch.y.tolist()) for batch in batches(path)]
    [([10], [2, 0]), ([11], [1])]
    """
    if Path(path).suffix.lower() in PARQUET:
        return _stored(path)
    # A generator would report a missing file only when it is asked for its first batch.
    return _whole_queries(letor.read_blocks(path, n_features=n_features))


@checked
def whole(path: str | os.PathLike[str], *, n_features: int | None = None) -> RankingData:
    """All queries of a file at once; arguments and errors as in :func:`batches`.

    Example
    -------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "three.txt"
    >>> _ = path.write_text("2 qid:10 1:0.5\\n0 qid:10 2:1\\n1 qid:11 1:1\\n")
    >>> whole(path)
    RankingData(2 queries, 3 documents, 2 features, labels 0..2)
    """
    parts = list(batches(path, n_features=n_features))
    X, y, qids, lengths = (
        np.concatenate([getattr(part, name) for part in parts]) for name in ("X", "y", "qids", "documents_per_query")
    )
    return RankingData(X, y, np.r_[0, np.cumsum(lengths)], qids)


def _stored(path: str | os.PathLike[str]) -> Iterator[RankingData]:
    offsets, _, _ = query_index(path)
    begin = 0
    while begin < len(offsets) - 1:
        end = int(np.searchsorted(offsets, offsets[begin] + ROWS_AT_ONCE, side="right")) - 1
        yield RankingData.read_parquet(path, np.arange(begin, max(begin + 1, end)))
        begin = max(begin + 1, end)


def _whole_queries(blocks: Iterator[Block]) -> Iterator[RankingData]:
    kept: list[Block] = []  # documents of one query, whose end has not been met
    for block in blocks:
        last = int(np.flatnonzero(np.r_[True, block.qid[1:] != block.qid[:-1]])[-1])
        if last or (kept and kept[0].qid[0] != block.qid[0]):
            yield _joined([*kept, _rows(block, 0, last)])
            kept = []
        # Copied: a few rows must not keep a whole block in memory.
        kept.append(_rows(block, last, len(block.qid)))
    if kept:
        yield _joined(kept)


def _rows(block: Block, begin: int, end: int) -> Block:
    return Block(block.qid[begin:end].copy(), block.label[begin:end].copy(), block.X[begin:end].copy())


def _joined(blocks: list[Block]) -> RankingData:
    X, y, qid = (np.concatenate([getattr(block, name) for block in blocks]) for name in ("X", "label", "qid"))
    return RankingData.from_arrays(X, y, qid)
