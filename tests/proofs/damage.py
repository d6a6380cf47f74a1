"""Every small damage to a certificate, one at a time, and whether what is left still says something true."""

import ast
import copy
import math
import random
import re
import tomllib
from collections import defaultdict
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import accumulate, combinations, permutations, product
from typing import Any

from pipeline_lib.proofs.checker import Implication, defined, frozen, functions

OTHER = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.Div: ast.Mult,
    ast.Pow: ast.Mult,
    ast.FloorDiv: ast.Mult,
}
RELATION = {ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq}


def damaged(source: str) -> Iterator[tuple[str, str]]:
    """All damages to a certificate: which kind of damage to which function or field, and the damaged text."""
    content = tomllib.loads(source)
    for field in ("definitions", "proof"):
        for which, text in _texts(content.get(field, "")):
            yield f"{field} {which}", written(content | {field: text})
    for k, tree in enumerate(content.get("splits", [])):
        for wrong in {tree[:-1], tree + ".", "." if tree != "." else "0.."}:
            yield (
                f"splits {k}",
                written(content | {"splits": [*content["splits"][:k], wrong, *content["splits"][k + 1 :]]}),
            )
    if "splits" in content:
        yield "splits", written(content | {"splits": content["splits"][1:]})
    for change in (-1, 1):
        yield f"cases {change:+}", written(content | {"cases": content["cases"] + change})
    if content["covers"] == "sizes":
        for found in re.finditer(r"\d+", content["sizes"]):
            said = content["sizes"][: found.start()] + str(int(found[0]) + 1) + content["sizes"][found.end() :]
            yield f"sizes {found.start()}", written(content | {"sizes": said})
    for claims in ([], content["claims"] * 2, content["claims"][0], [content["claims"][0] + "!"]):
        yield f"claims {claims}", written(content | {"claims": claims})


