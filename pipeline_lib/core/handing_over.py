"""How does a command have its work done by a process that has imported the libraries already?

Importing libraries, and setting up numba, takes a job of a small study ten times as long as its work. A run on this
machine therefore starts one process that does it once (:mod:`pipeline_lib.study.job_server`), and each job is a fork of
it. The command of a job is ``python -m pipeline_lib ...`` as ever: it hands over its arguments, its folder, its
environment and its open files, waits, passes on the signals that it receives, and ends as the fork has ended, be it by
a status or by a signal. If it is killed, so is the fork.

Where there is no such process, or this one has other surroundings, such as another interpreter, another value of a
variable or another limit of memory, the command does its work itself. What it computes is the same.
"""

import contextlib
import os
import signal
import sys
from typing import Any

__all__: list[str] = []  # internal: called by the command line and the workflow alone

VARIABLE = "LTR_JOB_SERVER"
"""The variable of the environment that names the socket of the process; without a value, every job starts by itself."""
OF_ONE_PROCESS = (
    *("_", "OLDPWD", "PWD", "SHLVL", "COLUMNS", "LINES"),
    *("TMPDIR", "TMP", "TEMP", "TEMPDIR"),
    *("GOTO_NUM_THREADS", "NUMEXPR_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"),
)
"""Variables that shells, what reads from terminals, and Snakemake set for single processes. No library reads them when
it is imported, but OpenBLAS the first of the last line, and only where ``OPENBLAS_NUM_THREADS`` is not set."""
PASSED_ON = ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGTSTP", "SIGCONT", "SIGUSR1", "SIGUSR2", "SIGXCPU")
"""Signals that reach a command and are meant for its work."""


def surroundings() -> dict[str, Any]:
    """What a process is given besides its arguments and files, and what a fork of another one must have as well.

    Example
    -------
    >>> import json
    >>> surroundings() == json.loads(json.dumps(surroundings()))
    True
    """
    import resource

    limits = [name for name in dir(resource) if name.startswith("RLIMIT_")]
    mask = os.umask(0)
    os.umask(mask)
    return {
        "interpreter": [sys.executable, sys.prefix, sys.version, list(sys.flags), sys.warnoptions, sys._xoptions],
        "environment": {name: value for name, value in os.environ.items() if name not in OF_ONE_PROCESS},
        "limits": {name: list(resource.getrlimit(getattr(resource, name))) for name in limits},
        "user": [os.getuid(), os.getgid(), os.umask(mask), os.nice(0)],
        "processors": sorted(os.sched_getaffinity(0)),
    }


def hand_over(arguments: list[str]) -> None:
    """Have a command with these arguments done by a fork, and end as it has ended; return if nobody does it."""
    address = os.environ.get(VARIABLE)
    if not address:
        return
    import json
    import socket

    try:
        job = json.dumps([os.getcwd(), sys.orig_argv, arguments, surroundings()]).encode()
        for standard in (0, 1, 2):
            os.fstat(standard)
    except OSError:  # the folder is gone, or one of its files is closed
        return
    with socket.socket(socket.AF_UNIX) as server:
        try:
            server.connect(address)
            socket.send_fds(server, [len(job).to_bytes(8, "big")], [0, 1, 2])
            server.sendall(job)
            if server.recv(1) != b"y":
                return
        except OSError:  # it is not ready, or there is none any more
            return
        ignored = (signal.SIG_IGN, None)
        for name in PASSED_ON:
            number = getattr(signal, name)
            if signal.getsignal(number) not in ignored:
                signal.signal(number, lambda number, _: _pass_on(server, number))
        _end(server.recv(4))


def _pass_on(server: Any, number: int) -> None:
    """Pass on a signal; the stop of a terminal is no stop for a process that has none."""
    stops = number == signal.SIGTSTP
    with contextlib.suppress(OSError):
        server.sendall(bytes([signal.SIGSTOP if stops else number]))
    if stops:
        os.kill(os.getpid(), signal.SIGSTOP)


def _end(answer: bytes) -> None:
    """End as the fork did: by a status, or by a signal, of which a negative number is told."""
    # Without an answer, the server was killed, and its forks with it: as a rule because memory ran out.
    status = int.from_bytes(answer, "big", signed=True) if answer else -signal.SIGKILL
    if status < 0:
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
        with contextlib.suppress(OSError, ValueError):  # SIGKILL needs no handler, and can have none
            signal.signal(-status, signal.SIG_DFL)
        os.kill(os.getpid(), -status)
        status = 128 - status
    os._exit(status)
