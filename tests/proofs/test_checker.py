"""Certificates prove what they say, and damaged or wrong ones are refused."""

import ast
import random
import re
import tomllib
from contextlib import nullcontext
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
import yaml

from pipeline_lib.commands import check_proofs
from pipeline_lib.core.errors import DataError
from pipeline_lib.proofs import FOLDER, checker
from pipeline_lib.proofs.checker import Refused, check, remaining
from tests import readings
from tests.proofs.damage import damaged, is_true, one_of_each_kind, states_the_same, wrong_neighbours
from tests.proofs.false_statements import EMPTY, FALSE, Misleading
from tools.proofs import splits

CERTIFICATES = sorted(FOLDER.rglob("*.toml"))
SOURCES = {path.stem: path.read_text(encoding="utf-8") for path in CERTIFICATES}
ENCLOSURES = sorted(name for name, source in SOURCES.items() if tomllib.loads(source)["kind"] == "enclosure")
TOY = SOURCES["cone-norm"]
WRONG_LANGUAGE = [
    "def cases(): return [().__class__]",
    "import os",
    "cases = lambda: [(0.5,)]",
    "def _hidden(): return 1",
    "def divide(a, b): return 1",
    "def cases(): return [()]\ndef cases(): return [(1,)]",
    "def cases(*k): return [()]",
    "def cases(k: int): return [()]",
    "def cases() -> int: return [()]",
    "def cases():\n    n = [1]\n    n[0] += 1\n    return [()]",
    "class C: pass",
    "cases = other = lambda: [()]",
    "cases = lambda: [(n := 1,)]",
    "unknowns = lambda: 3 if 1 is 1 else 2",
    "cases = lambda: open('x')",
    "cases = lambda: [print(1)]",
    "x = f'{1}'",
    "while True: pass",
]


@pytest.mark.parametrize("name", SOURCES)
def test_every_certificate_proves_a_statement_of_a_claim_and_has_wrong_neighbours(name: str) -> None:
    proof = check(SOURCES[name])
    assert proof.claims
    assert {*proof.claims} <= {claim.id for claim in readings.ledger_of_claims()}
    assert proof.neighbours >= 1
    assert proof.cases >= 1


@pytest.mark.parametrize("name", SOURCES)
def test_no_certificate_proves_its_wrong_neighbours(name: str) -> None:
    for wrong in wrong_neighbours(SOURCES[name]):
        with pytest.raises(Refused):
            check(wrong)


def test_no_statement_is_proved_by_two_certificates() -> None:
    stated: dict[str, list[str]] = {}
    for name, source in SOURCES.items():
        definitions = ast.parse(tomllib.loads(source)["definitions"].strip()).body
        stated.setdefault("\n".join(sorted(map(ast.unparse, definitions))), []).append(name)
    assert [names for names in stated.values() if len(names) > 1] == []


@pytest.mark.parametrize("name", FALSE)
def test_a_false_statement_is_refused(name: str) -> None:
    with pytest.raises(Refused) as refused:
        check(FALSE[name].source())
    assert not re.search("counterexample|a point with", str(refused.value))  # the neighbour is as it should be


@pytest.mark.parametrize("name", EMPTY)
def test_a_statement_that_says_nothing_is_refused(name: str) -> None:
    with pytest.raises(Refused) as refused:
        check(EMPTY[name].source())
    assert "counterexample" not in str(refused.value)


@pytest.mark.parametrize(
    ("kind", "definitions", "proof"),
    [
        ("enumeration", "cases = lambda: [()]\nholds = lambda: all([n >= 0 for n in range(2)])", ""),
        ("enclosure", "cases = lambda: [()]\nsides = lambda: [(0, 1)]\nvalue = lambda x: x[0] + 1", ""),
        (
            "combination",
            "cases = lambda: [()]\nunknowns = lambda: 1\nhypotheses = lambda x: [x[0]]\n"
            "conclusion = lambda x: x[0] + 1",
            "terms = lambda x: [(1, [0], 1), (1, [], 1)]\npoint = lambda: [1]",
        ),
        (
            "combination",
            "cases = lambda: [()]\nunknowns = lambda: 2\npositive = lambda x: [x[0]]\n"
            "equations = lambda x: [x[0] * x[1] - x[0]]\nconclusion = lambda x: (x[1], 1)",
            "factors = lambda x: [0]\nmultipliers = lambda x: [1]\npoint = lambda: [2, 1]",
        ),
    ],
)
def test_a_true_statement_in_the_same_form_is_accepted(kind: str, definitions: str, proof: str) -> None:
    neighbour = "conclusion = lambda x: (x[0], x[0] + 1)" if "(x[1], 1)" in definitions else ""
    source = Misleading(kind, definitions, proof, neighbour=neighbour).source()
    if kind == "combination":
        source = source.replace("[0, 0]", "[1, 1]" if neighbour else "[0]")
    assert check(source).cases == 1


