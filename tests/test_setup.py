"""What the set-up files say of the software agrees: pyproject.toml, the conda environments, the lock, the citation."""

import ast
import importlib.metadata
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import pipeline_lib
from tests.readings import papers_in_order

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS = ("workflow", "test", "cluster")
# A conda environment -> the extras it holds. Jobs run in the first, which holds what the tests import as well.
ENVIRONMENTS = {"environment.yml": ("workflow",), "environment-dev.yml": EXTRAS}
# What everybody who uses a workflow expects at the top of it, and the packages that this one is made of.
TOP = (
    *("Snakefile", "config.yaml", "README.md", "environment.yml"),
    *("workflow", "pipeline_lib", "data", "reports", "tests"),
)
PACKAGES = ("snakemake", "numpy", "scipy", "pandas", "polars", "matplotlib")
# Modules of an extra that the package offers, with what installs them; whoever imports them without it is told so.
OFFERED = {"sklearn": "scikit-learn", "typst": "typst"}
PARTS_OF = {
    "snakemake_interface_executor_plugins": "snakemake",
    "snakemake_interface_logger_plugins": "snakemake",
    "pydantic_core": "pydantic",
}
ONLY_ON_PYPI = {"mini-racer", "pandas-stubs", "scipy-stubs", "types-pyyaml", "typst"}


def name_and_range(requirement: str) -> tuple[str, str]:
    match = re.fullmatch(r"([A-Za-z0-9_.-]+?)((?:[<>=!~]=?[^,]+,?)*)", requirement.replace(" ", ""))
    assert match, requirement
    return match[1].lower(), match[2]


def required(extras: tuple[str, ...] = EXTRAS) -> dict[str, str]:
    everything = list(PROJECT["dependencies"])
    for extra in extras:
        everything += PROJECT["optional-dependencies"][extra]
    return dict(name_and_range(requirement) for requirement in everything)


@pytest.mark.parametrize("file", ENVIRONMENTS)
def test_a_conda_environment_asks_for_the_same_versions(file: str) -> None:
    plain, from_pip = packages_of(file)
    assert plain.pop("python") == PROJECT["requires-python"]
    assert ("pip" in plain) == bool(from_pip)
    plain.pop("pip", None)
    everything = required()
    expected = required(ENVIRONMENTS[file]) | {
        name: everything[name] for name in imported_by("tests") & set(everything)
    }
    assert from_pip == {name: versions for name, versions in expected.items() if name in ONLY_ON_PYPI}
    assert plain == {name: versions for name, versions in expected.items() if name not in ONLY_ON_PYPI}


def packages_of(file: str) -> tuple[dict[str, str], dict[str, str]]:
    """The packages of a conda environment with their ranges: those from the channels, and those that pip installs."""
    entries = yaml.safe_load((ROOT / file).read_text())["dependencies"]
    plain = dict(name_and_range(entry) for entry in entries if isinstance(entry, str))
    return plain, dict(name_and_range(entry) for group in entries if isinstance(group, dict) for entry in group["pip"])


def test_the_top_folder_has_what_users_of_workflows_look_for() -> None:
    kept = set(subprocess.check_output(["git", "ls-files"], cwd=ROOT, text=True).splitlines())
    tops = kept | {path.partition("/")[0] for path in kept if "/" in path}
    assert set(TOP) <= tops
    assert all((ROOT / name).is_dir() != ("." in name or name == "Snakefile") for name in TOP)


def test_the_packages_of_the_project_are_imported_and_in_the_environment() -> None:
    named = packages_of("environment.yml")[0]
    assert {*PACKAGES, "pytest"} <= named.keys()
    assert set(PACKAGES) <= imported_by("pipeline_lib")
    assert "pytest" in imported_by("tests")


def imported_by(folder: str) -> set[str]:
    """The distributions whose modules the modules below a folder import."""
    distributions = importlib.metadata.packages_distributions()
    modules = [ast.parse(path.read_bytes()) for path in (ROOT / folder).rglob("*.py")]
    names = {name.partition(".")[0] for module in modules for name in imports(module)}
    return {distributions[name][0].lower() for name in names & distributions.keys()}


def test_every_library_that_the_package_imports_is_required() -> None:
    modules = [ast.parse(path.read_bytes()) for path in (ROOT / "pipeline_lib").rglob("*.py")]
    imported = {name.partition(".")[0] for module in modules for name in imports(module)}
    foreign = imported - set(sys.stdlib_module_names) - {"pipeline_lib", "__future__"}
    for module, distribution in OFFERED.items():
        foreign.remove(module)
        assert distribution in dict(map(name_and_range, PROJECT["optional-dependencies"][module]))
    distributions = importlib.metadata.packages_distributions()
    named = {PARTS_OF.get(name) or distributions[name][0].lower() for name in foreign}
    assert named <= set(required(("workflow",)))


def test_the_library_alone_needs_fewer_than_25_packages() -> None:
    needed: set[str] = set()
    names = [Requirement(one).name for one in PROJECT["dependencies"]]
    while names:
        if (name := canonicalize_name(names.pop())) not in needed:
            needed.add(name)
            requirements = [Requirement(one) for one in importlib.metadata.requires(name) or []]
            names += [one.name for one in requirements if one.marker is None or one.marker.evaluate({"extra": ""})]
    assert "numpy" in needed
    assert len(needed) < 25
    assert not needed & {"polars", "python-flint", "pandas", "matplotlib", "pillow", "snakemake"}


