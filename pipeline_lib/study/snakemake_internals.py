"""Which parts of Snakemake does the workflow need that have no documented interface?

Rule files use only what Snakemake's manual describes. Where it describes nothing suitable, a function of this module
gives the reason and uses attributes of Snakemake 9. A new version may require changes in this module only. It imports
nothing of the package, because a workflow that comes from a Git repository runs it before the package is there.
"""

import _thread
import argparse
import contextlib
import getpass
import io
import logging
import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path, PurePosixPath
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


def lints_or_has_conda(arguments: Sequence[str]) -> bool:
    """Whether Snakemake's command line asks for ``--lint``, or for the default target with environments by conda.

    Example
    -------
    >>> lints_or_has_conda(["--cores", "2", "--sdm", "conda"]), lints_or_has_conda(["slam", "--sdm", "conda"])
    (True, False)
    """
    found = parsed_arguments(arguments)
    if found is None or found.targets:
        return False
    return bool(found.lint or found.use_conda or "conda" in map(str, found.software_deployment_method))


def files_of_configuration(workflow: Any) -> list[Path]:
    """The files that Snakemake has read for the configuration: those of ``--configfile``, or that of the Snakefile."""
    return [Path(os.path.relpath(path)) for path in workflow.overwrite_configfiles or workflow.configfiles]


def configuration_of_job(workflow: Any) -> Path | None:
    """The last file of ``--configfile``, in a process that Snakemake started for jobs; None in that of the run."""
    files = workflow.overwrite_configfiles
    return Path(files[-1]) if files and not is_main_process(workflow) else None


def whole_configuration(workflow: Any) -> Any:
    """The configuration of the whole workflow, which is another one where it imports this workflow."""
    return workflow.config


def start_jobs_from(workflow: Any, snakefile: Path | None, configuration: Path) -> None:
    """Let the processes that Snakemake starts for jobs, as on a cluster, read other files than the run has read.

    Snakemake tells them to read the Snakefile and the files of ``--configfile`` once more, as they are then. Where
    sources are sent to machines that share no files, it collects them itself, and nothing is changed.
    """
    from snakemake.settings.types import SharedFSUsage
    from snakemake_interface_executor_plugins.executors.real import RealExecutor  # type: ignore[import-untyped]

    if SharedFSUsage.SOURCES not in workflow.storage_settings.shared_fs_usage:
        return
    if snakefile is not None:
        RealExecutor.get_snakefile = lambda executor: str(snakefile)
    workflow.config_settings.configfiles = [configuration]


def main_snakefile(workflow: Any) -> Path:
    """The Snakefile with which the run was started."""
    return Path(workflow.main_snakefile)


def options_of_configuration(workflow: Any) -> dict[str, Any]:
    """What the option ``--config`` sets of the configuration."""
    return dict(workflow.config_settings.config or {})


def main_file(workflow: Any) -> Path:
    """The file that Snakemake was started with, which may include or import all others."""
    return Path(os.path.abspath(workflow.main_snakefile))


def default_target(workflow: Any) -> Callable[[], None]:
    """A function for a file that includes the present one, which makes the default target that of the including file.

    Snakemake forgets the directive ``default_target`` at the end of an included file.
    """
    return partial(setattr, workflow, "default_target", workflow.default_target)


def changes_paths(workflow: Any, paths: Iterable[str]) -> bool:
    """Whether a workflow that imports this one lets its rules use other files, by ``prefix`` or ``replace_prefix``."""
    return any(workflow.modifier.path_modifier.replace_prefix(path) != path for path in paths)


def module_name(workflow: Any) -> str | None:
    """The name under which another workflow imports the one that is read, or None."""
    return workflow.modifier.namespace


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


CHECKOUTS = Path(".snakemake/checkouts")
"""Where commits are checked out, in the folder of the run."""


def checked_out(rules: Any) -> Path:
    """The folder of the project whose rules Snakemake reads from a Git repository; it is made once for every commit.

    ``rules`` is Snakemake's description of the folder with the rules, which says where the repository is, or a copy of
    it: Snakemake itself reads single files from there, but the rules need the whole project. The folder is a repository
    of this commit alone, so that records of runs can name it.

    Raises
    ------
    WorkflowError
        When the rules are not in a Git repository, or Git refuses.
    """
    from snakemake.exceptions import WorkflowError
    from snakemake.sourcecache import HostingProviderFile, LocalGitFile

    if isinstance(rules, HostingProviderFile):
        repository = Path(rules.hosted_repo.repo_clone)
    elif isinstance(rules, LocalGitFile):
        repository = Path(rules.repo_path)
    else:
        raise WorkflowError(
            f"the rules are read from {rules}, where the rest of the project cannot be found: name a folder, or a Git "
            "repository by github(...), gitlab(...), gitfile(...) or git+file:... (docs/using-elsewhere.md)"
        )
    try:
        commit = _git(repository, "rev-parse", "--verify", f"{rules.ref}^{{commit}}")
        folder = CHECKOUTS.absolute() / commit
        if not folder.is_dir():
            CHECKOUTS.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(dir=CHECKOUTS.absolute()) as made:
                _git(Path(made), "init", "--quiet", "project")
                project = Path(made, "project")
                _git(project, "fetch", "--quiet", "--depth", "1", str(repository.absolute()), commit)
                _git(project, "checkout", "--quiet", "--detach", commit)
                try:
                    project.rename(folder)
                except OSError:
                    if not folder.is_dir():  # else another process was faster
                        raise
    except subprocess.CalledProcessError as error:
        raise WorkflowError(f"{rules}: Git cannot check out this version: {error.stderr.strip()}") from None
    return folder / PurePosixPath(rules.path).parents[1]


