"""Has what changed since a revision broken anything? Lint, types, and the tests that it reaches, within a minute.

    python -m tools.check_changes [REVISION]

compares the working tree with ``REVISION``, by default with the commit at which the branch left ``main``. The tests
nearest to what changed run first (see ``tools/affected.py``), and none starts more than half a minute after the first.
Slow tests and those that run Snakemake are left out; where the workflow or a command changed, the tests marked
``smoke`` run it. What was left out is listed at the end. The module is also pytest's plug-in that watches the time.
"""

import shlex
import subprocess
import sys
import time
from collections.abc import Sequence
from functools import cache
from pathlib import Path, PurePosixPath

import pytest

from tools import affected

ROOT = affected.ROOT
SECONDS = 30.0
LATE = "no time was left"
RULES = ("Snakefile", "*.smk")
WORKFLOW = (*RULES, "config.yaml", "environment.yml", "pipeline_lib/commands/*.py", "pipeline_lib/cli.py")
"""A change of these is tried in a run of Snakemake."""


def main(since: str = "") -> int:
    """Run every check, also after one that fails; 1 if any did."""
    changed = changed_files(since)
    print(f"{len(changed)} files changed", flush=True)
    failed = False
    for command in [*lint_commands(changed), *commands_of_tests(changed)]:
        print("==", shlex.join(command[:6]), *(["..."] if len(command) > 6 else []), flush=True)
        status = subprocess.run(command, cwd=ROOT, check=False).returncode
        failed |= status not in (0, pytest.ExitCode.NO_TESTS_COLLECTED)
    return int(failed)


def changed_files(since: str = "", root: Path = ROOT) -> list[str]:
    """The files that differ from a revision, or that git does not know yet, relative to the root of the project."""
    left_main = _git("merge-base", "main", "HEAD", root=root, check=False)
    revision = since or next(iter(left_main), "HEAD")
    differing = _git("diff", "--name-only", "--no-renames", revision, "--", root=root)
    return sorted({*differing, *_git("ls-files", "--others", "--exclude-standard", root=root)})


def _git(*arguments: str, root: Path, check: bool = True) -> list[str]:
    quiet = None if check else subprocess.DEVNULL
    command = ["git", *arguments]
    return subprocess.run(
        command, cwd=root, stdout=subprocess.PIPE, stderr=quiet, text=True, check=check
    ).stdout.splitlines()


def lint_commands(changed: Sequence[str]) -> list[list[str]]:
    """The linters of those of the changed files that are still there."""
    here = [path for path in changed if (ROOT / path).is_file()]
    python = [path for path in here if path.endswith(".py")]
    rules = [path for path in here if _is_any(path, RULES)]
    commands = [["ruff", "format", "--check", *python], ["ruff", "check", *python]] if python else []
    of_package = [["mypy"], ["lint-imports", "--no-cache"]]
    commands += of_package if any(path.startswith(affected.PACKAGE) for path in python) else []
    return commands + ([["snakefmt", "--check", *rules]] if rules else [])


def commands_of_tests(changed: Sequence[str]) -> list[list[str]]:
    """The command that runs the tests which the changes reach; none where they reach none."""
    files = [path for path in affected.tests_of(changed) if not path.startswith("tests/workflow/")]
    chosen = "not slow and not workflow and not cluster"
    if any(_is_any(path, WORKFLOW) for path in changed):
        files, chosen = ["tests/workflow", *files], f"({chosen}) or smoke"
    options = ["-q", "-p", "tools.check_changes", "-n", "auto", "--dist", "load", "-m", chosen]
    return [[sys.executable, "-m", "pytest", *options, *files]] if files else []


def _is_any(path: str, patterns: Sequence[str]) -> bool:
    return any(map(PurePosixPath(path).match, patterns))


@cache
def _first_start() -> float:
    """When this process started its first test: collecting them may take long, and is no reason to run none."""
    return time.monotonic()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup() -> None:
    """Skip what would start too late."""
    if time.monotonic() - _first_start() > SECONDS:
        pytest.skip(LATE)


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail where every test was skipped: nothing is known of the change then."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if reporter and set(reporter.stats) & {"passed", "failed", "error", "skipped"} == {"skipped"}:
        reporter.write_line("\nerror: no test was run, because all were skipped; run them with make test")
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say what was left out."""
    terminalreporter.write_line("left out: slow tests, and those of tests/workflow that are not marked smoke")
    skipped = terminalreporter.stats.get("skipped", [])
    late = sorted({report.nodeid.partition("::")[0] for report in skipped if LATE in str(report.longrepr)})
    if late:
        terminalreporter.write_line("left out, because the time was over:")
        for path in late:
            terminalreporter.write_line(f"  {path}")


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
