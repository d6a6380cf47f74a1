"""Which parts of Snakemake does the workflow need that have no documented interface?

Rule files use only what Snakemake's manual describes. Where it describes nothing suitable, a function of this module
gives the reason and uses attributes of Snakemake 9. A new version may require changes in this module only.
"""

import _thread
import argparse
import contextlib
import io
import logging
import math
import os
import re
import sys
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple


def parsed_arguments(arguments: Sequence[str]) -> argparse.Namespace | None:
    """The options of Snakemake's command line, or None where the arguments belong to another program.

    A Snakefile is not given the options of the run. Parsing them once more with Snakemake's own parser is the only way
    that keeps up with options that are added, renamed, or abbreviated.

    Example
    -------
    >>> parsed_arguments(["--cores", "2", "--summary"]).summary
    True
    """
    from snakemake.cli import get_argument_parser

    try:
        with contextlib.redirect_stderr(io.StringIO()):
            return get_argument_parser().parse_known_args(list(arguments))[0]
    except SystemExit:
        return None


def targets(arguments: Sequence[str]) -> list[str]:
    """The targets on Snakemake's command line.

    Example
    -------
    >>> targets(["--cores", "2", "download"])
    ['download']
    """
    found = parsed_arguments(arguments)
    return sorted(map(str, found.targets)) if found is not None and found.targets else []


def files_of_configuration(workflow: Any) -> list[Path]:
    """The files that Snakemake has read for the configuration: those of ``--configfile``, or that of the Snakefile."""
    return [Path(os.path.relpath(path)) for path in workflow.overwrite_configfiles or workflow.configfiles]


def configured_by_option(workflow: Any) -> bool:
    """Whether the option ``--config`` sets values of the configuration."""
    return bool(workflow.config_settings.config)


def changes_paths(workflow: Any, paths: Iterable[str]) -> bool:
    """Whether a workflow that imports this one lets its rules use other files, by ``prefix`` or ``replace_prefix``."""
    return any(workflow.modifier.path_modifier.replace_prefix(path) != path for path in paths)


def is_main_process(workflow: Any) -> bool:
    """Whether this process controls the run; the processes of its jobs read the Snakefile, too.

    The event handlers ``onstart``, ``onsuccess`` and ``onerror`` run in the controlling process only, but the first of
    them runs too late to refuse a run, and not at all in a dry run.
    """
    return bool(workflow.is_main_process)


def rule_name(rule: Any) -> str:
    """The name of ``rules.NAME`` in the whole workflow, where a workflow that imports this one may have changed it."""
    return str(rule.rule.name)


def hide_rules(workflow: Any, *names: str) -> None:
    """Make rules neither listed nor targets, once all rules that inherit from them are declared.

    Snakemake knows no rules that exist to be inherited from: it lists them and tries to run them.
    """
    for name in names:
        del workflow._rules[name]


class NeededJob(NamedTuple):
    """A job that a run will execute: Snakemake's number of it, its rule, its wildcards, and its benchmark if any."""

    id: int
    rule: str
    wildcards: Any
    benchmark: Path | None


def jobs_to_run(workflow: Any) -> list[NeededJob]:
    """The jobs that the run will execute, without targets, in the order of their rules.

    Snakemake logs how many jobs each rule has, but not which ones.
    """
    order = {rule.name: position for position, rule in enumerate(workflow.rules)}
    needed = sorted(workflow.dag.needrun_jobs(), key=lambda job: order[job.rule.name])
    return [
        NeededJob(job.jobid, job.rule.name, job.wildcards, Path(str(job.benchmark)) if job.benchmark else None)
        for job in needed
        if not job.rule.norun
    ]


class FinishedJob(NamedTuple):
    """A job of this run or of an earlier one: its rule, its command line, its files and log, and when it ran.

    Paths are relative to the working directory, times are seconds since 1970.
    """

    rule: str
    command: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    log: str
    started: float
    ended: float


