"""The code in the import closure is what rules depend on: too little misses reruns, too much makes needless ones."""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from pipeline_lib.cli import command_names
from pipeline_lib.core.errors import ConfigurationError
from pipeline_lib.study import import_closure
from pipeline_lib.study.import_closure import closure, digest, remember
from tests.workflow.job_server import LIBRARIES

ROOT = Path(__file__).parents[2]
Package = Callable[..., str]


def written(folder: Path, sources: dict[str, str]) -> None:
    for module, text in {"__init__": "", **sources}.items():
        path = folder.joinpath(*module.split(".")).with_suffix(".py")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        for between in path.relative_to(folder).parents:
            (folder / between / "__init__.py").touch()


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Package]:
    """Write a package of some modules, found as others are, and return its name: a new one, or that of a package."""
    numbers, readers = itertools.count(), (import_closure._graph, import_closure._read, import_closure._source)
    monkeypatch.syspath_prepend(tmp_path)

    def make(sources: dict[str, str], name: str = "") -> str:
        name = name or f"toy{next(numbers)}"
        written(tmp_path / name, sources)
        for read in readers:
            read.cache_clear()
        return name

    yield make
    for read in readers:
        read.cache_clear()


def last_parts(names: frozenset[str]) -> set[str]:
    return {name.partition(":")[0].rpartition(".")[2] for name in names}


def test_packages_on_the_way_and_imports_in_functions_count_and_those_for_type_checkers_do_not(
    package: Package,
) -> None:
    name = package(
        {
            "a": "from typing import TYPE_CHECKING\nfrom .sub.x import y\nif TYPE_CHECKING:\n    from . import typed",
            "sub.__init__": "def late():\n    from .. import c",
            "sub.x": "import numpy",
            "c": "",
            "typed": "",
            "other": "",
        }
    )
    assert closure([f"{name}.a"]) == {name, *(f"{name}.{module}" for module in ("a", "c", "sub", "sub.x"))}


TOPIC = """
from .... import a, b
from ....c import thing
LIMIT = 3
class Asked: width = 1
def _helper(x): return thing(x)
def measure(job): return a.x + LIMIT
def join(job): return _helper(b)
EXPERIMENT = Experiment(Asked, measure, join)
"""


STEP = "papers.toy.x.experiment"


def topic(package: Package, source: str = TOPIC) -> str:
    """The name of the declaration of an experiment."""
    return f"{package({'a': '', 'b': '', 'c': '', STEP: source})}.{STEP}"


@pytest.mark.parametrize(("function", "expected"), [("measure", {"a"}), ("join", {"b", "c"}), ("_helper", {"c"})])
def test_of_a_topic_only_what_a_step_uses_counts(package: Package, function: str, expected: set[str]) -> None:
    found = closure([f"{topic(package)}:{function}"])
    assert last_parts(found) - {"papers", "toy", "x", "toy0"} == {"experiment", *expected}


@pytest.mark.parametrize(
    ("edit", "changed"),
    [
        (("LIMIT = 3", "LIMIT = 4"), {"measure"}),
        (("thing(x)", "thing(2 * x)"), {"join"}),
        (("return _helper(b)", "return _helper(b), 1"), {"join"}),
        (("width = 1", "width = 2"), {"measure", "join"}),
        ((" measure, join)", " join, measure)"), set()),
    ],
)
def test_an_edit_of_a_topic_touches_the_steps_that_use_it(
    package: Package, edit: tuple[str, str], changed: set[str]
) -> None:
    def digests(source: str) -> dict[str, str]:
        name = package({"a": "", "b": "", "c": "", STEP: source}, "toy")
        return {step: digest([f"{name}.{STEP}:{step}"]) for step in ("measure", "join")}

    before, after = digests(TOPIC), digests(TOPIC.replace(*edit))
    assert {step for step in before if before[step] != after[step]} == changed


@pytest.mark.parametrize("ask", [closure, digest])
def test_unknown_module_is_an_error(ask: Callable[[list[str]], object]) -> None:
    with pytest.raises(ConfigurationError, match=r"found 'pipeline_lib\.nowhere'"):
        ask(["pipeline_lib.nowhere"])


def test_a_file_that_is_not_python_is_named_with_its_line(package: Package) -> None:
    name = package({"a": "from . import b", "b": "x = 1\nx = = 2\n"})
    with pytest.raises(ConfigurationError, match=r"b\.py, line 2: expected Python"):
        digest([f"{name}.a"])


def test_the_digest_follows_the_code_of_the_closure(package: Package) -> None:
    def of(**changed: str) -> str:
        return digest([f"{package({'a': 'from . import b', 'b': 'x = 1', 'c': 'y = 1', **changed}, 'toy')}.a"])

    before = of()
    assert of(a="from . import b  # for x", b='"""What is x?"""\n\nx = (1)') == before
    assert of(c="y = 2") == before
    others = [of(a="from . import b\nz = 1"), of(b="x = 2"), of(b="from . import c"), of(a="from . import c as b")]
    assert len({before, *others}) == 5


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Path]:
    """A file in which a process keeps what it reads."""
    yield tmp_path / "sources.json"
    remember(None)


