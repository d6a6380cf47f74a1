"""How likely would it have been noticed that a claim is false? Compared with closed forms and with the rule itself."""

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest
from pydantic import TypeAdapter
from scipy.special import stdtr, stdtrit

from pipeline_lib.claims import curves, kinds
from pipeline_lib.claims.curves import DRAWS, _World
from pipeline_lib.claims.kinds import AnyCheck
from pipeline_lib.claims.severity import NOTICED, POINTS, Curve
from pipeline_lib.claims.trials import Trial
from pipeline_lib.claims.verdicts import Check
from pipeline_lib.core.seeds import generator
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


DRAWN = {"apart": curves._apart, "together": curves._together}


def of_draws(rule: Any, found: Sequence[Trial], drawn: str, *axes: Any) -> tuple[_World, Curve]:
    """With the errors of trials drawn in one of the two ways: the statement that is noticed last, and its curve."""
    rng = generator("severity curve", *axes)
    worlds = curves._worlds(checks(rule)[0], found, partial(DRAWN[drawn], rng=rng))
    pairs = [(world, curves._curve(world, rng)) for world in worlds]
    return max(pairs, key=lambda pair: math.inf if pair[1].noticed_from is None else pair[1].noticed_from)


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


@pytest.mark.parametrize("drawn", DRAWN)
@pytest.mark.parametrize(
    "rule",
    [
        "x <= limit",
        {"holds": "x <= limit", "tolerance": 0.25},
        {"check": "equals", "statistic": "x", "relation": "=", "limit": "limit", "tolerance": 2.0},
        "limit > x",
    ],
)
def test_the_rule_itself_notices_as_often(rule: Any, drawn: str) -> None:
    """Measurements are drawn anew around the shifted truth, and judged one after the other by the rule."""
    found = trials(-4.0, -3.0, -2.5, -1.0, -6.0, half=1.0, freedom=4, limit=0.0)
    _, curve = of_draws(rule, found, drawn)
    assert curve.in_some is not None
    rng, games, student = np.random.default_rng(1), 400, 2.776445
    for step, false_in in ((0, 5), (4, 5), (7, 2)):
        amount = curve.largest * step / POINTS
        passed = 0
        for _ in range(games):
            false = rng.permutation(5) < false_in
            truth = np.where(false, amount, [one.values["x"].value for one in found])  # type: ignore[union-attr]
            measured = truth + rng.standard_t(4, 5 if drawn == "apart" else 1) / student
            passed += kinds.judge(checks(rule), trials(*measured, half=1.0, freedom=4, limit=0.0)).status == "verified"
        line = curve.everywhere if false_in == 5 else curve.in_some
        assert 1 - passed / games == pytest.approx(line.noticed[step], abs=3.5 * 0.5 * (1 / games + 1 / DRAWS) ** 0.5)


@pytest.mark.parametrize("rule", ["x <= limit", "limit > x"])
def test_the_curve_is_that_of_errors_with_which_a_false_statement_is_noticed_last(rule: Any) -> None:
    found = trials(*[-8.0] * 9, limit=0.0)
    amount = only(rule, found).noticed_from
    either = [of_draws(rule, found, drawn, "made-claim", 0)[1].noticed_from for drawn in DRAWN]
    assert amount == pytest.approx(max(either), rel=0.1)  # type: ignore[type-var]
    # Errors that rise together hide a false statement more often than independent ones, of which one is large.
    assert either[0] != pytest.approx(either[1], rel=0.1)


def test_a_majority_outvotes_few_trials_that_are_false_by_little() -> None:
    curve = only("x <= limit", trials(*[-8.0] * 9, limit=0.0))
    assert curve.in_some is not None
    assert curve.in_some.false_in == 4
    assert curve.everywhere.noticed[0] > 0.95 > curve.in_some.noticed[0]
    assert curve.in_some.noticed_from == curve.noticed_from
    assert list(curve.in_some.noticed) == sorted(curve.in_some.noticed)


