"""Does the table of numbered theorems say of each what its claims say, and no more?"""

from dataclasses import replace

import pytest
from page_of_paper import claims_of, judged

from pipeline_lib.claims import errata
from pipeline_lib.claims.judged import JudgedClaim, JudgedProof, JudgedTrial
from pipeline_lib.claims.severity import Severity
from pipeline_lib.report import theorems
from pipeline_lib.report.tables import Table, to_csv


def claim(where: str, status: str = "verified", **about: object) -> JudgedClaim:
    made = JudgedClaim("slam-a", "slam", "bound", where, "It states.", "Its words.", "", "", status, "")  # type: ignore[arg-type]
    return replace(made, **about)  # type: ignore[arg-type]


def trial(status: str, **setting: float) -> JudgedTrial:
    return JudgedTrial(setting, {"x": 1.0}, "", status)  # type: ignore[arg-type]


def table(*claims: JudgedClaim) -> Table:
    made = theorems.given(claims)["table"]
    assert isinstance(made, Table)
    return made


def test_a_theorem_whose_words_an_erratum_corrects_is_named_and_one_with_a_gap_in_its_proof_is_not() -> None:
    claims = [judged(one, "verified") for one in claims_of("topk")]
    about = {one.where["topk"]: one for one in errata.load() if "topk" in one.where}
    wrong = about["Theorems 5.1 and 5.2"]
    assert {one.number: one.errata for one in theorems.theorems(claims)} == {"4.1": [], "5.2": [wrong]}
    assert theorems.given(claims)["cited"] == [
        ("topk", "Theorem 5.1", wrong.subject, errata.address(wrong.letter))  # it is not the paper's own
    ]
    assert "proof of Theorem 5.2" in about


def test_the_words_of_a_theorem_are_corrected_only_where_they_are_wrong() -> None:
    claims = [judged(one, "verified") for paper in ("slam", "cone", "twolayer") for one in claims_of(paper)]
    assert [(one.paper, one.number) for one in theorems.theorems(claims) if one.errata] == [("cone", "1")]
    assert theorems.given(claims)["cited"] == []


def test_a_refuted_statement_says_in_which_cases_it_is_false() -> None:
    claims = [judged(one, "refuted") for one in claims_of("topk") if one.id in ("topk-lemma3", "topk-thm41")]
    assert {known.id: words for known, words in theorems.given(claims)["refuted"]} == {
        "topk-lemma3": "needs m > k + 1 or grades",
        "topk-thm41": "no erratum",
    }


def test_the_margin_is_that_of_the_claim_that_decides_and_only_bounds_have_one() -> None:
    tight, loose = (Severity(9, 3, slack_factor=factor) for factor in (1.25, 40.0))
    worse = claim("Theorem 5", "inconclusive", severity=loose)
    [one] = theorems.theorems([claim("Theorem 5", severity=tight), worse])
    assert (one.claim, one.margin) == (worse, 40.0)
    assert theorems.Theorem("slam", "5", (replace(worse, kind="rate"),)).margin is None
    assert theorems.Theorem("slam", "5", (claim("Theorem 5"),)).margin is None
    assert to_csv(table(worse)).splitlines()[1].split(",")[3:5] == ["40.0", "3 of 9"]


@pytest.mark.parametrize(("factor", "share"), [(1.0, 0.0), (10.0, 0.5), (100.0, 1.0), (0.5, 0.0)])
def test_bars_are_on_one_logarithmic_axis(factor: float, share: float) -> None:
    known = claim("Theorem 5", severity=Severity(9, 9, slack_factor=factor))
    longest = claim("Theorem 6", severity=Severity(9, 9, slack_factor=100.0))
    [bars] = [[row[3].share for row in group.rows] for group in table(known, longest).groups]
    assert bars == [pytest.approx(share), pytest.approx(1.0)]


def test_the_sizes_are_those_of_trials_that_could_have_contradicted_it() -> None:
    tried = (trial("verified", n=10, m=2), trial("inconclusive", n=5, m=7), trial("verified", n=1e15, m=2))
    assert theorems.Theorem("slam", "5", (claim("Theorem 5", trials=tried),)).sizes == "n = 10 to 1e15, m = 2"


def test_the_sizes_of_a_proof_are_stated_and_a_theorem_that_is_proved_holds_for_all() -> None:
    proofs = tuple(JudgedProof("a.toml", "enumeration", covers, covers, 1, 1, "") for covers in ("sizes", "part"))
    for status, sizes in (("proved", "all"), ("proved-for-sizes", "sizes")):
        known = claim("Theorem 5", status, proofs=proofs, severity=Severity(9, 9))
        assert theorems.Theorem("slam", "5", (known,)).sizes == sizes
        assert to_csv(table(known)).splitlines()[1].split(",")[4] == ""  # a proof cannot fail in a trial


def test_of_claims_with_the_same_status_the_one_with_the_most_trials_decides() -> None:
    few, many = (claim("Theorem 5", trials=(trial("verified", n=n),) * n) for n in (2, 3))
    for both in ((few, many), (many, few)):
        assert theorems.Theorem("slam", "5", both).claim == many
    assert theorems.Theorem("slam", "5", (many, replace(few, status="refuted"))).claim.status == "refuted"


def test_only_claims_that_are_theorems_themselves_are_rows() -> None:
    places = ("Theorem 10", "Theorem 2", "proof of Theorem 3", "Theorem 4, proof", "Lemma 5", "Section 4, Theorem 6")
    found = theorems.theorems([*map(claim, places), claim("Theorem 7", words="")])
    assert [one.number for one in found] == ["2", "6", "10"]
