"""The console shows the plan, a line per finished job and the end of a failed job's log, and hides no warning."""

import io
import logging
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from snakemake_interface_logger_plugins.common import LogEvent

from pipeline_lib.study import console

JOBS = frozenset({1, 2, 3, 4})
TARGET = 9


class Run:
    """A console handler, and a clock that a test sets."""

    def __init__(self, **options: Any) -> None:
        self.now = 0.0
        self.stream = io.StringIO()
        self.handler = logging.StreamHandler(self.stream)
        usual = logging.Formatter("usual: %(message)s")
        written = console.Console(usual, lambda: console.Plan("THE PLAN", JOBS), **options)
        self.handler.addFilter(written.filter)
        self.handler.setFormatter(written)
        self.tell("Job stats: ...", LogEvent.RUN_INFO)

    def tell(self, message: str | None, event: LogEvent | None = None, level: int = logging.INFO, **facts: Any) -> None:
        known = {"msg": message, "levelno": level, "created": self.now, "event": event}
        self.handler.handle(logging.makeLogRecord({**known, **facts}))

    def start(self, job: int, rule: str = "train_model") -> None:
        wildcards = {"study": "s", "fold": str(job)}
        self.tell("Rule", LogEvent.JOB_INFO, jobid=job, rule_name=rule, wildcards=wildcards)

    def finish(self, job: int) -> None:
        self.tell("Finished", LogEvent.JOB_FINISHED, job_id=job)

    def end(self, command: str, how: str) -> None:
        """What Snakemake says of a command that failed, before it says it of its job."""
        said = f"RuleException:\nCalledProcessError in file x.smk, line 3:\nCommand 'set -e; {command}' {how}"
        self.tell(said, LogEvent.ERROR, logging.ERROR, exception="RuleException")

    def fail(self, job: int, *logs: Path, **facts: Any) -> None:
        self.tell(
            "Error in rule train_model", LogEvent.JOB_ERROR, logging.ERROR,
            jobid=job, rule_name="train_model", rule_msg=None, aux={}, log=[str(log) for log in logs], **facts,
        )  # fmt: skip

    def lines(self) -> list[str]:
        return self.stream.getvalue().splitlines()


def test_a_finished_job_is_one_line_with_its_number_and_its_time() -> None:
    run = Run()
    run.start(1)
    run.start(2)
    run.now = 20.0
    run.finish(1)
    run.start(TARGET, rule="all")
    run.finish(TARGET)
    assert run.lines() == ["THE PLAN", "[1/4] train_model fold=1: 20.0 s"]


def test_a_warning_stands_below_the_job_after_which_it_is_known() -> None:
    known: list[str] = []
    run = Run(warning=lambda rule, wildcards: f"{wildcards['fold']} is odd" if rule in known else "")
    for job, rule in ((1, "convert_data"), (2, "train_model")):
        run.start(job, rule)
    known.append("convert_data")  # what the job has written
    run.finish(1)
    run.finish(2)
    assert run.lines()[1:] == [
        "[1/4] convert_data fold=1: 0.0 s",
        "  WARNING: 1 is odd",
        "[2/4] train_model fold=2: 0.0 s",
    ]


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


@pytest.mark.parametrize(
    ("end", "known"),
    [
        ("died with <Signals.SIGKILL: 9>.", "signal SIGKILL, usually because memory ran out"),
        ("returned non-zero exit status 137.", "signal SIGKILL, usually because memory ran out"),
        ("returned non-zero exit status 152.", "signal SIGXCPU, since it took more processor time"),
        ("returned non-zero exit status 1.", "is the disk full?"),
    ],
)
def test_the_signal_that_ended_a_job_is_named(tmp_path: Path, end: str, known: str) -> None:
    (log := tmp_path / "job.log").touch()
    run = Run()
    run.start(1)
    run.end("work --fold 1", end)
    run.fail(1, log, shellcmd="work --fold 1")
    text = "\n".join(run.lines())
    assert known in text
    assert ("signal" in known) == ("the disk" not in text)
    run.start(2)
    run.fail(2, log, shellcmd="work --fold 2")
    assert "by the signal" not in "\n".join(run.lines()).rpartition("fold=2")[2]


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
    console.attach(logger, settings, lambda: console.Plan("", frozenset()), lambda rule, wildcards: "")
    assert isinstance(handler.formatter, console.Console) == (quiet is None)
