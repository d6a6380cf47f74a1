"""Does `rank` write what the ranker says, and does `evaluate-run` measure it as the library and other programs do?"""

import re
from pathlib import Path
from typing import Any

import numba
import numpy as np
import polars as pl
import pytest

from pipeline_lib import RankingData, cli, evaluation, learners, metrics, ranking
from pipeline_lib.core.errors import DataError
from pipeline_lib.data import stored_data
from pipeline_lib.learners.models import LinearModel
from pipeline_lib.learners.ranker import Trained, trained_with
from pipeline_lib.sources import conversion, letor, letor_reader, query_stream, readers, trec
from pipeline_lib.sources.tables import Options


@pytest.fixture
def data() -> RankingData:
    rng = np.random.default_rng(0)
    sizes = rng.integers(1, 30, 40)
    X = rng.normal(size=(sizes.sum(), 3)).round(1)  # many equal scores
    y = np.digitize(X[:, 0] + rng.normal(size=len(X)), [0.5, 1.5, 2.5])
    return RankingData.from_arrays(X, y, np.repeat(rng.permutation(40) * 7, sizes))


@pytest.fixture
def files(data: RankingData, tmp_path: Path) -> dict[str, Path]:
    found = {name: tmp_path / name for name in ("data.txt", "data.parquet", "model.json", "some.run")}
    found |= {name: tmp_path / name for name in ("qrels.txt", "queries.csv", "means.csv")}
    letor.write(found["data.txt"], data)
    data.write_parquet(found["data.parquet"])
    LinearModel.of([1.0, 0.0, 0.0]).save(found["model.json"])
    return found


def command(*words: Any) -> None:
    assert cli.main([str(word) for word in words]) == 0


def ranked(files: dict[str, Path], output: str, *more: Any, source: str = "data.txt") -> Path:
    command(
        "rank", "--model", files["model.json"], "--data", files[source], "--output", files[output], "--force", *more
    )
    return files[output]


def evaluated(files: dict[str, Path], run: Path, *more: Any) -> dict[str, float]:
    command(
        "evaluate-run", "--run", run, "--qrels", files["qrels.txt"], "--output", files["means.csv"], "--force", *more
    )
    return dict(pl.read_csv(files["means.csv"]).select("measure", "mean").iter_rows())


def refused(capsys, files: dict[str, Path], *more: Any) -> str:
    """What `rank` says of a file that it refuses."""
    capsys.readouterr()
    given = [
        "rank",
        "--model",
        files["model.json"],
        "--data",
        files["data.txt"],
        "--output",
        files["some.run"],
        "--force",
        *more,
    ]
    assert cli.main([str(word) for word in given]) == 1
    return capsys.readouterr().err


def in_library(data: RankingData, scores: np.ndarray, names: list[str]) -> dict[str, float]:
    values = metrics.per_query(names, scores, data.y, data.offsets, y_max=int(data.y.max()))
    return {name: float(of_queries.mean()) for name, of_queries in values.items()}


def test_a_run_has_the_measures_of_the_scores(data, files) -> None:
    scores = learners.load(files["model.json"]).predict(data)
    run = ranked(files, "some.run", "--qrels", files["qrels.txt"])
    found = evaluated(files, run, "--per-query", files["queries.csv"])
    assert {"ndcg", "ndcg@10", "map", "err", "p@5"} <= set(found)
    assert found == pytest.approx(in_library(data, scores, list(found)))
    per_query = pl.read_csv(files["queries.csv"])
    assert per_query["qid"].to_list() == data.qids.tolist()
    np.testing.assert_allclose(per_query["map"], metrics.average_precision(scores, data.y, data.offsets))
    wider = metrics.expected_reciprocal_rank(scores, data.y, data.offsets, 4).mean()
    assert evaluated(files, run, "--measures", "err", "--y-max", 4) == {"err": pytest.approx(wider)}
    found = evaluated(files, run)
    table = pl.read_csv(files["means.csv"])
    inside = table.filter(pl.col("measure") == "map").row(0, named=True)
    assert inside["low"] < inside["mean"] < inside["high"]
    assert set(table["queries"]) == {data.n_queries}
    names = ["ndcg@10", "map", "letor4_mean_ndcg"]
    assert evaluated(files, run, "--measures", *names) == pytest.approx(in_library(data, scores, names))


def test_a_stored_data_set_is_ranked_as_its_text(files, monkeypatch) -> None:
    text = ranked(files, "some.run").read_bytes()
    monkeypatch.setattr(query_stream, "ROWS_AT_ONCE", 20)
    assert ranked(files, "some.run", source="data.parquet").read_bytes() == text


