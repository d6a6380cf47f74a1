"""The documented commands, on a cluster on which nothing goes wrong."""

from __future__ import annotations

import shutil
import signal
from pathlib import Path

import pytest

from ..workflow.conftest import Project
from . import runs
from .runs import Run
from .slurm import Slurm

pytestmark = pytest.mark.cluster


@pytest.fixture
def without_results(finished_copy: Project) -> Project:
    """The small study with its data, but without results."""
    for made in ("results", "reports"):
        shutil.rmtree(finished_copy.folder / made)
    return finished_copy


def test_a_study_has_the_same_bytes_as_on_this_machine(
    cluster: Slurm, finished: Project, without_results: Project, tmp_path: Path
) -> None:
    run = Run(without_results, cluster, runs.plan(tmp_path / "accidents", {}))
    before = len(cluster.jobs())
    run.send()
    assert run.status == 0, run.output[-6000:]
    assert run.project.tables() == finished.tables()
    # all trainings and evaluations are short, and share one submission and its core
    (job,) = cluster.jobs()[before:]
    assert job["JobState"] == "COMPLETED"
    assert job["NumCPUs"] == "1"
    assert "  submissions 1\n" in run.output


def test_another_scheduler_gives_the_same_bytes_although_jobs_fail_and_are_cancelled(
    cluster: Slurm, finished: Project, without_results: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The profile for other schedulers, with the commands of SLURM as those of any scheduler."""
    monkeypatch.setenv("SCHEDULER", "slurm")
    run = Run(without_results, cluster, runs.plan(tmp_path / "accidents", {"ranksvm": "wait"}))
    with run.sent(profile="generic"):
        run.wait(lambda: run.happened("ranksvm"), "the start of the job to cancel")
        cluster.call("scancel", (run.accidents / "ranksvm.happened").read_text())
        run.wait(lambda: len(run.attempts("ranksvm")) == 2, "another attempt")
        (run.accidents / "listnet").write_text("fail")
    assert run.status == 0, run.output[-6000:]
    assert run.project.tables() == finished.tables()
    # all models are one batch
    assert run.states("ranksvm") == ["CANCELLED", "FAILED", "COMPLETED"]
    for model in ("listnet", "ranksvm"):
        assert f"results/small/logs/train_model/letor-sim/{model}.log" in run.output


def test_a_run_that_is_interrupted_cancels_its_jobs_and_a_rerun_finishes(
    cluster: Slurm, finished: Project, finished_copy: Project, tmp_path: Path
) -> None:
    results = finished_copy.folder / "results/small"
    for lost in ("models/letor-sim/random", "tables"):
        shutil.rmtree(results / lost)
    (results / "evaluation/letor-sim/random.parquet").unlink()
    run = Run(finished_copy, cluster, runs.plan(tmp_path / "accidents", {"random": "wait"}))
    with run.sent():
        run.wait(lambda: run.happened("random"), "the start of a job")
        run.control_process().send_signal(signal.SIGINT)
        cluster.wait(lambda: run.states("random") == ["CANCELLED"], "the end of the job")
    assert run.status != 0
    run.send()
    assert run.status == 0, run.output[-6000:]
    assert run.project.tables() == finished.tables()
    assert run.states("random") == ["CANCELLED", "COMPLETED"]
