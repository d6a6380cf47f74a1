"""Jobs that are forks of a process which has imported the libraries end and are measured as jobs of their own."""

import os
import re
import resource
import shlex
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from unittest import mock

import pytest

from pipeline_lib.core import handing_over
from pipeline_lib.study import job_server, snakemake_internals

CHANGING = "PYTEST_CURRENT_TEST"
"""A variable with another value in every test."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The folder of a run whose server is ready."""
    with pytest.MonkeyPatch.context() as changed:
        changed.chdir(tmp_path_factory.mktemp("run"))
        changed.delenv(handing_over.VARIABLE, raising=False)
        changed.delenv(CHANGING)
        changed.setenv("PYTHONSAFEPATH", "1")
        changed.setenv("PYTHONPATH", str(Path(job_server.__file__).parents[2]))
        job_server.start(job_server.FEWEST_JOBS)
        _until(lambda: Path(os.environ[handing_over.VARIABLE]).exists())
        yield Path.cwd()
        job_server.stop()
        forks, others = map(int, re.findall(r"\d+", job_server.OUTPUT.read_text()))
        assert forks + others > 0


def _until(happened: Callable[[], object]) -> None:
    for _ in range(600):
        if happened():
            return
        time.sleep(0.1)
    pytest.fail("nothing happened for a minute")


def command(*words: str, **environment: str) -> subprocess.Popen[str]:
    """A command of the project, as Snakemake would start it."""
    inherited = {name: value for name, value in os.environ.items() if name != CHANGING}
    return subprocess.Popen(
        [sys.executable, "-m", "pipeline_lib", *words],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=inherited | environment,
    )  # fmt: skip


def ended(process: subprocess.Popen[str]) -> tuple[int, str]:
    output, _ = process.communicate(timeout=120)
    return process.returncode, output


