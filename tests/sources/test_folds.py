import subprocess
import sys

import numpy as np
import polars as pl
import pyarrow.parquet as pq
import pytest

from pipeline_lib.core.errors import DataError
from pipeline_lib.data.stored_data import parquet_metadata, parquet_schema, parquet_table, parquet_writer, query_index
from pipeline_lib.sources import catalog
from pipeline_lib.sources.folds import fold_table, queries, read, write_folds

SIZES = {"S1": 3, "S2": 2, "S3": 4, "S4": 1, "S5": 2}


def stored(path, sizes, first_qid=100):
    """A data set whose q-th query has q % 3 + 1 documents."""
    n_queries = sum(sizes.values())
    documents = np.arange(n_queries) % 3 + 1
    qid = np.repeat(np.arange(n_queries) + first_qid, documents)
    ends = np.cumsum(list(sizes.values()))
    parts = [
        {"name": name, "queries": size, "rows": int(documents[end - size : end].sum())}
        for (name, size), end in zip(sizes.items(), ends, strict=True)
    ]
    schema = parquet_schema(2)
    with parquet_writer(path, schema) as writer:
        writer.write_table(
            parquet_table(qid, np.zeros(len(qid), np.int64), np.zeros((len(qid), 2), np.float32), schema)
        )
        writer.add_key_value_metadata(parquet_metadata(parts, {}))
    return path


@pytest.fixture
def data_path(tmp_path):
    return stored(tmp_path / "data.parquet", SIZES)


def test_the_letor_layout_is_the_published_one(tmp_path, data_path):
    members = {"S1": [0, 1, 2], "S2": [3, 4], "S3": [5, 6, 7, 8], "S4": [9], "S5": [10, 11]}
    published = {
        1: ("S1 S2 S3", "S4", "S5"),
        2: ("S2 S3 S4", "S5", "S1"),
        3: ("S3 S4 S5", "S1", "S2"),
        4: ("S4 S5 S1", "S2", "S3"),
        5: ("S5 S1 S2", "S3", "S4"),
    }
    write_folds(catalog.get("MQ2008"), data_path, tmp_path / "folds.parquet")
    for fold, roles in published.items():
        for part, names in zip(("train", "validation", "test"), roles, strict=True):
            expected = sorted(query for name in names.split() for query in members[name])
            found = queries(tmp_path / "folds.parquet", fold, part)
            assert found.dtype == np.int64
            assert found.tolist() == expected


def test_columns_and_order(data_path):
    table = fold_table(catalog.get("OHSUMED"), data_path)
    assert table.columns == ["fold", "part", "query", "qid"]
    assert table.dtypes == [pl.UInt8, pl.Enum(["train", "validation", "test"]), pl.Int32, pl.Int64]
    assert len(table) == 5 * sum(SIZES.values())
    assert np.array_equal(table["qid"].to_numpy(), table["query"].to_numpy() + 100)
    roles = ["train", "validation", "test"]
    rows = [(row["fold"], roles.index(row["part"]), row["query"]) for row in table.to_dicts()]
    assert rows == sorted(rows)


def test_of_the_queries_of_a_role_those_that_are_asked_for_are_read(tmp_path, data_path):
    write_folds(catalog.get("MQ2008"), data_path, tmp_path / "folds.parquet")
    whole = read(data_path, tmp_path / "folds.parquet", 1, "train")
    some = read(data_path, tmp_path / "folds.parquet", 1, "train", among=np.array([1, 4, 8, 9, 11]))
    assert whole.qids.tolist() == list(range(100, 109))
    assert (some.qids.tolist(), some.role) == ([101, 104, 108], "train")
    assert some.n_documents == sum(query % 3 + 1 for query in (1, 4, 8))


def test_a_carved_validation_part_is_about_a_tenth_and_always_the_same(tmp_path):
    data_set = catalog.get("Istella")
    sizes = {"train": 3000, "test": 500}
    write_folds(data_set, stored(tmp_path / "a.parquet", sizes), tmp_path / "folds.parquet")
    train, validation, test = (queries(tmp_path / "folds.parquet", 1, part) for part in ("train", "validation", "test"))
    assert 240 < len(validation) < 360
    assert sorted([*train, *validation]) == list(range(3000))
    assert test.tolist() == list(range(3000, 3500))
    # Names and later queries do not matter: a query's block follows from its index alone.
    other = stored(tmp_path / "b.parquet", {"train": 1000, "test": 10}, first_qid=7)
    write_folds(data_set, other, tmp_path / "other.parquet")
    assert queries(tmp_path / "other.parquet", 1, "validation").tolist() == [q for q in validation if q < 1000]


