import itertools
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline_lib.core.errors import DataError
from pipeline_lib.data import stored_data
from pipeline_lib.data.ranking_data import RankingData, Standardisation
from tests.samples import same


def some_data(sizes: list[int], d: int = 3, seed: int = 0) -> RankingData:
    rng = np.random.default_rng(seed)
    n = sum(sizes)
    return RankingData.from_arrays(
        rng.normal(size=(n, d)), rng.integers(0, 5, n), np.repeat(10 * np.arange(len(sizes)) + 3, sizes)
    )


# --- Building


def test_from_arrays() -> None:
    data = RankingData.from_arrays([[1, 2], [3, 4], [5, 6]], [0.0, 2.0, 255.0], np.array([9, 9, -4], np.int16))
    assert (data.n_queries, data.n_documents, data.n_features) == (2, 3, 2)
    assert data.offsets.tolist() == [0, 2, 3]
    assert data.qids.tolist() == [9, -4]
    assert data.documents_per_query.tolist() == [2, 1]
    assert [data.X.dtype, data.y.dtype, data.offsets.dtype, data.qids.dtype] == [
        np.float32,
        np.int32,
        np.int64,
        np.int64,
    ]
    assert data.X64.dtype == np.float64
    assert repr(data) == "RankingData(2 queries, 3 documents, 2 features, labels 0..255)"


def test_no_documents_at_all() -> None:
    data = RankingData.from_arrays(np.zeros((0, 4)), [], [])
    assert (data.n_queries, data.n_documents, data.n_features, data.offsets.tolist()) == (0, 0, 4, [0])
    assert "no labels" in repr(data)


X2 = [[1.0], [2.0]]


