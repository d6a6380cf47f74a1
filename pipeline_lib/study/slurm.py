"""How does a run bear with a SLURM that does not answer, refuses, or forgets?

This module works around defects of snakemake-executor-plugin-slurm 2.8.0 and of the plugin for the steps of its jobs
(snakemake-executor-plugin-slurm-jobstep 0.6.1):

- If all attempts at a query of the jobs' states fail, the executor forgets all its jobs, and the run waits for them
  without end. Without accounting they fail fast: when ``scontrol show config`` does not answer, it asks ``sacct``.
- A job that SLURM no longer knows counts as waiting in the queue, without end.
- A submission that SLURM refuses for now counts as a failed job, so that all attempts are used up within a second.
- What SLURM says of a failed job or submission is not printed where the log of the job is, or for groups of jobs.
- Without SLURM's commands, the executor waits without end.
- In a job of SLURM, the plugins remove SLURM_CONF with all other variables of that job, so that SLURM's commands find
  no configuration where this variable alone names it.

The methods that :func:`patient` replaces are those of the documented interface of executors. That another class takes
the place of a plugin's, and the name of its function for queries, are not documented.
"""

import asyncio
import math
import os
import re
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from pipeline_lib.core.errors import PipelineError

__all__: list[str] = []  # internal: called by the workflow alone (see pipeline_lib.core.checks)

PAUSE = 30.0
"""Seconds until a submission is repeated that SLURM refused for now."""
SILENCE = 3600.0
"""Seconds without any answer of SLURM after which a run ends."""
FORGOTTEN = 300.0
"""Seconds after which a job ends that SLURM does not list, although it answers."""
FULL = re.compile(r"\w+Submit\w*Limit")
"""Why SLURM refuses a submission that it accepts when others have ended."""
AWAY = re.compile(
    "Unable to contact slurm controller|Socket timed out|Connection refused|Zero Bytes were transmitted"
    "|Transport endpoint is not connected|temporarily un(able|available)"
)
"""What SLURM's commands say when the controller does not answer."""
SCRIPTS = Path(__file__).parents[2] / "profiles/slurm"


def use_patiently(workflow: Any) -> None:
    """Let the run that a workflow is about to begin use a :func:`patient` executor if it sends its jobs to SLURM."""
    from snakemake.exceptions import WorkflowError

    execute = workflow.execute

    def prepared(*, executor_plugin: Any, **arguments: Any) -> Any:
        if executor_plugin.name == "slurm":
            try:
                require_commands()
            except PipelineError as error:
                raise WorkflowError(str(error)) from None
            executor_plugin.executor = patient(executor_plugin.executor)
        return execute(executor_plugin=executor_plugin, **arguments)

    workflow.execute = prepared


def require_commands() -> None:
    """Refuse a run whose jobs nothing would take.

    Raises
    ------
    PipelineError
        When the command ``sbatch`` is not on the path, or the file that SLURM_CONF names cannot be read.
    """
    if shutil.which("sbatch") is None:
        raise PipelineError(
            "expected SLURM's command sbatch, to which the profile sends all jobs, found none on this machine; "
            "start the run on a login node of the cluster, or leave the profile out to run it here"
        )
    settings = os.environ.get("SLURM_CONF")
    if settings and not os.access(settings, os.R_OK):
        raise PipelineError(
            f"the variable SLURM_CONF: expected the file with SLURM's configuration, found {settings!r}, which cannot "
            "be read; correct or unset the variable, or load the module that provides SLURM"
        )


def keep_configuration() -> None:
    """Let ``srun`` on a node find SLURM's configuration, by the script of this name in ``profiles/slurm``."""
    if of_slurm := os.environ.get("SLURM_CONF"):
        scripts = os.pathsep.join([str(SCRIPTS), os.environ.get("PATH", os.defpath)])
        os.environ.update(LTR_SLURM_CONF=of_slurm, PATH=scripts)


