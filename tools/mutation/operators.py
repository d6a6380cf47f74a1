"""Which small errors can be made in a module? Each changes one token, or drops one term."""

from __future__ import annotations

import ast
import bisect
import re
from collections.abc import Iterator
from typing import NamedTuple

ARITHMETIC = {
    ast.Add: ("+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: ("*", "/"),
    ast.Div: ("/", "*"),
    ast.FloorDiv: ("//", "/"),
    ast.Mod: ("%", "//"),
    ast.Pow: ("**", "*"),
}
COMPARISONS = {
    ast.Lt: ("<", ("<=", ">")),
    ast.LtE: ("<=", ("<", ">=")),
    ast.Gt: (">", (">=", "<")),
    ast.GtE: (">=", (">", "<=")),
    ast.Eq: ("==", ("!=",)),
    ast.NotEq: ("!=", ("==",)),
}
CALLS = [("min", "max"), ("minimum", "maximum"), ("floor", "ceil"), ("any", "all"), ("argmin", "argmax")]
EXCHANGED = dict(CALLS) | {other: one for one, other in CALLS}
REMOVED = {"sqrt", "abs", "log1p", "expm1"}
LOGS = {"log", "logger", "logging", "warnings", "counted"}
NO_ARITHMETIC = {"strict", "copy", "kind"}
"""Arguments by which arrays are handled and sequences checked; no number depends on them."""


class Mutant(NamedTuple):
    """An error in one place of a module: ``before`` at this place becomes ``after``."""

    module: str
    line: int
    column: int
    operator: str
    before: str
    after: str
    text: str
    """The line, without the spaces around it."""

    @property
    def place(self) -> tuple[str, ...]:
        """What stays the same when other lines of the module change."""
        return (self.module, self.text, str(self.column), self.before, self.after)

    def applied(self, source: str) -> str:
        """The source with the error; ValueError where the place holds something else."""
        at = _Positions(source).index(self.line, self.column)
        if not source.startswith(self.before, at):
            raise ValueError(f"{self.module}:{self.line}: expected {self.before!r}, found another text")
        return source[:at] + self.after + source[at + len(self.before) :]


class _Positions:
    """Where lines begin: a place is counted from the first character of its line that is no space."""

    def __init__(self, source: str) -> None:
        self.lines = source.splitlines(keepends=True)
        self.starts = [0]
        for line in self.lines:
            self.starts.append(self.starts[-1] + len(line))

    def indentation(self, line: int) -> int:
        text = self.lines[line - 1]
        return len(text) - len(text.lstrip())

    def index(self, line: int, column: int) -> int:
        return self.starts[line - 1] + self.indentation(line) + column

    def of_node(self, line: int, offset: int) -> int:
        """The place of a node, whose offset counts bytes."""
        return self.starts[line - 1] + len(self.lines[line - 1].encode()[:offset].decode())

    def mutant(self, module: str, at: int, operator: str, before: str, after: str) -> Mutant:
        line = bisect.bisect_right(self.starts, at)
        column = at - self.index(line, 0)
        return Mutant(module, line, column, operator, before, after, self.lines[line - 1].strip())


def mutants(module: str, source: str) -> list[Mutant]:
    """All mutants of a module, in the order of their places."""
    places = _Positions(source)
    edits = sorted(set(_Edits(source, places).of(ast.parse(source))))
    return [places.mutant(module, *edit) for edit in edits]


Edit = tuple[int, str, str, str]


class _Edits:
    """The edits of a source: place, operator, text before, text after."""

    def __init__(self, source: str, places: _Positions) -> None:
        self.source, self.places = source, places

    def start(self, node: ast.expr | ast.stmt) -> int:
        return self.places.of_node(node.lineno, node.col_offset)

    def end(self, node: ast.expr | ast.stmt) -> int:
        return self.places.of_node(node.end_lineno or 0, node.end_col_offset or 0)

    def of(self, node: ast.AST) -> Iterator[Edit]:
        """The edits of a node and of what is in it, but for what computes nothing."""
        if isinstance(node, ast.Raise | ast.Assert | ast.JoinedStr) or _is_left_out(node):
            return
        yield from self._own(node)
        for name, value in ast.iter_fields(node):
            if name in ("annotation", "returns", "decorator_list", "type_params", "bases"):
                continue
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST):
                    yield from self.of(child)

    def _own(self, node: ast.AST) -> Iterator[Edit]:
        if isinstance(node, ast.BinOp) and type(node.op) in ARITHMETIC:
            yield from self._arithmetic(node)
        elif isinstance(node, ast.AugAssign) and type(node.op) in ARITHMETIC:
            before, after = ARITHMETIC[type(node.op)]
            at = self.source.index(f"{before}=", self.end(node.target))
            yield at, "arithmetic", f"{before}=", f"{after}="
        elif isinstance(node, ast.Compare):
            for left, op, right in zip([node.left, *node.comparators], node.ops, node.comparators, strict=False):
                if type(op) in COMPARISONS:
                    before, others = COMPARISONS[type(op)]
                    at = self._token(before, left, right)
                    for after in others:
                        yield at, "boundary" if {before, after} != {"<", ">"} else "comparison", before, after
        elif isinstance(node, ast.BoolOp):
            before, after = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
            for left, right in zip(node.values, node.values[1:], strict=False):
                yield self._token(before, left, right), "logic", before, after
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not | ast.USub):
            at = self.start(node)
            yield (at, "not dropped", "not ", "") if isinstance(node.op, ast.Not) else (at, "sign", "-", "")
        elif isinstance(node, ast.IfExp | ast.If):
            before = self.source[self.start(node.test) : self.end(node.test)]
            yield self.start(node.test), "negated", before, f"not ({before})"
        elif isinstance(node, ast.Constant):
            yield from self._constant(node)
        elif isinstance(node, ast.Call):
            yield from self._call(node)
        elif isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Name) and len(node.slice.id) == 1:
            yield self.start(node.slice), "index", node.slice.id, f"{node.slice.id} - 1"
            yield self.start(node.slice), "index", node.slice.id, f"{node.slice.id} + 1"

    def _token(self, token: str, left: ast.expr, right: ast.expr) -> int:
        """Where an operator stands between its operands, which may be in brackets."""
        between = self.source[self.end(left) : self.start(right)]
        found = re.search(rf"(?<![*/<>=!]){re.escape(token)}(?![*/=])", re.sub(r"#.*", _blank, between))
        assert found, between
        return self.end(left) + found.start()

    def _arithmetic(self, node: ast.BinOp) -> Iterator[Edit]:
        before, after = ARITHMETIC[type(node.op)]
        at = self._token(before, node.left, node.right)
        yield at, "arithmetic", before, after
        if isinstance(node.op, ast.Add | ast.Sub | ast.Mult | ast.Div | ast.Pow):
            yield at, "term dropped", self.source[at : self.end(node)], ""
        if isinstance(node.op, ast.Add | ast.Mult):
            yield self.start(node), "term dropped", self.source[self.start(node) : at + len(before)], ""

    def _constant(self, node: ast.Constant) -> Iterator[Edit]:
        at, before, value = self.start(node), self.source[self.start(node) : self.end(node)], node.value
        if isinstance(value, bool):
            yield at, "constant", before, str(not value)
        elif isinstance(value, int | float):
            for other in dict.fromkeys([2 * value, value + 1, type(value)(0)]):
                if other != value:
                    yield at, "constant", before, repr(other)

    def _call(self, node: ast.Call) -> Iterator[Edit]:
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        at = self.end(node.func) - len(name)
        if name in EXCHANGED:
            yield at, "function", name, EXCHANGED[name]
        if name in REMOVED:
            yield self.start(node.func), "function", self.source[self.start(node.func) : self.end(node.func)], ""


def _blank(found: re.Match[str]) -> str:
    return " " * len(found[0])


def _is_left_out(node: ast.AST) -> bool:
    """Whether a node logs, lists names, joins texts, or is for type checkers."""
    if isinstance(node, ast.Assign):
        return any(getattr(target, "id", "") == "__all__" for target in node.targets)
    if isinstance(node, ast.If):
        return getattr(node.test, "id", "") == "TYPE_CHECKING"
    if isinstance(node, ast.keyword):
        return node.arg in NO_ARITHMETIC
    if isinstance(node, ast.BinOp):
        return any(isinstance(getattr(part, "value", None), str) for part in (node.left, node.right))
    if isinstance(node, ast.Call):
        root = node.func
        while isinstance(root, ast.Attribute | ast.Call):
            root = root.value if isinstance(root, ast.Attribute) else root.func
        return getattr(root, "id", "").strip("_").lower() in LOGS
    return False
