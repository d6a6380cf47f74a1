"""Another workflow imports this one with `module` and runs it in a folder and with a configuration of its own."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml
from snakemake.exceptions import WorkflowError
from snakemake.sourcecache import GenericSourceFile, LocalGitFile

from pipeline_lib.study import snakemake_internals

from . import forked, job_server
from .conftest import ROOT, TINY, copy_parts, job_table

pytestmark = [pytest.mark.workflow, pytest.mark.smoke]

PAGE = (ROOT / "docs/using-elsewhere.md").read_text(encoding="utf-8")
# A rule that bears the name of one of ours.
OWN_RULE = """
rule train_model:
    input: "reports/tiny/claims.json"
    output: "number-of-claims.txt"
    shell: "grep -c status {input} > {output}"
"""


def write_outer(folder: Path, **overrides: object) -> Path:
    """Write the workflow that the documentation shows, with one more rule."""
    [shown] = re.findall(r"^```text\n(.*?)^```$", PAGE, flags=re.MULTILINE | re.DOTALL)
    assert "/path/to/the/project" in shown
    folder.mkdir(exist_ok=True)
    (folder / "Snakefile").write_text(shown.replace("/path/to/the/project", str(ROOT)) + OWN_RULE)
    ours = {**TINY, "study": "tiny", "models": TINY["models"][:1], **overrides}
    (folder / "project.yaml").write_text(yaml.safe_dump({"another": "project", "ranking": ours}))
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


@pytest.mark.parametrize("options", [[], ["--dry-run"]], ids=["run", "plan"])
def test_two_imports_are_refused_before_anything_is_planned(options: list[str], tmp_path: Path) -> None:
    folder = write_outer(tmp_path)
    snakefile = folder / "Snakefile"
    text = snakefile.read_text()
    module = text[text.index("module ltr:") : text.index("rule all:")]
    snakefile.write_text(text.replace("rule all:", f"{module.replace('ltr', 'two')}rule all:"))
    status, printed = forked.snakemake(["all", "--cores", "1", *options], folder)
    assert status == 1
    assert "found two, as modules 'ltr' and 'two'" in printed
    assert "docs/using-elsewhere.md" in printed
    written = {str(path.relative_to(folder)) for path in folder.rglob("*") if ".snakemake" not in path.parts}
    assert written - {"Snakefile", "project.yaml"} == (set() if options else {"results", "results/run.lock"})


def test_a_rule_that_is_imported_once_more_to_be_modified_is_no_second_import(tmp_path: Path) -> None:
    folder = write_outer(tmp_path)
    with (folder / "Snakefile").open("a") as snakefile:
        snakefile.write("use rule train_model from ltr as ltr_train_model with:\n    threads: 2\n")
    assert job_table(run(folder, "--dry-run", "--quiet", "rules").splitlines())["ltr_train_model"] == 1


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Git repository of the project with two commits: all that a run needs, tagged v1, and then nothing."""
    folder = tmp_path_factory.mktemp("repository")
    copy_parts(folder)
    shutil.copy2(ROOT / ".gitignore", folder)  # else what is compiled would count as a change
    git(folder, "init", "--quiet", "--initial-branch", "trunk")
    for message, tag in (("All", "v1"), ("Nothing", "v2")):
        git(folder, "add", "--all", "--force")
        git(folder, "-c", "user.name=A", "-c", "user.email=a@example.org", "commit", "--quiet", "--message", message)
        git(folder, "tag", tag)
        if tag == "v1":
            git(folder, "rm", "-r", "--quiet", ".")
    return folder


def git(folder: Path, *arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=folder, check=True, capture_output=True, text=True).stdout.strip()


def name_in_repository(folder: Path, value: str) -> None:
    """Let the outer workflow import the project from what is written after ``snakefile:``."""
    snakefile = folder / "Snakefile"
    snakefile.write_text(snakefile.read_text().replace(f'"{ROOT}/workflow/Snakefile"', value))
    assert value in snakefile.read_text()


@pytest.mark.slow
def test_a_workflow_is_imported_from_a_git_repository_and_runs_to_its_report(repository: Path, tmp_path: Path) -> None:
    folder = write_outer(tmp_path / "outer")
    name_in_repository(folder, f'"git+file://{repository}/workflow/Snakefile@v1"')
    run(folder)
    commit = git(repository, "rev-parse", "v1")
    assert [path.name for path in (folder / ".snakemake/checkouts").iterdir()] == [commit]
    assert json.loads((folder / "results/tiny/provenance.json").read_text())["code"] == commit[:12]
    assert "letor-sim" in (folder / "reports/tiny/report.html").read_text()
    assert "Nothing to be done" in run(folder)


def test_github_and_gitfile_name_the_same_project(repository: Path, tmp_path: Path) -> None:
    # Git fetches from the repository whatever it is told to fetch from that address.
    instead = {
        "KEY_0": f"url.file://{repository}.insteadOf",
        "VALUE_0": "https://github.com/owner/project",
        "COUNT": "1",
    }
    environment = {"XDG_CACHE_HOME": str(tmp_path), **{f"GIT_CONFIG_{name}": value for name, value in instead.items()}}
    for number, value in enumerate(
        (
            'github("owner/project", path="workflow/Snakefile", tag="v1")',
            f'gitfile("{repository}", path="workflow/Snakefile", commit="{git(repository, "rev-parse", "v1")}")',
        )
    ):
        folder = write_outer(tmp_path / str(number))
        name_in_repository(folder, value)
        given = ["all", "--cores", "1", "--dry-run", "--quiet", "rules"]
        status, printed = forked.snakemake(given, folder, **environment)
        assert status == 0, printed[-6000:]
        assert job_table(printed.splitlines())["ltr_render_report"] == 1


def test_rules_without_their_project_are_refused_in_one_message(tmp_path: Path) -> None:
    with pytest.raises(WorkflowError, match=r"https://example.org/workflow/rules, where the rest .*gitfile"):
        snakemake_internals.checked_out(GenericSourceFile("https://example.org/workflow/rules"))
    git(tmp_path, "init", "--quiet")
    with pytest.raises(WorkflowError, match="Git cannot check out this version: fatal: "):
        snakemake_internals.checked_out(LocalGitFile(str(tmp_path), "workflow/rules", tag="v9"))


def test_either_snakefile_can_be_imported_and_sets_the_default_target_of_who_has_none(tmp_path: Path) -> None:
    for file in ("Snakefile", "workflow/Snakefile"):
        folder = write_outer(tmp_path / file.replace("/", "-"))
        snakefile = folder / "Snakefile"
        text = snakefile.read_text().replace(f"{ROOT}/workflow/Snakefile", f"{ROOT}/{file}")
        snakefile.write_text(text[: text.index("rule all:")])
        status, printed = forked.snakemake(["--cores", "1", "--dry-run", "--quiet", "rules"], folder)
        assert status == 0, printed[-6000:]
        planned = job_table(printed.splitlines())
        assert planned.pop("ltr_all") == planned["ltr_render_report"] == 1


def test_every_rule_of_an_imported_workflow_bears_the_name_it_was_given(tmp_path: Path) -> None:
    folder = write_outer(tmp_path, papers="all")
    planned = job_table(run(folder, "--dry-run", "--quiet", "rules").splitlines())
    assert planned.pop("train_model") == 1
    assert len(planned) > 30
    assert all(name.startswith("ltr_") for name in planned)
