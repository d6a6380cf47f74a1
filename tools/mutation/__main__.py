"""Do the tests notice small errors in the mathematics? A campaign of random ones, each put into a copy of the project.

    python -m tools.mutation [--seed 1] [--mutants 300] [--seconds 60] [--jobs 1] [--survivors] [--verdicts]

draws the mutants, a quarter of them from each area, and appends what became of each to ``campaign.csv``, the last line
of a mutant counting; those that are there already are not tried again, unless they survived and ``--survivors`` is
given. The tests nearest to the changed module run first (see ``tools/affected.py``), and none starts after the given
seconds of computing; one that does not end is stopped. A test that fails counts only if it passes on the unchanged
copy. With ``--verdicts``, what papers compute with a mutant that survives is judged in a study with the settings of
``tests/small_settings.py``: it is noticed if a job stops or a claim gets another status. ``equivalent.csv`` lists the
mutants that change no number that anyone reads, and why.

Compiling takes longer than the tests nearest to a kernel. So the changed module and those that import it are
interpreted, unless one of them uses what only a compiler understands.
"""

import argparse
import contextlib
import csv
import hashlib
import importlib
import json
import os
import resource
import select
import shutil
import signal
import subprocess
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Sequence, Set
from functools import cache
from pathlib import Path
from typing import Any, Protocol

import pytest
import yaml

from pipeline_lib.core import processor
from tests.small_settings import SETTINGS
from tests.workflow.conftest import SMALL
from tests.workflow.job_server import LIBRARIES
from tests.workflow.test_paper_studies import MODELS
from tools import affected
from tools.mutation.operators import Mutant, mutants

AREAS = {
    "theory": ["theory/*.py"],
    "surrogates": ["surrogates/*.py"],
    "learners": ["learners/*.py"],
    "papers": ["papers/**/*.py"],
}
"""Where errors are made; not in declarations, which hold defaults and estimates of time, and not in pages."""
NO_COMPUTATION = {"__init__.py", "declaration.py", "page.py", "witnesses.py"}
HERE = Path(__file__).parent
CAMPAIGN, EQUIVALENT = HERE / "campaign.csv", HERE / "equivalent.csv"
STUDY = {**SMALL, "papers": "all", "experiments": SETTINGS, "models": MODELS, "folds": [1]}
CLAIMS, STOPPED = "reports/small/claims.json", "a job"
BATCHES = (4, 12, 1000)
"""So many files of tests are collected at a time."""
HANGING = 60.0
"""Seconds of computing after the time for tests, after which one that is still running is stopped."""
SLEEPING = 1200.0
"""Seconds of any clock after which a test that neither ends nor computes is stopped."""
MEMORY = 8 << 30
"""Bytes that the tests of a mutant may take."""
OPTIONS = ["-q", "-x", "-p", "no:cacheprovider", "-p", "no:xdist"]
LEFT_OUT = ("tests/workflow/", "tests/cluster/", "tests/realdata/")
CHOSEN = "not slow and not workflow and not cluster"


def main() -> None:
    """Try the mutants that are not yet decided, and print how many of each area were noticed."""
    parser = argparse.ArgumentParser(prog="python -m tools.mutation", description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=1, help="which mutants are drawn")
    parser.add_argument("--mutants", type=int, default=300, help="how many; the first ones stay the same")
    parser.add_argument("--seconds", type=float, default=60.0, help="for how long tests start, for each mutant")
    parser.add_argument("--jobs", type=int, default=1, help="how many at a time")
    parser.add_argument("--survivors", action="store_true", help="try those again that survived")
    parser.add_argument("--folder", type=Path, default=affected.ROOT / "build/mutation", help="where the copy lies")
    parser.add_argument("--verdicts", action="store_true", help="let claims judge what survives in computations")
    options = parser.parse_args()
    drawn, decided = draw(options.seed, options.mutants), results()
    equivalent = {tuple(row[:-1]) for row in _rows(EQUIVALENT)}
    left = [one for one in drawn if one.place not in equivalent and one.place not in decided]
    if options.survivors:
        left = [one for one in drawn if one.place not in equivalent and decided.get(one.place, [""])[0] == "survived"]
    affected.graph()
    os.environ.update(processor.variables(), NUMBA_CACHE_DIR=str(options.folder.resolve() / "compiled"))
    for library in LIBRARIES:
        importlib.import_module(library)
    workers = []
    for number in range(options.jobs):
        workers.append(os.fork())
        if workers[-1] == 0:
            own = left[number :: options.jobs]
            try:
                work(own, options.folder.resolve() / str(number), options.seconds, options.verdicts)
            except BaseException:
                traceback.print_exc()
            finally:
                os._exit(0)
    for worker in workers:
        os.waitpid(worker, 0)
    print(report(drawn, results(), equivalent))


