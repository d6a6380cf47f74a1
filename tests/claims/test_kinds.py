"""Are the rules sharp at their boundaries, monotone, and never silent about what they cannot read?"""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import ndtri, stdtrit

from pipeline_lib.claims import kinds
from pipeline_lib.claims.trials import Trial
from pipeline_lib.claims.verdicts import jointly
from pipeline_lib.core.errors import DataError
from pipeline_lib.statistics import Interval
from tests.readings import check_of

TABLE = "tables/any.parquet"
WORST_FIRST = ("refuted", "deviates", "inconclusive", "verified")
numbers = st.floats(-1e6, 1e6, allow_nan=False)
small = st.floats(0, 10, allow_nan=False)


def trial(**values: float | Interval) -> Trial:
    return Trial({"m": 5}, values, TABLE)


def status(entry: dict, *trials: Trial) -> str:
    return kinds.judge([check_of(entry)], trials).status


AT_MOST = {"holds": "a <= 1", "tolerance": 0.25, "deviates_within": 0.5}
AT_LEAST = {**AT_MOST, "holds": "a >= 1"}
EQUALS = {**AT_MOST, "holds": "a = 1"}


@pytest.mark.parametrize(
    ("holds", "check"),
    [
        ("a <= 1", {"check": "bound", "statistic": "a", "relation": "<=", "limit": 1}),
        ("a >= b", {"check": "bound", "statistic": "a", "relation": ">=", "limit": "b"}),
        ("a = -1e-3", {"check": "equals", "statistic": "a", "relation": "=", "limit": -0.001}),
        ("a > b, b > 0", {"check": "order", "greater": [("a", "b"), ("b", 0)]}),
    ],
)
def test_a_relation_is_short_for_a_check(holds: str, check: dict) -> None:
    assert check_of({"holds": holds, "why": "Because."}) == check_of({**check, "why": "Because."})
    assert check_of(holds) == check_of(check)


@pytest.mark.parametrize("holds", ["a", "a < 1", "a <= b, b <= c", "a > b, c <= d", "a <= 1 + 1", ""])
def test_what_is_no_relation_is_refused(holds: str) -> None:
    with pytest.raises(ValueError, match="expected two names or numbers"):
        check_of({"holds": holds})


@pytest.mark.parametrize(
    ("value", "expected"),
    [(1.25, "verified"), (math.nextafter(1.25, 2), "deviates"), (1.5, "deviates"), (math.nextafter(1.5, 2), "refuted")],
)
def test_at_most_and_equals_turn_exactly_at_their_boundaries(value: float, expected: str) -> None:
    assert status(AT_MOST, trial(a=value)) == expected
    assert status(EQUALS, trial(a=value)) == expected
    assert status(AT_LEAST, trial(a=2 - value)) == expected
    assert status(EQUALS, trial(a=2 - value)) == expected


def test_a_bound_whose_interval_contains_the_limit_decides_nothing() -> None:
    strict = {"holds": "a <= b"}
    assert status(strict, trial(a=Interval(1.1, 1.0, 1.2), b=1)) == "inconclusive"
    assert status(strict, trial(a=Interval(0.9, 0.5, 1.2), b=1)) == "inconclusive"
    assert status(strict, trial(a=Interval(1.1, 1.01, 1.2), b=1)) == "refuted"
    assert status(strict, trial(a=Interval(0.9, 0.5, 1.0), b=1)) == "verified"
    least = {"holds": "a >= b"}
    assert status(least, trial(a=Interval(0.9, 0.8, 1.0), b=1)) == "inconclusive"
    assert status(least, trial(a=Interval(0.9, 0.8, 0.99), b=1)) == "refuted"
    assert status(strict, trial(a=1.5, b=Interval(1.0, 0.5, 2.0))) == "inconclusive"


def test_a_bound_no_better_than_the_trivial_one_decides_nothing() -> None:
    vacuous = {"holds": "a <= b", "trivial": "c"}
    assert status(vacuous, trial(a=1, b=2, c=2)) == "inconclusive"
    assert status(vacuous, trial(a=1, b=1.9, c=2)) == "verified"
    assert status(vacuous, trial(a=3, b=2.5, c=2)) == "refuted"
    assert status({**vacuous, "holds": "a >= b", "trivial": 0}, trial(a=1, b=0)) == "inconclusive"


