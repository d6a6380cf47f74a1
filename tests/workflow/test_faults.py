"""Full disks, read-only folders and names: what a run says, and how it recovers."""

import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import yaml

from .conftest import SMALL, Project, copy_project

pytestmark = pytest.mark.workflow

ODD = """odd {a} $HOME 'q" é; & *"""
"""A folder or a file of this name is one that shells, formats and wildcards would take apart."""


def mount(*arguments: str) -> None:
    done = subprocess.run(["mount", *arguments], capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"nothing can be mounted here: {done.stderr.strip()}")


@contextmanager
def small_disk(folder: Path, size: str) -> Iterator[None]:
    """A disk of this size in the place of a folder."""
    if shutil.which("mount") is None:
        pytest.skip("there is no command mount")
    folder.mkdir(parents=True, exist_ok=True)
    mount("-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder))
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("place", "size"),
    [("results", "40k"), ("results", "120k"), (".snakemake", "48k"), (".snakemake", "160k"), ("data/parquet", "12k")],
)
def test_a_full_disk_is_named_and_with_more_space_the_next_run_goes_on(
    finished: Project, with_data: Callable[..., Project], place: str, size: str
) -> None:
    project = with_data()
    with small_disk(project.folder / place, size):
        output = project.snakemake(check=False)
        assert re.search("disk is full|is the disk full|No space left on device", output), output
        assert "Traceback" not in output
        assert not re.search("is empty$", output, re.MULTILINE)  # a log that could not be written says nothing
        mount("-o", "remount,size=64m", str(project.folder / place))
        project.snakemake()
        assert project.tables() == finished.tables()
        assert project.planned() == {}


def test_records_that_cannot_be_written_are_one_clear_error(new_project: Callable[..., Project]) -> None:
    project = new_project()
    shutil.rmtree(project.folder / ".snakemake")
    (project.folder / ".snakemake").symlink_to("/proc")  # nobody, not even root, makes files in /proc
    output = project.snakemake(check=False)
    assert ".snakemake: expected a folder that this run can write to" in output
    assert "Traceback" not in output


def test_a_home_that_cannot_be_written_stops_no_run(new_project: Callable[..., Project]) -> None:
    # Nobody, not even root, makes files in /proc.
    output = new_project().snakemake("data/raw/letor-sim/manifest.json", HOME="/proc", XDG_CACHE_HOME="")
    assert "[1/1] simulate_data" in output


def test_a_user_without_a_name_may_start_a_run(new_project: Callable[..., Project]) -> None:
    project = new_project()
    unnamed = ["unshare", "--user", "--map-user=12345", "env"]
    unnamed += [word for name in ("LOGNAME", "USER", "LNAME", "USERNAME") for word in ("-u", name)]
    if (
        shutil.which("unshare") is None
        or subprocess.run([*unnamed, "true"], capture_output=True, check=False).returncode
    ):
        pytest.skip("nobody can be another user here")
    command = [*unnamed, *project.command("-n")]
    done = subprocess.run(command, cwd=project.folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.slow
def test_names_with_blanks_quotes_and_braces(finished: Project, tmp_path: Path) -> None:
    file = f"{ODD}/{ODD}.txt"
    project = copy_project(tmp_path / ODD, dict(SMALL))
    project.snakemake()
    assert project.tables() == finished.tables()
    (project.folder / ODD).mkdir()
    (project.folder / file).write_text("".join(f"{i % 3} qid:{i // 5} 1:{i}\n" for i in range(50)))
    datasets = [{"name": "mine", "files": [file]}]
    (project.folder / "small.yaml").write_text(yaml.safe_dump({**SMALL, "datasets": datasets}))
    project.snakemake()
    page = (project.folder / "reports/small/report.html").read_text()
    assert "{a} $HOME" in page
    assert project.planned() == {}
