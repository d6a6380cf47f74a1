"""One process at a time holds the lock, and whoever only looks needs none."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from pipeline_lib.core.errors import PipelineError
from pipeline_lib.study import run_lock

HOLDER = (
    "import gc, sys\nfrom pathlib import Path\nfrom pipeline_lib.study import run_lock\n"
    "def start(): run_lock.hold(Path(sys.argv[1]), 'other')\n"
    "start(); gc.collect(); print('held', flush=True); sys.stdin.read()"
)


def holder(path: Path) -> subprocess.Popen[str]:
    """A process that took the lock inside a function that has returned."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    return process


def test_another_process_is_refused_by_name_until_the_holder_is_killed(tmp_path: Path) -> None:
    path = tmp_path / "results" / "run.lock"
    process = holder(path)
    with pytest.raises(PipelineError, match=rf"process {process.pid} on \S+ since \d{{4}}-.*other"):
        run_lock.hold(path, "small")
    process.send_signal(signal.SIGKILL)
    process.wait()
    run_lock.hold(path, "small")
    assert path.read_text().startswith(f"process {os.getpid()} on ")
    run_lock.hold(path, "small")


def test_a_lock_whose_file_was_removed_protects_no_more(tmp_path: Path) -> None:
    path = tmp_path / "run.lock"
    process = holder(path)
    path.unlink()
    run_lock.hold(path, "small")
    process.communicate("")
    assert path.read_text().startswith(f"process {os.getpid()} on ")


def test_a_file_that_cannot_be_written_is_one_clear_error(tmp_path: Path) -> None:
    # Nobody, not even root, makes files in /proc.
    (tmp_path / "results").symlink_to("/proc")
    with pytest.raises(PipelineError, match=r"results/run\.lock"):
        run_lock.hold(tmp_path / "results" / "run.lock", "small")


LOOKING = ("-n", "-np", "--lint", "--list", "--rulegraph", "--dag", "--summary", "--report report.html")
CHANGING = ("", "--cores 2 clean_results", "--touch", "--unlock", "--delete-all-output", "--cleanup-metadata file")


@pytest.mark.parametrize("options", LOOKING)
def test_looking_needs_no_lock(options: str) -> None:
    assert run_lock.only_reads(options.split())


@pytest.mark.parametrize("options", [*CHANGING, "--report report.html --report-after-run", "--not-an-option"])
def test_all_else_does(options: str) -> None:
    assert not run_lock.only_reads(options.split())