def test_columns_of_a_table_are_taken_by_name(files, tmp_path: Path) -> None:
    columns = {"query": ["b", "b", "a"], "label": [0, 1, 2], "bm25": [0.5, 1.5, 1.0], "length": [3.0, 1.0, 2.0]}
    frame = pl.DataFrame(columns)
    ranker = trained_on(RankingData.from_frame(frame), files)
    frame.with_columns(more=pl.lit(7.0)).select("length", "more", "label", "bm25", "query").write_csv(
        tmp_path / "new.csv"
    )
    files["data.txt"] = tmp_path / "new.csv"
    scores = dict(zip(["b-1", "b-2", "a-1"], ranker.predict(frame.select("bm25", "length")), strict=True))
    assert scores_of(ranked(files, "some.run")) == pytest.approx(scores, rel=1e-6)


STARS = {"label": "stars", "query": "session", "ignore": ["url"]}
"""How a configuration describes the columns of the next file."""


@pytest.fixture
def stars(tmp_path: Path) -> pl.DataFrame:
    """Documents as a shop might have them, in shop.csv."""
    rng = np.random.default_rng(3)
    frame = pl.DataFrame(
        {
            "session": np.repeat(["b", "a", "c"], 4),
            "url": [f"/p/{k}" for k in range(12)],
            "docid": [f"d{k}" for k in range(12)],
            "clicks": rng.integers(0, 50, 12),
            "stars": rng.integers(0, 3, 12),
            "age": rng.normal(size=12).round(3),
        }
    )
    frame.write_csv(tmp_path / "shop.csv")
    return frame


def trained_on(data: RankingData, files: dict[str, Path]) -> Trained:
    """Train a ranker, which is kept as the model."""
    ranker = learners.create("erm", surrogate="squared", l2=0.1).fit(data)
    ranker.save(files["model.json"])
    return ranker


def scores_of(run: Path) -> dict[str, float]:
    """The score of every document of a run."""
    return {fields[2]: float(fields[4]) for fields in map(str.split, run.read_text().splitlines())}


def test_the_columns_of_training_are_those_of_ranking(stars, files, tmp_path: Path, capsys) -> None:
    data = RankingData.from_frame(stars, **STARS)
    assert data.feature_names == ("clicks", "age")
    scores = trained_on(data, files).predict(data)
    expected = pytest.approx(dict(zip(stars["docid"], scores, strict=True)), rel=1e-6)
    files["data.txt"] = tmp_path / "shop.csv"
    assert scores_of(ranked(files, "some.run", "--qrels", files["qrels.txt"])) == expected
    labels = {fields[2]: int(fields[3]) for fields in map(str.split, files["qrels.txt"].read_text().splitlines())}
    assert labels == dict(zip(stars["docid"], stars["stars"], strict=True))
    for without in (["stars"], ["stars", "url"]):  # new documents lack the labels, and what was left out
        stars.drop(without).write_csv(tmp_path / "shop.csv")
        assert scores_of(ranked(files, "some.run")) == expected
    empty = stars.with_columns(stars=pl.lit(None, pl.Int64), Grade=pl.lit("good")).rename({"session": "topic"})
    empty.write_parquet(tmp_path / "shop.parquet")
    files["data.txt"] = tmp_path / "shop.parquet"
    assert scores_of(ranked(files, "some.run", "--query", "topic")) == expected
    wrong = {
        (): "shop.parquet: expected the column 'session' of the queries, as in training",
        ("--query", "topics"): "did you mean 'topic'",
        ("--query", "topic", "--label", "star"): "did you mean 'stars'",
        ("--query", "topic", "--ignore", "ulr"): "did you mean 'url'",
        ("--query", "topic", "--qrels", str(files["qrels.txt"])): "row 0: expected a number in the column 'stars'",
    }
    for words, said in wrong.items():
        assert said in refused(capsys, files, *words)
    files["data.txt"] = tmp_path / "shop.csv"
    stars.drop("clicks", "age").write_csv(files["data.txt"])
    said = "shop.csv: expected the features of training, found no 'clicks' and no 'age'"
    assert said in refused(capsys, files)


def test_a_stored_table_says_which_columns_it_had(stars, tmp_path: Path) -> None:
    conversion.convert_own({"all": tmp_path / "shop.csv"}, tmp_path / "own.parquet", Options(**STARS))
    data = RankingData.read_parquet(tmp_path / "own.parquet", [2, 0])
    assert data.columns == stored_data.Columns("stars", "session", ("url",))
    data.write_parquet(tmp_path / "again.parquet")
    assert RankingData.read_parquet(tmp_path / "again.parquet").columns == data.columns


