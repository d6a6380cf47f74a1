"""The small study run for real: reruns, and what a person is told."""

import json
import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import yaml

from pipeline_lib import cli

from .conftest import Project, announced

pytestmark = pytest.mark.workflow

METRICS = "pipeline_lib/metrics/__init__.py"
OF_EVALUATIONS = {"summarise_results": 1, "compare_models": 1, "render_report": 1}
"""The jobs that follow the evaluation of any model."""


def test_every_table_is_traced_to_the_text_of_the_data_set(finished: Project) -> None:
    results = finished.folder / "results/small"
    graph = json.loads((results / "ro-crate-metadata.json").read_text())["@graph"]
    made_by = {name: one for one in graph if one["@id"].startswith("#job") for name in _references(one["result"])}
    tables = [path.relative_to(results).as_posix() for path in results.glob("tables/*.parquet")]
    assert tables
    assert set(tables) <= set(made_by)
    found, waiting = set[str](), ["tables/summary.parquet"]
    while waiting:
        sources = _references(made_by[waiting.pop()].get("object", []))
        waiting += [name for name in sources if name not in found and name in made_by]
        found.update(sources)
    assert "#data/raw/letor-sim/manifest.json" in found
    assert (results / "code/workflow/Snakefile").read_bytes() == (finished.folder / "workflow/Snakefile").read_bytes()


def _references(value: Any) -> list[str]:
    return [one["@id"] for one in (value if isinstance(value, list) else [value])]


def test_a_model_of_a_study_ranks_a_file_as_the_study_measured_it(finished: Project, tmp_path: Path) -> None:
    def command(*words: Any) -> None:
        assert cli.main([str(word) for word in words]) == 0

    model = finished.folder / "results/small/models/letor-sim/listnet/fold-1.json"
    documents = finished.folder / "data/parquet/letor-sim/documents.parquet"
    run, qrels, measured = (tmp_path / name for name in ("run", "qrels", "new.csv"))
    command("rank", "--model", model, "--data", documents, "--output", run, "--qrels", qrels)
    command("evaluate-run", "--run", run, "--qrels", qrels, "--per-query", measured)
    new = pl.read_csv(measured)
    known = pl.read_parquet(finished.folder / "results/small/evaluation/letor-sim/listnet.parquet").filter(fold=1)
    both = known.join(new, on="qid", suffix="_new")
    assert len(both) == len(known) > 0
    for name in ("ndcg@10", "map"):
        assert both[f"{name}_new"].to_list() == pytest.approx(both[name].to_list())


def test_texts_of_a_study_are_never_wildcards_or_formats(with_data: Callable[..., Project]) -> None:
    hostile = "{study} {{ {wildcards.study} {} $ $x$ [x](javascript:alert(1)) <script> % %s \\ \\\\ \"q\" 'p' `c` }"
    models = [
        {"name": "random", "title": hostile, "algorithm": "random"},
        {"name": "listnet", "title": "$x", "algorithm": "erm", "surrogate": "listnet", "l2": [0.1]},
    ]
    project = with_data(models=models, mirrors=[hostile.replace(":", "")], folds=[1])
    path = project.folder / "data/catalog.yaml"
    catalogue = yaml.safe_load(path.read_text())
    catalogue["data_sets"]["letor-sim"]["title"] = hostile
    path.write_text(yaml.safe_dump(catalogue, sort_keys=False))
    project.snakemake()
    results = project.folder / "results/small"
    recorded = yaml.safe_load((results / "configuration.yaml").read_text())
    assert recorded["models"] == models
    assert recorded["mirrors"] == [hostile.replace(":", "")]
    assert [model["title"] for model in json.loads((results / "models.json").read_text())["models"]] == [hostile, "$x"]
    assert json.loads((results / "data/letor-sim.json").read_text())["title"] == hostile
    page = (project.folder / "reports/small/report.html").read_text()
    assert "<script> %" not in page  # the page has scripts of its own
    assert 'href="javascript' not in page
    assert "Nothing to be done" in project.snakemake()


def test_running_again_does_nothing(finished_copy: Project) -> None:
    assert "Nothing to be done" in finished_copy.snakemake()
    planned = finished_copy.planned("--config", "threads=3")
    assert "record_study" in planned
    assert "train_model" not in planned


