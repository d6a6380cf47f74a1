"""A data set that the configuration describes: its entry, its problems, its folds, and what notices a changed file."""

import gzip
import hashlib
import os
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from pipeline_lib import RankingData, learners
from pipeline_lib.commands import convert_data, describe_data, evaluate_model, register_data, split_folds, train_model
from pipeline_lib.core import storage
from pipeline_lib.core.errors import ConfigurationError, DataError
from pipeline_lib.sources import folds, own_data, raw_files, tables
from pipeline_lib.sources.own_settings import OwnDataSettings, group_file, problems
from pipeline_lib.study import configuration

ROLES = ("train", "validation", "test")


@pytest.fixture(autouse=True)
def in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Paths of the configuration are relative to the working directory."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def text(queries: Any, documents: int = 2) -> str:
    lines = (
        f"{(i + k) % 2} qid:{q} 1:{i + k} 2:{k * k + i}\n" for i, q in enumerate(queries) for k in range(documents)
    )
    return "".join(lines)


def write(path: str, queries: Any) -> str:
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_text(text(queries))
    return path


def prepared(**entry: Any) -> tuple[RankingData, list[dict[str, list[Any]]], dict[str, Any]]:
    """Run the jobs that prepare a data set; its documents, the queries of every fold, and its description."""
    settings = OwnDataSettings.parse({"name": "mine", **entry})
    assert not list(problems({"name": "mine", **entry}))
    found = Path("data/raw/mine/manifest.json"), Path("parquet/documents.parquet"), Path("parquet/summary.json")
    manifest, documents, summary = found
    table, record, output = Path("parquet/folds.parquet"), Path("parquet/raw-files.json"), Path("description.json")
    for command, name, files in (
        (register_data, "register_data", {"manifest": manifest, "record": record, "planned_with": "first"}),
        (convert_data, "convert_data", {"manifest": manifest, "documents": documents, "summary": summary}),
        (split_folds, "split_folds", {"documents": documents, "folds": table}),
        (describe_data, "describe_data", {"documents": documents, "summary": summary, "output": output}),
    ):
        command.run(dataset="mine", own=own_data.plain_entry(settings, name), **files)
    data = RankingData.read_parquet(documents, stored=True)
    names = np.array(data.query_names if data.query_names is not None else data.qids)
    layout = [
        {role: names[folds.queries(table, fold, role)].tolist() for role in ROLES}
        for fold in range(1, settings.n_folds + 1)
    ]
    assert own_data.data_set(settings).n_folds == settings.n_folds
    return data, layout, storage.read_json(output)


