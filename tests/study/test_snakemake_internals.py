"""The executor for SLURM loses no job where a query fails, and a run that is asked to end does not wait for itself."""

import asyncio
import logging
import os
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable
from types import SimpleNamespace
from typing import Any

import pytest

from pipeline_lib.study import snakemake_internals

FULL = """SLURM sbatch failed. The error message was 'sbatch: error: AssocMaxSubmitJobLimit
sbatch: error: Batch job submission failed: Job violates accounting/QOS policy'.
    sbatch call:
        sbatch --parsable --job-name 1"""
UNKNOWN = (
    "SLURM sbatch failed. The error message was 'sbatch: error: invalid partition specified: x'.\n    sbatch call:\n"
)


class Executor:
    """What the plugin's executor does with answers of SLURM that a test gives."""

    def __init__(self, states: dict[str, str] | None = None, refusals: list[str] | None = None) -> None:
        os.environ.pop("SLURM_CONF", None)  # as the plugin does where the run is a job of SLURM
        self.states = states
        self.refusals = refusals or []
        self.wait = True
        self.logger = logging.getLogger("executor")
        self.reported: list[tuple[str, str | None]] = []

    def run_job(self, job: Any) -> None:
        if self.refusals:
            self.report_job_error(submission(job.name, None), self.refusals.pop(0))
        else:
            self.reported.append(("submitted", job.name))

    async def check_active_jobs(self, active_jobs: list[Any]) -> AsyncIterator[Any]:
        for job in active_jobs if self.states is not None else ():
            state = self.states.get(job.external_jobid) if self.states else None
            if state == "COMPLETED":
                self.report_job_success(job)
            elif state == "TIMEOUT":
                self.report_job_error(job, f"SLURM status is: '{state}'.")
            else:
                yield job

    def report_job_success(self, job_info: Any) -> None:
        self.reported.append(("success", job_info.external_jobid))

    def report_job_error(self, job_info: Any, msg: str | None = None, **details: Any) -> None:
        self.reported.append(("error", job_info.external_jobid))

    def cancel(self) -> None:
        self.reported.append(("cancelled", None))


def submission(name: str, number: str | None) -> Any:
    return SimpleNamespace(external_jobid=number, job=SimpleNamespace(name=name))


def active_after(executor: Any, numbers: list[str]) -> list[str]:
    """The jobs that are active after a check of so many."""

    async def check() -> list[str]:
        jobs = [submission("batch", number) for number in numbers]
        return [job.external_jobid async for job in executor.check_active_jobs(jobs)]

    return asyncio.run(check())


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    monkeypatch.setattr(snakemake_internals, "PAUSE", 0.01)
    return snakemake_internals.patient(Executor)


def test_no_job_is_forgotten_when_a_query_fails(patient: Callable[..., Any], caplog: pytest.LogCaptureFixture) -> None:
    executor = patient(states=None)
    assert active_after(executor, ["1", "2"]) == ["1", "2"]
    assert "SLURM does not say" in caplog.text
    executor.states = {"1": "COMPLETED", "2": "RUNNING", "3": "TIMEOUT"}
    caplog.clear()
    assert active_after(executor, ["1", "2", "3"]) == ["2"]
    assert executor.reported == [("success", "1"), ("error", "3")]
    assert "SLURM does not say" not in caplog.text
    assert "TIMEOUT" in caplog.text


def test_a_run_that_is_a_job_itself_keeps_the_configuration(
    patient: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SLURM_CONF", "/apps/slurm.conf")
    patient()
    assert os.environ["SLURM_CONF"] == "/apps/slurm.conf"


def until(condition: Callable[[], object]) -> None:
    end = time.monotonic() + 60.0
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_a_submission_beyond_the_quota_is_repeated_until_it_is_accepted(
    patient: Callable[..., Any], caplog: pytest.LogCaptureFixture
) -> None:
    executor = patient(refusals=[FULL, FULL])
    executor.run_job(SimpleNamespace(name="batch"))
    until(lambda: executor.reported)
    assert executor.reported == [("submitted", "batch")]
    assert "AssocMaxSubmitJobLimit" in caplog.text
    assert "--parsable" not in caplog.text


def test_a_refusal_for_good_fails_at_once_with_its_reason(
    patient: Callable[..., Any], caplog: pytest.LogCaptureFixture
) -> None:
    executor = patient(refusals=[UNKNOWN])
    executor.run_job(SimpleNamespace(name="batch"))
    assert executor.reported == [("error", None)]
    assert "invalid partition specified: x" in caplog.text


def test_nothing_is_submitted_after_the_run_was_cancelled(patient: Callable[..., Any]) -> None:
    executor = patient(refusals=[FULL])
    executor.run_job(SimpleNamespace(name="batch"))
    executor.cancel()
    time.sleep(0.2)
    assert executor.reported == [("cancelled", None)]


INTERRUPTED = """
import os, signal, threading
from snakemake.scheduling.job_scheduler import JobScheduler
from pipeline_lib.study import snakemake_internals

snakemake_internals.end_when_asked()
scheduler = JobScheduler.__new__(JobScheduler)
scheduler._lock, scheduler._open_jobs, scheduler._user_kill = threading.Lock(), threading.Semaphore(0), None
signal.signal(signal.SIGTERM, scheduler.exit_gracefully)
with scheduler._lock:
    os.kill(os.getpid(), signal.SIGTERM)
print(scheduler._open_jobs.acquire(timeout=60), scheduler._user_kill)
"""


def test_a_request_to_end_may_come_while_the_main_thread_holds_the_lock_of_the_scheduler() -> None:
    command = [sys.executable, "-c", INTERRUPTED]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert (done.stdout, done.stderr) == ("True graceful\n", "")
