"""How does a run report its plan and its progress on the console?

Snakemake reports through Python's ``logging``, and its records name their event. A :class:`Console` replaces the
formatter of Snakemake's console handler: it prints the plan once (a dry run at its end), one line per finished job, and
the end of the log of a failed job; warnings, errors and records without an event are not changed. Snakemake's log file
in ``.snakemake/log/`` is not affected and contains every detail.
"""

import logging
import re
import signal
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from snakemake_interface_logger_plugins.common import LogEvent

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
MEANINGS = {
    signal.SIGKILL: "usually because memory ran out; allow more, or run fewer jobs at a time with fewer --cores",
    signal.SIGTERM: "by which a person, a time limit or a cluster asks a process to end",
    signal.SIGXCPU: "since it took more processor time than the limit of this shell allows (`ulimit -t`)",
    signal.SIGXFSZ: "since it wrote a larger file than the limit of this shell allows (`ulimit -f`)",
    signal.SIGHUP: "since its terminal was closed",
    signal.SIGINT: "which interrupts a process, as Ctrl-C does",
    **dict.fromkeys(
        (signal.SIGSEGV, signal.SIGBUS, signal.SIGILL, signal.SIGABRT),
        "a crash in compiled code, which may come from a library, from refused memory or from a limit of the stack",
    ),
}
"""What it usually means that a signal ended a job."""


Warn = Callable[[str, Mapping[str, str]], str]


class Plan(NamedTuple):
    """What a run will do: its description, and Snakemake's numbers of the jobs, without targets."""

    text: str
    jobs: frozenset[int]


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
    warning : callable
        What a person should know after a job of this rule and these wildcards; nothing if all is well.
    """

    def __init__(
        self,
        usual: logging.Formatter,
        plan: Callable[[], Plan],
        *,
        detailed: bool = False,
        dry: bool = False,
        warning: Warn = lambda rule, wildcards: "",
    ) -> None:
        super().__init__()
        self._usual, self._make_plan, self._warning = usual, plan, warning
        self._detailed, self._dry = detailed, dry
        self._plan: Plan | None = None
        self._is_plan_shown = False
        self._started: dict[int, tuple[str, float]] = {}
        self._warnings: dict[int, Callable[[], str]] = {}
        self._finished: set[int] = set()
        self._ends: list[str] = []

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether a record is shown at all."""
        event, facts = getattr(record, "event", None), record.__dict__
        if event == LogEvent.JOB_INFO:
            wildcards = (f"{key}={value}" for key, value in facts["wildcards"].items() if key != "study")
            self._started[facts["jobid"]] = " ".join([facts["rule_name"], *wildcards]), record.created
            self._warnings[facts["jobid"]] = partial(self._warning, facts["rule_name"], facts["wildcards"])
        if _repeats_command(record):
            self._ends.append(str(record.msg))  # it alone says how the command ended, and comes before the job's record
        if event == LogEvent.RUN_INFO:
            first = self._plan is None
            if self._plan is None:
                # Here and not while formatting: an error must reach Snakemake and not its handler.
                self._plan = self._make_plan()
            # A dry run reports twice: its plan follows the many names of its jobs, where a reader finds it.
            return self._detailed or not (self._is_plan_shown or (first and self._dry))
        if self._detailed:
            return True
        if record.levelno >= logging.WARNING:
            return not _repeats_command(record)
        # Targets are not part of the plan: they only collect files.
        planned = self._plan.jobs if self._plan else frozenset()
        if event == LogEvent.JOB_INFO:
            return self._dry and facts["jobid"] in planned
        if event == LogEvent.JOB_FINISHED:
            return facts["job_id"] in planned & self._started.keys()
        # What all other events tell is in the plan, or in the line of a finished job.
        return event is None and not str(record.msg or "").lstrip().startswith(CHATTER)

    def format(self, record: logging.LogRecord) -> str:
        """The text for one record."""
        event, facts = getattr(record, "event", None), record.__dict__
        if event == LogEvent.RUN_INFO and self._plan and not self._is_plan_shown:
            self._is_plan_shown = True
            return f"{self._plan.text}\n{self._usual.format(record)}" if self._detailed else self._plan.text
        if self._detailed:
            return self._usual.format(record)
        if event == LogEvent.JOB_INFO:
            return f"  {self._started[facts['jobid']][0]}"
        if event == LogEvent.JOB_FINISHED and self._plan:
            name, started = self._started[facts["job_id"]]
            self._finished.add(facts["job_id"])
            done = f"[{len(self._finished)}/{len(self._plan.jobs)}] {name}: {record.created - started:.1f} s"
            warning = self._warnings[facts["job_id"]]()
            return f"{done}\n  WARNING: {warning}" if warning else done
        if event == LogEvent.JOB_ERROR:
            return "\n".join(self._failed(facts, record.created))
        return self._usual.format(record)

    def _failed(self, facts: dict[str, Any], now: float) -> list[str]:
        name, started = self._started.get(facts["jobid"], (facts["rule_name"], now))
        lines = [f"FAILED {name} after {now - started:.1f} s"]
        lines += [f"  {key}: {value}" for key, value in facts["aux"].items()]
        command = facts.get("shellcmd")
        ended = next((_signal(end) for end in reversed(self._ends) if command and command in end), None)
        if ended is not None:
            lines += [f"  it was ended by the signal {ended.name}, {MEANINGS.get(ended, 'which it did not expect')}"]
        for log in facts["log"]:
            lines += _end_of(Path(log), killed=ended is not None)
        if not facts["log"]:
            lines += [f"  {line}" for line in str(facts["rule_msg"] or "").splitlines()]
        return lines


def _repeats_command(record: logging.LogRecord) -> bool:
    """Whether an error only repeats the command of a failed job, which has a record of its own."""
    return getattr(record, "exception", None) == "RuleException" and "\nCalledProcessError in " in str(record.msg)


def _signal(end: str) -> signal.Signals | None:
    """The signal that ended a command, by what is said of its end; None if it ended by itself.

    Example
    -------
    >>> _signal("Command 'x' died with <Signals.SIGKILL: 9>.")
    <Signals.SIGKILL: 9>
    >>> _signal("Command 'x' returned non-zero exit status 1.")
    """
    how, number = re.findall(r"(died with|exit status) (?:<Signals\.\w+: )?(\d+)", end)[-1]
    # A shell adds 128 to the signal that ended the last of its commands.
    known = int(number) if how == "died with" else int(number) - 128
    return signal.Signals(known) if known in set(signal.Signals) else None


def _end_of(log: Path, *, killed: bool) -> list[str]:
    """Name a log and show its last lines."""
    try:
        lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError as error:
        return [f"  its log {log} cannot be read: {error.strerror}"]
    if not lines and killed:
        return [f"  its log {log} is empty"]
    if not lines:
        return [f"  its log {log} is empty: can files be written there, or is the disk full?"]
    return [f"  its log {log} ends with", *(f"    {line}" for line in lines[-END_OF_LOG:])]


def attach(logger: logging.Logger, settings: Any, plan: Callable[[], Plan], warning: Warn) -> None:
    """Let a :class:`Console` write what Snakemake's logger shows on the console, with its ``plan`` and ``warning``.

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
            console = Console(usual, plan, detailed=detailed, dry=settings.dryrun, warning=warning)
            handler.addFilter(console.filter)
            handler.setFormatter(console)
