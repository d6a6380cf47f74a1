"""A wheel, installed elsewhere, holds everything that the commands and the library need."""

import itertools
import json
import math
import os
import shutil
import subprocess
import sys
import sysconfig
import venv
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from pipeline_lib import cli, papers

ROOT = Path(__file__).parents[1]
PAGES = (  # of the documentation, which the report shows
    "glossary.md",
    "references.md",
    "what-is-new.md",
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
    assert cli.main(["counterexamples"]) == 0
    assert installed.run("pipeline-lib", "counterexamples") == capsys.readouterr().out


def test_the_installed_library_finds_its_data(installed: Installed) -> None:
    here: dict[str, str] = {}
    exec(FACTS, here)
    found, expected = json.loads(installed.run("python", "-c", f"{FACTS}print(found)")), json.loads(here["found"])
    assert Path(found.pop("file")).is_relative_to(installed.programs.parent)
    assert Path(expected.pop("file")).is_relative_to(ROOT)
    assert found == expected


def test_the_installed_library_trains(installed: Installed) -> None:
    assert installed.run("python", "-c", FIT) == "True\n"


SMALL = (1, 1, 2, 1, 1, 3, 1, 2, 1, 1, 1, 4), (2, 4, 1, 3, 2, 4, 2, 2, 5, 1, 3, 2)
"""Ranks of the only relevant document of each query, by two runs; so few that all patterns of signs can be tried."""
LARGE = (1,) * 28 + (2,) * 12, (2,) * 28 + (1,) * 12
"""Differences of reciprocal ranks are 1/2 or -1/2 here, so that the test by signs is that of the binomial law."""


def write_runs(folder: Path, ranks: tuple[tuple[int, ...], ...]) -> list[str]:
    """Runs of five documents a query, of which one is relevant and has these ranks, and judgements of it."""
    for name, of_run in zip(("a.run", "b.run"), ranks, strict=True):
        orders = [[*range(2, rank + 1), 1, *range(rank + 1, 6)] for rank in of_run]
        lines = [f"{q} Q0 d{d} {i} {9 - i} x" for q, order in enumerate(orders) for i, d in enumerate(order, 1)]
        (folder / name).write_text("\n".join(lines))
    (folder / "judged.qrels").write_text("\n".join(f"{q} 0 d1 1" for q in range(len(ranks[0]))))
    return ["a.run", "b.run", "--qrels", "judged.qrels", "--measure", "RR", "--json"]


def compared(installed: Installed, ranks: tuple[tuple[int, ...], ...]) -> tuple[dict[str, Any], Any]:
    """What the command says of a pair, and the differences."""
    found = json.loads(installed.run("pipeline-lib", "compare", *write_runs(installed.elsewhere, ranks)))
    a, b = 1.0 / np.array(ranks)
    assert [one["mean"] for one in found["runs"]] == pytest.approx([a.mean(), b.mean()], abs=1e-12)
    [pair] = found["comparisons"]
    assert pair["difference"] == pytest.approx((a - b).mean(), abs=1e-12)
    return pair, a - b


@pytest.mark.slow
def test_a_comparison_is_that_of_all_patterns_of_signs_and_of_scipy(installed: Installed) -> None:
    pair, d = compared(installed, SMALL)
    n, mean, error = len(d), d.mean(), stats.sem(d)
    signs = np.array(list(itertools.product((-1.0, 1.0), repeat=n)))
    assert pair["p_value"] == pytest.approx(np.mean(np.abs(signs @ d) >= abs(d.sum()) - 1e-9), abs=1e-12)
    # scipy enumerates the same patterns: those that exchange the values of some queries.
    a, b = 1.0 / np.array(SMALL)
    by_scipy = stats.permutation_test(
        (a, b), lambda x, y, axis: np.mean(x - y, axis=axis), permutation_type="samples", n_resamples=np.inf
    )
    assert pair["p_value"] == pytest.approx(by_scipy.pvalue, abs=1e-12)
    assert pair["significant"] == (by_scipy.pvalue <= 0.05)
    t = [np.abs(x.mean(axis=1)) / stats.sem(x, axis=1) for x in (signs * d, signs * (d - mean))]
    critical = max(np.quantile(one, 0.95, method="inverted_cdf") for one in t)
    assert (pair["low"], pair["high"]) == pytest.approx((mean - critical * error, mean + critical * error))
    reach = (critical + stats.norm.ppf(0.8)) * error
    assert pair["detectable"] == pytest.approx(reach)
    assert pair["needed"] == math.ceil(n * (n - 1) / stats.chi2.ppf(0.2, n - 1) * (reach / mean) ** 2)


@pytest.mark.slow
def test_three_commands_say_what_closed_forms_say(installed: Installed) -> None:
    pair, d = compared(installed, LARGE)
    n, p = len(d), stats.binomtest(28, len(d)).pvalue
    assert pair["p_value"] == pytest.approx(p, abs=5 * math.sqrt(p / 10_000))

    words = ["a.run", "--qrels", "judged.qrels", "--measure", "P@1", "--json"]
    [limit] = json.loads(installed.run("pipeline-lib", "certify", *words))["runs"]
    assert limit["mean"] == pytest.approx(0.7)
    assert limit["hoeffding"] == pytest.approx(0.7 - math.sqrt(math.log(20.0) / (2 * n)))
    # No limit that rises with the number of successes is above that of Clopper and Pearson.
    exact = stats.binomtest(28, n, alternative="greater").proportion_ci(0.95).low
    assert limit["hoeffding"] < limit["lower"] <= exact < limit["lower"] + 0.03

    words = [*write_runs(installed.elsewhere, LARGE), "--difference", "0.1"]
    [plan] = json.loads(installed.run("pipeline-lib", "plan-labels", *words))["quantities"]
    assert plan["spread"]["sd"]["value"] == pytest.approx(math.sqrt((1 / 4 - 1 / 25) * n / (n - 1)))
    # Bonett 2006: the mean without the three largest and smallest of 40 values, and the kurtosis about it.
    centre = stats.trim_mean(d, 3 / n)
    kurtosis = n * np.sum((d - centre) ** 4) / np.sum((d - d.mean()) ** 2) ** 2
    z = stats.norm.ppf(0.8)
    wider = z * n / (n - z) / 2 * math.sqrt((kurtosis - (n - 3) / n) / (n - 1))
    upper = d.std(ddof=1) * math.sqrt(n / (n - z)) * math.exp(wider)
    assert plan["spread"]["upper"] == pytest.approx(upper)

    def power(queries: int) -> float:
        law, critical = stats.nct(queries - 1, math.sqrt(queries) * 0.1 / upper), stats.t.ppf(0.975, queries - 1)
        return law.sf(critical) + law.cdf(-critical)

    needed = plan["queries_for_difference"]
    assert power(needed - 1) < 0.8 <= power(needed)
