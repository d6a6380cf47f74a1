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
from pipeline_lib.data.stored_data import queries_of_parts, query_index
from pipeline_lib.sources.catalog import ROLES, DataSet

if TYPE_CHECKING:
    import pyarrow as pa

Part = Literal["train", "validation", "test"]


@checked
def fold_table(data_set: DataSet, data_path: str | os.PathLike[str]) -> pa.Table:
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
    pyarrow.Table
        ``fold`` (uint8, from 1), ``part`` (train, validation or test), ``query`` (int32, index of the query in the
        Parquet file) and ``qid`` (int64, its name), sorted by fold, part in this order, and query.

    Raises
    ------
    DataError
        When the file's parts are not those of the catalogue, a role of a fold has no query, or a query has two roles in
        a fold or is tested in two.
    """
    import pyarrow as pa

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
    sizes = [len(members) for _, _, members in chosen]
    query = np.concatenate([members for _, _, members in chosen])
    role_index = np.repeat(np.tile(np.arange(len(ROLES), dtype=np.int8), data_set.n_folds), sizes)
    columns = {
        "fold": pa.array(np.repeat(np.array([number for number, _, _ in chosen], np.uint8), sizes)),
        "part": pa.DictionaryArray.from_arrays(role_index, list(ROLES)),
        "query": pa.array(query),
        "qid": pa.array(qids[query]),
    }
    return pa.table(columns)


@checked
def write_folds(data_set: DataSet, data_path: str | os.PathLike[str], target: str | os.PathLike[str]) -> None:
    """Write :func:`fold_table` as Parquet with its checksums, completely or not at all."""
    table = fold_table(data_set, data_path)
    with storage.parquet_writer(target, table.schema) as writer:
        writer.write_table(table)


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
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    with storage.checked(path) as source:
        table = pq.ParquetFile(source).read(columns=["fold", "part", "query"], use_threads=False)
    if set(table.column_names) != {"fold", "part", "query"}:
        raise DataError(
            f"{path}: expected the columns fold, part and query, found {', '.join(table.column_names) or 'none'}"
        )
    of_fold = table.filter(pc.equal(table["fold"], fold))
    if not len(of_fold):
        known = pc.unique(table["fold"]).to_pylist()
        raise DataError(f"{path}: expected a fold of {known}, found {fold}")
    indices = of_fold.filter(pc.equal(pc.cast(of_fold["part"], pa.string()), part))["query"].to_numpy()
    if not len(indices):
        raise DataError(f"{path}: expected one of {', '.join(ROLES)}, found {part!r}")
    return np.asarray(indices, dtype=np.int64)


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
    blocks = {}
    for part, indices in queries_of.items():
        shares = data_set.split.get(part)
        if shares is None:
            blocks[part] = indices
            continue
        drawn = [seed(data_set.name, part, i) for i in range(len(indices))]
        if data_set.source == "own":
            share = np.empty(len(indices), np.int64)
            share[sorted(range(len(indices)), key=drawn.__getitem__)] = np.arange(len(indices)) % shares
        else:
            share = np.array([one % shares for one in drawn], dtype=np.int64)
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
            advice = "give more queries or fewer folds" if data_set.source == "own" else "is the data set complete?"
            raise DataError(f"{data_path}: fold {number} has no query for {role}; {advice}")
        np.add.at(used[number - 1], members, 1)
        tested[members] += role == "test"
    # Blocks of the catalogue share no query, and the catalogue itself was checked; the files of an own data set may.
    if used.max() > 1:
        number = int(np.argwhere(used > 1)[0, 0]) + 1
        raise DataError(f"{data_path}: fold {number} of {data_set.name} uses a query in two roles; correct the files")
    if data_set.n_folds > 1 and tested.max() > 1:
        raise DataError(f"{data_path}: two folds of {data_set.name} test the same query; correct the files")
