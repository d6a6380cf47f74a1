"""Run Snakemake without importing it anew each time: in a fork of a process that has imported it.

Most of a dry run's time is spent on imports, of the libraries that the package needs too. The process is the fork
server of ``multiprocessing``; it holds nothing of ``pipeline_lib``, which each fork imports from the project that it
runs in. Tests that kill a run, or that run the command as a person types it, start it themselves.
"""

import asyncio
import multiprocessing
import os
import signal
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from .job_server import LIBRARIES

ROOT = Path(__file__).parents[2]
_CONTEXT = multiprocessing.get_context("forkserver")
_CONTEXT.set_forkserver_preload([__name__, "snakemake.cli", *LIBRARIES])


def snakemake(
    arguments: Sequence[str],
    folder: Path,
    *,
    interpreter: Path = Path(sys.executable),
    prepare: Callable[[], None] | None = None,
    **environment: str,
) -> tuple[int, str]:
    """Run Snakemake in a folder; give its exit status and all that it printed.

    ``interpreter`` is what jobs find as Python; ``prepare`` is called in the process before Snakemake. The environment
    is that of this process without its mirror and the place of the package, and with what is given.
    """
    return _forked(_snakemake, folder, environment, list(arguments), interpreter, prepare)


def python(code: str, folder: Path, **environment: str) -> tuple[int, str]:
    """Run code as ``python -c`` does in a folder that modules are imported from; its exit status, and its output."""
    return _forked(_python, folder, environment, code)


def _forked(work: Callable[..., None], folder: Path, environment: dict[str, str], *given: Any) -> tuple[int, str]:
    inherited = {name: value for name, value in os.environ.items() if name not in ("LTR_MIRROR", "PYTHONPATH")}
    inherited["LTR_JOB_SERVER"] = ""  # jobs of runs with a stand-in for the interpreter are forks already
    with tempfile.TemporaryDirectory() as made:
        output = Path(made) / "output"
        process = _CONTEXT.Process(target=_run, args=(work, folder, inherited | environment, output, *given))
        process.start()
        process.join()
        return process.exitcode or 0, output.read_text(encoding="utf-8")


def query_every(seconds: float) -> None:
    """Let executors query the state of jobs so often, for ``prepare``.

    The pause between two queries grows by ten seconds when a job has failed, and no option of the executor limits it.
    """
    from snakemake_interface_executor_plugins.executors.remote import RemoteExecutor

    async def pause(executor: RemoteExecutor) -> None:
        await asyncio.sleep(seconds)

    RemoteExecutor.sleep = pause


def _run(work: Callable[..., None], folder: Path, environment: dict[str, str], output: Path, *given: Any) -> None:
    file = os.open(output, os.O_CREAT | os.O_WRONLY | os.O_APPEND)
    for stream in (sys.stdout, sys.stderr):
        os.dup2(file, stream.fileno())
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    # As the command has it: nothing but the Snakefile says where the package is.
    sys.path[:] = [str(folder), *(path for path in sys.path if path not in ("", str(ROOT)))]
    work(*given)


def _snakemake(arguments: list[str], interpreter: Path, prepare: Callable[[], None] | None) -> None:
    # As in a terminal: a shell without job control lets processes in the background ignore interrupts.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.argv = ["snakemake", *arguments]
    sys.executable = str(interpreter)
    from snakemake.cli import main

    if prepare is not None:
        prepare()
    main()


def _python(code: str) -> None:
    exec(code, {"__name__": "__main__"})
