"""Are files taken as other programs write them, and what is no data named for what it is?"""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pipeline_lib import RankingData
from pipeline_lib.core.errors import DataError
from pipeline_lib.sources import catalog, conversion, letor, own_data, own_settings, query_stream, readers
from pipeline_lib.sources.own_settings import OwnDataSettings
from pipeline_lib.sources.tables import Options

LARGEST = np.finfo(np.float32).max


@pytest.fixture
def written(tmp_path: Path):
    def write(content: str | bytes, name: str = "data.txt") -> Path:
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write


@pytest.mark.parametrize(
    ("content", "feature"),
    [("1 qid:1 1:5 2:1e39\n", 2), ("1 qid:1 0:1e39 1:1\n", 0), ("1 qid:1 0:1 7:-1.797e308\n", 7)],
)
def test_the_feature_whose_value_is_too_large_is_named(written, content: str, feature: int) -> None:
    path = written(content)
    with pytest.raises(DataError, match=rf"data\.txt:1: .*float32 for feature {feature} .*extreme"):
        RankingData.from_letor(path)
    with pytest.raises(DataError, match=rf"for feature {feature} \(`extreme: clip`"):
        conversion.convert_own({"all": path}, path.with_name("documents.parquet"), Options())
    if feature == 2:
        with pytest.raises(DataError, match=r"for feature 2 "):
            letor.read(path)


@pytest.mark.parametrize("policy", ["clip", "missing"])
def test_extreme_values_are_taken_as_asked_for(written, policy: Any) -> None:
    path = written("1 qid:1 1:1.797e308 2:-1e400 3:2\n0 qid:1 1:1 2:3.5e38 3:-3.4e38\n")
    taken = LARGEST if policy == "clip" else 0.0
    expected = np.array([[taken, -taken, 2], [1, taken, -3.4e38]], np.float32)
    np.testing.assert_array_equal(letor.read(path, extreme=policy).X, expected)
    target = path.with_name("documents.parquet")
    conversion.convert({"all": path}, target, extreme=policy)
    np.testing.assert_array_equal(RankingData.read_parquet(target).X, expected)
    conversion.convert_own({"all": path}, target, Options(extreme=policy))
    stored = RankingData.read_parquet(target)
    np.testing.assert_array_equal(stored.X, expected)
    [batch] = query_stream.batches(path, n_features=3, trained=stored.columns)  # a ranker remembers the policy
    np.testing.assert_array_equal(batch.data.X, expected)


def test_extreme_values_of_tables_are_taken_as_asked_for(written) -> None:
    path = written("qid,label,a,b\n1,1,1e39,1\n1,0,3,2\n1,0,5,-1e300\n", "data.csv")

    def read(**how: Any) -> list[list[float]]:
        target = path.with_name("documents.parquet")
        conversion.convert_own({"all": path}, target, Options(**how))
        return RankingData.read_parquet(target).X.tolist()

    with pytest.raises(DataError, match=r"data\.csv:2: .*'a'.*float32.*extreme"):
        read()
    assert read(extreme="clip") == [[LARGEST, 1], [3, 2], [5, -LARGEST]]
    assert read(extreme="missing", missing="zero") == [[0, 1], [3, 2], [5, 0]]
    assert read(extreme="missing", missing="mean") == [[4, 1], [3, 2], [5, 1.5]]
    assert read(extreme="missing", missing="flag") == [[4, 1, 1, 0], [3, 2, 0, 0], [5, 1.5, 0, 1]]
    problems = dict(own_settings.problems({"name": "x", "files": str(path), "extreme": "missing"}))
    assert "missing" in problems["extreme"]


