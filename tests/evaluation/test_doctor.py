"""Is every defect found when it is planted, with the size of its effect, and nothing in data without one?"""

import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from pipeline_lib import RankingData
from pipeline_lib.core import seeds
from pipeline_lib.core.errors import DataError
from pipeline_lib.evaluation import Findings, column_checks, doctor, examination, samples, simple_rankers
from pipeline_lib.evaluation.examination import CHECKS
from pipeline_lib.papers.promises.doctor.clean import NAMES, drawn


def planted(**columns) -> RankingData:
    """Clean data with some columns or labels replaced."""
    data = drawn(np.random.default_rng(3), 60)
    X = data.X.copy()
    for name, column in columns.items():
        if name != "y":
            X[:, NAMES.index(name)] = column(data) if callable(column) else column
    return replace(data, X=X, y=np.asarray(columns.get("y", data.y), np.int32))


def checks(found: Findings) -> list[str]:
    return [one.check for one in found.found]


def only(found: Findings, check: str):
    assert checks(found) == [check]
    return found.found[0]


def position(data: RankingData) -> np.ndarray:
    return np.arange(data.n_documents) - np.repeat(data.offsets[:-1], data.documents_per_query)


def test_clean_data_say_what_was_looked_for() -> None:
    found = doctor(planted(), difference=0.9)
    assert not len(found)
    assert all(check in str(found) for check in CHECKS)
    assert doctor(planted()).checks == CHECKS[:-1]  # of how many queries nothing was asked
    assert found.equal == pytest.approx(simple_rankers.ndcg(np.zeros(found.documents), planted()).mean())
    assert found.best > found.equal


@pytest.mark.parametrize(
    "begin", [0, pytest.param(100, marks=pytest.mark.slow), pytest.param(500, marks=pytest.mark.slow)]
)
def test_clean_data_raise_no_alarms(begin) -> None:
    """1,000 data sets of one part or two, of normal, skewed, whole and yes-no features, some shared within queries."""
    end = {0: 100, 100: 500, 500: 1000}[begin]
    alarms = []
    for number in range(begin, end):
        rng = seeds.generator("clean", number)
        d = int(rng.integers(1, 12))
        kinds = [int(rng.choice([0, 1, 2, 4])), *rng.integers(0, 5, d - 1)]
        about = {"n_features": d, "noise": float(rng.uniform(0.3, 3.0)), "kinds": kinds}
        data = drawn(rng, int(rng.integers(5, 100)), **about)
        parts = {"train": data, "test": drawn(rng, int(rng.integers(5, 50)), name="t", **about)}
        alarms += checks(doctor(parts if number % 2 else data))
    assert len(alarms) <= 0.01 * (end - begin), alarms


def test_rows_in_the_order_of_labels() -> None:
    data = planted()
    order = np.lexsort((-data.y, np.repeat(np.arange(60), data.documents_per_query)))
    one = only(doctor(replace(data, X=data.X[order], y=data.y[order])), "order of rows")
    assert (one.as_is, one.mended) == (1.0, pytest.approx(doctor(data).equal))


@pytest.mark.parametrize(
    "leak",
    [
        lambda data: data.y,
        lambda data: -3.0 * data.y + 1.0,
        lambda data: np.exp(data.y),
        lambda data: data.y > 0,
        lambda data: data.y + np.random.default_rng(0).uniform(0.0, 0.9, data.n_documents),
    ],
    ids=["label", "falling", "convex", "relevant or not", "with noise"],
)
def test_the_label_among_the_features(leak) -> None:
    one = only(doctor(planted(clicks=leak)), "label among the features")
    assert one.columns == ("clicks",)
    assert one.as_is > 0.9
    others = [simple_rankers.of_feature(planted().X[:, j], planted()).mean() for j in (0, 2)]
    assert one.mended == pytest.approx(max(others))
    assert "clicks" in one.remedy


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_the_position_among_the_features(sign) -> None:
    one = only(doctor(planted(age=lambda data: sign * position(data))), "position among the features")
    assert one.columns == ("age",)
    assert one.as_is == pytest.approx(simple_rankers.of_feature(position(planted()), planted()).mean())


def test_the_position_where_rows_follow_the_labels() -> None:
    data = planted()
    order = np.lexsort((-data.y, np.repeat(np.arange(60), data.documents_per_query)))
    X = data.X[order]
    X[:, 2], X[:, 1] = position(data), data.y[order]
    found = doctor(replace(data, X=X, y=data.y[order]))
    by_check = {(one.check, one.columns) for one in found.found}
    assert ("position among the features", ("age",)) in by_check
    assert ("label among the features", ("clicks",)) in by_check
    assert ("position among the features", ("clicks",)) not in by_check


