"""Single calls of the system that fail in the jobs of data sets; ``tests/workflow/test_failing_calls.py`` has more."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from . import ERRORS, Faults, NoCompiler, name_of
from .jobs import Job, Study

ROOT = Path(__file__).parents[2]
MANIFEST = "data/raw/letor-sim/manifest.json"
CONVERTED = [
    f"--{name}=data/parquet/letor-sim/{name}.{end}" for name, end in (("documents", "parquet"), ("summary", "json"))
]


def job(*words: str) -> Job:
    return Job(
        [sys.executable, "-m", "pipeline_lib", *words, "--threads", "1", "--code", "1"], f"results/{words[0]}.log"
    )


SIMULATE = job("simulate-data", "--dataset=letor-sim", "--queries=8", "--seed=1", f"--manifest={MANIFEST}")
CONVERT = job("convert-data", "--dataset=letor-sim", f"--manifest={MANIFEST}", *CONVERTED)


def faults_of(place: Path, folder: Path) -> Faults:
    try:
        return Faults(place, folder)
    except NoCompiler as reason:
        pytest.skip(str(reason))


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Study]:
    """A folder with a small data set, and a server whose forks are its jobs."""
    folder = tmp_path_factory.mktemp("study")
    environment = {name: value for name, value in os.environ.items() if name != "PYTEST_CURRENT_TEST"}
    faults = faults_of(tmp_path_factory.mktemp("faults"), folder)
    made = Study(folder, faults, environment, ROOT)
    with made.served():
        made.undisturbed(SIMULATE)
        yield made


@pytest.mark.parametrize(
    ("command", "operation", "number", "error", "word"),
    [
        (SIMULATE, "write", 2, "EIO", "refused"),
        (CONVERT, "close", 1, "ENOSPC", "refused"),
        (CONVERT, "write", 1, "short", "survived"),
        # What is closed is closed also where the system tells only then that something could not be written.
        (CONVERT, "close of a log", 1, "EDQUOT", "survived"),
        *(
            pytest.param(*failure, marks=pytest.mark.slow)
            for failure in (
                (SIMULATE, "write", 1, "ENOSPC", "refused"),
                (CONVERT, "rename", 1, "EIO", "refused"),
                (CONVERT, "open", 1, "EMFILE", "refused"),
                (CONVERT, "read", 5, "EIO", "refused"),
                (CONVERT, "fork", 1, "EAGAIN", "survived"),
                (CONVERT, "close of a log", 4, "EDQUOT", "survived"),
                (CONVERT, "close", 2, "EIO", "refused"),
            )
        ),
    ],
)
def test_a_call_that_fails_is_survived_or_named(
    study: Study, command: Job, operation: str, number: int, error: str, word: str
) -> None:
    [chosen] = [one for one in ERRORS[operation] if name_of(one) == error]
    verdict = study.judge(command, operation, number, chosen)
    assert verdict.word == word, verdict.line


SPLIT = job("split-folds", "--dataset=letor-sim", CONVERTED[0], "--folds=data/parquet/letor-sim/folds.parquet")


@pytest.mark.slow
@pytest.mark.parametrize("operation", ["open", "malloc"])
def test_what_polars_and_arrow_are_refused_is_named(study: Study, operation: str) -> None:
    study.undisturbed(CONVERT)
    for number in range(1, study.undisturbed(SPLIT)[1][operation] + 1, 1 if operation == "open" else 9):
        verdict = study.judge(SPLIT, operation, number, ERRORS[operation][-3 if operation == "open" else 0])
        assert verdict.word == "refused", verdict.line


CARELESS = """
import os, sys
name, way = sys.argv[1], sys.argv[2]
try:
    with open(name if way != "renamed" else name + ".new", "w") as file:
        file.write("all of it")
    if way == "renamed":
        os.rename(name + ".new", name)
except OSError:
    if way != "quiet":
        raise
    print("error: something went wrong")
    sys.exit(sys.argv[3:] == ["told"])
"""
"""A job that does not take care of what fails."""


@pytest.mark.parametrize(
    ("words", "operation", "error", "word"),
    [
        (["quiet"], "write", "ENOSPC", "damaged"),
        (["loud"], "write", "EIO", "damaged"),
        (["quiet"], "open", "EMFILE", "silently wrong"),
        (["quiet", "told"], "open", "EMFILE", "unnamed"),
        (["renamed"], "rename", "EIO", "traceback"),
    ],
)
def test_a_careless_job_is_found(tmp_path: Path, words: list[str], operation: str, error: str, word: str) -> None:
    (tmp_path / "code/pipeline_lib").mkdir(parents=True)
    (tmp_path / "code/pipeline_lib/__init__.py").touch()
    (tmp_path / "code/pipeline_lib/__main__.py").write_text(CARELESS)
    (tmp_path / "study/results").mkdir(parents=True)
    study = Study(tmp_path / "study", faults_of(tmp_path / "faults", tmp_path / "study"), os.environ, tmp_path / "code")
    careless = Job([sys.executable, "-m", "pipeline_lib", "results/a.txt", *words], "careless.log")
    [chosen] = [one for one in ERRORS[operation] if name_of(one) == error]
    # More than once, because Python tries again to write what is left when it forgets a file.
    assert study.judge(careless, operation, 1, chosen, times=9).word == word
