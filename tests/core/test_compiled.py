"""Machine code that is kept in files is that of the present code, wherever it is defined."""

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


def edit(path: Path, text: str) -> None:
    """Write a file anew, at another second: Python takes byte code of the same size and second for current."""
    before = path.stat().st_mtime
    path.write_text(text)
    os.utime(path, (before + 2.0, before + 2.0))


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
        edit(path, path.read_text().replace(before, after))
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
    edit(tmp_path / "other/pipeline_lib/sizes.py", "SIZE = 4.0\n")
    assert run(tmp_path / "other", H, **kept) == "4.0 0"
    assert run(package, H, **kept) == "1.0 1"


def test_code_of_other_versions_is_removed_when_it_was_not_used_for_an_hour(package: Path) -> None:
    kept = package / "pipeline_lib/__pycache__"
    inner = package / "pipeline_lib/inner.py"

    def edited() -> set[str]:
        edit(inner, f"{inner.read_text()}\n")
        run(package, H)
        return {path.name for path in kept.glob("inner-*")}

    first, both = edited(), edited()
    assert len(first) == 1
    assert len(both) == 2
    for name in both:
        os.utime(kept / name, (0, 0))
    run(package, "from pipeline_lib.inner import f\nf()")
    assert edited() & both == both - first


def test_an_edit_of_the_ideal_dcg_is_seen_by_a_kernel_of_another_module(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "pipeline_lib", tmp_path / "pipeline_lib", ignore=shutil.ignore_patterns("__pycache__"))
    ranking = tmp_path / "pipeline_lib/ranking.py"
    text, before, after = ranking.read_text(), "ideal += GAINS[y[i]]", "ideal += 2 * GAINS[y[i]]"
    assert before in text
    call = "from pipeline_lib.surrogates import slam; print(slam.weights([1, 0], 'ndcg@1')[0])"
    assert run(tmp_path, call) == "1.0"
    edit(ranking, text.replace(before, after))
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


HEAD = "from pipeline_lib.core.compiled import njit\n"
# How a kernel of outer.py reaches what is edited: the files, what the kernel returns, the file that is edited, the
# edit, and what is returned before and after.
REACHED = {
    "an imported type": (
        {"inner.py": "import numpy as np\nT = np.float64\n", "outer.py": "from pipeline_lib.inner import T\n"},
        "T(1.0 + 1e-9) - 1.0 > 0.0", "inner.py", ("float64", "float32"), ("True", "False"),
    ),
    "a type of a module": (
        {"inner.py": "import numpy as np\nT = np.float64\n", "outer.py": "from pipeline_lib import inner\n"},
        "inner.T(1.0 + 1e-9) - 1.0 > 0.0", "inner.py", ("float64", "float32"), ("True", "False"),
    ),
    "an imported complex number": (
        {"inner.py": "C = 1j\n", "outer.py": "from pipeline_lib.inner import C\n"},
        "(C * C).real", "inner.py", ("1j", "2j"), ("-1.0", "-4.0"),
    ),
    "kernels in a tuple": (
        {"inner.py": f"{HEAD}@njit\ndef f():\n    return 1.0\n\n\nALL = (f,)\n",
         "outer.py": "from pipeline_lib.inner import ALL\n"},
        "ALL[0]()", "inner.py", ("1.0", "2.0"), ("1.0", "2.0"),
    ),
    "a constant through a package": (
        {"sub/__init__.py": "", "sub/inner.py": "K = 1.0\n",
         "outer.py": "import pipeline_lib.sub.inner\nfrom pipeline_lib import sub\n"},
        "sub.inner.K", "sub/inner.py", ("1.0", "2.0"), ("1.0", "2.0"),
    ),
    "a kernel that another module passes on": (
        {"sub/__init__.py": "", "inner.py": f"{HEAD}@njit\ndef f():\n    return 1.0\n",
         "sub/other.py": "from pipeline_lib.inner import f\n",
         "outer.py": "import pipeline_lib.sub.other\nfrom pipeline_lib import sub\n"},
        "sub.other.f()", "inner.py", ("1.0", "2.0"), ("1.0", "2.0"),
    ),
    "a value that is assigned below": (
        {"inner.py": "def value():\n    return 1.0\n", "outer.py": "from pipeline_lib.inner import value\n"},
        "BELOW", "inner.py", ("1.0", "2.0"), ("1.0", "2.0"),
    ),
}  # fmt: skip


def write_kernel(package: Path, files: dict[str, str], returned: str) -> None:
    """Write a kernel that returns an expression, and what it needs."""
    folder = package / "pipeline_lib"
    for name, text in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    below = "BELOW = value()\n" if returned == "BELOW" else ""
    kernel = f"{HEAD}@njit\ndef h():\n    return {returned}\n\n\n{below}"
    (folder / "outer.py").write_text(files["outer.py"] + kernel)


@pytest.mark.parametrize("kind", REACHED)
def test_an_edit_is_seen_however_a_kernel_reaches_it(package: Path, kind: str) -> None:
    files, returned, edited, change, expected = REACHED[kind]
    write_kernel(package, files, returned)
    quiet = f"import warnings\nwarnings.simplefilter('ignore')\n{H}"  # tuples of functions are new to numba
    assert run(package, quiet) == f"{expected[0]} 0"
    path = package / "pipeline_lib" / edited
    edit(path, path.read_text().replace(*change))
    assert run(package, quiet) == f"{expected[1]} 0"
    assert run(package, quiet) == f"{expected[1]} 1"


def test_a_kernel_that_names_what_cannot_be_digested_is_refused(package: Path) -> None:
    write_kernel(package, {"outer.py": "class Size:\n    K = 1.0\n\n\n"}, "Size.K")
    call = "from pipeline_lib.outer import h\ntry:\n    h()\nexcept TypeError as error:\n    print(error)"
    assert run(package, call).startswith("pipeline_lib.outer.h: Size: a compiled function whose machine code is kept")


@pytest.mark.parametrize("suffix", [".nbi", ".nbc"])
@pytest.mark.parametrize("damage", ["a bit", "the end"])
def test_damaged_machine_code_is_named_and_compiled_anew(package: Path, suffix: str, damage: str) -> None:
    assert run(package, H) == "1.0 0"
    [path] = (package / "pipeline_lib/__pycache__").glob(f"outer-*/*{suffix}")
    content = bytearray(path.read_bytes())
    if damage == "a bit":
        content[len(content) // 2] ^= 1
    path.write_bytes(content if damage == "a bit" else content[:-40])
    printed = run(package, f"import logging\nlogging.basicConfig()\n{H}")
    assert f"{path.name}: damaged machine code" in printed
    assert printed.endswith("1.0 0")
    assert run(package, H) == "1.0 1"


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