def test_constant_features() -> None:
    one = only(
        doctor(planted(age=lambda data: np.repeat(np.arange(60) % 7, data.documents_per_query))), "constant features"
    )
    assert one.columns == ("age",)
    assert one.as_is == one.mended == doctor(planted()).equal


def test_lists_on_which_all_rankers_are_alike() -> None:
    rng = np.random.default_rng(5)
    data = drawn(rng, 60)
    y = data.y.copy()
    y[data.offsets[3] : data.offsets[5]] = 0
    y[data.offsets[10] : data.offsets[11]] = 2
    single = RankingData.from_arrays(rng.normal(size=(4, 3)), [1, 1, 0, 2], ["a", "b", "c", "d"], feature_names=NAMES)
    found = {one.check: one for one in doctor({"a": replace(data, y=y), "b": single}).found}
    assert found.keys() == {"lists of one document", "lists without a relevant document", "lists of one label"}
    assert found["lists without a relevant document"].text.startswith("3 of 64")
    assert found["lists of one document"].text.startswith("4 of 64")
    assert found["lists of one label"].queries == (10,)
    rest = found["lists without a relevant document"]
    assert rest.as_is == pytest.approx(rest.mended * 61 / 64)


def test_scales_that_begin_at_1_or_have_gaps() -> None:
    data = planted()
    one = only(doctor(planted(y=data.y + 1)), "scale of labels")
    assert one.mended == pytest.approx(doctor(data).equal)
    assert not len(doctor(planted(y=data.y + 1), relevant_from=2))
    one = only(doctor(planted(y=data.y * 3)), "gaps of the scale")
    assert one.mended == pytest.approx(doctor(data).equal)


def test_a_few_values_far_from_all_others() -> None:
    def sentinel(data):
        column = data.X[:, 2].copy()
        column[data.offsets[[3, 20, 41, 50]]] = -99999.0
        return column

    one = only(doctor(planted(age=sentinel)), "extreme values")
    assert one.columns == ("age",)
    assert one.queries == (3, 20, 41, 50)
    assert one.mended > one.as_is


def two_parts(**changes) -> dict[str, RankingData]:
    rng = np.random.default_rng(8)
    return {"train": drawn(rng, 80), "test": drawn(rng, 40, name="t")} | changes


def test_other_units_in_one_part() -> None:
    parts = two_parts()
    X = parts["test"].X.copy()
    X[:, 1] *= 1000.0
    one = only(doctor(parts | {"test": replace(parts["test"], X=X)}), "units of a feature")
    assert one.columns == ("clicks",)
    assert one.as_is < one.mended == pytest.approx(doctor(parts).trained, abs=0.01)


def test_a_feature_that_one_part_does_not_have() -> None:
    parts = two_parts()
    X = parts["test"].X.copy()
    X[:, 0] = 0.0
    one = only(doctor(parts | {"test": replace(parts["test"], X=X)}), "features of one file")
    assert one.columns == ("bm25",)


def renamed(data: RankingData, names) -> RankingData:
    return replace(data, query_names=tuple(names))


def test_queries_in_two_parts_with_other_documents() -> None:
    parts = two_parts()
    names = [*[f"q{k}" for k in range(7)], *[f"t{k}" for k in range(33)]]
    one = only(doctor(parts | {"test": renamed(parts["test"], names)}), "queries in two parts")
    assert one.text.startswith("7 queries")
    assert one.mended < one.as_is <= 1.0
    assert one.where[0] == "test: query q0"
    # Two files that number their queries from 1 mean different ones.
    numbered = {role: renamed(data, map(str, range(1, 1 + data.n_queries))) for role, data in parts.items()}
    assert not len(doctor(numbered))


@pytest.mark.parametrize("rounding", [None, 4, 5])
def test_copies_of_training_queries_in_the_test_part(rounding) -> None:
    parts = two_parts()
    train, test = parts["train"], parts["test"]
    chosen = np.arange(5, 15)
    copies = train.take(chosen)
    X = np.concatenate([test.X, copies.X if rounding is None else copies.X.round(rounding)])
    both = RankingData.from_arrays(
        X,
        np.concatenate([test.y, copies.y]),
        np.repeat([f"t{k}" for k in range(50)], [*test.documents_per_query, *copies.documents_per_query]),
        feature_names=NAMES,
    )
    found = doctor(parts | {"test": both})
    one = only(found, "near-duplicate documents")
    assert one.as_is > one.mended + 0.03
    assert one.text.startswith("10 of 50")


