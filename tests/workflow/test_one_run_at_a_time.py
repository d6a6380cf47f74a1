"""Two real runs in one folder: the second is refused, whatever it would change, and a killed run blocks nothing."""

import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import pytest

from .conftest import ROOT, Project

pytestmark = pytest.mark.workflow

TARGET = "data/raw/letor-sim/manifest.json"
# In the place of what draws letor-sim: the job says that it works, and ends when the test lets go of the gate. The gate
# is there once, so that a job of a second run fails at once.
WAIT = """

import functools
import pathlib

@functools.wraps(run)
def run(*, manifest, **_):
    with pathlib.Path("gate").open() as gate:
        pathlib.Path("gate").unlink()
        manifest.write_text(gate.read())
"""


@pytest.fixture
def gated(new_project: Callable[..., Project]) -> Project:
    """A project whose first job waits at a gate."""
    project = new_project()
    with (project.folder / "pipeline_lib/commands/simulate_data.py").open("a") as command:
        command.write(WAIT)
    os.mkfifo(project.folder / "gate")
    return project


@contextmanager
def at_work(project: Project, *arguments: str, **environment: str) -> Iterator[subprocess.Popen[bytes]]:
    """A run with a job at work, which ends after the block: the gate opens for writing once the job reads from it."""
    gate, output = project.folder / "gate", project.folder / "output.txt"
    with output.open("wb") as file:
        process = subprocess.Popen(
            project.command(*arguments), cwd=project.folder, env={**os.environ, **environment}, stdout=file, stderr=file
        )

    def stop_waiting() -> None:
        process.wait()
        with suppress(FileNotFoundError):
            os.close(os.open(gate, os.O_RDONLY | os.O_NONBLOCK))

    # A run that ends before its job began opens the gate itself, so that no test waits for ever.
    watch = threading.Thread(target=stop_waiting)
    watch.start()
    with gate.open("w") as opened:
        assert process.poll() is None, output.read_text()
        yield process
        opened.write("{}\n")
    watch.join()


def test_nothing_that_changes_results_starts_during_a_run_and_looking_does(gated: Project) -> None:
    shutil.copy(ROOT / "Makefile", gated.folder)
    kept = gated.folder / "results/small/kept.json"
    kept.parent.mkdir(parents=True)
    kept.write_text("{}")
    clean = ("make", "clean", f"PYTHON={sys.executable}")

    def call(*command: str) -> tuple[int, str]:
        done = subprocess.run(command, cwd=gated.folder, capture_output=True, text=True, check=False)
        return done.returncode, done.stderr

    with at_work(gated, TARGET) as process:
        refused = f"another run is working in this folder: process {process.pid} on "
        for arguments in ([TARGET], ["clean_results"], ["--delete-all-output"]):
            assert refused in gated.snakemake(*arguments, check=False), arguments
        for command in (clean, (sys.executable, "-m", "pipeline_lib", "verify")):
            status, printed = call(*command)
            assert (status != 0, refused in printed) == (True, True), command
        assert "simulate_data" in gated.snakemake("-n", TARGET)
        # This is how a job of the run itself starts on another machine.
        gated.snakemake("--mode", "remote", "results/small/models.json")
        assert (gated.folder / "results/small/models.json").exists()
        assert kept.exists()
    assert process.wait() == 0, (gated.folder / "output.txt").read_text()
    assert (gated.folder / TARGET).exists()
    assert call(*clean)[0] == 0
    assert not (gated.folder / "results").exists()


def test_no_run_starts_while_results_are_removed(gated: Project) -> None:
    remove = gated.folder / "bin/rm"
    remove.parent.mkdir()
    remove.write_text("#!/bin/sh\nexec 3< gate && /bin/rm gate && cat <&3\n")
    remove.chmod(0o755)
    with at_work(gated, "clean_results", PATH=f"{remove.parent}:{os.environ['PATH']}") as process:
        assert f"process {process.pid} on " in gated.snakemake(TARGET, check=False)
    assert process.wait() == 0, (gated.folder / "output.txt").read_text()
    assert not (gated.folder / TARGET).exists()


def test_a_killed_run_stands_in_nobody_s_way(gated: Project) -> None:
    with at_work(gated, TARGET) as process:
        process.kill()
        process.wait()
        # The job of the killed run still waits at the gate.
        gated.snakemake("clean_results")