@pytest.mark.parametrize(
    ("relation", "value", "limit", "factor"),
    [
        ("<=", -1.0, 0.0, None),
        ("<=", -4.0, -2.0, 2.0),
        ("<=", -4.0, 2.0, math.inf),
        ("<=", 4.0, -2.0, 0.0),
        (">=", -1.0, -3.0, 3.0),
        (">=", 1.0, -3.0, math.inf),
        (">=", -1.0, 3.0, 0.0),
    ],
)
def test_the_slack_factor_of_either_sign(relation: str, value: float, limit: float, factor: float | None) -> None:
    entry = {"holds": f"a {relation} {limit!r}"}
    assert kinds.judge([check_of(entry)], [trial(a=value)]).slack_factor == factor


def test_the_slack_factor_of_a_claim_is_that_of_its_loosest_check() -> None:
    checks = [check_of({"holds": f"{name} <= 1"}) for name in ("a", "b")]
    assert kinds.judge(checks, [trial(a=0.5), trial(b=0.125)]).slack_factor == 8.0
    assert kinds.judge(checks, [trial(a=0.5), trial(b=Interval(2.0, 0.125, 4.0))]).slack_factor == 8.0
    assert kinds.judge(checks, [trial(a=4.0), trial(b=0.125)]).slack_factor == 0.25


def test_many_intervals_are_judged_together() -> None:
    entry = {"holds": "a <= 0"}
    just_above = trial(a=Interval(1.1, 0.1, 2.1))
    assert status(entry, just_above) == "refuted"
    assert status(entry, *[just_above] * 20) == "inconclusive"
    exact = [trial(a=-1)] * 20
    assert status(entry, just_above, *exact) == "refuted"


@pytest.mark.parametrize("repetitions", [2, 3, 5, 20])
def test_joint_t_intervals_cover_as_often_as_they_say(repetitions: int) -> None:
    # The intervals of the means of few normal numbers, whose expectation is 0; blocks of 20 are judged jointly.
    samples = np.random.default_rng(repetitions).normal(size=(2000, 20, repetitions))
    means, errors = samples.mean(axis=2), samples.std(axis=2, ddof=1) / repetitions**0.5
    half = stdtrit(repetitions - 1, 0.975)
    factor = jointly([Interval(0.0, -1.0, 1.0, freedom=repetitions - 1)] * 20)[0].high
    assert np.mean(np.all(np.abs(means) <= factor * half * errors, axis=1)) == pytest.approx(0.95, abs=0.017)
    normal = jointly([Interval(0.0, -1.0, 1.0)] * 20)[0].high
    too_narrow = np.mean(np.all(np.abs(means) <= normal * half * errors, axis=1))
    assert too_narrow < (0.9 if repetitions <= 5 else 0.95)


@given(st.integers(2, 200), st.floats(1, 1e6), st.floats(1, 1e6))
def test_fewer_degrees_of_freedom_widen_more(intervals: int, freedom: float, more: float) -> None:
    widths = [
        jointly([Interval(0.0, -1.0, 1.0, freedom=one)] * intervals)[0].high for one in (freedom, freedom + more, None)
    ]
    assert 1.0 < widths[2] <= widths[1] * (1 + 1e-9) <= widths[0] * (1 + 2e-9)


def test_each_interval_is_widened_by_its_own_distribution() -> None:
    few, many, exact = jointly(
        [Interval(1.0, 0.0, 3.0, freedom=2), Interval(0.0, -1.0, 1.0), Interval(5.0, 5.0, 5.0, freedom=2)]
    )
    assert exact == Interval(5.0, 5.0, 5.0, freedom=2)
    # Two of them are measured: the confidence of each is .975.
    assert few.high - 1.0 == pytest.approx(2.0 * stdtrit(2, 0.9875) / stdtrit(2, 0.975))
    assert (1.0 - few.low) * 2.0 == pytest.approx(few.high - 1.0)
    assert many.high == pytest.approx(ndtri(0.9875) / ndtri(0.975))


def test_a_bound_reports_the_smallest_slack_or_the_decisive_failure() -> None:
    check = check_of({"holds": "gap <= bound"})
    found = kinds.judge([check], [trial(gap=1, bound=3), trial(gap=2, bound=2.5)])
    assert found.sentence.endswith(" 0.5 (2 against 2.5 at m = 5).")
    found = kinds.judge([check], [trial(gap=1, bound=3), trial(gap=4, bound=2.5), trial(gap=3, bound=2.5)])
    assert found.sentence.endswith(" at m = 5, where it is 4 and should be at most 2.5.")
    assert found.per_trial == ("verified", "refuted", "refuted")


