"""The small study sent to a cluster by the documented command, with stand-ins for the commands of SLURM."""

from __future__ import annotations

import functools
import itertools
import os
import re
import shutil
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from ..small_settings import SETTINGS
from . import forked, slurm_stand_in
from .conftest import Project, announced, job_table

pytestmark = pytest.mark.workflow


@dataclass(frozen=True)
class Cluster:
    """Stand-ins for SLURM's commands, and the jobs that they were given."""

    jobs: Path
    environment: dict[str, str]

    def run(self, project: Project, *arguments: str) -> tuple[int, str]:
        """Send the small study as docs/clusters.md says; return the exit status and all that was printed."""
        return forked.snakemake(
            [*arguments, "--workflow-profile", "profiles/slurm", "--configfile", "small.yaml"],
            project.folder,
            {**{name: value for name, value in os.environ.items() if name != "LTR_MIRROR"}, **self.environment},
            # The stand-in does not answer before a job has ended.
            prepare=functools.partial(forked.query_every, 0.05),
        )

    def submissions(self) -> dict[str, list[dict[str, Any]]]:
        """The submissions of every group of jobs, in order."""
        found = defaultdict(list)
        for request in slurm_stand_in.requests(self.jobs):
            found[request["comment"].split("_")[1]].append(request)
        return dict(found)


@pytest.fixture
def cluster(tmp_path: Path) -> Cluster:
    environment = slurm_stand_in.install(tmp_path / "bin", tmp_path / "jobs")
    return Cluster(tmp_path / "jobs", environment)


def assert_doubled(attempts: list[dict[str, Any]]) -> None:
    """Every attempt asks for twice the memory and the time of the one before."""
    for before, after in itertools.pairwise(attempts):
        assert after["megabytes"] == 2 * before["megabytes"]
        assert after["minutes"] == 2 * before["minutes"]


def test_the_documented_command_gives_the_same_bytes_although_a_job_was_cancelled(
    finished: Project, finished_copy: Project, cluster: Cluster
) -> None:
    for lost in ("results/small/models/letor-sim/ranksvm", "results/small/tables", "reports/small"):
        shutil.rmtree(finished_copy.folder / lost)
    (finished_copy.folder / "results/small/evaluation/letor-sim/ranksvm.parquet").unlink()
    (cluster.jobs / "limit").touch()
    (cluster.jobs / "cancel").write_text("train_model")
    status, output = cluster.run(finished_copy)
    assert status == 0, output[-6000:]
    assert finished_copy.tables() == finished.tables()
    # the trainings are one submission with their evaluation, and what takes seconds is none
    assert set(cluster.submissions()) == {"batch-letor-sim-1"}
    assert "  submissions 1\n" in output
    (attempts,) = cluster.submissions().values()
    assert [request["state"] for request in attempts] == ["CANCELLED", "COMPLETED"]
    assert_doubled(attempts)


@pytest.mark.slow
def test_a_fresh_study_needs_one_submission_within_its_memory(
    finished: Project, new_project: Callable[..., Project], cluster: Cluster
) -> None:
    project = new_project()
    (cluster.jobs / "limit").touch()
    status, output = cluster.run(project)
    assert status == 0, output[-6000:]
    assert project.tables() == finished.tables()
    ((name, [request]),) = cluster.submissions().items()
    assert name == "batch-letor-sim-1"
    assert request["state"] == "COMPLETED"
    assert request["cpus"] == 1
    assert request["peak"] < request["megabytes"]


NO_LISTNET = """
import functools

train = run


@functools.wraps(train)
def run(**arguments):
    if arguments["model"] == "listnet":
        raise MemoryError("too little of it")
    train(**arguments)
"""


def test_a_failing_job_is_sent_again_with_more_and_named_with_its_log(finished_copy: Project, cluster: Cluster) -> None:
    with (finished_copy.folder / "pipeline_lib/commands/train_model.py").open("a") as handle:
        handle.write(NO_LISTNET)
    (finished_copy.folder / "results/small/evaluation/letor-sim/random.parquet").unlink()
    evaluated = [f"results/small/evaluation/letor-sim/{model}.parquet" for model in ("random", "listnet")]
    status, output = cluster.run(finished_copy, *evaluated, "--retries", "1")
    assert status != 0
    assert "results/small/logs/train_model/letor-sim/listnet.log" in output
    assert "too little of it" in output
    (attempts,) = cluster.submissions().values()
    assert [request["state"] for request in attempts] == ["FAILED", "FAILED"]
    assert_doubled(attempts)
    # the model that shares the submission comes through, and is finished for the next run as well
    assert (finished_copy.folder / evaluated[0]).exists()
    assert "evaluate_model" not in finished_copy.planned(evaluated[0])


def test_trainings_share_a_submission_where_they_are_short(new_project: Callable[..., Project], tmp_path: Path) -> None:
    mirror = tmp_path / "mirror"
    mirror.mkdir()
    (mirror / "MQ2008.zip").touch()
    models = [
        {"name": "random", "algorithm": "random"},
        {"name": "cone", "algorithm": "cone", "passes": 100000, "basis": [10]},
    ]
    project = new_project(models=models, datasets=["MQ2008"], mirrors=[str(mirror)])
    output = project.snakemake("-n", "-p", "--workflow-profile", "profiles/slurm")
    planned = job_table(output.splitlines())
    assert (planned["train_model"], planned["train_fold"]) == (1, 2)
    assert all(resource in output for resource in ("mem_mb=", "runtime="))
    assert set(re.findall(r"Group job (\S+)", output)) == {"batch-MQ2008-1"}


def test_sbatch_is_called_as_often_as_the_plan_says(new_project: Callable[..., Project], cluster: Cluster) -> None:
    """The steps that join what other jobs made, or take a second, run with the controlling process."""
    settings = {name: SETTINGS["topk"][name] for name in ("regret", "structure")}
    project = new_project(papers=["topk"], experiments={"topk": settings})
    wanted = [f"results/small/tables/topk-{name}.parquet" for name in ("regret", "estimable")]
    status, output = cluster.run(project, *wanted)
    assert status == 0, output[-6000:]
    assert announced(output) == {"topk_regret_slice": 1, "topk_regret": 1, "topk_structure": 1}
    (sent,) = re.findall(r"^  submissions (\d+)$", output, flags=re.MULTILINE)
    assert (int(sent), len(slurm_stand_in.requests(cluster.jobs))) == (1, 1)


def test_without_sbatch_the_run_is_refused_at_once(finished_copy: Project) -> None:
    shutil.rmtree(finished_copy.folder / "results/small/tables")
    nowhere = Cluster(finished_copy.folder, {"PATH": str(Path(shutil.which("sh") or "/bin/sh").parent)})
    if shutil.which("sbatch", path=nowhere.environment["PATH"]):
        pytest.skip("this machine has SLURM")
    status, output = nowhere.run(finished_copy)
    assert status
    assert "expected SLURM's command sbatch" in output
    assert "Traceback" not in output
    assert not (finished_copy.folder / "results/small/tables").exists()
