"""The console shows the plan, a line per finished job and the end of a failed job's log, and hides no warning."""

import io
import logging
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from snakemake_interface_logger_plugins.common import LogEvent

from pipeline_lib.study import console
from pipeline_lib.study.planning import PlannedJob

JOBS = {number: PlannedJob("train_model", 10.0, None) for number in (1, 2, 3, 4)}
TARGET = 9


class Run:
    """A logger with a console handler, and a clock that a test sets."""

    def __init__(self, slots: int | None = 2, **options: Any) -> None:
        self.now = 0.0
        self.stream = io.StringIO()
        handler = logging.StreamHandler(self.stream)
        written = console.Console(
            logging.Formatter("usual: %(message)s"),
            lambda: console.Plan("THE PLAN", JOBS, slots),
            clock=lambda: self.now,
            **options,
        )
        handler.addFilter(written.filter)
        handler.setFormatter(written)
        self.logger = logging.Logger("test")
        self.logger.addHandler(handler)
        self.tell("Job stats: ...", LogEvent.RUN_INFO)

    def tell(self, message: str | None, event: LogEvent | None = None, level: int = logging.INFO, **facts: Any) -> None:
        self.logger.log(level, message, extra={"event": event, **facts})

    def start(self, job: int, rule: str = "train_model", **facts: Any) -> None:
        known = {"wildcards": {"study": "s", "fold": str(job)}, "benchmark": None}
        self.tell("Rule", LogEvent.JOB_INFO, jobid=job, rule_name=rule, **{**known, **facts})

    def finish(self, job: int) -> None:
        self.tell("Finished", LogEvent.JOB_FINISHED, job_id=job)

    def fail(self, job: int, *logs: Path, **facts: Any) -> None:
        self.tell(
            "Error in rule train_model", LogEvent.JOB_ERROR, logging.ERROR,
            jobid=job, rule_name="train_model", rule_msg=None, aux={}, log=[str(log) for log in logs], **facts,
        )  # fmt: skip

    def lines(self) -> list[str]:
        return self.stream.getvalue().splitlines()


def test_a_finished_job_is_one_line_with_its_time_and_what_is_left() -> None:
    run = Run()
    run.start(1)
    run.start(2)
    run.now = 20.0
    run.finish(1)
    [line] = run.lines()[1:]
    assert "[1/4] train_model fold=1: 20.0 s; 3 left" in line
    # Two to come at twice their estimates and one that has used all of its own, two at a time.
    assert line.endswith("about 20 s")


def test_on_a_cluster_the_work_that_is_left_is_told_and_no_time() -> None:
    run = Run(slots=None)
    run.start(1)
    run.start(2)
    run.now = 20.0
    run.finish(1)
    # The other one may have waited in the queue all the time.
    assert run.lines()[1].endswith("3 left, about 60 s of work")


def test_what_a_job_measured_itself_counts_and_not_the_queue_before_it(tmp_path: Path) -> None:
    record = tmp_path / "fold-1.tsv"
    record.write_text("s\tmax_rss\n5.0\t10\n")
    run = Run()
    run.start(1, benchmark=str(record))
    run.now = 300.0
    run.finish(1)
    assert "fold=1: 5.0 s" in run.lines()[1]


def test_a_failed_job_names_its_log_and_shows_the_end_of_it(tmp_path: Path) -> None:
    log = tmp_path / "job.log"
    log.write_text("".join(f"line {i}\n" for i in range(500)) + "error: the cause\n")
    run = Run()
    run.start(1)
    run.fail(1, log)
    text = "\n".join(run.lines())
    assert "train_model fold=1" in text
    assert str(log) in text
    assert "error: the cause" in text
    assert "line 3\n" not in text


def test_a_failed_group_shows_the_scheduler_s_log_and_the_jobs_that_began(tmp_path: Path) -> None:
    scheduler, began = tmp_path / "slurm.log", tmp_path / "began.log"
    scheduler.write_text("out of memory\n")
    began.write_text("error: the cause\n")
    run = Run()
    run.tell("Error", LogEvent.GROUP_ERROR, logging.ERROR, aux_logs=[str(scheduler)], job_error_info=[{}, {}])
    run.start(1)
    run.fail(1, began, indent=True)
    run.fail(2, tmp_path / "never-began.log", indent=True)
    text = "\n".join(run.lines())
    assert "out of memory" in text
    assert "error: the cause" in text
    assert "never-began" not in text


def test_a_job_that_is_tried_again_counts_once() -> None:
    run = Run()
    run.start(1)
    run.fail(1)
    run.start(1)
    run.now = 10.0
    run.finish(1)
    assert "[1/4]" in run.lines()[-1]


@pytest.mark.parametrize("level", [logging.WARNING, logging.ERROR])
def test_warnings_and_errors_and_unknown_news_are_shown(level: int) -> None:
    run = Run()
    run.tell("Select jobs to execute: a warning of the same words", level=level)
    run.tell("Creating conda environment environment.yml...")
    assert [line.startswith("usual: ") for line in run.lines()[1:]] == [True, True]


def test_a_dry_run_lists_its_jobs_by_name_and_then_its_plan() -> None:
    run = Run(dry=True)
    run.start(1)
    run.start(TARGET, rule="all")
    assert run.lines() == ["  train_model fold=1"]
    for _ in range(2):
        run.tell("Job stats: ...", LogEvent.RUN_INFO)
    assert run.lines() == ["  train_model fold=1", "THE PLAN"]


def test_details_are_snakemake_s_own() -> None:
    run = Run(detailed=True)
    run.start(1)
    assert run.lines() == ["THE PLAN", "usual: Job stats: ...", "usual: Rule"]


@pytest.mark.parametrize("quiet", [None, {"rules"}])
def test_quiet_leaves_snakemake_s_handlers_as_they_are(quiet: set[str] | None) -> None:
    logger = logging.Logger("test")
    handler = logging.StreamHandler(io.StringIO())
    logger.addHandler(handler)
    settings = SimpleNamespace(quiet=quiet, printshellcmds=False, verbose=False, debug_dag=False, dryrun=False)
    console.attach(logger, settings, lambda: console.Plan("", {}, 1))
    assert isinstance(handler.formatter, console.Console) == (quiet is None)