def one_of_each_kind(source: str) -> Iterator[tuple[str, str]]:
    """The damage in the middle of every kind in every function: for certificates whose cases take long to check."""
    kinds = defaultdict(list)
    for which, text in damaged(source):
        kinds[which].append(text)
    yield from ((which, texts[len(texts) // 2]) for which, texts in kinds.items())


def written(content: dict[str, Any]) -> str:
    """A certificate as text."""

    def value(one: Any) -> str:
        if isinstance(one, list):
            return f"[{', '.join(map(value, one))}]"
        if isinstance(one, dict):
            return "{" + ", ".join(f"{key} = {value(entry)}" for key, entry in one.items()) + "}"
        return (
            str(one)
            if isinstance(one, int)
            else '"' + one.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'
        )

    return "\n".join(f"{key} = {value(one)}" for key, one in content.items())


def wrong_neighbours(source: str) -> Iterator[str]:
    """Certificates that state the neighbours of a certificate, with its proof."""
    content = tomllib.loads(source)
    for neighbour in content["neighbours"]:
        nodes = [*ast.parse(content["definitions"].strip()).body, *ast.parse(neighbour["definitions"].strip()).body]
        each = {node.name if isinstance(node, ast.FunctionDef) else node.targets[0].id: node for node in nodes}  # type: ignore[attr-defined]
        yield written(content | {"definitions": "\n".join(map(ast.unparse, each.values()))})


def _texts(source: str) -> Iterator[tuple[str, str]]:
    tree = ast.parse(source.strip())
    for number, function in enumerate(tree.body):
        name = function.name if isinstance(function, ast.FunctionDef) else ast.unparse(function).partition(" ")[0]
        for place, node in enumerate(ast.walk(function)):
            for kind, change in _changes(node):
                other = copy.deepcopy(tree)
                change([*ast.walk(other.body[number])][place])
                yield f"{name}: {kind}", ast.unparse(other)


def _changes(node: ast.AST) -> Iterator[tuple[str, Callable[[Any], None]]]:
    """The ways to damage one part: their kinds, and functions that change it."""
    if isinstance(node, ast.Constant) and type(node.value) is int:
        for step in (1, -1):
            yield f"number {step:+}", lambda one, step=step: setattr(one, "value", one.value + step)
    elif isinstance(node, ast.Constant) and type(node.value) is bool:
        yield "truth", lambda one: setattr(one, "value", not one.value)
    elif isinstance(node, ast.BinOp) and type(node.op) in OTHER:
        yield type(node.op).__name__, lambda one: setattr(one, "op", OTHER[type(one.op)]())
    elif isinstance(node, ast.Compare) and type(node.ops[0]) in RELATION:
        yield (
            type(node.ops[0]).__name__,
            lambda one: setattr(one, "ops", [RELATION[type(one.ops[0])](), *one.ops[1:]]),
        )
    elif isinstance(node, ast.BoolOp):
        yield "and, or", lambda one: setattr(one, "op", ast.Or() if isinstance(one.op, ast.And) else ast.And())
        yield "condition", lambda one: setattr(one, "values", one.values[1:])
    elif isinstance(node, ast.List | ast.Tuple) and isinstance(node.ctx, ast.Load):
        for k in range(len(node.elts)):
            yield "entry", lambda one, k=k: setattr(one, "elts", one.elts[:k] + one.elts[k + 1 :])
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        yield "sign", lambda one: setattr(one, "op", ast.UAdd())
    elif isinstance(node, ast.comprehension) and node.ifs:
        yield "condition", lambda one: setattr(one, "ifs", one.ifs[1:])


def states_the_same(source: str, other: str) -> bool:
    """Whether two combinations state the same for the same cases, however it is written and proved."""
    return _stated(source) == _stated(other)


def _stated(source: str) -> Any:
    content = tomllib.loads(source)
    statement = defined(functions(content["definitions"]))
    fields = [content[field] for field in ("claims", "kind", "covers", "sizes", "says")]
    cases = frozen(statement["cases"]())
    if content["kind"] != "combination":
        return None
    found = [Implication.stated(statement, case) for case in cases]
    lists = [
        (
            *([one.terms for one in some] for some in (each.hypotheses, each.positive, each.equations)),
            each.conclusion.terms,
        )
        for each in found
    ]
    return fields, cases, lists, [each.identity for each in found]


def is_true(source: str, points: int = 200) -> bool:
    """Whether plain Python finds no case, and no random point at which all assumptions hold, where a statement fails.

    It shares nothing with the checker: numbers take the place of symbols, and floats that of enclosures.
    """
    content = tomllib.loads(source)
    names: dict[str, Any] = dict(PLAIN)
    tree = _Fractions().visit(ast.parse(content["definitions"].strip()))
    exec(compile(ast.fix_missing_locations(tree), "<certificate>", "exec"), names)
    rng = random.Random(1)
    for case in names["cases"]():
        if content["kind"] == "enumeration":
            if not names["holds"](*case):
                return False
        elif content["kind"] == "enclosure":
            sides = names["sides"](*case) if "sides" in names else []
            for _ in range(points if sides else 1):
                if names["value"](*case, [low + (high - low) * rng.random() for low, high in sides]) <= -1e-9:
                    return False
        elif any(_fails(names, case, _point(rng, names["unknowns"](*case))) for _ in range(points)):
            return False
    return True


def _point(rng: random.Random, number: int) -> list[Fraction]:
    return [Fraction(rng.choice((-2, -1, 0, 1, 1, 2, 3, 5)), rng.choice((1, 1, 1, 2, 3))) for _ in range(number)]


def _fails(names: dict[str, Any], case: Any, x: list[Fraction]) -> bool:
    def called(name: str) -> list[Any]:
        return list(names[name](*case, x)) if name in names else []

    given = [value >= 0 for value in called("hypotheses")] + [value > 0 for value in called("positive")]
    if not all([*given, *(value == 0 for value in called("equations"))]):
        return False
    said = names["conclusion"](*case, x)
    return bool(said[0] != said[1]) if isinstance(said, tuple) else bool(said < 0)


class _Fractions(ast.NodeTransformer):
    """Every whole number as a fraction where it is divided."""

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.op, ast.Div):
            return ast.Call(ast.Name("quotient", ast.Load()), [node.left, node.right], [])
        return node


def _quotient(a: Any, b: Any) -> Any:
    return Fraction(a) / b if isinstance(a, int) and isinstance(b, int | Fraction) else a / b


def _listed(function: Callable[..., Any]) -> Callable[..., list[Any]]:
    return lambda *arguments: list(function(*arguments))


PLAIN = {
    "quotient": _quotient,
    "Fraction": Fraction,
    **{one.__name__: _listed(one) for one in (accumulate, combinations, permutations, product)},
    **{one.__name__: one for one in (math.exp, math.log, math.sqrt)},
}
