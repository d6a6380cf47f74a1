"""Runs that are killed at any moment, with all their jobs: the next one goes on, and ends with the same bytes."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import time
from collections.abc import Callable

import pytest

from .conftest import Project

pytestmark = pytest.mark.workflow


def killed(project: Project, sign: signal.Signals, cores: int, alone: bool) -> str:
    """Start a run, and kill it soon after its first job has ended, with the jobs at work or ``alone``; its output."""
    output = project.folder / "output.txt"
    with output.open("w") as file:
        command = project.command(cores=cores)
        process = subprocess.Popen(
            command, cwd=project.folder, stdout=file, stderr=subprocess.STDOUT, start_new_session=True
        )
    while not re.search(r"^\[1/\d+\]", output.read_text(), re.MULTILINE):
        assert process.poll() is None, output.read_text()
        time.sleep(0.02)
    time.sleep(0.2)
    (os.kill if alone else os.killpg)(process.pid, sign)
    assert process.wait(300) != 0
    return output.read_text()


def check_what_was_printed(output: str) -> None:
    """A run that is killed may say so; of what an earlier one left it asks nothing."""
    for word in ("Traceback", "LockException", "--unlock", "IncompleteFilesException", "damaged", "MissingOutput"):
        assert word not in output


def test_killed_runs_end_with_the_same_bytes_on_any_number_of_cores(
    finished: Project, with_data: Callable[..., Project]
) -> None:
    project = with_data()
    # The jobs of the second run go on beside the third.
    for sign, cores, alone in ((signal.SIGTERM, 2, False), (signal.SIGKILL, 4, True), (signal.SIGKILL, 1, False)):
        check_what_was_printed(killed(project, sign, cores, alone))
    check_what_was_printed(project.snakemake())
    assert project.tables() == finished.tables()
    assert project.planned() == {}
