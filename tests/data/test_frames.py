"""Data frames, group sizes and names: what goes in comes out again, and what is wrong is named with its row."""

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline_lib.core.errors import ArgumentError, DataError
from pipeline_lib.data import ranking_data
from pipeline_lib.data.columns import DOCUMENTS, LABELS, QUERIES
from pipeline_lib.data.ranking_data import RankingData, Standardisation
from tests.samples import same

singles = st.floats(width=32, allow_nan=False, allow_infinity=False)
texts = st.text(st.characters(exclude_categories=("Cs", "Cc")), min_size=1, max_size=5)


@st.composite
def data_sets(draw: st.DrawFn) -> RankingData:
    """Data sets with and without names."""
    sizes = draw(st.lists(st.integers(1, 4), min_size=1, max_size=5))
    n, d = sum(sizes), draw(st.integers(1, 3))
    X = np.array(draw(st.lists(singles, min_size=n * d, max_size=n * d)), np.float32).reshape(n, d)
    y = np.array(draw(st.lists(st.integers(0, 255), min_size=n, max_size=n)), np.int32)
    n_queries = len(sizes)
    named = draw(st.booleans())
    names = tuple(draw(st.lists(texts, min_size=n_queries, max_size=n_queries, unique=True))) if named else None
    numbers = st.integers(-(2**63), 2**63 - 1)
    qids = range(n_queries) if named else draw(st.lists(numbers, min_size=n_queries, max_size=n_queries, unique=True))
    known = (*QUERIES, *LABELS, *DOCUMENTS)
    features = texts.filter(lambda name: name.lower() not in known)
    feature_names = tuple(draw(st.lists(features, min_size=d, max_size=d, unique=True)))
    return RankingData(X, y, np.r_[0, np.cumsum(sizes)], np.array(qids, np.int64), feature_names, names)


@given(data=data_sets(), library=st.sampled_from([pd.DataFrame, pl.DataFrame]))
@settings(max_examples=60)
def test_a_frame_holds_the_whole_data_set(data: RankingData, library: Any) -> None:
    names = data.qids if data.query_names is None else np.array(data.query_names, dtype=object)
    columns = {"qid": np.repeat(names, data.documents_per_query), "label": data.y}
    assert data.feature_names is not None
    frame = library(columns | dict(zip(data.feature_names, data.X.T.copy(), strict=True)))
    assert same(RankingData.from_frame(frame), data)


@given(data=data_sets())
@settings(max_examples=40)
def test_to_pandas_and_back(data: RankingData) -> None:
    frame = data.to_pandas()
    assert list(frame.columns) == ["qid", "label", *(data.feature_names or ())]
    assert same(RankingData.from_frame(frame), data)


def test_features_without_names_are_numbered_in_a_frame() -> None:
    data = RankingData.from_arrays([[1.0, 2.0]], [1], [7])
    assert data.to_pandas().to_dict("list") == {"qid": [7], "label": [1], "1": [1.0], "2": [2.0]}
    with pytest.raises(DataError, match="'label'"):
        RankingData.from_arrays([[1.0]], [1], [7], feature_names=["label"]).to_pandas()


@pytest.mark.parametrize("name", ["DOCNO", "docid"])
def test_a_feature_that_would_be_read_as_ids_of_documents_is_refused(name: str) -> None:
    data = RankingData.from_arrays([[1.0, 2.0]], [1], [7], feature_names=["bm25", name])
    with pytest.raises(DataError, match=f"found '{name}', .*ids of documents"):
        data.to_pandas()


@pytest.mark.parametrize("kind", [list, np.array, lambda names: np.array(names, object), pd.Series])
def test_queries_may_be_named_by_text(kind: Any) -> None:
    data = RankingData.from_arrays([[0.0], [1.0], [2.0]], [0, 1, 2], kind(["b", "b", "a"]))
    assert (data.query_names, data.offsets.tolist()) == (("b", "a"), [0, 2, 3])
    with pytest.raises(DataError, match="query b appears again"):
        RankingData.from_arrays([[0.0], [1.0], [2.0]], [0, 1, 2], kind(["b", "a", "b"]))
    with pytest.raises(DataError, match="qid"):
        RankingData.from_arrays([[0.0], [1.0]], [0, 1], np.array(["b", 1], object))