@pytest.mark.parametrize("n_folds", [3, 5, 7])
def test_queries_of_files_are_dealt_to_folds_of_equal_size(n_folds: int) -> None:
    write("my.txt", range(23))
    data, layout, description = prepared(files="my.txt", folds=n_folds)
    for fold in layout:
        assert sorted(fold["train"] + fold["validation"] + fold["test"]) == list(range(23))
        assert {len(fold["validation"]), len(fold["test"])} <= {23 // n_folds, -(-23 // n_folds)}
    for role in ("validation", "test"):
        assert sorted(query for fold in layout for query in fold[role]) == list(range(23))
    assert (description["rows"], description["queries"], description["features"]) == (46, 23, 2)
    assert description["labels"] == {str(r): int((data.y == r).sum()) for r in (0, 1)}
    [part] = description["parts"]
    assert (part["file"], part["sha256"]) == ("my.txt", hashlib.sha256(Path("my.txt").read_bytes()).hexdigest())


def test_queries_are_dealt_at_random_whatever_their_order_in_the_file() -> None:
    write("my.txt", range(300))
    _, layout, _ = prepared(files="my.txt", folds=5)
    tested = {query: number for number, fold in enumerate(layout) for query in fold["test"]}
    # Of 299 pairs of neighbours, 60 are tested in the same fold on average, with a deviation of 7.
    assert 32 < sum(tested[query] == tested[query + 1] for query in range(299)) < 88


def test_too_few_queries_for_the_folds() -> None:
    write("my.txt", range(3))
    with pytest.raises(
        DataError, match="fold 3 has no query for validation; give more queries than 3, or fewer folds than 5"
    ):
        prepared(files="my.txt")


def test_files_for_every_role() -> None:
    entry = {"train": write("a.txt", [1, 2]), "validation": [write("b.txt", [3])], "test": write("c.txt", [1])}
    _, layout, _ = prepared(**entry)
    assert layout == [{"train": [1, 2], "validation": [3], "test": [1]}]


def test_a_fifth_of_the_training_queries_validates_where_no_file_does() -> None:
    _, [fold], _ = prepared(train=write("a.txt", range(10)), test=write("b.txt", [100]))
    assert (len(fold["train"]), len(fold["validation"]), fold["test"]) == (8, 2, [100])
    assert sorted(fold["train"] + fold["validation"]) == list(range(10))


def test_folders_of_folds_store_every_query_once() -> None:
    parts = [[f"q{k}", f"r{k}"] for k in range(5)]
    for k in range(5):
        folder = f"mslr/Fold{k + 1}"
        write(f"{folder}/train.txt", parts[k] + parts[(k + 1) % 5] + parts[(k + 2) % 5])
        write(f"{folder}/vali.txt", parts[(k + 3) % 5])
        write(f"{folder}/test.txt", parts[(k + 4) % 5])
    # Documents differ with their line in these files: make those of a query the same wherever it stands.
    for path in Path("mslr").rglob("*.txt"):
        lines = (line.split(" 1:")[0] for line in path.read_text().splitlines())
        path.write_text("".join(f"{line} 1:{int(line[-1]) + 1} 2:{'qr'.index(line[-2])}\n" for line in lines))
    data, layout, description = prepared(folder="mslr")
    assert (data.n_queries, description["queries"]) == (10, 10)
    assert {role: sorted(found) for role, found in layout[0].items()} == {
        "train": ["q0", "q1", "q2", "r0", "r1", "r2"],
        "validation": ["q3", "r3"],
        "test": ["q4", "r4"],
    }
    assert sorted(query for fold in layout for query in fold["test"]) == sorted(
        query for part in parts for query in part
    )
    assert {part["queries"] for part in description["parts"]} == {2, 6}


def test_a_query_that_trains_and_tests_is_refused() -> None:
    for k in (1, 2, 3):
        write(f"folds/Fold{k}/train.txt", [1, 2, 3])
        write(f"folds/Fold{k}/test.txt", [1 if k == 2 else 10 * k])
    with pytest.raises(DataError, match="fold 2 of mine uses a query in two roles"):
        prepared(folder="folds")


@pytest.mark.parametrize("folds", [2, 3])
def test_a_query_that_two_folds_test_is_refused(folds: int) -> None:
    for k in range(1, folds + 1):
        write(f"folds/Fold{k}/train.txt", [1, 2, 3])
        write(f"folds/Fold{k}/test.txt", [10 if k < 3 else 11])
    with pytest.raises(DataError, match="two folds of mine test the same query"):
        prepared(folder="folds")


def test_a_folder_of_lightgbm_with_query_files() -> None:
    Path("lgb").mkdir()
    for name, sizes in (("rank.train", [3, 2, 1, 2, 2]), ("rank.test", [2, 2])):
        lines = "".join(f"{i % 3} {i % 2}:{i}.5 7:{i}\n" for i in range(sum(sizes)))
        Path(f"lgb/{name}").write_text(lines)
        Path(f"lgb/{name}.query").write_text("".join(f"{size}\n" for size in sizes))
    Path("lgb/train.conf").write_text("objective = lambdarank\n")
    Path("lgb/rank.train.init").write_text("1\n")
    data, [fold], description = prepared(folder="lgb")
    assert (data.n_queries, data.n_documents, data.n_features) == (7, 14, 8)
    assert [len(fold[role]) for role in ROLES] == [4, 1, 2]
    by_name = {part["name"]: part for part in description["parts"]}
    both = Path("lgb/rank.train").read_bytes() + Path("lgb/rank.train.query").read_bytes()
    assert by_name["train"]["sha256"] == hashlib.sha256(both).hexdigest()
    assert "weight" not in description
    Path("lgb/rank.train.weight").write_text("".join(f"{k}\n" for k in (3, 3, 3, 1, 1, 0.5, 1, 1, 2, 2)))
    Path("lgb/rank.test.weight").write_text("1\n4\n")
    data, _, description = prepared(folder="lgb")
    assert data.weights is not None
    assert data.weights.tolist() == [1, 4, 3, 1, 0.5, 1, 2]  # the queries of the test part are stored first
    assert description["weight"] == "rank.test.weight, one for each query; rank.train.weight, one for each document"
    assert description["weight"] in description["notes"][-1]


def test_what_is_made_of_labels_and_missing_values_stands_in_the_description() -> None:
    rows = (f"u{i};{i % 2 / 2};{'' if i == 4 else i}\n" for i in range(9))
    Path("my.csv").write_text("qid;label;bm25\n" + "".join(rows))
    data, _, description = prepared(files="my.csv", folds=3, separator=";", labels="doubled", missing="flag")
    assert data.feature_names == ("bm25", "bm25 missing")
    assert data.X[:, 1].tolist() == [float(i == 4) for i in range(9)]
    assert data.y.tolist() == [i % 2 for i in range(9)]
    assert description["notes"][1:] == [
        "Its labels are multiples of one half; all were doubled.",
        "Missing values were read as the mean of the other documents of the query, or as 0 if none has a value. "
        "A feature says of which documents.",
    ]


def test_settings_of_tables_are_refused_for_other_files() -> None:
    write("my.txt", [1])
    found = problems({"name": "my_data", "files": ["my.txt"], "missing": "flag", "separator": ";"})
    assert [(key, text.split(" only, ")[1]) for key, text in found] == [
        ("separator", "found 'my.txt'"),
        ("missing", "found 'my.txt'; in LETOR text, `zero` takes 0 and `mean` the mean of the query"),
    ]


WEIGHTED = [("a", 1, 0.5, 2.5), ("a", 0, 1.0, 2.5), ("b", 0, 0.0, 1.0), ("c", 2, 1.5, 4.0), ("c", 1, 0.0, 4.0)]


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_queries_have_the_weights_of_a_column(ending: str) -> None:
    frame = pl.DataFrame(WEIGHTED, schema=["qid", "label", "bm25", "clicks"], orient="row")
    frame.write_csv("my.csv") if ending == ".csv" else frame.write_parquet("my.parquet")
    data, _, description = prepared(files=f"my{ending}", folds=3, weight="clicks")
    assert data.weights is not None
    assert data.weights.tolist() == [2.5, 1.0, 4.0]
    assert data.feature_names == ("bm25",)
    assert description["weight"] == "clicks"
    assert "Its queries have weights (column 'clicks')" in description["notes"][-1]
    again = RankingData.from_frame(frame, weight="clicks")
    assert again.weights is not None
    assert again.weights.tolist() == data.weights.tolist()
    frame = data.to_pandas()
    assert RankingData.from_frame(frame, weight="weight").feature_names == data.feature_names


def test_queries_in_several_pieces_of_a_table_have_one_weight(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "rows_per_group", lambda n_features: 2)
    rows = [(f"q{i // 5}", i % 3, float(i), 1.0 + i // 5) for i in range(20)]
    frame = pl.DataFrame(rows, schema=["qid", "label", "bm25", "clicks"], orient="row")
    frame.write_parquet("my.parquet")
    data, _, _ = prepared(files="my.parquet", folds=3, weight="clicks")
    assert data.weights is not None
    assert data.weights.tolist() == [1.0, 2.0, 3.0, 4.0]
    frame.with_columns(clicks=pl.when(pl.col("bm25") == 14.0).then(9.0).otherwise("clicks")).write_parquet("my.parquet")
    with pytest.raises(DataError, match=r"my.parquet: row 14: expected one weight .* of query q2, found 9 after 3"):
        prepared(files="my.parquet", folds=3, weight="clicks")


def test_every_wrong_weight_is_named_with_its_line() -> None:
    rows = ["a,1,0.5,2", "a,0,1,3", "b,0,0,-1", "c,2,1,0", "d,1,1,none", "e,1,1,", "f,0,1,5"]
    Path("my.csv").write_text("\n".join(["qid,label,bm25,clicks", *rows, ""]))
    with pytest.raises(DataError) as found:
        prepared(files="my.csv", folds=3, weight="clicks")
    lines = str(found.value).splitlines()
    # Three of a kind are shown, and how many more there are.
    assert [line.partition(": ")[0] for line in lines] == ["my.csv:3", "my.csv:4", "my.csv:5", "my.csv"]
    assert "one weight (column 'clicks') for all documents of query a, found 3 after 2" in lines[0]


def test_a_weight_that_is_refused_makes_no_other_wrong() -> None:
    Path("my.csv").write_text("qid,label,bm25,clicks\na,1,0.5,none\na,0,1,3\na,0,2,3\nb,1,1,2\nb,0,1,x\n")
    with pytest.raises(DataError) as found:
        prepared(files="my.csv", folds=3, weight="clicks")
    assert {line.partition(": ")[0] for line in str(found.value).splitlines()} == {"my.csv:2", "my.csv:6"}


def test_a_column_of_weights_must_be_there_and_have_no_other_role() -> None:
    Path("my.csv").write_text("qid,label,bm25\na,1,0.5\n")
    for weight, said in (("click", "expected the column 'click'"), ("label", "found 'label', which has another role")):
        with pytest.raises(DataError, match=said):
            prepared(files="my.csv", folds=3, weight=weight)
    write("my.txt", [1])
    [(key, said)] = problems({"name": "mine", "files": ["my.txt"], "weight": "clicks"})
    assert (key, said.split(" only, ")[1]) == ("weight", "found 'my.txt'")
    for role in ("train", "test"):
        write(f"mine/{role}.txt", [1, 2])
    with pytest.raises(DataError, match="expected a table with the weights of queries, 'clicks', found LETOR text"):
        prepared(folder="mine", weight="clicks")


def test_a_study_of_categories_is_that_of_their_dummies() -> None:
    brands = ["acme", "zeta", "", "acme", "new"] * 4
    rows = [f"q{i // 2},{i % 3},{i % 5}.5,{brand}\n" for i, brand in enumerate(brands)]
    Path("my.csv").write_text("qid,label,bm25,brand\n" + "".join(rows))
    data, layout, description = prepared(files="my.csv", folds=5, one_hot=["brand"])
    assert data.columns is not None
    assert (data.columns.one_hot, description["features"]) == (("brand",), 4)
    assert description["notes"][-1] == "Each value of 'brand' is a feature, which is 1 where a document has it."
    values = ["acme", "new", "zeta"]
    dummies = [",".join(str(int(brand == one)) for one in values) for brand in brands]
    names = ",".join(f"brand = {one}" for one in values)
    rows = [f"{row.rpartition(',')[0]},{more}\n" for row, more in zip(rows, dummies, strict=True)]
    Path("my.csv").write_text(f"qid,label,bm25,{names}\n" + "".join(rows))
    by_hand, same_layout, _ = prepared(files="my.csv", folds=5)
    assert data.feature_names == by_hand.feature_names
    assert data.X.tobytes() == by_hand.X.tobytes()
    assert layout == same_layout


def test_categories_stand_in_tables_alone() -> None:
    write("my.txt", [1])
    [(key, said)] = problems({"name": "mine", "files": ["my.txt"], "one_hot": ["brand"]})
    assert (key, said.split(" only, ")[1]) == ("one_hot", "found 'my.txt'")
    for role in ("train", "test"):
        write(f"mine/{role}.txt", [1, 2])
    with pytest.raises(DataError, match="expected a table with the column 'brand' to encode, found LETOR text"):
        prepared(folder="mine", one_hot=["brand"])


def test_categories_in_several_pieces_of_a_table(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [(f"q{i // 5}", i % 3, float(i), "abc"[i % 3]) for i in range(20)]
    frame = pl.DataFrame(rows, schema=["qid", "label", "bm25", "brand"], orient="row")
    frame.write_parquet("my.parquet")
    whole, _, _ = prepared(files="my.parquet", folds=3, one_hot=["brand"])
    monkeypatch.setattr(tables, "rows_per_group", lambda n_features: 2)
    data, _, _ = prepared(files="my.parquet", folds=3, one_hot=["brand"])
    assert data.X.tolist() == whole.X.tolist() == [[i, *(float(i % 3 == k) for k in range(3))] for i in range(20)]


def test_a_category_that_is_no_text_is_named_with_its_line() -> None:
    Path("my.csv").write_bytes(b"qid,label,bm25,brand\na,1,x,b\na,0,1,\xff\n")
    with pytest.raises(DataError) as found:
        prepared(files="my.csv", folds=3, one_hot=["brand"])
    assert [line.partition(": ")[0] for line in str(found.value).splitlines()] == ["my.csv:2", "my.csv:3"]


def test_queries_of_folds_that_differ_in_their_weight_are_not_one() -> None:
    for fold, weight in ((1, 2), (2, 2), (3, 5)):
        for role, query in (("train", "a"), ("vali", "b"), ("test", f"c{fold}")):
            path = Path(f"mine/Fold{fold}/{role}.csv")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"qid,label,bm25,clicks\n{query},1,0.5,{weight}\n")
    data, _, _ = prepared(folder="mine", weight="clicks")
    assert data.weights is not None
    assert sorted(zip(data.query_names or (), data.weights.tolist(), strict=True)) == [
        ("a", 2.0), ("a", 5.0), ("b", 2.0), ("b", 5.0), ("c1", 2.0), ("c2", 2.0), ("c3", 5.0)
    ]  # fmt: skip


def test_columns_are_named_and_kept() -> None:
    Path("my.csv.gz").write_bytes(
        gzip.compress(b"user,url,clicks,bm25\n" + b"".join(b"u%d,x,%d,%d.5\n" % (i, i % 2, i) for i in range(9)))
    )
    data, _, _ = prepared(files=["my.csv.gz"], folds=3, query="user", label="clicks", ignore=["url"])
    assert data.feature_names == ("bm25",)
    assert data.query_names == tuple(f"u{i}" for i in range(9))


@pytest.mark.parametrize(
    ("name", "groups", "found"),
    [
        ("rank.train", ["rank.train.query", "rank.query"], "rank.train.query"),
        ("rank.train", ["rank.query"], None),
        ("train.txt", ["train.group"], "train.group"),
        ("train.csv.gz", ["train.csv.query"], "train.csv.query"),
        ("train.txt.bz2", ["train.query.gz"], "train.query.gz"),
        ("train.txt", [], None),
    ],
)
def test_group_sizes_lie_next_to_their_file(name: str, groups: list[str], found: str | None) -> None:
    for group in groups:
        Path(group).touch()
    assert group_file(Path(name)) == (None if found is None else Path(found))


def test_all_problems_of_an_entry_stand_in_one_message() -> None:
    write("there.txt", [1])
    Path("a-folder/Fold2").mkdir(parents=True)
    entries = [
        {"name": "my data", "files": ["there.txt", "none.txt"], "fodls": 3, "folds": 2},
        {"name": "MQ2008", "train": "there.txt", "files": "there.txt", "ignore": "url"},
        {"name": "c", "folder": "a-folder", "folds": 4},
        {"name": "d"},
        {"name": "e", "test": "a-folder", "folds": -1},
        {"name": "f", "folder": "no-folder", "label": 3},
    ]
    with pytest.raises(ConfigurationError) as caught:
        configuration.check({"datasets": entries}, {"MQ2008": 5})
    lines = str(caught.value).splitlines()
    for expected in (
        "datasets[0].name: ", "datasets[0].files: .*none.txt", "datasets[0]: unknown key 'fodls'.*'folds'",
        "datasets[0].folds: ", "datasets[1].test: ", "datasets[1]: .*files and train", "datasets[1].ignore: ",
        "datasets[2].folder: .*Fold1.*Fold2", "datasets[2].folder: .*train", "datasets[2].folds: .*`files` only",
        "datasets[3]: .*found none", "datasets[4].test: .*`train`", "datasets[4].test: .*a-folder",
        "datasets[4].folds: ", "datasets[5].folder: .*no-folder", "datasets[5].label: ",
    ):  # fmt: skip
        key, _, words = expected.partition(": ")
        parts = words.split(".*")
        assert any(f"{key}: " in line and all(part in line for part in parts) for line in lines), expected


@pytest.mark.parametrize(
    ("names", "message"),
    [(["MQ2008"], r"datasets\[0\].name: 'MQ2008' is a data set of the catalogue"), (["a", "b", "a"], r"datasets\[2\]")],
)
def test_names_are_unique(names: list[str], message: str) -> None:
    write("there.txt", [1])
    entries = [{"name": name, "files": "there.txt", "folds": k + 3} for k, name in enumerate(names)]
    with pytest.raises(ConfigurationError, match=message):
        configuration.check({"datasets": entries}, {"MQ2008": 5})


def test_an_entry_is_part_of_the_study() -> None:
    write("there.txt", [1])
    entry = {"name": "mine", "files": "there.txt", "folds": "4"}  # as `snakemake --config` hands it over
    models = [{"name": "a", "algorithm": "random", "datasets": ["mine"]}]
    given = {"study": "mine", "datasets": ["MQ2008", entry], "models": models}
    study = configuration.check(given, {"MQ2008": 5})
    assert study.datasets == ("MQ2008", "mine")
    assert study.folds("mine") == [1, 2, 3, 4]
    assert (study.model_names("mine"), study.model_names("MQ2008")) == (["a"], [])
    assert study.config["datasets"] == ["MQ2008", {**entry, "folds": 4}]
    assert configuration.check(study.config, {"MQ2008": 5}).config == study.config


def test_a_changed_file_is_noticed_and_a_touched_one_is_not() -> None:
    write("a.txt", [1, 2])
    Path("a.query").write_text("1\n1\n")
    found, record = own_data.data_set(OwnDataSettings.parse({"name": "mine", "files": "a.txt"})), Path("record.json")

    def state() -> str:
        return raw_files.state_for_planning(found, Path("raw"), record)

    first = state()
    own_data.register(found, Path("raw"), record, first)
    assert state() == first
    for path in ("a.txt", "a.query"):
        content, times = Path(path).read_bytes(), os.stat(path)
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns + 10**9))
        assert state() == first
        Path(path).write_bytes(content.replace(b"1", b"2", 1))
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns + 2 * 10**9))
        changed = state()
        assert changed != first
        own_data.register(found, Path("raw"), record, changed)
        assert state() == changed
        Path(path).write_bytes(content)
        own_data.register(found, Path("raw"), record, first)
    os.remove("a.txt")
    assert state() != first