@pytest.fixture
def waiting(folder: Path, tmp_path: Path) -> Iterator[tuple[subprocess.Popen[str], int, Path]]:
    """A command that waits until somebody reads what it writes: its process, its fork, and the pipe."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    process = command("default-configuration", "--page", str(pipe))
    _until(lambda: job_server.forks_for({process.pid}))
    [fork] = job_server.forks_for({process.pid})
    _until(lambda: _sleeps(fork))
    yield process, fork, pipe
    process.kill()
    process.wait()


def _sleeps(number: int) -> bool:
    """Whether a process does not work: three times in a row, because it also sleeps while it reads modules."""
    seen = set()
    for _ in range(3):
        seen.add(tuple(Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0:1] + _times(number)))
        time.sleep(0.3)
    return len(seen) == 1 and next(iter(seen))[0] == "S"


def _times(number: int) -> list[str]:
    return Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[11:13]


def is_gone(number: int) -> bool:
    return not Path(f"/proc/{number}").exists()


def test_output_status_and_messages_are_those_of_a_job_that_starts_by_itself(folder: Path) -> None:
    for words in (
        ["--version"],
        ["no-such-command"],
        ["default-configuration"],
        ["default-configuration", "--page", "/"],
    ):
        assert ended(command(*words)) == ended(command(*words, **{handing_over.VARIABLE: ""}))


def test_a_fork_has_the_folder_the_files_and_the_place_in_benchmarks_of_its_command(
    waiting: tuple[subprocess.Popen[str], int, Path], folder: Path
) -> None:
    process, fork, pipe = waiting
    assert job_server.forks_for({process.pid + 1}) == []
    assert os.readlink(f"/proc/{fork}/cwd") == str(folder)
    for number in (0, 1, 2):
        assert os.readlink(f"/proc/{fork}/fd/{number}") == os.readlink(f"/proc/{process.pid}/fd/{number}")
    assert "# " in pipe.read_text()
    assert ended(process) == (0, "")
    _until(lambda: is_gone(fork))


def test_benchmarks_measure_the_fork(waiting: tuple[subprocess.Popen[str], int, Path]) -> None:
    from snakemake import benchmark

    process, fork, _ = waiting
    original = benchmark.BenchmarkTimer.__init__
    try:
        snakemake_internals.count_in_benchmarks(job_server.forks_for)
        record = benchmark.BenchmarkRecord()
        benchmark.BenchmarkTimer(process.pid, record).work()
    finally:
        benchmark.BenchmarkTimer.__init__ = original
    of_fork = int(Path(f"/proc/{fork}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20
    assert record.max_rss > of_fork > 50


@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGKILL, signal.SIGUSR1, signal.SIGXCPU])
def test_who_ends_the_command_ends_its_work(
    waiting: tuple[subprocess.Popen[str], int, Path], sent: signal.Signals
) -> None:
    process, fork, _ = waiting
    process.send_signal(sent)
    assert ended(process) == (-sent, "")
    _until(lambda: is_gone(fork))


def test_a_command_stops_and_goes_on_with_its_work(waiting: tuple[subprocess.Popen[str], int, Path]) -> None:
    process, fork, pipe = waiting

    def states() -> set[str]:
        return {Path(f"/proc/{one}/stat").read_text().rpartition(")")[2].split()[0] for one in (process.pid, fork)}

    process.send_signal(signal.SIGTSTP)
    _until(lambda: states() == {"T"})
    process.send_signal(signal.SIGCONT)
    _until(lambda: states() == {"S"})
    assert "# " in pipe.read_text()
    assert ended(process) == (0, "")


def test_the_signal_that_kills_the_work_ends_the_command(waiting: tuple[subprocess.Popen[str], int, Path]) -> None:
    process, fork, _ = waiting
    os.kill(fork, signal.SIGXCPU)
    assert ended(process) == (-signal.SIGXCPU, "")


@pytest.mark.parametrize("before", ["export OMP_DYNAMIC=true", "export PYTHONHASHSEED=7", "ulimit -n 77", "nice"])
def test_with_other_surroundings_a_job_starts_by_itself(folder: Path, tmp_path: Path, before: str) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    exported = {name: value for name, value in os.environ.items() if name != CHANGING}
    begin = "exec nice" if before == "nice" else f"{before}; exec"
    words = f"{begin} {sys.executable} -m pipeline_lib default-configuration --page {pipe}"
    process = subprocess.Popen(words, shell=True, env=exported)
    assert "# " in pipe.read_text()
    assert job_server.forks_for({process.pid}) == []
    assert process.wait(60) == 0


def test_where_the_system_allows_no_fork_a_job_starts_by_itself(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    end, other_end = os.pipe()
    monkeypatch.setattr(sys, "stdin", os.fdopen(end))
    monkeypatch.setattr(job_server, "_forked", lambda _: None)
    address = tmp_path / "socket"
    server = threading.Thread(target=job_server.serve, args=(address, mock.ANY))
    server.start()
    _until(address.exists)
    status, printed = ended(command("--version", **{handing_over.VARIABLE: str(address)}))
    os.close(other_end)
    server.join(60)
    assert (status, printed.split()[0]) == (0, "pipeline_lib")
    assert capsys.readouterr().out.splitlines() == [
        "0 jobs were forks of this process; 1 started by themselves",
        "  the system allows no more processes, memory or open files",
    ]


def test_few_jobs_and_a_variable_without_a_value_start_no_server(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(job_server, "_server", None)
    monkeypatch.delenv(handing_over.VARIABLE, raising=False)
    job_server.start(job_server.FEWEST_JOBS - 1)
    assert handing_over.VARIABLE not in os.environ
    monkeypatch.setenv(handing_over.VARIABLE, "")
    job_server.start(1000)
    assert not list(tmp_path.iterdir())


def test_jobs_end_with_the_server(folder: Path, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.MonkeyPatch.context() as changed:
        changed.delenv(handing_over.VARIABLE)
        changed.delenv(CHANGING)
        changed.setattr(job_server, "_server", None)
        changed.setattr(job_server, "LIBRARIES", ())
        job_server.start(job_server.FEWEST_JOBS)
        server = job_server._server
        assert server
        _until(lambda: Path(os.environ[handing_over.VARIABLE]).exists())
        process = command("default-configuration", "--page", str(pipe))
        _until(lambda: job_server.forks_for({process.pid}))
        [fork] = job_server.forks_for({process.pid})
        server.kill()
        assert ended(process) == (-signal.SIGKILL, "")
        _until(lambda: is_gone(fork))
        assert ended(command("--version"))[0] == 0  # nobody answers any more
        address = Path(os.environ[handing_over.VARIABLE])
        job_server.stop()
        assert not address.parent.exists()


@pytest.mark.parametrize("closed", [0, 1, 2])
def test_a_command_without_a_standard_file_does_its_work_itself(folder: Path, closed: int) -> None:
    words = [sys.executable, "-m", "pipeline_lib", "--version"]
    given = {0: "<&-", 1: ">&-", 2: "2>&-"}[closed]
    shell = subprocess.run(f"{shlex.join(words)} {given}", shell=True, capture_output=True, check=False)
    assert shell.returncode == 0
    # The server is there for the next one.
    process = command("--version")
    assert ended(process)[0] == 0


def test_a_server_without_files_left_refuses_and_goes_on(folder: Path, tmp_path: Path) -> None:
    assert job_server._server is not None
    resource.prlimit(job_server._server.pid, resource.RLIMIT_NOFILE, (18, 18))
    pipes = [tmp_path / f"pipe-{i}" for i in range(12)]
    for pipe in pipes:
        os.mkfifo(pipe)
    processes = [command("default-configuration", "--page", str(pipe)) for pipe in pipes]
    _until(lambda: job_server.forks_for({one.pid for one in processes}))
    for pipe in pipes:
        assert pipe.read_text()
    assert [ended(process)[0] for process in processes] == [0] * len(pipes)
    assert job_server._server.poll() is None


def test_where_names_of_temporary_files_are_long_there_is_a_server_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    long = tmp_path / ("a folder ä " * 12)
    long.mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv(handing_over.VARIABLE, raising=False)
    monkeypatch.setattr(job_server, "_server", None)  # that of the other tests goes on
    monkeypatch.setattr(tempfile, "tempdir", str(long))
    job_server.start(job_server.FEWEST_JOBS)
    assert len(os.environ[handing_over.VARIABLE]) < 100
    job_server.stop()


def test_where_there_can_be_no_server_there_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv(handing_over.VARIABLE, raising=False)
    monkeypatch.setattr(job_server, "_server", None)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    (tmp_path / ".snakemake").write_text("")  # no folder, so that nothing can be written into it
    job_server.start(job_server.FEWEST_JOBS)
    assert handing_over.VARIABLE not in os.environ
    assert [path.name for path in tmp_path.iterdir()] == [".snakemake"]


class Refused(socket.socket):
    """A connection for whose content there is no memory."""

    def recv(self, *arguments: int) -> bytes:
        raise MemoryError


def test_a_server_without_memory_for_what_is_handed_over_refuses_it() -> None:
    one, other = socket.socketpair()
    with other, Refused(fileno=one.detach()) as connection:
        socket.send_fds(other, [(9).to_bytes(8, "big")], [other.fileno()] * 3)
        before = len(os.listdir("/proc/self/fd"))
        assert job_server._received(connection) is None
        assert len(os.listdir("/proc/self/fd")) == before
