"""How likely would it have been noticed that a claim is false? Compared with closed forms and with the rule itself."""

from collections.abc import Sequence
from dataclasses import replace
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest
from pydantic import TypeAdapter

from pipeline_lib.claims import curves, kinds
from pipeline_lib.claims.curves import DRAWS
from pipeline_lib.claims.kinds import AnyCheck
from pipeline_lib.claims.severity import POINTS, Curve
from pipeline_lib.claims.trials import Trial
from pipeline_lib.claims.verdicts import Check
from pipeline_lib.statistics import Interval

NORMAL = NormalDist()
HALF = NORMAL.inv_cdf(0.975)


def checks(*rules: Any) -> list[Check]:
    return TypeAdapter(list[AnyCheck]).validate_python(list(rules))


def trials(*values: float, half: float = HALF, freedom: float | None = None, **others: float) -> list[Trial]:
    """Trials with measured x, by default with a standard error of 1."""
    return [
        Trial({"i": i}, {"x": Interval(x, x - half, x + half, freedom), **others}, "t") for i, x in enumerate(values)
    ]


def only(rule: Any, found: Sequence[Trial]) -> Curve:
    [curve] = curves.of_claim("made-claim", checks(rule), found)
    return curve


def amounts(curve: Curve) -> list[float]:
    return [curve.largest * i / POINTS for i in range(POINTS + 1)]


def test_one_trial_is_noticed_with_the_probability_of_a_normal_number() -> None:
    curve = only("x <= limit", trials(90.0, limit=100.0))
    assert (curve.statement, curve.unit, curve.in_some) == ("x ≤ limit", "% of the limit", None)
    # It passes if x + 1.96 is at most 100, and is contradicted if x - 1.96 is above 100.
    for d, noticed, contradicted in zip(
        amounts(curve), curve.everywhere.noticed, curve.everywhere.contradicted, strict=True
    ):
        assert noticed == pytest.approx(NORMAL.cdf(HALF + d), abs=0.02)
        assert contradicted == pytest.approx(NORMAL.cdf(d - HALF), abs=0.06)
    assert curve.everywhere.noticed_from == 0.0


@pytest.mark.parametrize(("relation", "limit", "sign"), [("<=", 2.0, 1), (">=", 2.0, -1), ("=", 2.0, 1)])
def test_an_exponent_is_noticed_from_its_tolerance_on(relation: str, limit: float, sign: int) -> None:
    found = trials(limit - 0.001 * sign, half=0.01 * HALF)
    curve = only({"exponent": f"x {relation} {limit}", "tolerance": 0.1}, found)
    # 1.645 standard errors within the tolerance, less the 1.96 that its interval reaches beyond it.
    assert curve.unit == "in the exponent"
    assert curve.noticed_from == pytest.approx(0.1 + 0.01 * (NORMAL.inv_cdf(0.95) - HALF), abs=0.003)
    assert curve.everywhere.noticed[0] == 0.0


@pytest.mark.parametrize(
    "rule",
    [
        "x <= limit",
        {"holds": "x <= limit", "tolerance": 0.25},
        {"check": "equals", "statistic": "x", "relation": "=", "limit": "limit", "tolerance": 2.0},
        "limit > x",
    ],
)
def test_the_rule_itself_notices_as_often(rule: Any) -> None:
    """Measurements are drawn anew around the shifted truth, and judged one after the other by the rule."""
    found = trials(-4.0, -3.0, -2.5, -1.0, -6.0, half=1.0, freedom=4, limit=0.0)
    curve = only(rule, found)
    assert curve.in_some is not None
    rng, games, student = np.random.default_rng(1), 400, 2.776445
    for step, false_in in ((0, 5), (4, 5), (7, 2)):
        amount = curve.largest * step / POINTS
        passed = 0
        for _ in range(games):
            false = rng.permutation(5) < false_in
            truth = np.where(false, amount, [one.values["x"].value for one in found])  # type: ignore[union-attr]
            drawn = truth + rng.standard_t(4, 5) / student
            passed += kinds.judge(checks(rule), trials(*drawn, half=1.0, freedom=4, limit=0.0)).status == "verified"
        line = curve.everywhere if false_in == 5 else curve.in_some
        assert 1 - passed / games == pytest.approx(line.noticed[step], abs=3.5 * 0.5 * (1 / games + 1 / DRAWS) ** 0.5)


def test_a_majority_outvotes_few_trials_that_are_false_by_little() -> None:
    curve = only("x <= limit", trials(*[-8.0] * 9, limit=0.0))
    assert curve.in_some is not None
    assert curve.in_some.false_in == 4
    assert curve.everywhere.noticed[0] > 0.95 > curve.in_some.noticed[0]
    assert curve.in_some.noticed_from == curve.noticed_from
    assert list(curve.in_some.noticed) == sorted(curve.in_some.noticed)


def test_trials_without_an_interval_stay_as_they_are() -> None:
    exact = Trial({}, {"x": -1.0, "limit": 0.0}, "t")
    curve = only("x <= limit", [*trials(-8.0, -8.0, -8.0, limit=0.0), exact])
    assert (curve.trials, curve.exact) == (3, 1)
    assert curves.of_claim("made-claim", checks("x <= limit"), [exact]) == ()


def test_a_guard_states_nothing_that_could_be_false() -> None:
    rule = {"holds": "x <= limit", "guards": True}
    assert curves.of_claim("made-claim", checks(rule), trials(-8.0, limit=0.0)) == ()


def test_a_limit_that_is_no_better_than_the_trivial_one_cannot_be_passed() -> None:
    found = [*trials(1.0, limit=9.0, largest=9.0), *trials(1.0, 1.0, limit=8.0, largest=9.0)]
    curve = only({"holds": "x <= limit", "trivial": "largest"}, found)
    assert (curve.trials, curve.exact) == (2, 1)


def test_an_order_is_false_in_the_pair_that_is_noticed_last() -> None:
    wide = {"y": Interval(0.0, -3.0, 3.0), "z": -20.0}
    found = [replace(one, values={**one.values, **wide}) for one in trials(9.0, 9.0, 9.0, half=0.5)]
    assert only("x > y, y > z", found).statement in ("x > y", "y > z")
    assert only("x > z, x > y", found).statement == "x > y"


def test_a_question_is_answered_otherwise() -> None:
    answers = [{"statistic": "x", "above": 0.5, "says": "Yes."}, {"statistic": "x", "below": 0.5, "says": "No."}]
    rule = {"check": "question", "statistics": ["x"], "answers": answers}
    curve = only(rule, trials(9.0))
    assert curve.statement == "Yes."
    for d, noticed, other in zip(amounts(curve), curve.everywhere.noticed, curve.everywhere.contradicted, strict=True):
        assert noticed == pytest.approx(NORMAL.cdf(HALF + d), abs=0.02)
        assert other == pytest.approx(NORMAL.cdf(d - HALF), abs=0.06)


def test_what_both_sides_share_is_no_part_of_the_amount() -> None:
    found = trials(60.0, limit=100.0, both=90.0)
    alone, shared = only("x <= limit", found), only({"holds": "x <= limit", "shared": "both"}, found)
    assert shared.largest == pytest.approx(10 * alone.largest)


def test_the_same_claim_has_the_same_curves() -> None:
    found = trials(-8.0, -2.5, -8.0, limit=0.0)
    assert only("x <= limit", found) == only("x <= limit", found)
    [other] = curves.of_claim("other-claim", checks("x <= limit"), found)
    assert other != only("x <= limit", found)
