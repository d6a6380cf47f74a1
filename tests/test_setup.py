"""What the set-up files say of the software agrees: pyproject.toml, environment.yml, the lock, the citation."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import yaml

import pipeline_lib

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS = ("test", "cluster")
# Names that the conda channels spell otherwise than the Python package index.
CONDA_NAMES = {"matplotlib": "matplotlib-base", "snakemake": "snakemake-minimal"}
ONLY_ON_PYPI = {"pandas-stubs", "scipy-stubs", "types-jsonschema", "types-pyyaml"}


def name_and_range(requirement: str) -> tuple[str, str]:
    match = re.fullmatch(r"([A-Za-z0-9_.-]+?)((?:[<>=!~]=?[^,]+,?)*)", requirement.replace(" ", ""))
    assert match, requirement
    return match[1].lower(), match[2]


def required() -> dict[str, str]:
    everything = list(PROJECT["dependencies"])
    for extra in EXTRAS:
        everything += PROJECT["optional-dependencies"][extra]
    return dict(name_and_range(requirement) for requirement in everything)


def test_the_conda_environment_asks_for_the_same_versions() -> None:
    environment = yaml.safe_load((ROOT / "environment.yml").read_text())
    plain = dict(name_and_range(entry) for entry in environment["dependencies"] if isinstance(entry, str))
    pip = next(entry["pip"] for entry in environment["dependencies"] if isinstance(entry, dict))
    from_pip = dict(name_and_range(entry) for entry in pip)
    assert plain.pop("python") == PROJECT["requires-python"]
    assert plain.pop("pip") == ""
    expected = required()
    assert from_pip == {name: versions for name, versions in expected.items() if name in ONLY_ON_PYPI}
    conda = {CONDA_NAMES.get(name, name): versions for name, versions in expected.items() if name not in ONLY_ON_PYPI}
    assert plain == conda


def test_the_lock_pins_every_requirement_within_its_range() -> None:
    from packaging.specifiers import SpecifierSet

    lines = [line for line in (ROOT / "requirements.lock").read_text().splitlines() if not line.startswith("#")]
    pinned = dict(line.lower().replace("_", "-").split("==") for line in lines)
    assert len(pinned) == len(lines)
    for name, versions in required().items():
        assert name in pinned, f"requirements.lock lacks {name}: run make lock"
        assert pinned[name] in SpecifierSet(versions), f"{name} {pinned[name]} is outside {versions}"


def test_versions_agree() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert PROJECT["version"] == pipeline_lib.__version__ == citation["version"]
    assert f"## {pipeline_lib.__version__}" in (ROOT / "CHANGELOG.md").read_text()


def test_the_citation_names_the_five_papers() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert len(citation["references"]) == 5
    assert all(reference["authors"] and reference["year"] for reference in citation["references"])


def test_wheels_hold_everything_but_tests(tmp_path: Path) -> None:
    packages = {path.parent.relative_to(ROOT).as_posix() for path in (ROOT / "pipeline_lib").rglob("__init__.py")}
    folders = {path.parent.relative_to(ROOT).as_posix() for path in (ROOT / "pipeline_lib").rglob("*.py")}
    assert folders <= packages, "a folder of pipeline_lib without __init__.py is not packaged"
