"""The documented commands, on a cluster on which nothing goes wrong."""

import shutil
import signal
import time
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
    sent = cluster.jobs()[before:]
    assert sent
    assert {(job["JobState"], job["NumCPUs"]) for job in sent} == {("COMPLETED", "1")}


@pytest.mark.slow
def test_short_jobs_can_be_sent_together(
    cluster: Slurm, finished: Project, without_results: Project, tmp_path: Path
) -> None:
    run = Run(without_results, cluster, runs.plan(tmp_path / "accidents", {}))
    before = len(cluster.jobs())
    run.send("--groups", "train_model=training", "evaluate_model=training", "--group-components", "training=20")
    assert run.status == 0, run.output[-6000:]
    assert run.project.tables() == finished.tables()
    models = len(list((run.project.folder / "results/small/models/letor-sim").iterdir()))
    together = [job["StdOut"] for job in cluster.jobs()[before:] if "train" in job["StdOut"]]
    assert len(together) == -(-models // 20), together


def test_another_scheduler_gives_the_same_bytes_although_jobs_fail_and_are_cancelled(
    cluster: Slurm, finished: Project, without_results: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The profile for other schedulers, with the commands of SLURM as those of any scheduler."""
    monkeypatch.setenv("SCHEDULER", "slurm")
    run = Run(without_results, cluster, runs.plan(tmp_path / "accidents", {"ranksvm": "wait", "listnet": "fail"}))
    with run.sent(profile="generic"):
        run.wait(lambda: run.happened("ranksvm"), "the start of the job to cancel")
        cluster.call("scancel", (run.accidents / "ranksvm.happened").read_text())
    assert run.status == 0, run.output[-6000:]
    assert run.project.tables() == finished.tables()
    assert run.states("ranksvm") == ["CANCELLED", "COMPLETED"]
    assert run.states("listnet") == ["FAILED", "COMPLETED"]
    for model in ("listnet", "ranksvm"):
        assert f"results/small/logs/train_model/letor-sim/{model}.log" in run.output


def lose(project: Project, *models: str) -> None:
    """Delete what a run made of some models, and the tables."""
    results = project.folder / "results/small"
    shutil.rmtree(results / "tables")
    for model in models:
        shutil.rmtree(results / "models/letor-sim" / model)
        (results / f"evaluation/letor-sim/{model}.parquet").unlink()


@pytest.fixture
def waiting(cluster: Slurm, finished_copy: Project, tmp_path: Path) -> Run:
    """A run whose only training waits until it is let go."""
    lose(finished_copy, "random")
    return Run(finished_copy, cluster, runs.plan(tmp_path / "accidents", {"random": "wait"}))


def test_a_run_that_is_interrupted_cancels_its_jobs_and_a_rerun_finishes(
    cluster: Slurm, finished: Project, waiting: Run
) -> None:
    def cancelled() -> bool:
        return waiting.states("random") == ["CANCELLED"]

    with waiting.sent():
        waiting.wait(lambda: waiting.happened("random"), "the start of a job")
        waiting.control_process().send_signal(signal.SIGINT)
        try:
            cluster.wait(cancelled, "the end of the job", seconds=20.0)
        except TimeoutError:
            # Snakemake drops an interrupt that arrives while it writes to its log: a person would send another one.
            if waiting.status is None:
                waiting.control_process().send_signal(signal.SIGINT)
            cluster.wait(cancelled, "the end of the job")
    assert waiting.status != 0
    waiting.send()
    assert waiting.status == 0, waiting.output[-6000:]
    assert waiting.project.tables() == finished.tables()
    assert waiting.states("random") == ["CANCELLED", "COMPLETED"]


def test_code_rules_and_settings_that_are_edited_while_a_job_works_change_nothing(
    finished: Project, waiting: Run
) -> None:
    edits = {
        "small.yaml": "erm: {tol: 1.0}\nseed: 5\nlevel: 0.5\n",
        "pipeline_lib/commands/evaluate_model.py": "raise SystemExit('edited')\n",
        "pipeline_lib/commands/summarise_results.py": "raise SystemExit('edited')\n",
        "workflow/rules/models.smk": "this is no rule\n",
    }
    before = {name: (waiting.project.folder / name).read_text() for name in edits}
    with waiting.sent():
        waiting.wait(lambda: waiting.happened("random"), "the start of a job")
        for name, more in edits.items():
            (waiting.project.folder / name).write_text(before[name] + more)
        (waiting.accidents / "random.go").touch()
    for name, text in before.items():
        (waiting.project.folder / name).write_text(text)
    assert waiting.status == 0, waiting.output[-6000:]
    assert waiting.project.tables() == finished.tables()
    assert waiting.project.planned() == {}


def let_go_without_controller(run: Run, seconds: float, *options: str) -> None:
    """Let the controller die while the training works, and start another one after some time."""
    run.wait(lambda: run.happened("random"), "the start of a job")
    time.sleep(6.0)  # the controller saves what it knows every five seconds
    run.cluster.kill_controller()
    (run.accidents / "random.go").touch()
    time.sleep(seconds)
    run.cluster.start_controller(*options)


@pytest.mark.parametrize("seconds", [30.0, pytest.param(180.0, marks=pytest.mark.slow)])
@pytest.mark.parametrize("kind", ["cluster", pytest.param("accounted", marks=pytest.mark.slow)])
def test_a_controller_that_is_away_delays_the_run_and_uses_up_no_attempt(
    kind: str, seconds: float, finished: Project, finished_copy: Project, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    lose(finished_copy, "random")
    cluster: Slurm = request.getfixturevalue(kind)
    run = Run(finished_copy, cluster, runs.plan(tmp_path / "accidents", {"random": "wait"}))
    with run.sent():
        let_go_without_controller(run, seconds)
        cluster.wait(lambda: run.status is not None, "the end of the run", 240.0)
    assert run.status == 0, run.output[-6000:]
    assert run.project.tables() == finished.tables()
    assert run.states("random") == ["COMPLETED"]


def test_a_run_ends_when_the_controller_is_away_for_good_and_says_what_it_waited_for(
    cluster: Slurm, waiting: Run
) -> None:
    run = waiting
    runs.set_constants(run.project, "study/slurm", SILENCE=5.0)
    try:
        with run.sent():
            run.wait(lambda: run.happened("random"), "the start of a job")
            number = (run.accidents / "random.happened").read_text()
            cluster.kill_controller()
            cluster.wait(lambda: run.status is not None, "the end of the run", 120.0)
    finally:
        (run.accidents / "random.go").touch()
        cluster.start_controller()
    assert run.status
    assert f"train_model trained=letor-sim/random (job {number})" in run.output
    assert "scancel --name=" in run.output


def test_a_job_that_slurm_has_forgotten_is_sent_again(finished: Project, waiting: Run) -> None:
    runs.set_constants(waiting.project, "study/slurm", FORGOTTEN=3.0)
    with waiting.sent():
        let_go_without_controller(waiting, 1.0, "-c")
        waiting.cluster.wait(lambda: waiting.status is not None, "the end of the run", 300.0)
    assert waiting.status == 0, waiting.output[-6000:]
    assert waiting.project.tables() == finished.tables()


def test_a_full_quota_delays_submissions_and_is_named(
    accounted: Slurm, finished: Project, finished_copy: Project, tmp_path: Path
) -> None:
    lose(finished_copy, "random", "listnet")
    runs.set_constants(finished_copy, "study/slurm", PAUSE=2.0)
    before = len(accounted.jobs())
    run = Run(finished_copy, accounted, runs.plan(tmp_path / "accidents", {}))
    accounted.set_quota(1)
    try:
        run.send()
    finally:
        accounted.set_quota(-1)
    assert run.status == 0, run.output[-6000:]
    assert run.project.tables() == finished.tables()
    sent = accounted.jobs()[before:]
    assert {job["JobState"] for job in sent} == {"COMPLETED"}
    assert len({job["StdOut"].rpartition("/")[0] for job in sent}) == len(sent)  # no job was sent twice
    assert "Not submitted for now" in run.output
    assert "AssocMaxSubmitJobLimit" in run.output
    assert "FAILED" not in run.output