def test_a_file_is_ranked_with_the_policies_of_training(stars, files, tmp_path: Path) -> None:
    gaps = stars.with_columns(pl.col("stars") - 1, age=pl.when(pl.col("age") > 0.5).then(None).otherwise("age"))
    assert 0 < gaps["age"].null_count() < 12
    gaps.write_csv(tmp_path / "shop.csv", separator=";")
    policies = {"labels": "shifted", "missing": "flag", "separator": ";"}
    conversion.convert_own({"all": tmp_path / "shop.csv"}, files["data.parquet"], Options(**STARS, **policies))
    data = RankingData.read_parquet(files["data.parquet"])
    assert data.feature_names == ("clicks", "age", "age missing")
    scores = trained_on(data, files).predict(data)
    expected = pytest.approx(dict(zip(stars["docid"], scores, strict=True)), rel=1e-6)

    files["data.txt"] = tmp_path / "shop.csv"
    assert scores_of(ranked(files, "some.run", "--qrels", files["qrels.txt"])) == expected
    labels = [int(line.split()[3]) for line in files["qrels.txt"].read_text().splitlines()]
    assert labels == data.y.tolist() == stars["stars"].to_list()
    gaps.drop("stars").write_csv(tmp_path / "shop.csv")  # without labels, and with another separator
    assert scores_of(ranked(files, "some.run")) == expected
    complete = stars.drop("stars")  # a file that lacks no value has the feature nevertheless
    complete.write_csv(tmp_path / "shop.csv")
    assert scores_of(ranked(files, "some.run")).keys() == set(stars["docid"])


def test_a_file_is_ranked_with_the_categories_of_training(stars, files, tmp_path: Path, caplog) -> None:
    how = {"label": "stars", "query": "session", "one_hot": ("url",), "missing": "mean"}
    stars.write_csv(tmp_path / "shop.csv")
    conversion.convert_own({"all": tmp_path / "shop.csv"}, files["data.parquet"], Options(**how))
    data = RankingData.read_parquet(files["data.parquet"])
    ranker = Trained(
        LinearModel.of(2.0 ** np.arange(data.n_features), feature_names=data.feature_names), about=trained_with(data)
    )
    ranker.save(files["model.json"], force=True)
    expected = pytest.approx(dict(zip(stars["docid"], ranker.predict(data), strict=True)), rel=1e-6)
    stars.drop("stars").write_parquet(tmp_path / "shop.parquet")
    for source in ("shop.csv", "shop.parquet"):
        files["data.txt"] = tmp_path / source
        assert scores_of(ranked(files, "some.run")) == expected
    new = stars.with_columns(url=pl.lit("new"))
    new.write_csv(tmp_path / "shop.csv")
    files["data.txt"] = tmp_path / "shop.csv"
    with caplog.at_level("INFO", logger="pipeline_lib"):
        found = scores_of(ranked(files, "some.run"))
    assert f"{len(stars)} values of 'url' that training did not have" in caplog.text
    only = ranker.predict(new.drop("stars"))
    assert found == pytest.approx(dict(zip(stars["docid"], only, strict=True)), rel=1e-6)
    stars.drop("url").write_csv(tmp_path / "shop.csv")
    with pytest.raises(DataError, match="expected the features of training, found no 'url'"):
        list(query_stream.batches(tmp_path / "shop.csv", feature_names=data.feature_names, trained=data.columns))


def test_text_is_ranked_with_the_labels_of_training(files, tmp_path: Path) -> None:
    files["data.txt"].write_text("-2 qid:1 1:0.5\n1 qid:1 1:0.7\n")
    conversion.convert_own({"all": files["data.txt"]}, files["data.parquet"], Options(labels="clipped"))
    data = RankingData.read_parquet(files["data.parquet"])
    trained_on(data, files)
    ranked(files, "some.run", "--qrels", files["qrels.txt"])
    assert files["qrels.txt"].read_text().split()[3::4] == ["0", "1"]


def test_a_column_cannot_have_the_name_of_a_mark(stars, files, tmp_path: Path) -> None:
    stars.with_columns(pl.lit(0.0).alias("age missing")).write_csv(tmp_path / "shop.csv")
    with pytest.raises(DataError, match="no column 'age missing'"):
        conversion.convert_own(
            {"all": tmp_path / "shop.csv"}, tmp_path / "own.parquet", Options(**STARS, missing="flag")
        )


