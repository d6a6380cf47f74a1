"""Which files of the package does a command import?

The answer is the static import closure: starting from a module, follow every ``import`` that names a module of the
package, wherever in the file it stands (functions import lazily), except under ``if TYPE_CHECKING``. Workflow rules
name these files as inputs, so that an edit reruns the jobs whose code it changes and nothing else.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

from pipeline_lib.errors import ConfigurationError

PACKAGE = "pipeline_lib"


def closure(modules: Iterable[str], root: Path | None = None) -> tuple[Path, ...]:
    """List the files that importing ``modules`` may execute, sorted.

    Parameters
    ----------
    modules : iterable of str
        Dotted names such as ``"pipeline_lib.metrics"``.
    root : Path, optional
        The folder that holds the package's folder; by default the one this file is in.

    Returns
    -------
    tuple of Path
        Source files, each ``root / ...``; the ``__init__.py`` of every package on the way is among them.

    Raises
    ------
    ConfigurationError
        When a module named does not exist.

    Example
    -------
    >>> [path.name for path in closure(["pipeline_lib.seeds"])]
    ['__init__.py', 'seeds.py']
    """
    folder = Path(__file__).parents[1] if root is None else Path(root)
    found: dict[str, Path] = {}
    waiting = list(modules)
    for name in waiting:
        if _file(name, folder) is None:
            raise ConfigurationError(f"import closure: expected a module of {PACKAGE}, found {name!r}")
    while waiting:
        name = waiting.pop()
        path = _file(name, folder)
        if path is None or name in found:
            continue
        found[name] = path
        waiting.extend(_parents(name))
        waiting.extend(_imports(path, name))
    return tuple(sorted(found.values()))


def _file(name: str, root: Path) -> Path | None:
    """The file of a module of the package, or None where ``name`` is something else (an attribute, a library)."""
    if name.split(".")[0] != PACKAGE:
        return None
    stem = root.joinpath(*name.split("."))
    for candidate in (stem / "__init__.py", stem.with_suffix(".py")):
        if candidate.is_file():
            return candidate
    return None


def _parents(name: str) -> Iterator[str]:
    parts = name.split(".")
    for length in range(1, len(parts)):
        yield ".".join(parts[:length])


@cache
def _imports(path: Path, name: str) -> tuple[str, ...]:
    tree = ast.parse(path.read_text(encoding="utf-8"), filename=str(path))
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    return tuple(_named_imports(tree, package))


def _named_imports(node: ast.AST, package: str) -> Iterator[str]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import):
            yield from (alias.name for alias in child.names)
        elif isinstance(child, ast.ImportFrom):
            base = _absolute(child, package)
            yield base
            # "from package import name": name may be a module of it; what is not a file is dropped later.
            yield from (f"{base}.{alias.name}" for alias in child.names)
        elif isinstance(child, ast.If) and _is_type_checking(child.test):
            for statement in child.orelse:
                yield from _named_imports(ast.Module([statement], []), package)
        else:
            yield from _named_imports(child, package)


def _absolute(node: ast.ImportFrom, package: str) -> str:
    if not node.level:
        return node.module or ""
    parts = package.split(".")
    base = ".".join(parts[: len(parts) - node.level + 1])
    return f"{base}.{node.module}" if node.module else base


def _is_type_checking(test: ast.expr) -> bool:
    return (isinstance(test, ast.Name) and test.id == "TYPE_CHECKING") or (
        isinstance(test, ast.Attribute) and test.attr == "TYPE_CHECKING"
    )
