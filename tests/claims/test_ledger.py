"""Does the ledger hold all claims, are its rules fair, and is a wrong entry named?"""

import functools
import json
import operator
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import yaml

from pipeline_lib import papers
from pipeline_lib.claims import ledger
from pipeline_lib.claims.kinds import Order, Question
from pipeline_lib.claims.ledger import Claim, Context
from pipeline_lib.claims.severity import SLACK
from pipeline_lib.claims.trials import Trial
from pipeline_lib.claims.words import BY_PROOF, FAILED, STATUSES
from pipeline_lib.core.errors import ConfigurationError, DataError
from pipeline_lib.proofs import FOLDER, SHARED
from pipeline_lib.report.errata_section import running
from pipeline_lib.statistics import Interval
from tests import readings

LEDGER = readings.ledger_of_claims()
CLAIMS = [claim.model_copy(update={"planted": (), "inconclusive": None}) for claim in LEDGER]
"""The claims without what they plant, which needs more values than those that the rules name."""
TABLE = "tables/made.parquet"


def judged(claim: Claim, *values: dict[str, Any]) -> ledger.JudgedClaim:
    trials = [Trial({"n": n}, one, TABLE) for n, one in enumerate(values)]
    return ledger.judge_trials(claim, trials, Context("made"))


def test_open_questions_and_only_they_are_answered() -> None:
    assert {claim.id for claim in LEDGER if claim.kind == "finding"} == {
        claim.id for claim in LEDGER if any(isinstance(check, Question) for check in claim.checks)
    }


DROPPED = {
    ("lists-prop1", "euclidean-smoothness"): "the norm: the largest eigenvalue of diag(q) - q q' is at most 1/2",
    ("lists-prop10", "without-the-constant"): "the proof in appendix G",
    ("lists-table1", "diameter"): "the diameter is twice the radius, in the regret and in the step",
}
"""Plants that change a limit by a factor of more than :data:`SLACK`, and what they leave out."""


def test_no_planted_factor_is_fitted_to_the_slack() -> None:
    """A factor of a plant is one that the statement or its proof has; else it only says how loose the limit is."""
    found = set()
    for claim in LEDGER:
        compared = [check for check in claim.checks if isinstance(check, Order) or check.check == "bound"]
        limits = {name for check in compared for name in check.names}
        for planted in claim.planted:
            for name in limits & set(planted.values):
                factor = _factor(name, planted.values[name])
                if factor is not None and max(factor, 1 / factor) > SLACK:
                    found.add((claim.id, planted.name))
    assert found == set(DROPPED)


def test_what_is_planted_can_change_a_verdict() -> None:
    for claim in LEDGER:
        judged = {name for check in claim.checks for name in check.names}
        read = ((*reading.values, *reading.axes, *reading.setting) for reading in claim.readings)
        known = {*claim.names, *(name for names in read for name in names)}
        for planted in claim.planted:
            assert planted.evidence or judged & set(planted.values), f"{claim.id}: {planted.name}"
            named = {name for text in planted.values.values() for name in pl.sql_expr(text).meta.root_names()}
            # Which names a column gives is known when it is read.
            if not any(reading.named_by for reading in claim.readings):
                assert named <= known, f"{claim.id}: {planted.name}: {named - known}"


def _factor(name: str, text: str) -> float | None:
    """The constant by which an expression multiplies a value, if it does that and nothing else."""
    if set(pl.sql_expr(text).meta.root_names()) != {name}:
        return None
    one, two = pl.DataFrame({name: [1.0, 2.0]}).select(pl.sql_expr(text).cast(pl.Float64)).to_series()
    return one if one > 0 and two == pytest.approx(2 * one) else None


def test_without_evidence_nothing_is_verified() -> None:
    context = Context("default", {"MQ2007": "not in a mirror; to get it: place MQ2007.rar in data/raw"})
    found = ledger.judge(CLAIMS, context)
    assert {judgement.status for judgement in found} == {"not-run"}
    reasons = {judgement.id: judgement.explanation for judgement in found}
    assert reasons["cone-table1-mq2007"] == (
        "Data set MQ2007 is missing: not in a mirror; to get it: place MQ2007.rar in data/raw."
    )
    assert reasons["slam-thm2"] == "The experiment that bears on it is not part of the study default."


def test_trials_without_the_values_of_the_rule_are_an_error_that_names_the_claim() -> None:
    [claim] = [claim for claim in CLAIMS if claim.id == "slam-thm2"]
    with pytest.raises(DataError, match=r"claim slam-thm2: expected at least one trial with smallest_slack"):
        judged(claim, {"slack": 0.1})


