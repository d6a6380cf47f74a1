"""Does every paper's page show every claim of the paper once, whatever the claims' statuses are?

The templates are read, not rendered: what a template shows must not depend on what came out.
"""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from jinja2 import nodes

from pipeline_lib import papers
from pipeline_lib.claims import ledger
from pipeline_lib.core.errors import DataError
from pipeline_lib.report.page import environment


def shown(folder: Path) -> Counter[str]:
    """How often the templates of a page show which claims.

    A call of ``claims`` has the names of the claims as they are. It is in no loop, so that it shows them once, and in
    no branch except on whether a table is there, so that no claim disappears with its verdict.
    """
    found: Counter[str] = Counter()
    for path in (folder / "page.md", *folder.glob("*/*.md")):
        tree = environment(folder).parse(path.read_text(encoding="utf-8"))
        for part in tree.find_all((nodes.For, nodes.Macro, nodes.If)):
            if any(calls(part)) and not asks_for_a_table(part):
                raise DataError(f"{path}:{part.lineno}: expected claims in no loop, and in no branch but `if has(...)`")
        for call in calls(tree):
            if call.dyn_args is not None or not all(isinstance(one, nodes.Const) for one in call.args):
                raise DataError(f"{path}:{call.lineno}: expected the names of claims, found another expression")
            found.update(one.as_const() for one in call.args)
    return found


def calls(node: nodes.Node) -> Iterator[nodes.Call]:
    """The places in a part of a template that show claims."""
    for call in node.find_all(nodes.Call):
        if isinstance(call.node, nodes.Name) and call.node.name == "claims":
            yield call


def asks_for_a_table(part: nodes.Node) -> bool:
    """Whether it is a branch without alternatives that depends on nothing but which tables are there."""
    if not isinstance(part, nodes.If) or part.elif_ or part.else_:
        return False
    return {one.name for one in part.test.find_all(nodes.Name)} <= {"has", "matching"}


@pytest.mark.parametrize("paper", papers.names())
def test_every_claim_stands_once_on_its_page(paper: str) -> None:
    assert shown(papers.get(paper).folder) == Counter(claim.id for claim in ledger.load([papers.get(paper)]))


@pytest.mark.parametrize("paper", papers.names())
def test_every_part_of_a_page_is_included_once(paper: str) -> None:
    folder = papers.get(paper).folder
    tree = environment(folder).parse((folder / "page.md").read_text(encoding="utf-8"))
    included = [one.template.as_const() for one in tree.find_all(nodes.Include)]
    parts = [*included, *papers.get(paper).added("page.md")]  # the report puts the latter at the end
    assert sorted(parts) == sorted(path.relative_to(folder).as_posix() for path in folder.glob("*/*.md"))


@pytest.mark.parametrize(
    ("page", "claims"),
    [
        ("{{ claims('a', 'b') }}{{ claims('c') }}", "abcd"),
        ("{{ claims('a') }}{% if has('t') %}{{ claims('a') }}{% endif %}", "aad"),
        ("{{ claim('a').status }}{% include 'page/part.md' %}", "d"),
        ("{% if has('t') %}{{ claims('a') }}{% else %}{{ claims('b') }}{% endif %}", None),
        ("{% for k in x %}{{ claims('a') }}{% endfor %}", None),
        ("{% for k in x %}{% if has('t') %}{{ claims('a') }}{% endif %}{% endfor %}", None),
        ("{% macro m() %}{{ claims('a') }}{% endmacro %}", None),
        ("{{ claims(x['a']) }}", None),
        ("{{ claims(*x) }}", None),
        ("{% if claim('b').status == 'refuted' %}{{ claims('a') }}{% endif %}", None),
        ("{% if has('t') and claim('b').status == 'refuted' %}{% else %}{{ claims('a') }}{% endif %}", None),
    ],
)
def test_claims_are_read_from_a_template(tmp_path: Path, page: str, claims: str | None) -> None:
    (tmp_path / "page").mkdir()
    (tmp_path / "page.md").write_text(page, encoding="utf-8")
    (tmp_path / "page" / "part.md").write_text("<!-- {{ claims('c') }} -->{{ claims('d') }}", encoding="utf-8")
    if claims is None:
        with pytest.raises(DataError, match=r"page\.md:1"):
            shown(tmp_path)
    else:
        assert shown(tmp_path) == Counter(claims)
