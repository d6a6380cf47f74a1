"""Which arguments does a class take, and which values may they have, according to its source?

They are read from the syntax tree, because every start of the workflow needs them, and importing a module with compiled
code takes half a second.
"""

from __future__ import annotations

import ast
import importlib.util
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from pipeline_lib.errors import ConfigurationError, hint


@cache
def arguments(module: str, name: str) -> dict[str, tuple[Any, ...] | str | None]:
    """The arguments of the class ``name`` of ``module``: their allowed values, "int", "float", or None if unknown.

    An annotation is understood when it is ``int``, ``float`` or the name of a ``Literal``. The constructor may be
    inherited.

    Example
    -------
    >>> arguments("pipeline_lib.surrogates.slam", "SlamNDCGAt")
    {'k': 'int', 'margin': 'float'}
    """
    for home, node in _ancestry(module, name):
        for statement in node.body:
            if isinstance(statement, ast.FunctionDef) and statement.name == "__init__":
                taken = [*statement.args.posonlyargs, *statement.args.args, *statement.args.kwonlyargs][1:]
                return {argument.arg: _kind(home, argument.annotation) for argument in taken}
    return {}


def check(what: str, values: dict[str, Any], declared: dict[str, tuple[Any, ...] | str | None]) -> None:
    """Compare values for arguments with what is declared.

    Raises
    ------
    ConfigurationError
        When there is no argument of that name (the message gives the nearest one), or the value is of another kind.

    Example
    -------
    >>> check("ranksvm", {"margn": 1.0}, {"margin": "float"})
    Traceback (most recent call last):
    ...
    pipeline_lib.errors.ConfigurationError: unknown option of ranksvm 'margn'; did you mean 'margin'?
    """
    for name, value in values.items():
        if name not in declared:
            raise ConfigurationError(f"unknown option of {what} {name!r}; {hint(name, declared)}")
        kind = declared[name]
        number = isinstance(value, int) or (kind == "float" and isinstance(value, float))
        if kind in ("int", "float") and (isinstance(value, bool) or not number):
            expected = "a whole number" if kind == "int" else "a number"
            raise ConfigurationError(f"option {name} of {what}: expected {expected}, found {value!r}")
        if isinstance(kind, tuple) and value not in kind:
            raise ConfigurationError(f"option {name} of {what}: unknown value {value!r}; {hint(value, map(str, kind))}")


def _ancestry(module: str, name: str) -> Iterator[tuple[str, ast.ClassDef]]:
    # The class and its bases, in the order in which Python looks up a method, as far as they are in the package.
    home, node = _defined(module, name)
    if isinstance(node, ast.ClassDef):
        yield home, node
        for base in node.bases:
            if isinstance(base, ast.Name):
                yield from _ancestry(home, base.id)


def _kind(module: str, annotation: ast.expr | None) -> tuple[Any, ...] | str | None:
    if isinstance(annotation, ast.Name):
        if annotation.id in ("int", "float"):
            return annotation.id
        _, definition = _defined(module, annotation.id)
        value = definition.value if isinstance(definition, ast.Assign) else None
        if isinstance(value, ast.Subscript) and isinstance(value.value, ast.Name) and value.value.id == "Literal":
            every = ast.literal_eval(value.slice)
            return every if isinstance(every, tuple) else (every,)
    return None


def _defined(module: str, name: str) -> tuple[str, ast.stmt | None]:
    # The module that defines a name and the statement that does so, following imports from modules of the package.
    for statement in _statements(module):
        if isinstance(statement, ast.ClassDef) and statement.name == name:
            return module, statement
        if isinstance(statement, ast.Assign) and any(
            isinstance(t, ast.Name) and t.id == name for t in statement.targets
        ):
            return module, statement
        if isinstance(statement, ast.ImportFrom) and (statement.module or "").startswith("pipeline_lib"):
            for alias in statement.names:
                if (alias.asname or alias.name) == name:
                    return _defined(str(statement.module), alias.name)
    return module, None


@cache
def _statements(module: str) -> tuple[ast.stmt, ...]:
    spec = importlib.util.find_spec(module)
    if spec is None or spec.origin is None:
        raise ConfigurationError(f"expected a module, found {module!r}")
    return tuple(ast.parse(Path(spec.origin).read_text(encoding="utf-8")).body)
