"""The code in the import closure is what rules depend on: too little misses reruns, too much makes needless ones."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from pipeline_lib import import_closure
from pipeline_lib.cli import command_names
from pipeline_lib.errors import ConfigurationError
from pipeline_lib.import_closure import closure, digest, remember

ROOT = Path(__file__).parents[1]


def package(tmp_path: Path, **files: str) -> Path:
    for name, text in {"__init__": "", **files}.items():
        path = tmp_path / "pipeline_lib" / f"{name.replace('__slash__', '/')}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path


def stems(paths: tuple[Path, ...]) -> set[str]:
    return {path.stem for path in paths} - {"__init__"}


@pytest.mark.parametrize(
    "statement",
    [
        "import pipeline_lib.b",
        "from pipeline_lib import b",
        "from pipeline_lib.b import thing",
        "from . import b",
        "from .b import thing",
        "def f():\n    from pipeline_lib import b",
        "try:\n    import pipeline_lib.b\nexcept ImportError:\n    pass",
        "if 1:\n    pass\nelse:\n    from pipeline_lib import b",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    pass\nelse:\n    from pipeline_lib import b",
    ],
)
def test_every_way_to_import_is_seen(tmp_path: Path, statement: str) -> None:
    root = package(tmp_path, a=statement, b="", c="")
    assert stems(closure(["pipeline_lib.a"], root)) == {"a", "b"}


def test_typing_imports_and_foreign_imports_are_left_out(tmp_path: Path) -> None:
    root = package(
        tmp_path,
        a="import os, numpy\nfrom typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from pipeline_lib import b",
        b="",
    )
    assert stems(closure(["pipeline_lib.a"], root)) == {"a"}


def test_closure_is_transitive_and_survives_cycles(tmp_path: Path) -> None:
    root = package(tmp_path, a="from . import b", b="from . import c", c="from . import a", d="")
    assert stems(closure(["pipeline_lib.a"], root)) == {"a", "b", "c"}


def test_packages_on_the_way_are_inputs(tmp_path: Path) -> None:
    root = package(tmp_path, a="from .sub.x import y")
    (root / "pipeline_lib/sub").mkdir()
    (root / "pipeline_lib/sub/__init__.py").write_text("from pipeline_lib import c")
    (root / "pipeline_lib/sub/x.py").write_text("")
    (root / "pipeline_lib/c.py").write_text("")
    names = {str(path.relative_to(root / "pipeline_lib")) for path in closure(["pipeline_lib.a"], root)}
    assert names == {"__init__.py", "a.py", "c.py", "sub/__init__.py", "sub/x.py"}


DECLARATION = """
from pipeline_lib import a
def _slice(job):
    from pipeline_lib import b
def _helper(job):
    from pipeline_lib import c
def _join(job):
    from pipeline_lib import d
    return _helper(job)
