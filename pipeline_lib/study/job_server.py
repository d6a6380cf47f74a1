"""How does a run start its jobs without importing the libraries anew for each?

The process of a run starts a server, ``python -m pipeline_lib.study.job_server FOLDER``, which imports what most jobs
need and sets up numba. A job that hands over its work (:mod:`pipeline_lib.core.handing_over`) has it done by a fork of
the server. A fork is a process of its own, as the job would be: it disturbs no other, and its memory is returned when
it ends. It imports the rest from the same copy of the project.

The server has one thread only, because a fork has no other, and a lock that another one holds would never be released.
Therefore it does not import polars, which starts threads. It listens only once it is ready, so that no job waits for
it, and ends with the run, after the jobs at work. Forks end with the server, and with the process that handed over
their work.
"""

import atexit
import contextlib
import ctypes
import gc
import importlib
import json
import os
import runpy
import selectors
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from pipeline_lib.core import handing_over, processor

__all__: list[str] = []  # internal: called by the workflow alone (see pipeline_lib.core.checks)

FEWEST_JOBS = 5
"""A run of fewer jobs starts no server, which takes as long to start as some of them."""
OUTPUT = Path(".snakemake/job-server.txt")
"""What the server prints, in the folder of the run: what is wrong with it, or for how many jobs it worked."""
LIBRARIES = (
    *("numpy", "numba", "scipy.optimize", "scipy.special", "scipy.signal", "scipy.stats"),
    *("pyarrow.parquet", "pyarrow.compute", "yaml", "tomllib", "pydantic.main"),
)
"""What many jobs import and starts no thread."""
PARTS = ("cli", "metrics", "sources.folds", "learners.erm", "theory.ranker_facts", "experiment")
"""Modules of the package that import what many jobs need of it."""
ONE_THREAD = {"JE_ARROW_MALLOC_CONF": "background_thread:false"}
"""Memory of pyarrow is tidied by the thread that uses it."""
PATIENCE = 10.0
"""Seconds to wait for what a process hands over; it sends everything at once, unless it is stopped meanwhile."""
PASSED_ON = {signal.SIGKILL, signal.SIGSTOP, *(getattr(signal, name) for name in handing_over.PASSED_ON)}
"""Signals that a fork is sent."""
LONGEST_NAME = 80
"""The name of a socket has at most 107 bytes, that of the folder of temporary files at most so many."""
_PR_SET_PDEATHSIG, _PR_SET_NAME = 1, 15
_server: subprocess.Popen[bytes] | None = None


def start(jobs: int) -> None:
    """Let the jobs of this process, of which there are so many, be forks of a server from the moment that it is ready.

    Nothing is done where they are few, where the variable is set already, or where the system is not Linux, has no
    short name for a socket, or refuses a folder or a process.
    """
    global _server
    stop()
    if jobs < FEWEST_JOBS or handing_over.VARIABLE in os.environ or not hasattr(os, "pidfd_open"):
        return
    with contextlib.suppress(OSError):  # every job then starts by itself
        long = len(os.fsencode(tempfile.gettempdir())) > LONGEST_NAME
        folder = Path(tempfile.mkdtemp(prefix="jobs-", dir="/tmp" if long else None))
        os.environ[handing_over.VARIABLE] = str(folder / "socket")
        try:
            OUTPUT.parent.mkdir(exist_ok=True)
            command = [sys.executable, "-m", "pipeline_lib.study.job_server", str(folder)]
            with OUTPUT.open("wb") as output:
                _server = subprocess.Popen(
                    command, stdin=subprocess.PIPE, stdout=output, stderr=subprocess.STDOUT, start_new_session=True
                )
        except OSError:
            del os.environ[handing_over.VARIABLE]
            shutil.rmtree(folder, ignore_errors=True)
            raise
        atexit.register(stop)  # a run that fails ends without a call of it


def stop() -> None:
    """Let jobs start by themselves again, and the server end; it also ends with this process, however that ends."""
    global _server
    if _server is not None:
        folder = Path(os.environ.pop(handing_over.VARIABLE)).parent
        assert _server.stdin
        _server.stdin.close()
        _server.wait()
        shutil.rmtree(folder, ignore_errors=True)  # which it does itself, unless it was killed
    _server = None


