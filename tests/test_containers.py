"""The recipes of the container images install what the project needs, the same in both, and from the lock file."""

import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
RECIPES = {path.name: path.read_text() for path in sorted((ROOT / "containers").iterdir())}
COMMENT = re.compile(r"^\s*#.*\n", flags=re.MULTILINE)


def instructions(name: str) -> str:
    """A recipe without comments, with continued lines joined."""
    return re.sub(r"\s*\\\n\s*", " ", COMMENT.sub("", RECIPES[name]))


def base(name: str) -> str:
    (image,) = re.findall(r"^(?:FROM|From:) +(\S+)$", instructions(name), flags=re.MULTILINE)
    return image


def copied(name: str) -> list[tuple[str, str]]:
    """The files that an image gets from the project: where from and where to."""
    return re.findall(r"^(?:COPY| +)\s*([\w./-]+) (/opt/\S+)$", instructions(name), flags=re.MULTILINE)


def commands(name: str) -> list[list[str]]:
    """The commands that a recipe runs, as words."""
    lines = re.findall(r"^(?:RUN|    )\s*(.+)$", instructions(name), flags=re.MULTILINE)
    return [part.split() for line in lines for part in line.split(" && ")]


def installed(name: str, *program: str) -> list[list[str]]:
    return [words[len(program) :] for words in commands(name) if tuple(words[: len(program)]) == program]


def test_there_are_both_recipes() -> None:
    assert set(RECIPES) == {"Dockerfile", "apptainer.def"}


def test_both_recipes_build_the_same() -> None:
    docker, apptainer = RECIPES
    assert base(docker) == base(apptainer)
    assert copied(docker) == copied(apptainer)
    for program in (("apt-get",), ("python", "-m", "pip")):
        assert installed(docker, *program) == installed(apptainer, *program) != []


@pytest.mark.parametrize("name", RECIPES)
def test_an_image_holds_exactly_the_lock_file(name: str) -> None:
    ((source, target),) = copied(name)
    assert source == "requirements.lock"
    (arguments,) = installed(name, "python", "-m", "pip")
    assert arguments == ["install", "--no-cache-dir", "--requirement", target]
    assert "://" not in instructions(name), "an address of a registry"


@pytest.mark.parametrize("name", RECIPES)
def test_the_python_of_an_image_is_one_that_the_project_supports(name: str) -> None:
    from packaging.specifiers import SpecifierSet

    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    version = re.fullmatch(r"python:(\d+\.\d+)-slim-bookworm", base(name))
    assert version is not None
    assert version[1] in SpecifierSet(project["project"]["requires-python"])
    assert version[1] == project["tool"]["mypy"]["python_version"]  # that of the lock file and of the checks


def test_the_context_of_a_build_has_what_is_copied_and_nothing_else() -> None:
    ignored, *kept = (line for line in (ROOT / ".dockerignore").read_text().splitlines() if not line.startswith("#"))
    assert ignored == "*"
    sources = [source for source, _ in copied("Dockerfile")]
    assert sources == [line.removeprefix("!") for line in kept]
    assert all((ROOT / source).is_file() for source in sources)


def docker_answers() -> bool:
    if shutil.which("docker") is None:
        return False
    return subprocess.run(["docker", "info"], capture_output=True, timeout=30, check=False).returncode == 0


@pytest.mark.slow
def test_docker_builds_an_image_that_plans_a_study() -> None:
    if not docker_answers():
        pytest.skip("no Docker daemon answers")
    build = ["docker", "build", "--quiet", "--file", "containers/Dockerfile", "."]
    image = subprocess.run(build, cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()
    command = ["docker", "run", "--rm", "--volume", f"{ROOT}:/project:ro", "--workdir", "/tmp", image]
    plan = [*command, "snakemake", "--snakefile", "/project/workflow/Snakefile", "-n", "--cores", "1"]
    assert 'Plan of the study "default"' in subprocess.run(plan, capture_output=True, text=True, check=True).stdout