def test_rankers_without_features_rank_tables_without_labels(stars, files, tmp_path: Path, capsys) -> None:
    files["data.txt"] = tmp_path / "shop.csv"
    for name in ("random", "ideal"):
        learners.create(name).fit(RankingData.from_frame(stars, **STARS)).save(files["model.json"])
        assert scores_of(ranked(files, "some.run")).keys() == set(stars["docid"])
    stars.drop("stars").write_csv(files["data.txt"])
    assert "expected one column named label" in refused(capsys, files)


def test_all_problems_of_a_file_to_be_ranked_are_named_at_once(stars, files, tmp_path: Path, capsys) -> None:
    learners.create("random").fit(RankingData.from_frame(stars, **STARS)).save(files["model.json"])
    files["data.txt"] = tmp_path / "shop.csv"
    files["data.txt"].write_text("docid,shopper,x\nd1,a,1\n,a,NA\nd3,,z\nd4,a\n")
    said = refused(capsys, files, "--query", "shopper")
    problems = {3: ("'x', found no value", "the id of a document"), 4: ("'z'", "a query"), 5: ("3 columns",)}
    for line, words in ((line, one) for line, several in problems.items() for one in several):
        assert re.search(rf"shop\.csv:{line}: expected .*{words}", said), said


def test_text_without_labels_is_ranked_as_with_them(files) -> None:
    with_labels = ranked(files, "some.run").read_bytes()
    text = files["data.txt"].read_text()
    for label in ("", "-1 ", "0.25 ", "? "):
        files["data.txt"].write_text("\n".join(label + line.partition(" ")[2] for line in text.splitlines()))
        assert ranked(files, "some.run").read_bytes() == with_labels
        assert RankingData.from_letor(files["data.txt"], labels="ignored").y.max() == 0
    files["data.txt"].write_text("1:0.5 2:1\n2:3\n1:0.25\n")
    files["data.txt"].with_name("data.txt.query").write_text("2 1")
    assert list(scores_of(ranked(files, "some.run"))) == ["0-1", "0-2", "1-1"]


def test_labels_are_read_for_qrels_alone(files, capsys) -> None:
    files["data.txt"].write_text("0 qid:1 1:1\n")
    ranked(files, "some.run", "--qrels", files["qrels.txt"])
    files["data.txt"].write_text("qid:1 1:1\n")
    ranked(files, "some.run")
    said = refused(capsys, files, "--qrels", files["qrels.txt"])
    assert re.search("expected a (whole )?number in 0..255 as the label", said)


def test_ids_in_comments_are_kept(files, capsys) -> None:
    lines = [
        "\ufeff# docid = heading",
        "2 qid:10 1:3 #docid = GX008-86-4444840 inc = 1 prob = 0.086622",
        "",
        " \t# docid = none",
        "0 qid:10 1:2 # docid=b#docid=c\r",
        "1 qid:10 1:1 # a note\r",
        "1 qid:11 1:1 # seen, DocID = b",
    ]
    files["data.txt"].write_text("\n".join(lines), newline="")
    run = ranked(files, "some.run", "--qrels", files["qrels.txt"])
    assert list(scores_of(run)) == ["GX008-86-4444840", "b", "10-3"]  # the last b replaces that of query 10
    judged = ["10 0 GX008-86-4444840 2", "10 0 b 0", "10 0 10-3 1", "11 0 b 1"]
    assert files["qrels.txt"].read_text().splitlines() == judged
    files["data.txt"].write_text("2 qid:10 1:3 # docid = b\n2 qid:10 1:3 # docid = b\n")
    assert "data.txt: query 10: expected every document once, found 'b' again" in refused(capsys, files)


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({"docid": ["a b", "c"]}, "documents: expected a name without blanks"),
        ({"docid": ["a", None]}, r"row 1: expected the id of a document in the column 'docid'"),
        ({"docid": [1, 2], "DocNo": ["a", "c"]}, "one column with the ids of documents, found docid and DocNo"),
        ({"docid": [1, 2]}, None),
    ],
)
def test_columns_of_ids(files, tmp_path: Path, capsys, columns, said: str | None) -> None:
    features = {name: [1.0, 0.5] for name in "abc"}
    files["data.txt"] = tmp_path / "new.parquet"
    pl.DataFrame({"query": [7, 7]} | features | columns).write_parquet(files["data.txt"])
    if said is None:
        assert list(scores_of(ranked(files, "some.run"))) == ["1", "2"]
    else:
        assert re.search(said, refused(capsys, files))


