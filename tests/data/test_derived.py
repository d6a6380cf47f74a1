"""Are categories encoded as pandas encodes them, and are missing values the same in arrays, frames and files?"""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse
from hypothesis import example, given
from hypothesis import strategies as st

from pipeline_lib import RankingData
from pipeline_lib.core.errors import DataError
from pipeline_lib.data import derived
from pipeline_lib.learners.models import LinearModel
from pipeline_lib.learners.ranker import Trained, trained_with
from pipeline_lib.sources import conversion, letor
from pipeline_lib.sources.tables import Options

VALUES = st.one_of(st.none(), st.text("ab =,é1", max_size=3))


def converted(path: Path, **options: Any) -> RankingData:
    conversion.convert_own({"all": path}, path.with_name("stored.parquet"), Options(**options))
    return RankingData.read_parquet(path.with_name("stored.parquet"))


def trained_on(data: RankingData) -> Trained:
    """A ranker that gives every feature another weight."""
    weights = 2.0 ** np.arange(data.n_features)
    return Trained(LinearModel.of(weights, feature_names=data.feature_names), about=trained_with(data))


@given(brands=st.lists(VALUES, min_size=1, max_size=9))
@example(brands=[None])
@example(brands=["", "a = b", "a"])
def test_categories_are_the_dummies_of_pandas(brands: list[str | None]) -> None:
    frame = pl.DataFrame({"qid": [1] * len(brands), "label": 0, "x": 1.5, "brand": pl.Series(brands, dtype=pl.String)})
    by_hand = pd.get_dummies(pd.Series([one or None for one in brands], dtype=object), prefix="brand", prefix_sep=" = ")
    by_hand = by_hand[sorted(by_hand.columns)]
    data = RankingData.from_frame(frame, one_hot=["brand"])
    assert data.feature_names == ("x", *by_hand.columns)
    np.testing.assert_array_equal(data.X[:, 1:], by_hand.to_numpy(np.float32))


