"""What does the workflow do besides its jobs: before the first of them, for its plan, and after the last?"""

import contextlib
import logging
import os
import sys
import weakref
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from pipeline_lib import papers
from pipeline_lib.core import origins
from pipeline_lib.core.errors import ConfigurationError, PipelineError
from pipeline_lib.core.files import remove_abandoned
from pipeline_lib.recompute import whole as recompute
from pipeline_lib.report.results import ResultsFolder
from pipeline_lib.study import (
    configuration,
    console,
    frozen,
    import_closure,
    job_server,
    planned,
    planning,
    provenance,
    recomputation,
    recorded,
    run_crate,
    run_lock,
    slurm,
    snakemake_internals,
)
from pipeline_lib.study.configuration import Configuration
from pipeline_lib.study.costs import Costs
from pipeline_lib.study.data_sets import DataSets

__all__: list[str] = []  # internal: called by the workflow alone (see pipeline_lib.core.checks)


@contextlib.contextmanager
def stopping_the_workflow() -> Iterator[None]:
    """Let an error that a person can correct, while rules are read, stop the workflow with its message alone.

    Of an error of its own, Snakemake also prints which lines of rules and modules it has passed. A program that has
    called Snakemake gets such an error nevertheless.
    """
    from snakemake.exceptions import WorkflowError
    from snakemake.logging import logger

    try:
        yield
    except PipelineError as error:
        if not snakemake_internals.is_own_program():
            raise WorkflowError(str(error)) from None
        logger.error(str(error))
        raise SystemExit(1) from None


def check_files(paths: Iterable[str]) -> None:
    """Refuse files of the configuration that Snakemake has not read yet; those that are missing, it names itself."""
    with stopping_the_workflow():
        for path in map(Path, paths):
            if path.exists():
                configuration.check_file(path)


_read: tuple[weakref.ref[Any], str | None] | None = None
"""The workflow that was read last, and the name under which it imported this one."""


def checked_configuration(workflow: Any, config: Any, n_folds: Any, *, imported: bool) -> Configuration:
    """What the configuration requests; another workflow that imports this one answers for its own files.

    Raises
    ------
    ConfigurationError
        When it is wrong, or another workflow lets the rules write other files than their commands, which refer to
        folders by name, and would write into those of another study; or it imports this one twice.
    """
    global _read
    name = snakemake_internals.module_name(workflow)
    if _read is not None and _read[0]() is workflow and _read[1] != name:
        raise ConfigurationError(
            f"expected one import of this workflow, found two, as modules {_read[1]!r} and {name!r}, which would write "
            "the same files in data/; give each study a folder of its own (docs/using-elsewhere.md)"
        )
    _read = weakref.ref(workflow), name
    if snakemake_internals.changes_paths(workflow, ["data/x", "results/x", "reports/x"]):
        raise ConfigurationError(
            "expected a module without `prefix` and `replace_prefix`, with which this workflow would write tables of "
            "another study; remove the directive (docs/using-elsewhere.md)"
        )
    if (kept := planned.configuration(snakemake_internals.configuration_of_job(workflow))) is not None:
        return configuration.check(kept, n_folds)
    own = snakemake_internals.is_main_process(workflow) and not imported
    files = snakemake_internals.files_of_configuration(workflow) if own else []
    for path in files:
        configuration.check_file(path)
    return configuration.check(config, n_folds, files, snakemake_internals.options_of_configuration(workflow))