def test_what_is_remembered_changes_no_digest(memory: Path, package: Package, monkeypatch: pytest.MonkeyPatch) -> None:
    parsed: list[object] = []
    of_source = import_closure.source_digest.digest
    monkeypatch.setattr(import_closure.source_digest, "digest", lambda tree: [of_source(tree), parsed.append(tree)][0])

    def found(**changed: str) -> tuple[str, int]:
        """The digest as a new process finds it, and the number of sources that it had to parse."""
        parsed.clear()
        name = package({"a": "from . import b", "b": "x = 1", "c": "", "d": "y = 2", STEP: TOPIC, **changed}, "toy")
        remember(memory)
        return digest([f"{name}.a", f"{name}.{STEP}:join"]), len(parsed)

    first, _ = found()
    assert found() == (first, 0)
    other, anew = found(b="x = 2")
    assert other != first
    assert anew == 1
    assert found(a="# remark\nfrom . import b", b="x = 2") == (other, 1)
    assert found(a="from . import d", b="x = 2")[1] == 2  # an edited import leads to other modules
    assert found() == (first, 0)
    for damage in ("", "{", "[1]", json.dumps({"a": 1})):
        memory.write_text(damage)
        assert found()[0] == first
    memory.unlink()
    memory.mkdir()  # where no file can be written
    assert found()[0] == first


LOADED = """
import importlib, os, sys
for module in sys.argv[1:]:
    if not os.fork():
        importlib.import_module("pipeline_lib.cli")
        importlib.import_module(module)
        print(*(name for name in sys.modules if name.startswith("pipeline_lib")), flush=True)
        os._exit(0)
    assert os.wait()[1] == 0
"""


def test_importing_a_command_loads_nothing_outside_its_closure() -> None:
    modules = [f"pipeline_lib.commands.{command.replace('-', '_')}" for command in command_names()]
    libraries = "".join(f"import {library}\n" for library in LIBRARIES)  # once for all
    command = [sys.executable, "-c", libraries + LOADED, *modules]
    printed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for module, loaded in zip(modules, printed.splitlines(), strict=True):
        assert module in loaded.split()
        assert set(loaded.split()) <= closure(["pipeline_lib.__main__", module])


def test_files_that_are_read_count_and_explain_a_changed_digest(
    package: Package, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name, kept = package({"a": "A = 1\n"}), tmp_path / "digests.json"
    monkeypatch.setattr(import_closure, "_FOLDER", tmp_path)
    (tmp_path / "claims.yaml").write_text("one")
    before = digest([f"{name}.a"], ["claims.yaml"])
    assert before != digest([f"{name}.a"])
    import_closure.explained([((), before)], kept)
    (tmp_path / "claims.yaml").write_text("two")
    assert import_closure.explained([([before], digest([f"{name}.a"], ["claims.yaml"]))], kept) == {"claims.yaml": 1}


def test_a_changed_digest_is_explained_by_the_files_that_changed(package: Package, tmp_path: Path) -> None:
    sources = {"a": "from . import b, c", "b": "x = 1", "c": "y = 1"}
    name, kept = package(sources), tmp_path / "digests.json"
    before = digest([f"{name}.a"])
    assert not import_closure.explained([((), before)], kept)
    package({**sources, "b": "x = 2"}, name)
    now = digest([f"{name}.a"])
    jobs = [({"another parameter", before}, now), ({before}, now), ((), now)]
    assert import_closure.explained(jobs, kept) == {f"{name}/b.py": 2}
    assert import_closure.explained([(["a digest of long ago"], now)], kept) == {}
    package({"a": "from . import b", "b": "x = 2", "c": "y = 1"}, name)
    assert import_closure.explained([([now], digest([f"{name}.a"]))], kept) == {f"{name}/a.py": 1}


def test_digests_of_the_last_edits_are_kept_and_damage_counts_as_nothing(
    package: Package, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(import_closure, "MOST_KEPT", 2)
    kept, digests = tmp_path / "digests.json", []
    kept.write_text("{")
    name = package({"a": ""})
    for number in range(3):
        package({"a": f"x = {number}"}, name)
        digests.append(digest([f"{name}.a"]))
        import_closure.explained([((), digests[-1])], kept)
    assert list(json.loads(kept.read_text())) == digests[1:]


@pytest.mark.parametrize(
    ("measurement", "summary", "bounds"),
    [
        ("lists.grid.experiment:measure", "lists.grid.experiment:join", "list_bounds"),
        ("twolayer.gaps.experiment:measure", "twolayer.gaps.experiment:join", "two_layer"),
        ("twolayer.tradeoff.experiment:measure", "twolayer.rates.experiment:measure", "two_layer"),
    ],
)
def test_measurements_do_not_depend_on_the_bounds_with_which_they_are_compared(
    measurement: str, summary: str, bounds: str
) -> None:
    module = f"pipeline_lib.theory.{bounds}"
    assert module not in closure([f"pipeline_lib.papers.{measurement}"])
    assert module in closure([f"pipeline_lib.papers.{summary}"])