@pytest.mark.parametrize(
    ("how", "expected"),
    [
        ({"missing": "zero"}, [[2, 0], [0, 4], [6, 0], [0, 5]]),
        ({"missing": "mean"}, [[2, 2], [4, 4], [6, 0], [0, 5]]),
        ({"missing": "mean", "extreme": "missing"}, [[2, 2], [4, 4], [6, 0], [0, 5]]),
    ],
)
def test_missing_values_of_text_are_taken_as_asked_for(written, how: dict[str, Any], expected: Any) -> None:
    """A feature that is left out is 0, and counts in the mean; queries may be divided among blocks."""
    extreme = "-1e300" if "extreme" in how else "NaN"
    path = written(f"1 qid:1 1:2 2:nan\n0 qid:1 1:{extreme} 2:4\n1 qid:1 1:6\n0 qid:2 1:NULL 2:5\n")
    for read in (RankingData.from_letor, letor.read):
        with pytest.raises(DataError, match=r"data\.txt:1: expected .* of feature 2 \(missing='zero'.*found 'nan'"):
            read(path)
        np.testing.assert_array_equal(read(path, **how).X, expected)
    target = path.with_name("documents.parquet")
    with pytest.raises(DataError, match=r"data\.txt:1: expected .* of feature 2 \(`missing: zero`.*found 'nan'"):
        conversion.convert_own({"all": path}, target, Options())
    conversion.convert_own({"all": path}, target, Options(**how))
    stored = RankingData.read_parquet(target)
    np.testing.assert_array_equal(stored.X, expected)
    batches = query_stream.batches(path, n_features=2, trained=stored.columns)  # a ranker remembers the policy
    np.testing.assert_array_equal(np.concatenate([batch.data.X for batch in batches]), expected)


def test_missing_values_of_text_with_group_sizes_are_means_of_queries(written) -> None:
    path = written("1 1:2 2:nan\n0 1:4 2:4\n1 1:nan 2:6\n")
    written("2\n1\n", "data.txt.query")
    expected = [[2, 4], [4, 4], [0, 6]]
    np.testing.assert_array_equal(RankingData.from_letor(path, missing="mean").X, expected)
    conversion.convert_own({"all": path}, path.with_name("documents.parquet"), Options(missing="mean"))
    np.testing.assert_array_equal(RankingData.read_parquet(path.with_name("documents.parquet")).X, expected)


def test_features_that_stand_twice_in_a_line_are_taken_as_asked_for(written) -> None:
    """Among them numbers that Python reads, before and after one that the kernel reads."""
    path = written("1 qid:1 1:1e-300 3:0.5 1:2 3:1.00000005960464477539062500001\n0 qid:1 1:7 1:8 1:9\n0 qid:1 3:3\n")
    expected = np.array([[2, 0, np.float32(1.00000005960464477539)], [9, 0, 0], [0, 0, 3]], np.float32)
    for read in (RankingData.from_letor, letor.read):
        with pytest.raises(DataError, match=r"data\.txt:1: .*once.*repeated_features='last'.*found '1:2'"):
            read(path)
        np.testing.assert_array_equal(read(path, repeated_features="last").X, expected)
    target = path.with_name("documents.parquet")
    with pytest.raises(DataError, match=r"data\.txt:1: .*once.*`repeated_features: last`.*found '1:2'"):
        conversion.convert_own({"all": path}, target, Options())
    conversion.convert_own({"all": path}, target, Options(repeated_features="last"))
    stored = RankingData.read_parquet(target)
    np.testing.assert_array_equal(stored.X, expected)
    [batch] = query_stream.batches(path, n_features=3, trained=stored.columns)
    np.testing.assert_array_equal(batch.data.X, expected)
    with pytest.raises(DataError, match=r"data\.txt:1: .*float32 for feature 1"):  # also of a value that does not count
        letor.read(written("1 qid:1 1:1e39 1:2\n"), repeated_features="last")


def test_a_line_may_repeat_features_up_to_a_limit(written) -> None:
    line = " ".join(f"1:{value}" for value in range(1025))
    path = written(f"0 qid:1 {line}\n" * 5)
    assert letor.read(path, repeated_features="last").X.tolist() == [[1024.0]] * 5
    with pytest.raises(DataError, match=r"data\.txt:1: expected at most 1,024 repeated"):
        letor.read(written(f"0 qid:1 {line} 1:1\n"), repeated_features="last")


