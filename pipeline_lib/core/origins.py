"""Which code and which settings made a stored file, and are they those of the run that reads it?

The workflow gives every job the digest of its code; that of its settings is one of its command line. Beside every file
that a job stores, ``.NAME.made`` states both, with the checksum of the file that it is about, and what it must share
with other parts of the same work. They are not in the file itself, so that another version of the code that computes
the same writes the same bytes. What a run has planned of all
its jobs is in a file to which the environment points; before a job reads its input, it compares the two.
"""

import hashlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

__all__: list[str] = []  # internal: called by storage, the command line and the workflow alone

VARIABLE = "LTR_RUN"
"""The variable of the environment that names the folder with what was planned of a run."""
SUFFIX = ".made"
PLAN = "plan.json"
"""The file there with the jobs of the run."""


class Origin(NamedTuple):
    """What made a file: digests of code and settings."""

    code: str
    settings: str


_job: Origin | None = None
"""The job that this process does."""
_shared: dict[str, Any] = {}
"""What it shares with all jobs among which the same work is divided."""


def settings_of(words: Sequence[str]) -> str:
    """The digest of the settings of a job: of the words of its command, with its options and files.

    Example
    -------
    >>> settings_of(["train-model", "--fold", "1"]) == settings_of(["train-model", "--fold", "2"])
    False
    """
    return hashlib.sha256(json.dumps(list(words)).encode()).hexdigest()[:16]


def begin(code: str, words: Sequence[str]) -> None:
    """Let this process be the job with this command line, up to the options that change no result."""
    global _job
    _job = Origin(code, settings_of(words))


@contextmanager
def sharing(seed: int, settings: Mapping[str, Any], most_queries: int | None) -> Iterator[None]:
    """State of files that the block stores what all parts of the same work are made with, in a run or outside."""
    digest = settings_of([json.dumps(dict(settings), sort_keys=True)])
    _shared.update(seed=seed, experiment=digest, most_queries=most_queries)
    try:
        yield
    finally:
        _shared.clear()


def of_this_job() -> dict[str, Any]:
    """What a file that this process stores states of its origin; nothing outside of jobs."""
    return {**(_job._asdict() if _job else {}), **_shared}


def beside(path: str | os.PathLike[str]) -> Path:
    """Where the origin of a file is stated.

    Example
    -------
    >>> beside("results/small/models.json").name
    '.models.json.made'
    """
    return Path(path).with_name(f".{Path(path).name}{SUFFIX}")


def about(path: Path) -> Path:
    """The file about whose origin a file states something.

    Example
    -------
    >>> about(beside("results/small/models.json")).as_posix()
    'results/small/models.json'
    """
    return path.with_name(path.name[1:].removesuffix(SUFFIX))


def write_plan(folder: Path, jobs: Sequence[tuple[Sequence[str], str, Sequence[str], Sequence[str]]]) -> None:
    """Write what is planned of all jobs: of each its command, the digest of its code, and its input and output."""
    made: dict[str, str] = {}
    described: dict[str, dict[str, Any]] = {}
    for words, code, inputs, outputs in jobs:
        settings = settings_of(words)
        described[settings] = {"code": code, "inputs": list(inputs)}
        made |= dict.fromkeys(outputs, settings)
    partial = folder / f".{PLAN}.partial"
    partial.write_text(json.dumps({"jobs": described, "made": made}), encoding="utf-8")
    partial.replace(folder / PLAN)


def inputs() -> Iterator[tuple[Path, Origin | None]]:
    """The input of this job, and by what the run has planned each file to be made; nothing where no plan is known.

    A file that no job of the workflow makes has no origin.
    """
    plan = _plan()
    if _job is None or plan is None or _job.settings not in plan["jobs"]:
        return
    for path in plan["jobs"][_job.settings]["inputs"]:
        settings = plan["made"].get(path)
        yield Path(path), None if settings is None else Origin(plan["jobs"][settings]["code"], settings)


def _plan() -> Mapping[str, Any] | None:
    path = Path(os.environ.get(VARIABLE, ""), PLAN)
    if VARIABLE not in os.environ or not path.is_file():
        return None
    found: Mapping[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found
