"""Do the exact counterexamples show what they are printed for, and would a true statement be noticed?"""

import ast
import math
import re
import sys
from fractions import Fraction

import pytest

from pipeline_lib import cli, papers
from pipeline_lib.papers.witnesses import Between, Instance, Relation, Witness, exp, log2, root
from pipeline_lib.report import blocks
from tests.readings import papers_in_order

EVERY = [one for paper in papers.names() for one in papers.witnesses(paper)]
PLAIN = Witness("plain", "here", "x ≤ 0", lambda x=1: Instance("x", (Relation("x ≤ 0", x, "≤", 0),), ()), "A")


@pytest.mark.parametrize("one", EVERY, ids=lambda one: one.name)
def test_every_witness_shows_what_it_is_printed_for(one):
    found = one.instance()
    assert all(relation.holds for relation in found.corrected)
    assert all(relation.holds for relation in found.printed) == found.valid
    assert found.shows


@pytest.mark.parametrize("one", EVERY, ids=lambda one: one.name)
def test_where_the_printed_statement_is_true_nothing_is_shown(one):
    found = one.instance(**one.true_for)
    assert one.true_for
    assert all(relation.holds for relation in found.printed)
    assert not found.shows


def test_a_witness_has_one_name_and_stands_with_its_paper():
    assert len({one.name for one in EVERY}) == len(EVERY)
    assert all(map(papers.witnesses, papers_in_order()))
    for paper in papers.names():
        assert all(one.place.startswith(f"{paper}, ") for one in papers.witnesses(paper))


@pytest.mark.parametrize("paper", papers.names())
def test_witnesses_share_no_code_with_the_rest(paper):
    folder, exact = papers.get(paper).folder, {"pipeline_lib.papers.witnesses", f"pipeline_lib.papers.{paper}.exact"}
    for path in (*folder.rglob("witnesses.py"), *folder.glob("exact.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        modules = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
        modules |= {name.name for node in ast.walk(tree) if isinstance(node, ast.Import) for name in node.names}
        assert modules <= exact | sys.stdlib_module_names | {"collections.abc"}, path
        assert not any(isinstance(node, ast.Constant) and isinstance(node.value, float) for node in ast.walk(tree))


def test_enclosures_contain_the_number():
    for x in (Fraction(1, 7), Fraction(2, 3), Fraction(3), Fraction(10, 3), Fraction(57)):
        for found, number in ((log2(x, 12), math.log2(x)), (root(x, 9), math.sqrt(x))):
            assert found.low <= number <= found.high
            assert found.high - found.low <= Fraction(1, 9)
    for x in (Fraction(0), Fraction(1, 2), Fraction(1), Fraction(5, 2)):
        assert exp(x, 8).low <= math.exp(x) <= exp(x, 8).high
    assert log2(8, 3) == Between(Fraction(3), Fraction(3))


def test_calculation_keeps_the_numbers_between():
    a, b = Between(Fraction(-1), Fraction(2)), Between(Fraction(3), Fraction(4))
    assert a * b == Between(Fraction(-4), Fraction(8))
    assert 1 - a / b == Between(Fraction(1, 3), Fraction(4, 3))
    with pytest.raises(ZeroDivisionError):
        1 / a


@pytest.mark.parametrize("sign", ["≤", "≥", "<", ">", "=", "≠"])
def test_enclosures_that_overlap_decide_nothing(sign):
    with pytest.raises(ArithmeticError, match="root of 2"):
        _ = Relation("the root of 2", root(2, 10), sign, Fraction(7071, 5000)).holds


def test_enclosures_apart_decide():
    assert Relation("", root(2, 10), "<", 2).holds
    assert not Relation("", root(2, 10), "=", 2).holds
    assert Relation("", root(4, 10), "=", 2).holds


def test_the_command_prints_one_and_refuses_unknown_names(capsys):
    assert cli.main(["counterexamples", "smallest-weights"]) == 0
    assert capsys.readouterr().out.count("erratum K") == 1
    assert cli.main(["counterexamples", "smalest-weights"]) == 1
    assert "smallest-weights" in capsys.readouterr().err


def test_its_former_name_is_refused_with_the_new_one(capsys):
    assert cli.main(["witnesses"]) == 2
    assert "counterexamples" in capsys.readouterr().err


def test_the_command_fails_where_a_witness_does_not_check(monkeypatch, capsys):
    true = Witness("true", "here", "0 ≤ 0", lambda: PLAIN.instance(x=0))
    monkeypatch.setattr(papers, "witnesses", lambda paper: (true,) if paper == "slam" else ())
    assert cli.main(["counterexamples"]) == 1
    assert "true" in capsys.readouterr().err


@pytest.mark.parametrize("one", EVERY, ids=lambda one: one.name)
def test_a_witness_can_be_typeset(one):
    for _, words in one.lines():
        shown = re.sub(r"<su[bp]>[^<>]*</su[bp]>", "", blocks.mathematics(words))
        assert not re.search(r"[_^](?!\))", shown), words
