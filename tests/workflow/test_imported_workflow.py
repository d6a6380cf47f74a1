"""Another workflow imports this one with `module` and runs it in a folder and with a configuration of its own."""

import json
import re
from pathlib import Path

import pytest
import yaml

from . import forked, job_server
from .conftest import ROOT, job_table

pytestmark = [pytest.mark.workflow, pytest.mark.smoke]

PAGE = (ROOT / "docs/using-elsewhere.md").read_text(encoding="utf-8")
# A rule that bears the name of one of ours.
OWN_RULE = """
rule train_model:
    input: "reports/tiny/claims.json"
    output: "number-of-claims.txt"
    shell: "grep -c status {input} > {output}"
"""
TINY = {
    "study": "tiny",
    "letor_sim": {"queries": 20, "population": {}},
    "folds": [1],
    "models": [{"name": "random", "algorithm": "random"}],
    "statistics": {"level": 0.95, "resamples": 100},
    "papers": [],
}


def write_outer(folder: Path, **overrides: object) -> Path:
    """Write the workflow that the documentation shows, with one more rule."""
    [shown] = re.findall(r"^```text\n(.*?)^```$", PAGE, flags=re.MULTILINE | re.DOTALL)
    assert "/path/to/the/project" in shown
    (folder / "Snakefile").write_text(shown.replace("/path/to/the/project", str(ROOT)) + OWN_RULE)
    (folder / "project.yaml").write_text(yaml.safe_dump({"another": "project", "ranking": {**TINY, **overrides}}))
    return folder


def run(folder: Path, *arguments: str) -> str:
    """Run both targets where nothing but the Snakefile says where the project is; return what was printed."""
    given = ["all", "number-of-claims.txt", "--cores", "2", *arguments]
    status, printed = forked.snakemake(given, folder, interpreter=job_server.interpreter())
    assert status == 0, printed[-6000:]
    return printed


def test_an_imported_workflow_runs_to_its_report_in_the_other_folder(tmp_path: Path) -> None:
    folder = write_outer(tmp_path)
    run(folder)
    claims = json.loads((folder / "reports/tiny/claims.json").read_text())
    assert claims
    assert int((folder / "number-of-claims.txt").read_text()) > 0
    assert "letor-sim" in (folder / "reports/tiny/report.html").read_text()
    assert not (ROOT / "results/tiny").exists()
    assert "Nothing to be done" in run(folder)


@pytest.mark.parametrize("directive", ["prefix", "replace_prefix"])
def test_files_in_other_places_are_refused_before_anything_is_planned(directive: str, tmp_path: Path) -> None:
    folder = write_outer(tmp_path)
    value = '"second/"' if directive == "prefix" else '{"results/": "second/"}'
    snakefile = folder / "Snakefile"
    snakefile.write_text(
        snakefile.read_text().replace("    config:\n", f"    {directive}:\n        {value}\n    config:\n")
    )
    status, printed = forked.snakemake(["all", "--cores", "1"], folder)
    assert status == 1
    assert "docs/using-elsewhere.md" in printed
    assert {path.name for path in folder.iterdir()} <= {"Snakefile", "project.yaml", ".snakemake"}


def test_every_rule_of_an_imported_workflow_bears_the_name_it_was_given(tmp_path: Path) -> None:
    folder = write_outer(tmp_path, papers="all")
    planned = job_table(run(folder, "--dry-run", "--quiet", "rules").splitlines())
    assert planned.pop("train_model") == 1
    assert len(planned) > 30
    assert all(name.startswith("ltr_") for name in planned)
