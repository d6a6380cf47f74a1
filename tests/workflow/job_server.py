"""Run jobs without importing libraries anew each time: in forks of a process that has imported them.

A job of a small study works for a tenth of a second after importing libraries, and preparing numba, for a whole one.
In place of the interpreter, Snakemake is given :func:`interpreter`: a file that has ``python -m pipeline_lib ...`` done
by a fork of the server, in the folder, with the environment and with the open files of the job, and that is Python for
everything else. The server holds nothing of ``pipeline_lib``, which each fork imports from the project that it works
for, and ends with the process that started it. Tests that kill runs, or that measure what a job needs, start jobs as
everybody does.
"""

import contextlib
import importlib
import json
import os
import runpy
import select
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import traceback
from functools import cache
from pathlib import Path

# What starts no threads: a fork holds only one thread of the process that it is made from.
LIBRARIES = (
    *("numpy", "numba", "scipy.optimize", "scipy.signal", "scipy.special", "scipy.stats", "flint"),
    *("yaml", "jinja2", "tomllib", "grimp", "rocrate.rocrate", "markdown_it", "latex2mathml.converter"),
    *("pydantic.main", "pydantic.json_schema", "pydantic.functional_validators"),
    *("matplotlib.figure", "matplotlib.backends.backend_pdf", "matplotlib.backends.backend_agg"),
    *("pyarrow.compute", "pyarrow.parquet"),
)
NO_THREAD_OF_PYARROW = {"JE_ARROW_MALLOC_CONF": "background_thread:false"}
"""Its memory is tidied by the thread that uses it."""


@cache
def interpreter() -> Path:
    """Start the server; the file that stands for Python."""
    folder = Path(tempfile.mkdtemp(prefix="jobs-"))
    address, script = folder / "socket", folder / "python"
    script.write_text(f"#!{sys.executable} -IS\n{CLIENT.format(address=str(address), real=sys.executable)}")
    script.chmod(0o755)
    environment = {**os.environ, **NO_THREAD_OF_PYARROW}
    environment.pop("PYTHONPATH", None)
    # The server reads from the pipe, which is closed when this process ends, however it ends.
    server = subprocess.Popen(
        [sys.executable, __file__, str(address)],
        env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True,
    )  # fmt: skip
    assert server.stdout
    assert server.stdout.readline() == b"ready\n"
    return script


CLIENT = """
import json, os, socket, sys
if sys.argv[1:3] != ["-m", "pipeline_lib"]:
    os.execv({real!r}, [{real!r}, *sys.argv[1:]])
job = json.dumps([os.getcwd(), dict(os.environ), sys.argv[3:]]).encode()
with socket.socket(socket.AF_UNIX) as server:
    server.connect({address!r})
    socket.send_fds(server, [len(job).to_bytes(8)], [0, 1, 2])
    server.sendall(job)
    sys.exit(int(server.recv(8) or b"1"))
"""


def serve(address: str) -> None:
    """Import the libraries, then do one job in a fork for everyone who connects, until standard input is closed."""
    for library in LIBRARIES:
        importlib.import_module(library)
    _prepare_numba()
    _prepare_pyarrow()
    assert len(os.listdir("/proc/self/task")) == 1
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(address)
        listener.listen()
        print("ready", flush=True)
        while sys.stdin not in select.select([listener, sys.stdin], [], [])[0]:
            connection, _ = listener.accept()
            if not os.fork():
                listener.close()
                _work(connection)
            connection.close()
            _forget_ended_jobs()
    shutil.rmtree(Path(address).parent, ignore_errors=True)


def _forget_ended_jobs() -> None:
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def _prepare_numba() -> None:
    """Compile a function, for which numba reads and registers what it knows of types and of numpy."""
    import numba
    import numpy as np

    numba.njit(lambda x: np.sqrt(x).sum())(np.ones(1))


def _prepare_pyarrow() -> None:
    """Make an array, for which pyarrow imports pandas where it is installed."""
    import pyarrow as pa

    pa.array([1])


def _work(connection: socket.socket) -> None:
    """Be the job; report its exit status."""
    status = 1
    try:
        size, files, *_ = socket.recv_fds(connection, 8, 3)
        content = b""
        while len(content) < int.from_bytes(size):
            content += connection.recv(1 << 20)
        folder, environment, arguments = json.loads(content)
        threading.Thread(target=_end_with, args=(connection,), daemon=True).start()
        for number, file in enumerate(files):
            os.dup2(file, number)
        os.chdir(folder)
        os.environ.clear()
        os.environ.update(environment)
        first = [] if environment.get("PYTHONSAFEPATH") else [folder]
        sys.path[:1] = [*first, *filter(None, environment.get("PYTHONPATH", "").split(os.pathsep))]
        sys.argv = ["pipeline_lib", *arguments]
        runpy.run_module("pipeline_lib", run_name="__main__", alter_sys=True)
        status = 0
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        with contextlib.suppress(OSError):
            connection.sendall(str(status).encode())
        os._exit(status)


def _end_with(connection: socket.socket) -> None:
    """End the job when the process that stands for it was killed."""
    with contextlib.suppress(OSError):
        connection.recv(1)
    os._exit(1)


if __name__ == "__main__":
    serve(sys.argv[1])
