"""Do two texts of a module mean the same to Python?

The digest of a source text is that of its syntax tree: comments, docstrings, blank lines, quotes, parentheses and line
breaks leave no trace in it, whereas every name, constant, operator and ``assert`` does.
"""

import ast
import hashlib


def digest(source: str | ast.Module) -> str:
    """Give the digest of what a module's text, or its syntax tree, means to this version of Python.

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
    return hashlib.sha256(ast.dump(_WithoutEffect().visit(tree)).encode("utf-8", "surrogatepass")).hexdigest()


class _WithoutEffect(ast.NodeTransformer):
    """Removes the statements that do nothing."""

    def visit_Expr(self, node: ast.Expr) -> ast.AST | None:
        return None if isinstance(node.value, ast.Constant) else self.generic_visit(node)

    def visit_Pass(self, node: ast.Pass) -> None:
        return None
