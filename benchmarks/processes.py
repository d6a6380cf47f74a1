"""What does a process take that runs a command of the project?"""

import os
import resource
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]


class Taken(NamedTuple):
    """Processor seconds in user mode and in the system, wall seconds, the largest memory in MB, and the exit status."""

    user: float
    system: float
    wall: float
    peak_mb: float
    status: int


def run(command: Sequence[str], folder: Path | None = None, *, limit: int | None = None, quiet: bool = False) -> Taken:
    """Run a command, in which ``python`` and ``pipeline_lib`` are those of this process and this project.

    It is stopped after ``limit`` processor seconds; nothing that it prints is seen if it is ``quiet``. The largest
    memory is at least what this process holds when it starts the other, because Linux hands that number on.
    """
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)])
    output = subprocess.DEVNULL if quiet else None
    started = time.perf_counter()
    process = subprocess.Popen(
        command,
        cwd=folder,
        env={**os.environ, "PATH": path, "PYTHONPATH": str(ROOT)},
        stdout=output,
        stderr=output,
        preexec_fn=None if limit is None else lambda: resource.setrlimit(resource.RLIMIT_CPU, (limit, limit)),
    )
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - started
    process.returncode = os.waitstatus_to_exitcode(status)
    return Taken(usage.ru_utime, usage.ru_stime, wall, usage.ru_maxrss / 1000 * 1.024, process.returncode)
