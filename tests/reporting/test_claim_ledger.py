"""Does the ledger hold all claims, and can each of them reach every status its rule allows?"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import yaml

from pipeline_lib import papers
from pipeline_lib.claims import ledger, rules
from pipeline_lib.claims.evidence import Evidence, Interval, Trial, write_all, write_evidence
from pipeline_lib.claims.ledger import Claim, Context
from pipeline_lib.claims.rules import Bound, Cells, Check, Equals, Exponent, Order, Quantity, Question, Status
from pipeline_lib.claims.severity import SLACK
from pipeline_lib.errors import ConfigurationError, DataError
from tests import readings
from tests.readings import handed_in

LEDGER = readings.ledger_of_claims()
CLAIMS = handed_in(LEDGER)
TABLE = "tables/made.parquet"


def synthetic(check: Check, wanted: Status) -> list[dict[str, float | Interval]]:
    """Trials that make ``check`` return ``wanted``."""
    match check:
        case Bound():
            limit, side = _number(check.limit, 1.0), 1 if check.direction == "at-most" else -1
            named = _with_names(check.limit, limit)
            if isinstance(check.trivial, str):
                named[check.trivial] = limit + side
            return [{**named, check.statistic: _beyond(check, limit, side, wanted)}]
        case Equals():
            expected = _number(check.expected, 1.0)
            return [{**_with_names(check.expected, expected), check.statistic: _beyond(check, expected, 1, wanted)}]
        case Exponent():
            value = _beyond(check, check.limit, -1 if check.relation == "at_least" else 1, wanted)
            return [{check.statistic: value if isinstance(value, Interval) else Interval(value, value, value)}]
        case Order():
            level = _levels(check)
            sign = {"verified": 1.0, "consistent": 0.0, "refuted": -1.0}[wanted]
            if any(not isinstance(one, str) for pair in check.greater for one in pair) and not sign:
                return [{name: Interval(value, -1e6, 1e6) for name, value in level.items()}]
            return [{name: sign * value for name, value in level.items()}]
        case Cells():
            off = {"verified": (0, 0), "deviates": (0, 2), "refuted": (2, 2)}[wanted]
            return [
                {**_with_names(check.expected, 0.5), check.statistic: 0.5 + factor * check.tolerance} for factor in off
            ]
        case Question():
            values: dict[str, float | Interval] = {name: Interval(0.0, -1e9, 1e9) for name in check.names}
            if wanted == "answered":
                answer = check.answers[0]
                ends = [end for end in (answer.above, answer.below) if math.isfinite(end)]
                inside = sum(ends) / 2 if len(ends) == 2 else ends[0] + (1 if answer.above == ends[0] else -1)
                values[answer.statistic] = inside
            return [values]
    raise AssertionError(check)


def _beyond(check: Bound | Equals | Exponent, limit: float, side: int, wanted: Status) -> float | Interval:
    """A value whose status is ``wanted`` where larger values (``side`` 1) or smaller ones (-1) fail."""
    band = check.deviates_within or check.tolerance
    far = limit + side * (2 * band + 2 * check.tolerance + 10)
    if wanted == "consistent":
        return Interval(far, min(limit, far) - 1, max(limit, far))
    return {"verified": limit, "deviates": limit + side * (check.tolerance + band) / 2, "refuted": far}[wanted]


def _number(quantity: Quantity, default: float) -> float:
    return default if isinstance(quantity, str) else quantity


def _with_names(quantity: Quantity, default: float) -> dict[str, float | Interval]:
    return {quantity: default} if isinstance(quantity, str) else {}


def _levels(order: Order) -> dict[str, float]:
    """Numbers in the published order, their opposites in the reverse: a name is above everything it must exceed."""
    level = dict.fromkeys(order.names, 1.0)
    for _ in order.names:
        for a, b in order.greater:
            if isinstance(a, str):
                level[a] = max(level[a], (level[b] if isinstance(b, str) else b) + 1)
            elif isinstance(b, str):
                level[b] = -abs(a) - 1
    return level


def judged(claim: Claim, evidence: Evidence, folder: Path) -> ledger.Judgement:
    results = folder / "results"
    (results / "tables").mkdir(parents=True, exist_ok=True)
    (results / TABLE).touch()
    write_evidence(results / "evidence" / f"{claim.id}.json", evidence)
    [found] = ledger.judge([claim], [results / "evidence" / f"{claim.id}.json"], Context("made"))
    return found


def test_every_claim_has_an_experiment_of_its_paper_that_answers_it() -> None:
    handed_in = [(paper, claim) for paper, _, step in papers.steps(papers.names()) for claim in step.claims]
    read = [(claim.paper.name, claim.id) for claim in LEDGER if claim.readings]
    assert sorted(handed_in + read) == sorted((claim.paper.name, claim.id) for claim in CLAIMS)
    assert {claim.paper for claim in CLAIMS} == set(papers.every())


def test_the_ids_of_a_paper_s_claims_begin_alike() -> None:
    beginnings = {(claim.paper.name, claim.id.split("-")[0]) for claim in CLAIMS}
    assert len(beginnings) == len({paper for paper, _ in beginnings}) == len({first for _, first in beginnings})


def test_open_questions_and_only_they_are_answered() -> None:
    assert {claim.id for claim in LEDGER if claim.kind == "finding"} == {
        claim.id for claim in LEDGER if any(isinstance(check, Question) for check in claim.checks)
    }


DROPPED = {
    ("lists-lemma14", "without-the-constant"): "the constant 6 of Srebro and others (2010)",
    ("lists-prop1", "euclidean-smoothness"): "the norm: the largest eigenvalue of diag(q) - q q' is at most 1/2",
    ("lists-prop10", "without-the-constant"): "the proof in appendix G",
    ("lists-prop15", "one-for-twelve"): "Lemma 14 and the triangle inequality",
    ("lists-table1", "diameter"): "the diameter is twice the radius, in the regret and in the step",
}
"""Plants that change a limit by a factor of more than :data:`SLACK`, and what they leave out."""


def test_no_planted_factor_is_fitted_to_the_slack() -> None:
    """A factor of a plant is one that the statement or its proof has; else it only says how loose the limit is."""
    found = set()
    for claim in LEDGER:
        limits = {name for check in claim.checks if isinstance(check, Bound | Order) for name in check.names}
        for planted in claim.planted:
            for name in limits & set(planted.values):
                factor = _factor(name, planted.values[name])
                if factor is not None and max(factor, 1 / factor) > SLACK:
                    found.add((claim.id, planted.name))
    assert found == set(DROPPED)


def test_what_is_planted_can_change_a_verdict() -> None:
    for claim in LEDGER:
        judged = {name for check in claim.checks for name in check.names}
        known = {*claim.names, *(name for reading in claim.readings for name in (*reading.axes, *reading.setting))}
        for planted in claim.planted:
            assert planted.reading or judged & set(planted.values), f"{claim.id}: {planted.name}"
            named = {name for text in planted.values.values() for name in pl.sql_expr(text).meta.root_names()}
            # Only evidence that is handed in has settings that the ledger does not know.
            assert not claim.readings or named <= known, f"{claim.id}: {planted.name}: {named - known}"


def _factor(name: str, text: str) -> float | None:
    """The constant by which an expression multiplies a value, if it does that and nothing else."""
    if set(pl.sql_expr(text).meta.root_names()) != {name}:
        return None
    one, two = pl.DataFrame({name: [1.0, 2.0]}).select(pl.sql_expr(text).cast(pl.Float64)).to_series()
    return one if one > 0 and two == pytest.approx(2 * one) else None


def test_the_claims_of_some_papers_are_a_part_of_all() -> None:
    assert ledger.load([papers.get("topk")]) == [claim for claim in LEDGER if claim.paper.name == "topk"]


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.id)
def test_every_check_reaches_every_status_it_allows(claim: Claim) -> None:
    for check in claim.checks:
        for wanted in check.statuses:
            trials = [Trial({"n": n}, values, TABLE) for n, values in enumerate(synthetic(check, wanted))]
            found = rules.judge([check], trials)
            assert found.status == wanted, (check, found.sentence)
            assert found.sentence.endswith(".")


def test_a_norm_may_pass_its_own_limit_and_fail_the_constant(tmp_path: Path) -> None:
    [claim] = [claim for claim in CLAIMS if claim.id == "slam-grad-l1"]
    evidence = Evidence(claim.id, (Trial({}, {"largest_norm": 2.0, "twice_the_weight_sum": 2.5}, TABLE),))
    assert judged(claim, evidence, tmp_path).status == "refuted"


def test_claims_expected_to_be_refuted_come_out_refuted_by_the_known_numbers(tmp_path: Path) -> None:
    known = {
        "slam-eta-free": {"rounds_that_differ": 4, "rounds_that_differ_misordered": 0},
        "slam-thm10-scores": {"dimension": 4, "features": 2},
        "topk-p-compact": {"printed": 0.97, "probability": 0.017, "corrected": 0.017},
    }
    for claim in CLAIMS:
        if claim.id in known:
            evidence = Evidence(claim.id, (Trial({}, known[claim.id], TABLE),))
            assert judged(claim, evidence, tmp_path / claim.id).status == "refuted"


def test_without_evidence_nothing_is_verified(tmp_path: Path) -> None:
    context = Context("default", {"MQ2007": "not in a mirror; to get it: place MQ2007.rar in data/raw"})
    found = ledger.judge(CLAIMS, [], context)
    assert {judgement.status for judgement in found} == {"not-run"}
    reasons = {judgement.claim.id: judgement.explanation for judgement in found}
    assert reasons["cone-table1-mq2007"] == (
        "Data set MQ2007 is missing: not in a mirror; to get it: place MQ2007.rar in data/raw."
    )
    assert reasons["slam-thm2"] == "The experiment that bears on it is not part of the study default."


def test_a_reason_from_the_experiment_is_reported(tmp_path: Path) -> None:
    [claim] = [claim for claim in CLAIMS if claim.id == "slam-thm8"]
    evidence = Evidence(claim.id, not_run="No solver reached a certified gap of 1e-6.")
    found = judged(claim, evidence, tmp_path)
    assert (found.status, found.explanation) == ("not-run", "No solver reached a certified gap of 1e-6.")


def test_evidence_that_cannot_be_trusted_is_an_error(tmp_path: Path) -> None:
    [claim] = [claim for claim in CLAIMS if claim.id == "slam-thm2"]
    folder = tmp_path / "evidence"
    good = Evidence(claim.id, (Trial({}, {"smallest_slack": 0.1}, TABLE),))
    write_evidence(folder / "slam-thm2.json", good)
    with pytest.raises(DataError, match=f"expected the table {TABLE}"):
        ledger.judge([claim], sorted(folder.glob("*.json")), Context("made"))
    write_evidence(folder / "slam-thm22.json", Evidence("slam-thm22", good.trials))
    with pytest.raises(DataError, match="did you mean 'slam-thm2'"):
        ledger.judge([claim], sorted(folder.glob("*.json")), Context("made"))
    (folder / "slam-thm22.json").unlink()
    wrong = Evidence(claim.id, (Trial({}, {"slack": 0.1}, TABLE),))
    (tmp_path / "tables").mkdir()
    (tmp_path / TABLE).touch()
    write_evidence(folder / "slam-thm2.json", wrong)
    with pytest.raises(DataError, match=r"slam-thm2\.json: trial: expected values among"):
        ledger.judge([claim], sorted(folder.glob("*.json")), Context("made"))


def test_only_the_evidence_handed_in_is_judged(tmp_path: Path) -> None:
    [claim] = [claim for claim in CLAIMS if claim.id == "slam-thm8"]
    left_over = tmp_path / "evidence" / "slam-thm8.json"
    write_evidence(left_over, Evidence(claim.id, not_run="An experiment of a former study."))
    [found] = ledger.judge([claim], [], Context("made"))
    assert found.explanation == "The experiment that bears on it is not part of the study made."
    with pytest.raises(DataError, match="expected one file a claim"):
        ledger.judge([claim], [left_over, left_over], Context("made"))
    with pytest.raises(DataError, match="nowhere"):
        ledger.judge([claim], [tmp_path / "nowhere" / "slam-thm8.json"], Context("made"))


def test_evidence_is_handed_in_for_exactly_the_claims_asked_for(tmp_path: Path) -> None:
    found = Evidence("slam-thm8", not_run="No solver reached a certified gap.")
    with pytest.raises(DataError, match="'slam-thm2'"):
        write_all([tmp_path / "slam-thm8.json", tmp_path / "slam-thm2.json"], [found])
    assert not list(tmp_path.iterdir())


def test_claims_json_is_deterministic_and_counts(tmp_path: Path) -> None:
    results = tmp_path / "results"
    (results / "tables").mkdir(parents=True)
    (results / TABLE).touch()
    for claim in CLAIMS[:3]:
        values = {
            name: value
            for check in claim.checks
            for [one] in [synthetic(check, "verified")]
            for name, value in one.items()
        }
        shown = dict.fromkeys(claim.displayed, 2.0)  # what is planted may be computed from these
        evidence = Evidence(claim.id, (Trial({}, {**shown, **values}, TABLE),))
        write_evidence(results / "evidence" / f"{claim.id}.json", evidence)
    for name in ("a.json", "b.json"):
        found = ledger.judge(CLAIMS, sorted((results / "evidence").glob("*.json")), Context("made"))
        ledger.write(tmp_path / name, found, Context("made"))
    assert (tmp_path / "a.json").read_bytes() == (tmp_path / "b.json").read_bytes()
    document = json.loads((tmp_path / "a.json").read_text())
    counts = document["counts"]["all"]
    assert sum(counts.values()) == len(CLAIMS)
    assert counts["not-run"] == len(CLAIMS) - 3
    assert len(document["claims"]) == len(CLAIMS)
    assert document["claims"][0]["trials"][0]["table"] == TABLE


@pytest.fixture
def broken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Copy the claims, let the test spoil those of one paper, and load them."""
    for paper in papers.every():
        (tmp_path / paper.name).mkdir()
        (tmp_path / paper.name / "claims.yaml").write_text((paper.folder / "claims.yaml").read_text())
    monkeypatch.setattr(papers, "FOLDER", tmp_path)

    def load(paper: str, spoil: Any) -> None:
        path = tmp_path / paper / "claims.yaml"
        document = yaml.safe_load(path.read_text())
        spoil(document)
        path.write_text(yaml.safe_dump(document))
        ledger.load()

    return load


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (
            lambda d: d["claims"][2].update(wehre="x"),
            r"slam/claims\.yaml: claim slam-thm2: unknown key 'wehre'.*'where'",
        ),
        (lambda d: d["claims"][2].pop("says"), r"claim slam-thm2: 'says' is a required property"),
        (lambda d: d["claims"][2].update(kind="guess"), r"claim slam-thm2: kind: 'guess' is not one of"),
        (lambda d: d["claims"][2]["rule"][0].update(tolerence=1), r"rule\.1: unknown key 'tolerence'.*'tolerance'"),
        (lambda d: d["claims"][2]["rule"][0].update(check="at-must"), r"rule\.1\.check: 'at-must' is not one of"),
        (lambda d: d["claims"][2]["rule"][0].update(tolerance="1e-9"), r"rule\.1\.tolerance: '1e-9' is not of type"),
        (lambda d: d["claims"][2].update(rule=[]), r"claim slam-thm2: rule: "),
        (lambda d: d["claims"][3].update(id="slam-thm2"), r"claim slam-thm2: expected every id once"),
        (lambda d: d.update(paper="topk"), r"slam/claims\.yaml: unknown key 'paper'"),
        (lambda d: d["claims"].append("text"), r"claim number \d+: 'text' is not of type 'object'"),
    ],
)
def test_a_wrong_ledger_names_file_claim_and_key(broken: Any, spoil: Any, message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        broken("slam", spoil)
