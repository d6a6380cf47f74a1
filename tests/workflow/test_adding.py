"""Does the project grow as its documentation says? Every page docs/adding-*.md is followed to the letter in a copy.

A code block of a page belongs to the file named last in the text before it; one that follows no file of its own is run.
A file that exists gets the block at its end, or above the line that the text quotes.
"""

import hashlib
import json
import math
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import polars as pl
import pytest

from tests.small_settings import SETTINGS

from . import forked
from .asking import those_that_ask
from .conftest import ROOT, Project

pytestmark = pytest.mark.workflow

PAGES = {
    "a-data-set": ["data/catalog.yaml"],
    "a-surrogate": ["pipeline_lib/surrogates/absolute.py"],
    "a-learner": ["pipeline_lib/learners/mean_difference.py"],
    "a-measure": ["pipeline_lib/metrics/success.py"],
    "a-bound": ["pipeline_lib/theory/one_ranker.py"],
    "an-experiment": [
        "pipeline_lib/papers/topk/first/__init__.py",
        "pipeline_lib/papers/topk/first/claims.yaml",
        "pipeline_lib/papers/topk/first/experiment.py",
        "pipeline_lib/papers/topk/first/page.md",
    ],
    "a-paper": [
        "pipeline_lib/papers/collector/__init__.py",
        "pipeline_lib/papers/collector/draws/__init__.py",
        "pipeline_lib/papers/collector/draws/claims.yaml",
        "pipeline_lib/papers/collector/draws/experiment.py",
        "pipeline_lib/papers/collector/findings.md",
        "pipeline_lib/papers/collector/page.md",
        "pipeline_lib/papers/collector/paper.toml",
        "pipeline_lib/papers/collector/sections.yaml",
    ],
}
"""What each page may change."""


@dataclass(frozen=True)
class Block:
    """A code block of a page: the file it belongs to, if any, and the line above which it goes there, if any."""

    code: str
    path: str
    above: str


