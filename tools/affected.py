"""Which files of tests speak of a changed file, the nearest first?

Tests mirror the package: those of ``pipeline_lib/theory/entropy.py`` lie in ``tests/theory``, and those of
``docs/claims.md`` in ``tests/docs``. After them come the tests of the modules that import the changed one, directly or
through others. A module with doctests counts as its own file of tests.
"""

from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path, PurePosixPath

import grimp

ROOT = Path(__file__).parents[1]
PACKAGE = "pipeline_lib"


@cache
def graph() -> grimp.ImportGraph:
    """The imports within the package, those for type checkers as well."""
    return grimp.build_graph(PACKAGE)


def tests_of(changed: Iterable[str]) -> list[str]:
    """The files of tests that a change of these files reaches; paths are relative to the root of the project."""
    found: dict[str, None] = {}
    seen = waiting = [path for path in changed if (ROOT / path).is_file()]
    while waiting:
        for path in waiting:
            found |= dict.fromkeys(_own_tests(PurePosixPath(path)))
        waiting = [path for path in sorted({user for path in waiting for user in _importers(path)}) if path not in seen]
        seen = [*seen, *waiting]
    return list(found)


def _own_tests(path: PurePosixPath) -> Iterator[str]:
    """The file itself if it holds tests, then those of the folder that mirrors its own, its name before others."""
    if path.name.startswith("test_") or (path.parts[0] == PACKAGE and ">>>" in (ROOT / path).read_text("utf-8")):
        yield str(path)
    places = list(path.parent.parts[1:] if path.parts[0] in (PACKAGE, "tests") else path.parent.parts)
    if path.match("*.md") and not places:
        places = ["docs"]
    folder = ROOT / "tests"
    while places and (folder / places[0]).is_dir():
        folder /= places.pop(0)
    pattern = f"test_{path.stem}*.py" if folder == ROOT / "tests" else "**/test_*.py"
    order = sorted(
        (path.stem not in test.stem, path.parent.name not in test.stem, test) for test in folder.glob(pattern)
    )
    yield from (test.relative_to(ROOT).as_posix() for *_, test in order)


def _importers(path: str) -> Iterator[str]:
    module = path.removesuffix(".py").replace("/", ".").removesuffix(".__init__")
    if module in graph().modules:
        for user in graph().find_modules_that_directly_import(module):
            file = user.replace(".", "/")
            yield f"{file}.py" if (ROOT / f"{file}.py").is_file() else f"{file}/__init__.py"
