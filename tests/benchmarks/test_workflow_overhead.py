"""The shares of a run's time are computed from records of Snakemake, and the page shows what the table contains."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from benchmarks import recorded, workflow_overhead
from benchmarks.workflow_overhead import Job, Run


def record(folder: Path, name: str, started: float, ended: float) -> None:
    """A record of Snakemake about a job, as it is stored for each of its files."""
    for file in ("a", "b"):
        path = folder / ".snakemake/metadata" / f"{name.replace('/', '-')}-{file}"
        path.parent.mkdir(parents=True, exist_ok=True)
        log = f"results/small/logs/{name}.log"
        record = {"rule": name.partition("/")[0], "log": [log], "starttime": started, "endtime": ended}
        path.write_text(json.dumps(record))


def logged(folder: Path, name: str, ended: float, elapsed: str, cores: int) -> None:
    """The log of a run."""
    path = folder / f".snakemake/log/{name}.snakemake.log"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"  Command: snakemake --quiet --cores all\nProvided cores: {cores}\nElapsed time: {elapsed}\n")
    os.utime(path, (ended, ended))


def test_the_run_in_which_most_jobs_ended_counts(tmp_path: Path) -> None:
    record(tmp_path, "train_model/letor-sim/random", 10.0, 14.0)
    record(tmp_path, "evaluate_model/letor-sim/random", 15.0, 18.0)
    record(tmp_path, "render_report", 200.0, 208.0)
    logged(tmp_path, "first", 20.0, "0:00:12.000000", 2)
    logged(tmp_path, "second", 210.0, "0:00:15.000000", 4)
    run = workflow_overhead.last_run(tmp_path, "small")
    assert (run.cores, run.began, run.ended) == (2, 8.0, 20.0)
    assert [job.name for job in run.jobs] == ["train_model/letor-sim/random", "evaluate_model/letor-sim/random"]
    with pytest.raises(ValueError, match="found none"):
        workflow_overhead.last_run(tmp_path, "another")


def test_what_jobs_do_not_use_is_what_cores_spend_without_them() -> None:
    jobs = (Job("a/1", "a", 1.0, 5.0), Job("a/2", "a", 1.0, 4.0), Job("b", "b", 5.5, 8.5))
    numbers = workflow_overhead.of_run(Run(0.0, 10.0, 2, jobs), start=0.5)
    assert [number.seconds for number in numbers if number.table == "run"] == [10.0, 10.0, 1.5, 10.0, 5.0]
    assert [(n.what, n.jobs, n.seconds) for n in numbers if n.table == "rules"] == [("a", 2, 7.0), ("b", 1, 3.0)]
    text = workflow_overhead.section(numbers)
    assert "50.0% of their time" in text
    assert "57.5% were not spent" in text


def test_the_page_shows_the_table() -> None:
    page = workflow_overhead.PAGE.read_text(encoding="utf-8")
    numbers = recorded.read(workflow_overhead.TABLE, workflow_overhead.Number)
    assert numbers
    assert recorded.with_section(page, workflow_overhead.section(numbers)) == page
