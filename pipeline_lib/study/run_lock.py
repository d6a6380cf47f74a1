"""Is another run already working in this folder?

A run shares the data sets with every other run in its folder, whatever their studies; therefore one run works there at
a time. The lock is the kernel's (``flock``): it is released when the process that holds it ends, for whatever reason,
so that a killed run can simply be started again. A lock file such as Snakemake's own would have to be removed first.
"""

import contextlib
import fcntl
import mmap
import os
import shlex
import socket
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import IO

from pipeline_lib.core.errors import PipelineError
from pipeline_lib.study.snakemake_internals import parsed_arguments

# Snakemake's names of options that only read a workflow; with any other, the run counts as one that may change files.
READING = ("dag", "detailed_summary", "dryrun", "filegraph", "lint", "list_rules", "report", "rulegraph", "summary")

# A lock is held as long as its file is open: the files stay here until the process ends.
_HELD: dict[Path, IO[str]] = {}


def only_reads(arguments: Sequence[str]) -> bool:
    """Whether Snakemake, started with these arguments, reads the workflow and changes nothing.

    Arguments of another program, which runs the workflow through Snakemake's Python interface, may change anything.

    Example
    -------
    >>> only_reads(["--summary"]), only_reads(["--delete-all-output"]), only_reads(["--cores", "2", "all"])
    (True, False, False)
    """
    given = parsed_arguments(arguments)
    if given is None or getattr(given, "report_after_run", False):
        return False
    return any(getattr(given, option, None) not in (None, False) for option in READING)


def hold(path: Path, study: str) -> None:
    """Take the lock for the rest of the life of this process, and write down who holds it.

    Raises
    ------
    PipelineError
        When another living process holds the lock, which the message names, or the file cannot be written.

    Example
    -------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "run.lock"
    >>> hold(path, "default")
    >>> path.read_text().startswith(f"process {os.getpid()} on ")
    True
    """
    path = path.absolute()
    if path in _HELD:
        return
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle = _open_locked(path)
        handle.truncate(0)
        handle.write(_description(study) + "\n")
        handle.flush()
    except OSError as error:
        raise PipelineError(
            f"{os.path.relpath(path)}: expected a file that this run can write, found: {error.strerror}; a run needs "
            "a folder for its results that it may write to, on a disk with free space"
        ) from None
    _HELD[path] = handle


def check_records(folder: Path) -> None:
    """Raise PipelineError unless files can be written into the folder of Snakemake's records, which a run needs.

    Example
    -------
    >>> import tempfile
    >>> check_records(Path(tempfile.mkdtemp()) / ".snakemake")
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder) as probe:
            probe.write(bytes(mmap.PAGESIZE))
    except OSError as error:
        raise PipelineError(
            f"{os.path.relpath(folder)}: expected a folder that this run can write to, for Snakemake's records, found: "
            f"{error.strerror}; allow writing there, or free space on its disk"
        ) from None


def _open_locked(path: Path) -> IO[str]:
    """Open the file and lock it; the lock counts only if the file is still at its path."""
    while True:
        handle = path.open("a+", encoding="utf-8")
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            handle.seek(0)
            holder = handle.read().strip() or "one that has just begun"
            handle.close()
            raise PipelineError(f"another run is working in this folder: {holder}; wait for it or stop it") from None
        except OSError:
            # Some network file systems have no flock; there, users must make sure that one run works at a time.
            return handle
        with contextlib.suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(handle.fileno()), path.stat()):
                return handle
        handle.close()


def _description(study: str) -> str:
    """Who holds the lock, since when, and for what, in one line."""
    since = datetime.now().astimezone().isoformat(sep=" ", timespec="seconds")
    program = Path(sys.argv[0])
    name = program.parent.name if program.name == "__main__.py" else program.name
    command = shlex.join([name, *sys.argv[1:]])
    return f'process {os.getpid()} on {socket.gethostname()} since {since}, study "{study}", command: {command}'


if __name__ == "__main__":
    # As flock(1) does: `python -m pipeline_lib.study.run_lock COMMAND ...` runs a command while no run is at work.
    try:
        hold(Path("results/run.lock"), "all")
    except PipelineError as error:
        sys.exit(f"error: {error}")
    sys.exit(subprocess.call(sys.argv[1:]))
