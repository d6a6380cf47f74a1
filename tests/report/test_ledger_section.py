"""Are the papers' numbered statements counted as what they are: theorems, steps of their proofs, and others?"""

import re
from dataclasses import replace

import pytest
from page_of_paper import claims_of, judged

from pipeline_lib.claims import errata
from pipeline_lib.claims.judged import JudgedPaper, JudgedProof, JudgedStudy
from pipeline_lib.claims.severity import Curve, Line, Plant, Severity
from pipeline_lib.report.claims_section import ClaimList
from pipeline_lib.report.ledger_section import KINDS, certificates, given, noise, summary

STATUSES = {"topk-thm52": "inconclusive", "topk-thm52-constant": "refuted", "topk-thm41": "not-run"}


def test_a_theorem_is_what_the_worst_of_its_claims_is_and_a_refuted_step_of_its_proof_leaves_it_alone() -> None:
    claims = tuple(judged(claim, STATUSES.get(claim.id, "verified")) for claim in claims_of("topk"))
    found = summary(JudgedStudy("study", claims, {}), ["topk"])["numbered"]
    assert (found["theorems"], found["outcomes"]) == (2, ["1 inconclusive", "1 not run"])
    assert [(claim.id, kind) for claim, kind in found["refuted"]] == [("topk-thm52-constant", "gap in a proof")]


def test_every_numbered_theorem_of_the_papers_is_counted() -> None:
    theorems = {"slam": 6, "topk": 2, "cone": 2, "lists": 7, "twolayer": 3}
    for paper, number in theorems.items():
        claims = tuple(judged(claim, "verified") for claim in claims_of(paper))
        assert summary(JudgedStudy("study", claims, {}), [paper])["numbered"]["theorems"] == number


def test_controls_that_must_pass_are_no_statements_known_to_be_false() -> None:
    plants = Plant("a", "", True), Plant("b", "", False), Plant("c", "", True, holds=True)
    known = [replace(judged(one, "verified"), severity=Severity(3, 3, planted=plants)) for one in claims_of("cone")[:2]]
    assert summary(JudgedStudy("study", tuple(known), {}), ["cone"])["controls"] == {"put": 4, "caught": 2}


def test_the_chance_that_a_verified_claim_is_false_is_told_for_all_whose_curves_begin_severely() -> None:
    """Of several checks the most severe one counts; a tolerance, by which a curve begins at 0, is told apart."""

    def curve(begins: float) -> Curve:
        return Curve("gap ≤ bound", "", 4, 0, 5.0, Line(4, (begins, *[1.0] * 10), (0.5,) * 11, 0.0), None)

    first, second, third, fourth = (judged(one, "verified") for one in claims_of("cone")[:4])
    every = [
        replace(first, severity=Severity(4, 4, curves=(curve(0.1), curve(0.975)))),
        replace(second, severity=Severity(4, 4, curves=(curve(0.98),))),
        replace(third, severity=Severity(4, 4, curves=(curve(0.0),))),
        replace(fourth, severity=Severity(4, 4)),
    ]
    found = noise(every)
    assert found is not None
    assert (found["claims"], found["severe"]) == (3, 2)
    assert found["mean"] == pytest.approx(0.045)
    assert found["any"] == pytest.approx(1 - 0.975 * 0.98)
    assert noise([replace(every[0], status="refuted"), fourth]) is None


