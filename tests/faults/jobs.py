"""Do the commands of a finished study again, one at a time, with a call that fails, and judge what comes of it."""

import contextlib
import hashlib
import os
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from pipeline_lib.core import handing_over

from . import ERRORS, Faults, name_of

MADE = ("data", "results", "reports")
PATIENCE = 120.0
"""A job that has not ended after so many seconds hangs: without failures, each takes one or two."""
_PARTIAL = re.compile(r"^\.(.*)\.\w+\.partial$")


class Job(NamedTuple):
    """A command of a study, with the file that its output is directed to."""

    words: list[str]
    log: str

    @property
    def command(self) -> str:
        """The name of the command, such as train-model."""
        return self.words[3]


class Verdict(NamedTuple):
    """What became of a job of which a call failed: in a word, and in a line for whoever looks into it."""

    word: str
    line: str


GOOD = ("survived", "refused", "killed", "not reached")
"""Words of verdicts that are as they should be: the job wrote the right bytes, it said what failed, or a library that
was given no memory aborted the process, which Snakemake reports."""


def of_plan(printed: str) -> dict[str, Job]:
    """The last job of every command in what ``snakemake -n -p`` prints: the last of several has the most work."""
    jobs = [
        Job([sys.executable, *shlex.split(words)[1:]], log)
        for words, log in re.findall(r"(python -m pipeline_lib .*) > (\S+) 2>&1$", printed, re.MULTILINE)
    ]
    return {job.command: job for job in jobs}


class Study:
    """A study in a folder, whose jobs are done again, with the package that is in the folder ``code``."""

    def __init__(self, folder: Path, faults: Faults, environment: Mapping[str, str], code: Path | None = None) -> None:
        self.folder, self.faults = folder, faults
        path = {"PYTHONPATH": str(code or folder), "PYTHONSAFEPATH": "1"}
        self.environment = {**environment, **faults.environment(), **path}
        self._known: dict[str, tuple[dict[str, str | None], dict[str, int]]] = {}

    @contextlib.contextmanager
    def served(self) -> Iterator[None]:
        """Let jobs be forks of a server, as those of a run are."""
        with tempfile.TemporaryDirectory(prefix="jobs-") as folder:
            self.environment[handing_over.VARIABLE] = f"{folder}/socket"
            command = [sys.executable, "-m", "pipeline_lib.study.job_server", folder]
            server = subprocess.Popen(command, cwd=self.folder, env=self.environment, stdin=subprocess.PIPE)
            try:
                while not Path(folder, "socket").exists():
                    assert server.poll() is None
                    time.sleep(0.05)
                yield
            finally:
                del self.environment[handing_over.VARIABLE]
                assert server.stdin
                server.stdin.close()
                server.wait(60)

    def do(self, job: Job) -> tuple[int | None, str]:
        """Do a job; its status, None where it hangs, and what its log says."""
        log = self.folder / job.log
        log.parent.mkdir(parents=True, exist_ok=True)
        with log.open("wb") as output:
            process = subprocess.Popen(
                job.words,
                cwd=self.folder,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            try:
                status: int | None = process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
                status = None
        return status, log.read_text(encoding="utf-8", errors="replace")

    def undisturbed(self, job: Job) -> tuple[dict[str, str | None], dict[str, int]]:
        """The digests of the files that a job writes, None where they differ each time, and how many calls it makes."""
        if job.command not in self._known:
            found = []
            for _ in range(2):
                before = self._times()
                self.faults.count()
                status, output = self.do(job)
                assert status == 0, output
                written = [path for path, changed in self._times().items() if before.get(path) != changed]
                found.append({path: self._digest(path) for path in written})
            digests = {path: digest if found[0].get(path) == digest else None for path, digest in found[1].items()}
            self._known[job.command] = digests, self.faults.counts()
        return self._known[job.command]

    def judge(self, job: Job, operation: str, number: int, error: int, *, times: int = 1) -> Verdict:
        """Let a call fail in a job whose files are not there, then do it again, and judge both."""
        expected, _ = self.undisturbed(job)
        for path in expected:
            (self.folder / path).unlink(missing_ok=True)
        self.faults.let_fail(operation, number, error, times=times)
        status, output = self.do(job)
        hit = self.faults.fired()
        self.faults.count()
        word, reason = self._first(expected, operation, hit, status, output)
        again, said = self.do(job)
        left = [path for path in self._times() if path.endswith(".partial")]
        if again or self._wrong(expected):
            word, reason = "not mended", f"{again}: {self._wrong(expected)} {said[-300:]}"
        elif left and word not in ("killed", "hung") and operation != "unlink":
            word, reason = "left a partial file", " ".join(left)
        for path in left:
            (self.folder / path).unlink()
        where = f"{job.command} {operation} {number} {name_of(error)} at {hit}"
        return Verdict(word, f"{where}: {word}, status {status}: {reason}")

    def _first(
        self, expected: Mapping[str, str | None], operation: str, hit: str | None, status: int | None, output: str
    ) -> tuple[str, str]:
        """What became of the job of which a call failed."""
        said = output.strip()[-600:]
        if status is None:
            return "hung", said
        if damaged := [path for path in self._wrong(expected) if (self.folder / path).exists()]:
            return "damaged", " ".join(damaged)
        if status == 0:
            wrong = self._wrong(expected)
            return ("silently wrong", " ".join(wrong)) if wrong else ("survived" if hit else "not reached", said)
        if status < 0:
            return "killed" if operation in ("mmap", "malloc") else "killed without a reason", said
        if "Traceback" in output:
            return "traceback", said
        if operation == "log":
            return "refused", said
        errors = [line for line in output.splitlines() if line.startswith("error: ")]
        if not errors or len(said.splitlines()) > len(errors) + 20:
            return "no message", said
        if operation in ("mmap", "malloc", "fork"):
            return "refused" if any("memory" in line for line in errors) else "no message", said
        return ("refused" if any(named(Path(str(hit))) in line for line in errors) else "unnamed"), said

    def _wrong(self, expected: Mapping[str, str | None]) -> list[str]:
        """The files that are missing or are not those of an undisturbed job."""
        return [
            path
            for path, digest in expected.items()
            if not (self.folder / path).is_file() or (digest is not None and self._digest(path) != digest)
        ]

    def _digest(self, path: str) -> str:
        return hashlib.sha256((self.folder / path).read_bytes()).hexdigest()

    def _times(self) -> dict[str, int]:
        """When every file that jobs write was written last, logs apart."""
        return {
            str(path.relative_to(self.folder)): path.stat().st_mtime_ns
            for top in MADE
            for path in (self.folder / top).rglob("*")
            if path.is_file() and path.suffix not in (".log", ".tsv")
        }


def named(hit: Path) -> str:
    """The name that a message should have of a file: that of the whole one where a part of it was written.

    Example
    -------
    >>> named(Path(".model.json.abc12_x.partial")), named(Path("model.json"))
    ('model.json', 'model.json')
    """
    partial = _PARTIAL.match(hit.name)
    return partial[1] if partial else hit.name


def every_failure(study: Study, job: Job, operation: str) -> Iterator[tuple[int, int]]:
    """Every call of a kind in a job with every error that it may have: the number of the call, and the error."""
    for number in range(1, study.undisturbed(job)[1][operation] + 1):
        for error in ERRORS[operation]:
            yield number, error
