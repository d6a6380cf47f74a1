"""Certificates prove what they say, and damaged or wrong ones are refused."""

import random
import tomllib
from fractions import Fraction
from typing import Any

import pytest
import yaml

from pipeline_lib.proofs import FOLDER, checker
from pipeline_lib.proofs.checker import Polynomial, Refused, check, defined, listed
from tests import readings
from tools.proofs import splits

CERTIFICATES = sorted(FOLDER.rglob("*.toml"))
SOURCES = {path.stem: path.read_text(encoding="utf-8") for path in CERTIFICATES}
COMBINATIONS = sorted(name for name, source in SOURCES.items() if tomllib.loads(source)["kind"] == "combination")
ENCLOSURES = sorted(name for name, source in SOURCES.items() if tomllib.loads(source)["kind"] == "enclosure")
TOY = SOURCES["cone-norm"]
WRONG_LANGUAGE = [
    "def cases(): return [().__class__]",
    "import os",
    "cases = lambda: [(0.5,)]",
    "def _hidden(): return 1",
    "def divide(a, b): return 1",
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
    content = tomllib.loads(SOURCES[name])
    for neighbour in content["neighbours"]:
        statement = defined(content["definitions"], neighbour["definitions"])
        assert any(_refused(content["kind"], statement, case) for case in statement["cases"]())


def _refused(kind: str, statement: dict[str, Any], case: Any) -> bool:
    """Whether a case is refused, with the terms and multipliers of the certificate, or undivided."""
    try:
        checker.KINDS[kind](statement, case, ".")
    except (Refused, ArithmeticError, LookupError, ValueError):
        return True
    return False


@pytest.mark.parametrize("name", ENCLOSURES)
def test_the_tool_finds_splits_that_the_checker_accepts(name: str) -> None:
    assert splits(SOURCES[name]) == tomllib.loads(SOURCES[name])["splits"]


def _damaged_combinations(draws: int) -> tuple[int, int]:
    """Damage terms and multipliers at random: how many times that changed the sum, and how many were accepted."""
    rng = random.Random(1)
    changed = accepted = 0
    for name in COMBINATIONS:
        statement = defined(tomllib.loads(SOURCES[name])["definitions"])
        cases = list(statement["cases"]())
        for _ in range(draws // len(COMBINATIONS) + 1):
            case = rng.choice(cases)
            x = [Polynomial([((k,), Fraction(1))]) for k in range(statement["unknowns"](*case))]
            terms, multipliers = listed(statement, "terms", *case, x), listed(statement, "multipliers", *case, x)
            hypotheses, equations = (listed(statement, name, *case, x) for name in ("hypotheses", "equations"))
            before = _sum(terms, multipliers, hypotheses, equations)
            if terms and (not multipliers or rng.random() < 0.7):
                place = rng.randrange(len(terms))
                c, positions, q = terms[place]
                other = [rng.randrange(len(hypotheses))] if hypotheses else []
                terms[place] = rng.choice(
                    [(c * Fraction(99, 100), positions, q), (c, positions, q + 1), (c, other, q), (0, [], 1)]
                )
            elif multipliers:
                multipliers[rng.randrange(len(multipliers))] += rng.choice([1, -1, Fraction(1, 100)])
            damaged = dict(statement) | {"terms": lambda *_, t=terms: t, "multipliers": lambda *_, m=multipliers: m}
            if _sum(terms, multipliers, hypotheses, equations).terms == before.terms:
                continue
            changed += 1
            try:
                checker.combination(damaged, case, "")
                accepted += 1
            except Refused:
                pass
    return changed, accepted


def _sum(terms, multipliers, hypotheses, equations) -> Polynomial:
    total = Polynomial.of(0)
    for c, positions, q in terms:
        product = Polynomial.of(q) * q * c
        for i in positions:
            product = product * hypotheses[i]
        total = total + product
    for p, equation in zip(multipliers, equations, strict=True):
        total = total + Polynomial.of(p) * equation
    return total


@pytest.mark.parametrize("draws", [500, pytest.param(20_000, marks=pytest.mark.slow)])
def test_damaged_multipliers_are_refused(draws: int) -> None:
    changed, accepted = _damaged_combinations(draws)
    assert changed > draws // 2
    assert accepted == 0


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
    source = (
        TOY.partition("definitions")[0].replace('"combination"', '"enclosure"') + f"definitions = '''{definitions}'''\n"
    )
    tree = splits(source)[0]
    assert check(f'{source}splits = ["{tree}"]').cases == 1
    for wrong in (tree[:-1], tree + ".", "."):
        with pytest.raises(Refused):
            check(f'{source}splits = ["{wrong}"]')


@pytest.mark.parametrize("definitions", WRONG_LANGUAGE)
def test_what_is_not_in_the_language_is_refused(definitions: str) -> None:
    head = TOY.partition("definitions")[0]
    with pytest.raises(Refused):
        check(f"{head}definitions = '''\n{definitions}\n'''\n")


def test_a_comparison_that_enclosures_do_not_decide_is_refused() -> None:
    with pytest.raises(Refused, match="do not decide"):
        _ = checker.Ball(0, 1) < checker.Ball(Fraction(1, 2))


def test_a_negative_multiplier_is_refused() -> None:
    with pytest.raises(Refused, match="at least 0"):
        check(TOY.replace("[(1, [1, 2], 1)]", "[(-1, [1, 2], 1)]"))


def test_every_claim_has_a_certificate_or_a_reason_why_not() -> None:
    contents = [content for content in map(tomllib.loads, SOURCES.values()) if content["covers"] != "part"]
    proved = {claim for content in contents for claim in content["claims"]}
    text = (FOLDER / "open.yaml").read_text(encoding="utf-8")
    open_ = [claim for entry in yaml.safe_load(text) for claim in entry["claims"]]
    told, every = [*proved, *open_], {claim.id for claim in readings.ledger_of_claims()}
    assert len(told) == len({*told})
    assert {*told} <= every
    assert every - {*told} <= readings.added_claims()
