"""What is planned, without running it: targets, profiles, wrong configurations, large studies."""

import os
import re
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from pipeline_lib import papers

from .conftest import Project, announced, job_table

pytestmark = pytest.mark.workflow


def test_one_training_job_per_data_set_and_model_where_trainings_are_short(new_project: Callable[..., Project]) -> None:
    planned = new_project().planned()
    assert planned["train_model"] == planned["evaluate_model"] == 3
    assert planned["convert_data"] == planned["split_folds"] == planned["render_report"] == 1
    assert "train_fold" not in planned


def test_every_paper_is_a_target(new_project: Callable[..., Project]) -> None:
    new_project().snakemake("-n", *papers.names())


def test_download_plans_every_data_set_even_the_missing(new_project: Callable[..., Project]) -> None:
    assert new_project(datasets=["letor-sim", "MQ2007"]).planned("download")["obtain_data"] == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("seed: 1\nseed: 2\n", "small.yaml, line 2: "),
        (
            "modles: []\n",
            "the configuration cannot be used:\n  - small.yaml, line 1: unknown key 'modles'; did you mean 'models'?",
        ),
    ],
)
def test_a_file_that_is_not_what_it_looks_like_stops_before_any_plan(
    new_project: Callable[..., Project], text: str, message: str
) -> None:
    project = new_project()
    (project.folder / "small.yaml").write_text(text)
    output = project.snakemake("-n", check=False)
    assert message in output
    assert "Traceback" not in output
    assert "Plan of the study" not in output


def test_only_trainings_on_large_data_have_several_threads(new_project: Callable[..., Project]) -> None:
    simulation = {"queries": 5000, "population": {"documents": 120, "features": 136}}
    output = new_project(letor_sim=simulation, threads=2).snakemake("-n", "-p")
    found = dict(re.findall(r"python -m pipeline_lib ([a-z-]+) .* --threads (\d) --code \w+ >", output))
    assert found.pop("train-model") == "2"
    assert len(found) > 3
    assert set(found.values()) == {"1"}


def test_long_trainings_have_a_job_for_each_fold_and_all_request_memory_and_time(
    new_project: Callable[..., Project], tmp_path: Path
) -> None:
    mirror = tmp_path / "mirror"
    mirror.mkdir()
    (mirror / "MQ2008.zip").touch()
    models = [
        {"name": "random", "algorithm": "random"},
        {"name": "cone", "algorithm": "cone", "passes": 100000, "basis": [10]},
    ]
    project = new_project(models=models, datasets=["MQ2008"], mirrors=[str(mirror)])
    output = project.snakemake("-n", "-p", "--workflow-profile", "profiles/slurm")
    planned = job_table(output.splitlines())
    assert (planned["train_model"], planned["train_fold"]) == (1, 2)
    assert all(resource in output for resource in ("mem_mb=", "runtime="))


def test_the_plan_is_the_same_from_either_snakefile(new_project: Callable[..., Project]) -> None:
    project = new_project()
    files = ["Snakefile", "workflow/Snakefile", str(project.folder / "Snakefile"), "../project/workflow/Snakefile"]
    plan = project.snakemake("-n")
    assert announced(plan)["render_report"] == 1
    for file in files:
        assert announced(project.snakemake("-n", "--snakefile", file)) == announced(plan), file


# As where Snakemake is installed and nothing else; one of its plug-ins here needs the library itself.
WITHOUT_NUMPY = "import sys; from snakemake.cli import main; sys.modules['numpy'] = None; main()"
CONDA = """#!/bin/sh
case $1 in
--version) echo conda 24.11.0 ;;
info) echo '{"conda_prefix": "/tmp", "platform": "linux-64", "conda_version": "24.11.0", "envs": []}' ;;
config) echo '{"get": {"channel_priority": "strict"}}' ;;
env) for word; do [ "$last" = --prefix ] && mkdir -p "$word"; last=$word; done ;;
esac
"""
"""The program as far as it describes an environment; to make one, it makes an empty folder."""


def without_numpy(project: Project, *arguments: str, conda: Path | None = None) -> tuple[int, str]:
    """The status of a Snakemake that lacks the libraries of the project, and all that it printed."""
    command = [sys.executable, "-c", WITHOUT_NUMPY, *project.arguments(*arguments)]
    both = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    path = {"PATH": os.pathsep.join(filter(None, [conda and str(conda), os.environ["PATH"]]))}
    done = subprocess.run(command, cwd=project.folder, text=True, check=False, env={**os.environ, **path}, **both)
    return done.returncode, done.stdout


@pytest.fixture
def conda(tmp_path: Path) -> Path:
    """A folder with the stand-in for conda; what it activates has the interpreter of the tests."""
    folder = tmp_path / "conda"
    (folder / "bin").mkdir(parents=True)
    (folder / "conda").write_text(CONDA.replace("/tmp", str(folder)))
    (folder / "conda").chmod(0o755)
    (folder / "bin/activate").write_text(f"export PATH={Path(sys.executable).parent}:$PATH\n")
    return folder


@pytest.mark.parametrize("arguments", [["--list"], ["-n"], ["slam", "--sdm", "conda"]], ids=" ".join)
def test_missing_libraries_are_one_message_that_says_how_to_get_them(
    new_project: Callable[..., Project], arguments: list[str]
) -> None:
    status, printed = without_numpy(new_project(), *arguments)
    assert status == 1
    assert f"numpy is not installed for {sys.executable}. " in printed
    assert "`make setup`" in printed
    assert "`conda env create --file environment.yml`" in printed
    assert "Traceback" not in printed


@pytest.mark.slow
def test_without_the_libraries_the_workflow_is_one_job_that_runs_the_study_in_conda(
    finished_copy: Project, conda: Path
) -> None:
    assert without_numpy(finished_copy, "--lint")[0] == 0
    for file in ("Snakefile", "workflow/Snakefile"):
        given = ["-n", "--sdm", "conda", "--quiet", "rules", "--snakefile", file]
        dry = without_numpy(finished_copy, *given, conda=conda)[1]
        assert job_table(dry.splitlines()) == {"study_in_conda": 1}
    # The job plans the same study, in which only the title is another one.
    status, printed = without_numpy(finished_copy, "--sdm", "conda", "--config", "title=Other words", conda=conda)
    assert status == 0, printed
    assert announced(printed)["render_report"] == 1
    assert "train_model" not in announced(printed)
    assert finished_copy.planned("--config", "title=Other words") == {}


def test_a_container_is_described_where_conda_answers(new_project: Callable[..., Project], conda: Path) -> None:
    printed = new_project().snakemake("--containerize", PATH=f"{conda}:{os.environ['PATH']}")
    assert "COPY environment.yml /conda-envs/" in printed
    assert printed.count("RUN conda env create") == 1


@pytest.mark.slow
def test_thousands_of_jobs_plan_in_seconds(new_project: Callable[..., Project]) -> None:
    models = [{"name": f"listnet-{i}", "algorithm": "erm", "surrogate": "listnet"} for i in range(400)]
    project = new_project(models=models, folds="all")
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    planned = subprocess.run(
        project.command("-n", "--quiet", "rules"), cwd=project.folder, stdout=subprocess.PIPE, text=True, check=True
    )
    assert job_table(planned.stdout.splitlines())["train_model"] == 400
    # Not a measure of speed: a plan that is quadratic in the jobs works for many minutes.
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before < 120