UP = {"check": "question", "statistics": ["a"], "answers": [{"statistic": "a", "above": 0.5, "says": "Up."}]}
wholes = st.integers(0, 3)


@given(st.lists(st.tuples(wholes, wholes), min_size=1, max_size=6, unique_by=lambda pair: pair[0] - pair[1]))
def test_the_trial_that_is_named_is_the_one_that_misses_its_limit_by_most(pairs: list[tuple[int, int]]) -> None:
    # Each misses its limit by another amount; neither statistics nor limits are in the order of what they miss by.
    for relation, sign in (("<=", 1), (">=", -1)):
        given_ = [Trial({"m": 100 + i}, {"a": float(a), "b": float(b)}, TABLE) for i, (a, b) in enumerate(pairs)]
        furthest = max(range(len(pairs)), key=lambda i: sign * (pairs[i][0] - pairs[i][1]))
        sentence = kinds.judge([check_of(f"a {relation} b")], given_).sentence
        assert [f"m = {100 + i}" in sentence for i in range(len(pairs))] == [i == furthest for i in range(len(pairs))]


@given(st.lists(st.tuples(wholes, wholes, wholes), min_size=1, max_size=6))
def test_exact_trials_say_together_what_each_says_alone(values: list[tuple[int, int, int]]) -> None:
    # Only intervals are judged together.
    given_ = [trial(a=a, b=b, c=c) for a, b, c in values]
    for rule in ("a <= b", "a = b", "a > b, b > c", {"holds": "a >= b", "trivial": "c"}, UP):
        check = check_of(rule)
        alone = [kinds.judge([check], [one]).status for one in given_]
        assert list(kinds.judge([check], given_).per_trial) == alone


@given(st.lists(st.tuples(wholes, wholes, wholes), min_size=1, max_size=6), st.sampled_from([0.0, 1.5]))
def test_the_resolution_is_half_the_widest_interval_of_those_that_hold_together(
    ends: list[tuple[int, int, int]], tolerance: float
) -> None:
    made = [Interval(x, x - below, x + above) for x, below, above in ends]
    half = max((one.high - one.low) / 2 for one in jointly(made))
    rules = (
        ({"holds": "a <= 1", "tolerance": tolerance}, {"a": max(half, tolerance)}),
        ("a > 1", {"comparison": half}),
        (UP, {"a": half}),
    )
    for rule, expected in rules:
        assert kinds.judge([check_of(rule)], [trial(a=one) for one in made]).resolution == pytest.approx(expected)


def test_what_only_guards_against_a_leak_makes_no_trial_one_that_could_have_failed() -> None:
    rule = [
        check_of({"holds": "measured > 1e-9", "guards": True}),
        check_of({"holds": "gap <= bound", "trivial": "loss"}),
    ]
    given = [trial(measured=1, gap=1, bound=b, loss=4) for b in (3, 6)] + [trial(measured=1)]
    found = kinds.judge(rule, given)
    assert (found.status, found.per_trial) == ("verified", ("verified", "inconclusive", "inconclusive"))
    leak = kinds.judge(rule, [trial(measured=0, gap=0, bound=3, loss=4), trial(measured=0)])
    assert (leak.status, leak.per_trial) == ("refuted", ("refuted", "refuted"))
    stated = [check_of({"holds": "measured > 1e-9"}), rule[1]]
    assert kinds.judge(stated, given).per_trial == ("verified",) * 3


@given(numbers, small, numbers, small, small)
def test_worsening_never_improves(value: float, worse: float, limit: float, tolerance: float, band: float) -> None:
    extra = {"tolerance": tolerance, "deviates_within": tolerance + band}
    rank = WORST_FIRST.index
    for relation, sign in (("<=", 1), (">=", -1)):
        entry = {"holds": f"a {relation} {limit!r}", **extra}
        assert rank(status(entry, trial(a=value + sign * worse))) <= rank(status(entry, trial(a=value)))
    entry = {"holds": f"a = {limit!r}", **extra}
    away = value + (worse if value >= limit else -worse)
    assert rank(status(entry, trial(a=away))) <= rank(status(entry, trial(a=value)))
    for relation, sign in (("<=", 1), (">=", -1)):
        entry = {"exponent": f"a {relation} {limit!r}", "deviates_within": band}
        near, far = (Interval(x, x - 0.25, x + 0.25) for x in (value, value + sign * worse))
        assert rank(status(entry, trial(a=far))) <= rank(status(entry, trial(a=near)))


