"""Does the Snakemake workflow catalogue list the project, and do its instructions for users lead to a plan?

The rules are those of `scripts/generate-catalog.py` in github.com/snakemake/snakemake-workflow-catalog, and of the
command `snakedeploy deploy-workflow`, which its pages tell users to run.
"""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from .conftest import ROOT

DEPLOYMENTS = {"conda", "apptainer", "apptainer+conda"}


def checkout(folder: Path) -> Path:
    """The files of the project that git keeps, as they are now."""
    listed = subprocess.check_output(["git", "ls-files", "-z"], cwd=ROOT, text=True).split("\0")
    for name in filter(None, listed):
        if (ROOT / name).is_symlink() or (ROOT / name).exists():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name, follow_symlinks=False)
    return folder


def test_the_catalogue_lists_the_workflow_as_one_of_standardized_usage(tmp_path: Path) -> None:
    found = checkout(tmp_path)
    words = (found / "README.md").read_text(encoding="utf-8").lower()
    assert "snakemake workflow" in words  # by which the repository is found
    assert (found / "workflow/Snakefile").is_file()
    assert list((found / "workflow/rules").glob("*.smk"))
    assert (found / "config/README.md").read_text(encoding="utf-8")
    settings = yaml.safe_load((found / ".snakemake-workflow-catalog.yml").read_text(encoding="utf-8"))
    usage = settings["usage"]
    assert usage["report"] is True
    assert set(usage["software-stack-deployment"]) == DEPLOYMENTS
    assert any(usage["software-stack-deployment"].values())
    assert isinstance(usage["mandatory-flags"]["flags"], list | str)
    assert usage["mandatory-flags"]["desc"]


@pytest.mark.workflow
def test_the_checks_of_the_catalogue_pass(tmp_path: Path) -> None:
    found = checkout(tmp_path)
    rules = [found / "workflow/Snakefile", *(found / "workflow/rules").glob("*.smk")]
    lint = ["snakemake", "--lint"], ["snakemake", "--lint", "--snakefile", "workflow/Snakefile"]
    for program, *arguments in (*lint, ["snakefmt", "--check", *map(str, rules), str(found / "Snakefile")]):
        command = [sys.executable, "-m", program, *arguments]
        done = subprocess.run(command, cwd=found, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr


def test_who_deploys_the_workflow_gets_a_configuration_to_edit(tmp_path: Path) -> None:
    # It copies this folder and follows links there.
    shutil.copytree(checkout(tmp_path / "clone") / "config", tmp_path / "config")
    assert (tmp_path / "config/config.yaml").read_bytes() == (ROOT / "config.yaml").read_bytes()
