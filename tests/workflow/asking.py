"""Which tests ask for something, themselves or through the fixtures, helpers and constants of their own files?"""

import ast
import re
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]


def those_that_ask(asks: re.Pattern[str]) -> tuple[list[str], list[str]]:
    """The tests that ask when they run, and those of which only parameters are answers, as ``path::function``.

    Those of the workflow are left out: they take minutes.
    """
    running, with_parameters = [], []
    for path in sorted({*(ROOT / "tests").rglob("test_*.py")} - {*Path(__file__).parent.iterdir()}):
        known = _defined(path.with_name("conftest.py")) | _defined(path)
        for name in (name for name in known if name.startswith("test_")):
            test = f"{path.relative_to(ROOT).as_posix()}::{name}"
            if any(asks.search(_source(part)) for part in _reached(name, known)):
                running.append(test)
            elif any(asks.search(_source(part)) for part in _reached(name, known, parameters=True)):
                with_parameters.append(test)
    return running, with_parameters


@cache
def _defined(path: Path) -> dict[str, ast.stmt]:
    """What a file defines at its top, by name; nothing if there is no such file."""
    found: dict[str, ast.stmt] = {}
    for node in ast.parse(path.read_text(encoding="utf-8")).body if path.is_file() else []:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found[node.name] = node
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            found |= {one.id: node for target in targets for one in ast.walk(target) if isinstance(one, ast.Name)}
    return found


def _reached(name: str, known: dict[str, ast.stmt], *, parameters: bool = False) -> list[ast.AST]:
    """The definition of a name and of all that it uses of what is known.

    Without the parameters of tests and fixtures, which are read when the tests are collected.
    """
    found, parts, waiting = set(), [], [name]
    while waiting:
        if (one := waiting.pop()) in found or one not in known:
            continue
        found.add(one)
        node = known[one]
        own: list[ast.AST] = [node]
        if isinstance(node, ast.FunctionDef) and not parameters:
            own = [*(one for one in node.decorator_list if not _has_parameters(one, known)), node.args, *node.body]
        parts += own
        inner = [each for part in own for each in ast.walk(part)]
        waiting += [each.id for each in inner if isinstance(each, ast.Name)]
        waiting += [each.arg for each in inner if isinstance(each, ast.arg)]
    return parts


def _has_parameters(decorator: ast.expr, known: dict[str, ast.stmt]) -> bool:
    named = isinstance(decorator, ast.Name) and isinstance(known.get(decorator.id), ast.Assign)
    made = known[decorator.id].value if named else decorator
    return _source(made).startswith(("pytest.mark.parametrize", "pytest.fixture"))


@cache
def _source(node: ast.AST) -> str:
    return ast.unparse(node)