@pytest.mark.parametrize("rows", [1, 2, 7, 1000])
def test_queries_are_whole_wherever_blocks_end(data, rows: int) -> None:
    qid = np.repeat(data.qids, data.documents_per_query)
    blocks = [
        letor_reader.Block(qid[k : k + rows], data.y[k : k + rows].astype(np.uint8), data.X[k : k + rows])
        for k in range(0, data.n_documents, rows)
    ]
    found = query_stream._whole_queries(iter(blocks), readers.Layout(3, None, textual=False))
    batches = [batch.data for batch in found]
    assert [qid for batch in batches for qid in batch.qids.tolist()] == data.qids.tolist()
    np.testing.assert_array_equal(
        np.concatenate([batch.documents_per_query for batch in batches]), np.diff(data.offsets)
    )
    np.testing.assert_array_equal(np.concatenate([batch.X for batch in batches]), data.X)
    assert max(batch.n_documents for batch in batches) < rows + data.documents_per_query.max()


@pytest.mark.parametrize(
    "scores",
    [
        [3.0, 3.0, 3.0, -1.0],
        [0.0] * 50 + [-1e-45] * 3,
        [1e300, 1e39, 1e38, 0.5, -0.0, 0.0, -1e300, -2e300],
        np.sort(np.random.default_rng(1).normal(size=2000).round(2))[::-1],
        [1.0 + 1e-12, 1.0],
    ],
)
def test_scores_of_a_run_fall_strictly_in_single_precision(scores) -> None:
    falling = trec.falling(scores)
    assert (np.diff(falling) < 0.0).all()
    assert np.isfinite(falling).all()
    written = [float(str(score)) for score in falling]
    assert (np.diff(written) < 0.0).all()
    assert (np.diff(np.array(written, np.float32)) < 0.0).all()
    np.testing.assert_allclose(falling, np.clip(scores, -1e38, 1e38), rtol=1e-4, atol=1e-40)


def test_documents_that_a_run_lacks_count(files) -> None:
    files["qrels.txt"].write_text("1 0 a 3\n1 0 b 1\n1 0 c 0\n1 0 d 2\n2 0 a 1\n3 0 a 0\n3 0 b -1\n")
    files["some.run"].write_text("1 Q0 c 1 0.9 x\n1 Q0 b 2 0.8 x\n1 Q0 e 3 0.7 x\n1 Q0 d 4 0.6 x\n9 Q0 a 1 0.5 x\n")
    gains, places = ranking.GAINS[[3, 2, 1]], ranking.discounts(4)
    dcg = ranking.GAINS[1] * places[1] + ranking.GAINS[2] * places[3]
    expected = {"ndcg": dcg / (gains @ places[:3]), "ndcg@1": 0.0, "p@3": 1 / 3, "map": (1 / 2 + 2 / 4) / 3}
    expected["ndcg@3"] = ranking.GAINS[1] * places[1] / (gains @ places[:3])
    stops = [1 / 8, 3 / 8]
    linear = (1 * places[1] + 2 * places[3]) / (np.array([3, 2, 1]) @ places[:3])
    expected |= {"rr": 1 / 2, "rr@1": 0.0, "recall@3": 1 / 3, "recall@10": 2 / 3, "linear_ndcg": linear}
    expected["err"] = stops[0] / 2 + (1 - stops[0]) * stops[1] / 4
    found = evaluated(files, files["some.run"], "--per-query", files["queries.csv"])
    rows = {row["qid"]: row for row in pl.read_csv(files["queries.csv"]).iter_rows(named=True)}
    assert {name: rows[1][name] for name in expected} == pytest.approx(expected)
    assert set(rows) == {1, 2, 3}  # judged, but not in the run: 0; in the run, but not judged: left out
    assert rows[2]["map"] == rows[3]["map"] == 0.0
    assert found["map"] == pytest.approx(expected["map"] / 3)


def test_equal_scores_are_ordered_as_asked_for(files) -> None:
    files["qrels.txt"].write_text("q1 0 d3 1\n")
    files["some.run"].write_text("q1 Q0 d1 3 1.0 t\nq1 Q0 d10 2 1.0 t\nq1 Q0 d3 1 1.0 t\nq1 Q0 d2 9 0.5 t\n")
    assert evaluated(files, files["some.run"], "--measures", "rr", "--ties", "file") == {"rr": pytest.approx(1 / 3)}
    assert evaluated(files, files["some.run"], "--measures", "MRR", "--ties", "trec_eval") == {"rr": 1.0}


def test_a_measure_may_be_spelled_as_elsewhere(files) -> None:
    files["qrels.txt"].write_text("1 0 a 1\n")
    files["some.run"].write_text("1 Q0 a 1 0.1 x\n")
    found = evaluated(files, files["some.run"], "--measures", "nDCG@10", "AP", "map", "P@1", "R@1")
    assert found == dict.fromkeys(("ndcg@10", "map", "p@1", "recall@1"), 1.0)