def blocks(page: str) -> list[Block]:
    """The code blocks of a page, in order."""
    text = (ROOT / "docs" / f"adding-{page}.md").read_text(encoding="utf-8")
    found = []
    for before, code in re.findall(r"(.*?)^```\w+\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL):
        paragraph = before.strip().rpartition("\n\n")[2]
        paths = re.findall(r"`([\w/.]+/[\w.]+\.(?:py|toml|yaml|md))`", paragraph)
        above = re.search(r"above the\s+line\s+`([^`]+)`", paragraph)
        found.append(Block(code, paths[-1] if paths else "", above[1] if above else ""))
    return found


def written(page: str, folder: Path) -> None:
    """Write what a page says into a copy of the project."""
    for block in blocks(page):
        if not block.path:
            continue
        path = folder / block.path
        path.parent.mkdir(parents=True, exist_ok=True)
        old = path.read_text(encoding="utf-8") if path.exists() else ""
        if block.above:
            assert old.count(f"{block.above}\n") == 1
            new = old.replace(f"{block.above}\n", f"{block.code}{block.above}\n")
        else:
            new = old + block.code
        path.write_text(new, encoding="utf-8")


def sources(folder: Path) -> dict[str, str]:
    """The digest of every file of the project that a person writes."""
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for part in ("config.yaml", "pipeline_lib", "workflow", "profiles", "data/catalog.yaml", "tests")
        for path in ([folder / part] if (folder / part).is_file() else (folder / part).rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts
    }


def python(folder: Path, code: str) -> str:
    """Run Python in a copy of the project; return what it printed."""
    status, output = forked.python(code, folder)
    assert not status, output[-6000:]
    return output


def used(page: str, folder: Path) -> None:
    """Run the blocks of a page that show how to use what was added."""
    for block in blocks(page):
        if not block.path:
            python(folder, block.code)


@cache
def trainings(folder: Path) -> list[str]:
    """The digests of the code that trains and measures with what there was before: where they stay, nothing reruns."""
    script = (
        "from pipeline_lib.study.import_closure import digest_of_command as digest\n"
        "print(digest('train_model', 'pipeline_lib.learners.erm', 'pipeline_lib.surrogates.listwise:ListNet'))\n"
        "print(digest('evaluate_model', 'pipeline_lib.metrics'))"
    )
    return python(folder, script).splitlines()


@pytest.fixture
def following(with_data: Callable[..., Project]) -> Callable[..., Project]:
    """Follow a page in a copy of the project; exactly the files of :data:`PAGES` change."""

    def follow(page: str, **overrides: object) -> Project:
        project = with_data(**overrides)
        before = sources(project.folder)
        written(page, project.folder)
        after = sources(project.folder)
        assert sorted(path for path, digest in after.items() if before.get(path) != digest) == PAGES[page]
        assert before.keys() <= after.keys()
        assert trainings(project.folder) == trainings(ROOT)
        return project

    return follow


def trained(project: Project, model: str) -> dict[str, object]:
    """Train a model on fold 1 of the small study."""
    path = f"results/small/models/letor-sim/{model}/fold-1.json"
    project.snakemake(path)
    content: dict[str, object] = json.loads((project.folder / path).read_text())
    return content


def test_every_page_is_followed_here() -> None:
    assert sorted(path.stem.removeprefix("adding-") for path in (ROOT / "docs").glob("adding-*.md")) == sorted(PAGES)


def test_a_data_set(following: Callable[..., Project]) -> None:
    models = [{"name": "random", "algorithm": "random"}]
    project = following("a-data-set", datasets=["Library-Clicks"], models=models, folds="all")
    used("a-data-set", project.folder)  # which makes the archive of the example
    shutil.move(project.folder / "library-clicks.tar.gz", project.folder / "data" / "raw")
    evaluation = "results/small/evaluation/Library-Clicks/random.parquet"
    project.snakemake(evaluation)
    assert pl.read_parquet(project.folder / evaluation).height == 10


def test_a_surrogate(following: Callable[..., Project]) -> None:
    models = [{"name": "absolute", "algorithm": "erm", "surrogate": "absolute", "l2": [0.1]}]
    project = following("a-surrogate", models=models, folds=[1])
    used("a-surrogate", project.folder)
    record = trained(project, "absolute")["record"]
    assert isinstance(record, dict)
    assert record["certified"]
    for part in ("tests", "pyproject.toml"):
        (shutil.copytree if (ROOT / part).is_dir() else shutil.copy2)(ROOT / part, project.folder / part)
    suite = "tests/surrogates/test_every_surrogate.py"
    command = [sys.executable, "-m", "pytest", "-q", "-n", "0", "-k", "absolute", suite]
    done = subprocess.run(command, cwd=project.folder, env={**os.environ, "PYTHONPATH": str(project.folder)})
    assert done.returncode == 0


def test_a_learner(following: Callable[..., Project]) -> None:
    models = [{"name": "difference", "algorithm": "mean-difference", "least": 2}]
    project = following("a-learner", models=models, folds=[1])
    used("a-learner", project.folder)
    content = trained(project, "difference")
    assert content["settings"] == {"least": 2}
    assert content["record"]


def test_a_measure(following: Callable[..., Project]) -> None:
    names = ["success@1", "success@10"]
    measures = {"measures": ["map", *names], "headline": "success@10", "compared": ["success@10"]}
    models = [{"name": "best", "algorithm": "best-feature", "selection": "success@10"}]
    project = following("a-measure", evaluation=measures, models=models, folds=[1])
    used("a-measure", project.folder)
    evaluation = "results/small/evaluation/letor-sim/best.parquet"
    project.snakemake(evaluation)
    values = pl.read_parquet(project.folder / evaluation)
    assert (values["success@1"] <= values["success@10"]).all()
    assert values["success@10"].max() == 1.0


def test_a_bound(following: Callable[..., Project]) -> None:
    project = following("a-bound")
    used("a-bound", project.folder)
    imports = "from pipeline_lib.theory import list_bounds; from pipeline_lib.theory.one_ranker import ONE_RANKER"
    call = "list_bounds.evaluate(ONE_RANKER, n=5000, m=10, loss_bound=1.0, delta=0.05, radius=1.0, feature_norm=1.0)"
    found = python(project.folder, f"{imports}; print({call})")
    assert float(found) == pytest.approx(math.sqrt(math.log(20.0) / (2 * 5000)))
    # No job that evaluates the bounds there were before runs again; an entry among them would rerun those jobs.
    script = (
        "from pipeline_lib.study.import_closure import digest_of_command as digest\n"
        "print(digest('experiment', 'pipeline_lib.papers.lists.chain.experiment'), digest('summarise_results'))"
    )
    before = python(ROOT, script)
    assert python(project.folder, script) == before
    with (project.folder / "pipeline_lib/theory/list_bounds.py").open("a") as module:
        module.write('STATEMENTS["twice"] = STATEMENTS["ogd"]\n')
    assert not set(python(project.folder, script).split()) & set(before.split())


def test_an_experiment(following: Callable[..., Project]) -> None:
    models = [{"name": "random", "algorithm": "random"}]
    small = {"topk": SETTINGS["topk"]}  # of the paper's other experiments
    project = following("an-experiment", papers=["topk"], experiments=small, models=models, folds=[1])
    table = "results/small/tables/topk-first.parquet"
    project.snakemake(table)
    found = pl.read_parquet(project.folder / table)
    assert found["m"].to_list() == [2, 5, 10]
    assert ((found["measured"] - found["expected"]).abs() < 4 * found["error"]).all()
    project.snakemake()
    claims = json.loads((project.folder / "reports/small/claims.json").read_text())["claims"]
    assert [claim["status"] for claim in claims if claim["id"] == "topk-first"] == ["verified"]
    page = (project.folder / "reports/small/report.html").read_text()
    assert 'id="table-topk-first"' in page
    assert "Standard error" in page


def test_a_paper(following: Callable[..., Project]) -> None:
    models = [{"name": "random", "algorithm": "random"}]
    project = following("a-paper", papers=["collector"], models=models, folds=[1])
    before = sources(project.folder)
    project.snakemake()
    assert sources(project.folder) == before
    report = project.folder / "reports" / "small"
    claims = json.loads((report / "claims.json").read_text())["claims"]
    assert [claim["status"] for claim in claims if claim["id"].startswith("collector-")] == ["verified"]
    page = (report / "report.html").read_text()
    assert 'id="collector"' in page
    assert 'id="claim-collector-mean"' in page
    front = (report / "index.html").read_text()
    assert "times the stated number" in front[front.index('id="findings-collector"') :]
    assert 'id="table-coverage-collector"' in page
    for path in ("tables/collector-draws.csv", "figures/collector-draws.svg"):
        assert (report / path).stat().st_size


ASKS = {
    "data/catalog.yaml": r"catalog\.load\(\)|CATALOG",
    "pipeline_lib/surrogates": r"surrogates\.NAMES",
    "pipeline_lib/learners": r"learners\.NAMES",
    "pipeline_lib/metrics": r"metrics\.NAMES",
    "pipeline_lib/theory": r"list_bounds\.(NAMES|STATEMENTS|PRINTED)",
    "pipeline_lib/papers": r"papers\.(names|every)\(|papers\.experiments\(.*\)\.(values|items)|recorded\.names"
    r"|(ledger|errata)\.load\(\)|ledger_of_claims|added_claims",
}
"""How a test asks for all that there is in the place where a page adds something."""
OF_ALL_FILES = r"/ 'pipeline_lib'\)|walk_packages|iter_modules|DOCS|settings\.md|artefact|codecheck|codemeta"
"""How it asks for all files of the package or the documentation, or for those that :data:`GENERATED` writes."""
GENERATED = (
    ("-m", "pipeline_lib", "default-configuration", "--page", "docs/settings.md", "--force"),
    ("-m", "tools.evaluators"),
)
"""What `make config evaluators` runs, as the pages say."""
PYTEST = (
    *(sys.executable, "-m", "pytest", "-q", "-n", "0", "-p", "no:cacheprovider"),
    *("-m", "not slow and not workflow and not cluster"),
)


@pytest.mark.slow
def test_all_tests_that_the_pages_reach_stay_green(tmp_path: Path) -> None:
    """All pages are followed in one copy. Tests that ask for everything run; where only their parameters do, with those
    that the pages add."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    folder = tmp_path / "project"
    for path in filter(None, listed.split("\0")):
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / path, folder / path, follow_symlinks=False)
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@example.org"]
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "before"]):
        subprocess.run([*git, *words], cwd=folder, check=True)
    environment = {**os.environ, "PYTHONPATH": str(folder)}
    changed = [path for page in PAGES for path in PAGES[page]]
    assert len({*changed}) == len(changed)
    assert all(any(path.startswith(place) for place in ASKS) for path in changed)
    running, with_parameters = those_that_ask(re.compile(rf"\b({'|'.join(ASKS.values())})|{OF_ALL_FILES}"))
    before = collected(with_parameters, folder, environment)
    for page in PAGES:
        written(page, folder)
    for command in GENERATED:
        subprocess.run([sys.executable, *command], cwd=folder, env=environment, check=True)
    new = [test for test in collected(with_parameters, folder, environment) if test not in before]
    examples = [path for path in changed if path.endswith(".py") and ">>>" in (folder / path).read_text("utf-8")]
    done = subprocess.run([*PYTEST, *examples, *running, *new], cwd=folder, env=environment)
    assert done.returncode == 0


def collected(tests: list[str], folder: Path, environment: dict[str, str]) -> list[str]:
    """These tests in a copy of the project, once for each of their parameters."""
    command = [*PYTEST, "--collect-only", *tests]
    found = subprocess.run(command, cwd=folder, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    return [line for line in found.stdout.splitlines() if "::" in line]