@given(st.lists(numbers, min_size=1, max_size=6), numbers)
def test_more_trials_never_improve(values: list[float], limit: float) -> None:
    for entry in ({**AT_MOST, "holds": f"a <= {limit!r}"}, {**EQUALS, "holds": f"a = {limit!r}"}):
        fewer = status(entry, *(trial(a=value) for value in values[:1]))
        more = status(entry, *(trial(a=value) for value in values))
        assert WORST_FIRST.index(more) <= WORST_FIRST.index(fewer)


@given(numbers, small, small, numbers, small, small, small)
def test_lowering_the_greater_value_never_improves_an_order(
    a: float, a_down: float, a_up: float, b: float, b_down: float, b_up: float, lowered: float
) -> None:
    entry = {"check": "order", "greater": [["a", "b"]]}
    lesser = Interval(b, b - b_down, b + b_up)
    before = status(entry, trial(a=Interval(a, a - a_down, a + a_up), b=lesser))
    c = a - lowered
    after = status(entry, trial(a=Interval(c, c - a_down, c + a_up), b=lesser))
    assert WORST_FIRST.index(after) <= WORST_FIRST.index(before)


def test_an_exponent_needs_its_whole_interval() -> None:
    entry = {"exponent": "a <= 0.5", "deviates_within": 0.1}
    assert status(entry, trial(a=Interval(0.45, 0.4, 0.5))) == "verified"
    assert status(entry, trial(a=Interval(0.45, 0.3, 0.6))) == "inconclusive"
    assert status(entry, trial(a=Interval(0.56, 0.51, 0.6))) == "deviates"
    assert status(entry, trial(a=Interval(0.7, 0.61, 0.8))) == "refuted"
    assert status({**entry, "tolerance": 0.1}, trial(a=Interval(0.56, 0.51, 0.6))) == "verified"
    both = {"exponent": "a = 2", "deviates_within": 0.1, "tolerance": 0.05}
    assert status(both, trial(a=Interval(2, 1.96, 2.04))) == "verified"
    assert status(both, trial(a=Interval(2, 1.9, 2.1))) == "inconclusive"
    assert status(both, trial(a=Interval(1.92, 1.91, 1.93))) == "deviates"
    with pytest.raises(DataError, match="with its interval"):
        status(entry, trial(a=0.4))


def test_exponents_outside_of_every_interval_are_excluded() -> None:
    check = check_of({"exponent": "a <= 1", "deviates_within": 0.1})
    low, high = kinds.judge([check], [trial(a=Interval(0.5, 0.4, 0.6))]).excludes["a"]
    assert (low, high) == (0.4, 0.6)
    wider = kinds.judge([check], [trial(a=Interval(0.5, 0.4, 0.6)), trial(a=Interval(0.7, 0.6, 0.8))]).excludes["a"]
    assert wider[0] < 0.4 < 0.8 < wider[1]


def test_an_order_is_decided_by_intervals_that_are_apart() -> None:
    entry = {"check": "order", "greater": [["a", "b"], ["b", 0]]}
    assert status(entry, trial(a=Interval(3, 2.5, 3.5), b=Interval(1, 0.5, 1.5))) == "verified"
    assert status(entry, trial(a=Interval(3, 1.5, 3.5), b=Interval(1, 0.5, 1.5))) == "inconclusive"
    assert status(entry, trial(a=Interval(3, 2.5, 3.5), b=Interval(-1, -2, -0.5))) == "refuted"
    assert status(entry, trial(a=1, b=1)) == "inconclusive"
    found = kinds.judge([check_of(entry)], [trial(a=1, b=2)])
    assert found.sentence.endswith(" at m = 5: a 1 against b 2.")


def test_cells_count_what_lies_within() -> None:
    entry = {"check": "cells", "statistic": "a", "expected": "b", "tolerance": 0.015}
    good, edge, bad = trial(a=0.45, b=0.45), trial(a=0.465, b=0.45), trial(a=0.4651, b=0.45)
    assert status(entry, good, edge) == "verified"
    assert status(entry, good, bad) == "deviates"
    assert status(entry, bad) == "refuted"
    sentence = kinds.judge([check_of(entry)], [good, bad]).sentence
    assert "1 of 2 cells" in sentence
    assert "0.4651 against 0.45" in sentence


