"""How are the documents of a file met query by query, whatever the size of the file?

Memory holds some whole queries at a time: those of one block of the reader, and the last one until its end is known.
"""

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from pipeline_lib.core import storage
from pipeline_lib.core.checks import Natural, checked
from pipeline_lib.data.ranking_data import RankingData
from pipeline_lib.data.stored_data import in_turn
from pipeline_lib.sources import readers
from pipeline_lib.sources.letor_reader import Block, whole_queries
from pipeline_lib.sources.tables import PARQUET, Layout, Options

ROWS_AT_ONCE = 16_384
"""So many documents of a stored data set are read at a time, or one query if it has more."""


@checked
def batches(
    path: str | os.PathLike[str], *, n_features: Natural | None = None, feature_names: Sequence[str] | None = None
) -> Iterator[RankingData]:
    """The queries of a file in their order, some whole ones at a time.

    Parameters
    ----------
    path : path
        A stored data set (Parquet with the columns qid, label and features), a table with named columns (Parquet, CSV
        or TSV), else LETOR text.
    n_features : int, optional
        The number of features of LETOR text, which need not mention the last ones.
    feature_names : sequence of str, optional
        The features of a table and their order; its other columns are left out.

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
    path, options = Path(path), Options()
    if path.suffix.lower() in PARQUET and _is_stored(path):
        return (RankingData(*part) for part in in_turn(path, ROWS_AT_ONCE))
    known = readers.layout([path], options)
    if known.feature_names is None:
        known = replace(known, n_features=max(known.n_features, n_features or 0))
    elif feature_names is not None and set(feature_names) <= set(known.feature_names):
        known = replace(known, n_features=len(feature_names), feature_names=tuple(feature_names))
    return _whole_queries(readers.blocks(path, options, known), known)


def _is_stored(path: Path) -> bool:
    import pyarrow.parquet as pq

    with storage.parquet_of_others(path):
        return {"qid", "label", "features"} <= set(pq.read_schema(path).names)


def _whole_queries(blocks: Iterator[Block], known: Layout) -> Iterator[RankingData]:
    for block in whole_queries(blocks):
        data = RankingData.from_arrays(block.X, block.label, block.qid, feature_names=known.feature_names)
        names = block.names
        yield data if names is None else replace(data, query_names=tuple(names[q] for q in data.qids.tolist()))
