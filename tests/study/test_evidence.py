"""Does the record of what claims are tested on show a test that has become weaker where no status moves?"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pipeline_lib.claims.judged import JudgedClaim, JudgedTrial
from pipeline_lib.claims.ledger import Claim
from pipeline_lib.claims.severity import Severity
from pipeline_lib.study import evidence
from pipeline_lib.study.evidence import Evidence
from tests import readings
from tools import evidence as command

RECORD = evidence.read("default")
LEDGER = {claim.id: claim for claim in readings.ledger_of_claims()}


def entry(name: str) -> dict[str, Any]:
    """A claim of the ledger as plain values."""
    return LEDGER[name].model_dump(mode="json", by_alias=True, exclude_none=True)


def weakened(name: str, change: Callable[[dict[str, Any]], None], changes: str = "") -> list[str]:
    """What the record says of the ledger in which one claim was changed."""
    changed = entry(name)
    change(changed)
    found = evidence.found_in([Claim.parse(changed)], None, RECORD)
    return evidence.problems({name: RECORD[name]}, found, changes, measured=False)[:-1]


def test_the_record_is_that_of_the_ledger() -> None:
    """Otherwise: make evidence."""
    found = evidence.found_in(LEDGER.values(), None, RECORD)
    assert {name: found.get(name) for name in RECORD} == RECORD
    assert {*found} - {*RECORD} <= readings.added_claims()


def means_for_largest(claim: dict[str, Any]) -> None:
    claim["evidence"][0]["values"]["document_layer_error"]["value"] = ["document_error"]


def one_loss_of_three(claim: dict[str, Any]) -> None:
    claim["evidence"][0]["where"] += " AND surrogate = 'squared'"


def tolerance_of_one(claim: dict[str, Any]) -> None:
    claim["rule"][0]["tolerance"] = 1.0


def bound_of_another_theorem(claim: dict[str, Any]) -> None:
    claim["evidence"][0]["values"]["bound"]["value"] = ["bound_erm"]


@pytest.mark.parametrize(
    ("name", "change", "found"),
    [
        ("twolayer-thm3", means_for_largest, "other expressions give other numbers"),
        ("topk-thm41", one_loss_of_three, "other rows count"),
        ("slam-thm5", tolerance_of_one, "the tolerance of cumulative_loss <= bound was 1e-06 and is 1.0"),
        ("lists-thm6", bound_of_another_theorem, "other expressions give other numbers"),
    ],
)
def test_errors_in_the_ledger_that_move_no_status_are_reported(name: str, change: Any, found: str) -> None:
    [line] = weakened(name, change)
    assert line.startswith(f"{name}: {found}")
    assert not weakened(name, change, f"# Changes\n\n## Unreleased\n\n- `{name}` is judged in another way.\n\n## 1.0\n")
    assert weakened(name, change, f"# Changes\n\n## Unreleased\n\n- None.\n\n## 1.0\n\n- `{name}` is new.\n")


def left_out(key: str) -> Callable[[dict[str, Any]], None]:
    return lambda claim: claim[key].pop()


def changed_control(claim: dict[str, Any]) -> None:
    claim["planted"][0]["values"] = {"cumulative_loss": "100 * cumulative_loss"}
    claim["planted"][0].pop("evidence")


@pytest.mark.parametrize(
    ("name", "change", "found"),
    [
        ("slam-thm5", left_out("planted"), "the control permuted is gone"),
        ("slam-thm5", changed_control, "the control comparator-once is another one"),
        ("slam-vmax", left_out("rule"), "the check v_max_ndcg <= v_max_ndcg_limit is gone"),
        ("lists-thm9", left_out("evidence"), "other rows count"),
        ("slam-thm5", lambda claim: claim["rule"][0].pop("trivial"), "the trivial of cumulative_loss <= bound was"),
        ("slam-thm5", lambda claim: claim["rule"][0].update(guards=True), "cumulative_loss <= bound has guards"),
        ("topk-thm41", lambda claim: claim["rule"][0].update(deviates_within=0.2), "the deviates_within of"),
        ("topk-thm41", lambda claim: claim["rule"][0].update(limit=0.75), "the limit of regret_exponent <= 0.666"),
    ],
)
def test_a_weaker_rule_control_or_reading_is_reported(name: str, change: Any, found: str) -> None:
    assert weakened(name, change)[0].startswith(f"{name}: {found}")


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("topk-thm41", lambda claim: claim["rule"][0].update(limit=0.65, tolerance=0.01)),
        ("slam-thm5", lambda claim: claim["planted"].append({**claim["planted"][0], "name": "another"})),
        ("slam-thm5", lambda claim: claim.update(says="In other words.", shows="The same.")),
        ("topk-thm41", lambda claim: claim["rule"][0].update(why="Because.")),
    ],
)
def test_what_is_stricter_or_said_in_other_words_is_no_weaker_test(name: str, change: Any) -> None:
    assert weakened(name, change) == []


def test_a_claim_that_is_gone_is_reported() -> None:
    [line, _] = evidence.problems({"slam-thm5": RECORD["slam-thm5"]}, {}, "", measured=False)
    assert line == "slam-thm5: it is no claim, or is not judged, any more"


# --- What is measured -------------------------------------------------------------------------------------------------


def measured(losses: list[str], sizes: list[int], *, slack: float = 1.2, decided: int | None = None) -> Evidence:
    """What Theorem 4.1 is tested on in a study with these trials."""
    trials = tuple(
        JudgedTrial({"surrogate": loss, "n": n}, {"regret_exponent": 0.5}, "tables/made.parquet", "verified")
        for loss in losses
        for n in sizes
    )
    claim = LEDGER["topk-thm41"]
    severity = Severity(len(trials), len(trials) if decided is None else decided, slack)
    about = (claim.id, claim.paper, claim.kind, claim.where, claim.says, "", "", "", "verified", "")
    return Evidence.of(claim, JudgedClaim(*about, severity, trials=trials))  # type: ignore[arg-type]


LOSSES = ["squared", "kl", "ranksvm"]


@pytest.mark.parametrize(
    ("now", "found"),
    [
        (measured(LOSSES, [10, 20]), []),
        (measured([*LOSSES, "slam"], [10, 15, 20, 40], slack=1.1), []),
        (
            measured(LOSSES[:2], [10, 20]),
            ["6 trials tested it", "surrogate: ranksvm is gone", "the statement names RankSVM"],
        ),
        (measured(LOSSES, [10, 15]), ["n: 20 is gone"]),
        (measured(LOSSES, [10, 20], decided=1), ["6 trials could have contradicted it, and 1 can"]),
        (measured(LOSSES, [10, 20], slack=2.4), ["its limits could be 2.4 times tighter, and were 1.2"]),
    ],
)
def test_weaker_evidence_in_a_study_is_reported(now: Evidence, found: list[str]) -> None:
    lines = list(evidence.weaker(measured(LOSSES, [10, 20]), now))
    assert [line[: len(part)] for line, part in zip(lines, found, strict=True)] == found


def test_of_an_axis_with_many_values_the_ends_and_the_number_are_kept() -> None:
    before = measured(LOSSES, list(range(40)))
    assert before.covers["n"] == {"number": 40, "from": 0, "to": 39}
    assert [*evidence.weaker(before, measured(LOSSES, list(range(1, 60))))] == [
        "n: it went from 0 to 39, and goes from 1 to 59"
    ]
    assert "n: it had 40 values, and has 4" in [*evidence.weaker(before, measured(LOSSES, [0, 1, 2, 39]))]


def test_a_statement_names_what_its_trials_name() -> None:
    assert measured(LOSSES, [10]).named == {"squared": True, "KL": True, "RankSVM": True, "Theorem 4.1": False}


def test_the_command_refuses_to_record_a_weaker_test(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(evidence.recorded, "FOLDER", tmp_path)
    stricter = {**RECORD["slam-thm5"].model_dump(), "controls": {**RECORD["slam-thm5"].controls, "another": "0" * 8}}
    evidence.write("default", {**RECORD, "slam-thm5": Evidence.model_validate(stricter)})
    before = evidence.path_of("default").read_bytes()
    assert command.main([]) == 1
    assert evidence.path_of("default").read_bytes() == before
    changes = tmp_path / "CHANGELOG.md"
    changes.write_text("# Changes\n\n## Unreleased\n\n- `slam-thm5` has one control less.\n")
    monkeypatch.setattr(evidence, "CHANGES", changes)
    assert command.main([]) == 0
    assert evidence.read("default")["slam-thm5"] == RECORD["slam-thm5"]