def test_lines_of_a_query_need_not_stand_together(files) -> None:
    files["qrels.txt"].write_text("1 0 a 1\n2 0 a 0\n\n1 0 b 0\n2 0 b 1\n")
    files["some.run"].write_text("2 Q0 a 1 0.1 x\n1 Q0 b 2 0.1 x\n2 Q0 b 1 0.2 x\n1\tQ0\ta 1 0.4 x")
    assert evaluated(files, files["some.run"], "--measures", "map") == {"map": 1.0}


def test_equal_scores_of_a_run_decide_nothing(files, capsys) -> None:
    files["qrels.txt"].write_text("q1 0 d3 1\n")
    lines = [f"q1 Q0 d{k} {4 - k} 1.0 some\n" for k in (1, 2, 3)]
    for order in (lines, lines[::-1]):
        files["some.run"].write_text("".join(order))
        found = evaluated(files, files["some.run"], "--measures", "rr", "p@1")
        assert found == pytest.approx({"rr": (1 + 1 / 2 + 1 / 3) / 3, "p@1": 1 / 3})
        printed = dict(line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines() if "0." in line)
        assert re.search(r"0\.3333 to 1\.0000", printed["rr"]), printed
        table = pl.read_csv(files["means.csv"])
        assert table.select("worst", "best").rows() == [(pytest.approx(1 / 3), 1.0), (0.0, 1.0)]
    in_file_order = evaluated(files, files["some.run"], "--measures", "rr", "--ties", "file")
    assert in_file_order == {"rr": 1.0}
    files["some.run"].write_text("q1 Q0 d1 1 2.0 some\nq1 Q0 d3 2 1.0 some\n")
    capsys.readouterr()
    evaluated(files, files["some.run"], "--measures", "rr")
    assert " to " not in capsys.readouterr().out


def test_documents_of_a_run_are_relevant_from_the_label_that_is_said(files) -> None:
    files["qrels.txt"].write_text("q1 0 d1 1\nq1 0 d2 2\nq1 0 d3 3\n")
    files["some.run"].write_text("q1 Q0 d1 1 3.0 some\nq1 Q0 d2 2 2.0 some\n")
    names = ["--measures", "map", "rr", "recall@2", "p@2"]
    found = evaluated(files, files["some.run"], *names, "--relevant-from", 2)
    assert found == pytest.approx({"map": 1 / 4, "rr": 1 / 2, "recall@2": 1 / 2, "p@2": 1 / 2})


@pytest.mark.parametrize(
    ("file", "text", "named"),
    [
        ("some.run", "1 Q0 a 1 0.5\n", "some.run:1: "),
        ("some.run", "1 Q0 a 1 0.5 x\n\n1 Q0 b 2 nought x\n", "some.run:3: "),
        ("some.run", "1 Q0 a 1 nan x\n", "some.run:1: "),
        ("some.run", "1 Q0 a 1 0.5 x\n1 Q0 a 2 0.4 x\n", "some.run:2: "),
        ("some.run", "8 Q0 a 1 0.5 x\n", "some.run: "),
        ("some.run", "", "some.run:1: "),
        ("qrels.txt", "1 0 a\n", "qrels.txt:1: "),
        ("qrels.txt", "1 0 a 1\n1 0 b 0.5\n", "qrels.txt:2: "),
        ("qrels.txt", "1 0 a 256\n", "qrels.txt:1: "),
        ("qrels.txt", "2 0 a 0\n1 0 a 1\n1 0 a 1\n", "qrels.txt:3: "),
    ],
)
def test_a_wrong_line_is_named(files, capsys, file: str, text: str, named: str) -> None:
    files["some.run"].write_text("1 Q0 a 1 0.5 x\n")
    files["qrels.txt"].write_text("1 0 a 1\n")
    files[file].write_text(text)
    assert cli.main(["evaluate-run", "--run", str(files["some.run"]), "--qrels", str(files["qrels.txt"])]) == 1
    assert f"{files[file].parent}/{named}" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"--model": "data.txt"}, "data.txt"),
        ({"--model": "nowhere.json"}, "nowhere.json"),
        ({"--data": "nowhere.txt"}, "nowhere.txt"),
        ({"--data": "two.parquet"}, "two.parquet: X: .*3 features.* 2"),
        ({"--data": "four.txt"}, "four.txt: X: .*3 features.* 4"),
        ({"--tag": "two words"}, "tag: .*'two words'"),
    ],
)
def test_what_cannot_be_ranked_is_named(data, files, tmp_path: Path, capsys, change, named: str) -> None:
    RankingData.from_arrays(data.X[:, :2], data.y, np.zeros(data.n_documents)).write_parquet(tmp_path / "two.parquet")
    (tmp_path / "four.txt").write_text("1 qid:1 4:1\n")
    given = {"--model": "model.json", "--data": "data.txt", "--output": "new.run", "--tag": "x", **change}
    words = [word if key == "--tag" else str(tmp_path / word) for key, word in given.items()]
    assert cli.main(["rank", *(part for pair in zip(given, words, strict=True) for part in pair)]) == 1
    assert re.search(named, capsys.readouterr().err)
    assert not (tmp_path / "new.run").exists()