def work(left: Sequence[Mutant], folder: Path, seconds: float, judged: bool) -> None:
    """Try mutants in a folder, one after the other."""
    trial = Trial(folder, seconds)
    verdicts = Verdicts(folder)
    for number, mutant in enumerate(left, 1):
        began = time.monotonic()
        outcome, by = trial.of(mutant)
        if outcome == "survived" and judged and "/papers/" in mutant.module:
            outcome, by = verdicts.of(mutant)
        result = [*mutant, outcome, by, f"{time.monotonic() - began:.0f}"]
        write(result)
        print(f"{number}/{len(left)}", *map(str, result), sep="  ", flush=True)


def draw(seed: int, count: int) -> list[Mutant]:
    """So many mutants, a quarter from each area: a place at random, then one of the errors that can be made there.

    What is random is a digest of the seed and the line, so that an edit elsewhere leaves the others as they are.
    """
    areas = [_drawn(area, seed) for area in AREAS]
    return [next(areas[number % len(areas)]) for number in range(count)]


def _drawn(area: str, seed: int) -> Iterator[Mutant]:
    def chance(*place: object) -> bytes:
        return hashlib.sha256(repr((seed, *place)).encode()).digest()

    places: dict[tuple[object, ...], list[Mutant]] = {}
    for path in sorted(path for pattern in AREAS[area] for path in (affected.ROOT / affected.PACKAGE).glob(pattern)):
        if path.name not in NO_COMPUTATION:
            for mutant in mutants(path.relative_to(affected.ROOT).as_posix(), path.read_text(encoding="utf-8")):
                places.setdefault((mutant.module, mutant.text, mutant.column), []).append(mutant)
    for place in sorted(places, key=lambda place: chance(*place)):
        mutant = min(places[place], key=lambda mutant: chance(*mutant.place))
        try:
            compile(mutant.applied((affected.ROOT / mutant.module).read_text(encoding="utf-8")), mutant.module, "exec")
        except SyntaxError:
            continue
        yield mutant


def _rows(path: Path) -> list[list[str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))[1:]


def results() -> dict[tuple[str, ...], list[str]]:
    """Place of a mutant -> the last result: outcome, by what, seconds."""
    width = len(Mutant._fields)
    found = ((dict(zip(Mutant._fields, row, strict=False)), row[width:]) for row in _rows(CAMPAIGN))
    return {tuple(one[name] for name in ("module", "text", "column", "before", "after")): last for one, last in found}


