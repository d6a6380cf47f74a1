"""The executor for SLURM loses no job where a query fails, and waits where a submission is refused for now."""

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from snakemake.exceptions import WorkflowError

from pipeline_lib.core.errors import PipelineError
from pipeline_lib.study import slurm

FULL = """SLURM sbatch failed. The error message was 'sbatch: error: AssocMaxSubmitJobLimit
sbatch: error: Batch job submission failed: Job violates accounting/QOS policy'.
    sbatch call:
        sbatch --parsable --job-name 1"""
UNKNOWN = (
    "SLURM sbatch failed. The error message was 'sbatch: error: invalid partition specified: x'.\n    sbatch call:\n"
)


AWAY = "SLURM sbatch failed. The error message was 'sbatch: error: Unable to contact slurm controller'."


async def query_job_status(states: dict[str, str] | None, logger: Any) -> tuple[dict[str, str] | None, float | None]:
    """What the plugin's function of this name gives: the states that SLURM lists, or nothing without an answer."""
    return (None, None) if states is None else (states, 0.1)


class Executor:
    """What the plugin's executor does with answers of SLURM that a test gives."""

    def __init__(self, states: dict[str, str] | None = None, refusals: list[str] | None = None) -> None:
        self.states = states
        self.refusals = refusals or []
        self.wait = True
        self.active_jobs: list[Any] = []
        self.run_uuid = "run"
        self.ended: list[Exception] = []
        self.workflow = SimpleNamespace(scheduler=SimpleNamespace(executor_error_callback=self.ended.append))
        self.logger = logging.getLogger("executor")
        self.reported: list[tuple[str, str | None]] = []

    def run_job(self, job: Any) -> None:
        if self.refusals:
            self.report_job_error(submission(job.name, None), self.refusals.pop(0))
        else:
            self.report_job_submission(submission(job.name, "1"))

    def report_job_submission(self, job_info: Any) -> None:
        self.reported.append(("submitted", job_info.job.name))

    async def check_active_jobs(self, active_jobs: list[Any]) -> AsyncIterator[Any]:
        states, _ = await query_job_status(self.states, self.logger)
        for job in active_jobs if states is not None else ():
            state = states.get(job.external_jobid)
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


def submission(name: str, number: str | None, *output: str) -> Any:
    return SimpleNamespace(external_jobid=number, job=SimpleNamespace(name=name, output=output or ("missing",)))


def active_after(executor: Any, numbers: list[str]) -> list[str]:
    """The jobs that are active after a check of so many."""

    async def check() -> list[str]:
        jobs = [submission("batch", number) for number in numbers]
        return [job.external_jobid async for job in executor.check_active_jobs(jobs)]

    return asyncio.run(check())


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    monkeypatch.setattr(slurm, "PAUSE", 0.01)
    return slurm.patient(Executor)


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


def test_a_run_that_slurm_never_answers_ends_and_says_what_it_waited_for(
    patient: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    executor = patient(states=None)
    assert active_after(executor, ["1"]) == ["1"]
    executor.states = {"1": "RUNNING"}
    active_after(executor, ["1"])
    monkeypatch.setattr(slurm, "SILENCE", -1.0)  # an answer begins a new silence
    executor.states = None
    with pytest.raises(WorkflowError, match=r"it waited for batch \(job 1\).*scancel --name=run"):
        active_after(executor, ["1"])
    assert executor.reported == []


def test_submissions_to_a_controller_that_is_away_are_not_repeated_for_ever(
    patient: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(slurm, "SILENCE", 0.0)
    executor = patient(refusals=[AWAY] * 100)
    executor.run_job(SimpleNamespace(name="batch"))
    until(lambda: executor.ended)
    assert "it waited for submissions" in str(executor.ended[0])
    assert executor.reported == []


@pytest.mark.parametrize("made", [True, False])
def test_a_job_that_slurm_does_not_know_has_ended(
    patient: Callable[..., Any], made: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "made").touch()
    executor = patient(states={"2": "RUNNING"})
    unknown: list[str] = []
    monkeypatch.setattr(slurm, "_is_unknown", lambda number: number in unknown)
    monkeypatch.setattr(slurm, "FORGOTTEN", -1.0)

    async def check() -> list[str]:
        jobs = [submission("batch", "1", str(tmp_path / ("made" if made else "missing"))), submission("batch", "2")]
        return [job.external_jobid async for job in executor.check_active_jobs(jobs)]

    assert asyncio.run(check()) == ["1", "2"]  # the controller still knows it
    unknown += ["1", "2"]
    assert asyncio.run(check()) == ["2"]
    assert executor.reported == [("success" if made else "error", "1")]


def test_a_run_without_slurm_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(PipelineError, match="command sbatch"):
        slurm.require_commands()
    (tmp_path / "sbatch").touch(0o755)
    monkeypatch.delenv("SLURM_CONF", raising=False)
    slurm.require_commands()
    monkeypatch.setenv("SLURM_CONF", str(tmp_path / "none"))
    with pytest.raises(PipelineError, match="SLURM_CONF"):
        slurm.require_commands()