def finished_jobs(workflow: Any) -> list[FinishedJob]:
    """Every job that has made a file of the targets, in this run or earlier, in the order in which they ended.

    Snakemake records commands and times in ``.snakemake/metadata``; its summaries show them of one rule at a time only.
    """
    found = []
    for job in workflow.dag.jobs:
        record = workflow.persistence.metadata(job.output[0]) if job.output else None
        if record is None or record.endtime is None:
            continue
        found.append(
            FinishedJob(
                job.rule.name,
                record.shellcmd or "",
                tuple(map(str, job.input)),
                tuple(map(str, job.output)),
                str(job.log[0]) if job.log else "",
                record.starttime or record.endtime,
                record.endtime,
            )
        )
    return sorted(found, key=lambda job: (job.ended, job.outputs))


def jobs_at_once(workflow: Any) -> int | None:
    """How many jobs run at the same time: as many as there are cores; None on a cluster, whose queue decides it.

    ``workflow.cores`` is documented, the limit ``--jobs`` of a cluster is not.
    """
    settings = workflow.resource_settings
    return None if settings.nodes else settings.cores or 1


def submissions(workflow: Any) -> int | None:
    """How many submissions the run makes to a cluster; None where it runs on this machine.

    Jobs of one group are submitted together, and those of local rules without a group not at all. Snakemake reports
    groups when it submits them. ``job.is_local`` would be true for every job of a dry run.
    """
    if not workflow.resource_settings.nodes:
        return None
    local = {rule.name for rule in workflow.rules if rule.group is None and rule.name in workflow._localrules}
    sent = [job for job in workflow.dag.needrun_jobs() if not job.rule.norun and job.rule.name not in local]
    return len({job.group or f"job {job.jobid}" for job in sent})


def declare_groups(workflow: Any, parent: str, names: Iterable[str]) -> None:
    """Let the option ``--group-components PARENT=N`` hold for groups of jobs with these names.

    Snakemake notes the parents of groups whose name contains wildcards, but not of those that a function names.
    """
    workflow.parent_groupids.update(dict.fromkeys(names, parent))


def run_batches_in_turn(workflow: Any, parent: str, resource: str) -> None:
    """Let the processes on a cluster's node run the jobs of a batch as the controlling process has planned it.

    That process passes them neither ``--group-components`` nor ``--resources`` nor ``--keep-going``: they would make a
    step of the scheduler of every connected part of the batch, run as many jobs at once as there are cores, and give up
    all other jobs when one fails. Settings do not exist before the workflow is executed.
    """

    def give_settings(_: str) -> None:
        workflow.group_settings.group_components = {parent: sys.maxsize}
        workflow.execution_settings.keep_going = True

    workflow.register_resource(resource, 1)
    before_execution(workflow, give_settings)


def before_execution(workflow: Any, prepare: Callable[[str], None]) -> None:
    """Call a function with the name of the executor as soon as the workflow is executed, before jobs are planned.

    The Snakefile is read earlier, when neither the executor nor the settings of the run are known; ``onstart`` runs
    later, when the executor has already been started. The executor for SLURM is replaced by a :func:`patient` one, and
    a request to end is answered as :func:`end_when_asked` says.
    """
    execute = workflow.execute

    def prepared(*, executor_plugin: Any, **arguments: Any) -> Any:
        prepare(executor_plugin.name)
        end_when_asked()
        if executor_plugin.name == "slurm":
            executor_plugin.executor = patient(executor_plugin.executor)
        return execute(executor_plugin=executor_plugin, **arguments)

    workflow.execute = prepared


