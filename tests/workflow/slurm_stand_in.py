"""Stand-ins for the commands of SLURM: jobs run in the background on this machine, within the memory they asked for.

`install` puts this file into a folder of executables under the names of the commands. A job is a folder named by its
number: `request.json` is what was asked for, `state` the job's state, `peak` the most memory that its processes held
at once, in MB. Two files in the folder of all jobs steer it: `cancel` holds what the comment of a job that is cancelled
when it starts must contain (once), and `limit` switches on that a job beyond its memory is killed.
"""

from __future__ import annotations

import contextlib
import fcntl
import getopt
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil

COMMANDS = ("sbatch", "srun", "squeue", "scancel", "scontrol", "sinfo", "sacct")
SLOTS = 2  # jobs that run at once
ENDED = ("COMPLETED", "FAILED", "CANCELLED", "OUT_OF_MEMORY")


def install(executables: Path, jobs: Path) -> dict[str, str]:
    """Put the commands into a folder of executables; return the environment in which they are the cluster."""
    executables.mkdir()
    jobs.mkdir()
    for command in COMMANDS:
        script = executables / command
        script.write_text(f'#!/bin/sh\nexec {sys.executable} {__file__} {command} {jobs} "$@"\n')
        script.chmod(0o755)
    return {"PATH": f"{executables}{os.pathsep}{os.environ['PATH']}"}


def requests(jobs: Path) -> list[dict[str, Any]]:
    """What was submitted, in order: comment, megabytes, minutes, state and peak memory."""
    numbered = sorted((path for path in jobs.iterdir() if path.name.isdecimal()), key=lambda path: int(path.name))
    return [
        {
            **json.loads((path / "request.json").read_text()),
            "state": (path / "state").read_text(),
            "peak": float((path / "peak").read_text()) if (path / "peak").exists() else 0.0,
        }
        for path in numbered
    ]


@contextlib.contextmanager
def _locked(jobs: Path) -> Iterator[None]:
    with (jobs / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _set_state(job: Path, state: str) -> None:
    draft = job / "state.new"
    draft.write_text(state)
    draft.replace(job / "state")


def sbatch(jobs: Path, arguments: list[str]) -> int:
    """Record the request, start the job in the background, print its number."""
    found, _ = getopt.gnu_getopt(
        arguments,
        "A:p:t:D:C:",
        [
            "parsable",
            "no-requeue",
            "job-name=",
            "output=",
            "export=",
            "comment=",
            "mem=",
            "ntasks=",
            "cpus-per-task=",
            "wrap=",
        ],
    )
    options = dict(found)
    with _locked(jobs):
        number = 1 + sum(path.name.isdecimal() for path in jobs.iterdir())
        job = jobs / str(number)
        job.mkdir()
    request = {
        "name": options["--job-name"],
        "comment": options["--comment"],
        "megabytes": int(options["--mem"]),
        "minutes": int(options["-t"]),
        "cpus": int(options["--cpus-per-task"]),
        "script": options["--wrap"],
        "log": options["--output"].replace("%j", str(number)),
    }
    _set_state(job, "PENDING")
    (job / "request.json").write_text(json.dumps(request))
    subprocess.Popen(
        [sys.executable, __file__, "run", str(jobs), str(number)],
        cwd=options["-D"],
        start_new_session=True,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    print(number)
    return 0


def run(jobs: Path, arguments: list[str]) -> int:
    """Be the node: wait for a slot, run the job, watch its memory, write down how it ended."""
    job = jobs / arguments[0]
    with (jobs / f"slot-{int(job.name) % SLOTS}").open("w") as slot:
        fcntl.flock(slot, fcntl.LOCK_EX)
        ended = "FAILED"  # also where this process fails: nobody waits for a job that never ends
        try:
            ended = _outcome(jobs, job)
        finally:
            _set_state(job, ended)
    return 0


def _outcome(jobs: Path, job: Path) -> str:
    request = json.loads((job / "request.json").read_text())
    if _cancelled_at_its_start(jobs, request["comment"]):
        return "CANCELLED"
    _set_state(job, "RUNNING")
    with open(request["log"], "w") as log:
        process = psutil.Popen(
            ["sh", "-c", request["script"]],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
            env={**os.environ, "SLURM_JOB_ID": job.name},
        )
        peak = 0.0
        while process.poll() is None:
            peak = max(peak, _megabytes(process))
            (job / "peak").write_text(str(peak))
            if (jobs / "limit").exists() and peak > request["megabytes"]:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
                return "OUT_OF_MEMORY"
            with contextlib.suppress(psutil.TimeoutExpired):
                process.wait(0.05)
    return "FAILED" if process.returncode else "COMPLETED"


def _cancelled_at_its_start(jobs: Path, comment: str) -> bool:
    with _locked(jobs):
        wanted = jobs / "cancel"
        if not wanted.exists() or wanted.read_text() not in comment:
            return False
        wanted.unlink()
        return True


def _megabytes(process: psutil.Popen) -> float:
    """What the process and its descendants hold, as SLURM adds it up: pages that they share count for each."""
    total = 0
    with contextlib.suppress(psutil.NoSuchProcess):
        for member in (process, *process.children(recursive=True)):
            with contextlib.suppress(psutil.NoSuchProcess):
                total += member.memory_info().rss
    return total / 2**20


def srun(jobs: Path, arguments: list[str]) -> int:
    """Be the command that follows the options."""
    first = next(i for i, argument in enumerate(arguments) if not argument.startswith("-"))
    os.execvp(arguments[first], arguments[first:])


def squeue(jobs: Path, arguments: list[str]) -> int:
    """Print number|state of every job of a name, as soon as one ended that was not shown as ended before."""
    options = dict(getopt.gnu_getopt(arguments, "", ["format=", "states=", "noheader", "name="])[0])
    shown = jobs / "shown"
    while True:
        with _locked(jobs):
            before = shown.read_text().split() if shown.exists() else []
            states = {
                path.name: (path / "state").read_text()
                for path in jobs.iterdir()
                if path.name.isdecimal()
                and (path / "request.json").exists()
                and json.loads((path / "request.json").read_text())["name"] == options["--name"]
            }
            ended = [number for number, state in states.items() if state in ENDED]
            if len(ended) > len(set(before) & set(ended)) or len(ended) == len(states):
                shown.write_text(" ".join({*before, *ended}))
                break
        time.sleep(0.05)
    print("\n".join(f"{number}|{state}" for number, state in states.items()))
    return 0


def scancel(jobs: Path, arguments: list[str]) -> int:
    """Nothing here needs to cancel: tests cancel jobs at their start."""
    return 0


def scontrol(jobs: Path, arguments: list[str]) -> int:
    """Print the two settings that the executor asks for."""
    print("MaxArraySize            = 1001\nMinJobAge               = 300 sec")
    return 0


def sinfo(jobs: Path, arguments: list[str]) -> int:
    """Print the partitions; the default one has an asterisk."""
    print("PARTITION\nnodes*")
    return 0


def sacct(jobs: Path, arguments: list[str]) -> int:
    """Answer as a cluster without an accounting database does."""
    print("Slurm accounting storage is disabled", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(globals()[sys.argv[1]](Path(sys.argv[2]), sys.argv[3:]))
