"""Which code of a package does a command import?

The answer is the static import closure: every ``import`` of a module of the package is followed, wherever it is in the
file (functions import lazily), except those for type checkers, and with a module the packages that contain it. The
digest of this code is a parameter of the workflow's rules, so that an edit reruns the jobs whose code it changes and
nothing else, and an edit of comments or docstrings reruns nothing.

A module that declares an experiment contains the functions of all its steps, of which a job runs one. Where such a
function is named, as ``module:function``, only the definitions and imports of the module that it uses count, directly
or through others, and the settings of the experiment.
"""

import ast
import contextlib
import hashlib
import importlib.util
import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from functools import cache
from pathlib import Path

import grimp
from grimp.exceptions import SourceSyntaxError

from pipeline_lib.core import files
from pipeline_lib.core.errors import ConfigurationError, PipelineError
from pipeline_lib.study import source_digest

_known: dict[str, list[str]] = {}
"""What was read of sources: the digest, and of ``module:function`` what it imports as well.

Both are found by the content of the source and of the code that computes them, and need no check for changes.
"""
_kept: Path | None = None
"""The file in which that is kept."""
_parts: dict[str, dict[str, str]] = {}
"""What this process computed digests from: of each, the beginning of the digest of every part, found by its file."""
_FOLDER = Path(__file__).parents[2]
"""The folder that contains the package."""
MOST_KEPT = 256
"""So many digests are explained at most, those of the last edits."""


def remember(path: Path | None) -> None:
    """Keep what is read of sources in a file, for later processes, or in no file (``None``, the default).

    Parsing all sources takes as long as the rest of a plan. A file that is absent or damaged counts as empty.

    Example
    -------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "sources.json"
    >>> remember(path)
    >>> len(digest(["pipeline_lib.core.seeds"])), path.exists()
    (16, True)
    >>> remember(None)
    """
    global _kept
    _kept = path
    _known.clear()
    _read.cache_clear()
    if path is not None:
        with contextlib.suppress(OSError, ValueError, TypeError):
            _known.update(json.loads(path.read_text(encoding="utf-8")))


def closure(targets: Iterable[str]) -> frozenset[str]:
    """The modules that importing ``targets`` may execute, and the packages that contain them.

    ``targets`` are as in :func:`digest`, and so are the errors. Of a module that declares an experiment, of which only
    one function is named, the result contains ``module:function``.

    Example
    -------
    >>> sorted(closure(["pipeline_lib.core.files"]))
    ['pipeline_lib', 'pipeline_lib.core', 'pipeline_lib.core.errors', 'pipeline_lib.core.files']
    """
    found: set[str] = set()
    for target in targets:
        module, _, function = target.partition(":")
        graph = _graph(module.partition(".")[0])
        if module not in graph.modules:
            raise ConfigurationError(
                f"import closure: expected a module of the package, each of whose folders has a file __init__.py, "
                f"found {module!r}"
            )
        one_step = bool(function) and module.endswith(".experiment")
        found.add(target if one_step else module)
        imported = graph.find_modules_directly_imported_by(module)
        if one_step:
            _, *named = _read(target)
            imported = {name for name in imported if name in named or module.startswith(f"{name}.")}
        for name in imported - found:
            found |= {name, *graph.find_upstream_modules(name)}
    return frozenset(found)


def digest(targets: Iterable[str], reads: Iterable[str] = ()) -> str:
    """Give a short digest of the code that importing ``targets`` may execute, and of files that it reads.

    It changes with the content of the files, with the code of any module of the closure and with the place of a module
    in the package, but not with comments, docstrings or formatting (see :mod:`pipeline_lib.study.source_digest`), nor
    with the folder that contains the package.

    Parameters
    ----------
    targets : iterable of str
        Dotted names of modules, or ``"module:object"`` where the name of the object that is used matters as well.
    reads : iterable of str
        Paths of files, such as claims and templates, in the folder that contains the package.

    Raises
    ------
    ConfigurationError
        When a module named does not exist, or a file of the package is not Python.

    Example
    -------
    >>> digest(["pipeline_lib.core.seeds"]) == digest(["pipeline_lib.core.seeds"])
    True
    >>> digest(["pipeline_lib.core.seeds:generator"]) == digest(["pipeline_lib.core.seeds:seed"])
    False
    """
    chosen, known = set(targets), len(_known)
    parts = [_line(name) for name in closure(chosen)]
    parts += [f"{path} {hashlib.sha256((_FOLDER / path).read_bytes()).hexdigest()}" for path in reads]
    lines = {target for target in chosen if ":" in target} | set(parts)
    if _kept is not None and len(_known) > known:
        with contextlib.suppress(PipelineError, OSError):  # no place to write: the next run parses them again
            files.write_text(_kept, json.dumps(_known))
    result = hashlib.sha256("\n".join(sorted(lines)).encode()).hexdigest()[:16]
    _parts[result] = {place: code[:12] for place, _, code in (line.rpartition(" ") for line in parts)}
    return result


