"""Which code of the package does a command import?

The answer is the static import closure: starting from a module, every ``import`` of a module of the package is
followed, wherever it is in the file (functions import lazily), except under ``if TYPE_CHECKING``. The digest of this
code is a parameter of the workflow's rules, so that an edit reruns the jobs whose code it changes and nothing else, and
an edit of comments or docstrings reruns nothing.

A module that declares an experiment contains the functions of all its steps, of which a job runs one. Imports inside
its functions count only for the functions that are named, as ``module:function``, and for the functions of the module
that these call.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

from pipeline_lib import source_digest
from pipeline_lib.errors import ConfigurationError

PACKAGE = "pipeline_lib"


class _Source(NamedTuple):
    """The content of one file: the modules that it imports, and the digest of its code."""

    imports: tuple[str, ...]
    digest: str


def closure(modules: Iterable[str], root: Path | None = None) -> tuple[Path, ...]:
    """List the files that importing ``modules`` may execute, sorted.

    Parameters
    ----------
    modules : iterable of str
        Dotted names such as ``"pipeline_lib.metrics"``.
    root : Path, optional
        The folder that contains the package's folder; by default that of this file.

    Returns
    -------
    tuple of Path
        Source files, each ``root / ...``, including the ``__init__.py`` of every package that contains them.

    Raises
    ------
    ConfigurationError
        When a module named does not exist.

    Example
    -------
    >>> [path.name for path in closure(["pipeline_lib.seeds"])]
    ['__init__.py', 'seeds.py']
    """
    return tuple(sorted(set(_modules(modules, _folder(root)).values())))


def digest(targets: Iterable[str], root: Path | None = None) -> str:
    """Give a short digest of the code that importing ``targets`` may execute.

    It changes with the code of any file of the closure and with the place of a file in the package, but not with
    comments, docstrings or formatting (see :mod:`pipeline_lib.source_digest`), nor with the folder that contains the
    package.

    Parameters
    ----------
    targets : iterable of str
        Dotted names of modules, or ``"module:object"`` where the name of the object that is used matters as well.
    root : Path, optional
        As in :func:`closure`.

    Raises
    ------
    ConfigurationError
        When a module named does not exist, or a file of the closure is not Python.

    Example
    -------
    >>> digest(["pipeline_lib.seeds"]) == digest(["pipeline_lib.seeds"])
    True
    >>> digest(["pipeline_lib.seeds:generator"]) == digest(["pipeline_lib.seeds:seed"])
    False
    """
    folder, chosen = _folder(root), sorted(set(targets))
    files = {path: name.partition(":")[0] for name, path in _modules(chosen, folder).items()}
    lines = [target for target in chosen if ":" in target]
    lines += [f"{path.relative_to(folder).as_posix()} {_read(path, name).digest}" for path, name in files.items()]
    return hashlib.sha256("\n".join(sorted(lines)).encode()).hexdigest()[:16]


def imports(module: str, root: Path | None = None) -> tuple[str, ...]:
    """List the modules of the package that one module names in imports, in its functions too, and their packages.

    Imports for type checkers do not count: they are never executed. Arguments and errors as in :func:`digest`, for a
    single module.

    Example
    -------
    >>> imports("pipeline_lib.seeds"), imports("pipeline_lib.files")
    ((), ('pipeline_lib', 'pipeline_lib.errors'))
    """
    folder = _folder(root)
    path = _file(module, folder)
    if path is None:
        raise ConfigurationError(f"import closure: expected a module of {PACKAGE}, found {module!r}")
    tree, package = _tree(path), module if path.name == "__init__.py" else module.rpartition(".")[0]
    named = {name for name in _named_imports(tree, package) if ":" not in name and _file(name, folder)}
    return tuple(sorted(named.union(*map(_parents, named)) - {module}))


def _folder(root: Path | None) -> Path:
    return Path(__file__).parents[1] if root is None else Path(root)


def _modules(names: Iterable[str], root: Path) -> dict[str, Path]:
    """The closure: the file of every module, or ``module:function`` of a declaration, by its name."""
    files: dict[str, Path] = {}
    waiting = list(names)
    for name in waiting:
        if _file(name.partition(":")[0], root) is None:
            raise ConfigurationError(f"import closure: expected a module of {PACKAGE}, found {name!r}")
    while waiting:
        name = waiting.pop()
        module, _, function = name.partition(":")
        path = _file(module, root)
        if path is None or name in files:
            continue
        files[name] = path
        waiting.extend(_parents(module))
        waiting.extend(_read(path, module, function if _declares_an_experiment(module) else "").imports)
    return files


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
def _read(path: Path, name: str, function: str = "") -> _Source:
    """Read one module, or for its imports one function of a declaration; each is read once in a process."""
    tree = _tree(path)
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    code = source_digest.digest(tree)
    if not _declares_an_experiment(name):
        return _Source(tuple(_named_imports(tree, package)), code)
    functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    if function not in functions:
        tree.body = [node for node in tree.body if node not in functions.values()]
        return _Source(tuple(_named_imports(tree, package)), code)
    used = {node.id for node in ast.walk(functions[function]) if isinstance(node, ast.Name)}
    called = (f"{name}:{other}" for other in sorted(used & functions.keys()))
    return _Source((name, *called, *_named_imports(functions[function], package)), code)


def _tree(path: Path) -> ast.Module:
    try:
        return ast.parse(path.read_bytes(), filename=str(path))
    except SyntaxError as error:
        place = f"{path}, line {error.lineno}"
        raise ConfigurationError(f"{place}: expected Python, found {error.msg}; correct it") from error


def _declares_an_experiment(name: str) -> bool:
    match name.split("."):
        case [_, "papers", _, "experiments", _]:
            return True
    return False


def _named_imports(node: ast.AST, package: str) -> Iterator[str]:
    for child in _statements(node):
        if isinstance(child, ast.Import):
            yield from (alias.name for alias in child.names)
        elif isinstance(child, ast.ImportFrom):
            base = _absolute(child, package)
            yield base
            # "from package import name": name may be a module of the package; names that are not files are dropped
            # later.
            yield from (f"{base}.{alias.name}" for alias in child.names)
            # Or a function of a declaration, which may be called.
            yield from (f"{base}:{alias.name}" for alias in child.names if _declares_an_experiment(base))
        elif isinstance(child, ast.If) and _is_type_checking(child.test):
            for statement in child.orelse:
                yield from _named_imports(ast.Module([statement], []), package)
        else:
            yield from _named_imports(child, package)


def _statements(node: ast.AST) -> Iterator[ast.AST]:
    """The statements within one, with the branches that hold statements; expressions import nothing."""
    for branch in ("body", "handlers", "cases", "orelse", "finalbody"):
        yield from getattr(node, branch, ())


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
