"""Which code of the package does a command import?

The answer is the static import closure: starting from a module, every ``import`` of a module of the package is
followed, wherever it is in the file (functions import lazily), except under ``if TYPE_CHECKING``. The digest of this
code is a parameter of the workflow's rules, so that an edit reruns the jobs whose code it changes and nothing else, and
an edit of comments or docstrings reruns nothing.

A module that declares an experiment contains the functions of all its steps, of which a job runs one. Imports inside
its functions count only for the functions that are named, as ``module:function``, and for the functions of the module
that these call.

Reading all modules takes as long as the rest of a plan, so that a run may keep what it read (:func:`remember`).
"""

from __future__ import annotations

import ast
import contextlib
import hashlib
import json
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

from pipeline_lib import files, source_digest
from pipeline_lib.errors import ConfigurationError, PipelineError

PACKAGE = "pipeline_lib"


class _Source(NamedTuple):
    """The content of one file: the modules that it imports, and the digest of its code."""

    imports: tuple[str, ...]
    digest: str


class _Memory:
    """What was read of sources, by digests of all that it follows from: it needs no check for changes."""

    def __init__(self, path: Path | None = None) -> None:
        self._path, self._changed = path, False
        self._known: dict[str, list[str]] = {}
        self._used: dict[str, list[str]] = {}
        if path is not None:
            with contextlib.suppress(OSError, ValueError):  # absent or damaged: everything is read anew
                found = json.loads(path.read_text(encoding="utf-8"))
                self._known = found if isinstance(found, dict) else {}

    def get(self, key: str) -> _Source | None:
        if key not in self._known:
            return None
        self._used[key] = self._known[key]
        code, *imported = self._known[key]
        return _Source(tuple(imported), code)

    def add(self, key: str, source: _Source) -> None:
        self._used[key] = [source.digest, *source.imports]
        self._changed = True

    def save(self) -> None:
        """Write what this process used, if it read anything anew; sources that are gone are forgotten."""
        if self._path is not None and self._changed:
            with contextlib.suppress(PipelineError, OSError):  # no place to write: the next run reads everything anew
                files.write_text(self._path, json.dumps(self._used))
            self._changed = False


_memory = _Memory()


def remember(path: Path | None) -> None:
    """Keep what :func:`digest` reads of sources in a file, for later processes, or in no file (``None``, the default).

    Digests are the same with such a file and without: what is kept of a source is found by the digest of its content.
    A file that is absent or damaged counts as empty.

    Example
    -------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "sources.json"
    >>> remember(path)
    >>> len(digest(["pipeline_lib.seeds"])), path.exists()
    (16, True)
    >>> remember(None)
    """
    global _memory
    _memory = _Memory(path)
    for read in (_read, _reached, _line):
        read.cache_clear()


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
    >>> [path.name for path in closure(["pipeline_lib.errors"])]
    ['__init__.py', 'errors.py']
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
    modules = {name.partition(":")[0] for name in _modules(chosen, folder)}
    lines = [target for target in chosen if ":" in target]
    lines += [_line(name, str(folder)) for name in modules]
    _memory.save()
    return hashlib.sha256("\n".join(sorted(lines)).encode()).hexdigest()[:16]


def imports(module: str, root: Path | None = None) -> tuple[str, ...]:
    """List the modules of the package that one module names in imports, in its functions too, and their packages.

    Imports for type checkers do not count: they are never executed. Arguments and errors as in :func:`digest`, for a
    single module.

    Example
    -------
    >>> imports("pipeline_lib.errors"), imports("pipeline_lib.files")
    ((), ('pipeline_lib', 'pipeline_lib.errors'))
    """
    folder = _folder(root)
    path = _file(module, folder)
    if path is None:
        raise ConfigurationError(f"import closure: expected a module of {PACKAGE}, found {module!r}")
    tree, package = _tree(path, path.read_bytes()), module if path.name == "__init__.py" else module.rpartition(".")[0]
    named = {name for name in _named_imports(tree, package) if ":" not in name and _file(name, folder)}
    return tuple(sorted(named.union(*map(_parents, named)) - {module}))


def _folder(root: Path | None) -> Path:
    return Path(__file__).parents[1] if root is None else Path(root)


def _modules(names: Iterable[str], root: Path) -> dict[str, Path]:
    """The closure: the file of every module, or ``module:function`` of a declaration, by its name."""
    found: dict[str, Path] = {}
    waiting, folder = list(names), str(root)
    for name in waiting:
        if _file(name.partition(":")[0], root) is None:
            raise ConfigurationError(f"import closure: expected a module of {PACKAGE}, found {name!r}")
    while waiting:
        name = waiting.pop()
        if name in found:
            continue
        path, imported = _reached(name, folder)
        if path is not None:
            found[name] = path
            waiting.extend(imported)
    return found


# The next two are called for every module of every closure: their keys are texts, because paths are slow to compare.
@cache
def _reached(name: str, root: str) -> tuple[Path | None, tuple[str, ...]]:
    """The file of a module, or of ``module:function`` of a declaration, and what follows from importing it."""
    module, _, function = name.partition(":")
    path = _file(module, Path(root))
    if path is None:
        return None, ()
    source = _read(path, module, function if _declares_an_experiment(module) else "")
    return path, (*_parents(module), *source.imports)


@cache
def _line(module: str, root: str) -> str:
    """What a digest contains of a module."""
    path = _file(module, Path(root))
    assert path is not None
    return f"{path.relative_to(root).as_posix()} {_read(path, module).digest}"


@cache
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
    content = path.read_bytes()
    about = [_code_of_this(), name, path.name, function, hashlib.sha256(content).hexdigest()]
    key = hashlib.sha256("\n".join(about).encode()).hexdigest()
    known = _memory.get(key)
    if known is None:
        known = _source(_tree(path, content), name, path.name == "__init__.py", function)
        _memory.add(key, known)
    return known


@cache
def _code_of_this() -> str:
    """A digest of the code that reads sources."""
    here = (Path(__file__), Path(source_digest.__file__))
    return hashlib.sha256(b"".join(path.read_bytes() for path in here)).hexdigest()


def _source(tree: ast.Module, name: str, is_package: bool, function: str) -> _Source:
    package = name if is_package else name.rpartition(".")[0]
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


def _tree(path: Path, content: bytes) -> ast.Module:
    try:
        return ast.parse(content, filename=str(path))
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
