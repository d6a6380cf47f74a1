"""How does a run report its plan and its progress on the console?

Snakemake reports through Python's ``logging``, and its records name their event. A :class:`Console` replaces the
formatter of Snakemake's console handler: it prints the plan once (a dry run at its end), one line per finished job, and
the log of a failed job; warnings, errors and records without an event are not changed. Snakemake's log file in
``.snakemake/log/`` is not affected and contains every detail.
"""

import logging
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from snakemake_interface_logger_plugins.common import LogEvent

from pipeline_lib.study.planning import PlannedJob, TimeLeft, duration, recorded_seconds
from pipeline_lib.study.run_lock import why_unwritable

# The beginnings of messages without an event that are of no use to a reader.
CHATTER = (
    "Assuming unrestricted shared filesystem",
    "Building DAG of jobs",
    "Conda environments: ignored",
    "Group jobs: inactive",
    "Reasons:",
    "Rules with provenance triggered jobs",
    "Select jobs to execute",
    "Some jobs were triggered by provenance",
    "Using shell:",
)
END_OF_LOG = 20


class Plan(NamedTuple):
    """What a run will do: its description, the jobs by Snakemake's numbers, and how many run at a time if known."""

    text: str
    jobs: Mapping[int, PlannedJob]
    slots: int | None


class _Started(NamedTuple):
    name: str
    benchmark: Path | None
    at: float