COMMANDS = (
    "rank --model model.json --data documents.txt --output ranked.run --qrels documents.qrels",
    "evaluate-run --run ranked.run --qrels documents.qrels --output means.csv --per-query queries.csv",
    "example-data --output books.csv --qrels books.qrels --runs text_score.run loans.run",
    "compare text_score.run loans.run --qrels books.qrels",
    "certify text_score.run --qrels books.qrels",
    "plan-labels text_score.run loans.run --qrels books.qrels --difference 0.03",
    "doctor books.csv",
)


def test_the_library_works_without_what_only_the_workflow_needs(tmp_path: Path) -> None:
    distributions = importlib.metadata.packages_distributions()
    hidden = [
        module
        for module, [distribution, *_] in distributions.items()
        if distribution.lower() in required(("workflow",)).keys() - required(()).keys()
    ]
    assert {"snakemake", "polars", "flint"} <= set(hidden)
    code = f"""
import sys
class Hidden:  # None in sys.modules would be a module for extensions that Cython compiled
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {hidden}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Hidden())
from pipeline_lib import cli, learners, metrics, sources, surrogates, theory
data = sources.letor.read("documents.txt")
fitted = learners.erm.fit(data, "listnet", l2=0.5)
assert fitted.certified and theory.list_bounds.NAMES and surrogates.create("slam-ndcg").convex
assert metrics.ndcg(data.X[:, 0], data.y, data.offsets).shape == (2,)
fitted.save("model.json")
commands = {COMMANDS!r}
assert not [command for command in commands if cli.main(command.split())]
"""
    (tmp_path / "documents.txt").write_text("1 qid:1 1:0.5\n0 qid:1 1:0.25\n2 qid:2 1:1\n0 qid:2 1:2\n")
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=environment, check=True, capture_output=True)


def imports(module: ast.Module) -> Iterator[str]:
    """The modules that statements anywhere in a module import, by their full names."""
    for node in ast.walk(module):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module


def test_the_lock_pins_every_requirement_within_its_range() -> None:
    from packaging.specifiers import SpecifierSet

    pinned: dict[str, str] = {}
    for line in (ROOT / "requirements.lock").read_text().splitlines():
        if entry := re.match(r"([a-z0-9-]+)==([^ ]+)", line):
            assert line.endswith("\\"), f"{entry[1]} has no hashes"
            pinned[entry[1]] = entry[2]
        else:
            assert re.match(r"#|    --hash=sha256:[0-9a-f]{64}( \\|$)", line), line
    for name, versions in required().items():
        assert name in pinned, f"requirements.lock lacks {name}: run make lock"
        assert pinned[name] in SpecifierSet(versions), f"{name} {pinned[name]} is outside {versions}"


def test_the_lock_holds_the_last_numba_that_is_allowed() -> None:
    """Its cache is used in ways that it does not document (core/compiled.py): a newer one must be tried first."""
    [locked] = re.findall(r"^numba==(\d+)\.(\d+)", (ROOT / "requirements.lock").read_text(), flags=re.MULTILINE)
    assert required()["numba"].endswith(f",<{locked[0]}.{int(locked[1]) + 1}")


def test_versions_agree() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert PROJECT["version"] == pipeline_lib.__version__ == citation["version"]
    assert f"## {pipeline_lib.__version__}" in (ROOT / "CHANGELOG.md").read_text()


def test_the_citation_names_the_papers() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert len(citation["references"]) == len(papers_in_order())
    assert all(reference["authors"] and reference["year"] for reference in citation["references"])


def test_the_entry_of_the_workflow_catalog_has_the_keys_that_it_reads() -> None:
    usage = yaml.safe_load((ROOT / ".snakemake-workflow-catalog.yml").read_text()).pop("usage")
    assert usage.keys() == {"mandatory-flags", "software-stack-deployment", "report"}
    assert usage["mandatory-flags"].keys() == {"desc", "flags"}
    assert any(usage["software-stack-deployment"].values())
    assert usage["report"] is True


def test_the_hosted_checks_run_the_commands_of_make_on_every_python_that_is_supported() -> None:
    checks = yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text())["jobs"]
    commands = [step["run"] for job in checks.values() for step in job["steps"] if "run" in step]
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    called = {target for command in commands for target in re.findall(r"^make ?(\S*)$", command)}
    assert {"", "lint", "test", "docs", "lowest", "newest", "formal"} == called
    assert called - {""} <= targets
    matrix = checks["check"]["strategy"]["matrix"]
    assert PROJECT["requires-python"] == f">={matrix['python'][0]}"
    assert {system.partition("-")[0] for system in matrix["os"]} == {"ubuntu", "macos"}
    copied = re.findall(r"cp (?:-r )?(\S+)", " ".join(commands))
    assert [path for path in copied if path.startswith(".github")] == [".github/pages.html"]
    assert all((ROOT / path).exists() for path in copied if path.startswith("."))


def test_forms_of_issues_have_the_fields_that_hosts_read() -> None:
    for path in (ROOT / ".github/ISSUE_TEMPLATE").glob("*.yml"):
        form = yaml.safe_load(path.read_text())
        assert form.keys() == {"name", "description", "body"}
        assert len({part["id"] for part in form["body"]}) == len(form["body"])
        assert all(part["type"] in ("input", "textarea") and part["attributes"]["label"] for part in form["body"])
