"""Are the rules sharp at their boundaries, monotone, and never silent about what they cannot read?"""

from __future__ import annotations

import math
import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline_lib.claims import rules
from pipeline_lib.claims.evidence import Interval, Trial
from pipeline_lib.errors import DataError

TABLE = "tables/any.parquet"
numbers = st.floats(-1e6, 1e6, allow_nan=False)
small = st.floats(0, 10, allow_nan=False)


def trial(**values: float | Interval) -> Trial:
    return Trial({"m": 5}, values, TABLE)


def status(entry: dict, *trials: Trial) -> str:
    return rules.judge([rules.create(entry)], trials).status


AT_MOST = {"check": "at-most", "statistic": "a", "limit": 1, "tolerance": 0.25, "deviates_within": 0.5}
AT_LEAST = {**AT_MOST, "check": "at-least"}
EQUALS = {"check": "equals", "statistic": "a", "expected": 1, "tolerance": 0.25, "deviates_within": 0.5}


@pytest.mark.parametrize(
    ("value", "expected"),
    [(1.25, "verified"), (math.nextafter(1.25, 2), "deviates"), (1.5, "deviates"), (math.nextafter(1.5, 2), "refuted")],
)
def test_at_most_and_equals_turn_exactly_at_their_boundaries(value: float, expected: str) -> None:
    assert status(AT_MOST, trial(a=value)) == expected
    assert status(EQUALS, trial(a=value)) == expected
    assert status(AT_LEAST, trial(a=2 - value)) == expected
    assert status(EQUALS, trial(a=2 - value)) == expected


def test_a_bound_deviates_when_its_interval_reaches_the_limit() -> None:
    strict = {"check": "at-most", "statistic": "a", "limit": "b"}
    assert status(strict, trial(a=Interval(1.1, 1.0, 1.2), b=1)) == "deviates"
    assert status(strict, trial(a=Interval(1.1, 1.01, 1.2), b=1)) == "refuted"
    assert status(strict, trial(a=Interval(0.9, 0.5, 1.2), b=1)) == "verified"
    least = {"check": "at-least", "statistic": "a", "limit": "b"}
    assert status(least, trial(a=Interval(0.9, 0.8, 1.0), b=1)) == "deviates"
    assert status(least, trial(a=Interval(0.9, 0.8, 0.99), b=1)) == "refuted"


def test_a_bound_reports_the_smallest_slack_or_the_decisive_failure() -> None:
    check = rules.create({"check": "at-most", "statistic": "gap", "limit": "bound"})
    found = rules.judge([check], [trial(gap=1, bound=3), trial(gap=2, bound=2.5)])
    assert found.sentence.endswith(" 0.5 (2 against 2.5 at m = 5).")
    found = rules.judge([check], [trial(gap=1, bound=3), trial(gap=4, bound=2.5), trial(gap=3, bound=2.5)])
    assert found.sentence.endswith(" 4 against 2.5 at m = 5.")
    assert found.per_trial == ("verified", "refuted", "refuted")


@given(numbers, small, numbers, small, small)
def test_worsening_never_improves(value: float, worse: float, limit: float, tolerance: float, band: float) -> None:
    extra = {"tolerance": tolerance, "deviates_within": tolerance + band}
    rank = rules.STATUSES.index
    for name, sign in (("at-most", 1), ("at-least", -1)):
        entry = {"check": name, "statistic": "a", "limit": limit, **extra}
        assert rank(status(entry, trial(a=value + sign * worse))) <= rank(status(entry, trial(a=value)))
    entry = {"check": "equals", "statistic": "a", "expected": limit, **extra}
    away = value + (worse if value >= limit else -worse)
    assert rank(status(entry, trial(a=away))) <= rank(status(entry, trial(a=value)))
    for relation, sign in (("at_most", 1), ("at_least", -1)):
        entry = {"check": "exponent", "statistic": "a", relation: limit, "deviates_within": band, "widest": 1}
        near, far = (Interval(x, x - 0.25, x + 0.25) for x in (value, value + sign * worse))
        assert rank(status(entry, trial(a=far))) <= rank(status(entry, trial(a=near)))


@given(st.lists(numbers, min_size=1, max_size=6), numbers)
def test_more_trials_never_improve(values: list[float], limit: float) -> None:
    for entry in ({**AT_MOST, "limit": limit}, {**EQUALS, "expected": limit}):
        fewer = status(entry, *(trial(a=value) for value in values[:1]))
        more = status(entry, *(trial(a=value) for value in values))
        assert rules.STATUSES.index(more) <= rules.STATUSES.index(fewer)


@given(numbers, small, small, numbers, small, small, small)
def test_lowering_the_greater_value_never_improves_an_order(
    a: float, a_down: float, a_up: float, b: float, b_down: float, b_up: float, lowered: float
) -> None:
    entry = {"check": "order", "greater": [["a", "b"]]}
    lesser = Interval(b, b - b_down, b + b_up)
    before = status(entry, trial(a=Interval(a, a - a_down, a + a_up), b=lesser))
    c = a - lowered
    after = status(entry, trial(a=Interval(c, c - a_down, c + a_up), b=lesser))
    assert rules.STATUSES.index(after) <= rules.STATUSES.index(before)