def test_only_a_run_that_brings_the_report_up_to_date_says_where_it_is(finished_copy: Project) -> None:
    table = "results/small/tables/comparisons.parquet"
    (finished_copy.folder / table).unlink()
    assert "reports/small/index.html" not in finished_copy.snakemake(table)
    (finished_copy.folder / "reports/small/index.html").unlink()
    said = finished_copy.snakemake("reports/small/index.html")
    assert "The report is in reports/small/index.html" in said
    assert "from raw rows: all agree" in said


def test_what_jobs_have_in_common_is_no_target(finished: Project) -> None:
    listed = {line.split()[0] for line in finished.snakemake("--list").splitlines() if line.strip()}
    assert {"all", "convert_data", "train_model"} <= listed
    assert not {"job", "data_job"} & listed
    assert "No rule to produce data_job" in finished.snakemake("-n", "data_job", check=False)


def edit(project: Project, file: str, old: str, new: str) -> None:
    """Replace a text that must be there by another, once."""
    path = project.folder / file
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


def test_touching_commenting_and_formatting_reruns_nothing(finished_copy: Project) -> None:
    for path in (finished_copy.folder / "pipeline_lib").rglob("*.py"):
        path.touch()
    for module in ("metrics/__init__", "core/errors", "data/ranking_data", "learners/erm", "commands/train_model"):
        path = finished_copy.folder / f"pipeline_lib/{module}.py"
        rest = path.read_text().split('"""', 2)[2]
        path.write_text(f'# A remark.\n"""Another first line.\n\nAnd more."""\n{rest}\n\n\n"""The end."""\n# edited\n')
    edit(finished_copy, METRICS, "tuple(range(1, 11))", "tuple(  # ranks\n    range(1, 1_1),\n)")
    assert finished_copy.planned() == {}


def test_editing_listwise_replans_listnet_and_what_follows_only(finished_copy: Project) -> None:
    with (finished_copy.folder / "pipeline_lib/surrogates/listwise.py").open("a") as handle:
        handle.write("EDITED = True\n")
    output = finished_copy.snakemake("-n")
    assert set(re.findall(r"model=(\w+)", output)) == {"listnet"}
    [changed] = re.findall(r"^  changed +(.*)", output, re.MULTILINE)
    assert changed == "pipeline_lib/surrogates/listwise.py: 1 of the jobs, and those that depend on them"
    assert announced(output) == {"train_model": 1, "evaluate_model": 1, **OF_EVALUATIONS}


def test_a_constant_of_metrics_replans_what_measures(finished_copy: Project) -> None:
    edit(finished_copy, METRICS, "tuple(range(1, 11))", "tuple(range(1, 12))")
    # The profile for clusters must compare code and settings as the default one does.
    planned = finished_copy.planned("--workflow-profile", "profiles/slurm")
    # A random order is not chosen by a measure.
    assert planned == {"train_model": 2, "evaluate_model": 3, **OF_EVALUATIONS}


OF_CATALOGUE = [("title: Simulated", "title: Some simulated"), ("terms: Made here", "terms: Drawn here")]
OF_MODEL = [("name: random", "name: random\n  title: Chance\n  published: Random")]


@pytest.mark.parametrize(
    ("file", "edits", "planned"),
    [
        ("data/catalog.yaml", OF_CATALOGUE, ["describe_data", "render_report"]),
        ("small.yaml", OF_MODEL, ["record_study", "summarise_results", "judge_claims", "render_report"]),
    ],
)
def test_titles_and_terms_replan_only_what_shows_them(
    finished_copy: Project, file: str, edits: list[tuple[str, str]], planned: list[str]
) -> None:
    for old, new in edits:
        edit(finished_copy, file, old, new)
    assert finished_copy.planned() == dict.fromkeys(planned, 1)


def test_another_layout_of_folds_replans_what_is_trained_on_them(finished_copy: Project) -> None:
    edit(finished_copy, "data/catalog.yaml", "train: [S1, S2, S3]", "train: [S1, S2]")
    planned = finished_copy.planned()
    assert (planned["split_folds"], planned["train_model"]) == (1, 3)
    assert not {"simulate_data", "convert_data", "describe_data"} & set(planned)


def test_changing_one_setting_reruns_its_model_only(finished_copy: Project) -> None:
    edit(finished_copy, "small.yaml", "- 0.01", "- 0.02")
    planned = finished_copy.planned()
    assert planned["train_model"] == planned["evaluate_model"] == 1


