"""What is edited while a run is at work changes nothing of the run, on this machine and on nodes of a cluster."""

import functools
import os
import re
import shutil
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from . import forked
from .conftest import Project, announced

pytestmark = pytest.mark.workflow

TRAINING = "pipeline_lib/commands/train_model.py"
EDIT = ("job_seed = ", 'chosen = {**chosen, "l2": [100.0]} if "l2" in chosen else chosen\n        job_seed = ')
HELD = """#!/bin/sh
if [ ! -e {folder}/started ]; then
    touch {folder}/started
    while [ ! -e {folder}/go ]; do sleep 0.1; done
fi
exec {python} "$@"
"""
"""The interpreter of a job, or a job of a cluster, which begins when it is told to."""
SUBMIT = """#!/bin/sh
log=$1.log
nohup sh -c "{folder}/hold; sh $1 > $log 2>&1; echo \\$? > $1.ended" > /dev/null 2>&1 &
echo $1
"""
STATUS = """#!/bin/sh
[ -e $1.ended ] || { echo running; exit; }
[ $(cat $1.ended) = 0 ] && echo success || echo failed
"""


def script(path: Path, text: str) -> Path:
    path.write_text(text)
    path.chmod(0o755)
    return path


@pytest.fixture
def without_models(finished_copy: Project) -> Project:
    """The small study without one of its models, and what follows from it."""
    shutil.rmtree(finished_copy.folder / "results/small/models/letor-sim/listnet")
    return finished_copy


@contextmanager
def waiting(project: Project, folder: Path, *arguments: str, interpreter: Path | None = None) -> Iterator[list[str]]:
    """A run whose first job waits during the block; its output, when it has ended well."""
    output: list[str] = []

    def run() -> None:
        given = project.arguments(*arguments)
        status, printed = forked.snakemake(
            given,
            project.folder,
            interpreter=interpreter or Path(sys.executable),
            prepare=functools.partial(forked.query_every, 0.3),
        )
        output.append(printed if status == 0 else f"ended with {status}: {printed}")

    thread = threading.Thread(target=run)
    thread.start()
    try:
        while not (folder / "started").exists() and thread.is_alive():
            time.sleep(0.05)
        yield output
    finally:
        (folder / "go").touch()
        thread.join()


def test_code_that_is_edited_and_restored_during_a_run_is_not_what_the_run_works_from(
    finished: Project, without_models: Project, tmp_path: Path
) -> None:
    held = script(tmp_path / "python", HELD.format(folder=tmp_path, python=sys.executable))
    path = without_models.folder / TRAINING
    text = path.read_text()
    assert EDIT[0] in text
    with waiting(without_models, tmp_path, interpreter=held) as output:
        path.write_text(text.replace(*EDIT))
        (tmp_path / "go").touch()
        while not output:
            time.sleep(0.05)
        path.write_text(text)
    assert announced(output[0])["train_model"] == 1, output[0]
    assert without_models.tables() == finished.tables()
    assert without_models.planned() == {}


@pytest.mark.parametrize(
    ("path", "jobs"),
    [
        ("pipeline_lib/papers/topk/exactness/claims.yaml", {"judge_claims": 1, "render_report": 1}),
        ("pipeline_lib/proofs/shared/lists-lemma4.toml", {"judge_claims": 1, "render_report": 1}),
        ("pipeline_lib/report/templates/overview.md", {"render_report": 1}),
        ("docs/glossary.md", {"render_report": 1}),
        ("workflow/published/cone-table1.csv", {"summarise_results": 1, "render_report": 1}),
    ],
)
def test_what_was_edited_before_a_job_read_its_copy_is_noticed_by_the_next_plan(
    finished_copy: Project, path: str, jobs: dict[str, int]
) -> None:
    """The report is newer than the edit, which came after the copy from which the run worked."""
    file = finished_copy.folder / path
    before = file.stat()
    file.write_text(file.read_text() + "\n")
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert finished_copy.planned() == jobs


def test_a_job_that_waits_in_a_queue_works_from_what_was_planned(
    finished: Project, without_models: Project, tmp_path: Path
) -> None:
    """Its node reads the rules and the configuration once more: the study, the code and the rules are edited before."""
    script(tmp_path / "hold", HELD.format(folder=tmp_path, python="true"))
    submit = script(tmp_path / "submit", SUBMIT.format(folder=tmp_path))
    status = script(tmp_path / "status", STATUS)
    arguments = ["--executor", "cluster-generic", "--jobs", "2", "--latency-wait", "30"]
    arguments += ["--cluster-generic-submit-cmd", str(submit), "--cluster-generic-status-cmd", str(status)]
    edited = {
        "small.yaml": lambda text: text + "erm: {tol: 1.0}\nseed: 5\n",
        TRAINING: lambda text: text.replace(*EDIT),
        "workflow/rules/models.smk": lambda text: "this is no rule\n",
    }
    before = {name: (without_models.folder / name).read_text() for name in edited}
    with waiting(without_models, tmp_path, *arguments) as output:
        for name, edit in edited.items():
            (without_models.folder / name).write_text(edit(before[name]))
    for name, text in before.items():
        (without_models.folder / name).write_text(text)
    assert re.search(r"train_model trained=letor-sim/listnet", output[0]), output[0]
    assert without_models.tables() == finished.tables()
    assert without_models.planned() == {}


def test_an_edit_of_the_same_size_and_time_is_seen(finished_copy: Project) -> None:
    path = finished_copy.folder / "pipeline_lib/study/planning.py"
    planned = finished_copy.snakemake("-n", "-f", "results/small/models.json")
    text, times = path.read_text(), path.stat()
    assert "Plan of the study" in planned
    path.write_text(text.replace("Plan of the study", "Plan of the STUDY"))

    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert "Plan of the STUDY" in finished_copy.snakemake("-n", "-f", "results/small/models.json")
