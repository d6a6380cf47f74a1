"""Fixtures shared by all tests."""

import functools
import gc
import importlib.util
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, is_hypothesis_test, settings
from hypothesis.internal.conjecture import providers

from pipeline_lib.core import processor

# Copies of the project, in temporary folders, take the machine code that was compiled for the project itself.
os.environ.setdefault("NUMBA_CACHE_DIR", str(Path(__file__).parents[1]))
# As in every command; and workers of pytest-xdist and jobs of studies share the cores.
processor.pin()

# A machine under load may be slow: no test fails for that.
COMMON = settings(
    settings.get_profile("default"), deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)
settings.register_profile("same", COMMON, derandomize=True, database=None)
settings.register_profile("search", COMMON)
settings.load_profile("same")

SEARCHED = 10
"""The random search, ``--hypothesis-profile search``, tries so many times the examples of ``make test``."""

LONGEST = ("test_paper_studies.py", "test_own_data.py", "test_real_study.py")
"""The tests of the workflow that run studies of their own."""


@pytest.hookimpl(trylast=True)  # after the option --hypothesis-profile was read
def pytest_configure() -> None:
    """Let the examples depend on nothing but the tests.

    Hypothesis draws some from the constants of all modules that are imported already, and which these are depends on
    the tests that the same process was given before, and so on the load of the machine.
    """
    if settings().derandomize:
        providers._get_local_constants = lambda: providers._local_constants


def pytest_itemcollected(item: pytest.Item) -> None:
    """In the random search, multiply the examples of every property, also of one that states their number."""
    if settings.get_current_profile_name() == "search" and is_property(item) and not hasattr(item.function, "searched"):
        its = getattr(item.function, "_hypothesis_internal_use_settings", settings())
        item.function._hypothesis_internal_use_settings = settings(its, max_examples=SEARCHED * its.max_examples)
        item.function.searched = True


def is_property(item: pytest.Item) -> bool:
    return isinstance(item, pytest.Function) and is_hypothesis_test(item.function)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Count the examples that a property holds for."""
    if not is_property(item):
        return (yield)
    handle = item.function.hypothesis
    test, held = handle.inner_test, 0

    @functools.wraps(test)
    def counted(*arguments: Any, **named: Any) -> None:
        nonlocal held
        test(*arguments, **named)
        held += 1

    handle.inner_test = counted
    try:
        return (yield)
    finally:
        handle.inner_test = test
        item.user_properties.append(("examples", held))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say how many examples were tried."""
    passed = [dict(report.user_properties) for report in terminalreporter.stats.get("passed", [])]
    held = [properties["examples"] for properties in passed if "examples" in properties]
    if held:
        terminalreporter.write_line(f"{len(held)} properties hold for {sum(held):,} examples")


@pytest.hookimpl(trylast=True)  # after tests were deselected
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give every worker its share of the tests of the workflow to begin with, the longest first.

    They wait for processes most of the time, so that they are fast only if they overlap. Each worker is first given an
    equal share of the list from one place on (``--dist worksteal``): its share begins with some files of the workflow,
    whole ones, because tests of one file use the same studies.
    """
    workers = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", 1))
    files: dict[str, list[pytest.Item]] = {}
    for item in items:
        if "workflow" in item.keywords:
            files.setdefault(item.path.name, []).append(item)
    others = [item for item in items if "workflow" not in item.keywords]
    shares: list[list[pytest.Item]] = [[] for _ in range(workers)]
    for name in sorted(files, key=lambda name: (name not in LONGEST, -len(files[name]), name)):
        min(shares, key=len).extend(files[name])
    size = len(items) / workers
    ordered: list[pytest.Item] = []
    for number, share in enumerate(shares, 1):
        ordered += share
        missing = max(int(number * size) - len(ordered), 0)
        ordered += others[:missing]
        others = others[missing:]
    items[:] = ordered + others


def pytest_collection_finish() -> None:
    """Keep what was imported and collected out of every later search for garbage."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def registers() -> Any:
    """The module that writes pages of the documentation, which is in no package."""
    path = Path(__file__).parents[1] / "docs/registers.py"
    specification = importlib.util.spec_from_file_location("registers", path)
    assert specification
    assert specification.loader
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def mirror() -> Path:
    """A folder with real data sets, which may not be part of this repository."""
    shared = Path(__file__).resolve().parents[1].parent / "shared" / "data"
    folder = Path(os.environ.get("LTR_MIRROR") or shared)
    if not folder.is_dir():
        pytest.skip("set LTR_MIRROR to a folder that holds MQ2008.zip and OHSUMED.zip")
    return folder
