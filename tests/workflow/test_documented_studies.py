"""Does the tutorial work to the letter, and can the studies be planned that the documentation's pages run?"""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.docs import documented

from .conftest import Project, announced, copy_folder

pytestmark = pytest.mark.workflow

TUTORIAL = "docs/tutorial.md"
PLANS = documented.commands("plan")


@pytest.fixture
def clone(tmp_path: Path) -> Project:
    """A copy of the project in which nothing has run."""
    project = copy_folder(Project.original, tmp_path / "clone")
    (project.folder / "my.txt").write_text("".join(f"{y} qid:{q} 1:{y}.5\n" for q in range(9) for y in (0, 1, 2)))
    return project


def typed(command: str, folder: Path) -> str:
    """What a command line prints that is typed in a folder where the environment is activated."""
    environment = {name: value for name, value in os.environ.items() if name != "LTR_MIRROR"}
    environment |= {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}", "PYTHONPATH": str(folder)}
    done = subprocess.run(
        ["bash", "-ec", command],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert not done.returncode, f"{command}\n{done.stdout[-6000:]}"
    return done.stdout


def write_file(block: documented.Block, folder: Path) -> None:
    """Write the file that the text before a block in YAML names."""
    if block.language == "yaml" and block.file and block.file.endswith(".yaml"):
        (folder / block.file).write_text(block.code)


def tried(block: documented.Block, folder: Path) -> str:
    """What a block of commands prints, if that is what the page shows."""
    printed = typed(block.code, folder)
    assert block.output is None or documented.matches(block.output, printed), f"{block.code}\n{printed}"
    return printed


def commands_of_tutorial(folder: Path) -> Iterator[documented.Block]:
    """The blocks of commands that are tried, each after the files were written that come before it."""
    for block in documented.blocks(TUTORIAL):
        write_file(block, folder)
        if block.language == "sh" and block.kind != "not run":
            yield block


def test_the_tutorial_plans_as_many_jobs_as_it_shows(clone: Project) -> None:
    commands = commands_of_tutorial(clone.folder)
    jobs: dict[str, int] = {}
    while not jobs:
        jobs = announced(tried(next(commands), clone.folder))
    finished = re.findall(r"^\[(\d+)/(\d+)\]", next(commands).output or "", re.MULTILINE)
    total = sum(jobs.values())
    assert finished == [(str(number), str(total)) for number in range(total + 1 - len(finished), total + 1)] != []


@pytest.mark.slow
def test_the_tutorial(clone: Project) -> None:
    printed = [tried(block, clone.folder) for block in commands_of_tutorial(clone.folder)]
    assert len(printed) > 5
    page = (clone.folder / "reports/books/pages/data-books.html").read_text()
    assert "title_words" in page


@pytest.mark.slow
@pytest.mark.parametrize("page", PLANS)
def test_plans(page: str, clone: Project) -> None:
    for block in documented.blocks(page):
        write_file(block, clone.folder)
        if block.language == "sh" and block.kind == "plan":
            for line in block.code.splitlines():
                assert "snakemake" in line
                typed(f"{line} -n --quiet rules", clone.folder)
