"""A temporary copy of the project, and Snakemake inside it."""

import compileall
import fcntl
import hashlib
import os
import re
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import pytest
import yaml

from pipeline_lib import papers
from pipeline_lib.study import import_closure

from . import forked, job_server

ROOT = Path(__file__).parents[2]
PARTS = (
    "Snakefile",
    "config.yaml",
    "environment.yml",
    "pipeline_lib",
    "workflow",
    "profiles",
    "data",
    "docs/glossary.md",
    "docs/references.md",
    "docs/what-is-new.md",
    *(f"docs/{name}.md" for paper in papers.every() for name in paper.proofs),
)
LEFT_OUT = shutil.ignore_patterns("raw", "parquet", "logs", "*.partial", "__pycache__")
RECORDS_OF_RUNS = ("provenance.json", "ro-crate-metadata.json", "files.json")
"""Files that say when and how a study ran, or list such files with digests, and therefore differ from run to run."""
COMPILED = ".pyc"
"""Files that Python replaces and never changes, so that copies of the project may share them."""

SMALL = {
    "study": "small",
    "letor_sim": {"queries": 40, "population": {}},
    "folds": [1, 2],
    "models": [
        {"name": "random", "algorithm": "random"},
        {"name": "listnet", "algorithm": "erm", "surrogate": "listnet", "l2": [0.01, 0.1]},
        {"name": "ranksvm", "algorithm": "erm", "surrogate": "ranksvm", "l2": [0.1]},
    ],
    "statistics": {"level": 0.95, "resamples": 200},
    "papers": [],
}
TINY = {
    **SMALL,
    "letor_sim": {"queries": 20, "population": {}},
    "folds": [1],
    "models": [
        {"name": "random", "algorithm": "random"},
        {"name": "listnet", "algorithm": "erm", "surrogate": "listnet", "l2": [0.1]},
    ],
}


@dataclass(frozen=True)
class Project:
    """A copy of the project in a temporary folder."""

    folder: Path
    original: ClassVar[Path]
    """What copies are made from."""

    def command(self, *arguments: str, cores: int = 2) -> list[str]:
        """The command line of a run of the small study."""
        return [sys.executable, "-m", "snakemake", *self.arguments(*arguments, cores=cores)]

    def arguments(self, *arguments: str, cores: int = 2) -> list[str]:
        """What follows the name of the program there."""
        return [*arguments, "--cores", str(cores), "--configfile", "small.yaml"]

    def snakemake(self, *arguments: str, cores: int = 2, check: bool = True, **environment: str) -> str:
        """Run Snakemake on the small study; return all it printed."""
        given, interpreter = self.arguments(*arguments, cores=cores), job_server.interpreter()
        status, output = forked.snakemake(given, self.folder, interpreter=interpreter, **environment)
        if check and status:
            pytest.fail(f"snakemake {' '.join(arguments)} ended with {status}:\n{output[-6000:]}")
        return output

    def planned(self, *arguments: str) -> dict[str, int]:
        """The jobs a run would start: rule -> count, from a dry run's closing table."""
        return job_table(self.snakemake("-n", *arguments, "--quiet", "rules").splitlines())

    def tables(self, study: str = "small") -> dict[str, str]:
        """The SHA-256 of every results table, model and claim."""
        files = [
            path
            for top in (f"results/{study}", f"reports/{study}")
            for path in sorted((self.folder / top).rglob("*"))
            if path.suffix in (".parquet", ".json", ".csv", ".tex") and path.name not in RECORDS_OF_RUNS
        ]
        return {str(path.relative_to(self.folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def job_table(lines: list[str]) -> dict[str, int]:
    """Read the table "job count" that Snakemake prints."""
    jobs: dict[str, int] = {}
    for line in lines:
        words = line.split()
        if len(words) == 2 and words[1].isdecimal() and words[0] not in ("total", "all"):
            jobs[words[0]] = int(words[1])
    return jobs


def announced(output: str) -> dict[str, int]:
    """The jobs that the plan of a run says will start: rule -> count."""
    plan = re.search(r"^  jobs +(.*?)^  \w", output, flags=re.MULTILINE | re.DOTALL)
    return {rule: int(count) for count, rule in re.findall(r"(\d+) (\w+)", plan[1])} if plan else {}


def copy_parts(folder: Path) -> None:
    """Copy what a run needs of this project."""
    for part in PARTS:
        (folder / part).parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / part).is_dir():
            shutil.copytree(ROOT / part, folder / part, ignore=LEFT_OUT)
        else:
            shutil.copy2(ROOT / part, folder / part)


@pytest.fixture(scope="session", autouse=True)
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What all copies of the project are made from: compiled, and with all modules read for plans, once for all."""

    def make(project: Project) -> None:
        copy_parts(project.folder)
        compileall.compile_dir(project.folder / "pipeline_lib", quiet=2)
        (project.folder / ".snakemake").mkdir()
        import_closure.remember(project.folder / ".snakemake/sources.json")
        modules = (path.relative_to(ROOT) for path in (ROOT / "pipeline_lib").rglob("*.py"))
        import_closure.digest(".".join(path.with_suffix("").parts).removesuffix(".__init__") for path in modules)
        import_closure.remember(None)

    Project.original = shared(tmp_path_factory, "original", make).folder
    return Project.original


def copy_folder(source: Path, target: Path) -> Project:
    """Copy a project, times of files included."""

    def copy(one: str, other: str) -> None:
        (os.link if one.endswith(COMPILED) else shutil.copy2)(one, other)

    shutil.copytree(source, target, symlinks=True, copy_function=copy, dirs_exist_ok=True)
    return Project(target)


def copy_project(folder: Path, config: dict[str, object]) -> Project:
    """Copy what a run needs and write the small study's configuration."""
    project = copy_folder(Project.original, folder)
    (folder / "small.yaml").write_text(yaml.safe_dump(config))
    return project


@pytest.fixture
def new_project(tmp_path: Path) -> Callable[..., Project]:
    """Make a fresh copy of the project, with keys of the small study overridden."""

    def make(name: str = "project", **overrides: object) -> Project:
        return copy_project(tmp_path / name, {**SMALL, **overrides})

    return make


def shared(factory: pytest.TempPathFactory, name: str, make: Callable[[Project], object]) -> Project:
    """A project that all workers of pytest-xdist use: the first that needs it makes it, and the others wait."""
    base = factory.getbasetemp().parent if os.environ.get("PYTEST_XDIST_WORKER") else factory.getbasetemp()
    project, made = Project(base / name), base / f"{name}.made"
    with (base / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not made.exists():
            shutil.rmtree(project.folder, ignore_errors=True)
            make(project)
            made.touch()
    return project


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A copy in which the small study has run on one core; tests that change it must copy it first."""
    return shared(
        tmp_path_factory, "finished", lambda project: copy_project(project.folder, dict(SMALL)).snakemake(cores=1)
    )


@pytest.fixture
def finished_copy(finished: Project, tmp_path: Path) -> Project:
    """A copy of the finished project, times of files included, that a test may change."""
    return copy_folder(finished.folder, tmp_path / "copy")


@pytest.fixture
def with_data(finished: Project, tmp_path: Path) -> Callable[..., Project]:
    """Make a copy of the project that has the data of the small study, but no results, with keys overridden."""

    def make(**overrides: object) -> Project:
        project = copy_folder(finished.folder, tmp_path / "project")
        for made in ("results", "reports"):
            shutil.rmtree(project.folder / made)
        (project.folder / "small.yaml").write_text(yaml.safe_dump({**SMALL, **overrides}))
        return project

    return make