def test_a_file_that_changes_between_two_jobs_is_named() -> None:
    write("a.txt", range(9))
    settings = OwnDataSettings.parse({"name": "mine", "files": "a.txt", "folds": 3})
    own_data.register(own_data.data_set(settings), Path("raw"), Path("record.json"), "first")
    write("a.txt", range(10))
    with pytest.raises(DataError, match=r"a\.txt: changed since .*start the run again"):
        convert_data.run(
            dataset="mine", own=own_data.plain_entry(settings, "convert_data"), manifest=Path("raw/mine/manifest.json"),
            documents=Path("documents.parquet"), summary=Path("summary.json"),
        )  # fmt: skip
    assert not Path("documents.parquet").exists()


def test_a_job_is_given_only_what_it_reads_of_the_entry() -> None:
    plain = {"name": "mine", "files": "a.csv", "folds": 3, "title": "Mine", "label": "y", "missing": "mean"}
    entries = {name: own_data.plain_entry(OwnDataSettings.parse(plain), name) for name in own_data.NOT_READ_BY}
    assert set(entries["register_data"]) == {"name", "files"}
    assert set(entries["convert_data"]) == {"name", "files", "label", "missing"}
    assert set(entries["split_folds"]) == {"name", "files", "folds"}
    assert entries["describe_data"] == plain