def test_incomplete_runs_have_no_letor_measures(files, capsys) -> None:
    files["qrels.txt"].write_text("1 0 a 3\n1 0 b 1\n")
    files["some.run"].write_text("1 Q0 a 1 0.9 x\n")
    given = ["evaluate-run", "--run", str(files["some.run"]), "--qrels", str(files["qrels.txt"])]
    assert cli.main([*given, "--measures", "letor4_mean_ndcg"]) == 1
    assert "letor4_mean_ndcg" in capsys.readouterr().err
    assert cli.main([*given, "--measures", "ncdg", "map", "p"]) == 1
    said = capsys.readouterr().err
    assert "'ndcg'" in said  # all that is wrong at once
    assert "'p@10'" in said
    assert cli.main([*given, "--output", "means.xlsx"]) == 1
    assert "means.xlsx" in capsys.readouterr().err


def test_other_programs_measure_the_same(data, files, monkeypatch) -> None:
    monkeypatch.setattr(numba.config, "CACHE_DIR", "")  # ranx keeps its machine code beside itself, not here
    ranx = pytest.importorskip("ranx", reason="ranx is not installed: pip install '.[bench]'")
    pytrec_eval = pytest.importorskip("pytrec_eval", reason="pytrec_eval is not installed: pip install '.[bench]'")
    run = ranked(files, "some.run", "--qrels", files["qrels.txt"])
    ours = evaluated(files, run)

    judged = ranx.Qrels.from_file(str(files["qrels.txt"]), kind="trec")
    names = {"map": "map", "ndcg_burges@10": "ndcg@10", "ndcg_burges@3": "ndcg@3", "precision@5": "p@5"}
    found = ranx.evaluate(judged, ranx.Run.from_file(str(run), kind="trec"), list(names))
    assert {names[name]: value for name, value in found.items()} == pytest.approx({n: ours[n] for n in names.values()})

    with files["qrels.txt"].open() as file:
        labels = pytrec_eval.parse_qrel(file)
    # trec_eval takes labels as gains; ours are 2^label - 1.
    gains = {query: {d: 2**label - 1 for d, label in of.items()} for query, of in labels.items()}
    with run.open() as file:
        scores = pytrec_eval.parse_run(file)
    plain = {"map": "map", "P_5": "p@5", "recall_5": "recall@5", "recip_rank": "rr"}
    asked = {"map", "ndcg", "ndcg_cut.10", "P.5", "recall.5", "recip_rank"}
    for given, names in (
        (gains, plain | {"ndcg": "ndcg", "ndcg_cut_10": "ndcg@10"}),
        (labels, plain | {"ndcg": "linear_ndcg", "ndcg_cut_10": "linear_ndcg@10"}),
    ):
        found = pytrec_eval.RelevanceEvaluator(given, asked).evaluate(scores)
        means = {ours_: np.mean([of[name] for of in found.values()]) for name, ours_ in names.items()}
        assert means == pytest.approx({name: ours[name] for name in means}, abs=1e-6)


@pytest.mark.parametrize("option", ["--output", "--qrels"])
@pytest.mark.parametrize("name", ["text.txt.query", "text.txt.group", "text.features.json"])
def test_files_that_belong_to_the_documents_are_never_replaced(
    capsys: pytest.CaptureFixture[str], files: dict[str, Path], tmp_path: Path, option: str, name: str
) -> None:
    (tmp_path / "text.txt").write_text("1 1:0.5 2:1 3:0\n0 1:0.2 2:0 3:1\n")
    contents = {"text.txt.query": "2\n", "text.txt.group": "2\n", "text.features.json": '["a", "b", "c"]'}
    (tmp_path / name).write_text(contents[name])
    outputs = {"--output": tmp_path / "new.run", option: tmp_path / name}
    words = [str(word) for pair in outputs.items() for word in pair]
    given = ["rank", "--model", str(files["model.json"]), "--data", str(tmp_path / "text.txt"), "--force"]
    assert cli.main([*given, *words]) == 1
    assert "belongs to --data" in capsys.readouterr().err
    assert (tmp_path / name).read_text() == contents[name]


