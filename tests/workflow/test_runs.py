"""The small study run for real: reruns, kills, cores, and what a person is told."""

from __future__ import annotations

import fcntl
import os
import re
import signal
import subprocess
import time
from collections.abc import Callable

import pytest

from .conftest import Project

pytestmark = pytest.mark.workflow


def test_a_run_ends_with_a_report_and_the_claims(finished: Project) -> None:
    page = (finished.folder / "reports/small/index.html").read_text()
    assert "letor-sim" in page
    assert (finished.folder / "reports/small/claims.json").stat().st_size > 1000


def test_running_again_does_nothing(finished_copy: Project) -> None:
    assert "Nothing to be done" in finished_copy.snakemake()


def test_touching_a_file_reruns_nothing(finished_copy: Project) -> None:
    for path in (finished_copy.folder / "pipeline_lib").rglob("*.py"):
        path.touch()
    assert finished_copy.planned() == {}


def test_editing_listwise_replans_listnet_and_what_follows_only(finished_copy: Project) -> None:
    with (finished_copy.folder / "pipeline_lib/surrogates/listwise.py").open("a") as handle:
        handle.write("# edited\n")
    output = finished_copy.snakemake("-n")
    assert set(re.findall(r"model=(\w+)", output)) == {"listnet"}
    assert finished_copy.planned() == {
        "train_model": 2,
        "evaluate_model": 1,
        "summarise_results": 1,
        "compare_models": 1,
        "render_report": 1,
    }


def test_editing_metrics_spares_data_conversion(finished_copy: Project) -> None:
    with (finished_copy.folder / "pipeline_lib/metrics.py").open("a") as handle:
        handle.write("# edited\n")
    planned = finished_copy.planned()
    assert planned["evaluate_model"] == 3
    assert not {"simulate_data", "convert_data", "split_folds"} & set(planned)


def test_changing_one_setting_reruns_its_model_only(finished_copy: Project) -> None:
    config = finished_copy.folder / "small.yaml"
    config.write_text(config.read_text().replace("- 0.01", "- 0.02"))
    planned = finished_copy.planned()
    assert planned["train_model"] == 2
    assert planned["evaluate_model"] == 1


@pytest.mark.parametrize("cores", [2, 4])
def test_the_number_of_cores_changes_no_byte(
    cores: int, finished: Project, new_project: Callable[..., Project]
) -> None:
    project = new_project()
    project.snakemake(cores=cores)
    assert project.tables() == finished.tables()


def test_killed_runs_end_with_the_same_bytes(finished: Project, new_project: Callable[..., Project]) -> None:
    project = new_project()
    # Each attempt is killed, children and all, a little later than the one before; the last may finish.
    for seconds in (2.0, 4.0, 6.5, 9.0):
        process = subprocess.Popen(
            project.command(), cwd=project.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            start_new_session=True,
        )  # fmt: skip
        time.sleep(seconds)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    project.snakemake()
    assert project.tables() == finished.tables()


def test_a_run_killed_without_its_children_ends_with_the_same_bytes(
    finished: Project, new_project: Callable[..., Project]
) -> None:
    project = new_project()
    process = subprocess.Popen(
        project.command(), cwd=project.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    time.sleep(5.0)
    process.kill()
    process.wait()
    project.snakemake()
    assert project.tables() == finished.tables()


def test_a_second_run_in_the_same_folder_is_refused(finished_copy: Project) -> None:
    (finished_copy.folder / "reports/small/claims.json").unlink()
    with (finished_copy.folder / "results/run.lock").open("w") as lock:
        lock.write("4711\n")
        lock.flush()
        fcntl.flock(lock, fcntl.LOCK_EX)
        output = finished_copy.snakemake(check=False)
    assert "another run (process 4711) is working in this folder" in output
    assert not (finished_copy.folder / "reports/small/claims.json").exists()


def test_a_plan_is_printed_before_work_starts(new_project: Callable[..., Project]) -> None:
    project = new_project(datasets=["letor-sim", "MQ2007"])
    output = project.snakemake("data/parquet/letor-sim/folds.parquet")
    plan = output[output.index("Plan of the study") :]
    assert "data sets   letor-sim" in plan
    assert re.search(r"missing     MQ2007; to get it: .+", plan)
    assert re.search(r"jobs        .*1 simulate_data", plan)
    assert re.search(r"estimate    about \d+ s of work, \d+ s on 2 cores", plan)


def test_a_missing_data_set_is_reported_and_stops_nothing(finished_copy: Project) -> None:
    config = finished_copy.folder / "small.yaml"
    config.write_text(config.read_text() + "datasets: [letor-sim, MQ2007]\n")
    planned = finished_copy.planned()
    assert "train_model" not in planned
    finished_copy.snakemake()
    page = (finished_copy.folder / "reports/small/index.html").read_text()
    assert "MQ2007" in page
    assert "not run" in page


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