def test_the_carved_queries_never_change(tmp_path):
    write_folds(
        catalog.get("Istella"), stored(tmp_path / "a.parquet", {"train": 60, "test": 1}), tmp_path / "f.parquet"
    )
    assert queries(tmp_path / "f.parquet", 1, "validation").tolist() == [5, 21, 25, 52]


def test_hashed_folds_test_every_query_once(tmp_path):
    path = stored(tmp_path / "data.parquet", {"learning": 400})
    write_folds(catalog.get("Yandex-IMAT2009"), path, tmp_path / "folds.parquet")
    tested = np.concatenate([queries(tmp_path / "folds.parquet", fold, "test") for fold in range(1, 6)])
    assert sorted(tested) == list(range(400))
    for fold in range(1, 6):
        roles = [set(queries(tmp_path / "folds.parquet", fold, part)) for part in ("train", "validation", "test")]
        assert set.union(*roles) == set(range(400))
        assert sum(map(len, roles)) == 400


@pytest.mark.parametrize("sizes", [{"S1": 1, "S2": 1}, {"S2": 1, "S1": 1, "S3": 1, "S4": 1, "S5": 1}, {"all": 5}])
def test_other_parts_than_the_catalogue_s_are_refused(tmp_path, sizes):
    path = stored(tmp_path / "data.parquet", sizes)
    with pytest.raises(DataError, match="expected the parts S1, S2, S3, S4, S5 of MQ2008, found"):
        fold_table(catalog.get("MQ2008"), path)


@pytest.mark.parametrize(
    ("fold", "part", "message"), [(6, "test", "found 6"), (0, "test", "found 0"), (1, "vali", "'vali'")]
)
def test_an_unknown_fold_or_part_is_an_error(tmp_path, data_path, fold, part, message):
    write_folds(catalog.get("MQ2008"), data_path, tmp_path / "folds.parquet")
    with pytest.raises(DataError, match=message):
        queries(tmp_path / "folds.parquet", fold, part)


def test_a_fold_is_read_without_importing_libraries_of_tables(tmp_path, data_path):
    """Importing one of them takes longer than many trainings."""
    write_folds(catalog.get("MQ2008"), data_path, tmp_path / "folds.parquet")
    script = (
        "import sys\nfrom pipeline_lib.sources import folds\n"
        f"data = folds.read({str(data_path)!r}, {str(tmp_path / 'folds.parquet')!r}, 1, 'train')\n"
        "print(data.n_queries, *sys.modules.keys() & {'pandas', 'polars', 'pyarrow.dataset'})"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split() == [str(len(queries(tmp_path / "folds.parquet", 1, "train")))]


def test_what_is_no_table_of_folds_is_an_error(tmp_path, data_path):
    with pytest.raises(DataError, match="columns fold, part and query"):
        queries(data_path, 1, "test")
    (tmp_path / "text").write_text("fold,part")
    for name in ("text", "nothing"):
        with pytest.raises(DataError, match=name):
            queries(tmp_path / name, 1, "test")


@pytest.mark.parametrize(
    ("rows", "n_queries", "message"),
    [
        (2, 2, "expected parts of 3 rows in all, found 2; convert the data again"),
        (3, 1, "expected parts of 2 queries in all, found 1; convert the data again"),
    ],
)
def test_parts_that_do_not_add_up_are_refused(tmp_path, rows, n_queries, message):
    parts = [{"name": "S1", "rows": rows, "queries": n_queries}]
    schema = parquet_schema(1).with_metadata(parquet_metadata(parts, {}))
    table = parquet_table(np.array([1, 1, 2]), np.zeros(3, np.int64), np.zeros((3, 1), np.float32), schema)
    pq.write_table(table, tmp_path / "data.parquet")
    with pytest.raises(DataError, match=message):
        query_index(tmp_path / "data.parquet")