def write(result: Sequence[object]) -> None:
    """Append a line to the campaign."""
    with CAMPAIGN.open("a", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerow(result)


def report(drawn: Sequence[Mutant], decided: dict[tuple[str, ...], list[str]], equivalent: set[tuple[str, ...]]) -> str:
    """A line for each area and for all, then the survivors."""
    lines, alive, total = [], [], Counter[str]()
    for number, area in enumerate([*AREAS, "all"]):
        own = drawn[number :: len(AREAS)] if area != "all" else drawn
        total = Counter(
            "equivalent" if one.place in equivalent else decided.get(one.place, ["untried"])[0] for one in own
        )
        noticed = total["killed"] + total["timeout"] + total["verdict"]
        tried = noticed + total["survived"]
        lines.append(f"{area}: {noticed} of {tried} noticed ({noticed / max(tried, 1):.1%}); {dict(total)}")
    alive = [one for one in drawn if one.place not in equivalent and decided.get(one.place, [""])[0] == "survived"]
    lines += [f"survived: {one.module}:{one.line}: {one.before!r} -> {one.after!r} in {one.text}" for one in alive]
    return "\n".join(lines)


class Change(Protocol):
    """An error in one module."""

    @property
    def module(self) -> str:
        """The file, from the root of the project."""

    def applied(self, source: str) -> str:
        """The source of the module with the error."""


class Trial:
    """A copy of the project, into which mutants are put one at a time."""

    def __init__(self, folder: Path, seconds: float) -> None:
        self.tree, self.log, self.seconds = folder / "tree", folder / "log", seconds
        self.passing: dict[frozenset[str], set[str]] = {}
        self.failing: dict[frozenset[str], list[str]] = {}
        files = subprocess.check_output(["git", "ls-files", "-co", "--exclude-standard"], cwd=affected.ROOT, text=True)
        shutil.rmtree(self.tree, ignore_errors=True)
        for name in files.splitlines():
            if (affected.ROOT / name).is_file():
                (self.tree / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(affected.ROOT / name, self.tree / name)
        os.environ["PYTHONPATH"] = str(self.tree)

    def of(self, mutant: Change) -> tuple[str, str]:
        """What became of a mutant, and which test noticed it."""
        users, long = users_of(mutant.module), list[str]()
        passing, failing = self.passing.setdefault(users, set()), self.failing.setdefault(users, [])
        while True:
            files = [path for path in nearest(mutant.module) if path not in (*failing, *long)]
            with put_into(self.tree, mutant):
                outcome, by = self._tests(files, users, [*failing, *long], self.seconds)
                if outcome == "timeout" and self._tests([by], users, [], HANGING)[0] == "survived":
                    long.append(by)  # it ends in the time that it has on the unchanged copy
                    continue
            if outcome == "survived" or by in passing:
                return outcome, by
            if self._tests([by], users, [], HANGING)[0] == "survived":
                passing.add(by)
                return outcome, by
            failing.append(by)

    def notices(self, test: str, change: Change) -> bool:
        """Whether a test fails, or does not end, with a change, and passes without it."""
        users = users_of(change.module)
        with put_into(self.tree, change):
            failing = self._tests([test], users, [], HANGING)[0] != "survived"
        passing = self.passing.setdefault(users, set())
        if failing and test not in passing and self._tests([test], users, [], HANGING)[0] == "survived":
            passing.add(test)
        return failing and test in passing

    def _tests(self, files: Sequence[str], users: Set[str], left_out: Sequence[str], seconds: float) -> tuple[str, str]:
        """Run files of tests, or tests, in a fork until one fails."""
        read, written = os.pipe()
        child = os.fork()
        if child == 0:
            status = 1
            try:
                os.close(read)
                os.setsid()
                log = os.open(self.log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
                os.dup2(log, 1)
                os.dup2(log, 2)
                self._prepare(users)
                _run(files, left_out, seconds, lambda line: os.write(written, f"{line}\n".encode()))
                status = 0
            finally:
                os._exit(status)
        os.close(written)
        text, late = "", False
        while not (late := not select.select([read], [], [], SLEEPING)[0]) and (more := os.read(read, 65536)):
            text += more.decode()
        os.close(read)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child, signal.SIGKILL)  # with what its tests started
        _, status = os.waitpid(child, 0)
        late |= os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGXCPU
        said = text.splitlines()
        failed = [line.removeprefix("failed ") for line in said if line.startswith("failed ")]
        begun = [line.removeprefix("begun ") for line in said if line.startswith("begun ")]
        if failed:
            return "killed", failed[0]
        if "ended" in said:
            return "survived", ""
        return "timeout" if late else "killed", (begun or files)[-1]

    def _prepare(self, users: Set[str]) -> None:
        """Import the package anew from the copy, and compile what does not depend on the changed module."""
        import numpy as np

        os.chdir(self.tree)
        sys.path.insert(0, str(self.tree))
        for name in [name for name in sys.modules if name.partition(".")[0] in ("pipeline_lib", "tests")]:
            del sys.modules[name]
        if not any("intrinsic" in Path(path).read_text(encoding="utf-8") for path in users):
            interpret({_dotted(path) for path in users})
        if users:
            np.seterr(all="ignore")  # compiled code does not warn either


class Verdicts:
    """A small study of all papers in the copy, which runs again with a mutant as far as that changes its jobs."""

    def __init__(self, folder: Path) -> None:
        self.tree, self.base = folder / "tree", folder / "base"
        self.statuses: dict[str, str] = {}

    def of(self, mutant: Change) -> tuple[str, str]:
        """Whether a job stops or a claim has another status, and which one."""
        if not self.statuses:
            (self.tree / "small.yaml").write_text(yaml.safe_dump(STUDY), encoding="utf-8")
            self.statuses = self._run()
            if STOPPED in self.statuses:
                raise RuntimeError(f"the small study stops without any mutant; see {self.tree / '.snakemake/log'}")
            self._copy(self.tree, self.base)
        with put_into(self.tree, mutant):
            self._copy(self.base, self.tree)
            found = self._run()
        moved = [
            f"{claim}: {self.statuses.get(claim)} -> {now}"
            for claim, now in found.items()
            if now != self.statuses.get(claim)
        ]
        return ("verdict", "; ".join(moved)) if moved else ("survived", "")

    def _run(self) -> dict[str, str]:
        """Claim -> status; the word for a run that stopped where one did."""
        command = [sys.executable, "-m", "snakemake", CLAIMS, "--cores", "1", "--configfile", "small.yaml", "--quiet"]
        if subprocess.run(command, cwd=self.tree, check=False, capture_output=True).returncode:
            return {STOPPED: "stopped"}
        found = json.loads((self.tree / CLAIMS).read_text(encoding="utf-8"))["claims"]
        return {claim["id"]: claim["status"] for claim in found}

    def _copy(self, source: Path, target: Path) -> None:
        for made in ("results", "reports", "data/parquet", ".snakemake"):
            shutil.rmtree(target / made, ignore_errors=True)
            shutil.copytree(source / made, target / made, symlinks=True)


@contextlib.contextmanager
def put_into(tree: Path, mutant: Change) -> Iterator[None]:
    """Have the copy contain a mutant."""
    path = tree / mutant.module
    source, times = path.read_bytes(), path.stat()
    path.write_text(mutant.applied(source.decode()), encoding="utf-8")
    os.utime(path, (now := times.st_mtime + time.monotonic(), now))  # no other compiled form has this time
    try:
        yield
    finally:
        path.write_bytes(source)
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))


