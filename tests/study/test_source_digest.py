"""The digest of a module must change with everything that runs and with nothing else."""

import ast
import random
import textwrap
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline_lib.study.source_digest import digest

ROOT = Path(__file__).parents[2]

SAME = {
    "comment": ("x = 1", "# one\nx = 1  # two\n"),
    "blank lines": ("x = 1\ny = 2", "\n\nx = 1\n\n\ny = 2\n"),
    "docstring of the module": ("x = 1", '"""What is x?"""\nx = 1'),
    "docstring of a function": ("def f():\n    return 1", 'def f():\n    """One."""\n    return 1'),
    "docstring alone in a function": ("def f():\n    pass", 'def f():\n    """Nothing."""'),
    "text below a variable": ("x = 1\ny = 2", 'x = 1\n"""One."""\ny = 2'),
    "text in a branch": ("if True:\n    pass", 'if True: "text"'),
    "ellipsis": ("class A:\n    ...", "class A:\n    pass"),
    "needless pass": ("def f():\n    return 1", 'def f():\n    "Doc."\n    pass\n    return 1'),
    "parentheses and lines": ("x = f(1, [2, 3])", "x = (f(\n    1,  # one\n    [\n        2,\n        3,\n    ],\n))"),
    "adjacent texts": ("x = 'ab'", "x = (\n    'a'\n    'b'\n)"),
    "adjacent texts with values": ("x = f'a{y}bc'", "x = ('a' f'{y}b' 'c')"),
    "numbers": ("x = 1000 + 0.001", "x = 1_000 + 1e-3"),
    "line endings": ("x = 1\ny = 2\n", "x = 1\r\ny = 2\r\n"),
}
DIFFERENT = {
    "constant": ("x = 1", "x = 2"),
    "kind of number": ("x = 1", "x = 1.0"),
    "number and text": ("x = 1", "x = '1'"),
    "bytes and text": ("x = b'a'", "x = 'a'"),
    "name": ("x = 1", "y = 1"),
    "default": ("def f(a=1): return a", "def f(a=2): return a"),
    "default of None": ("def f(*, a): return a", "def f(*, a=None): return a"),
    "key of None": ("x = {**y}", "x = {None: y}"),
    "return of None is written": ("def f(): return 1", "def f(): return None"),
    "assertion": ("assert x", "x"),
    "no assertion": ("assert x", ""),
    "# in a text": ("x = '# 1'", "x = '# 2'"),
    "format of a value": ("x = f'{y:.2f}'", "x = f'{y:.3f}'"),
    "conversion of a value": ("x = f'{y}'", "x = f'{y!r}'"),
    "braces in a text": ("x = f'{y}'", "x = '{y}'"),
    "level of an import": ("from .a import b", "from ..a import b"),
    "f-string that is a statement": ("f'{g()}'", ""),
    "kind of argument": ("def f(a, /): return a", "def f(a): return a"),
}


@pytest.mark.parametrize("name", [*SAME, *DIFFERENT])
def test_what_runs_counts_and_nothing_else(name: str) -> None:
    one, other = (SAME | DIFFERENT)[name]
    assert (digest(one) == digest(other)) is (name in SAME)


PIECES = [one for pair in (*SAME.values(), *DIFFERENT.values()) for one in pair]
SAFE = st.text(st.characters(codec="utf-8", exclude_characters='\r\n"\\\0\f'), max_size=20)


@given(pieces=st.lists(st.sampled_from(PIECES), max_size=6), comment=SAFE, doc=SAFE, seed=st.integers(0, 99))
def test_comments_docstrings_and_formatting_anywhere_change_nothing(
    pieces: list[str], comment: str, doc: str, seed: int
) -> None:
    body = "\n".join(["y = 0", *(piece.replace("\r\n", "\n") for piece in pieces)])
    plain = f"class A:\n{textwrap.indent(body, '    ')}\n"
    rng = random.Random(seed)
    edited = [f'"""{doc} """', ""]
    inner = ast.parse(body).body
    for statement in inner:
        edited += [f"# {comment}"] * rng.randrange(2) + [""] * rng.randrange(3)
        edited += [f'"""{doc} """'] * rng.randrange(2) + [ast.unparse(statement)]
    assert digest(f"# {comment}\nclass A:\n{textwrap.indent(chr(10).join(edited), '  ')}") == digest(plain)


@pytest.fixture(scope="module")
def trees() -> dict[str, ast.Module]:
    """The syntax tree of every module of the package."""
    paths = sorted((ROOT / "pipeline_lib").rglob("*.py"))
    return {str(path.relative_to(ROOT)): ast.parse(path.read_text(encoding="utf-8")) for path in paths}


def test_docstrings_are_read_for_help_only(trees: dict[str, ast.Module]) -> None:
    # A docstring that decided a result could change without a rerun.
    names = ("__doc__", "getdoc", "getsource", "get_docstring")
    readers = {
        path
        for path, tree in trees.items()
        for node in ast.walk(tree)
        if (isinstance(node, ast.Attribute) and node.attr in names) or (isinstance(node, ast.Name) and node.id in names)
    }
    # Help texts, the comments of config.yaml, and a class of settings that takes over the docstring of another.
    assert readers == {
        "pipeline_lib/cli.py",
        "pipeline_lib/study/configuration_text.py",
        "pipeline_lib/learners/learner.py",
    }
