"""Which functions and classes may others use, and what do their docstrings say?

Public are the names that ``from pipeline_lib import ...`` offers (``pipeline_lib.__all__``) and the modules of its
packages. A module with an empty ``__all__`` is internal; otherwise its ``__all__`` counts, or every name without a
leading underscore that it defines.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib.util import find_spec
from itertools import pairwise
from types import ModuleType
from typing import Any

import pipeline_lib
from pipeline_lib.documentation import docstrings
from pipeline_lib.documentation.contents import Generated
from pipeline_lib.settings import Settings

TITLE = "Python"
SAME = "See the base class."
"""The docstring of a method that does what that of its base class says."""
ALSO = ("pipeline_lib.estimators",)
"""Modules that are public and not named in ``pipeline_lib.__all__``, because they need an extra."""
WIDTH = 100


def pages() -> list[Generated]:
    """The list of all modules, and a page for each."""
    found = {
        name: module for module in modules() if (name := short(module)) and (members(module) or _is_package(module))
    }
    link = _linker(found)
    each = [
        Generated(page_of(name), name, _page(name, module, link), letters=True, group=_group(name))
        for name, module in found.items()
    ]
    return [Generated("python", TITLE, _overview(found, link), letters=True), *each]


@cache
def modules() -> tuple[ModuleType, ...]:
    """All public modules, packages before their own."""
    offered = [getattr(pipeline_lib, name) for name in pipeline_lib.__all__]
    names = [one.__name__ if inspect.ismodule(one) else getattr(one, "__module__", None) for one in offered]
    return tuple(_modules(name for name in (*names, *ALSO) if name is not None))


def short(module: ModuleType) -> str:
    """The name of a module below the package."""
    return module.__name__.removeprefix("pipeline_lib.")


def page_of(name: str) -> str:
    """The name of a module's page."""
    return f"python-{name.replace('.', '-')}"


def _group(name: str) -> str:
    """The page of the package that a module belongs to."""
    package, dot, _ = name.rpartition(".")
    return page_of(package) if dot else ""


def members(module: ModuleType) -> dict[str, Any]:
    """The public functions and classes that a module itself defines, in the order of its source."""
    listed = getattr(module, "__all__", [name for name in vars(module) if not name.startswith("_")])
    own = {name: getattr(module, name) for name in listed}
    own = {name: thing for name, thing in own.items() if getattr(thing, "__module__", None) == module.__name__}
    return {name: thing for name, thing in own.items() if inspect.isfunction(thing) or inspect.isclass(thing)}


def methods(kind: type) -> dict[str, Any]:
    """The public methods and properties that a class itself documents."""
    if issubclass(kind, Settings):
        return {}  # the page of settings has its keys
    found = {name: thing for name, thing in vars(kind).items() if not name.startswith("_") and _documented(thing)}
    return {name: thing for name, thing in found.items() if docstrings.parsed(_doc(thing)).summary != SAME}


def constants(module: ModuleType) -> Iterator[tuple[str, str, str]]:
    """The public names with a docstring after their assignment: name, what is assigned, docstring."""
    listed = getattr(module, "__all__", None)
    body = ast.parse(inspect.getsource(module)).body
    for one, after in pairwise(body):
        if not (isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant)):
            continue
        targets = one.targets if isinstance(one, ast.Assign) else [one.target] if isinstance(one, ast.AnnAssign) else []
        for target in targets:
            name = ast.unparse(target)
            if not name.startswith("_") and (listed is None or name in listed):
                yield name, ast.unparse(one), str(after.value.value)


def _modules(names: Iterator[str]) -> Iterator[ModuleType]:
    for name in names:
        if name == "pipeline_lib.estimators" and find_spec("sklearn") is None:
            continue
        module = importlib.import_module(name)
        yield module
        for info in pkgutil.iter_modules(getattr(module, "__path__", [])):
            if not info.ispkg and not info.name.startswith("_"):
                yield importlib.import_module(f"{name}.{info.name}")


def _is_package(module: ModuleType) -> bool:
    return hasattr(module, "__path__")


def _overview(found: Mapping[str, ModuleType], link: Callable[[str], str]) -> str:
    """The page that lists all modules, package by package."""
    lines = [f"# {TITLE}", docstrings.markdown(pipeline_lib.__doc__, link)]
    groups: dict[str, list[str]] = {}
    for name in found:
        groups.setdefault(name.partition(".")[0], []).append(name)
    for group, names in groups.items():
        lines.append(f"## {group}")
        rows = [(f"[`{name}`]({page_of(name)}.md)", _summary(found[name].__doc__, link)) for name in names]
        lines.append(table(("module", "what it answers"), rows))
    return "\n\n".join(lines) + "\n"


