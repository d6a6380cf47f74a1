"""Does ``make check`` choose the tests that a change can affect, in time, and no others?"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests import affected, check_changes

MADE = {
    "pipeline_lib/__init__.py": "if TYPE_CHECKING:\n    from pipeline_lib.data import Data\n",
    "pipeline_lib/data.py": '"""\n>>> 1 + 1\n2\n"""\nclass Data: pass\n',
    "pipeline_lib/alone.py": "",
    "pipeline_lib/losses/__init__.py": "NAMES = ()\n",
    "pipeline_lib/losses/registry.toml": '"hinge@k" = "pipeline_lib.losses.hinged:Hinge"\n',
    "pipeline_lib/losses/hinged.py": "from pipeline_lib import data\n",
    "pipeline_lib/reader.py": '"""Reads table.csv."""\nNAME = "table.csv"\n',
    "tests/small.py": "",
    "tests/test_data.py": "from pipeline_lib import Data\n",
    "tests/test_alone.py": "import pipeline_lib.alone\nimport small\n",
    "tests/test_attribute.py": "from pipeline_lib import losses\nlosses.hinged.Hinge\n",
    "tests/test_name.py": "create('hinge@3')\n",
    "tests/test_names.py": "from pipeline_lib.losses import NAMES\nprint(NAMES)\n",
    "tests/test_reader.py": "import pipeline_lib.reader\n",
    "tests/deep/conftest.py": "from pipeline_lib.alone import fixture\n",
    "tests/deep/test_deep.py": "",
}


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made")
    for path, text in MADE.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    return folder


@pytest.mark.parametrize(
    ("changed", "reached"),
    [
        ("pipeline_lib/alone.py", ["tests/test_alone.py", "tests/deep/test_deep.py"]),
        ("pipeline_lib/losses/hinged.py", ["tests/test_attribute.py", "tests/test_name.py", "tests/test_names.py"]),
        (
            "pipeline_lib/data.py",
            ["pipeline_lib/data.py", "tests/test_data.py"]
            + [f"tests/test_{name}.py" for name in ("attribute", "name", "names")],
        ),
        ("data/table.csv", ["tests/test_reader.py"]),
        ("tests/small.py", ["tests/test_alone.py"]),
        ("tests/test_alone.py", ["tests/test_alone.py"]),
        ("README.md", []),
    ],
)
def test_a_change_selects_the_tests_that_reach_it_and_no_others(root: Path, changed: str, reached: list[str]) -> None:
    assert affected.files_with_tests(affected.distances([changed], root), root) == reached


def test_a_module_of_the_project_selects_its_tests_first() -> None:
    distances = affected.distances(["pipeline_lib/theory/entropy.py"])
    reached = affected.files_with_tests(distances)
    nearest = [path for path in reached[1:] if distances[path] == 1]
    assert reached[: len(nearest) + 1] == ["pipeline_lib/theory/entropy.py", *nearest]
    assert "tests/theory/test_entropy.py" in nearest
    assert "tests/sources/test_letor.py" not in reached


def test_changes_are_counted_from_where_the_branch_left_main(tmp_path: Path) -> None:
    def git(*arguments: str) -> None:
        who = ("-c", "user.name=A", "-c", "user.email=a@example.org")
        subprocess.run(["git", *who, *arguments], cwd=tmp_path, check=True, capture_output=True)

    def commit(name: str) -> None:
        (tmp_path / name).write_text(name)
        git("add", name)
        git("commit", "-m", name)

    git("init", "-b", "main")
    commit("before")
    git("checkout", "-b", "branch")
    commit("on the branch")
    git("checkout", "main")
    commit("on main")
    git("checkout", "branch")
    commit("later")
    (tmp_path / "before").unlink()
    (tmp_path / "new").touch()
    assert check_changes.changed_files(root=tmp_path) == ["before", "later", "new", "on the branch"]
    assert check_changes.changed_files("HEAD", tmp_path) == ["before", "new"]


def test_only_what_changed_is_linted() -> None:
    assert not check_changes.lint_commands(["README.md", "pipeline_lib/removed.py"])
    commands = check_changes.lint_commands(["tests/affected.py", "workflow/rules/job.smk", "README.md"])
    assert [(command[0], command[-1]) for command in commands] == [
        ("ruff", "tests/affected.py"),
        ("ruff", "tests/affected.py"),
        ("snakefmt", "workflow/rules/job.smk"),
    ]


def test_the_workflow_runs_only_where_it_or_a_command_changed() -> None:
    assert check_changes.commands_of_tests([]) == []
    [command] = check_changes.commands_of_tests(["workflow/rules/job.smk"])
    assert "tests/workflow" in command
    assert "smoke" in command[command.index("-m", 3) + 1]
    [command] = check_changes.commands_of_tests(["tests/workflow/test_runs.py", "tests/test_registry.py"])
    assert "tests/test_registry.py" in command
    assert not any(argument.startswith("tests/workflow") for argument in command)
    assert "smoke" not in command[command.index("-m", 3) + 1]


def outcome(seconds: float, folder: Path) -> tuple[int, str]:
    """What pytest says of two tests for which there is so much time, of which the collection takes a second."""
    (folder / "test_made.py").write_text(
        "import time\ntime.sleep(1)\ndef test_first(): time.sleep(0.5)\ndef test_second(): pass\n"
    )
    program = f"import sys, pytest\nfrom tests import check_changes\ncheck_changes.SECONDS = {seconds}\n"
    program += "sys.exit(pytest.main(['-p', 'tests.check_changes', '-p', 'no:cacheprovider', *sys.argv[1:]]))"
    command = [sys.executable, "-c", program, "--rootdir", str(folder), str(folder)]
    done = subprocess.run(command, cwd=affected.ROOT, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout


def test_the_time_of_the_tests_begins_with_the_first(tmp_path: Path) -> None:
    status, printed = outcome(0.25, tmp_path)
    assert (status, "1 passed, 1 skipped" in printed) == (0, True), printed
    assert "left out, because the time was over:\n  test_made.py" in printed


def test_where_no_test_was_run_the_check_fails(tmp_path: Path) -> None:
    status, printed = outcome(-1.0, tmp_path)
    assert (status, "2 skipped" in printed) == (1, True), printed
    assert "error: no test was run" in printed
