"""Does every paper's page show every claim of the paper once, whatever the claims' statuses are?

The templates are read, not rendered: what a template shows must not depend on what came out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from jinja2 import nodes

from pipeline_lib import papers
from pipeline_lib.claims import ledger
from pipeline_lib.errors import DataError
from pipeline_lib.reporting.page import _environment

TOLD_LATER = {"cone", "slam", "topk", "twolayer"}
"""Papers whose pages do not show all claims yet."""


def shown(folder: Path, name: str = "page.md") -> Iterator[tuple[str, str]]:
    """Every claim that a template or one of its parts shows, with the file; ``page.md`` and its parts once each.

    A call of ``claims`` has the names of the claims as they are, and is in no loop, so that it is executed at most
    once, and in no branch on a claim's status, so that no claim disappears with its verdict.
    """
    tree = _environment(folder, str).parse((folder / name).read_text(encoding="utf-8"))
    yield from _within(tree, folder, name)


def _within(node: nodes.Node, folder: Path, file: str) -> Iterator[tuple[str, str]]:
    if isinstance(node, nodes.Include):
        yield from shown(folder, node.template.as_const())
    elif isinstance(node, nodes.Call) and isinstance(node.node, nodes.Name) and node.node.name == "claims":
        for argument in node.args:
            yield argument.as_const(), file
    elif isinstance(node, nodes.For | nodes.Macro) or (isinstance(node, nodes.If) and _judged(node.test)):
        hidden = [claim for child in node.iter_child_nodes() for claim, _ in _within(child, folder, file)]
        if hidden:
            raise DataError(f"{file}:{node.lineno}: expected claims outside of loops and branches, found {hidden}")
    else:
        for child in node.iter_child_nodes():
            yield from _within(child, folder, file)


def _judged(test: nodes.Node) -> bool:
    return any(one.name in ("claim", "trials") for one in test.find_all(nodes.Name))


def later(paper: str) -> object:
    marks = [pytest.mark.xfail(strict=True, reason="the page does not show all claims yet")]
    return pytest.param(paper, marks=marks if paper in TOLD_LATER else [])


@pytest.mark.parametrize("paper", [later(paper) for paper in papers.names()])
def test_every_claim_stands_once_on_its_page(paper: str) -> None:
    known = [claim.id for claim in ledger.load([papers.get(paper)])]
    times = Counter(claim for claim, _ in shown(papers.get(paper).folder))
    assert {claim: number for claim, number in times.items() if number > 1} == {}
    assert sorted(times) == sorted(known)


@pytest.mark.parametrize("paper", papers.names())
def test_every_part_of_a_page_is_included_once(paper: str) -> None:
    folder = papers.get(paper).folder
    tree = _environment(folder, str).parse((folder / "page.md").read_text(encoding="utf-8"))
    included = [one.template.as_const() for one in tree.find_all(nodes.Include)]
    assert sorted(included) == sorted(f"page/{path.name}" for path in (folder / "page").glob("*.md"))


@pytest.mark.parametrize(
    ("page", "claims"),
    [
        ("{{ claims('a', 'b') }}{{ claims('c') }}", ["a", "b", "c"]),
        ("{% if has('t') %}{{ claims('a') }}{% else %}{{ claims('b') }}{% endif %}", ["a", "b"]),
        ("{{ claim('a').status }}{% include 'page/part.md' %}", ["d"]),
        ("{% for one in rows('t') %}{{ claims('a') }}{% endfor %}", None),
        ("{% if claim('b').status == 'refuted' %}{{ claims('a') }}{% endif %}", None),
        ("{% if has('t') and claim('b').status == 'refuted' %}{{ claims('a') }}{% endif %}", None),
    ],
)
def test_claims_are_read_from_a_template(tmp_path: Path, page: str, claims: list[str] | None) -> None:
    (tmp_path / "page").mkdir()
    (tmp_path / "page.md").write_text(page, encoding="utf-8")
    (tmp_path / "page" / "part.md").write_text("<!-- {{ claims('c') }} -->{{ claims('d') }}", encoding="utf-8")
    if claims is None:
        with pytest.raises(DataError, match=r"page\.md:1"):
            list(shown(tmp_path))
    else:
        assert [claim for claim, _ in shown(tmp_path)] == claims