def test_a_curve_stands_in_place_of_a_margin_that_rests_on_intervals_alone() -> None:
    line, few = Line(4, (0.975,) * 11, (0.5,) * 11, 0.0), Line(1, (0.5,) * 11, (0.25,) * 11, 1.5)
    curve = Curve("gap ≤ bound", "% of the limit", 4, 0, 5.0, line, few, 1.25)
    noisy = Severity(4, 4, 1.25, curves=(curve,))
    mixed = Severity(4, 4, 1.25, curves=(replace(curve, exact=3), replace(curve, unit="", in_some=None)))
    other = Severity(4, 4, 2.0, curves=(curve,))
    assert [noisy.sharper in ClaimList.tested(one) for one in (noisy, replace(mixed, curves=mixed.curves[:1]))] == [
        False,
        True,
    ]
    assert other.sharper in ClaimList.tested(other)
    claims = [replace(judged(one, "verified"), severity=noisy) for one in claims_of("cone")[:1]]
    claims += [replace(judged(one, "verified"), severity=mixed) for one in claims_of("cone")[1:2]]
    found = given(JudgedStudy("study", tuple(claims), {"cone": JudgedPaper("A title", "An author")}), ["cone"])
    assert found is not None
    assert {row["noticed_from"] for row in found["every"]} == {"1.5 %", "1.5 %; any"}


def test_what_a_curve_says_of_errors_in_words() -> None:
    line, few = Line(4, (0.975,) * 11, (0.5,) * 11, 0.0), Line(1, (0.5,) * 11, (0.25,) * 11, None)
    curve = Curve("slope ≤ 1", "in the exponent", 4, 2, 0.1, line, few)
    words = ClaimList.noticed(curve)
    assert "False by 0.05 in the exponent in all 4 trials with intervals (2 are exact)" in words
    assert "passed with probability 0.03 and been contradicted with probability 0.50; in 1 of them only" in words
    assert "No amount would be noticed with probability 0.95 in either case." in words
    assert "by whatever amount" in ClaimList.noticed(replace(curve, in_some=None))
    assert "from 0.02 in the exponent on" in ClaimList.noticed(replace(curve, in_some=replace(few, noticed_from=0.02)))


@pytest.mark.parametrize(("noticed", "passed"), [(0.0, "1.00"), (0.25, "0.75"), (1.0, "0.00")])
def test_a_curve_is_said_and_drawn_the_right_way_up(noticed: float, passed: str) -> None:
    every, few = Line(4, (0.6,) * 11, (0.5,) * 11, 0.0), Line(1, (noticed,) * 11, (0.0,) * 11, None)
    words = ClaimList.noticed(Curve("slope ≤ 1", "in the exponent", 4, 0, 0.1, every, few))
    assert re.findall(r"passed with probability (\d\.\d\d)", words) == ["0.40", passed]
    # 0 is the top of a picture that is 70 high.
    points = [tuple(map(float, point.split(","))) for point in ClaimList.path(few.noticed).split()]
    assert points == [(20.0 * i, pytest.approx(70.0 * (1.0 - noticed))) for i in range(11)]


def test_a_certificate_of_two_claims_is_counted_once() -> None:
    shared, part = (
        JudgedProof(file, "enumeration", covers, "", 1, 1, "")
        for file, covers in (("shared/a.toml", "sizes"), ("slam/b.toml", "part"))
    )
    claims = [judged(claim, "proved-for-sizes") for claim in claims_of("slam") if claim.words][:3]
    proved = [replace(claim, proofs=(shared, part)) for claim in claims[:2]]
    every = (*proved, replace(claims[2], status="verified", proofs=(part,)))
    assert summary(JudgedStudy("study", every, {}), ["slam"])["statuses"][0] == "2 proved for sizes, 1 verified"
    assert certificates(every) == {"shared/a.toml"}
    by_coq = replace(proved[0], status="proved", coq=("slam_losses.slam_lemma_1",), proofs=())
    found = given(JudgedStudy("study", (by_coq, proved[1]), {"slam": JudgedPaper("A title", "An author")}), ["slam"])
    assert found is not None
    assert [found[key] for key in ("by_proof", "by_coq", "certificates")] == [2, 1, 1]


def test_errata_are_counted_by_kind() -> None:
    assert {one.kind for one in errata.load()} == set(KINDS)
    kinds = [one.kind for one in errata.load() if "cone" in one.where]
    said = summary(JudgedStudy("study", (), {}), ["cone"])["errata"]
    assert [int(words.split()[0]) for words in said] == [kinds.count(kind) for kind in KINDS if kind in kinds]
