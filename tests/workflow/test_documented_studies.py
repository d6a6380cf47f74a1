"""Does the tutorial work to the letter, and can the studies be planned that the documentation's pages run?"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests import documented

from .conftest import Project, copy_folder

pytestmark = [pytest.mark.workflow, pytest.mark.slow]

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


def test_the_tutorial(clone: Project) -> None:
    tried = 0
    for block in documented.blocks(TUTORIAL):
        write_file(block, clone.folder)
        if block.language != "sh" or block.kind == "not run":
            continue
        printed = typed(block.code, clone.folder)
        assert block.output is None or documented.matches(block.output, printed), f"{block.code}\n{printed}"
        tried += 1
    assert tried > 5
    page = (clone.folder / "reports/books/pages/data-books.html").read_text()
    assert "title_words" in page


@pytest.mark.parametrize("page", PLANS)
def test_plans(page: str, clone: Project) -> None:
    for block in documented.blocks(page):
        write_file(block, clone.folder)
        if block.language == "sh" and block.kind == "plan":
            for line in block.code.splitlines():
                assert "snakemake" in line
                typed(f"{line} -n --quiet rules", clone.folder)