def test_measures_have_the_spellings_that_compare_takes(files) -> None:
    files["qrels.txt"].write_text("q1 0 d1 1\nq1 0 d2 2\n")
    files["some.run"].write_text("q1 Q0 d1 1 3.0 some\nq1 Q0 d2 2 2.0 some\n")
    found = evaluated(files, files["some.run"], "--measures", "AP(rel=2)", "AP", "recip_rank", "ndcg_cut_3")
    linear = (1 + 2 / np.log2(3)) / (2 + 1 / np.log2(3))
    expected = {"map(rel=2)": 1 / 2, "map": 1.0, "rr": 1.0, "linear_ndcg@3": linear}
    assert found == pytest.approx(expected)
    assert evaluated(files, files["some.run"], "--measures", "AP(rel=2)", "--relevant-from", 2) == {"map": 1 / 2}


def test_an_option_without_measures_is_refused(files, capsys) -> None:
    files["qrels.txt"].write_text("q1 0 d1 1\n")
    files["some.run"].write_text("q1 Q0 d1 1 3.0 some\n")
    given = ["--run", str(files["some.run"]), "--qrels", str(files["qrels.txt"])]
    assert cli.main(["evaluate-run", *given, "--measures"]) == 1
    assert "--measures: expected the names of measures, found none" in capsys.readouterr().err


def test_trec_eval_compares_scores_in_single_precision(files) -> None:
    files["qrels.txt"].write_text("q1 0 b 1\n")
    # Single precision has no number between 16777216 and 16777218, and none above 3.5e38.
    for high, low in (("16777217", "16777216"), ("2e39", "1e39")):
        files["some.run"].write_text(f"q1 Q0 a 1 {high} some\nq1 Q0 b 2 {low} some\n")
        assert evaluated(files, files["some.run"], "--measures", "rr", "--ties", "trec_eval") == {"rr": 1.0}
        assert evaluated(files, files["some.run"], "--measures", "rr") == {"rr": 1 / 2}


@pytest.mark.parametrize("no_relevant", ["0", "0.5", "skip"])
@pytest.mark.parametrize("missing", ["zero", "skip"])
def test_queries_that_lack_something_count_as_in_the_library(
    files, tmp_path: Path, capsys, no_relevant: str, missing: str
) -> None:
    files["qrels.txt"].write_text(
        "".join(f"q{q} 0 d{d} {(q + d) % 3 * (q != 2)}\n" for q in range(8) for d in range(3))
    )
    run = tmp_path / "some.run"
    run.write_text("".join(f"q{q} Q0 d{d} 1 {d} r\n" for q in range(6) for d in range(3)))
    per_query = tmp_path / "queries.csv"
    asked = ("ndcg@3", "p@1", "AP(rel=2)")
    options = ("--no-relevant", no_relevant, "--missing", missing)
    found = evaluated(files, run, "--per-query", per_query, "--measures", *asked, *options)
    said = capsys.readouterr().out
    of_queries = pl.read_csv(per_query)
    for name, measure in zip(found, asked, strict=True):
        values = evaluation.values(
            run,
            files["qrels.txt"],
            measure,
            missing=missing,
            no_relevant="skip" if no_relevant == "skip" else float(no_relevant),
        )
        assert found[name] == pytest.approx(values.values.mean(), abs=1e-12)
        kept = of_queries.filter(pl.col(name).is_not_null())
        assert tuple(kept["qid"]) == values.queries
        assert kept[name].to_list() == pytest.approx(values.values[0].tolist(), abs=1e-12)
        line = next(line for line in said.splitlines() if line.startswith(name + " "))
        most = max(len(of_queries.filter(pl.col(one).is_not_null())) for one in found)
        assert ("alone" in line) == (len(values.queries) < most)
    assert len(of_queries) == 8 - 2 * (missing == "skip") - (no_relevant == "skip")


def test_where_no_query_is_left_nothing_is_measured(files, tmp_path: Path, capsys) -> None:
    files["qrels.txt"].write_text("q 0 d 0\n")
    run = tmp_path / "one.run"
    run.write_text("q Q0 d 1 1 r\n")
    given = ["evaluate-run", "--run", run, "--qrels", files["qrels.txt"], "--no-relevant", "skip"]
    assert cli.main([str(word) for word in given]) == 1
    assert ": expected at least one query to measure" in capsys.readouterr().err