def test_single_copied_documents_and_lists_of_one_file() -> None:
    parts = two_parts()
    X, y = parts["test"].X.copy(), parts["test"].y.copy()
    for q in range(25):  # one document of each of 25 test queries stands in a training query, too
        X[parts["test"].offsets[q]] = parts["train"].X[parts["train"].offsets[2 * q]]
    assert checks(doctor(parts | {"test": replace(parts["test"], X=X, y=y)})) == ["near-duplicate documents"]
    data = drawn(np.random.default_rng(1), 60, sizes=(6, 9))
    again = data.take([*range(60), 7])
    again = replace(again, query_names=(*data.query_names, "new name"))
    one = only(doctor(again), "near-duplicate documents")
    assert one.queries == (7, 60)


def test_features_of_few_values_have_no_copies() -> None:
    rng = np.random.default_rng(2)
    data = drawn(rng, 200, n_features=2, kinds=[1, 3])
    assert not len(doctor({"train": data.take(range(140)), "test": data.take(range(140, 200))}))


@pytest.mark.parametrize("length", [300, 3_000])
def test_long_lists_of_one_feature_have_no_copies(length) -> None:
    """Any document of the one list may be like any of the other: there are s! ways in which s of each are alike."""
    for seed in range(5):
        assert not len(doctor(drawn(np.random.default_rng(seed), 2, sizes=(length, length + 1), n_features=1)))


def test_lists_that_a_learner_refuses() -> None:
    long = drawn(np.random.default_rng(0), 3, sizes=(10_100, 10_101), n_features=1)
    assert "limits of learners" in checks(doctor(long))


def test_too_few_queries_for_a_difference() -> None:
    data = planted()
    detectable = doctor(data).detectable
    assert not len(doctor(data, difference=1.01 * detectable))
    one = only(doctor(data, difference=detectable / 2), "number of queries")
    assert "240 would do" in one.remedy
    with pytest.raises(DataError, match="above 0"):
        doctor(data, difference=0.0)


def test_every_check_is_planted_above() -> None:
    """The missing values and missing columns of tables are planted in files, below."""
    source = Path(__file__).read_text(encoding="utf-8")
    assert all(f'"{check}"' in source for check in CHECKS)


def table(path, data: RankingData, **columns):
    frame = data.to_pandas().rename(columns={"qid": "query"})
    for name, column in columns.items():
        frame[name] = column
    frame.to_csv(path, index=False)
    return path


def test_missing_values_of_a_table_with_their_lines(tmp_path) -> None:
    data = planted()
    age = data.X[:, 2].astype(object)
    age[data.y == 2] = ""
    path = table(tmp_path / "some.csv", data, age=age)
    one = only(doctor(path), "missing values")
    assert one.columns == ("age",)
    assert one.as_is > doctor(data).equal + 0.2
    query = int(np.searchsorted(data.offsets, np.flatnonzero(data.y == 2)[0], side="right")) - 1
    assert one.where[0] == f"{path}:{2 + data.offsets[query]} (query q{query})"
    assert not len(doctor({"files": str(path), "missing": "mean"}))


def test_missing_values_of_text_as_those_of_a_table(tmp_path) -> None:
    """The same documents in both formats: the same finding, the same rankers, and a remedy that the format takes."""
    data = planted()
    age = data.X[:, 2].astype(object)
    age[data.y == 2] = ""
    tabled = doctor(table(tmp_path / "some.csv", data, age=age))
    path, query = tmp_path / "some.txt", np.repeat(np.arange(data.n_queries), data.documents_per_query)
    with path.open("w", encoding="utf-8") as file:
        for label, name, x in zip(data.y, query, data.X, strict=True):
            values = " ".join(f"{j}:{'NULL' if j == 3 and label == 2 else repr(float(v))}" for j, v in enumerate(x, 1))
            file.write(f"{label} qid:{name} {values}\n")
    found = doctor(path)
    one, same = only(found, "missing values"), only(tabled, "missing values")
    assert one.columns == ("feature 3",)
    assert (one.as_is, one.mended, one.queries) == (same.as_is, same.mended, same.queries)
    assert (found.equal, found.best, found.trained) == (tabled.equal, tabled.best, tabled.trained)
    assert "flag" in same.remedy
    assert "flag" not in one.remedy
    assert "missing: zero" in one.remedy
    line = 1 + data.offsets[int(np.searchsorted(data.offsets, np.flatnonzero(data.y == 2)[0], side="right")) - 1]
    assert one.where[0].startswith(f"{path}:{line} ")
    for policy in ("mean", "zero"):
        assert "missing values" not in checks(doctor({"files": str(path), "missing": policy}))


def test_values_beyond_float32_and_columns_of_one_file(tmp_path) -> None:
    data = planted()
    age = data.X[:, 2].astype(np.float64)
    age[[5, 40]] = 1e39
    train, test = table(tmp_path / "train.csv", data, age=age), table(tmp_path / "test.csv", planted(), more=1)
    found = doctor([train, test])
    assert {"extreme values", "features of one file", "queries in two parts"} <= set(checks(found))
    lacking = next(one for one in found.found if one.check == "features of one file")
    assert (lacking.columns, lacking.where) == (("more",), (str(train),))