TRAINED = {
    "best-feature": {},
    "adarank": {"measure": "map", "rounds": 20},
    "erm": {"surrogate": "ranksvm", "l2": [0.1, 1.0]},
    "rankboost": {"rounds": 10},
}


def test_the_order_of_rows_changes_no_measure_of_a_study(tmp_path: Path) -> None:
    """Rows that stand best first, with a feature that is constant in a list and one of few values, so that scores tie.

    The same rows shuffled within their lists are converted, trained on and evaluated by the commands of the workflow.
    """
    rng = np.random.default_rng(3)
    lists = []
    for query in range(30):
        y = np.sort(rng.integers(0, 3, 8))[::-1]
        X = np.stack([y + rng.normal(size=8), np.round(y / 2 + rng.random(8)), np.full(8, rng.integers(9))], axis=1)
        lists.append([f"s{query},{label},{','.join(map(repr, x.tolist()))}\n" for label, x in zip(y, X, strict=True)])
    found = []
    for shuffled in (False, True):
        rows = ["".join(rng.permutation(one) if shuffled else one) for one in lists]
        Path("my.csv").write_text("session,clicked,a,b,c\n" + "".join(rows))
        data, *_ = prepared(files="my.csv", folds=3, label="clicked", query="session")
        tables = Path("parquet")
        files = {"documents": tables / "documents.parquet", "folds": tables / "folds.parquet"}
        means = {}
        for algorithm, settings in TRAINED.items():
            models = [Path(f"{algorithm}{fold}.json") for fold in (1, 2, 3)]
            chosen = learners.completed(algorithm, settings)
            train_model.run(
                dataset="mine", model=algorithm, algorithm=algorithm, settings=[chosen], fold=[1, 2, 3], seed=1,
                output=models, **files,
            )  # fmt: skip
            evaluate_model.run(
                models=models, measures=["ndcg@10", "map", "ndcg@1", "rr"], summary=tables / "summary.json",
                output=Path("measured.parquet"), held_out=Path("held-out.json"), **files,
            )  # fmt: skip
            measured = storage.read_table("measured.parquet")
            means[algorithm] = measured.select(pl.col(pl.Float64).mean()).row(0)
            assert 0.3 < min(means[algorithm]) <= max(means[algorithm]) < 1.0
        found.append(means)
        assert data.ties == "mean"
    for algorithm, means in found[0].items():
        assert means == pytest.approx(found[1][algorithm], abs=1e-6), algorithm