STEPS = (_slice, _join)
"""


@pytest.mark.parametrize(
    ("named", "expected"), [("", {"a"}), (":_slice", {"a", "b"}), (":_join", {"a", "c", "d"}), (":_helper", {"a", "c"})]
)
def test_of_a_declaration_only_the_function_that_runs_counts(tmp_path: Path, named: str, expected: set[str]) -> None:
    root = package(tmp_path, a="", b="", c="", d="", papers__slash__toy__slash__experiments__slash__x=DECLARATION)
    for folder in ("papers", "papers/toy", "papers/toy/experiments"):
        (root / "pipeline_lib" / folder / "__init__.py").write_text("")
    found = stems(closure([f"pipeline_lib.papers.toy.experiments.x{named}"], root))
    assert found == {"x", *expected}


def test_a_function_taken_from_a_declaration_counts(tmp_path: Path) -> None:
    taking = "from pipeline_lib.papers.toy.experiments.x import _join"
    root = package(
        tmp_path, a="", b="", c="", d="", e=taking, papers__slash__toy__slash__experiments__slash__x=DECLARATION
    )
    assert stems(closure(["pipeline_lib.e"], root)) == {"e", "x", "a", "c", "d"}


def test_editing_what_joins_slices_leaves_the_slices_alone() -> None:
    from pipeline_lib import papers

    def inputs(function: str) -> set[str]:
        module = papers.module_of("lists", "grid")
        return {path.name for path in closure([module, f"{module}:{function}"]) if path.parent.name == "computations"}

    assert not inputs("_measure") & {"summary.py", "real.py"}
    assert "summary.py" in inputs("_join")


@pytest.mark.parametrize("ask", [closure, digest])
def test_unknown_module_is_an_error(ask: Callable[[list[str]], object]) -> None:
    with pytest.raises(ConfigurationError, match=r"found 'pipeline_lib\.nowhere'"):
        ask(["pipeline_lib.nowhere"])


def test_a_file_that_is_not_python_is_named_with_its_line(tmp_path: Path) -> None:
    root = package(tmp_path, a="from . import b", b="x = 1\nx = = 2\n")
    with pytest.raises(ConfigurationError, match=r"b\.py, line 2: expected Python"):
        digest(["pipeline_lib.a"], root)


def test_the_digest_follows_the_code_of_the_closure(tmp_path: Path) -> None:
    def of(name: str, **changed: str) -> str:
        files = {"a": "from . import b", "b": "x = 1", "c": "y = 1", **changed}
        return digest(["pipeline_lib.a"], package(tmp_path / name, **files))

    before = of("before")
    assert of("commented", a="from . import b  # for x", b='"""What is x?"""\n\nx = (1)') == before
    assert of("beyond", c="y = 2") == before
    assert (
        len({before, of("own", a="from . import b\nz = 1"), of("imported", b="x = 2"), of("more", b="import c")}) == 4
    )
    assert of("moved", a="from . import d as b", d="x = 1") != before


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Path]:
    """A file in which a process keeps what it reads."""
    yield tmp_path / "sources.json"
    remember(None)


def test_what_is_remembered_changes_no_digest(memory: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    tree_of = import_closure._tree
    monkeypatch.setattr(
        import_closure, "_tree", lambda path, content: [read.append(path.stem), tree_of(path, content)][1]
    )
    experiments = "papers__slash__toy__slash__experiments__slash__x"
    sources = {"a": "from . import b", "b": "x = 1", "c": "", "d": "", experiments: DECLARATION}
    target = ["pipeline_lib.a", "pipeline_lib.papers.toy.experiments.x:_slice"]

    def found(**changed: str) -> tuple[str, set[str]]:
        """The digest as a new process finds it, and the modules that it had to read."""
        read.clear()
        remember(memory)
        return digest(target, package(tmp_path, **{**sources, **changed})), set(read)

    first, anew = found()
    assert anew >= {"a", "b", "x"}
    assert found() == (first, set())
    other, anew = found(b="x = 2")
    assert other != first
    assert anew == {"b"}
    # An edited import leads to other modules; what the process before did not use is forgotten.
    assert found(a="from . import d", b="x = 2")[1] == {"a", "d"}
    assert found(a="# remark\nfrom . import b", b="x = 2") == (other, {"a"})
    assert found() == (first, {"a", "b"})
    for damage in ("", "{", "[1]", json.dumps({"a": 1})):
        memory.write_text(damage)
        assert found()[0] == first
    memory.unlink()
    memory.mkdir()  # where no file can be written
    assert found()[0] == first


def test_the_object_that_a_registry_names_counts() -> None:
    one, other = (digest([f"pipeline_lib.surrogates.pairwise:{name}"]) for name in ("RankNet", "RankSVM"))
    assert one != other


@pytest.mark.parametrize("command", command_names())
def test_importing_a_command_loads_nothing_outside_its_closure(command: str) -> None:
    module = f"pipeline_lib.commands.{command.replace('-', '_')}"
    script = (
        f"import {module}, pipeline_lib.cli, sys\n"
        "print(*[m.__file__ for n, m in sys.modules.items() if n.split('.')[0] == 'pipeline_lib'], sep='\\n')"
    )
    loaded = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    inputs = {str(path) for path in closure(["pipeline_lib.__main__", module])}
    assert set(loaded.stdout.split()) <= inputs


def test_an_edit_to_one_surrogate_touches_only_its_own_training_jobs() -> None:
    from pipeline_lib import learners, surrogates

    def inputs(surrogate: str) -> set[str]:
        targets = [learners.target_of("erm"), surrogates.target_of(surrogate)]
        modules = ["pipeline_lib.commands.train_model", *(target.partition(":")[0] for target in targets)]
        return {path.name for path in closure(modules)}

    assert "listwise.py" in inputs("listnet")
    assert "listwise.py" not in inputs("ranksvm") | inputs("squared")
    assert "pairwise.py" in inputs("ranksvm")
    assert "pairwise.py" not in inputs("listnet")
    for command in ("evaluate_model", "summarise_results", "compare_models", "convert_data"):
        names = {path.name for path in closure([f"pipeline_lib.commands.{command}"])}
        assert not names & {"listwise.py", "pairwise.py", "pointwise.py", "erm.py"}


def test_an_edit_to_a_learner_touches_only_its_own_training_jobs() -> None:
    from pipeline_lib import learners

    modules = {name: learners.target_of(name).partition(":")[0] for name in learners.NAMES}

    def trained_with(file: str) -> set[str]:
        path = ROOT / "pipeline_lib/learners" / file
        return {
            name for name, module in modules.items() if path in closure(["pipeline_lib.commands.train_model", module])
        }

    assert trained_with("cone.py") == {"cone"}
    assert trained_with("perceptron.py") == {"perceptron"}
    assert trained_with("models.py") == set(learners.NAMES)
