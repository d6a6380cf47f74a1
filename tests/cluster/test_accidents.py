"""Whatever happens to jobs on a cluster is reported by name and made good, and every table has the same bytes."""

import shutil
from pathlib import Path

import pytest

from ..workflow.conftest import SMALL, Project, copy_folder, copy_project
from . import runs
from .runs import Run
from .slurm import Slurm

pytestmark = pytest.mark.cluster

# A model -> what happens to its first training.
ACCIDENTS = {
    "fails": "fail",
    "cancelled": "wait",
    "hungry": "allocate",
    "slow": "wait",
    "drained": "wait",
    "lost": "wait",
}
# How the first submission of a model ends. SLURM reports a job over its memory in one of two ways.
ENDS = {
    "fails": {"FAILED"},
    "cancelled": {"CANCELLED"},
    "hungry": {"FAILED", "OUT_OF_MEMORY"},
    "slow": {"TIMEOUT"},
    "lost": {"NODE_FAIL"},
}
STUDY = {
    **SMALL,
    "folds": [1],
    "models": [{"name": name, "algorithm": "erm", "surrogate": "listnet", "l2": [0.1]} for name in ACCIDENTS],
}


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """The study as it comes out on this machine."""
    project = copy_project(tmp_path_factory.mktemp("accidents") / "reference", STUDY)
    project.snakemake()
    return project


@pytest.fixture(scope="module", params=["accounted", pytest.param("cluster", marks=pytest.mark.slow)])
def run(request: pytest.FixtureRequest, reference: Project, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """The study on a cluster where every model has its accident."""
    cluster: Slurm = request.getfixturevalue(request.param)
    folder = tmp_path_factory.mktemp("accidents")
    project = copy_folder(reference.folder, folder / "project")
    for made in ("results", "reports"):
        shutil.rmtree(project.folder / made)
    run = Run(project, cluster, runs.plan(folder / "accidents", ACCIDENTS))
    with run.sent():
        disturb(run)
    return run


def disturb(run: Run) -> None:
    """Let the accidents happen that a job cannot cause by itself."""
    cluster = run.cluster
    run.wait(lambda: run.happened("slow"), "the start of the job that takes too long")
    cluster.call("scontrol", "update", f"JobId={run.attempts('slow')[0]['JobId']}", "TimeLimit=1")
    run.wait(lambda: run.happened("drained"), "the start of the job on the node to drain")
    node = run.attempts("drained")[0]["NodeList"]
    cluster.call("scontrol", "update", f"NodeName={node}", "State=DRAIN", "Reason=test")
    known = len(cluster.jobs())
    run.wait(lambda: run.happened("cancelled"), "the start of the job to cancel")
    cluster.call("scancel", run.attempts("cancelled")[0]["JobId"])
    run.wait(lambda: run.started(known), "the start of a job while a node is drained")
    run.drained = node, {job["NodeList"] for job in run.started(known)}
    (run.accidents / "drained.go").touch()
    run.wait(lambda: run.states("drained") == ["COMPLETED"], "the end of the job on the drained node")
    cluster.call("scontrol", "update", f"NodeName={node}", "State=RESUME")
    run.wait(lambda: run.happened("lost"), "the start of the job on the node to kill")
    others = [model for model in ENDS if model != "lost"]
    run.wait(lambda: all(run.happened(model) for model in others), "the start of all other accidents")
    run.wait(lambda: all(run.states(model)[0] != "RUNNING" for model in others), "the other accidents")
    cluster.kill_node(run.attempts("lost")[0]["NodeList"])


def test_every_table_has_the_same_bytes(run: Run, reference: Project) -> None:
    assert run.status == 0, run.output[-6000:]
    assert run.project.tables() == reference.tables()


@pytest.mark.parametrize("model", ENDS)
def test_an_accident_is_reported_by_name_and_the_job_sent_again(run: Run, model: str) -> None:
    first, *again = run.attempts(model)
    assert first["JobState"] in ENDS[model]
    assert run.states(model)[-1] == "COMPLETED"
    assert all(job["Requeue"] == "0" for job in (first, *again)), (
        "SLURM may repeat a job that Snakemake repeats as well"
    )
    # the next attempt may have twice the memory and the time
    assert runs.megabytes(again[0]) == 2 * runs.megabytes(first)
    log = Path(first["StdOut"])
    assert str(log) in run.output
    assert log.exists()
    assert f"results/small/logs/train_model/letor-sim/{model}.log" in run.output


def test_the_log_says_why_a_job_was_killed(run: Run) -> None:
    for model, reason in {"hungry": "memory", "slow": "TIME LIMIT", "cancelled": "CANCELLED"}.items():
        assert reason in Path(run.attempts(model)[0]["StdOut"]).read_text()


@pytest.mark.parametrize("model", ENDS)
def test_the_console_says_how_slurm_ended_a_job(run: Run, model: str) -> None:
    first = run.attempts(model)[0]
    [line] = [line for line in run.output.splitlines() if f"SLURM-job '{first['JobId']}' failed" in line]
    assert f"'{first['JobState']}'" in line


def test_a_drained_node_finishes_its_job_and_gets_no_other(run: Run) -> None:
    node, used = run.drained
    assert run.states("drained") == ["COMPLETED"]
    assert used
    assert node not in used