def test_settings_of_text_and_of_tables_are_told_apart() -> None:
    def problems(**entry: str) -> dict[str, str]:
        return dict(own_settings.problems({"name": "x", **entry}))

    assert "found 'my.txt'" in problems(files="my.txt", missing="flag")["missing"]
    assert "missing" not in problems(files="my.txt", missing="mean") | problems(files="my.csv", missing="flag")
    assert "found the table 'my.csv'" in problems(files="my.csv", repeated_features="last")["repeated_features"]
    assert "repeated_features" not in problems(files="my.txt", repeated_features="last")
    read = own_data.data_set(OwnDataSettings(name="x", files="my.txt", repeated_features="last", missing="zero"))
    assert read.columns["repeated_features"] == "last"
    assert read.columns["missing"] == "zero"


def test_istella_has_no_value_where_it_writes_the_largest_number() -> None:
    assert catalog.get("Istella").extreme == "missing"
    assert catalog.get("MQ2008").extreme == "refuse"


@pytest.mark.parametrize(
    "names",
    [
        ("trainingset.txt", "validationset.txt", "testset.txt"),
        ("trainingset.TXT", "validationset.txt", "testset.TXT"),
        ("ohsumed_training.dat", "valid.dat", "testing.dat"),
    ],
)
def test_parts_are_known_by_their_usual_names(written, names: tuple[str, ...]) -> None:
    paths = [written("1 qid:1 1:0.5\n", name) for name in names]
    entry = {"name": "ohsumed", "folder": str(paths[0].parent)}
    assert list(own_settings.problems(entry)) == []
    files = {part.members[0] for part in own_data.data_set(OwnDataSettings.parse(entry)).parts.values()}
    assert files == set(map(str, paths))


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 12\n", "Git LFS.*git lfs pull"),
        (b"\x80\x04\x95\x10\x00\n", "pickle"),
        (b"\x93NUMPY\x01\x00v\x00{\n", "numpy"),
        (b"PAR1\x15\x04\n", r"Parquet.*\.parquet"),
        (b"\x0c\x00\x00\x00\x00\x00\x00\x00\x61\x62\x63\x64protobuf\n", "TFRecord"),
    ],
)
def test_what_is_no_text_is_named(written, content: bytes, said: str) -> None:
    with pytest.raises(DataError, match=rf"data\.txt:1: expected LETOR text, found .*{said}"):
        RankingData.from_letor(written(content))


@pytest.mark.parametrize("name", ["data.csv", "data.parquet"])
def test_a_pointer_in_place_of_a_table_is_named(written, name: str) -> None:
    path = written("version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 12\n", name)
    with pytest.raises(DataError, match=rf"{name}.*Git LFS.*git lfs pull"):
        readers.layout([path], Options())


@pytest.mark.parametrize(
    ("comments", "ids"),
    [
        (["# docid:851", "# docid: 852", "#doc_id=853"], ["851", "852", "853"]),
        (["# 1370 rocky@example.org", "# 1371 rocky@example.org", "# 1370 x"], ["1370", "1371", "1370"]),
        (["# https://a.org/1", "#https://a.org/2", "# https://a.org/1"], ["https://a.org/1", "https://a.org/2"] * 2),
        (["# good", "# good", "# bad"], [None] * 3),  # these name no document
        (["# 1", "", "# 2"], [None] * 3),
    ],
)
def test_ids_of_documents_are_read_from_comments(written, comments: list[str], ids: list[str | None]) -> None:
    lines = zip((1, 1, 2), comments, strict=True)
    path = written("".join(f"0 qid:{query} 1:1 {comment}\n" for query, comment in lines))
    found = [one for batch in query_stream.batches(path, n_features=1) for one in batch.documents]
    assert found == ids[:3]


def test_an_id_in_another_encoding_is_refused(written) -> None:
    path = written(b"0 qid:1 1:1 # docid = caf\xe9\n")
    with pytest.raises(DataError, match=r"data\.txt:1: .*UTF-8.*caf\\xe9.*convert"):
        list(query_stream.batches(path, n_features=1))
