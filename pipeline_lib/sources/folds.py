"""Which queries are for training, validation and testing in each fold?

Features are stored once; the folds are a small table of queries. It follows from the layout in the catalogue and from
the order of the parts, which is stated in the metadata of the data set's Parquet file.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from pipeline_lib.core import storage
from pipeline_lib.core.checks import Natural, checked
from pipeline_lib.core.errors import DataError
from pipeline_lib.core.seeds import seed
from pipeline_lib.data.ranking_data import RankingData
from pipeline_lib.data.stored_data import column_values, queries_of_parts, query_index
from pipeline_lib.sources.catalog import ROLES, DataSet

if TYPE_CHECKING:
    import polars as pl

Part = Literal["train", "validation", "test"]


@checked
def fold_table(data_set: DataSet, data_path: str | os.PathLike[str]) -> pl.DataFrame:
    """Lay out the folds of a stored data set.

    Parameters
    ----------
    data_set : DataSet
        Its layout; the queries of a split part are distributed over blocks by a stable hash of the data set's name and
        the query's index within the part, so that blocks depend neither on the order of work nor on a seed. The blocks
        of an own data set, which may be small, differ by at most one query.
    data_path : path
        The Parquet file, whose metadata lists the parts in the order of the rows.

    Returns
    -------
    polars.DataFrame
        ``fold`` (uint8, from 1), ``part`` (train, validation or test), ``query`` (int32, index of the query in the
        Parquet file) and ``qid`` (int64, its name), sorted by fold, part in this order, and query.

    Raises
    ------
    DataError
        When the file's parts are not those of the catalogue, a role of a fold has no query, or a query has two roles in
        a fold or is tested in two.
    """
    import polars as pl

    _, qids, parts = query_index(data_path, stored=True)
    names = [part["name"] for part in parts]
    if names != list(data_set.parts):
        raise DataError(
            f"{data_path}: expected the parts {', '.join(data_set.parts)} of {data_set.name}, found "
            f"{', '.join(names) or 'none'}; convert the data set again"
        )
    blocks = _blocks(data_set, queries_of_parts(data_path, stored=True))
    chosen: list[tuple[int, str, NDArray[np.int32]]] = []
    for number, fold in enumerate(data_set.folds, start=1):
        for role in ROLES:
            members = np.sort(np.concatenate([blocks[block] for block in getattr(fold, role)]))
            chosen.append((number, role, members.astype(np.int32)))
    _check(chosen, len(qids), data_set, data_path)
    columns = ({"fold": fold, "part": role, "query": members, "qid": qids[members]} for fold, role, members in chosen)
    types = {"fold": pl.UInt8(), "part": pl.Enum(ROLES), "query": pl.Int32(), "qid": pl.Int64()}
    return pl.concat([pl.DataFrame(one, schema=types) for one in columns])


@checked
def write_folds(data_set: DataSet, data_path: str | os.PathLike[str], target: str | os.PathLike[str]) -> None:
    """Write :func:`fold_table` as Parquet with its checksums, completely or not at all."""
    storage.write_table(target, fold_table(data_set, data_path))


@checked
def queries(path: str | os.PathLike[str], fold: Natural, part: Part) -> NDArray[np.int64]:
    """Read which queries have a given role in a fold: their indices in the data set's Parquet file, ascending.

    Raises
    ------
    DataError
        When the file is not a table of folds, or contains no such fold or part.
    DamagedFileError
        When its content has changed since it was written.
    """
    # Without polars and pandas: to import one takes longer than a short training, which has no other use for it.
    import pyarrow as pa
    import pyarrow.parquet as pq

    needed = ["fold", "part", "query"]
    with storage.checked(path) as file:
        stored = pq.ParquetFile(file)
        if not set(needed) <= set(names := stored.schema_arrow.names):
            raise DataError(f"{path}: expected the columns fold, part and query, found {', '.join(names)}")
        table = stored.read(columns=needed, use_threads=False)
    folds = column_values(table, "fold", path)
    known = np.unique(folds).tolist()
    if fold not in known:
        raise DataError(f"{path}: expected a fold of {known}, found {fold}")
    parts = np.array(table["part"].cast(pa.string()).to_pylist())
    return column_values(table, "query", path)[(folds == fold) & (parts == part)].astype(np.int64)


@checked
def read(
    documents: str | os.PathLike[str],
    path: str | os.PathLike[str],
    fold: Natural,
    part: Part,
    among: NDArray[np.int64] | None = None,
) -> RankingData:
    """Read the queries of :func:`queries` with their documents; the data know their role.

    Parameters
    ----------
    documents : path
        The data set's Parquet file.
    path, fold, part
        As in :func:`queries`.
    among : shape (k,), optional
        Indices of queries; all others are left out.
    """
    chosen = queries(path, fold, part)
    if among is not None:
        chosen = chosen[np.isin(chosen, among)]
    return replace(RankingData.read_parquet(documents, chosen, stored=True), role=part)


def _blocks(data_set: DataSet, queries_of: Mapping[str, NDArray[np.int64]]) -> dict[str, NDArray[np.int64]]:
    """The query indices of every block, in the order of its part."""
    blocks = dict(queries_of)
    for part, shares in data_set.split.items():
        indices = blocks.pop(part)
        drawn = [seed(data_set.name, part, i) for i in range(len(indices))]
        share = np.array([one % shares for one in drawn], dtype=np.int64)
        if data_set.source == "own":
            share[sorted(range(len(indices)), key=drawn.__getitem__)] = np.arange(len(indices)) % shares
        for i in range(shares):
            blocks[f"{part}/{i + 1}"] = indices[share == i]
    return blocks


def _check(
    chosen: list[tuple[int, str, NDArray[np.int32]]],
    n_queries: int,
    data_set: DataSet,
    data_path: str | os.PathLike[str],
) -> None:
    tested = np.zeros(n_queries, np.int64)
    used = np.zeros((data_set.n_folds, n_queries), np.int64)
    for number, role, members in chosen:
        if not len(members):
            advice = (
                f"give more queries than {n_queries}, or fewer folds than {data_set.n_folds}"
                if data_set.source == "own"
                else "is the data set complete?"
            )
            raise DataError(f"{data_path}: fold {number} has no query for {role}; {advice}")
        np.add.at(used[number - 1], members, 1)
        tested[members] += role == "test"
    # Blocks of the catalogue share no query, and the catalogue itself was checked; the files of an own data set may.
    if used.max() > 1:
        number = int(np.argwhere(used > 1)[0, 0]) + 1
        raise DataError(f"{data_path}: fold {number} of {data_set.name} uses a query in two roles; correct the files")
    if data_set.n_folds > 1 and tested.max() > 1:
        raise DataError(f"{data_path}: two folds of {data_set.name} test the same query; correct the files")