@pytest.mark.parametrize("name", ENCLOSURES)
def test_the_tool_finds_splits_that_the_checker_accepts(name: str) -> None:
    assert splits(SOURCES[name]) == tomllib.loads(SOURCES[name])["splits"]


QUICK = sorted(set(SOURCES) - {name for name, source in SOURCES.items() if tomllib.loads(source)["cases"] > 200})


def _accepted(name: str, sources: list[tuple[str, str]]) -> list[str]:
    """The damaged certificates that are accepted, each of them with evidence that what it states is true."""
    found = []
    for which, source in sources:
        try:
            check(source)
        except Refused:
            continue
        found.append(source)
        content = tomllib.loads(source)
        assert which.startswith(("definitions", "proof")), f"{name}: a damaged {which} is not noticed"
        assert content["cases"] == tomllib.loads(SOURCES[name])["cases"]
        if content["kind"] != "combination" or not states_the_same(source, SOURCES[name]):
            assert is_true(source), f"{name}: a false statement is accepted, damaged in {which}"
    return found


def test_damage_is_refused_or_leaves_a_true_statement() -> None:
    every = [(name, one) for name in QUICK for one in damaged(SOURCES[name])]
    sample = random.Random(1).sample(every, 400)
    accepted = [found for name, one in sample for found in _accepted(name, [one])]
    assert len(accepted) < len(sample) / 4


LONG = {*SOURCES} - {*QUICK} | {"topk-more-labels"}
"""Certificates whose cases take long to check: one damage of each kind to each function instead of all."""


@pytest.mark.slow
@pytest.mark.parametrize("name", SOURCES)
def test_damage_of_every_kind_is_refused_or_leaves_a_true_statement(name: str) -> None:
    _accepted(name, list((one_of_each_kind if name in LONG else damaged)(SOURCES[name])))


@pytest.mark.parametrize("name", [name for name in QUICK if '"combination"' not in SOURCES[name]])
def test_plain_python_sees_that_a_wrong_neighbour_is_false(name: str) -> None:
    assert is_true(SOURCES[name])
    assert not any(map(is_true, wrong_neighbours(SOURCES[name])))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("cases = 19\n", "cases = 18\n"),
        ("cases = 19\n", "cases = 20\n"),
        ("2 to 20 documents", "2 to 21 documents"),
        ("2 to 20 documents", "2 to 200 documents"),
        ("2 to 20 documents", "12 to 20 documents"),
        ("2 to 20 documents", "2 to 20 documents, 3 grades"),
        ("2 to 20 documents", "documents"),
        ("range(2, 21)", "range(2, 20)"),
        ("range(2, 21)", "range(3, 21)"),
        ("range(2, 21)", "range(2, 22)"),
        ("for m in range(2, 21)", "for m in range(2, 21) if m != 7"),
        ('["topk-squared-loss"]', '"topk-squared-loss"'),
        ('["topk-squared-loss"]', "[]"),
        ('["topk-squared-loss"]', '["topk-squared-loss", "topk-squared-loss"]'),
        ('["topk-squared-loss"]', '["t", "o"]'),
        ('["topk-squared-loss"]', "[1]"),
        ('covers = "sizes"', 'covers = "most"'),
        ("[[neighbours]]", "[[neighbors]]"),
        ("splits =", 'proof = ""\nsplits ='),
    ],
)
def test_claims_sizes_and_the_number_of_cases_are_those_of_the_cases(old: str, new: str) -> None:
    source = SOURCES["topk-squared-loss"]
    assert old in source
    with pytest.raises(Refused):
        check(source.replace(old, new, 1))


