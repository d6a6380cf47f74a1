"""Does every paper's page show every claim of the paper once, whatever the claims' statuses are?

The templates are read, not rendered: what a template shows must not depend on what came out.
"""

from collections import Counter
from pathlib import Path

import pytest
from jinja2 import nodes

from pipeline_lib import papers
from pipeline_lib.claims import ledger
from pipeline_lib.core.errors import DataError
from pipeline_lib.report.page import environment

Loops = tuple[frozenset[str], ...]
"""The variables of the loops in which something stands, unless it is in a branch on one value of a variable."""


def shown(folder: Path, name: str = "page.md") -> Counter[str]:
    """How often a template shows which claims, in its parts as well.

    A call of ``claims`` has the names of the claims as they are. It must be executed at most once: it is in no loop,
    except in a branch on one value of the loop's variable. And it is in no branch on a claim's status, so that no claim
    disappears with its verdict. Of several branches one is executed.
    """
    tree = environment(folder).parse((folder / name).read_text(encoding="utf-8"))
    return within(tree, folder, name, ())


def within(node: nodes.Node, folder: Path, file: str, loops: Loops) -> Counter[str]:
    """The claims that a part of a template shows."""
    if isinstance(node, nodes.Include):
        return shown(folder, node.template.as_const())
    if isinstance(node, nodes.Call) and isinstance(node.node, nodes.Name) and node.node.name == "claims":
        constant = all(isinstance(argument, nodes.Const) for argument in node.args)
        if loops or not constant or node.dyn_args is not None:
            raise DataError(
                f"{file}:{node.lineno}: expected names of claims, shown once, found another expression or a loop"
            )
        return Counter(argument.as_const() for argument in node.args)
    if isinstance(node, nodes.For | nodes.Macro):
        targets = [node.target] if isinstance(node, nodes.For) else node.args
        found = [name for one in targets for name in (one, *one.find_all(nodes.Name))]
        names = {one.name for one in found if isinstance(one, nodes.Name)}
        return total(node, folder, file, (*loops, frozenset(names)))
    if isinstance(node, nodes.If):
        chosen = tuple(names for names in loops if not names & value_of(node.test))
        branches = [*(within(one, folder, file, loops) for one in node.elif_)]
        branches.append(sum((within(one, folder, file, chosen) for one in node.body), Counter()))
        branches.append(sum((within(one, folder, file, loops) for one in node.else_), Counter()))
        found: Counter[str] = Counter()
        for branch in branches:
            found |= branch
        if found and {"claim", "trials"} & {one.name for one in node.test.find_all(nodes.Name)}:
            raise DataError(f"{file}:{node.lineno}: expected claims whatever their statuses are, found {sorted(found)}")
        return found
    return total(node, folder, file, loops)


def total(node: nodes.Node, folder: Path, file: str, loops: Loops) -> Counter[str]:
    """The claims that all children of a node show."""
    return sum((within(child, folder, file, loops) for child in node.iter_child_nodes()), Counter())


def value_of(test: nodes.Node) -> set[str]:
    """The variable that a test compares with one value; nothing if it tests something else."""
    match test:
        case nodes.Compare(expr=nodes.Name(name=name), ops=[nodes.Operand(op="eq", expr=nodes.Const())]):
            return {name}
    return set()


@pytest.mark.parametrize("paper", papers.names())
def test_every_claim_stands_once_on_its_page(paper: str) -> None:
    known = [claim.id for claim in ledger.load([papers.get(paper)])]
    times = shown(papers.get(paper).folder)
    assert {claim: number for claim, number in times.items() if number > 1} == {}
    assert sorted(times) == sorted(known)


@pytest.mark.parametrize("paper", papers.names())
def test_every_part_of_a_page_is_included_once(paper: str) -> None:
    folder = papers.get(paper).folder
    tree = environment(folder).parse((folder / "page.md").read_text(encoding="utf-8"))
    included = [one.template.as_const() for one in tree.find_all(nodes.Include)]
    assert sorted(included) == sorted(path.relative_to(folder).as_posix() for path in folder.glob("*/*.md"))


@pytest.mark.parametrize(
    ("page", "claims"),
    [
        ("{{ claims('a', 'b') }}{{ claims('c') }}", "abc"),
        ("{{ claims('a') }}{% if has('t') %}{{ claims('a') }}{% endif %}", "aa"),
        ("{% if has('t') %}{{ claims('a') }}{% else %}{{ claims('a', 'b') }}{% endif %}", "ab"),
        ("{% if x %}{{ claims('a') }}{% elif y %}{{ claims('b') }}{% else %}{{ claims('c') }}{% endif %}", "abc"),
        ("{{ claim('a').status }}{% include 'page/part.md' %}", "d"),
        (
            "{% for k in x %}{% if k == 1 %}{{ claims('a') }}{% elif k == 2 %}{{ claims('b') }}{% endif %}{% endfor %}",
            "ab",
        ),
        ("{% for k in x %}{{ claims('a') }}{% endfor %}", None),
        ("{% for k in x %}{% if k == 1 %}{% else %}{{ claims('a') }}{% endif %}{% endfor %}", None),
        ("{% for k in x %}{% for l in k %}{% if l == 1 %}{{ claims('a') }}{% endif %}{% endfor %}{% endfor %}", None),
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