def forks_for(processes: set[int]) -> list[int]:
    """The forks of this run's server that do the work of some processes."""
    if _server is None:
        return []
    found = []
    with contextlib.suppress(OSError):
        children = Path(f"/proc/{_server.pid}/task/{_server.pid}/children").read_text(encoding="ascii")
        for fork in map(int, children.split()):
            with contextlib.suppress(OSError):
                name = Path(f"/proc/{fork}/comm").read_text(encoding="ascii").strip()
                if name in map(_name_for, processes):
                    found.append(fork)
    return found


def _name_for(process: int) -> str:
    """The name of the fork that works for a process; the system keeps 15 letters."""
    return f"job of {process}"


class _Job(NamedTuple):
    """A fork at work: its number, its connection, and a file that can be read once it has ended."""

    process: int
    connection: socket.socket
    ended: int


class Request(NamedTuple):
    """What a process hands over: the folder, the command that it was started with, its arguments, and its surroundings.

    ``caller`` is the number of the process, ``files`` its standard input, output and error.
    """

    folder: str
    command: list[str]
    arguments: list[str]
    surroundings: Mapping[str, Any]
    caller: int
    files: list[int]


def serve(address: Path, own: Mapping[str, Any]) -> Request | None:
    """Fork for everyone with its ``own`` surroundings who connects, until standard input is closed and all forks ended.

    Returns what is handed over in each fork, and None in the server.
    """
    # What the system keeps of a selector of another kind, the forks would share.
    with selectors.PollSelector() as waiting, socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(address))
        listener.listen(128)
        waiting.register(listener, selectors.EVENT_READ)
        waiting.register(sys.stdin.fileno(), selectors.EVENT_READ)
        jobs: dict[int, _Job] = {}
        listening, forks, others = True, 0, 0
        different: set[str] = set()
        while listening or jobs:
            for key, _ in waiting.select():
                if key.fileobj is listener:
                    if (connection := _accepted(listener)) is None:
                        continue
                    request = _received(connection)
                    if request is None or request.surroundings != own:
                        _refuse(connection, request)
                        different |= _differences(own, request.surroundings) if request else set()
                        others += 1
                    elif (job := _forked(connection)) is None:
                        _refuse(connection, request)
                        different.add("the system allows no more processes, memory or open files")
                        others += 1
                    elif job.process:
                        _begin(jobs, job, request, waiting)
                        forks += 1
                    else:
                        for one in jobs.values():
                            one.connection.close()
                            os.close(one.ended)
                        connection.close()
                        return request
                elif key.fd == sys.stdin.fileno():
                    listening = False
                    address.unlink(missing_ok=True)
                    waiting.unregister(listener)
                    waiting.unregister(sys.stdin.fileno())
                elif key.data in jobs:
                    _attend(jobs, jobs[key.data], waiting, ended=key.fd == jobs[key.data].ended)
    print(f"{forks} jobs were forks of this process; {others} started by themselves", *sorted(different), sep="\n  ")
    return None


def _accepted(listener: socket.socket) -> socket.socket | None:
    """The connection of somebody who waits, or nothing while the system allows no more open files."""
    try:
        return listener.accept()[0]
    except OSError:
        time.sleep(0.1)
        return None


def _forked(connection: socket.socket) -> _Job | None:
    """A new fork, with the number 0 in it, and nothing where the system refuses one or what tells of its end."""
    try:
        process = os.fork()
    except OSError:
        return None
    if not process:
        return _Job(0, connection, -1)
    try:
        return _Job(process, connection, os.pidfd_open(process))
    except OSError:
        os.kill(process, signal.SIGKILL)  # its command does the work once it has been refused
        os.waitpid(process, 0)
        return None


def _differences(own: Mapping[str, Any], other: Mapping[str, Any]) -> set[str]:
    """The names of what differs in surroundings; values may be secret."""
    found = set()
    for kind in own.keys() | other.keys():
        one, another = own.get(kind), other.get(kind)
        if isinstance(one, Mapping) and isinstance(another, Mapping):
            names = one.keys() | another.keys()
            found |= {f"other {kind}: {name}" for name in names if one.get(name) != another.get(name)}
        elif one != another:
            found.add(f"other {kind}")
    return found


