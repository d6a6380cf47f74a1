"""Jobs of a study in which the n-th write, rename or other call of the system fails (``tests/faults``)."""

import os
import random
import subprocess
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.faults import ERRORS, OPERATIONS, Faults, NoCompiler, jobs, name_of

from .conftest import Project

pytestmark = [pytest.mark.workflow, pytest.mark.slow]

ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTEST_CURRENT_TEST"}


def faults_of(project: Project, place: Path) -> Faults:
    try:
        return Faults(place, project.folder)
    except NoCompiler as reason:
        pytest.skip(str(reason))


def test_jobs_survive_or_name_what_fails(finished_copy: Project, tmp_path: Path) -> None:
    study = jobs.Study(finished_copy.folder, faults_of(finished_copy, tmp_path / "faults"), ENVIRONMENT)
    rng = random.Random(1)
    counts: Counter[str] = Counter()
    wrong = []
    with study.served():
        for job in jobs.of_plan(finished_copy.snakemake("-n", "-p", "--forceall")).values():
            every = {operation: list(jobs.every_failure(study, job, operation)) for operation in OPERATIONS}
            for operation in rng.sample([operation for operation in OPERATIONS if every[operation]], 2):
                verdict = study.judge(job, operation, *rng.choice(every[operation]))
                counts[verdict.word] += 1
                if verdict.word not in jobs.GOOD:
                    wrong.append(verdict.line)
    assert not wrong, "\n".join(wrong)
    assert counts["refused"] > 5
    assert counts["survived"] > 0


@pytest.mark.parametrize(
    ("operation", "number", "error", "server"),
    [("write", 40, "EIO", True), ("fork", 3, "EAGAIN", True), ("open", 11, "EMFILE", False)],
)
def test_the_run_after_one_in_which_a_call_failed_ends_with_the_same_bytes(
    finished: Project,
    with_data: Callable[..., Project],
    tmp_path: Path,
    operation: str,
    number: int,
    error: str,
    server: bool,
) -> None:
    project = with_data()
    faults = faults_of(project, tmp_path / "faults")
    [chosen] = [one for one in ERRORS[operation] if name_of(one) == error]
    faults.let_fail(operation, number, chosen)
    environment = ENVIRONMENT | faults.environment() | ({} if server else {"LTR_JOB_SERVER": ""})
    run = subprocess.run(
        project.command(), cwd=project.folder, env=environment, capture_output=True, text=True, timeout=600, check=False
    )
    output, hit = run.stdout + run.stderr, faults.fired()
    assert hit
    assert "Traceback" not in output
    if operation == "fork":
        assert run.returncode == 0, output
    else:
        assert run.returncode == 1, output
        assert jobs.named(Path(hit)) in output
    project.snakemake()
    assert project.tables() == finished.tables()
    assert project.planned() == {}