def _git(folder: Path, *arguments: str) -> str:
    command = ["git", "-C", str(folder), *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


class NeededJob(NamedTuple):
    """A job that a run will execute: Snakemake's number of it, its rule, its wildcards, and its parameter ``code``.

    ``before`` are those parameters of its last execution that have changed.
    """

    id: int
    rule: str
    wildcards: Any
    code: str
    before: frozenset[str]


def jobs_to_run(workflow: Any) -> list[NeededJob]:
    """The jobs that the run will execute, without targets, in the order of their rules.

    Snakemake logs how many jobs each rule has, but not which ones.
    """
    order = {rule.name: position for position, rule in enumerate(workflow.rules)}
    dag = workflow.dag
    needed = sorted(dag.needrun_jobs(), key=lambda job: order[job.rule.name])
    return [
        NeededJob(
            job.jobid, job.rule.name, job.wildcards, str(job.params.get("code", "")), _changed_parameters(dag, job)
        )
        for job in needed
        if not job.rule.norun
    ]


def runs_jobs_itself(workflow: Any) -> bool:
    """Whether jobs are processes on this machine with the environment of this one: no cluster, conda or container.

    With ``--touch``, there are none.
    """
    return bool(workflow.local_exec and not workflow.touch) and not workflow.deployment_settings.deployment_method


def count_in_benchmarks(helpers: Callable[[set[int]], list[int]]) -> None:
    """Let the measurements of a job's memory and processor time include processes that work for those of the job.

    Snakemake measures the process that it starts and those that descend from it. ``helpers`` gives the numbers of the
    others, given the numbers of those.
    """
    import psutil  # type: ignore[import-untyped]
    from snakemake.benchmark import BenchmarkTimer

    prepare = BenchmarkTimer.__init__

    def children(process: Any, recursive: bool = False) -> list[Any]:
        found = psutil.Process.children(process, recursive)
        for number in helpers({process.pid, *(one.pid for one in found)}):
            with contextlib.suppress(psutil.NoSuchProcess):
                found.append(psutil.Process(number))
        return list(found)

    def prepare_with_helpers(timer: Any, pid: int, *arguments: Any, **named: Any) -> None:
        prepare(timer, pid, *arguments, **named)
        timer.main.children = partial(children, timer.main)

    BenchmarkTimer.__init__ = prepare_with_helpers


def _changed_parameters(dag: Any, job: Any) -> frozenset[str]:
    """Snakemake keeps parameters as Python writes them."""
    changed = dag.reason(job).params_changed
    return frozenset(value.strip("'") for value in changed.only_old) if changed else frozenset()


def planned_commands(workflow: Any) -> list[tuple[list[str], str, list[str], list[str]]]:
    """The words of the command of every job that has one, the digest of its code, and its input and output."""
    return [
        (
            [*map(str, (job.params.command, *job.params.options, *job.params.files))],
            str(job.params.code),
            [*map(str, job.input)],
            [*map(str, job.output)],
        )
        for job in workflow.dag.jobs
        if job.params.get("command")
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


def end_when_interrupted(workflow: Any) -> None:
    """Let an interrupt end the run with one line and status 130 for as long as the run only reads and plans.

    Snakemake takes care of interrupts from its first job on, see :func:`leave_interrupts_to_snakemake`. An exception
    before would appear as a traceback of whatever library was being imported, or as an error of the rule whose
    parameters were being computed.
    """
    if not is_main_process(workflow) or threading.current_thread() is not threading.main_thread():
        return
    if is_own_program() and callable(signal.getsignal(signal.SIGINT)):  # with nohup, interrupts are ignored
        signal.signal(signal.SIGINT, _end)


def is_own_program() -> bool:
    """Whether this process is the command `snakemake`, and not a program that calls Snakemake."""
    return Path(sys.argv[0]).name in ("snakemake", "__main__.py")


def leave_interrupts_to_snakemake() -> None:
    """Undo :func:`end_when_interrupted`, before the first job."""
    if signal.getsignal(signal.SIGINT) is _end:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _end(*_: Any) -> None:
    sys.stdout.flush()
    print("interrupted", file=sys.stderr, flush=True)
    os._exit(128 + signal.SIGINT)


def name_the_user() -> None:
    """Name the user of this process by the number where the system knows no name, as in a container.

    Snakemake asks for the name when a run begins, and ends with a traceback if there is none.
    """
    try:
        getpass.getuser()
    except (KeyError, OSError):
        os.environ["LOGNAME"] = str(os.getuid())


def logger_and_output(workflow: Any) -> tuple[logging.Logger, Any]:
    """Snakemake's logger, and the settings of what the run prints.

    The documented way to change the console is a logger plugin, which must be installed as a package before Snakemake
    starts; the project need not be installed.
    """
    from snakemake.logging import logger

    return logger, workflow.output_settings