def test_a_plan_is_printed_before_work_starts(new_project: Callable[..., Project]) -> None:
    project = new_project(datasets=["letor-sim", "MQ2007"])
    target = "data/parquet/letor-sim/folds.parquet"
    dry, output = project.snakemake("-n", target), project.snakemake(target)
    plan = re.search(r"Plan of the study(.|\n)*? for a job$", output, flags=re.MULTILINE)
    assert plan
    assert output.count("Plan of the study") == 1
    assert dry.count(plan[0]) == 1
    assert "data sets   letor-sim" in plan[0]
    assert re.search(r"missing     MQ2007; to get it: .+", plan[0])
    assert re.search(r"jobs        .*1 simulate_data", plan[0])
    assert re.search(r"estimate    (about \d+ minutes|at most a minute) of work", plan[0])
    # One line per finished job and no lists of files; the details stand in Snakemake's own log.
    assert re.search(r"^\[2/3\] convert_data dataset=letor-sim: [0-9.]+ s$", output, re.MULTILINE)
    assert not re.search(r"^    (input|output|reason):", dry + output, re.MULTILINE)
    assert "    input:" in next((project.folder / ".snakemake/log").iterdir()).read_text()
    assert "    input:" in project.snakemake("-n", "-p", "-f", target)


def test_a_study_without_data_and_papers_has_a_report(new_project: Callable[..., Project]) -> None:
    project = new_project(datasets=["MQ2007"])
    project.snakemake()
    page = project.folder / "reports/small/report.html"
    assert "MQ2007" in page.read_text()
    assert (page.parent / "figures").is_dir()


def test_a_missing_data_set_is_reported_and_stops_nothing(finished_copy: Project) -> None:
    config = finished_copy.folder / "small.yaml"
    config.write_text(config.read_text() + "datasets: [letor-sim, MQ2007]\n")
    assert "train_model" not in finished_copy.snakemake()
    page = (finished_copy.folder / "reports/small/report.html").read_text()
    assert "MQ2007" in page[page.index('id="not-studied"') :]


def test_a_failed_job_names_its_log_and_leaves_nothing_half_written(new_project: Callable[..., Project]) -> None:
    project = new_project()
    project.snakemake("data/raw/letor-sim/manifest.json")
    part = next((project.folder / "data/raw/letor-sim").glob("S2*"))
    text = part.read_text().splitlines()
    value = text[2].split(" 1:")[1].split()[0]
    text[2] = text[2].replace(f" 1:{value}", f" 1:{'x' * len(value)}", 1)
    part.write_text("\n".join(text) + "\n")
    output = project.snakemake(check=False)
    assert re.search(r"error: data/raw/letor-sim/S2[^ ]*: changed", output)
    assert "data/logs/convert_data-letor-sim.log" in output
    assert not list((project.folder / "data").rglob("*.parquet"))


def test_snakemake_s_own_report_has_categories(finished_copy: Project) -> None:
    finished_copy.snakemake("--report", "report.html")
    page = (finished_copy.folder / "report.html").read_text()
    for category in ("Models", "Data sets", "Figures", "Claims"):
        assert category in page


def test_clean_results_removes_the_study_and_keeps_the_data(finished_copy: Project) -> None:
    finished_copy.snakemake("clean_results")
    assert not (finished_copy.folder / "results/small").exists()
    assert not (finished_copy.folder / "reports/small").exists()
    assert (finished_copy.folder / "data/parquet/letor-sim/documents.parquet").exists()


def test_jobs_that_are_forks_make_the_same_bytes_and_are_measured(
    finished: Project, with_data: Callable[..., Project]
) -> None:
    project = with_data()
    environment = {name: value for name, value in os.environ.items() if name != "LTR_JOB_SERVER"}
    subprocess.run(project.command(cores=1), cwd=project.folder, env=environment, check=True)
    assert project.tables() == finished.tables()
    forks, others = map(int, re.findall(r"\d+", (project.folder / ".snakemake/job-server.txt").read_text()))
    assert forks >= 5
    assert others == 0
    measured = [path.read_text().splitlines() for path in (project.folder / "results/small/benchmarks").rglob("*.tsv")]
    of_memory = [dict(zip(head.split(), row.split(), strict=True))["max_rss"] for head, row in measured]
    assert max(float(one) for one in of_memory if one != "NA") > 60
    assert project.planned() == {}