def test_an_exponent_needs_an_interval_that_is_narrow_enough_to_decide() -> None:
    entry = {"check": "exponent", "statistic": "a", "at_most": 0.5, "deviates_within": 0.1, "widest": 0.2}
    assert status(entry, trial(a=Interval(0.55, 0.5, 0.6))) == "verified"
    assert status(entry, trial(a=Interval(0.56, 0.51, 0.6))) == "deviates"
    assert status(entry, trial(a=Interval(0.7, 0.61, 0.8))) == "refuted"
    assert status(entry, trial(a=Interval(0.3, 0.0, 0.6))) == "deviates"
    assert status({**entry, "tolerance": 0.02}, trial(a=Interval(0.56, 0.51, 0.6))) == "verified"
    both = {"check": "exponent", "statistic": "a", "equals": 2, "deviates_within": 0.1, "widest": 0.2}
    assert status(both, trial(a=Interval(1.95, 1.9, 1.99))) == "deviates"
    assert status(both, trial(a=Interval(1.95, 1.9, 2.0))) == "verified"
    with pytest.raises(DataError, match="with its interval"):
        status(entry, trial(a=0.4))


def test_an_order_deviates_on_overlap_and_is_refuted_by_one_clear_reversal() -> None:
    entry = {"check": "order", "greater": [["a", "b"], ["b", 0]]}
    assert status(entry, trial(a=Interval(3, 2.5, 3.5), b=Interval(1, 0.5, 1.5))) == "verified"
    assert status(entry, trial(a=Interval(3, 1.5, 3.5), b=Interval(1, 0.5, 1.5))) == "deviates"
    assert status(entry, trial(a=Interval(3, 2.5, 3.5), b=Interval(-1, -2, -0.5))) == "refuted"
    assert status(entry, trial(a=1, b=1)) == "deviates"
    found = rules.judge([rules.create(entry)], [trial(a=1, b=2)])
    assert found.sentence.endswith(" a 1 against b 2 at m = 5.")


def test_cells_count_what_lies_within() -> None:
    entry = {"check": "cells", "statistic": "a", "expected": "b", "tolerance": 0.015}
    good, edge, bad = trial(a=0.45, b=0.45), trial(a=0.465, b=0.45), trial(a=0.4651, b=0.45)
    assert status(entry, good, edge) == "verified"
    assert status(entry, good, bad) == "deviates"
    assert status(entry, bad) == "refuted"
    sentence = rules.judge([rules.create(entry)], [good, bad]).sentence
    assert "1 of 2 cells" in sentence
    assert "0.4651 against 0.45" in sentence


def test_a_finding_is_verified_by_being_measured_well_enough() -> None:
    entry = {"check": "finding", "statistics": ["a"], "criterion": "c", "trials": 2, "widest": 0.5}
    sharp, blunt = trial(a=Interval(1, 0.9, 1.1)), trial(a=Interval(1, 0.5, 1.5))
    assert status(entry, sharp, sharp) == "verified"
    assert status(entry, sharp) == "deviates"
    assert status(entry, sharp, blunt) == "deviates"
    with pytest.raises(DataError, match="with its interval"):
        status(entry, trial(a=1.0))


def test_the_worst_check_decides_and_speaks_first() -> None:
    checks = [rules.create(AT_MOST), rules.create({"check": "at-least", "statistic": "b", "limit": 0})]
    found = rules.judge(checks, [trial(a=0, b=-1), trial(a=1.4)])
    assert found.status == "refuted"
    assert found.sentence.startswith("B ≥ 0 fails")
    assert found.per_trial == ("refuted", "deviates")


def test_what_cannot_be_read_is_an_error() -> None:
    check = rules.create({"check": "at-most", "statistic": "gap", "limit": "bound"})
    with pytest.raises(DataError, match=r"expected values among \['bound', 'gap'\], found \['gpa'\]"):
        rules.judge([check], [trial(gap=1, bound=2, gpa=1)])
    with pytest.raises(DataError, match=r"expected bound .*gap"):
        rules.judge([check], [trial(gap=1)])
    with pytest.raises(DataError, match="at least one trial with gap, bound"):
        rules.judge([check], [])
    with pytest.raises(DataError, match="expected the values of one of the checks"):
        rules.judge([check], [trial(gap=1, bound=2), trial(bound=2)])
    assert rules.judge([check], [trial(gap=1, bound=2, shown=7)], displayed=["shown"]).status == "verified"


def test_a_number_that_is_compared_with_is_written_once() -> None:
    check = rules.create({"check": "order", "greater": [["floor", 0], ["ceiling", "floor"]]})
    words = re.findall(r"[-\w.]+", check.judge([trial(floor=0.25, ceiling=3.5)]).sentence)
    assert not [first for first, second in pairwise(words) if first == second]