def patient(executor: Any) -> Any:
    """A subclass of the plugin's executor that forgets no job, waits where SLURM refuses for now, and gives reasons."""
    from snakemake.exceptions import WorkflowError

    plugin: Any = sys.modules[executor.__module__]
    query = plugin.query_job_status
    one_at_a_time = threading.Lock()

    class Patient(executor):  # type: ignore[misc]
        def __init__(self, *arguments: Any, **named: Any) -> None:
            # The jobs of a check, by their numbers, until the executor says what became of them.
            self.unsettled: dict[str | None, Any] = {}
            self.missing_since: dict[str | None, float] = {}
            self.silent_since: float | None = None
            self.refused_since: float | None = None
            self.told = -math.inf
            self.listed: Any = None  # the numbers that SLURM lists, or None as long as it does not answer
            kept = {name: value for name, value in os.environ.items() if name == "SLURM_CONF"}
            plugin.query_job_status = self.query
            super().__init__(*arguments, **named)
            os.environ.update(kept)

        async def query(self, *arguments: Any) -> Any:
            """Remember which jobs SLURM lists."""
            answer = await query(*arguments)
            if answer[0] is not None:
                self.listed = set(answer[0])
            return answer

        async def check_active_jobs(self, active_jobs: list[Any]) -> AsyncIterator[Any]:
            self.unsettled = {job.external_jobid: job for job in active_jobs}
            self.listed = None
            active = [job async for job in super().check_active_jobs(active_jobs)]
            for job in active:
                self.unsettled.pop(job.external_jobid, None)
            active += self.unsettled.values()
            if self.listed is None:
                self.bear_silence(active)
            else:
                self.silent_since = None
            for job in active:
                if not await self.is_forgotten(job):
                    yield job
                elif all(os.path.exists(path) for path in job.job.output):
                    self.report_job_success(job)
                else:
                    waited = f"{time.monotonic() - self.missing_since.pop(job.external_jobid):.0f} s"
                    self.report_job_error(
                        job,
                        f"SLURM answers and has not known job {job.external_jobid} for {waited}, and files that it "
                        "makes are missing; it counts as failed.",
                    )

        def bear_silence(self, active: list[Any]) -> None:
            """Say that SLURM does not answer, and end the run after some time.

            Raises
            ------
            WorkflowError
                After :data:`SILENCE`: Snakemake prints it and ends. The jobs are not cancelled, as nobody would answer.
            """
            if not active:
                return
            now = time.monotonic()
            if self.silent_since is None:
                self.silent_since = now
                self.logger.warning(
                    f"SLURM does not say how {len(active)} submissions are; it will be asked again, for "
                    f"{SILENCE / 60:.0f} minutes."
                )
            if now - self.silent_since > SILENCE:
                raise WorkflowError(self.farewell(active))

        def farewell(self, active: list[Any]) -> str:
            waited = ", ".join(f"{_name(one.job)} (job {one.external_jobid})" for one in active) or "submissions"
            return (
                f"SLURM has not answered for {SILENCE / 60:.0f} minutes. The run ends; it waited for {waited}. When "
                f"SLURM answers again, cancel what is left by `scancel --name={self.run_uuid}`, and start the run "
                "again: finished work is kept."
            )

        async def is_forgotten(self, job: Any) -> bool:
            """Whether SLURM has answered for some time without this job, and its controller says that it is unknown."""
            number = str(job.external_jobid)
            if self.listed is None or {number, number.partition("_")[0]} & self.listed:
                self.missing_since.pop(job.external_jobid, None)
                return False
            since = self.missing_since.setdefault(job.external_jobid, time.monotonic())
            return time.monotonic() - since > FORGOTTEN and await asyncio.to_thread(_is_unknown, number)

        def report_job_success(self, job_info: Any) -> None:
            self.unsettled.pop(job_info.external_jobid, None)
            super().report_job_success(job_info)

        def report_job_submission(self, job_info: Any, *arguments: Any, **named: Any) -> None:
            self.refused_since = None
            super().report_job_submission(job_info, *arguments, **named)

        def report_job_error(self, job_info: Any, msg: str | None = None, **details: Any) -> None:
            reason = " ".join((msg or "").partition("sbatch call:")[0].split())
            if job_info.external_jobid is None and self.wait and (FULL.search(reason) or AWAY.search(reason)):
                self.submit_later(job_info.job, reason)
                return
            self.unsettled.pop(job_info.external_jobid, None)
            self.logger.error(f"{_name(job_info.job)}: {reason}")
            super().report_job_error(job_info, msg=msg, **details)

        def submit_later(self, job: Any, reason: str) -> None:
            now = time.monotonic()
            if FULL.search(reason):
                self.refused_since = None
            elif self.refused_since is None:
                self.refused_since = now
            elif now - self.refused_since > SILENCE:
                self.wait = False
                self.workflow.scheduler.executor_error_callback(WorkflowError(self.farewell(list(self.active_jobs))))
                return
            if now > self.told + max(20 * PAUSE, 600):
                self.told = now
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

    return Patient


def _name(job: Any) -> str:
    wildcards = getattr(job, "wildcards_dict", {}).items()
    return " ".join([job.name, *(f"{name}={value}" for name, value in wildcards if name != "study")])


def _is_unknown(number: str) -> bool:
    """Whether the controller answers that there is no such job; no answer says nothing."""
    try:
        command = ["scontrol", "show", "job", number]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode != 0 and "Invalid job id" in done.stderr