def begin(workflow: Any, study: Configuration, config: Any, code: Path, root: Path, *, imported: bool) -> None:
    """Take the lock of the folder, clean up after killed runs, and freeze what jobs read, unless nothing is to be made.

    The processes of jobs on cluster nodes read the rules as well, and work for the run that holds the lock. ``code`` is
    the copy of the folder ``root`` of the project from which the run works.

    Raises
    ------
    PipelineError
        When another run is at work, or the folder cannot be written.
    """
    if not snakemake_internals.is_main_process(workflow):
        slurm.keep_configuration()
        return
    snakemake_internals.end_when_asked()
    slurm.use_patiently(workflow)
    if run_lock.only_reads(sys.argv[1:]):
        return
    run_lock.hold(Path("results/run.lock"), study.name)
    run_lock.check_records(Path(".snakemake"))
    remove_abandoned("data/parquet", "results", "reports")  # in data/raw, downloads go on
    if code == root:  # no copy could be made while the rules were read, where nobody can be told why
        try:
            frozen.make_copy(root)
        except OSError as error:
            raise PipelineError(
                f"{frozen.FOLDER}: expected a copy of the project's code, from which a run works, but none could be "
                f"made ({error.strerror}); allow writing there, or free space on its disk"
            ) from error
        raise PipelineError(f"{frozen.FOLDER}: a copy of the project's code could not be made before; start again")
    frozen.remove_unused(code)
    whole, state = snakemake_internals.whole_configuration(workflow), provenance.code_state(root / "pipeline_lib")
    given = planned.write(code, whole, config, state)
    snakefile = None if imported else code / snakemake_internals.main_snakefile(workflow).relative_to(root)
    snakemake_internals.start_jobs_from(workflow, snakefile, given)


def write_plan(workflow: Any) -> None:
    """Write what is planned of all jobs, so that each can compare what it reads with it."""
    if not snakemake_internals.is_main_process(workflow):
        return
    origins.write_plan(Path(os.environ[origins.VARIABLE]), snakemake_internals.planned_commands(workflow))


def start_jobs(workflow: Any) -> None:
    """Let the jobs of this run start without importing libraries anew, where they are processes of this machine."""
    if snakemake_internals.is_main_process(workflow) and snakemake_internals.runs_jobs_itself(workflow):
        job_server.start(len(snakemake_internals.jobs_to_run(workflow)))
        snakemake_internals.count_in_benchmarks(job_server.forks_for)


def plan(workflow: Any, study: Configuration, data: DataSets, costs: Costs) -> console.Plan:
    """What will run and which changes cause it, what is missing and how to get it, and about how much work it is."""
    needed = snakemake_internals.jobs_to_run(workflow)
    jobs = [costs.planned(job) for job in needed]
    changed = import_closure.explained(((job.before, job.code) for job in needed), Path(".snakemake/digests.json"))
    text = planning.describe(
        study.name, jobs, data.present, data.missing, study.untrained, changed, data.warnings, data.powers
    )
    return console.Plan(text, frozenset(job.id for job in needed))


def conclude(workflow: Any, root: Path, study: Configuration, data: DataSets, title: str) -> None:
    """Describe the results folder for archives and say where the report is, or how to get that of a paper.

    The results are described, and the numbers of the report recomputed, if the targets included the report.
    """
    job_server.stop()
    log = logging.getLogger("snakemake.logging")
    jobs = snakemake_internals.finished_jobs(workflow)
    page = f"reports/{study.name}/index.html"
    if not any(page in job.outputs for job in jobs):
        if made := sorted(set(snakemake_internals.targets(sys.argv[1:])).intersection(papers.names())):
            log.info(
                f"The tables of {', '.join(made)} are in results/{study.name}/tables; the report about them alone is "
                f"that of a study with `papers: [{', '.join(made)}]` in its configuration"
            )
        return
    read = [root / "workflow/Snakefile", root / "Snakefile", *sorted((root / "workflow/rules").glob("*.smk"))]
    run_crate.write(
        f"results/{study.name}",
        title,
        jobs,
        [data.catalog[name] for name in data.present],
        [(path, path.relative_to(root).as_posix()) for path in (*read, root / "requirements.lock") if path.is_file()],
    )
    if recorded.path_of(study.name).is_file():
        log.info(recorded.summary(recorded.read(study.name), recorded.made(study.name)))
    try:
        again = recomputation.of_study(study.name)
    except PipelineError as error:  # the run itself has ended well
        log.warning(f"The numbers of the report could not be recomputed. {error}")
    else:
        for line in recompute.lines(again):
            log.warning(line)
        log.info(recompute.summary(again))
    for one in ResultsFolder.at(f"results/{study.name}").listed("untrained"):
        log.warning(f"{one['model']} is left out of the results of {one['dataset']}: {one['reason']}")
    log.info(f"The report is in {page}")
