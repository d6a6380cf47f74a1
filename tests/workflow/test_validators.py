"""Do the public validators accept what the project says of itself? They are installed for the tests."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.workflow.conftest import ROOT, Project
from tools import release

pytestmark = pytest.mark.slow

VALIDATORS = ("reuse==6.2.0", "roc-validator==0.13.0", "cyclonedx-python-lib[json-validation]==11.12.0")
OF_BILL = """
import sys
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
sys.exit(JsonStrictValidator(SchemaVersion.V1_6).validate_str(sys.stdin.read()))
"""
Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Runs a program of an environment that has the validators."""
    folder = tmp_path_factory.mktemp("validators")
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    subprocess.run([folder / "bin/pip", "install", "--quiet", *VALIDATORS], check=True, capture_output=True)

    def of(program: str, *words: str, **options: Any) -> subprocess.CompletedProcess[str]:
        return subprocess.run([str(folder / "bin" / program), *words], capture_output=True, text=True, **options)

    return of


def test_every_file_has_a_licence(run: Run, tmp_path: Path) -> None:
    subprocess.run(["git", "clone", "--quiet", str(ROOT), str(tmp_path / "clone")], check=True)
    found = run("reuse", "lint", cwd=tmp_path / "clone")
    assert found.returncode == 0, found.stdout
    next((tmp_path / "clone/LICENSES").iterdir()).unlink()
    assert run("reuse", "lint", cwd=tmp_path / "clone").returncode == 1


def test_the_bill_of_materials_fits_its_schema(run: Run) -> None:
    bill = release.sbom("mine", "1", (ROOT / "requirements.lock").read_text(encoding="utf-8"))
    found = run("python", "-c", OF_BILL, input=json.dumps(bill))
    assert found.returncode == 0, found.stderr
    assert run("python", "-c", OF_BILL, input=json.dumps(bill | {"bomFormat": "x"})).returncode == 1


def test_the_run_crate_fits_its_profile(run: Run, finished: Project) -> None:
    results = finished.folder / "results/small"
    words = ("--disable-color", "validate", "--no-paging", "-p", "workflow-run-crate-0.5", str(results))
    found = run("rocrate-validator", *words)
    if "urlopen error" in found.stdout:
        pytest.skip("the validator found no network, from which it reads the terms of the profile")
    assert found.returncode == 0, found.stdout
