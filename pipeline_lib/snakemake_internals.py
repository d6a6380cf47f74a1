"""Which parts of Snakemake does the workflow need that have no documented interface?

Rule files use only what Snakemake's manual describes. Where it describes nothing suitable, a function of this module
gives the reason and uses attributes of Snakemake 9. A new version may require changes in this module only.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import logging
import sys
from collections.abc import Callable, Iterable, Sequence
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


def jobs_at_once(workflow: Any, jobs: int) -> int:
    """How many of so many jobs run at the same time: as many as a cluster's profile allows, or as there are cores.

    ``workflow.cores`` is documented, the limit ``--jobs`` of a cluster is not.
    """
    settings = workflow.resource_settings
    return min(settings.nodes, jobs) if settings.nodes else settings.cores or 1


def submissions(workflow: Any) -> int | None:
    """How many submissions the run makes to a cluster; None where it runs on this machine.

    Jobs of one group are submitted together, and those of local rules not at all. Snakemake reports groups when it
    submits them. ``job.is_local`` would be true for every job of a dry run.
    """
    if not workflow.resource_settings.nodes:
        return None
    local = workflow._localrules
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
    later, when the executor has already been started.
    """
    execute = workflow.execute

    def prepared(*, executor_plugin: Any, **arguments: Any) -> Any:
        prepare(executor_plugin.name)
        return execute(executor_plugin=executor_plugin, **arguments)

    workflow.execute = prepared


def logger_and_output(workflow: Any) -> tuple[logging.Logger, Any]:
    """Snakemake's logger, and the settings of what the run prints.

    The documented way to change the console is a logger plugin, which must be installed as a package before Snakemake
    starts; the project need not be installed.
    """
    from snakemake.logging import logger

    return logger, workflow.output_settings