def explained(pairs: Iterable[tuple[Collection[str], str]], path: Path) -> Counter[str]:
    """Which files make digests differ from earlier ones, and how many: those that were explained before, in ``path``.

    Parameters
    ----------
    pairs : iterable of (collection of str, str)
        Values of which one may be the earlier digest, and the digest of now; what is known of all the latter is kept.
    path : Path
        Where it is kept; a file that is absent or damaged counts as empty.

    Example
    -------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "digests.json"
    >>> explained([((), digest(["pipeline_lib.core.seeds"]))], path), path.exists()
    (Counter(), True)
    """
    kept: dict[str, dict[str, str]] = {}
    with contextlib.suppress(OSError, ValueError, TypeError):
        kept.update(json.loads(path.read_text(encoding="utf-8")))
    changed: Counter[str] = Counter()
    found = dict(kept)
    for earlier, now in pairs:
        new = _parts.get(now, {})
        for old in (kept[one] for one in earlier if one in kept and one != now):
            both = {place for place in old.keys() & new.keys() if old[place] != new[place]}
            changed.update({place.partition(" ")[0] for place in both or old.keys() ^ new.keys()})
        if new:
            found[now] = found.pop(now, new)
    if found.keys() != kept.keys():
        with contextlib.suppress(PipelineError, OSError):
            files.write_text(path, json.dumps(dict(list(found.items())[-MOST_KEPT:])))
    return changed


@cache
def digest_of_command(command: str, *targets: str, reads: tuple[str, ...] = ()) -> str:
    """The :func:`digest` of what a command of the package runs, of the targets that its arguments name, and files."""
    return digest(["pipeline_lib.__main__", f"pipeline_lib.commands.{command}", *targets], reads)


@cache
def _graph(package: str) -> grimp.ImportGraph:
    """Which module imports which; each also imports the package that contains it."""
    try:
        # A cache of grimp's would go by the times of files, and miss edits.
        graph = grimp.build_graph(package, exclude_type_checking_imports=True, cache_dir=None)
    except SourceSyntaxError as error:
        place = f"{error.filename}, line {error.lineno}"
        raise ConfigurationError(f"{place}: expected Python, found {error.text!r}; correct it") from error
    for module in graph.modules - {package}:
        graph.add_import(importer=module, imported=module.rpartition(".")[0])
    return graph


def _line(name: str) -> str:
    """What a digest contains of a module, or of ``module:function`` of a declaration."""
    module, _, function = name.partition(":")
    return f"{_source(module)[1]} {function} {_read(name)[0]}"


@cache
def _read(name: str) -> list[str]:
    """The digest of a module, or of ``module:function`` of a declaration and then what this function imports."""
    module, _, function = name.partition(":")
    content = _source(module)[0].read_bytes()
    key = hashlib.sha256(_code_of_digests() + f"{name}\n".encode() + content).hexdigest()
    if key not in _known:
        tree = ast.parse(content)
        used = _used_by(function, tree, module) if function else tree.body
        imported = set(_imports(used, module)) if function else ()
        _known[key] = [source_digest.digest(ast.Module(used, [])), *sorted(imported)]
    return _known[key]


@cache
def _source(module: str) -> tuple[Path, str]:
    """The file of a module, and its place in the folder of the package."""
    package, _, rest = module.partition(".")
    spec = importlib.util.find_spec(package)
    assert spec is not None
    assert spec.origin is not None
    root, stem = Path(spec.origin).parents[1], module.replace(".", "/")
    place = f"{stem}.py" if rest and (root / f"{stem}.py").is_file() else f"{stem}/__init__.py"
    return root / place, place


@cache
def _code_of_digests() -> bytes:
    return Path(__file__).read_bytes() + Path(source_digest.__file__).read_bytes()


def _used_by(function: str, tree: ast.Module, module: str) -> list[ast.stmt]:
    """The definitions and imports that a function of a declaration uses, in the order of the module.

    Statements that define nothing count always; so does what the call ``EXPERIMENT = Experiment(settings, ...)`` names
    first, because every job reads its settings.
    """
    defined: dict[str, ast.stmt] = {}
    wanted = [function]
    for node in tree.body:
        names = list(_defined_by(node))
        if names == ["EXPERIMENT"] and isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
            wanted += [one.id for one in node.value.args[:1] if isinstance(one, ast.Name)]
        defined |= dict.fromkeys(names, node)
        if not names:
            wanted += _names_in(node)
    if function not in defined:
        raise ConfigurationError(f"import closure: expected a function of {module}, found {function!r}")
    used: set[str] = set()
    while wanted:
        if (name := wanted.pop()) in defined and name not in used:
            used.add(name)
            wanted += _names_in(defined[name])
    kept: list[ast.stmt] = []
    for node in tree.body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            aliases = [alias for alias in node.names if (alias.asname or alias.name.partition(".")[0]) in used]
            kept += [type(node)(**{**vars(node), "names": aliases})] if aliases else []
        elif used.intersection(names := list(_defined_by(node))) or not names:
            kept.append(node)
    return kept


def _defined_by(node: ast.stmt) -> Iterator[str]:
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        yield node.name
    elif isinstance(node, ast.Import | ast.ImportFrom):
        yield from (alias.asname or alias.name.partition(".")[0] for alias in node.names)
    elif isinstance(node, ast.Assign | ast.AnnAssign):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        yield from (one.id for target in targets for one in ast.walk(target) if isinstance(one, ast.Name))


def _names_in(node: ast.AST) -> list[str]:
    return [one.id for one in ast.walk(node) if isinstance(one, ast.Name)]


def _imports(statements: list[ast.stmt], module: str) -> Iterator[str]:
    """What the statements of a module name in imports: modules, and objects as if they were modules."""
    for node in ast.walk(ast.Module(statements, [])):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = importlib.util.resolve_name("." * node.level + (node.module or ""), module.rpartition(".")[0])
            yield from (base, *(f"{base}.{alias.name}" for alias in node.names))
