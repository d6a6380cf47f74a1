"""The scripts of profiles/generic speak the languages of schedulers; tests/cluster runs a study with them for real."""

import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

PROFILES = Path(__file__).parents[2] / "profiles"
# A scheduler -> its commands to submit and to cancel, what it prints for a job, and how the job is known then.
SCHEDULERS = {
    "pbs": ("qsub", "qdel", "123.server", "123.server"),
    "sge": ("qsub", "qdel", "123", "123"),
    "lsf": ("bsub", "bkill", "Job <123> is submitted to default queue <normal>.", "123"),
    "slurm": ("sbatch", "scancel", "123;cluster", "123"),
}
# How schedulers write a job of 3 cores, 4500 MB and 100 minutes.
REQUESTS = {
    "pbs": ["nodes=1:ppn=3,mem=4500mb,walltime=1:40:00"],
    "sge": ["-pe smp 3", "h_vmem=1500M,h_rt=1:40:00"],
    "lsf": ["-n 3", "span[hosts=1]", "rusage[mem=4500]", "-M 4500", "-W 100"],
    "slurm": ["--cpus-per-task=3", "--mem=4500", "--time=100"],
}
# The commands that answer, all others fail; and what Snakemake is told. Where a job is unknown, but the scheduler
# answers at all, it is gone.
ANSWERS = [
    ("pbs", {"qstat -f 1": "Job Id: 1\n    job_state = Q\n"}, "running"),
    ("pbs", {"qstat -x -f 1": "Job Id: 1\n    job_state = F\n    Exit_status = 0\n"}, "success"),
    ("pbs", {"qstat -f 1": "Job Id: 1\n    job_state = C\n    exit_status = 0\n"}, "success"),
    ("pbs", {"qstat -x -f 1": "Job Id: 1\n    job_state = F\n    Exit_status = 271\n"}, "failed"),
    ("pbs", {"qstat": ""}, "failed"),
    ("pbs", {}, "running"),
    ("sge", {"qstat -j 1": "job_number: 1\n"}, "running"),
    ("sge", {"qacct -j 1": "exit_status  0\n"}, "success"),
    ("sge", {"qacct -j 1": "failed 100\nexit_status  137                  (Killed)\n"}, "failed"),
    ("lsf", {"bjobs -noheader -o stat 1": "PEND\n"}, "running"),
    ("lsf", {"bjobs -noheader -o stat 1": "DONE\n"}, "success"),
    ("lsf", {"bjobs -noheader -o stat 1": "EXIT\n"}, "failed"),
    ("slurm", {"squeue --noheader --states=all --format=%T --jobs=1": "PENDING\n"}, "running"),
    ("slurm", {"squeue --noheader --states=all --format=%T --jobs=1": "COMPLETED\n"}, "success"),
    ("slurm", {"squeue --noheader --states=all --format=%T --jobs=1": "OUT_OF_MEMORY\n"}, "failed"),
    ("slurm", {"squeue": ""}, "failed"),
    ("slurm", {}, "running"),
]


@pytest.fixture
def commands(tmp_path: Path) -> Callable[[str, str], None]:
    """Make a command whose body is shell code."""
    (tmp_path / "bin").mkdir()

    def make(name: str, body: str) -> None:
        path = tmp_path / "bin" / name
        path.write_text(f"#!/bin/sh\n{body}\n")
        path.chmod(0o755)

    return make


def run(script: str, *arguments: str, folder: Path, scheduler: str | None) -> subprocess.CompletedProcess[str]:
    environment = {"PATH": f"{folder / 'bin'}{os.pathsep}/usr/bin{os.pathsep}/bin"}
    if scheduler is not None:
        environment["SCHEDULER"] = scheduler
    return subprocess.run(
        [str(PROFILES / "generic" / script), *arguments], cwd=folder, env=environment, capture_output=True, text=True
    )


@pytest.mark.parametrize("scheduler", SCHEDULERS)
def test_a_job_is_submitted_with_its_resources_and_its_number_printed(
    scheduler: str, tmp_path: Path, commands: Callable[[str, str], None]
) -> None:
    submit, cancel, printed, number = SCHEDULERS[scheduler]
    commands(submit, f'echo "$@" > {tmp_path}/given; echo "{printed}"')
    commands(cancel, f'echo "$@" > {tmp_path}/cancelled')
    done = run("submit", "3", "4500", "100", "/some/job.sh", folder=tmp_path, scheduler=scheduler)
    assert (done.returncode, done.stdout) == (0, f"{number}\n")
    given = (tmp_path / "given").read_text().strip()
    assert all(request in given for request in REQUESTS[scheduler]), given
    assert given.endswith(" /some/job.sh")
    assert run("cancel", number, "9", folder=tmp_path, scheduler=scheduler).returncode == 0
    assert (tmp_path / "cancelled").read_text() == f"{number} 9\n"


@pytest.mark.parametrize("scheduler", SCHEDULERS)
@pytest.mark.parametrize(("body", "said"), [("echo 'queue is full' >&2; exit 3", "queue is full"), ("", "found: ")])
def test_a_submission_that_is_refused_fails_with_what_the_scheduler_said(
    scheduler: str, body: str, said: str, tmp_path: Path, commands: Callable[[str, str], None]
) -> None:
    commands(SCHEDULERS[scheduler][0], body)
    done = run("submit", "3", "4500", "100", "/some/job.sh", folder=tmp_path, scheduler=scheduler)
    assert done.returncode
    assert done.stdout == ""
    assert said in done.stderr


@pytest.mark.parametrize("scheduler", SCHEDULERS)
@pytest.mark.parametrize("number", ["None", ""])
def test_a_job_that_was_never_submitted_is_not_running(scheduler: str, number: str, tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    done = run("status", number, folder=tmp_path, scheduler=scheduler)
    assert (done.returncode, done.stdout) == (0, "failed\n")


@pytest.mark.parametrize(("scheduler", "answers", "state"), ANSWERS)
def test_a_scheduler_s_answer_is_translated(
    scheduler: str, answers: dict[str, str], state: str, tmp_path: Path, commands: Callable[[str, str], None]
) -> None:
    for command in ("qstat", "qacct", "bjobs", "squeue"):
        cases = [
            f"'{call}') cat <<'END'\n{text}END\nexit 0 ;;"
            for call, text in answers.items()
            if call.split()[0] == command
        ]
        commands(
            command, "\n".join(['case "$(basename "$0") $*" in', *cases, "esac", "exit 1"]).replace(" $*", "${*:+ $*}")
        )
    done = run("status", "1", folder=tmp_path, scheduler=scheduler)
    assert (done.returncode, done.stdout) == (0, f"{state}\n")


@pytest.mark.parametrize("script", ["submit", "status", "cancel"])
def test_a_scheduler_must_be_named(script: str, tmp_path: Path) -> None:
    done = run(script, "1", "2", "3", "4", folder=tmp_path, scheduler=None)
    assert done.returncode
    assert "SCHEDULER" in done.stderr


def test_the_profiles_for_clusters_agree() -> None:
    slurm, generic = (yaml.safe_load((PROFILES / name / "config.yaml").read_text()) for name in ("slurm", "generic"))
    own = re.compile(r"executor|slurm-.*|cluster-generic-.*|max-status-checks-per-second")
    assert all(own.fullmatch(key) for key in slurm.keys() ^ generic.keys())
    shared = slurm.keys() & generic.keys() - {"executor"}
    assert {key: slurm[key] for key in shared} == {key: generic[key] for key in shared}