@pytest.mark.parametrize("form", ["csr_matrix", "csc_array", "coo_matrix"])
def test_sparse_features_are_those_of_the_dense_matrix(form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    X = np.array([[0.0, 1.5], [2.0, 0.0]])
    sparse = getattr(scipy.sparse, form)(X)
    assert same(RankingData.from_arrays(sparse, [0, 1], [1, 1]), RankingData.from_arrays(X, [0, 1], [1, 1]))
    assert same(RankingData.from_groups(sparse, [0, 1], [2]), RankingData.from_groups(X, [0, 1], [2]))
    with pytest.raises(DataError, match="X"):
        RankingData.from_arrays(sparse * 1e300, [0, 1], [1, 1])
    monkeypatch.setattr(ranking_data, "LARGEST_DENSE", 15)
    with pytest.raises(DataError, match=r"2 rows and 2 columns.*toarray"):
        RankingData.from_arrays(sparse, [0, 1], [1, 1])


def test_the_memory_of_sparse_features_is_said_before_it_is_taken(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    sparse = scipy.sparse.random_array((1000, 500), density=0.001, format="csr", rng=np.random.default_rng(0))
    monkeypatch.setattr(type(sparse), "toarray", lambda self: (_ for _ in ()).throw(MemoryError))
    with caplog.at_level("INFO", logger="pipeline_lib"), pytest.raises(MemoryError):
        RankingData.from_arrays(sparse, np.zeros(1000), np.zeros(1000))
    assert "1,000 rows and 500 columns with 500 values; with its zeros it takes 2.0 MB" in caplog.text


@given(data=data_sets())
@settings(max_examples=40)
def test_names_are_stored(tmp_path_factory: pytest.TempPathFactory, data: RankingData) -> None:
    path = tmp_path_factory.mktemp("names") / "data.parquet"
    data.write_parquet(path)
    assert same(RankingData.read_parquet(path, stored=True), data)
    picks = np.random.default_rng(0).integers(0, data.n_queries, 4)
    assert same(RankingData.read_parquet(path, picks), data.take(picks))


@given(data=data_sets(), m=st.integers(1, 3))
@settings(max_examples=20)
def test_names_follow_the_documents(data: RankingData, m: int) -> None:
    for other in (data.subsample_documents(m, np.random.default_rng(0)), data.with_binary_labels()):
        assert (other.feature_names, other.query_names) == (data.feature_names, data.query_names)
    if np.abs(data.X).max() < 1e15:
        assert Standardisation.of(data).apply(data).feature_names == data.feature_names
    last = data.take([data.n_queries - 1])
    assert last.query_names == (None if data.query_names is None else data.query_names[-1:])


@given(sizes=st.lists(st.integers(1, 9), min_size=1, max_size=9), seed=st.integers(0, 99))
def test_groups_are_sizes(sizes: list[int], seed: int) -> None:
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(sum(sizes), 2)), rng.integers(0, 3, sum(sizes))
    data = RankingData.from_groups(X, y, sizes, feature_names=["a", "b"])
    assert data.documents_per_query.tolist() == sizes
    assert same(data, RankingData.from_arrays(X, y, np.repeat(range(len(sizes)), sizes), feature_names=("a", "b")))


@pytest.mark.parametrize("groups", [[1], [3, 0], [2, -1], [1.5, 1.5], [[3]], [], "3", [2, 2]])
def test_groups_that_do_not_fit(groups: Any) -> None:
    with pytest.raises(DataError, match=r"^groups"):
        RankingData.from_groups([[0.0], [1.0], [2.0]], [0, 1, 2], groups)


GOOD = {"qid": ["a", "a", "b"], "label": [0, 1, 2], "x": [0.5, 1.0, 2.0]}


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame, pa.table])
@pytest.mark.parametrize(
    ("columns", "options", "message"),
    [
        ({"x": [0.5, None, 1.0]}, {}, "row 1: .*'x'"),
        ({"x": ["a", "b", "c"]}, {}, "row 0: .*'x', found 'a'"),
        ({"label": [0, 1, 256]}, {}, "row 2: .*'label'"),
        ({"label": [0.0, 0.5, 1.0]}, {}, "row 1: .*'label'"),
        ({"qid": ["a", "b", "a"]}, {}, "row 2: .*query a again"),
        ({"qid": ["a", None, "b"]}, {}, "row 1: .*'qid'"),
        ({"query": [1, 1, 1]}, {}, ".*both qid and query.*`query`"),
        ({}, {"label": "lable"}, ".*'lable'.*did you mean 'label'"),
        ({}, {"ignore": ["x"]}, ".*at least one column of features"),
    ],
)
def test_frames_that_do_not_fit(kind: Any, columns: Any, options: Any, message: str) -> None:
    with pytest.raises(DataError, match=rf"^frame: {message}"):
        RankingData.from_frame(kind(GOOD | columns), **options)


def test_frames_of_all_kinds_and_columns() -> None:
    columns = {"Topic": [3, 3, 9], "rel": [True, False, True], "x": [1, 2, 3], "url": ["u", "v", "w"]}
    frame = pd.DataFrame(columns, index=[7, 8, 9]).astype({"x": "Int64", "rel": "float32"})
    data = RankingData.from_frame(frame, ignore=["url"])
    assert (data.qids.tolist(), data.y.tolist(), data.X.tolist()) == ([3, 9], [1, 0, 1], [[1], [2], [3]])
    assert data.feature_names == ("x",)
    by_url = RankingData.from_frame(pl.DataFrame(columns), label="rel", query="url", ignore=["Topic"])
    assert by_url.query_names == ("u", "v", "w")
    with pytest.raises(ArgumentError, match=r"^frame: "):
        RankingData.from_frame([[1.0]])
    assert RankingData.from_frame(pd.DataFrame(GOOD).iloc[:0]).n_queries == 0


@pytest.mark.parametrize("names", [["a"], ["a", "b", "c"], "ab", [1, 2], 3, np.array("a")])
def test_names_that_do_not_fit(names: Any) -> None:
    with pytest.raises(DataError, match=r"^feature_names"):
        RankingData.from_arrays([[0.0, 1.0]], [0], [1], feature_names=names)
