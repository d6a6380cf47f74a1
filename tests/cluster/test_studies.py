"""The documented commands, on a cluster on which nothing goes wrong."""

import shutil
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from ..small_settings import SETTINGS
from ..workflow.conftest import Project, announced
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


def lose(project: Project, *models: str) -> None:
    """Delete what a run made of some models, and the tables."""
    results = project.folder / "results/small"
    shutil.rmtree(results / "tables")
    for model in models:
        shutil.rmtree(results / "models/letor-sim" / model)
        (results / f"evaluation/letor-sim/{model}.parquet").unlink()


def test_what_shares_a_submission_with_a_failing_job_is_finished(
    cluster: Slurm, finished_copy: Project, tmp_path: Path
) -> None:
    lose(finished_copy, "random", "listnet")
    random, listnet = (f"results/small/evaluation/letor-sim/{model}.parquet" for model in ("random", "listnet"))
    run = Run(finished_copy, cluster, runs.plan(tmp_path / "accidents", {"listnet": "fail"}))
    run.send(random, listnet, "--retries", "0")
    assert run.status != 0
    assert run.states("listnet") == ["FAILED"]
    assert finished_copy.planned(random) == {}


def test_steps_that_join_others_or_take_a_second_are_not_submitted(
    cluster: Slurm, new_project: Callable[..., Project], tmp_path: Path
) -> None:
    settings = {name: SETTINGS["topk"][name] for name in ("regret", "structure")}
    project = new_project(papers=["topk"], experiments={"topk": settings})
    run = Run(project, cluster, runs.plan(tmp_path / "accidents", {}))
    before = len(cluster.jobs())
    run.send(*(f"results/small/tables/topk-{name}.parquet" for name in ("regret", "estimable")))
    assert run.status == 0, run.output[-6000:]
    assert announced(run.output) == {"topk_regret_slice": 1, "topk_regret": 1, "topk_structure": 1}
    assert "  submissions 1\n" in run.output
    assert len(cluster.jobs()) == before + 1


@pytest.fixture
def waiting(cluster: Slurm, finished_copy: Project, tmp_path: Path) -> Run:
    """A run whose only training waits until it is let go."""
    lose(finished_copy, "random")
    return Run(finished_copy, cluster, runs.plan(tmp_path / "accidents", {"random": "wait"}))


def test_a_controller_that_is_away_delays_the_run_and_loses_no_job(
    cluster: Slurm, finished: Project, waiting: Run
) -> None:
    with waiting.sent():
        waiting.wait(lambda: waiting.happened("random"), "the start of a job")
        cluster.kill_controller()
        (waiting.accidents / "random.go").touch()
        waiting.wait(lambda: waiting.logged("SLURM does not say"), "a query without an answer")
        cluster.start_controller()
        cluster.wait(lambda: waiting.status is not None, "the end of the run", 120.0)
    assert waiting.status == 0, waiting.output[-6000:]
    assert waiting.project.tables() == finished.tables()
    # A controller that dies before it has saved that the job runs starts it once more.
    assert waiting.states("random")[-1] == "COMPLETED"


def test_a_full_quota_delays_submissions_and_is_named(
    accounted: Slurm, finished: Project, finished_copy: Project, tmp_path: Path
) -> None:
    lose(finished_copy, "random", "listnet")
    runs.set_constant(finished_copy, "study/planning", "BATCH_SECONDS", 2.0)  # every model is a submission of its own
    runs.set_constant(finished_copy, "study/snakemake_internals", "PAUSE", 2.0)
    before = len(accounted.jobs())
    run = Run(finished_copy, accounted, runs.plan(tmp_path / "accidents", {}))
    accounted.set_quota(1)
    try:
        run.send()
    finally:
        accounted.set_quota(-1)
    assert run.status == 0, run.output[-6000:]
    assert run.project.tables() == finished.tables()
    assert [job["JobState"] for job in accounted.jobs()[before:]] == ["COMPLETED"] * 2
    assert "  submissions 2\n" in run.output
    assert "AssocMaxSubmitJobLimit" in run.output


def test_a_run_that_is_interrupted_cancels_its_jobs_and_a_rerun_finishes(
    cluster: Slurm, finished: Project, waiting: Run
) -> None:
    with waiting.sent():
        waiting.wait(lambda: waiting.happened("random"), "the start of a job")
        waiting.control_process().send_signal(signal.SIGINT)
        cluster.wait(lambda: waiting.states("random") == ["CANCELLED"], "the end of the job")
    assert waiting.status != 0
    waiting.send()
    assert waiting.status == 0, waiting.output[-6000:]
    assert waiting.project.tables() == finished.tables()
    assert waiting.states("random") == ["CANCELLED", "COMPLETED"]
