"""A wheel, installed elsewhere, holds everything that the commands and the library need."""

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import venv
import zipfile
from dataclasses import dataclass
from pathlib import Path

import pytest

from pipeline_lib import cli, papers

ROOT = Path(__file__).parents[1]
PAGES = (  # of the documentation, which the report shows
    "glossary.md",
    "references.md",
    *(f"{name}.md" for paper in papers.every() for name in paper.proofs),
)
SOURCE = (
    "pyproject.toml",
    "README.md",
    "LICENSE",
    "LICENSES",
    "pipeline_lib",
    "data/catalog.yaml",
    *(f"docs/{name}" for name in PAGES),
)
FACTS = """\
import json
from pipeline_lib import learners, papers, surrogates
from pipeline_lib.claims import errata, ledger
from pipeline_lib.report import site
from pipeline_lib.sources import catalog
found = json.dumps({
    "data sets": sorted(catalog.load()),
    "papers": papers.names(),
    "claims": [claim.id for claim in ledger.load()],
    "errata": [one.letter for one in errata.load()],
    "surrogates": sorted(surrogates.NAMES),
    "learners": sorted(learners.NAMES),
    "templates": sorted(path.name for path in site.TEMPLATES.iterdir()),
    "file": catalog.__file__,
})
"""
FIT = """\
from pipeline_lib.learners import erm
from pipeline_lib.data.ranking_data import RankingData
data = RankingData.from_arrays([[0.0], [1.0], [2.0]], [0, 1, 0], [1, 1, 1])
fitted = erm.fit(data, "listnet", l2=0.5)
print(fitted.certified)
"""


@dataclass(frozen=True)
class Installed:
    """A fresh environment with the wheel, and a folder far from the checkout."""

    wheel: Path
    programs: Path
    elsewhere: Path

    def run(self, program: str, *arguments: str) -> str:
        """Run a program of the environment; return what it printed."""
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        command = [str(self.programs / program), *arguments]
        result = subprocess.run(
            command, cwd=self.elsewhere, env=environment, capture_output=True, text=True, check=False
        )
        assert result.returncode == 0, result.stdout + result.stderr
        return result.stdout


def pip(*arguments: str | Path) -> None:
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet", *map(str, arguments)]
    subprocess.run(command, check=True, capture_output=True, text=True)


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """Build the wheel and install it, without a network: its requirements are those of this environment."""
    folder = tmp_path_factory.mktemp("installed")
    for name in SOURCE:
        (folder / "source" / name).parent.mkdir(parents=True, exist_ok=True)
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, folder / "source" / name)
    pip("wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", folder, folder / "source")
    [wheel] = folder.glob("*.whl")
    venv.create(folder / "environment", symlinks=True)
    paths = {"base": str(folder / "environment"), "platbase": str(folder / "environment")}
    packages = Path(sysconfig.get_path("purelib", "venv", vars=paths))
    here = [path for path in sys.path if Path(path).name == "site-packages"]
    (packages / "requirements.pth").write_text("\n".join(here) + "\n")
    programs = Path(sysconfig.get_path("scripts", "venv", vars=paths))
    pip("--python", programs / "python", "install", "--no-deps", "--no-index", "--ignore-installed", wheel)
    (folder / "elsewhere").mkdir()
    return Installed(wheel, programs, folder / "elsewhere")


def test_the_wheel_holds_every_file_of_the_package_and_nothing_else(installed: Installed) -> None:
    names = (path.relative_to(ROOT).as_posix() for path in (ROOT / "pipeline_lib").rglob("*") if path.is_file())
    copied = {"pipeline_lib/sources/catalog.yaml", *(f"pipeline_lib/{name}" for name in PAGES)}
    expected = {name for name in names if "__pycache__" not in name} | copied
    with zipfile.ZipFile(installed.wheel) as archive:
        assert {name for name in archive.namelist() if ".dist-info/" not in name} == expected


def test_the_console_script_runs_commands(installed: Installed, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["witnesses"]) == 0
    assert installed.run("pipeline-lib", "witnesses") == capsys.readouterr().out


def test_the_installed_library_finds_its_data(installed: Installed) -> None:
    here: dict[str, str] = {}
    exec(FACTS, here)
    found, expected = json.loads(installed.run("python", "-c", f"{FACTS}print(found)")), json.loads(here["found"])
    assert Path(found.pop("file")).is_relative_to(installed.programs.parent)
    assert Path(expected.pop("file")).is_relative_to(ROOT)
    assert found == expected


def test_the_installed_library_trains(installed: Installed) -> None:
    assert installed.run("python", "-c", FIT) == "True\n"