class Console(logging.Formatter):
    """Write Snakemake's records for people.

    Parameters
    ----------
    usual : logging.Formatter
        Writes all records that this class does not write itself.
    plan : callable
        Returns the :class:`Plan`; called once, when the jobs are known.
    detailed : bool
        Whether Snakemake's own output is wanted, with the files and reasons of every job; then only the plan is added.
    dry : bool
        Whether jobs are only listed and not run.
    clock : callable
        Returns the time in seconds.
    """

    def __init__(
        self,
        usual: logging.Formatter,
        plan: Callable[[], Plan],
        *,
        detailed: bool = False,
        dry: bool = False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__()
        self._usual = usual
        self._plan = plan
        self._detailed = detailed
        self._dry = dry
        self._clock = clock
        self._text = ""
        self._left: TimeLeft | None = None
        self._on_cluster = False
        self._planned: frozenset[int] = frozenset()
        self._started: dict[int, _Started] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether a record is shown at all."""
        event = getattr(record, "event", None)
        if event == LogEvent.JOB_INFO:
            self._note_start(record)
        if event == LogEvent.RUN_INFO:
            first = self._left is None
            if first:
                # Here and not while formatting: an error must reach Snakemake and not its handler.
                plan = self._plan()
                self._left = TimeLeft(plan.jobs, plan.slots or 1)
                self._on_cluster, self._planned, self._text = plan.slots is None, frozenset(plan.jobs), plan.text
            # A dry run reports twice: its plan follows the many names of its jobs, where a reader finds it.
            return self._detailed or (bool(self._text) and first is not self._dry)
        if self._detailed:
            return True
        if record.levelno >= logging.WARNING:
            return not _repeats_command(record) and not _never_began(record)
        if event == LogEvent.JOB_INFO:
            return self._dry and record.__dict__["jobid"] in self._planned
        if event == LogEvent.JOB_FINISHED:
            # Targets are not part of the plan: they only collect files.
            return record.__dict__["job_id"] in self._planned & self._started.keys()
        # What all other events tell is in the plan, or in the line of a finished job.
        return event is None and not str(record.msg or "").lstrip().startswith(CHATTER)

    def format(self, record: logging.LogRecord) -> str:
        """The text for one record."""
        event = getattr(record, "event", None)
        facts = record.__dict__
        if event == LogEvent.RUN_INFO and self._text:
            text, self._text = self._text, ""
            return f"{text}\n{self._usual.format(record)}" if self._detailed else text
        if self._detailed:
            return self._usual.format(record)
        if event == LogEvent.JOB_INFO:
            return f"  {self._started[facts['jobid']].name}"
        if event == LogEvent.JOB_FINISHED:
            return self._finished(facts["job_id"])
        if event == LogEvent.JOB_ERROR:
            return self._failed(facts)
        if event == LogEvent.GROUP_ERROR:
            # The records of the failed jobs follow; this is what the scheduler wrote.
            ends = (line for log in facts["aux_logs"] for line in _end_of(Path(log)))
            return "\n".join([f"FAILED group of {len(facts['job_error_info'])} jobs", *ends])
        return self._usual.format(record)

    def _note_start(self, record: logging.LogRecord) -> None:
        facts = record.__dict__
        name = " ".join([facts["rule_name"], *(f"{k}={v}" for k, v in facts["wildcards"].items() if k != "study")])
        benchmark = Path(facts["benchmark"]) if facts["benchmark"] else None
        self._started[facts["jobid"]] = _Started(name, benchmark, self._clock())

    def _finished(self, job: int) -> str:
        assert self._left is not None
        started = self._started.pop(job)
        took = self._clock() - started.at
        # On a cluster a job first waits in a queue; its own time is in its benchmark.
        measured = recorded_seconds(started.benchmark) if started.benchmark else None
        took = took if measured is None else min(took, measured)
        self._left.finished(job, took)
        left, planned, now = len(self._left), len(self._planned), self._clock()
        if self._on_cluster:  # where a job that was sent may wait, and nobody knows how many will run at a time
            ahead = f"{duration(self._left.seconds())} of work"
        else:
            ahead = duration(self._left.seconds({n: now - other.at for n, other in list(self._started.items())}))
        remaining = f"{left} left, about {ahead}" if left else "none left"
        return f"[{planned - left}/{planned}] {started.name}: {took:.1f} s; {remaining}"

    def _failed(self, facts: Mapping[str, Any]) -> str:
        started = self._started.pop(facts["jobid"], None)
        name = f"{started.name} after {self._clock() - started.at:.1f} s" if started else facts["rule_name"]
        lines = [f"FAILED {name}"]
        lines += [f"  {key}: {value}" for key, value in facts["aux"].items()]
        for log in facts["log"]:
            lines += _end_of(Path(log))
        if not facts["log"]:
            lines += [f"  {line}" for line in str(facts["rule_msg"] or "").splitlines()]
        return "\n".join(lines)


def _repeats_command(record: logging.LogRecord) -> bool:
    """Whether an error only repeats the command of a failed job, which has a record of its own."""
    return getattr(record, "exception", None) == "RuleException" and "\nCalledProcessError in " in str(record.msg)


def _never_began(record: logging.LogRecord) -> bool:
    """Whether an error is that of a job whose group failed before its turn: Snakemake reports all jobs of a group."""
    facts = record.__dict__
    in_group = facts.get("event") == LogEvent.JOB_ERROR and facts.get("indent", False)
    return bool(in_group and facts["log"] and not any(Path(log).exists() for log in facts["log"]))


def _end_of(log: Path) -> list[str]:
    """Name a log and show its last lines."""
    try:
        lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError as error:
        return [f"  its log {log} cannot be read: {error.strerror}"]
    if not lines:
        reason = why_unwritable(log.parent)
        cause = f": nothing can be written into its folder ({reason}); remove the cause and start again"
        return [f"  its log {log} is empty{cause if reason else ''}"]
    return [f"  its log {log} ends with", *(f"    {line}" for line in lines[-END_OF_LOG:])]


def attach(logger: logging.Logger, settings: Any, plan: Callable[[], Plan]) -> None:
    """Let a :class:`Console` write what Snakemake's logger shows on the console.

    ``settings`` are Snakemake's output settings: ``--printshellcmds``, ``--verbose`` and ``--debug-dag`` request its
    own detailed output; with ``--quiet``, or a logger plugin that writes to the console, nothing is changed.
    """
    # A line that cannot be written, as to Snakemake's own log on a full disk, must not bury the reason for the end of
    # the run under tracebacks.
    logging.raiseExceptions = False
    if settings.quiet:
        return
    detailed = settings.printshellcmds or settings.verbose or settings.debug_dag
    for handler in logger.handlers:
        if isinstance(handler, logging.StreamHandler) and not isinstance(handler, logging.FileHandler):
            usual = handler.formatter or logging.Formatter()
            console = Console(usual, plan, detailed=detailed, dry=settings.dryrun)
            handler.addFilter(console.filter)
            handler.setFormatter(console)