def interpret(modules: Set[str]) -> None:
    """Compile no function of these modules, which are not yet imported."""
    compiled = importlib.import_module("pipeline_lib.core.compiled")
    njit = compiled.njit

    def decorator(*functions: Callable[..., Any], **options: Any) -> Any:
        def decorated(function: Callable[..., Any]) -> Any:
            return function if function.__module__ in modules else njit(function, **options)

        return decorated(*functions) if functions else decorated

    compiled.njit = decorator  # type: ignore[attr-defined]


def _run(files: Sequence[str], left_out: Sequence[str], seconds: float, say: Callable[[str], object]) -> None:
    """Run files of tests, some at a time, until one fails or the time is over."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    ends = time.process_time() + seconds
    resource.setrlimit(resource.RLIMIT_CPU, (int(ends + HANGING), resource.RLIM_INFINITY))
    rest = list(files)
    for size in BATCHES:
        batch, rest = rest[:size], rest[size:]
        if batch and time.process_time() < ends:
            watch = Watch(say, ends)
            leaving = (f"--deselect={name}" for name in left_out)
            status = pytest.main([*OPTIONS, "-m", CHOSEN, *leaving, *batch], plugins=[watch])
            if watch.failed or status not in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
                return
    say("ended")


class Watch:
    """Says which test begins, and which one fails, and lets none begin when the time is over."""

    def __init__(self, say: Callable[[str], object], ends: float) -> None:
        self.say, self.ends, self.failed = say, ends, False

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self) -> None:
        if time.process_time() > self.ends:
            pytest.skip("no time was left")

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self.say(f"begun {nodeid}")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self._fail(report.nodeid)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self._fail(report.nodeid)

    def _fail(self, name: str) -> None:
        if not self.failed:
            self.say(f"failed {name}")
        self.failed = True


def nearest(module: str) -> list[str]:
    """The files of tests that a module can affect, the nearest first."""
    return [path for path in affected.tests_of([module]) if not path.startswith(LEFT_OUT)]


@cache
def users_of(module: str) -> frozenset[str]:
    """The compiled modules that import a module, directly or through others; also itself, if it is one."""
    if not module.endswith(".py"):
        return frozenset()
    users = {_dotted(module), *affected.graph().find_downstream_modules(_dotted(module))}
    files = [f"{name.replace('.', '/')}{ending}" for name in users for ending in (".py", "/__init__.py")]
    files = [path for path in files if (affected.ROOT / path).is_file()]
    return frozenset(path for path in files if "njit" in (affected.ROOT / path).read_text(encoding="utf-8"))


def _dotted(path: str) -> str:
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


if __name__ == "__main__":
    main()