SHOP = pd.DataFrame(
    {
        "qid": ["a", "a", "b", "b", "b"],
        "label": [1, 0, 2, 0, 1],
        "brand": ["zeta", "acme", None, "acme", "NA"],
        "size": [10, 9, 10, 9, 9],
        "age": [1.0, np.nan, 2.0, 4.0, np.nan],
    }
)
OF_BRAND = [[0, 1], [1, 0], [0, 0], [1, 0], [0, 0]]
OF_SIZE = [[1, 0], [0, 1], [1, 0], [0, 1], [0, 1]]
AGES, MARKS = [[1], [1], [2], [4], [3]], [[0], [1], [0], [0], [1]]


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".parquet"])
def test_files_and_frames_have_the_same_features(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"shop{ending}"
    frame = pl.from_pandas(SHOP)
    frame.write_parquet(path) if ending == ".parquet" else frame.write_csv(
        path, separator="\t" if ending == ".tsv" else ","
    )
    how: dict[str, Any] = {"one_hot": ("brand", "size"), "missing": "flag"}
    named = ("brand = acme", "brand = zeta", "size = 10", "size = 9")
    for data in (converted(path, **how), *(RankingData.from_frame(one, **how) for one in (SHOP, frame))):
        assert data.feature_names == ("age", *named, "age missing")
        np.testing.assert_array_equal(data.X, np.hstack([AGES, OF_BRAND, OF_SIZE, MARKS]))
        assert data.columns is not None
        assert (data.columns.one_hot, data.columns.missing) == (("brand", "size"), "flag")


def test_values_of_all_files_are_features(tmp_path: Path) -> None:
    paths = {name: tmp_path / f"{name}.csv" for name in ("train", "test")}
    paths["train"].write_text("qid,label,brand\n1,0,zeta\n")
    paths["test"].write_text("brand,label,qid\nacme,1,1\n")
    conversion.convert_own(paths, tmp_path / "stored.parquet", Options(one_hot=("brand",)))
    data = RankingData.read_parquet(tmp_path / "stored.parquet")
    assert data.feature_names == ("brand = acme", "brand = zeta")
    assert data.X.tolist() == [[0, 1], [1, 0]]


def test_categories_and_numbers_of_other_types_are_taken_by_their_texts() -> None:
    columns = {"label": [0, 1, 2], "qid": 1, "new": [True, False, True], "kind": pd.Categorical(["b", None, "a"])}
    data = RankingData.from_frame(pd.DataFrame(columns), one_hot=["new", "kind"])
    assert data.feature_names == ("new = false", "new = true", "kind = a", "kind = b")
    assert data.X.tolist() == [[0, 1, 0, 1], [1, 0, 0, 0], [0, 1, 1, 0]]


REFUSED = [
    ({"one_hot": ["brnd"]}, "'brnd', given as `one_hot`; did you mean 'brand'"),
    ({"one_hot": ["label"]}, "'label', which has another role"),
    ({"one_hot": ["brand", "brand"]}, "'brand', which has another role"),
    ({"one_hot": ["brand"], "ignore": ["brand"]}, "'brand', which has another role"),
    ({"missing": "mean"}, r"number in the column 'brand', found 'zeta'; .*\(`one_hot`\)"),
    ({"one_hot": ["brand"]}, "'age', found (no value|nan); fill it in first"),
]


@pytest.mark.parametrize(("how", "said"), REFUSED)
def test_what_cannot_be_encoded_is_refused_with_the_remedy(tmp_path: Path, how: dict[str, Any], said: str) -> None:
    SHOP.to_csv(tmp_path / "shop.csv", index=False)
    with pytest.raises(DataError, match=said):
        RankingData.from_frame(SHOP, **how)
    with pytest.raises(DataError, match=said):
        converted(tmp_path / "shop.csv", **{key: one if key == "missing" else tuple(one) for key, one in how.items()})


@pytest.mark.parametrize("name", ["brand = acme", "brand = other", "brand ="])
def test_no_column_is_called_like_a_feature_that_is_made(tmp_path: Path, name: str) -> None:
    frame = SHOP.assign(**{name: 1.0})
    frame.to_csv(tmp_path / "shop.csv", index=False)
    for read in (lambda: RankingData.from_frame(frame, one_hot=["brand"], missing="mean"),
                 lambda: converted(tmp_path / "shop.csv", one_hot=("brand",), missing="mean")):  # fmt: skip
        with pytest.raises(DataError, match=f"expected no column '{name}'"):
            read()


def test_ids_are_not_encoded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(derived, "MOST_VALUES", 3)
    frame = pl.DataFrame({"qid": 1, "label": 0, "url": list("abcd")})
    frame.write_csv(tmp_path / "shop.csv")
    for read in (lambda: RankingData.from_frame(frame, one_hot=["url"]),
                 lambda: converted(tmp_path / "shop.csv", one_hot=("url",))):  # fmt: skip
        with pytest.raises(DataError, match=r"more in 'url'; .*leave it out"):
            read()
    monkeypatch.setattr(derived, "MOST_VALUES", 4)
    monkeypatch.setattr(derived, "MAX_FEATURES", 3)
    with pytest.raises(DataError, match="at most 3 features, found 4"):
        RankingData.from_frame(frame, one_hot=["url"])


def test_a_frame_is_scored_as_the_data_of_training(caplog: pytest.LogCaptureFixture) -> None:
    data = RankingData.from_frame(SHOP, one_hot=["brand", "size"], missing="flag")
    ranker = trained_on(data)
    expected = ranker.predict(data)
    # Means are those of queries where the frame has them; a frame of all features is taken as it is.
    for frame in (SHOP, pl.from_pandas(SHOP), SHOP.drop(columns="label"), data.to_pandas()):
        np.testing.assert_array_equal(ranker.predict(frame), expected)
    other = SHOP.assign(brand=["new", "acme", "new", "acme", None])
    with caplog.at_level("INFO", logger="pipeline_lib"):
        scores = ranker.predict(other)
    assert "2 values of 'brand', 'size' that training did not have" in caplog.text
    np.testing.assert_array_equal(scores[1:], expected[1:])
    with pytest.raises(DataError, match="expected the features of training, found no 'brand'"):
        ranker.predict(SHOP.drop(columns="brand"))


LACKING = [[1.0, 5.0], [np.nan, 6.0], [3.0, np.nan]]


@pytest.mark.parametrize("kind", [list, np.array, scipy.sparse.csr_array, pd.DataFrame, "none"])
def test_missing_values_of_arrays(kind: Any) -> None:
    none = [[None if np.isnan(x) else x for x in row] for row in LACKING]
    X: Any = none if kind == "none" else kind(LACKING)
    expected = {"zero": [[1, 5], [0, 6], [3, 0]], "mean": [[1, 5], [1, 6], [3, 0]]}
    for missing, filled in expected.items():
        data = RankingData.from_arrays(X, [0, 1, 2], [1, 1, 2], missing=missing)  # type: ignore[arg-type]
        assert data.X.tolist() == filled
        assert RankingData.from_groups(X, [0, 1, 2], [2, 1], missing=missing).X.tolist() == filled  # type: ignore[arg-type]
    data = RankingData.from_arrays(X, [0, 1, 2], [1, 1, 2], missing="flag", feature_names=["a", "b"])
    assert data.feature_names == ("a", "b", "a missing", "b missing")
    assert data.X.tolist() == [[1, 5, 0, 0], [1, 6, 1, 0], [3, 0, 0, 1]]
    with pytest.raises(DataError, match="expected `feature_names` with 'flag'"):
        RankingData.from_arrays(X, [0, 1, 2], [1, 1, 2], missing="flag")
    if kind != "none":
        with pytest.raises(DataError, match=r"X\[1, 0\]: .*missing='zero'"):
            RankingData.from_arrays(X, [0, 1, 2], [1, 1, 2])


@pytest.mark.parametrize("none", [None, np.nan])
def test_no_value_in_a_frame_is_an_error_that_names_the_remedy(none: Any) -> None:
    """Frames of polars hold null and NaN; those of pandas hand both on as null."""
    with pytest.raises(DataError, match=r"row 1: .*the column 'a', found .*missing='mean'"):
        RankingData.from_frame(pl.DataFrame({"qid": 1, "label": 0, "a": [1.0, none]}))


@pytest.mark.parametrize("missing", ["refuse", "zero", "mean", "flag"])
def test_infinite_values_are_never_missing(missing: Any) -> None:
    with pytest.raises(DataError, match="finite"):
        RankingData.from_arrays([[np.inf]], [0], [1], missing=missing, feature_names=["a"])
    with pytest.raises(DataError, match="finite"):
        RankingData.from_frame(pl.DataFrame({"qid": 1, "label": 0, "a": [np.inf]}), missing=missing)


def test_matrices_are_scored_with_the_policy_of_training(tmp_path: Path) -> None:
    (tmp_path / "some.txt").write_text("0 qid:1 1:1 2:5\n1 qid:1 1:nan 2:6\n")
    text = RankingData.from_letor(tmp_path / "some.txt", missing="mean")
    arrays = RankingData.from_arrays(LACKING[:2], [0, 1], [1, 1], missing="mean")
    np.testing.assert_array_equal(text.X, arrays.X)
    np.testing.assert_array_equal(letor.read(tmp_path / "some.txt", missing="mean").X, arrays.X)
    for data in (text, arrays):
        ranker = trained_on(data)
        np.testing.assert_array_equal(ranker.predict(LACKING[:2]), ranker.predict(data))
    with pytest.raises(DataError, match="finite"):
        trained_on(RankingData.from_arrays([[1.0, 5.0]], [0], [1])).predict(LACKING)


def test_a_column_without_any_value_is_missing_in_every_format(tmp_path: Path) -> None:
    frame = pl.DataFrame({"qid": [1, 1], "label": [0, 1], "x": [1.0, 2.0], "empty": [None, None]})
    frame.write_csv(tmp_path / "some.csv")
    frame.write_parquet(tmp_path / "some.parquet")
    read = [converted(tmp_path / f"some{ending}", missing="flag") for ending in (".csv", ".parquet")]
    for data in (*read, RankingData.from_frame(frame, missing="flag")):
        assert data.X.tolist() == [[1, 0, 1], [2, 0, 1]]
    with pytest.raises(DataError, match="'empty', found no value"):
        RankingData.from_frame(frame)