def _page(name: str, module: ModuleType, link: Callable[[str], str]) -> str:
    """The page of one module."""
    lines = [f"# `{name}`", docstrings.markdown(module.__doc__, link)]
    public = members(module)
    if public:
        rows = [(f"[`{one}`](#{one})", _summary(thing.__doc__, link)) for one, thing in public.items()]
        lines.append(table(("name", "what it is"), rows))
    for one, thing in public.items():
        lines += [f"## `{one}` {{#{one}}}", *_described(one, thing, link)]
        if inspect.isclass(thing):
            for inner, method in methods(thing).items():
                lines += [f"### `{one}.{inner}` {{#{one}.{inner}}}", *_described(inner, method, link)]
    said = list(constants(module))
    if said:
        lines.append("## Constants and types {#constants}")
        lines += [text for one, value, doc in said for text in _constant(one, value, doc, link)]
    return "\n\n".join(lines) + "\n"


def _described(name: str, thing: Any, link: Callable[[str], str]) -> Iterator[str]:
    if written := signature(name, thing):
        yield f"```python\n{written}\n```"
    formula = vars(thing).get("formula") if inspect.isclass(thing) else None
    if isinstance(formula, str):
        yield f"$${formula}$$"
    yield docstrings.markdown(_doc(thing), link)


def _constant(name: str, value: str, doc: str, link: Callable[[str], str]) -> Iterator[str]:
    yield f"### `{name}` {{#{name}}}"
    if len(value) <= WIDTH:
        yield f"```python\n{value}\n```"
    yield docstrings.markdown(doc, link)


def signature(name: str, thing: Any) -> str:
    """How a function is called, with the types and defaults of its arguments; of a property, its type.

    Example
    -------
    >>> from pipeline_lib import learners
    >>> signature("load", learners.load)
    'load(path: str | os.PathLike[str]) -> Trained'
    """
    if _is_property(thing):
        returned = getattr(getattr(thing, "fget", None) or thing.func, "__annotations__", {}).get("return")
        return f"{name}: {returned}" if returned else ""
    if inspect.isclass(thing) and issubclass(thing, BaseException):
        return ""
    decorator = f"@{type(thing).__name__}\n" if isinstance(thing, classmethod | staticmethod) else ""
    found = inspect.signature(getattr(thing, "__func__", thing))
    parameters = [p for p in found.parameters.values() if p.name not in ("self", "cls")]
    returned = "" if inspect.isclass(thing) else found.return_annotation
    end = f") -> {returned}" if isinstance(returned, str) and returned else ")"
    each = list(_parameters(parameters))
    line = f"{name}({', '.join(each)}{end}"
    if len(line) > WIDTH:
        line = f"{name}(\n" + "".join(f"    {one},\n" for one in each) + end
    return decorator + line


def _parameters(parameters: Sequence[inspect.Parameter]) -> Iterator[str]:
    """The arguments as in a definition, with the star before those that must be named."""
    starred = any(p.kind is p.VAR_POSITIONAL for p in parameters)
    for p in parameters:
        if p.kind is p.KEYWORD_ONLY and not starred:
            starred = True
            yield "*"
        written = str(p)  # annotations are strings, which are shown without quotes
        if isinstance(p.annotation, str):
            written = written.replace(repr(p.annotation), p.annotation, 1)
        yield written


def table(head: tuple[str, ...], rows: Iterable[Sequence[str]]) -> str:
    """A table in Markdown, whose cells are Markdown of one line.

    Example
    -------
    >>> print(table(("a", "b"), [("1", "x | y")]))
    | a | b |
    |---|---|
    | 1 | x \\| y |
    """
    lines = [head, ("---",) * len(head), *rows]
    cells = ([cell if cell == "---" else f" {_cell(cell)} " for cell in line] for line in lines)
    return "\n".join(f"|{'|'.join(line)}|" for line in cells)


def _cell(words: str) -> str:
    return re.sub(r"(?<!\\)\|", r"\\|", " ".join(words.split()))


def _summary(doc: str | None, link: Callable[[str], str]) -> str:
    return docstrings.prose(docstrings.parsed(doc).summary, link)


def _documented(thing: Any) -> bool:
    return bool(_doc(thing)) and (inspect.isfunction(thing) or hasattr(thing, "__func__") or _is_property(thing))


def _is_property(thing: Any) -> bool:
    return isinstance(thing, property) or type(thing).__name__ == "cached_property"


def _doc(thing: Any) -> str | None:
    return inspect.getdoc(thing.__func__ if isinstance(thing, classmethod | staticmethod) else thing)


def _linker(found: Mapping[str, ModuleType]) -> Callable[[str], str]:
    """What gives a name that a docstring refers to as a link to its page, or as code where it has none."""
    places: dict[str, str] = {}
    for name, module in found.items():
        page = f"{page_of(name)}.md"
        places |= {f"pipeline_lib.{name}": page, name: page}
        for one in [*members(module), *(constant for constant, *_ in constants(module))]:
            places |= {f"pipeline_lib.{name}.{one}": f"{page}#{one}", f"{name}.{one}": f"{page}#{one}"}

    def link(name: str) -> str:
        place = places.get(name.strip())
        words = name.removeprefix("pipeline_lib.")
        return f"[`{words}`]({place})" if place else f"`{words}`"

    return link
