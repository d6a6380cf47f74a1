"""Data of one's own, from the files to the report: a file, files by role, folders of folds, and LightGBM's folder."""

import gzip
import json
import random
import re
import shlex
from pathlib import Path

import polars as pl
import pytest
import yaml

from pipeline_lib.core import storage
from pipeline_lib.evaluation import betting, pilot
from tests.html_page import Page

from .conftest import ROOT, SMALL, Project, copy_folder, copy_project, job_table, shared

pytestmark = pytest.mark.workflow

DATA = [
    {"name": "mine", "files": ["my.txt"], "folds": 3},
    {"name": "my_clicks", "train": "clicks/a.csv.gz", "validation": "clicks/b.csv.gz", "test": "clicks/c.csv.gz"},
    {"name": "folds", "folder": "folds"},
    {"name": "lightgbm", "folder": "lightgbm"},
]
EMPTY_LISTS = "lists without a relevant document"
OF_NDCG = pl.col("measure") == "ndcg@10"
CONFIG = {**SMALL, "datasets": DATA, "models": [{"name": "best", "algorithm": "best-feature"}], "folds": [1]}


def documents(draw: random.Random, count: int) -> list[tuple[int, list[float]]]:
    """Labels and features of some documents; the second feature tells the label."""
    labels = [k % 3 for k in range(count)]
    return [(label, [round(draw.random(), 3), label + round(draw.random(), 3) / 2]) for label in labels]


def write_files(folder: Path) -> None:
    """The files of one data set of every layout."""
    draw = random.Random(1)
    queries = {f"q{i}": documents(draw, 6) for i in range(9)}

    def letor(names: list[str]) -> str:
        return "".join(f"{y}.0 qid:{q} 1:{a} 2:{b}\n" for q in names for y, (a, b) in queries[q])

    every = list(queries)
    (folder / "my.txt").write_text(letor(every))
    for name in ("clicks", "lightgbm", *(f"folds/Fold{k}" for k in (1, 2, 3))):
        (folder / name).mkdir(parents=True)
    for name, part in (("a", every[:5]), ("b", every[5:7]), ("c", every[7:])):
        rows = "".join(f"{q},{a},{b},{y}\n" for q in part for y, (a, b) in queries[q])
        (folder / f"clicks/{name}.csv.gz").write_bytes(gzip.compress(f"query,noise,bm25,label\n{rows}".encode()))
    for name, part in (("train", every[:6]), ("valid", every[6:7]), ("test", every[7:])):
        text = "".join(f"{y} 0:{a} 1:{b}\n" for q in part for y, (a, b) in queries[q])
        (folder / f"lightgbm/rank.{name}").write_text(text)
        (folder / f"lightgbm/rank.{name}.query").write_text("6\n" * len(part))
    thirds = [every[:3], every[3:6], every[6:]]
    for k in range(3):
        for name, part in (("test", thirds[k]), ("vali", thirds[k - 1]), ("train", thirds[k - 2])):
            (folder / f"folds/Fold{k + 1}/{name}.txt").write_text(letor(part))


