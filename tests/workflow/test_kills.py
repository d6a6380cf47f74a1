"""Runs that are killed at any moment, with all their jobs: the next one goes on, and ends with the same bytes."""

import os
import random
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from .conftest import TINY, Project, copy_project

pytestmark = pytest.mark.workflow

MADE = ("results", "reports", "data/raw", "data/parquet")
SIGNALS = (signal.SIGKILL, signal.SIGTERM)


def kill(
    project: Project, sign: signal.Signals, jobs: int, seconds: float, cores: int = 2, alone: bool = False
) -> tuple[bool, str]:
    """Start a run and kill it when so many of its jobs have ended, and some time more; it may end before.

    The jobs at work are killed with it unless it shall die ``alone``. Gives whether it was killed, and its output.
    """
    output = project.folder / "output.txt"
    with output.open("w") as file:
        process = subprocess.Popen(
            project.command(cores=cores),
            cwd=project.folder,
            stdout=file,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    while process.poll() is None and len(re.findall(r"^\[\d+/\d+\]", output.read_text(), re.MULTILINE)) < jobs:
        time.sleep(0.02)
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        (os.kill if alone else os.killpg)(process.pid, sign)
        process.wait(300)
        return True, output.read_text()
    return False, output.read_text()


def check_what_was_printed(output: str) -> None:
    """A run that is killed may say so; of what an earlier one left it asks nothing."""
    assert "Traceback" not in output
    for word in ("LockException", "--unlock", "IncompleteFilesException", "damaged", "MissingOutputException"):
        assert word not in output


def kill_often(project: Project, kills: int, seed: int) -> None:
    """Kill so many runs at random moments; where one ends before, start afresh."""
    rng = random.Random(seed)
    done = 0
    while done < kills:
        killed, output = kill(project, rng.choice(SIGNALS), rng.choice((0, 0, 1, 2, 3, 5)), rng.expovariate(0.4))
        check_what_was_printed(output)
        done += killed
        if not killed:
            assert re.search(r"^\[(\d+)/\1\]", output, re.MULTILINE) or "Nothing to be done" in output, output[-2000:]
            for folder in MADE:
                shutil.rmtree(project.folder / folder, ignore_errors=True)


def check_the_end(project: Project, expected: dict[str, str]) -> None:
    """The next run ends, leaves nothing half written, and nothing to be done."""
    check_what_was_printed(project.snakemake())
    assert project.tables() == expected
    assert project.planned() == {}


def run_after(modules: Path, command: list[str], folder: Path) -> tuple[int, str]:
    """Run a command in whose processes Python first runs the ``sitecustomize.py`` of a folder."""
    environment = {**os.environ, "PYTHONPATH": str(modules)}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


INTERRUPT_AT = """
import os, signal, sys

def interrupt(event, arguments):
    if event == {event!r} and str(arguments[0]).endswith({name!r}):
        os.kill(os.getpid(), signal.SIGINT)

if "snakemake" in sys.orig_argv:
    sys.addaudithook(interrupt)
"""


@pytest.mark.parametrize(("event", "name"), [("import", "polars"), ("open", "catalog.yaml"), ("open", "digests.json")])
def test_a_run_that_is_interrupted_before_its_first_job_ends_in_one_line(tmp_path: Path, event: str, name: str) -> None:
    project = copy_project(tmp_path / "project", TINY)
    (tmp_path / "sitecustomize.py").write_text(INTERRUPT_AT.format(event=event, name=name))
    status, output = run_after(tmp_path, project.command("-n"), project.folder)
    assert status == 130
    assert output.splitlines()[-1] == "interrupted"
    assert "Traceback" not in output


@pytest.mark.parametrize("sign", [signal.SIGKILL, signal.SIGXCPU])
def test_the_signal_that_kills_a_job_is_named(tmp_path: Path, sign: signal.Signals) -> None:
    project = copy_project(tmp_path / "project", TINY)
    # Python runs this module first in every process.
    suicide = f"import os, sys\nif 'simulate-data' in sys.orig_argv:\n    os.kill(os.getpid(), {int(sign)})\n"
    (tmp_path / "sitecustomize.py").write_text(suicide)
    status, output = run_after(tmp_path, project.command("data/raw/letor-sim/manifest.json"), project.folder)
    assert status == 1
    assert f"  it was ended by the signal {sign.name}, " in output
    assert "is the disk full" not in output


@pytest.mark.slow
def test_fifty_kills_change_no_byte(tmp_path: Path) -> None:
    expected = copy_project(tmp_path / "expected", TINY)
    expected.snakemake()
    project = copy_project(tmp_path / "project", TINY)
    kill_often(project, 50, seed=1)
    check_the_end(project, expected.tables())


@pytest.mark.slow
def test_killed_runs_end_with_the_same_bytes_on_any_number_of_cores(
    finished: Project, with_data: Callable[..., Project]
) -> None:
    project = with_data()
    # The jobs of the second run go on beside the third.
    for sign, cores, alone in ((signal.SIGTERM, 2, False), (signal.SIGKILL, 4, True), (signal.SIGKILL, 1, False)):
        killed, output = kill(project, sign, 1, seconds=0.2, cores=cores, alone=alone)
        assert killed
        check_what_was_printed(output)
    check_the_end(project, finished.tables())