@pytest.mark.parametrize("number", range(1, 9))
def test_some_are_as_many_as_the_others_just_outvote(number: int) -> None:
    found = trials(*[-8.0] * number, limit=0.0)
    _, curve = of_draws("x <= limit", found, "apart", "made-claim")
    some = curve.in_some
    assert (some is None) == (number < 3)
    if some is not None:
        assert 2 * some.false_in < number <= 2 * (some.false_in + 1)
        # So many are false, whichever they are: trials are alike.
        world, _ = of_draws("x <= limit", found, "apart", "other draws")
        first = (np.arange(number) < some.false_in)[None, :]
        for amount, noticed in zip(amounts(curve), some.noticed, strict=True):
            assert noticed == pytest.approx(world.shares(amount, first)[0], abs=4 * 0.5 * (2 / DRAWS) ** 0.5)


@pytest.mark.parametrize("drawn", DRAWN)
@pytest.mark.parametrize("half", [0.7, 1.0, 1.3, 1.7, 2.2, 2.9])
def test_what_is_said_to_be_noticed_from_an_amount_on_is_noticed_there(half: float, drawn: str) -> None:
    found = trials(-8.0, -7.0, -9.0, half=half, limit=0.0)
    world, curve = of_draws({"holds": "x <= limit", "tolerance": 5.0}, found, drawn, "made-claim", 0)
    amount = curve.everywhere.noticed_from
    assert amount is not None
    assert world.shares(amount, world.free[None, :])[0] >= NOTICED
    assert world.shares(0.9 * amount, world.free[None, :])[0] < NOTICED  # two digits say no more than that


def one_sided(below: float, above: float, **others: float) -> list[Trial]:
    return [Trial({}, {"x": Interval(-9.0 * above, -9.0 * above - below, -8.0 * above), **others}, "t")]


@pytest.mark.parametrize(("below", "above"), [(1.0, 3.0), (3.0, 1.0)])
@pytest.mark.parametrize("rule", ["x <= limit", "limit > x"])
def test_a_value_is_too_large_as_far_as_its_interval_reaches_below_it(rule: str, below: float, above: float) -> None:
    curve = only(rule, one_sided(below, above, limit=0.0))
    for d, noticed, contradicted in zip(
        amounts(curve), curve.everywhere.noticed, curve.everywhere.contradicted, strict=True
    ):
        assert noticed == pytest.approx(NORMAL.cdf(HALF * (1 + d / above)), abs=0.02)
        error = (below if d < below else above) / HALF  # of values too large, or of those that are too small
        assert contradicted == pytest.approx(NORMAL.cdf((d - below) / error), abs=0.06)


@pytest.mark.parametrize("freedom", [1.0, 2.0, 4.0])
def test_errors_have_the_tails_of_the_distribution_behind_the_interval(freedom: float) -> None:
    half = float(stdtrit(freedom, 0.975))  # the interval of a number with a standard error of 1
    curve = only("x <= limit", trials(-90.0, half=half, freedom=freedom, limit=0.0))
    for d, noticed, contradicted in zip(
        amounts(curve), curve.everywhere.noticed, curve.everywhere.contradicted, strict=True
    ):
        assert noticed == pytest.approx(stdtr(freedom, half + d), abs=0.02)
        assert contradicted == pytest.approx(stdtr(freedom, d - half), abs=0.06)


@pytest.mark.parametrize("rule", ["x <= y", "y > x"])
@pytest.mark.parametrize(("half", "other"), [(1.0, 3.0), (3.0, 1.0), (2.0, 2.0)])
def test_two_measured_numbers_are_both_drawn(rule: str, half: float, other: float) -> None:
    values = {"x": Interval(-50.0, -50.0 - half, -50.0 + half), "y": Interval(0.0, -other, other)}
    curve = only(rule, [Trial({}, values, "t")])
    error = np.hypot(half, other) / HALF
    for d, contradicted in zip(amounts(curve), curve.everywhere.contradicted, strict=True):
        assert contradicted == pytest.approx(NORMAL.cdf((d - half - other) / error), abs=0.06)


def test_an_identity_is_false_to_the_side_that_is_noticed_last() -> None:
    rule = {"check": "equals", "statistic": "x", "relation": "=", "limit": 0.0, "tolerance": 10.0}
    narrow, wide = 1.0, 5.0
    # Noticed from the tolerance on, less the .05 quantile of what an end of the interval may be away from it.
    last = 10.0 - narrow * (1.0 - NORMAL.inv_cdf(0.95) / HALF)
    for low, high in ((-narrow, wide), (-wide, narrow)):
        assert only(rule, [Trial({}, {"x": Interval(0.0, low, high)}, "t")]).noticed_from == pytest.approx(
            last, abs=0.2
        )


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
