"""Machine code that is kept in files is that of the present code, wherever it is defined."""

import ast
import importlib
import os
import pkgutil
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import ModuleType

import pytest

import pipeline_lib
from pipeline_lib.core import compiled
from tests.workflow import forked

ROOT = Path(__file__).parents[2]


def run(folder: Path, program: str, **variables: str) -> str:
    """What a program prints that imports the package of a folder."""
    program = f"import numba\nnumba.config.reload_config()\n{program}"  # numba was imported with other variables
    status, printed = forked.python(program, folder, **{"NUMBA_CACHE_DIR": "", **variables})
    assert status == 0, printed
    return printed.strip()


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A package in which one compiled function calls another, which calls a third that reads an imported constant."""
    folder = tmp_path / "pipeline_lib"
    (folder / "core").mkdir(parents=True)
    for package in (folder, folder / "core"):
        (package / "__init__.py").touch()
    shutil.copy2(compiled.__file__, folder / "core" / "compiled.py")
    head = "from pipeline_lib.core.compiled import njit\n"
    (folder / "sizes.py").write_text("SIZE = 1.0\n")
    (folder / "inner.py").write_text(f"from pipeline_lib import sizes\n{head}@njit\ndef f():\n    return sizes.SIZE\n")
    (folder / "middle.py").write_text(f"from pipeline_lib import inner\n{head}@njit\ndef g():\n    return inner.f()\n")
    (folder / "outer.py").write_text(f"{head}from pipeline_lib.middle import g\n@njit\ndef h():\n    return g()\n")
    return tmp_path


H = "from pipeline_lib.outer import h\nprint(h(), sum(h.stats.cache_hits.values()))"


def test_an_edit_far_down_is_seen_by_every_caller(package: Path) -> None:
    assert run(package, H) == "1.0 0"
    assert run(package, H) == "1.0 1"
    for file, before, after, value in (
        ("inner.py", "sizes.SIZE", "2 * sizes.SIZE", 2.0),
        ("middle.py", "inner.f()", "inner.f() + 1", 3.0),
        ("sizes.py", "1.0", "4.0", 9.0),
    ):
        path = package / "pipeline_lib" / file
        path.write_text(path.read_text().replace(before, after))
        assert run(package, H) == f"{value} 0"
        assert run(package, H) == f"{value} 1"


@pytest.mark.parametrize("locked", [True, False])
def test_where_the_package_cannot_be_written_code_is_kept_elsewhere_or_not_at_all(package: Path, locked: bool) -> None:
    cache = package / "cache"
    if locked:
        cache.touch()  # no folder can be made here
    (package / "pipeline_lib/__pycache__").touch()
    places = {"XDG_CACHE_HOME": str(cache), "PYTHONDONTWRITEBYTECODE": "1"}
    assert run(package, H, **places) == "1.0 0"
    assert run(package, H, **places) == ("1.0 0" if locked else "1.0 1")


def test_of_processes_that_start_together_one_compiles(package: Path) -> None:
    with ThreadPoolExecutor(3) as together:
        printed = list(together.map(lambda _: run(package, H), range(3)))
    assert sorted(printed) == ["1.0 0", "1.0 1", "1.0 1"]


def test_copies_of_the_package_share_what_they_compile(package: Path, tmp_path: Path) -> None:
    kept = {"NUMBA_CACHE_DIR": str(tmp_path / "kept")}
    assert run(package, H, **kept) == "1.0 0"
    shutil.copytree(package / "pipeline_lib", tmp_path / "other/pipeline_lib")
    assert run(tmp_path / "other", H, **kept) == "1.0 1"
    (tmp_path / "other/pipeline_lib/sizes.py").write_text("SIZE = 4.0\n")
    assert run(tmp_path / "other", H, **kept) == "4.0 0"
    assert run(package, H, **kept) == "1.0 1"


def test_code_of_other_versions_is_removed_when_it_was_not_used_for_an_hour(package: Path) -> None:
    kept = package / "pipeline_lib/__pycache__"
    inner = package / "pipeline_lib/inner.py"

    def edited() -> set[str]:
        inner.write_text(f"{inner.read_text()}\n")
        run(package, H)
        return {path.name for path in kept.glob("inner-*")}

    first, both = edited(), edited()
    assert len(first) == 1
    assert len(both) == 2
    for name in both:
        os.utime(kept / name, (0, 0))
    run(package, H)
    assert edited() & both == both - first


def test_an_edit_of_the_ideal_dcg_is_seen_by_a_kernel_of_another_module(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "pipeline_lib", tmp_path / "pipeline_lib", ignore=shutil.ignore_patterns("__pycache__"))
    ranking = tmp_path / "pipeline_lib/ranking.py"
    text, before, after = ranking.read_text(), "ideal += GAINS[y[i]]", "ideal += 2 * GAINS[y[i]]"
    assert before in text
    call = "from pipeline_lib.surrogates import slam; print(slam.weights([1, 0], 'ndcg@1')[0])"
    assert run(tmp_path, call) == "1.0"
    ranking.write_text(text.replace(before, after))
    assert run(tmp_path, call) == "0.5"


def modules_of_kernels() -> list[ModuleType]:
    names = [found.name for found in pkgutil.walk_packages(pipeline_lib.__path__, "pipeline_lib.")]
    modules = [importlib.import_module(name) for name in names if not name.endswith("__main__")]
    return [module for module in modules if vars(module).get("njit") is compiled.njit]


def test_numba_is_asked_for_files_by_one_module_alone() -> None:
    assert len(modules_of_kernels()) >= 25
    for path in Path(compiled.__file__).parent.rglob("*.py"):
        if path.name != "compiled.py":
            assert not re.search("import .*njit|numba.n?jit", path.read_text().replace("compiled import njit", "")), (
                path
            )


@pytest.mark.parametrize("module", modules_of_kernels(), ids=lambda module: module.__name__)
def test_what_is_computed_from_imports_stands_above_the_compiled_functions(module: ModuleType) -> None:
    """What a module computes from other modules is part of the digest only if it is there when the digest is made."""
    body = ast.parse(Path(module.__file__ or "").read_text()).body
    imported = {
        name.asname or name.name
        for node in body
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("pipeline_lib")
        for name in node.names
    }
    kernels = [node for node in body if isinstance(node, ast.FunctionDef) and "njit" in ast.dump(node)]
    read = {part.id for kernel in kernels for part in ast.walk(kernel) if isinstance(part, ast.Name)}
    for node in body:
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.lineno > kernels[0].lineno:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            if not read & {part.id for target in targets for part in ast.walk(target) if isinstance(part, ast.Name)}:
                continue
            named = {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
            assert not named & imported, ast.unparse(node)


def test_code_without_bounds_checks_is_not_taken_for_code_with_them(package: Path) -> None:
    (package / "pipeline_lib/beyond.py").write_text(
        "from pipeline_lib.core.compiled import njit\n@njit\ndef last(x):\n    return x[len(x)]\n"
    )
    call = "import numpy as np\nfrom pipeline_lib.beyond import last\n"
    call += "try:\n    last(np.ones(3))\n    print('read')\nexcept IndexError:\n    print('refused')"
    assert run(package, call) == "read"
    assert run(package, call, NUMBA_BOUNDSCHECK="1") == "refused"
    assert run(package, call) == "read"


@pytest.mark.slow
@pytest.mark.parametrize("tests", ["test_ranking.py metrics sources", "surrogates", "learners", "theory"])
def test_no_kernel_reads_or_writes_beyond_its_arrays(tests: str) -> None:
    """All tests of kernels pass where an index beyond an array is an error."""
    command = [
        sys.executable,
        *["-m", "pytest", "-q", "-x", "-m"],
        "not slow",
        *(f"tests/{part}" for part in tests.split()),
    ]
    checked = {**os.environ, "NUMBA_BOUNDSCHECK": "1"}
    done = subprocess.run(command, cwd=ROOT, env=checked, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
    assert re.search(r"\d+ passed", done.stdout)
