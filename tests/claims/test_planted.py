"""Are wrong statements written into the evidence, and does a claim that misses one lose its verdict?"""

import math
from typing import Any

import pytest

from pipeline_lib.claims import ledger
from pipeline_lib.claims.ledger import Claim, Context
from pipeline_lib.claims.planted import Planted
from pipeline_lib.claims.trials import Trial
from pipeline_lib.claims.verdicts import Verdict
from pipeline_lib.claims.words import STATUSES, Status
from pipeline_lib.statistics import Interval
from tests.readings import check_of

TABLE = "tables/any.parquet"
TRIALS = (
    Trial({"n": 4}, {"gap": Interval(1.0, 0.5, 1.5), "bound": 2.0}, TABLE),
    Trial({"n": 16}, {"gap": 0.5, "bound": 1.0}, TABLE),
    Trial({"n": 4}, {"share": 0.25}, TABLE),
)
ENTRY = {"id": "a-1", "kind": "bound", "where": "w", "says": "s", "shows": "s"}
HALF = {"name": "half", "statement": "s", "values": {"bound": "bound / 2"}}
THIRD = {"name": "third", "statement": "The constant is a third.", "values": {"bound": "bound / 3"}}
RULE = [{"holds": "gap <= bound"}, {"holds": "share <= 0.5"}]
EXACT = TRIALS[1:]


def claim(*planted: dict[str, Any], rule: list[dict[str, Any]] = RULE) -> Claim:
    reading = {"table": "any", "values": {name: name for check in rule for name in check_of(check).names}}
    made = Claim.parse({**ENTRY, "rule": rule, "evidence": reading, "planted": planted or [HALF]})
    return made if planted else made.model_copy(update={"planted": ()})


def planted(values: dict[str, str]) -> Planted:
    return Planted(name="wrong", statement="s", values=values)


def judged(one: Claim, trials: tuple[Trial, ...] = TRIALS) -> ledger.JudgedClaim:
    return ledger.judge_trials(one, trials, Context("made"))


def test_expressions_range_over_values_and_setting_and_carry_intervals() -> None:
    wrong = planted({"gap": "gap * SQRT(n)", "share": "1 - share"})
    first, second, third = wrong.written_into(TRIALS)
    assert first.values == {"gap": Interval(2.0, 1.0, 3.0), "bound": 2.0}
    assert second.values == {"gap": 2.0, "bound": 1.0}
    assert third.values == {"share": 0.75}
    [turned] = planted({"gap": "-gap"}).written_into(TRIALS[:1])
    assert turned.values["gap"] == Interval(-1.0, -1.5, -0.5)


def test_a_planted_interval_has_the_fewest_degrees_of_freedom_of_its_trial() -> None:
    values = {"a": Interval(1.0, 0.5, 1.5, freedom=9), "b": Interval(2.0, 1.0, 3.0, freedom=4), "c": 1.0}
    [found] = planted({"a": "b", "c": "c + 1"}).written_into([Trial({}, values, TABLE)])
    assert found.values == {"a": Interval(2.0, 1.0, 3.0, freedom=4), "b": values["b"], "c": 2.0}


@pytest.mark.parametrize("status", ["inconclusive", "verified", "answered", "not-run"])
def test_what_is_not_contradicted_is_not_caught(status: Status) -> None:
    true, wrong = Verdict("verified", "", ("verified",)), Verdict(status, "", (status,))
    assert not planted({"bound": "bound / 2"}).caught(true, wrong)
    assert planted({"bound": "bound / 2"}).caught(true, Verdict("refuted", "", ("refuted",)))


@pytest.mark.parametrize("status", STATUSES)
def test_a_control_passes_only_if_it_is_verified(status: Status) -> None:
    control = planted({"bound": "2 * bound"}).model_copy(update={"holds": True})
    tried = Verdict(status, "", (status,))
    assert control.caught(Verdict("refuted", "", ("refuted",)), tried) == (status == "verified")


@pytest.mark.parametrize("leaves_open", [False, True])
@pytest.mark.parametrize(("answers", "another"), [(("no",), True), (("yes", "no"), True), (("yes",), False)])
def test_a_question_is_to_get_another_answer_or_none_where_that_is_said(
    leaves_open: bool, answers: tuple[str, ...], another: bool
) -> None:
    found = Verdict("answered", "", ("answered",), answers=("yes",))
    control = Planted(name="other", statement="Otherwise.", values={"x": "-x"}, leaves_open=leaves_open)
    assert control.caught(found, Verdict("answered", "", ("answered",), answers=answers)) == another
    assert control.caught(found, Verdict("inconclusive", "", ("inconclusive",))) == leaves_open


def test_a_claim_is_verified_only_if_everything_planted_is_caught() -> None:
    far = {"name": "same", "statement": "The constant is .9.", "values": {"bound": "bound * 0.9"}}
    # The interval of the first trial contains the smaller limit, which decides nothing.
    assert judged(claim(THIRD), (TRIALS[0], TRIALS[2])).status == "inconclusive"
    assert judged(claim(THIRD), EXACT).status == "verified"
    both = judged(claim(THIRD, far), EXACT)
    assert both.status == "inconclusive"
    assert both.severity is not None
    assert [plant.name for plant in both.severity.missed] == ["same"]
    assert "The constant is .9." in both.explanation
    assert judged(claim(), EXACT).status == "inconclusive"


