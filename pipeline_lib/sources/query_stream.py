"""How are the documents of a file met query by query, whatever the size of the file?

Memory holds some whole queries at a time: those of one block of the reader, and the last one until its end is known.
"""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pipeline_lib.core import storage
from pipeline_lib.core.checks import Natural, checked
from pipeline_lib.core.errors import DataError
from pipeline_lib.data.derived import Derived
from pipeline_lib.data.ranking_data import RankingData
from pipeline_lib.data.stored_data import Columns, in_turn
from pipeline_lib.sources import readers, tables
from pipeline_lib.sources.letor_reader import Block, whole_queries
from pipeline_lib.sources.own_settings import PARQUET
from pipeline_lib.sources.tables import Layout, Options

ROWS_AT_ONCE = 16_384
"""So many documents of a stored data set are read at a time, or one query if it has more."""


@dataclass(frozen=True)
class Batch:
    """Some whole queries.

    Attributes
    ----------
    data : RankingData
        With labels of 0 where labels are not read.
    documents : list of str or None, one for each document
        The ids of the documents, where the file has them.
    """

    data: RankingData
    documents: Sequence[str | None]


@checked
def batches(
    path: str | os.PathLike[str],
    *,
    n_features: Natural | None = None,
    feature_names: Sequence[str] | None = None,
    trained: Columns | None = None,
    label: str | None = None,
    query: str | None = None,
    ignore: Sequence[str] = (),
    labelled: bool = True,
) -> Iterator[Batch]:
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
    trained : Columns, optional
        How the file was read with which a ranker was trained. This one is read in the same way: labels, missing values,
        and the columns, unless the next three name others.
    label, query : str, optional
        The columns of the labels and the queries of a table; by default those of :mod:`pipeline_lib.data.columns`.
    ignore : sequence of str
        Columns of a table that are no features.
    labelled : bool
        Whether labels are read; where ``trained`` does not say how, real ones are rounded. Otherwise there need not
        be any.

    Raises
    ------
    DataError
        When there is no such file, or it breaks its format; the message names the line.

    Example
    -------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "three.txt"
    >>> _ = path.write_text("2 qid:10 1:0.5 # docid = GX7\\n0 qid:10 2:1\\n1 qid:11 1:1\\n")
    >>> [(batch.data.qids.tolist(), batch.data.y.tolist(), batch.documents) for batch in batches(path)]
    [([10], [2, 0], ['GX7', None]), ([11], [1], [None])]
    """
    path = Path(path)
    if path.suffix.lower() in PARQUET and _is_stored(path):
        stored = (RankingData(*part) for part in in_turn(path, ROWS_AT_ONCE))
        return (Batch(data, [None] * data.n_documents) for data in stored)
    features = None if feature_names is None else tuple(feature_names)
    options = Options(
        label, query, tuple(ignore), labels="rounded", features=features, labelled=labelled, documents=True
    )
    if trained is not None:
        options = replace(
            options,
            labels=trained.labels,
            extreme=trained.extreme,
            missing=trained.missing if trained.query is None and trained.missing != "flag" else "refuse",
            repeated_features=trained.repeated_features,
        )
        if tables.is_table(path):
            options = _as_trained(options, trained, path)
    known = readers.layout([path], options)
    if known.feature_names is None:
        known = replace(known, n_features=max(known.n_features, n_features or 0))
    return _whole_queries(readers.blocks(path, options, known), known)


def _as_trained(options: Options, trained: Columns, path: Path) -> Options:
    """The columns of training take the roles that nobody gave to others, as far as the table needs to have them.

    The separator is that of training if it occurs in the first line.
    """
    options = replace(options, missing=trained.missing, separator=trained.separator)
    if len(names := tables.names(path, options)) == 1:
        options = replace(options, separator=None)
        names = tables.names(path, options)
    if options.features is None:
        options = replace(options, one_hot=tuple(name for name in trained.one_hot if name in names))
    else:
        made = Derived.of_training(options.features, trained, names)
        options = replace(
            options, features=made.plain, one_hot=tuple(made.values), values=made.values, flagged=made.flagged
        )
    if options.query is None and trained.query is not None and trained.query not in names:
        raise DataError(
            f"{path}: expected the column {trained.query!r} of the queries, as in training, found the columns "
            f"{', '.join(names[:20])}; name the column with `query`"
        )
    return replace(
        options,
        label=options.label or (trained.label if trained.label in names else None),
        query=options.query or trained.query,
        ignore=options.ignore or tuple(name for name in trained.ignore if name in names),
    )


def _is_stored(path: Path) -> bool:
    import pyarrow.parquet as pq

    with storage.parquet_of_others(path):
        return {"qid", "label", "features"} <= set(pq.read_schema(path).names)


def _whole_queries(blocks: Iterator[Block], known: Layout) -> Iterator[Batch]:
    for block in whole_queries(blocks):
        data = RankingData.from_arrays(block.X, block.label, block.qid, feature_names=known.feature_names)
        if block.names is not None:
            data = replace(data, query_names=tuple(block.names[q] for q in data.qids.tolist()))
        if block.weights is not None:
            data = replace(data, weights=block.weights[data.offsets[:-1]])
        yield Batch(data, [None] * data.n_documents if block.documents is None else block.documents.tolist())
