"""Does a page say nothing of a consistent claim that it says of a refuted one, and not of a verified one?

A sentence of failure is false where nothing contradicted the claim. The templates are read, not rendered: of every
branch on statuses, the test works out which alternative each status leads to, whatever else the branch depends on.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from pathlib import Path

import pytest
from jinja2 import nodes

from pipeline_lib import papers
from pipeline_lib.claims.words import STATUSES
from pipeline_lib.report.page import environment

Statuses = Mapping[str, str]
Place = tuple[str, int]


def wrong(path: Path) -> list[Place]:
    """Branches in which a consistent and a refuted claim lead to the same text, and a verified one to another."""
    tree = environment(path.parent).parse(path.read_text(encoding="utf-8"))
    found = [
        (path.name, node.lineno)
        for node in tree.find_all(nodes.Assign)
        if any(_claims(node.node))  # the branches on the variable would not be seen
    ]
    for node in tree.find_all((nodes.If, nodes.CondExpr)):
        names = sorted(set(_claims(node)))
        if names and any(
            _misleads(node, name, dict.fromkeys(names, given)) for name in names for given in ("verified", "refuted")
        ):
            found.append((path.name, node.lineno))
    return found


def _misleads(node: nodes.If | nodes.CondExpr, name: str, others: Statuses) -> bool:
    """Whether the claim ``name`` leads there; the other claims have the given statuses."""
    unknown = sorted({ast for test in _tests(node) for ast in _unknown(test)})
    for values in product((True, False), repeat=len(unknown)):
        known = dict(zip(unknown, values, strict=True))
        verified, consistent, refuted = (
            _alternative(node, {**others, name: status}, known) for status in ("verified", "consistent", "refuted")
        )
        if consistent and consistent == refuted != verified:
            return True
    return False


def idle(path: Path) -> list[Place]:
    """Branches on the status of a claim that lead to the same text whatever the status is."""
    tree = environment(path.parent).parse(path.read_text(encoding="utf-8"))
    return [
        (path.name, node.lineno)
        for node in tree.find_all((nodes.If, nodes.CondExpr))
        if any(not _matters(node, name) for name in set(_claims(node)))
    ]


def _matters(node: nodes.If | nodes.CondExpr, name: str) -> bool:
    """Whether the text depends on the status of a claim, for some statuses of the others."""
    unknown = sorted({ast for test in _tests(node) for ast in _unknown(test)})
    cases = product(STATUSES, *[(True, False)] * len(unknown))
    return any(
        len({_alternative(node, {**dict.fromkeys(_claims(node), given), name: one}, known) for one in STATUSES}) > 1
        for given, *values in cases
        for known in [dict(zip(unknown, values, strict=True))]
    )


def _tests(node: nodes.If | nodes.CondExpr) -> list[nodes.Node]:
    return [node.test, *(one.test for one in node.elif_)] if isinstance(node, nodes.If) else [node.test]


def _alternative(node: nodes.If | nodes.CondExpr, statuses: Statuses, known: Mapping[str, bool]) -> str:
    """What is rendered, as source; nothing where no branch is taken."""
    if isinstance(node, nodes.CondExpr):
        chosen = node.expr1 if _true(node.test, statuses, known) else node.expr2
        return repr(chosen) if chosen else ""
    for one in (node, *node.elif_):
        if _true(one.test, statuses, known):
            return repr(one.body)
    return repr(node.else_) if node.else_ else ""


def _true(test: nodes.Node, statuses: Statuses, known: Mapping[str, bool]) -> bool:
    match test:
        case nodes.And(left=left, right=right):
            return _true(left, statuses, known) and _true(right, statuses, known)
        case nodes.Or(left=left, right=right):
            return _true(left, statuses, known) or _true(right, statuses, known)
        case nodes.Not(node=inner):
            return not _true(inner, statuses, known)
        case nodes.Compare(expr=expr, ops=ops) if any(_claims(test)):
            values = [_value(one, statuses) for one in (expr, *(op.expr for op in ops))]
            return all(
                {"eq": left == right, "ne": left != right, "in": left in right, "notin": left not in right}[op.op]
                for left, op, right in zip(values, ops, values[1:], strict=False)
            )
    return known[repr(test)]


def _value(node: nodes.Node, statuses: Statuses) -> str | list[str]:
    match node:
        case nodes.Const(value=value):
            return str(value)
        case nodes.List(items=items) | nodes.Tuple(items=items):
            return [str(_value(one, statuses)) for one in items]
    [name] = _claims(node)
    return statuses[name]


def _unknown(test: nodes.Node) -> Iterator[str]:
    """The conditions in a test that do not depend on statuses."""
    if isinstance(test, nodes.And | nodes.Or):
        yield from (*_unknown(test.left), *_unknown(test.right))
    elif isinstance(test, nodes.Not):
        yield from _unknown(test.node)
    elif not any(_claims(test)):
        yield repr(test)


def _claims(node: nodes.Node) -> Iterator[str]:
    """The claims whose statuses the tests of a node read."""
    tests = _tests(node) if isinstance(node, nodes.If | nodes.CondExpr) else [node]
    for test in tests:
        for one in (test, *test.find_all(nodes.Getattr)):
            match one:
                case nodes.Getattr(
                    node=nodes.Call(node=nodes.Name(name="claim"), args=[nodes.Const(value=name)]), attr="status"
                ):
                    yield name


TEMPLATES = sorted(path for name in papers.names() for path in papers.get(name).folder.rglob("*.md"))


@pytest.mark.parametrize(
    "path", TEMPLATES, ids=lambda path: f"{path.relative_to(papers.get(papers.names()[0]).folder.parent)}"
)
def test_a_page_says_of_a_claim_what_its_status_says(path: Path) -> None:
    assert wrong(path) == []
    assert idle(path) == []