def test_a_question_is_answered_by_the_first_answer_that_the_whole_interval_satisfies() -> None:
    answers = [
        {"statistic": "a", "above": 0, "says": "It grows."},
        {"statistic": "a", "above": -0.5, "below": 0.5, "says": "It hardly changes."},
    ]
    check = check_of({"check": "question", "statistics": ["a"], "answers": answers})
    grows, same, open_ = (trial(a=Interval(x, x - 0.2, x + 0.2)) for x in (0.4, 0.1, 0.6 - 1.1))
    assert kinds.judge([check], [grows]).answers == ("It grows.",)
    assert kinds.judge([check], [same]).answers == ("It hardly changes.",)
    assert (kinds.judge([check], [open_]).status, kinds.judge([check], [open_]).answers) == ("inconclusive", ())
    found = kinds.judge([check], [grows, grows, open_])
    assert (found.status, found.per_trial) == ("answered", ("answered", "answered", "inconclusive"))


def test_an_equality_with_an_interval_is_an_equivalence_test() -> None:
    assert status(EQUALS, trial(a=Interval(1.1, 1.0, 1.2))) == "verified"
    assert status(EQUALS, trial(a=Interval(1.1, 0.9, 1.3))) == "inconclusive"
    assert status(EQUALS, trial(a=Interval(1.4, 1.3, 1.5))) == "deviates"
    assert status(EQUALS, trial(a=Interval(0.4, 0.3, 0.45))) == "refuted"


def test_the_worst_check_decides_and_speaks_first() -> None:
    checks = [check_of(AT_MOST), check_of({"holds": "b >= 0"})]
    found = kinds.judge(checks, [trial(a=0, b=-1), trial(a=1.4)])
    assert found.status == "refuted"
    assert found.sentence.startswith("B ≥ 0 fails")
    assert found.per_trial == ("refuted", "deviates")


def test_what_cannot_be_read_is_an_error() -> None:
    check = check_of({"holds": "gap <= bound"})
    with pytest.raises(DataError, match=r"expected bound .*gap"):
        kinds.judge([check], [trial(gap=1)])
    with pytest.raises(DataError, match="at least one trial with gap, bound"):
        kinds.judge([check], [])
    with pytest.raises(DataError, match="expected the values of one of the checks"):
        kinds.judge([check], [trial(gap=1, bound=2), trial(bound=2)])
    assert kinds.judge([check], [trial(gap=1, bound=2, shown=7)]).status == "verified"


def test_an_exponent_that_its_interval_excludes_is_said_to_hold_by_the_tolerance() -> None:
    check = check_of({"exponent": "a = 1.5", "tolerance": 0.1})
    inside, outside = trial(a=Interval(1.51, 1.49, 1.53)), trial(a=Interval(1.55, 1.52, 1.58))
    assert "tolerance alone" not in kinds.judge([check], [inside]).sentence
    found = kinds.judge([check], [inside, outside])
    assert found.status == "verified"
    assert "in 1 of 2 trials by the tolerance alone" in found.sentence


def test_what_both_sides_share_makes_no_margin() -> None:
    both = {"risk": 0.61, "limit": 0.7, "shared": 0.6}
    plain, less = (check_of({"holds": "risk <= limit", **more}) for more in ({}, {"shared": "shared"}))
    assert kinds.judge([plain], [trial(**both)]).slack_factor == pytest.approx(0.7 / 0.61)
    assert kinds.judge([less], [trial(**both)]).slack_factor == pytest.approx(10.0)


def test_a_limit_that_another_check_tests_more_sharply_has_its_margin() -> None:
    blunt, sharp = check_of({"holds": "a <= 9", "sharper": "b"}), check_of("b <= 2")
    assert kinds.judge([blunt, sharp], [trial(a=1.0, b=1.0)]).slack_factor == pytest.approx(2.0)


def test_a_question_is_not_answered_by_half_of_its_trials() -> None:
    check = check_of(
        {"check": "question", "statistics": ["a"], "answers": [{"statistic": "a", "above": 0, "says": "Up."}]}
    )
    up, open_ = trial(a=Interval(2, 1, 3)), trial(a=Interval(0.5, -1, 2))
    assert kinds.judge([check], [up, open_]).status == "inconclusive"
    assert kinds.judge([check], [up, up, open_]).status == "answered"