def _received(connection: socket.socket) -> Request | None:
    """What is handed over, or nothing where the other side has ended meanwhile."""
    files: list[int] = []
    connection.settimeout(PATIENCE)
    try:
        size, files, *_ = socket.recv_fds(connection, 8, 3)
        content = b""
        while len(content) < int.from_bytes(size, "big") and (more := connection.recv(1 << 20)):
            content += more
        if len(files) != 3:
            raise OSError("the system allows no more open files")
        caller = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
        folder, command, arguments, surroundings = json.loads(content)
        return Request(folder, command, arguments, surroundings, int.from_bytes(caller[:4], sys.byteorder), files)
    except (OSError, ValueError, MemoryError):
        _close(files)
        return None
    finally:
        connection.settimeout(None)


def _refuse(connection: socket.socket, request: Request | None) -> None:
    _close(request.files if request else ())
    connection.close()


def _close(files: Sequence[int]) -> None:
    """Close files that were handed over; a disk may say only then, of a log, that it could not write to it."""
    for file in files:
        with contextlib.suppress(OSError):  # it is closed all the same
            os.close(file)


def _begin(jobs: dict[int, _Job], job: _Job, request: Request, waiting: selectors.BaseSelector) -> None:
    """Tell that a fork is at work, and wait for its end and for signals to pass on."""
    _close(request.files)
    jobs[job.process] = job
    with contextlib.suppress(OSError):
        job.connection.sendall(b"y")
    waiting.register(job.connection, selectors.EVENT_READ, job.process)
    waiting.register(job.ended, selectors.EVENT_READ, job.process)


def _attend(jobs: dict[int, _Job], job: _Job, waiting: selectors.BaseSelector, *, ended: bool) -> None:
    """Tell how a fork has ended, or pass on to it the signals that its caller was sent."""
    if not ended:
        signals = b""
        with contextlib.suppress(OSError):
            signals = job.connection.recv(64)
        for number in signals or [signal.SIGKILL]:  # none: the caller was killed
            if number in PASSED_ON:
                signal.pidfd_send_signal(job.ended, number)
        if not signals:
            waiting.unregister(job.connection)
        return
    _, status = os.waitpid(job.process, 0)
    with contextlib.suppress(OSError):
        job.connection.sendall(os.waitstatus_to_exitcode(status).to_bytes(4, "big", signed=True))
    with contextlib.suppress(KeyError):
        waiting.unregister(job.connection)
    waiting.unregister(job.ended)
    job.connection.close()
    os.close(job.ended)
    del jobs[job.process]


def _surroundings_of_jobs() -> Mapping[str, Any]:
    """Import what jobs need, and give the surroundings that a job must have as well.

    Raises
    ------
    SystemExit
        When the libraries have started threads.
    """
    found = handing_over.surroundings()
    os.environ.update(ONE_THREAD)
    for name in (*LIBRARIES, *(f"pipeline_lib.{part}" for part in PARTS)):
        importlib.import_module(name)
    import numba
    import numpy as np

    # For its first function, numba reads what it knows of types and of numpy.
    numba.njit(lambda x: np.sqrt(x).sum())(np.ones(1))
    if len(os.listdir("/proc/self/task")) > 1:
        raise SystemExit("the libraries have started threads: every job starts by itself")
    gc.collect()
    gc.freeze()
    return found


def _become(request: Request, server: int) -> None:
    """Be the process that has handed over its work."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != server:  # it ended before this process could ask to end with it
        os.kill(os.getpid(), signal.SIGKILL)
    libc.prctl(_PR_SET_NAME, _name_for(request.caller).encode())
    for number, file in enumerate(request.files):
        os.dup2(file, number)
    _close(request.files)
    os.chdir(request.folder)
    os.environ.clear()
    os.environ.update(request.surroundings["environment"])
    del os.environ[handing_over.VARIABLE]  # this process does the work
    tempfile.tempdir = None  # it may be another one
    sys.orig_argv[:] = request.command
    sys.argv[1:] = request.arguments


def main() -> None:
    """Be the server, and in its forks the jobs."""
    folder, server = Path(sys.argv[1]), os.getpid()
    processor.pin()
    try:
        request = serve(folder / "socket", _surroundings_of_jobs())
    finally:
        if os.getpid() == server:
            shutil.rmtree(folder, ignore_errors=True)
    if request is not None:
        _become(request, server)
        runpy.run_module("pipeline_lib", run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
