"""Which files of Python can a change affect, and how far from it are they?

A file is linked to what it imports, and a test also to the modules that it reaches as attributes (``learners.erm``
after ``from pipeline_lib import learners``). Because parts of the package are loaded by name, a file is also linked to
the surrogates, measures, learners, commands and papers that a string in it names. A change affects what is linked to
it, directly or through other files; a file that is not Python affects the files in which its name stands.
"""

from __future__ import annotations

import ast
import gc
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path

from pipeline_lib import import_closure

ROOT = Path(__file__).parents[1]
PACKAGE = import_closure.PACKAGE
LOADED_BY_NAME = {"commands": "cli", "learners/declared": "learners", "papers": "papers"}
"""The folders whose modules are loaded by name, and the modules that load them; registries stand in files."""
EVERY_NAME = {"NAMES", "names", "command_names"}
"""A test that uses one of these goes through everything that the modules it imports load by name."""

Trees = Mapping[str, ast.Module]
_NOTHING = ast.Module([], [])


def distances(changed: Iterable[str], root: Path = ROOT) -> dict[str, int]:
    """The number of links from each affected file to the nearest changed one; paths are relative to ``root``."""
    changed, (trees, links) = set(changed), _project(root)
    users: dict[str, set[str]] = {path: set() for path in trees}
    for path, others in links.items():
        for other in others:
            users[other].add(path)
    data = {Path(path).name for path in changed - trees.keys()}
    found = {path: 0 for path in trees if path in changed}
    found |= {path: 1 for path, tree in trees.items() if path not in found and _names(_strings(tree), data)}
    waiting = list(found)
    for path in waiting:
        for user in sorted(users[path] - found.keys()):
            found[user] = found[path] + 1
            waiting.append(user)
    return found


def files_with_tests(found: Mapping[str, int], root: Path = ROOT) -> list[str]:
    """Those of the files that hold tests or doctests, the nearest first."""
    holding = [
        path
        for path in found
        if _is_test(path) or (path.startswith(PACKAGE) and ">>>" in (root / path).read_text(encoding="utf-8"))
    ]
    return sorted(holding, key=lambda path: (found[path], not _is_test(path), path))


def _is_test(path: str) -> bool:
    return Path(path).name.startswith("test_")


@cache
def _project(root: Path) -> tuple[Trees, dict[str, set[str]]]:
    """Every file as it is parsed, and the files that each is linked to; read once in a process."""
    files = [file for top in (PACKAGE, "tests") for file in sorted((root / top).rglob("*.py"))]
    collecting = gc.isenabled()
    gc.disable()  # half of the time goes into looking for garbage among millions of nodes, none of which is any
    try:
        trees = {file.relative_to(root).as_posix(): ast.parse(file.read_bytes(), str(file)) for file in files}
        return trees, _links(trees, root)
    finally:
        if collecting:
            gc.enable()


@cache
def _nodes(tree: ast.Module) -> list[ast.AST]:
    """All nodes of a file, listed once."""
    return list(ast.walk(tree))


def _dotted(path: str) -> str:
    return path.removesuffix(".py").replace("/", ".").removesuffix(".__init__")


def _links(trees: Trees, root: Path) -> dict[str, set[str]]:
    """The files that each file is linked to."""
    files = {_dotted(path): path for path in trees}
    named = list(_loaded_by_name(files, root))
    found = {}
    for path, tree in trees.items():
        used = set(import_closure.imports(_dotted(path), root) if path.startswith(PACKAGE) else _reached(path, trees))
        strings = {text.partition("@")[0] for text in _strings(tree)}
        every = _is_test(path) and EVERY_NAME & _identifiers(tree)
        used |= {module for loader, name, module in named if name in strings or (every and loader in used)}
        found[path] = {files[name] for name in used if name in files} - {path}
    return found


def _loaded_by_name(files: Iterable[str], root: Path) -> Iterator[tuple[str, str, str]]:
    """Each module that is loaded by name: the loading module, the name, the module."""
    for registry in sorted((root / PACKAGE).rglob("registry.toml")):
        loader = _dotted(registry.parent.relative_to(root).as_posix())
        for name, target in tomllib.loads(registry.read_text(encoding="utf-8")).items():
            yield loader, name.partition("@")[0], target.partition(":")[0]
    for folder, loader in LOADED_BY_NAME.items():
        prefix = f"{PACKAGE}.{folder.replace('/', '.')}."
        for module in files:
            if module.startswith(prefix):
                yield f"{PACKAGE}.{loader}", module.removeprefix(prefix).partition(".")[0].replace("_", "-"), module


def _reached(path: str, trees: Trees) -> Iterator[str]:
    """What a file of the tests imports or reaches as attributes, with the packages on the way, and its fixtures."""
    bound: dict[str, str] = {}
    folders = _dotted(path).split(".")[:-1]
    for node in _nodes(trees[path]):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield from _with_parents(alias.name, folders)
                bound[alias.asname or alias.name.partition(".")[0]] = alias.name if alias.asname else PACKAGE
        elif isinstance(node, ast.ImportFrom):
            base = ".".join([*folders[: len(folders) - node.level + 1], *([node.module] if node.module else [])])
            base = base if node.level else str(node.module)
            for alias in node.names:
                yield from _with_parents(f"{base}.{alias.name}", folders)
                yield from _origins(base, alias.name, trees)
                bound[alias.asname or alias.name] = f"{base}.{alias.name}"
    for node in _nodes(trees[path]):
        if isinstance(node, ast.Attribute) and (chain := _chain(node))[0] in bound:
            yield from _with_parents(".".join([bound[chain[0]], *chain[1:]]), folders)
    yield from (f"{'.'.join(folders[:length])}.conftest" for length in range(1, len(folders) + 1))


def _chain(node: ast.expr) -> list[str]:
    """The names in ``a.b.c``; the first is empty where something else than a name has the attributes."""
    if isinstance(node, ast.Attribute):
        return [*_chain(node.value), node.attr]
    return [node.id if isinstance(node, ast.Name) else ""]


def _with_parents(name: str, folders: list[str]) -> Iterator[str]:
    """A dotted name and what stands before each of its dots; tests import their neighbours by bare names, too."""
    parts = name.split(".")
    for length in range(1, len(parts) + 1):
        yield ".".join(parts[:length])
    yield from (".".join([*folders[:length], parts[0]]) for length in range(1, len(folders) + 1))


def _origins(package: str, name: str, trees: Trees) -> Iterator[str]:
    """Where a package that hands out a name of one of its modules has it from."""
    tree = trees.get(f"{package.replace('.', '/')}/__init__.py", _NOTHING)
    for node in _nodes(tree):
        if isinstance(node, ast.ImportFrom) and any(alias.name == name for alias in node.names):
            yield str(node.module)


def _identifiers(tree: ast.Module) -> set[str]:
    nodes = _nodes(tree)
    return {node.id for node in nodes if isinstance(node, ast.Name)} | {
        node.attr for node in nodes if isinstance(node, ast.Attribute)
    }


def _strings(tree: ast.Module) -> set[str]:
    """The strings of a file but those that are statements, which document it."""
    nodes = _nodes(tree)
    documentation = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    constants = (node for node in nodes if isinstance(node, ast.Constant) and id(node) not in documentation)
    return {node.value for node in constants if isinstance(node.value, str)}


def _names(strings: Iterable[str], files: Iterable[str]) -> bool:
    """Do the strings hold the name of a file, or a pattern such as ``*.md``, for all files that end so?"""
    return any(
        file in text or (text.startswith("*.") and file.endswith(text[1:])) for file in files for text in strings
    )