def end_when_asked() -> None:
    """Let a run that receives SIGTERM end whatever it is doing then.

    The scheduler of Snakemake 9.27 handles the signal in the main thread and waits there for a lock. Where the signal
    interrupts the main thread while it holds this lock, to store what became of a job, neither would ever continue.
    """
    from snakemake.scheduling.job_scheduler import JobScheduler

    end = JobScheduler.exit_gracefully

    def exit_gracefully(scheduler: Any, *_: Any) -> None:
        _thread.start_new_thread(end, (scheduler,))  # threading.Thread would wait for locks of its own

    JobScheduler.exit_gracefully = exit_gracefully


PAUSE = 30.0
"""Seconds until a submission is repeated that SLURM refused for now."""
REFUSED_FOR_NOW = re.compile(r"\w+SubmitJob\w*Limit|Unable to contact slurm controller|Socket timed out")
"""Why SLURM refuses a submission that it may accept later: a full quota, or a controller that does not answer."""


def patient(executor: Any) -> Any:
    """A subclass of the executor for SLURM that loses no job and names every reason.

    The executor of snakemake-executor-plugin-slurm 2.8.0 forgets all its jobs when a query of their states fails, and
    the run then waits for them without end. It lets a submission that SLURM refuses fail, so that all attempts at a job
    are used up within a second. And Snakemake prints nothing of what an executor says about a failed group of jobs.

    The methods are those of the documented interface of executors; that another class may take the place of a plugin's
    is not documented.
    """

    class Patient(executor):  # type: ignore[misc]
        def __init__(self, *arguments: Any, **named: Any) -> None:
            # The submissions of a check, by their numbers, until the executor says what became of them.
            self.unsettled: dict[str | None, Any] = {}
            self.refusal_told = -math.inf
            # In a job of SLURM, the executor removes all its variables, which would be those of every submission.
            kept = {name: value for name, value in os.environ.items() if name == "SLURM_CONF"}
            super().__init__(*arguments, **named)
            os.environ.update(kept)

        async def check_active_jobs(self, active_jobs: list[Any]) -> AsyncIterator[Any]:
            self.unsettled = {job.external_jobid: job for job in active_jobs}
            async for job in super().check_active_jobs(active_jobs):
                self.unsettled.pop(job.external_jobid, None)
                yield job
            if self.unsettled:
                number = len(self.unsettled)
                self.logger.warning(f"SLURM does not say how {number} submissions are; it will be asked again.")
            for job in list(self.unsettled.values()):
                yield job

        def report_job_success(self, job_info: Any) -> None:
            self.unsettled.pop(job_info.external_jobid, None)
            super().report_job_success(job_info)

        def report_job_error(self, job_info: Any, msg: str | None = None, **details: Any) -> None:
            reason = " ".join((msg or "").partition("sbatch call:")[0].split())
            if job_info.external_jobid is None and REFUSED_FOR_NOW.search(reason) and self.wait:
                self.submit_later(job_info.job, reason)
                return
            self.unsettled.pop(job_info.external_jobid, None)
            self.logger.error(f"{job_info.job.name}: {reason}")
            super().report_job_error(job_info, msg=msg, **details)

        def submit_later(self, job: Any, reason: str) -> None:
            if time.monotonic() > self.refusal_told + 2 * PAUSE:
                self.refusal_told = time.monotonic()
                self.logger.warning(f"Not submitted for now, and tried again every {PAUSE:.0f} s: {reason}")
            timer = threading.Timer(PAUSE, self.submit_again, [job])
            timer.daemon = True
            timer.start()

        def submit_again(self, job: Any) -> None:
            with one_at_a_time:
                if self.wait:
                    self.run_job(job)

        def cancel(self) -> None:
            self.wait = False  # what waits for its submission is not submitted any more
            super().cancel()

    one_at_a_time = threading.Lock()
    return Patient


def logger_and_output(workflow: Any) -> tuple[logging.Logger, Any]:
    """Snakemake's logger, and the settings of what the run prints.

    The documented way to change the console is a logger plugin, which must be installed as a package before Snakemake
    starts; the project need not be installed.
    """
    from snakemake.logging import logger

    return logger, workflow.output_settings