@pytest.mark.parametrize(
    ("X", "y", "qid", "message"),
    [
        ([1.0, 2.0], [0, 1], [1, 1], "X:"),
        (np.zeros((2, 1, 1)), [0, 1], [1, 1], "X:"),
        ([[1.0], [2.0, 3.0]], [0, 1], [1, 1], "X:"),
        ([["a"], ["b"]], [0, 1], [1, 1], "X:"),
        (np.ma.array(X2, mask=[[False], [True]]), [0, 1], [1, 1], "X:"),
        (X2, [[0, 1]], [1, 1], "y:"),
        (X2, [0, 1], [[1, 1]], "qid:"),
        (X2, [0, [1]], [1, 1], "y:"),
        (X2, np.ma.array([0, 1], mask=[True, False]), [1, 1], "y:"),
        (X2, [0], [1, 1], "one row per document in each, found 2, 1 and 2"),
        (X2, [0, 1], [1, 1, 1], "one row per document in each, found 2, 2 and 3"),
        (X2, [0, -1], [1, 1], r"y\[1\]: .*0 to 255, found -1"),
        (X2, [256, 0], [1, 1], r"y\[0\]: .*0 to 255, found 256"),
        (X2, [0, 0.5], [1, 1], r"y\[1\]: .*, found 0.5"),
        (X2, [np.nan, 0], [1, 1], r"y\[0\]: .*, found nan"),
        (X2, [0, np.inf], [1, 1], r"y\[1\]: .*, found inf"),
        (X2, ["0", "1"], [1, 1], "y:"),
        (X2, [0, 1], [1, 1.5], r"qid\[1\]: .*, found 1.5"),
        (X2, [0, 1], [1, 2**63], r"qid\[1\]:"),
        (X2, [0, 1], np.array([1, 2**63], np.uint64), r"qid\[1\]:"),
        (X2, [0, 1], [1, 1e19], r"qid\[1\]:"),
        ([[1.0], [2.0], [3.0]], [0, 1, 0], [1, 2, 1], "row 2: query 1 appears again"),
        ([[1.0, 0.0], [2.0, np.nan]], [0, 1], [1, 1], r"X\[1, 1\]: .* finite"),
        ([[1.0, -np.inf], [2.0, 0.0]], [0, 1], [1, 1], r"X\[0, 1\]: .* finite"),
        ([[1.0], [1e39]], [0, 1], [1, 1], r"X \(in float32\)\[1, 0\]: .*found inf"),
    ],
)
def test_from_arrays_refuses(X: Any, y: Any, qid: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        RankingData.from_arrays(X, y, qid)


@pytest.mark.parametrize(
    "fields",
    [
        {"X": np.zeros((2, 1))},
        {"y": np.zeros(2, np.int64)},
        {"X": np.zeros((3, 1), np.float32)},
        {"offsets": np.array([0, 1])},
        {"offsets": np.array([0, 2, 2])},
        {"offsets": np.array([1, 1, 2])},
        {"offsets": np.array([0, 1, 3])},
        {"X": np.array([[0], [np.nan]], np.float32)},
        {"X": np.ma.array(np.zeros((2, 1), np.float32), mask=[[True], [False]])},
        {"y": np.array([0, 300], np.int32)},
        {"y": np.array([-5, 0], np.int32)},
        {"y": np.zeros((2, 1), np.int32)},
        {"y": [0, 1]},
        {"qids": np.array([[5, 6]])},
    ],
)
def test_the_constructor_checks_what_must_hold(fields: dict[str, Any]) -> None:
    good: dict[str, Any] = {
        "X": np.zeros((2, 1), np.float32),
        "y": np.zeros(2, np.int32),
        "offsets": np.array([0, 1, 2]),
        "qids": np.array([5, 6]),
    }
    assert RankingData(**{name: array.copy() for name, array in good.items()}).n_queries == 2
    with pytest.raises(DataError):
        RankingData(**{**good, **fields})


def test_data_cannot_be_changed() -> None:
    X = np.zeros((2, 1))
    data = RankingData.from_arrays(X, [0, 1], [1, 1])
    X[0] = 7
    assert data.X[0, 0] == 0
    for array in (data.X, data.y, data.offsets, data.qids, data.X64, data.documents_per_query):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
    with pytest.raises(AttributeError):
        data.y = data.y  # type: ignore[misc]
    for part in (
        data.take([0]),
        data.subsample_documents(1, np.random.default_rng(0)),
        Standardisation.of(data).apply(data),
    ):
        for array in (part.X, part.y, part.offsets, part.qids):
            assert not array.flags.writeable


# --- Taking queries


@given(sizes=st.lists(st.integers(1, 5), min_size=1, max_size=8), picks=st.data())
def test_take_is_a_list_of_queries(sizes: list[int], picks: st.DataObject) -> None:
    data = some_data(sizes)
    indices = picks.draw(st.lists(st.integers(0, len(sizes) - 1), max_size=10))
    taken = data.take(np.array(indices, int))
    rows = [row for q in indices for row in range(data.offsets[q], data.offsets[q + 1])]
    assert np.array_equal(taken.X, data.X[rows])
    assert np.array_equal(taken.y, data.y[rows])
    assert taken.qids.tolist() == [int(data.qids[q]) for q in indices]
    assert taken.documents_per_query.tolist() == [sizes[q] for q in indices]


@pytest.mark.parametrize("indices", [[2], [-1], [0.5], ["a"], [True, False], [[0]], [0, 2**40]])
def test_take_refuses(indices: Any) -> None:
    with pytest.raises(DataError, match=r"indices.*: expected .*, found"):
        some_data([1, 2]).take(indices)


# --- Subsampling documents


@given(sizes=st.lists(st.integers(1, 9), min_size=1, max_size=8), m=st.integers(1, 10), seed=st.integers(0, 99))
def test_a_subsample_keeps_order_and_pairs(sizes: list[int], m: int, seed: int) -> None:
    n = sum(sizes)
    qid = np.repeat(np.arange(len(sizes)), sizes)
    data = RankingData.from_arrays(np.arange(n)[:, None], np.arange(n) % 7, qid)
    sample = data.subsample_documents(m, np.random.default_rng(seed))
    rows = sample.X[:, 0].astype(int)
    assert sample.documents_per_query.tolist() == [min(m, size) for size in sizes]
    assert np.all(np.diff(rows) > 0)
    assert sample.y.tolist() == (rows % 7).tolist()
    assert np.array_equal(qid[rows], np.repeat(sample.qids, sample.documents_per_query))


@pytest.mark.parametrize(("size", "m"), [(5, 2), (4, 1), (4, 3), (3, 3)])
def test_every_subset_is_equally_likely(size: int, m: int) -> None:
    n_queries = 20_000
    X = np.tile(np.arange(size), n_queries)[:, None]
    data = RankingData.from_arrays(X, np.zeros(len(X)), np.repeat(np.arange(n_queries), size))
    drawn = data.subsample_documents(m, np.random.default_rng(12)).X.astype(int).reshape(n_queries, m)
    subsets = list(itertools.combinations(range(size), m))
    counts = [int(np.all(drawn == subset, axis=1).sum()) for subset in subsets]
    assert sum(counts) == n_queries
    if len(subsets) > 1:
        assert scipy.stats.chisquare(counts).pvalue > 1e-3


# --- Parquet


@given(sizes=st.lists(st.integers(1, 40), max_size=8), d=st.integers(1, 5), group=st.sampled_from([1, 7, 65_536]))
@settings(max_examples=60)
def test_parquet_round_trip(tmp_path_factory: pytest.TempPathFactory, sizes: list[int], d: int, group: int) -> None:
    path = tmp_path_factory.mktemp("parquet") / "data.parquet"
    data = some_data(sizes, d)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stored_data, "ROWS_PER_GROUP", group)
        data.write_parquet(path)
    assert pq.ParquetFile(path).metadata.num_row_groups == -(-data.n_documents // group)
    back = RankingData.read_parquet(path)
    assert same(data, back)
    assert back.X.flags.c_contiguous
    assert not back.X.flags.writeable
    if sizes:
        picks = np.random.default_rng(0).integers(0, len(sizes), 6)
        assert same(RankingData.read_parquet(path, picks), data.take(picks))
        ordered = np.arange(0, len(sizes), 2)
        assert same(RankingData.read_parquet(path, ordered), data.take(ordered))


def test_extreme_values_survive(tmp_path: Path) -> None:
    values = [[3.4028235e38, -3.4028235e38, 1e-45, -0.0, 0.0, np.pi]]
    data = RankingData.from_arrays(values, [255], [-(2**63)])
    data.write_parquet(tmp_path / "data.parquet")
    back = RankingData.read_parquet(tmp_path / "data.parquet")
    assert back.X.tobytes() == data.X.tobytes()
    assert (back.y.tolist(), back.qids.tolist()) == ([255], [-(2**63)])


def test_the_stored_form(tmp_path: Path) -> None:
    path = tmp_path / "data.parquet"
    some_data([2, 3]).write_parquet(path)
    schema = pq.read_schema(path)
    assert schema.names == ["qid", "label", "features"]
    assert [str(field.type) for field in schema][:2] == ["int64", "uint8"]
    assert schema.field("features").type == pa.list_(pa.field("element", pa.float32(), nullable=False), 3)
    assert stored_data.read_parts(path) == [{"name": "all", "rows": 5, "queries": 2, "sha256": None}]


def test_the_stored_form_is_read_without_importing_pandas(tmp_path: Path) -> None:
    path = tmp_path / "data.parquet"
    some_data([2, 3]).write_parquet(path)
    script = (
        "import sys\nfrom pipeline_lib import RankingData\n"
        f"print(RankingData.read_parquet({str(path)!r}).n_documents, 'pandas' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["5", "False"]


def write_parts(path: Path, parts: list[list[int]], d: int = 2) -> np.ndarray:
    """A stored data set of parts, each given by its documents' queries; the features number the rows."""
    schema = stored_data.parquet_schema(d)
    X = np.arange(sum(map(len, parts)) * d, dtype=np.float32).reshape(-1, d)
    described, row = [], 0
    with stored_data.parquet_writer(path, schema) as writer:
        for number, names in enumerate(parts):
            rows = slice(row, row + len(names))
            label = np.zeros(len(names), np.int32)
            writer.write_table(stored_data.parquet_table(np.array(names, np.int64), label, X[rows], schema))
            described.append({"name": f"S{number}", "rows": len(names), "queries": len(set(names))})
            row += len(names)
        writer.add_key_value_metadata(stored_data.parquet_metadata(described, {"S0": "00ff"}))
    return X


def test_a_name_that_returns_in_another_part_is_another_query(tmp_path: Path) -> None:
    path = tmp_path / "data.parquet"
    X = write_parts(path, [[1, 1, 2], [2, 1], [1, 1, 1]])
    data = RankingData.read_parquet(path)
    assert data.qids.tolist() == [1, 2, 2, 1, 1]
    assert data.documents_per_query.tolist() == [2, 1, 1, 1, 3]
    assert np.array_equal(data.X, X)
    assert np.array_equal(RankingData.read_parquet(path, [4, 1]).X, X[[5, 6, 7, 2]])
    assert [part["sha256"] for part in stored_data.read_parts(path)] == ["00ff", None, None]


def test_reading_a_part_touches_its_row_groups_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "data.parquet"
    X = write_parts(path, [[1, 1, 2], [3, 4], [5, 5, 5]])
    read: list[int] = []
    original = pq.ParquetFile.read_row_group

    def spy(self: pq.ParquetFile, i: int, *args: Any, **options: Any) -> pa.Table:
        read.append(i)
        return original(self, i, *args, **options)

    monkeypatch.setattr(pq.ParquetFile, "read_row_group", spy)
    assert np.array_equal(RankingData.read_parquet(path, [2, 3]).X, X[3:5])
    assert read == [1]


@pytest.mark.parametrize("queries", [[2], [-1], [0.5], [True, False]])
def test_reading_queries_that_are_not_there(tmp_path: Path, queries: Any) -> None:
    some_data([1, 2]).write_parquet(tmp_path / "data.parquet")
    with pytest.raises(DataError, match=r"data.parquet: queries.*: expected .*, found"):
        RankingData.read_parquet(tmp_path / "data.parquet", queries)


def test_files_of_another_kind_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "data.parquet"
    with pytest.raises(DataError, match=r"data\.parquet: expected a readable file"):
        RankingData.read_parquet(path)
    path.write_text("text")
    with pytest.raises(DataError, match="expected a Parquet file"):
        RankingData.read_parquet(path)
    pq.write_table(pa.table({"qid": [1]}), path)
    with pytest.raises(DataError, match="expected the columns qid, label and features"):
        RankingData.read_parquet(path)
    pq.write_table(pa.table({"qid": [1], "label": [0], "features": [[0.5]]}), path)
    with pytest.raises(DataError, match="fixed-size list of float32"):
        RankingData.read_parquet(path)


@pytest.mark.parametrize(
    ("column", "values"),
    [
        ("label", pa.array([300, 0], pa.int64())),
        ("label", pa.array([-5, 0], pa.int32())),
        ("label", pa.array([2**32, 0], pa.int64())),
        ("label", pa.array([1.5, 0.0])),
        ("label", pa.array([None, 0], pa.int64())),
        ("qid", pa.array([1.5, 2.0])),
        ("qid", pa.array([None, 2], pa.int64())),
        ("qid", pa.array([2**63, 2], pa.uint64())),
        ("features", pa.array([None, [1.0]], pa.list_(pa.float32(), 1))),
        ("features", pa.array([[None], [1.0]], pa.list_(pa.float32(), 1))),
        ("features", pa.array([[float("nan")], [1.0]], pa.list_(pa.float32(), 1))),
    ],
)
def test_columns_of_other_programs_are_checked(tmp_path: Path, column: str, values: pa.Array) -> None:
    columns = {"qid": pa.array([1, 1]), "label": pa.array([0, 1], pa.int16())}
    columns["features"] = pa.array([[0.0], [1.0]], pa.list_(pa.float32(), 1))
    pq.write_table(pa.table(columns), tmp_path / "good.parquet")
    assert RankingData.read_parquet(tmp_path / "good.parquet").y.tolist() == [0, 1]
    pq.write_table(pa.table(columns | {column: values}), tmp_path / "data.parquet")
    with pytest.raises(DataError, match=rf"data.parquet: .*{'X' if 'nan' in str(values) else column}"):
        RankingData.read_parquet(tmp_path / "data.parquet")


def test_files_without_a_list_of_parts_are_one_part(tmp_path: Path) -> None:
    path = tmp_path / "data.parquet"
    schema = stored_data.parquet_schema(1)
    table = stored_data.parquet_table(np.array([4, 4, 2]), np.array([0, 1, 2]), np.ones((3, 1), np.float32), schema)
    pq.write_table(table, path)
    assert RankingData.read_parquet(path).qids.tolist() == [4, 2]
    assert stored_data.read_parts(path) == []


@pytest.mark.parametrize(("d", "rows"), [(1, 65_536), (64, 65_536), (136, 30_840), (700, 5_991), (10**9, 1)])
def test_row_groups_are_bounded(d: int, rows: int) -> None:
    assert stored_data.rows_per_group(d) == rows
    assert rows == 1 or rows * d * 4 <= 1 << 24


# --- Standardisation


def test_standardised_features_have_mean_0_and_deviation_1() -> None:
    data = some_data([30, 40], d=4)
    shifted = RankingData.from_arrays(
        data.X64 * [1, 10, 1e-3, 5] + [0, 100, 3, -7], data.y, np.repeat(data.qids, [30, 40])
    )
    mapped = Standardisation.of(shifted).apply(shifted)
    assert np.allclose(mapped.X64.mean(axis=0), 0, atol=1e-5)
    assert np.allclose(mapped.X64.std(axis=0), 1, atol=1e-5)
    assert mapped.y is shifted.y
    assert mapped.qids is shifted.qids


def test_constant_features_become_zero_and_unseen_data_use_the_training_statistics() -> None:
    train = RankingData.from_arrays([[0.1, 1], [0.1, 3], [0.1, 2]], [0, 1, 2], [1, 1, 1])
    standardisation = Standardisation.of(train)
    assert np.array_equal(standardisation.apply(train).X[:, 0], np.zeros(3))
    test = RankingData.from_arrays([[1.1, 2]], [0], [1])
    mapped = standardisation.apply(test)
    assert mapped.X[0, 0] == pytest.approx(1.0)
    assert mapped.X[0, 1] == pytest.approx(0.0)


def test_standardisation_refuses() -> None:
    with pytest.raises(DataError, match="at least one document"):
        Standardisation.of(some_data([]))
    with pytest.raises(DataError, match="expected 3 features, found 4"):
        Standardisation.of(some_data([3])).apply(some_data([3], d=4))


def test_features_keep_their_layout_unless_they_have_gaps() -> None:
    """Products with features add up in the order of their layout: another layout would change the last bits."""
    X, y, offsets, qids = np.arange(12, dtype=np.float32).reshape(4, 3), np.zeros(4, np.int32), [0, 4], [1]
    fields = (y, np.array(offsets, np.int64), np.array(qids, np.int64))
    assert RankingData(np.asfortranarray(X), *fields).X.flags.f_contiguous
    assert RankingData(np.repeat(X, 2, axis=1)[:, ::2], *fields).X.flags.c_contiguous
