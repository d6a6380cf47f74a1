"""Is a page of a paper an argument in fixed prose, which neither computes numbers nor chooses words by them?

The templates are read, not rendered: what a page says of a study must be said by its claims, tables and figures. Of
numbers in sentences, the filters see to it that they are cells of tables or values of claims.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest
from jinja2 import Environment, nodes

from pipeline_lib import papers
from pipeline_lib.report.page import environment

ARITHMETIC = (nodes.Sub, nodes.Mul, nodes.Div, nodes.FloorDiv, nodes.Mod, nodes.Pow, nodes.Neg)
TEMPLATES = sorted(path for name in papers.names() for path in papers.get(name).folder.rglob("*.md"))


def wrong(made: Environment, text: str) -> list[str]:
    """What a template does beside placing prose, claims, tables and figures, with its lines."""
    tree = made.parse(text)
    found = [
        (node.lineno, f"{type(node).__name__} chooses words")
        for node in tree.find_all((nodes.CondExpr, nodes.If))
        if isinstance(node, nodes.CondExpr) or not _asks_for_rows(node.test)
    ]
    found += [
        (node.lineno, "a loop chooses rows")
        for node in tree.find_all(nodes.For)
        if node.test is not None and not _asks_for_rows(node.test)
    ]
    found += [(node.lineno, f"{type(node).__name__} computes") for node in tree.find_all(ARITHMETIC)]
    found += [(node.lineno, "a count is computed") for node in tree.find_all(nodes.Filter) if node.name in COUNTING]
    found += [(node.lineno, "reads a status") for node in tree.find_all(nodes.Getattr) if node.attr == "status"]
    return [f"{line}: {words}" for line, words in sorted(found)]


COUNTING = ("length", "count", "sum", "round", "abs", "int", "float")


def _asks_for_rows(test: nodes.Node) -> bool:
    """Whether a condition is only about tables, rows or curves that are there, or not."""
    match test:
        case nodes.And(left=left, right=right) | nodes.Or(left=left, right=right):
            return _asks_for_rows(left) and _asks_for_rows(right)
        case nodes.Not(node=inner):
            return _asks_for_rows(inner)
        case nodes.Call(node=nodes.Name(name=name)):
            return name in ("has", "matching", "rows", "trials")
        case nodes.Call(node=nodes.Getattr(node=inner, attr="where")):
            return _asks_for_rows(inner)
        case nodes.Getattr(node=nodes.Name(), attr=attribute):
            return attribute in ("points", "first", "last")  # of curves, and of a loop
        case nodes.Name():
            return True
    return False


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: str(path.relative_to(Path(papers.__file__).parent)))
def test_a_page_is_an_argument_in_fixed_prose(path: Path) -> None:
    assert wrong(environment(path.parent), path.read_text(encoding="utf-8")) == []


def planted() -> Iterator[str]:
    yield "{% if claim('slam-thm2').status == 'verified' %}It holds.{% endif %}"
    yield "It {{ 'holds' if rows('t').max('x') < 1 else 'fails' }}."
    yield "{% if rows('t').max('x') > 1 %}It fails.{% endif %}"
    yield "Half of it is {{ rows('t').max('x') / 2 }}."
    yield "In {{ rows('t') | length }} cases."
    yield "{% for row in rows('t') if row.x > 1 %}One more.{% endfor %}"


@pytest.mark.parametrize("template", list(planted()))
def test_a_template_that_decides_or_computes_is_found(template: str, tmp_path: Path) -> None:
    assert wrong(environment(tmp_path), template)


def test_a_template_that_places_what_there_is_passes(tmp_path: Path) -> None:
    text = "{% if has('t') and rows('t').where(x=1) %}It is {{ rows('t') | at_least('x', 1) }}.{% endif %}"
    assert wrong(environment(tmp_path), text) == []