@pytest.fixture(scope="session")
def run_of_own_data(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A copy of the project in which a study of all layouts has run."""

    def make(project: Project) -> None:
        copy_project(project.folder, CONFIG)
        write_files(project.folder)
        project.snakemake()

    return shared(tmp_path_factory, "own", make)


@pytest.fixture
def own_copy(run_of_own_data: Project, tmp_path: Path) -> Project:
    """A copy of the finished project that a test may change."""
    return copy_folder(run_of_own_data.folder, tmp_path / "copy")


def test_every_layout_comes_to_the_report(run_of_own_data: Project) -> None:
    folder = run_of_own_data.folder
    page = (folder / "reports/small/report.html").read_text()
    sizes = {"mine": 9, "my_clicks": 9, "folds": 9, "lightgbm": 9}
    for name, queries in sizes.items():
        description = json.loads((folder / f"results/small/data/{name}.json").read_text())
        assert (description["queries"], description["rows"], description["features"]) == (queries, 54, 2)
        assert description["licence"] is None
        assert f'id="data-{name}"' in page
        assert f'id="results-{name}"' in page
        values = pl.read_parquet(folder / f"results/small/evaluation/{name}/best.parquet")
        assert values.height == {"mine": 3, "my_clicks": 2, "folds": 3, "lightgbm": 2}[name]
        assert values["ndcg@10"].min() == 1.0
    # Queries and features keep their names.
    assert set(pl.read_parquet(folder / "results/small/evaluation/my_clicks/best.parquet")["qid"]) == {"q7", "q8"}
    weights = pl.read_parquet(folder / "results/small/tables/weights.parquet")
    assert weights.filter(pl.col("weight") != 0).rows() == [("my_clicks", "best", 1, "bm25", 1.0)]
    assert "bm25" in page[page.index('id="results-my_clicks"') :]
    assert run_of_own_data.planned() == {}


@pytest.fixture(scope="session")
def judged_data(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A study of data without a defect, and of the same data with the rows of every query best first."""

    def make(project: Project) -> None:
        models = [
            *CONFIG["models"],
            {"name": "listnet", "algorithm": "erm", "surrogate": "listnet", "l2": [0.1]},
            {"name": "random", "algorithm": "random"},
        ]
        names = ("clean", "sorted")
        data = [{"name": name, "files": [f"{name}.csv"], "folds": 3} for name in names]
        copy_project(project.folder, {**CONFIG, "datasets": data, "models": models, "folds": [1, 2]})
        draw = random.Random(2)
        lists = [[draw.randrange(3) for _ in range(draw.randint(5, 9))] for _ in range(120)]
        lists[0] = [0] * len(lists[0])
        for name in names:
            rows = [
                f"q{q},{y + draw.gauss(0, 1):.3f},{y + draw.gauss(0, 2):.3f},{y}\n"
                for q, labels in enumerate(lists)
                for y in (sorted(labels, reverse=True) if name == "sorted" else labels)
            ]
            (project.folder / f"{name}.csv").write_text(f"query,text,age,label\n{''.join(rows)}")
        project.snakemake()

    return shared(tmp_path_factory, "judged", make)


def test_the_front_page_of_own_data_begins_with_what_was_found(judged_data: Project) -> None:
    found = {
        name: storage.read_json(judged_data.folder / f"results/small/findings/{name}.json")
        for name in ("clean", "sorted")
    }
    checks = {name: [one["check"] for one in content["found"]] for name, content in found.items()}
    assert checks == {"clean": [EMPTY_LISTS], "sorted": ["order of rows", EMPTY_LISTS]}
    frame = pl.read_csv(judged_data.folder / "clean.csv").group_by("query").agg(pl.col("label").max())
    assert found["clean"]["lists"]["relevant"]["0"] == (frame["label"] == 0).sum() > 0
    assert sum(found["clean"]["lists"]["documents"].values()) == 120
    front = Page((judged_data.folder / "reports/small/index.html").read_text())
    places = ["findings-clean", "rankers-of-clean", "lists-of-clean", "findings-sorted", "rankers-of-sorted"]
    assert [one for one in front.ids if one in places] == places
    assert "order of rows" in (judged_data.folder / "reports/small/tables/findings-sorted.csv").read_text()
    assert (judged_data.folder / "reports/small/figures/lists-clean.svg").is_file()
    assert judged_data.planned() == {}


def test_limits_hold_for_all_folds_and_models_together(judged_data: Project) -> None:
    folder = judged_data.folder / "results/small"
    limits, plans = (pl.read_parquet(folder / f"tables/{name}.parquet") for name in ("limits", "plans"))
    assert len(limits) == 2 * 2 * 3  # data sets, measures, models
    assert len(plans) == 2 * 2 * 3  # and pairs
    of_model = pl.read_parquet(folder / "evaluation/clean/listnet.parquet")
    folds = [part["ndcg@10"].to_numpy() for part in of_model.sort("fold", "qid", "query").partition_by("fold")]
    row = limits.row(by_predicate=(pl.col("dataset") == "clean") & (pl.col("model") == "listnet") & OF_NDCG, named=True)
    assert row["mean"] == pytest.approx(sum(x.mean() for x in folds) / 2)
    lower = [betting.lower_limit(x, level=1 - 0.05 / (3 * 2)) for x in folds]
    assert row["lower"] == pytest.approx(sum(lower) / 2)
    assert row["lower"] < row["pooled"] < row["mean"] < row["high"]
    rankers = pl.read_csv(judged_data.folder / "reports/small/tables/rankers-clean.csv")
    assert rankers["model"][0] == limits.filter(OF_NDCG, dataset="clean").sort("mean")["model"][-1]
    other = plans.filter(OF_NDCG, dataset="clean", model_a="listnet", model_b="random").row(0, named=True)
    assert other["difference"] > 0.0
    assert other["needed"] == pilot.queries_for_power(other["sd_planned"], other["difference"], 0.8, 1 - 0.05 / 3)


def test_a_touched_file_replans_nothing_and_an_edited_one_what_depends_on_it(own_copy: Project) -> None:
    files = [own_copy.folder / path for path in ("my.txt", "lightgbm/rank.test.query", "folds/Fold2/test.txt")]
    for path in files:
        path.touch()
    assert own_copy.planned() == {}
    text = files[0].read_text()
    files[0].write_text(text.replace("2.0 qid", "0.0 qid", 1))
    expected = {"register_data": 1, "convert_data": 1, "split_folds": 1, "train_model": 1, "evaluate_model": 1}
    planned = own_copy.planned()
    assert expected.items() <= planned.items()
    assert planned["describe_data"] == 1
    sizes = files[1].read_text()
    files[1].write_text(sizes.replace("6\n6\n", "5\n7\n"))
    assert dict.fromkeys(expected, 2).items() <= own_copy.planned().items()


def test_a_data_set_and_a_model_that_are_removed_from_a_study_leave_its_report(own_copy: Project) -> None:
    both = [*CONFIG["models"], {"name": "other", "algorithm": "file-order", "title": "The other one"}]
    study = own_copy.folder / "small.yaml"
    study.write_text(yaml.safe_dump({**CONFIG, "models": both, "datasets": DATA[:2]}))
    own_copy.snakemake()
    study.write_text(yaml.safe_dump({**CONFIG, "datasets": DATA[:1]}))
    own_copy.snakemake()
    page = (own_copy.folder / "reports/small/report.html").read_text()
    assert 'id="data-mine"' in page
    assert "my_clicks" not in page
    assert "The other one" not in page
    assert not list((own_copy.folder / "reports/small").rglob("*clicks*"))


def test_labels_from_which_nothing_can_be_learned_are_named_on_the_console_and_in_the_report(own_copy: Project) -> None:
    text = own_copy.folder / "my.txt"
    text.write_text(re.sub("^[0-9.]+", "0", text.read_text(), flags=re.MULTILINE))
    models = [{"name": name, "algorithm": name} for name in ("best-feature", "random")]
    (own_copy.folder / "small.yaml").write_text(yaml.safe_dump({**CONFIG, "datasets": DATA[:1], "models": models}))
    warning = "no document is relevant (all 54 have the label 0): every measure is 0, whatever the order"
    assert f"\n  WARNING: mine: {warning}\n" in own_copy.snakemake()
    assert f"\n  WARNING     mine: {warning}\n" in own_copy.snakemake("-n", "-R", "render_report")
    for page in ("index.html", "pages/data-mine.html"):
        assert f"In mine, {warning}." in (own_copy.folder / "reports/small" / page).read_text()
    front = (own_copy.folder / "reports/small/index.html").read_text()
    assert " shares with " in front  # all means are 0
    assert " has the highest " not in front
    assert "as long as both have the same mean" in front


def test_a_model_that_cannot_be_trained_is_left_out_and_the_report_says_why(own_copy: Project) -> None:
    text, config = own_copy.folder / "my.txt", own_copy.folder / "small.yaml"
    healthy = text.read_text()
    boosting = {"name": "boosting", "algorithm": "rankboost", "title": "Boosting"}
    models = [*CONFIG["models"], boosting]
    text.write_text(re.sub("^[0-9.]+", "0", healthy, flags=re.MULTILINE))
    config.write_text(yaml.safe_dump({**CONFIG, "datasets": DATA[:1], "models": models}))
    output = own_copy.snakemake()
    assert "\n  WARNING: boosting is left out of the results of mine; on fold 1: " in output
    assert "\nboosting is left out of the results of mine: " in output
    assert "Traceback" not in output
    reports = own_copy.folder / "reports/small"
    words = "Not trained: Boosting on mine (fold 1): data: rankboost: expected documents with different labels"
    for page in ("index.html", "pages/data-mine.html"):
        assert words in (reports / page).read_text()
    assert pl.read_parquet(own_copy.folder / "results/small/tables/summary.parquet")["model"].unique().to_list() == [
        "best"
    ]
    assert own_copy.planned() == {}
    # With no model that could be trained, there is still a report.
    config.write_text(yaml.safe_dump({**CONFIG, "datasets": DATA[:1], "models": [boosting]}))
    own_copy.snakemake()
    assert words in (reports / "index.html").read_text()
    # Other data make the model again.
    text.write_text(healthy)
    assert "left out" not in own_copy.snakemake()
    assert "Not trained" not in (reports / "report.html").read_text()
    assert pl.read_parquet(own_copy.folder / "results/small/evaluation/mine/boosting.parquet").height == 3


def test_a_single_test_query_costs_only_its_intervals_and_tests(own_copy: Project) -> None:
    folder = own_copy.folder / "single"
    folder.mkdir()
    lines = (own_copy.folder / "my.txt").read_text().splitlines(keepends=True)
    for name, part in (("trainingset", lines[:24]), ("validationset", lines[24:48]), ("testset", lines[48:])):
        (folder / f"{name}.txt").write_text("".join(part))
    models = [*CONFIG["models"], {"name": "as-filed", "algorithm": "file-order"}]
    config = {**CONFIG, "datasets": [{"name": "mine", "folder": "single"}], "models": models}
    (own_copy.folder / "small.yaml").write_text(yaml.safe_dump(config))
    own_copy.snakemake()
    tables = own_copy.folder / "results/small/tables"
    summary = pl.read_parquet(tables / "summary.parquet")
    assert summary["n_queries"].unique().to_list() == [1]
    assert summary["low"].null_count() == summary["high"].null_count() == len(summary) > 0
    assert pl.read_parquet(tables / "comparisons.parquet").is_empty()
    assert "There is one test query" in (own_copy.folder / "reports/small/pages/data-mine.html").read_text()


@pytest.fixture
def fresh(tmp_path: Path) -> Project:
    """A copy of the project in which nothing has run, and a study file that says nothing."""
    project = copy_project(tmp_path / "fresh", {})
    write_files(project.folder)
    return project


PAGE = ROOT / "docs/your-own-data.md"


def test_the_documented_command_is_enough(fresh: Project) -> None:
    """As it stands there for a file, and with a folder of LightGBM in its place."""
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    words = shlex.split(next(line for line in lines if "--config study=" in line))
    assert words[:3] == ["snakemake", "--cores", "4"]
    for old, new, trained in (("", "", "train_model"), ("files: [my.txt]", "folder: lightgbm", "train_fold")):
        output = fresh.snakemake("-n", "--quiet", "rules", *(word.replace(old, new) for word in words[3:]))
        planned = job_table(output.splitlines())
        assert planned["register_data"] == planned["convert_data"] == planned["render_report"] == 1
        assert planned[trained] == planned["evaluate_model"]


def test_the_documented_lines_say_the_same(fresh: Project) -> None:
    page = PAGE.read_text(encoding="utf-8")
    [lines] = re.findall(r"^```yaml\n(study: my-data\n.*?)^```$", page, flags=re.MULTILINE | re.DOTALL)
    assert lines.count("\n") == 3
    (fresh.folder / "small.yaml").write_text(lines)
    jobs = ("register_data", "convert_data", "split_folds")
    assert fresh.planned("data/parquet/my-data/folds.parquet") == dict.fromkeys(jobs, 1)
