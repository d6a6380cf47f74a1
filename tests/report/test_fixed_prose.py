"""Is a page of a paper an argument in fixed prose, which neither computes numbers nor chooses words by them?

The templates are read, not rendered: what a page says of a study must be said by its claims, tables and figures. Of
numbers in sentences, the filters see to it that they are cells of tables or values of claims. Titles and captions
compare nothing, unless in a finding, whose rules are judged on what is drawn; a sentence of the front page that
compares has a verdict or such a number in it.
"""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from jinja2 import Environment, nodes

from pipeline_lib import papers
from pipeline_lib.report.blocks import TEMPLATES as REPORT
from pipeline_lib.report.page import environment

ARITHMETIC = (nodes.Sub, nodes.Mul, nodes.Div, nodes.FloorDiv, nodes.Mod, nodes.Pow, nodes.Neg)
TEMPLATES = sorted(path for name in papers.names() for path in papers.get(name).folder.rglob("*.md"))
OF_REPORT = sorted(path for path in REPORT.glob("*.md"))
TITLED = {"lines": 3, "heat": 3, "against": 3, "chain_overview": 3, "table": 2}
"""What has a name, a title and, tables apart, a caption: the arguments up to the last of these."""
COMPARES = re.compile(
    r"\b(at least|at most|(falls?|rises?|grows?|shrinks?|stays?|levels?|comes?|turns?)(?! of)|loses|forgets|ignores|"
    r"meets?|only|equals|can be|calls? for|exceeds?(?! with probability)|contradicts?|beats?|none|no|neither|nor|"
    r"do(es)? not (fall|rise|grow|change)|never|always|every|nowhere|unless|hardly|nearly|about as|alike|the same as|"
    r"too|above|below|more|less|fewer|smaller|larger|higher|lower|faster|slower|steeper|sharper|better|worse|than)\b",
    re.IGNORECASE,
)
"""Words that compare, give a direction or quantify."""


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


def titles(tree: nodes.Template) -> list[nodes.Node]:
    """The titles of figures and tables, and the captions of figures."""
    return [
        words
        for call in tree.find_all(nodes.Call)
        if isinstance(call.node, nodes.Name) and call.node.name in TITLED
        for words in call.args[1 : TITLED[call.node.name]]
    ]


def names(node: nodes.Node) -> set[str]:
    return {name.name for name in [*node.find_all(nodes.Name), *([node] if isinstance(node, nodes.Name) else [])]}


def fixed(node: nodes.Node) -> Iterator[tuple[int, str]]:
    """The fixed strings that are shown, with their lines: of a finding, its plain description alone."""
    match node:
        case nodes.Const(value=str(words)):
            yield node.lineno, words
        case nodes.Call(node=nodes.Name(name="finding")):
            for given in node.kwargs:
                yield from fixed(given.value)
        case nodes.Call() | nodes.Filter() | nodes.Getattr() | nodes.Getitem():
            return
        case _:
            for inner in node.iter_child_nodes():
                yield from fixed(inner)


def compared(texts: Iterable[str], made: Environment) -> list[str]:
    """The comparisons outside of findings in the titles and captions of templates, and in what these set for them."""
    trees = [made.parse(text) for text in texts]
    shown = [words for tree in trees for words in titles(tree)]
    used = {name for words in shown for name in names(words)}
    shown += [one.node for tree in trees for one in tree.find_all(nodes.Assign) if used & names(one.target)]
    shown += [one.iter for tree in trees for one in tree.find_all(nodes.For) if used & names(one.target)]
    said = sorted({words for one in shown for words in fixed(one)})
    return [f"{line}: {words!r}: {found[0]}" for line, words in said if (found := COMPARES.search(words))]


@pytest.mark.parametrize(
    "folder", [*(papers.get(name).folder for name in papers.names()), REPORT], ids=lambda one: one.name
)
def test_titles_and_captions_compare_nothing_outside_of_findings(folder: Path) -> None:
    texts = [path.read_text(encoding="utf-8") for path in sorted(folder.rglob("*.md"))]
    assert compared(texts, environment(folder)) == []


DRAWS = "curves(rows('t'), 'n', 'x'), xlabel='n', ylabel='x') }}"


@pytest.mark.parametrize(
    "template",
    [
        "{{ lines('f', 'The gap falls with n', 'Means', " + DRAWS,
        "{{ lines('f', 'The gap', 'The bound is above the gap', " + DRAWS,
        "{{ lines('f', 'The gap: ' ~ n ~ ', which grows', 'Means', " + DRAWS,
        "{% set title = 'No gap grows' %}{{ lines('f', title, 'Means', " + DRAWS,
        "{% for one, title in ((1, 'The gap'), (2, 'It exceeds n')) %}{{ lines('f', title, 'M', "
        + DRAWS
        + "{% endfor %}",
        "{{ heat('f', finding('It falls', falls(), otherwise='It does not grow'), 'Means', rows('t')) }}",
    ],
)
def test_a_comparison_that_nothing_guards_is_found(template: str, tmp_path: Path) -> None:
    assert compared([template], environment(tmp_path))


def test_a_finding_may_compare(tmp_path: Path) -> None:
    text = "{{ lines('f', finding('The gap falls', falls('gap'), otherwise='The gap, by n'), 'Means', " + DRAWS
    assert compared([text], environment(tmp_path)) == []


def bare(text: str) -> list[str]:
    """The sentences of a page of findings that compare, and have neither a verdict nor a number of the study."""
    said = re.sub(r"{%.*?%}", "", text, flags=re.DOTALL)
    sentences = re.split(r"(?<=[.?])(?:\*\*)?\s+(?!\S*}})", " ".join(said.split()))
    said = [one for one in sentences if not one.endswith("?") and "{{" not in one]
    return [one for one in said if COMPARES.search(one)]


def test_what_the_front_page_says_is_said_by_claims() -> None:
    pages = [papers.get(name).folder / "findings.md" for name in papers.names()]
    assert [one for path in pages for one in bare(path.read_text(encoding="utf-8"))] == []