def test_claims_json_is_deterministic_and_counts(tmp_path: Path) -> None:
    context = Context("made")
    known = {"rounds_that_differ": 4, "rounds_that_differ_misordered": 0}
    found = [
        judged(claim, known) if claim.id == "slam-eta-free" else ledger.judge([claim], context)[0] for claim in CLAIMS
    ]
    for name in ("a.json", "b.json"):
        ledger.write(tmp_path / name, found, context)
    assert (tmp_path / "a.json").read_bytes() == (tmp_path / "b.json").read_bytes()
    document = json.loads((tmp_path / "a.json").read_text())
    counts = document["counts"]["all"]
    assert (counts["refuted"], counts["not-run"]) == (1, len(CLAIMS) - 1)
    assert sum(counts.values()) == len(document["claims"]) == len(CLAIMS)
    [refuted] = [claim for claim in document["claims"] if claim["status"] == "refuted"]
    assert refuted["trials"][0]["table"] == TABLE


@pytest.fixture
def broken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Copy the claims, let the test spoil those of one paper, and load them."""
    for paper in papers.every():
        for path in paper.ledger:
            copied = tmp_path / path.relative_to(papers.FOLDER)
            copied.parent.mkdir(parents=True)
            copied.write_text(path.read_text())
    monkeypatch.setattr(papers, "FOLDER", tmp_path)

    def load(paper: str, spoil: Any) -> None:
        path = papers.get(paper).ledger[0]
        document = yaml.safe_load(path.read_text())
        spoil(document)
        path.write_text(yaml.safe_dump(document, sort_keys=False))
        ledger.load()

    return load


THM2 = 2
"""The place of slam-thm2 in the first file of its paper."""


@pytest.mark.parametrize(
    ("keys", "wrong", "message"),
    [
        (["claims", THM2, "wehre"], "x", r"slam/losses/claims\.yaml: slam-thm2: unknown key 'wehre'.*'where'"),
        (["claims", THM2, "id"], "slam-thm2", r"slam-thm2: unknown key 'slam-thm2'"),
        (["claims", THM2, "rule", "holds"], "slack => 0", r"rule: expected two names .*'slack => 0'"),
        (["claims", THM2, "kind"], "guess", r"slam-thm2\.kind: expected .* found 'guess'"),
        (["claims", THM2, "rule", "check"], "at-must", r"rule: expected one of 'bound', .* found 'at-must'"),
        (["claims", THM2, "rule"], {"hodls": "slack >= 0"}, r"rule: expected one of the keys holds, .* hodls"),
        (["claims", THM2, "rule", "tolerance"], "1e-9", r"rule\.tolerance: expected a valid number, found '1e-9'"),
        (["claims", THM2, "rule"], [], r"slam-thm2: rule: expected it beside shows, evidence"),
        (["paper"], "topk", r"slam/losses/claims\.yaml: expected a list of claims under the key 'claims'"),
    ],
)
def test_a_wrong_ledger_names_file_claim_and_key(broken: Any, keys: list[Any], wrong: Any, message: str) -> None:
    def spoil(document: Any) -> None:
        *places, last = keys
        functools.reduce(operator.getitem, places, document)[last] = wrong

    with pytest.raises(ConfigurationError, match=message):
        broken("slam", spoil)


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda claims: claims[THM2].pop("slam-thm2"), r"claim number 3: expected the key 'id'"),
        (lambda claims: claims.append(claims[THM2]), r"claim slam-thm2: expected every id once"),
    ],
)
def test_every_claim_has_a_name_of_its_own(broken: Any, spoil: Any, message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        broken("slam", lambda document: spoil(document["claims"]))


def test_a_claim_that_nothing_measures_has_a_certificate_of_all_of_it() -> None:
    about = {"slam-toy": "x^2 >= 0.", "kind": "bound", "where": "Nowhere"}
    with pytest.raises(ConfigurationError, match="kind: expected the kind of a claim that has no rule"):
        Claim.parse({key: about[key] for key in ("slam-toy", "where")}, "here")
    claims = [Claim.parse(about, "here"), *(claim for claim in LEDGER if not claim.readings)]
    found = ledger.judge(claims, Context("made"))
    assert {one.status for one in found} == {"not-run"}
    found = ledger.with_proofs(found, {claim.paper for claim in claims})
    assert [one.id for one in found if one.status not in ("proved", "argued")] == ["slam-toy"]
    assert all(any(proof.covers in ("all", "steps") for proof in one.proofs) for one in found[1:])


@pytest.mark.parametrize(
    ("name", "status"),
    [
        ("slam-ndcg-not-optimal", "proved"),
        ("slam-largest-weight", "proved-for-sizes"),
        ("slam-thm11-lambda", "argued"),
        ("slam-thm2", "proved"),  # in Coq, where its certificate is for sizes
        ("slam-lemma1", "proved"),  # in Coq, where its certificate has steps only
        ("slam-cor7", "proved"),  # in Coq, without a certificate
        ("slam-chapelle-wu", "not-run"),
    ],
)
def test_a_claim_is_what_the_strongest_proof_makes_of_it(name: str, status: str) -> None:
    [claim] = [claim for claim in LEDGER if claim.id == name]
    [found] = ledger.with_proofs(ledger.judge([claim], Context("made")), ["slam"])
    assert found.status == status


def test_no_certificate_proves_what_the_tables_contradict() -> None:
    [claim] = [claim for claim in LEDGER if claim.id == "cone-norm"]
    [judged] = ledger.judge([claim], Context("made"))
    found = ledger.with_proofs([replace(judged, status=status) for status in STATUSES], ["cone"])
    assert [one.status for one in found] == [status if status in FAILED else found[-1].status for status in STATUSES]
    assert found[-1].status in BY_PROOF.values()
    assert all(one.proofs for one in found)


def test_a_certificate_of_no_claim_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = (FOLDER / "cone/cone-norm.toml").read_text(encoding="utf-8")
    (tmp_path / "cone").mkdir()
    (tmp_path / "cone/cone-norm.toml").write_text(source.replace('"cone-norm"', '"cone-norms"'), encoding="utf-8")
    monkeypatch.setattr(ledger, "FOLDER", tmp_path)
    with pytest.raises(DataError, match="the ledger has no claim cone-norms"):
        ledger.with_proofs([], ["cone"])


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        (
            "slam-thm2",
            {"2 to 5 documents": "2 to 4 documents", "range(2, 6)": "range(2, 5)", "cases = 210": "cases = 38"},
        ),
        ("slam-thm2", {'covers = "sizes"': 'covers = "all"'}),
    ],
    ids=["fewer sizes", "all of it"],
)
def test_a_certificate_for_other_sizes_than_the_ledger_states_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, changes: dict[str, str]
) -> None:
    source = (FOLDER / f"slam/{name}.toml").read_text(encoding="utf-8")
    for old, new in changes.items():
        source = source.replace(old, new)
    (tmp_path / "slam").mkdir()
    (tmp_path / "slam/one.toml").write_text(source, encoding="utf-8")
    monkeypatch.setattr(ledger, "FOLDER", tmp_path)
    with pytest.raises(DataError, match="sizes"):
        ledger.with_proofs([], ["slam"])


@pytest.mark.parametrize("name", ["lists-lemma4", "topk-lemma4", "lists-thm3", "slam-thm10-scores-corrected"])
def test_a_certificate_of_two_papers_proves_the_claims_of_each(name: str) -> None:
    claims = [claim for claim in LEDGER if claim.id == name]
    [found] = ledger.with_proofs(ledger.judge(claims, Context("made")), [claims[0].paper])
    # The other two are proved in Coq as well.
    assert found.status == ("argued" if "lemma4" in name else "proved")
    assert [proof.file.partition("/")[0] for proof in found.proofs] == [SHARED]


def test_names_of_columns_files_and_claims_are_set_as_code() -> None:
    names = {claim.id for claim in LEDGER}
    for claim in LEDGER:
        notes = [re.sub(r"{.*?}", "", reading.notes) for reading in claim.readings]
        for text in (claim.says, claim.otherwise or "", *notes):
            assert not re.search(r"[A-Za-z]{2}<sub>[a-z_]{2,}</sub>", running(text)), claim.id
            assert not names & {*re.findall(r"[\w-]+", re.sub("`.*?`", "", text))}, claim.id


def test_statements_of_this_project_say_so() -> None:
    """What counts as one of the paper's claims on the front page is not a correction, and not marked otherwise."""
    for claim in LEDGER:
        assert "ours" not in claim.where
        if claim.id.endswith("-corrected"):
            assert claim.where.endswith("corrected") or claim.says.startswith("(Ours)"), claim.id


@pytest.mark.parametrize(
    ("names", "said"), [(["MQ2008"], True), (["MQ2008", "OHSUMED"], False), ([None], False), (["MQ2008", None], False)]
)
def test_a_claim_that_was_tried_on_one_data_set_says_so(names: list[str | None], said: bool) -> None:
    [claim] = [claim for claim in CLAIMS if claim.id == "cone-mean-difference"]
    values = {"more": Interval(0.2, 0.1, 0.3, 4), "ndcg": Interval(0.5, 0.4, 0.6, 4)}
    trials = [Trial({"dataset": name} if name else {}, values, "tables/cone-practice.parquet") for name in names]
    explanation = ledger.judge_trials(
        claim.model_copy(update={"planted": (), "inconclusive": None}), trials, Context("made")
    ).explanation
    assert ("one data set, MQ2008" in explanation) is said
