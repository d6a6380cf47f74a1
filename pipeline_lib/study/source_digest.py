"""Do two texts of a module mean the same to Python?

The digest of a source text is that of its syntax tree, written in a form of our own: comments, docstrings, blank lines,
quotes, parentheses and line breaks leave no trace in it, whereas every name, constant, operator and ``assert`` does.
The form names only what a node has (``ast.dump`` differs between versions of Python, which add fields), so that one
text has one digest under all the versions of Python that the project supports.
"""

import ast
import hashlib
from collections.abc import Iterable

# Fields that do not change the meaning of a statement: whether a name is read or written follows from its place, u"" is
# "", and comments that declare types are comments.
_IGNORED = frozenset({"ctx", "kind", "type_comment", "type_ignores"})


def digest(source: str | ast.Module) -> str:
    """Give the digest of what a module's text, or its syntax tree, means.

    Every statement that is only a constant is left out, because it has no effect: a docstring, a string below a
    variable that describes it, ``...``; so is ``pass``. Code must therefore not read ``__doc__`` for anything but help
    texts.

    Raises
    ------
    SyntaxError
        When the text is not Python.

    Example
    -------
    >>> digest('def f(x):\\n    "Double."\\n    return 2 * x  # twice') == digest("def f(x): return (2*x)")
    True
    >>> digest("x = '# 1'") == digest("x = '# 2'")
    False
    """
    tree = ast.parse(source) if isinstance(source, str) else source
    return hashlib.sha256(_node_text(tree).encode("ascii")).hexdigest()


def _node_text(node: ast.AST) -> str:
    if isinstance(node, ast.Constant):
        return ascii(node.value)
    if isinstance(node, ast.JoinedStr):
        return f"JoinedStr([{','.join(map(_node_text, _merged(node.values)))}])"
    fields = ((name, getattr(node, name, None)) for name in node._fields if name not in _IGNORED)
    texts = ((name, _value_text(value)) for name, value in fields if value is not None)
    return f"{type(node).__name__}({','.join(f'{name}={text}' for name, text in texts if text != '[]')})"


def _value_text(value: object) -> str:
    if isinstance(value, ast.AST):
        return _node_text(value)
    if isinstance(value, list):
        # An item may be missing: {**x} has no key where {None: x} has one.
        items = ("" if item is None else _value_text(item) for item in value if not _does_nothing(item))
        return f"[{','.join(items)}]"
    return ascii(value)


def _does_nothing(item: object) -> bool:
    return isinstance(item, ast.Pass) or (isinstance(item, ast.Expr) and isinstance(item.value, ast.Constant))


def _merged(values: Iterable[ast.expr]) -> list[ast.expr]:
    """The pieces of an f-string with neighbouring texts in one: versions of Python cut them differently."""
    pieces: list[ast.expr] = []
    for value in values:
        last = pieces[-1] if pieces else None
        if isinstance(value, ast.Constant) and isinstance(last, ast.Constant):
            pieces[-1] = ast.Constant(f"{last.value!s}{value.value!s}")
        else:
            pieces.append(value)
    return [piece for piece in pieces if not (isinstance(piece, ast.Constant) and piece.value == "")]