@pytest.mark.parametrize(("limit", "status"), [(2.9, "verified"), (3.1, "inconclusive")])
def test_a_claim_whose_limit_could_be_three_times_as_sharp_is_not_verified(limit: float, status: str) -> None:
    rule = [{"holds": "a <= bound"}, {"holds": "b <= 1"}]
    tight = Trial({}, {"a": 1.0, "bound": 1.0}, TABLE)
    nearest, loose = (Trial({}, {"b": value}, TABLE) for value in (1 / limit, 0.001))
    planted = {"name": "tenth", "statement": "A tenth.", "values": {"a": "10 * a"}}
    found = judged(claim(planted, rule=rule), (tight, loose, nearest))
    assert found.status == status
    # Every limit is to be tested, so that the loosest check counts; of its trials the nearest.
    assert found.severity is not None
    assert found.severity.slack_factor == pytest.approx(limit)


def test_a_limit_that_no_factor_contradicts_is_not_verified() -> None:
    rule = [{"holds": "a <= 1"}]
    never = (Trial({}, {"a": Interval(0.1, 0.0, 0.2)}, TABLE),)
    planted = {"name": "shifted", "statement": "Ten more.", "values": {"a": "a + 10"}}
    found = judged(claim(planted, rule=rule), never)
    assert (found.status, found.severity.slack_factor) == ("inconclusive", math.inf)  # type: ignore[union-attr]
    # A limit of 0 has no factor.
    sign = [{"holds": "a <= 0"}]
    assert judged(claim(planted, rule=sign), (Trial({}, {"a": -1.0}, TABLE),)).status == "verified"


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"gap": "gap"}, "expected to change the evidence"),
        ({"other": "gap"}, "expected to change the evidence"),
        ({"gap": "gpa / 2"}, "planted: idle: gap: expected an expression over n, gap, bound"),
    ],
)
def test_a_plant_that_cannot_be_tried_concerns_its_own_claim(values: dict[str, str], message: str) -> None:
    found = judged(claim(THIRD, {"name": "idle", "statement": "Nothing else.", "values": values}), EXACT)
    assert [found.status, *(trial.status for trial in found.trials)] == ["inconclusive", "verified", "verified"]
    assert found.severity is not None
    tried, idle = found.severity.planted
    assert (tried.caught, tried.problem) == (True, "")
    assert not idle.caught
    assert message in idle.problem
    assert idle.problem in found.explanation


def test_a_control_must_pass_where_the_statement_is_refuted() -> None:
    rule = [{"holds": "printed = 0", "tolerance": 0}]
    trials = (Trial({}, {"printed": 1.0}, TABLE),)
    for corrected, caught in (("0", True), ("0.5", False)):
        control = {"name": "corrected", "statement": "It is 0.", "holds": True, "values": {"printed": corrected}}
        found = judged(claim(control, rule=rule), trials)
        assert found.status == "refuted"
        assert found.severity is not None
        assert [plant.caught for plant in found.severity.planted] == [caught]


def test_trials_that_fail_are_among_those_that_could_have_failed() -> None:
    wide = Trial({"n": 2}, {"gap": Interval(1.0, 0.0, 9.0), "bound": 1.0}, TABLE)
    for fails in (False, True):
        exact = Trial({"n": 1}, {"gap": 0.5 + fails, "bound": 1.0}, TABLE)
        found = judged(claim(HALF), (exact, wide, TRIALS[2]))
        assert found.severity is not None
        assert (found.severity.informative, found.severity.trials) == (2, 3)
        assert (found.status == "refuted") == fails


@pytest.mark.parametrize(("slack", "status"), [(0.0, "inconclusive"), (1e-6, "verified")])
def test_a_limit_that_could_be_three_times_as_sharp_verifies_nothing(slack: float, status: str) -> None:
    trials = (Trial({"n": 1}, {"gap": 1.0 + slack, "bound": 3.0}, TABLE),)
    plant = {"name": "tenth", "statement": "The constant is a tenth.", "values": {"bound": "bound / 10"}}
    found = judged(claim(plant, rule=[{"holds": "gap <= bound"}]), trials)
    assert found.severity is not None
    assert found.severity.slack_factor == pytest.approx(3.0)
    assert found.status == status


def test_a_question_must_give_another_answer() -> None:
    answers = [{"statistic": "a", "above": 0, "says": "More."}, {"statistic": "a", "below": 0, "says": "Less."}]
    rule = [{"check": "question", "statistics": ["a"], "answers": answers}]
    trials = (Trial({}, {"a": Interval(1.0, 0.5, 1.5)}, TABLE),)
    for expression, status in (("-a", "answered"), ("2 * a", "inconclusive")):
        planted = {"name": "other", "statement": "Other.", "values": {"a": expression}}
        assert judged(claim(planted, rule=rule), trials).status == status