def test_letor_text_folders_and_stored_files_are_read(tmp_path) -> None:
    from pipeline_lib.sources import letor

    parts = two_parts()
    (tmp_path / "Fold1").mkdir()
    for number, (role, data) in enumerate(parts.items()):
        letor.write(tmp_path / "Fold1" / f"{role}.txt", replace(data, query_names=None, qids=data.qids + 100 * number))
    in_files = doctor(tmp_path)
    assert (in_files.queries, in_files.documents) == (120, sum(data.n_documents for data in parts.values()))
    assert in_files.trained == pytest.approx(doctor(parts).trained)
    parts["train"].write_parquet(tmp_path / "documents.parquet")
    assert doctor(tmp_path / "documents.parquet").equal == doctor(parts["train"]).equal
    with pytest.raises(DataError, match="found no"):
        doctor(tmp_path / "none.csv")


def test_a_sample_holds_the_same_queries_of_two_files(tmp_path, monkeypatch) -> None:
    data = drawn(np.random.default_rng(0), 200)
    paths = [table(tmp_path / name, data) for name in ("train.csv", "test.csv")]
    monkeypatch.setattr(samples, "CELLS", 2 * data.X.size // 3)
    found = doctor(paths)
    assert 0.0 < found.share <= 0.5
    assert found.queries == 400
    copies = next(one for one in found.found if one.check == "queries in two parts")
    assert copies.text.startswith("200 queries")
    assert "near-duplicate documents" in checks(found)


def test_findings_as_text_json_and_frame() -> None:
    found = doctor(planted(clicks=lambda data: data.y))
    plain = json.loads(json.dumps(found.to_dict()))
    assert plain["found"][0]["as_is"] == found.found[0].as_is
    assert plain["checks"] == list(CHECKS[:-1])
    assert found.to_pandas()["check"].tolist() == checks(found)
    assert found.found[0].text in str(found)
    assert "label among the features" in repr(found)


def test_frames_and_entries_name_their_columns() -> None:
    frame = planted().to_pandas().rename(columns={"label": "clicked"})
    assert doctor(frame, label="clicked", ignore=["age"]).features == 2


def test_frames_and_files_are_read_with_the_words_of_an_entry(tmp_path) -> None:
    data = planted()
    frame = data.to_pandas().rename(columns={"qid": "query"})
    frame["brand"] = np.where(np.arange(len(frame)) % 3, "zeta", "acme")
    frame.loc[data.y == 0, "age"] = np.nan
    frame.to_csv(tmp_path / "some.csv", index=False)
    found = [doctor(one, one_hot=["brand"]) for one in (frame, tmp_path / "some.csv")]
    for one in found:
        assert one.features == data.n_features + 2
        assert [finding.columns for finding in one.found if finding.check == "missing values"] == [("age",)]
    assert [(one.text, one.as_is, one.mended) for one in found[0].found] == [
        (one.text, one.as_is, one.mended) for one in found[1].found
    ]
    for given in (frame, tmp_path / "some.csv"):
        assert "missing values" not in checks(doctor(given, one_hot=["brand"], missing="mean"))
        with pytest.raises(DataError, match="`one_hot`"):
            doctor(given)


def test_columns_that_mark_missing_values_already_are_features(tmp_path) -> None:
    frame = planted().to_pandas()
    frame["age missing"] = np.arange(len(frame)) % 2
    frame.to_csv(tmp_path / "some.csv", index=False)
    assert [doctor(one).features for one in (frame, tmp_path / "some.csv")] == [len(frame.columns) - 2] * 2


def test_tests_share_the_level_of_all() -> None:
    assert math.isclose(examination.TESTS * column_checks.FALSE_ALARMS, 0.01)


@pytest.mark.parametrize(("queries", "is_found"), [(20, False), (55, True)])
def test_a_feature_that_orders_few_lists_is_named_without_being_a_finding(queries: int, is_found: bool) -> None:
    data = drawn(np.random.default_rng(5), queries)
    X = data.X.copy()
    X[:, 0] = data.y + 0.5 * np.random.default_rng(6).random(data.n_documents)
    found = doctor(replace(data, X=X))
    assert ("label among the features" in checks(found)) == is_found
    assert any(f"{NAMES[0]} orders all lists" in note for note in found.notes) == (not is_found)
    assert not any("orders all lists" in note for note in doctor(data).notes)


def test_a_file_that_is_missing_is_named_as_it_was_given() -> None:
    with pytest.raises(DataError, match=r"expected a file, found no .*, which '~/no-such-file.csv' stands for"):
        doctor("~/no-such-file.csv")