@pytest.mark.parametrize(
    "operation", [lambda x: x == 0, lambda x: x < 1, bool, hash, str, repr, "{}".format, lambda x: x in (1,)]
)
@pytest.mark.parametrize("unknown", [checker.unknowns(1)[0], checker.Ball(0, 1), checker.Ball(1)])
def test_nothing_can_be_asked_of_an_unknown(operation: Any, unknown: Any) -> None:
    with pytest.raises(Refused, match="asks"):
        operation(unknown)


def test_a_multiplier_is_a_reduced_fraction_with_a_positive_denominator() -> None:
    one = checker.Implication.stated({"unknowns": lambda: 1, "conclusion": lambda x: x[0] * -1}, ())
    negative = Fraction(1, -1, _normalize=False)  # type: ignore[call-arg]
    with pytest.raises(Refused, match="at least 0"):
        remaining(one, {"terms": lambda x: [(negative, [], x[0])]}, ())


@pytest.mark.parametrize("damage", ["", "..", ".x", "0..", "0"])
def test_damaged_splits_are_refused(damage: str) -> None:
    source = SOURCES["topk-table1"]
    with pytest.raises(Refused):
        check(source.replace('  ".",\n', f'  "{damage}",\n', 1))


def test_a_box_that_is_not_covered_is_refused() -> None:
    definitions = """
cases = lambda: [()]
sides = lambda: [(0, 1)]
value = lambda x: 1 / 2 - x[0] * (1 - x[0])
"""
    source = Misleading("enclosure", definitions).source()
    tree = splits(source)[0]
    assert check(source.replace('splits = ["."]', f'splits = ["{tree}"]')).cases == 1
    for wrong in (tree[:-1], tree + ".", "."):
        with pytest.raises(Refused):
            check(source.replace('splits = ["."]', f'splits = ["{wrong}"]'))


@pytest.mark.parametrize("definitions", WRONG_LANGUAGE)
def test_what_is_not_in_the_language_is_refused(definitions: str) -> None:
    added = "" if "cases" in definitions else "\ncases = lambda: [()]"
    with pytest.raises(Refused) as refused:
        check(Misleading("enumeration", f"{definitions}{added}\nholds = lambda: True").source())
    assert "counterexample" not in str(refused.value)


def test_a_comparison_of_enclosures_is_refused() -> None:
    with pytest.raises(Refused, match="compares"):
        _ = checker.Ball(0, 1) < checker.Ball(Fraction(1, 2))


@pytest.mark.parametrize(
    ("claims", "found"),
    [('["cone-norm"]', "1 case "), ('["cone-norm", "cone-norms"]', "the ledger has no claim cone-norms")],
)
def test_the_command_prints_what_is_proved_of_claims_that_there_are(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], claims: str, found: str
) -> None:
    (tmp_path / "one.toml").write_text(TOY.replace('["cone-norm"]', claims), encoding="utf-8")
    with pytest.raises(DataError) if "no claim" in found else nullcontext():
        check_proofs.run(tmp_path)
    assert found in capsys.readouterr().out


def test_a_negative_multiplier_is_refused() -> None:
    with pytest.raises(Refused, match="at least 0"):
        check(TOY.replace("[(1, [1, 2], 1)]", "[(-1, [1, 2], 1)]"))


def test_every_claim_has_a_proof_or_a_reason_why_not() -> None:
    contents = [content for content in map(tomllib.loads, SOURCES.values()) if content["covers"] != "part"]
    proved = {claim for content in contents for claim in content["claims"]}
    proved |= {claim.id for claim in readings.ledger_of_claims() if claim.coq}
    text = (FOLDER / "open.yaml").read_text(encoding="utf-8")
    open_ = [claim for entry in yaml.safe_load(text) for claim in entry["claims"]]
    told, every = [*proved, *open_], {claim.id for claim in readings.ledger_of_claims()}
    assert len(told) == len({*told})
    assert {*told} <= every
    assert every - {*told} <= readings.added_claims()
