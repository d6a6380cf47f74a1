"""Do the rules on arrays of draws say what the rules of the ledger say of each draw?"""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline_lib.claims.kinds import Comparison, Order
from pipeline_lib.claims.many import Ends, Outcome, answers, of_comparison, of_pair, of_question
from pipeline_lib.claims.questions import Answer, Question
from pipeline_lib.claims.trials import Trial
from pipeline_lib.claims.verdicts import difference, jointly
from pipeline_lib.claims.words import FAILED
from pipeline_lib.statistics import Interval

# Eighths, of which sums and differences are exact, so that ties are ties in both.
eighths = st.integers(-24, 24).map(lambda whole: whole / 8)
widths = st.integers(0, 12).map(lambda whole: whole / 8)
freedoms = st.sampled_from([None, 2, 19])


@st.composite
def draws_of_trials(draw: st.DrawFn) -> tuple[list[Interval], list[list[float]]]:
    """Intervals of some trials, and other values that they have in some draws."""
    number = draw(st.integers(1, 6))
    made = [(draw(eighths), draw(widths), draw(widths), draw(freedoms)) for _ in range(number)]
    first = [Interval(x, x - below, x + above, freedom) for x, below, above, freedom in made]
    others = draw(st.lists(st.lists(eighths, min_size=number, max_size=number), min_size=1, max_size=4))
    return first, others


def moved(intervals: list[Interval], values: list[float]) -> list[Interval]:
    """The same intervals about other values."""
    return [
        Interval(x, x - (one.value - one.low), x + (one.high - one.value), one.freedom)
        for x, one in zip(values, intervals, strict=True)
    ]


def statuses(found: Outcome) -> list[str]:
    """What each draw says, as a word."""
    return [
        "passes" if passes else "contradicted" if against else "undecided"
        for passes, against in zip(found.passes, found.contradicted, strict=True)
    ]


def in_words(status: str) -> str:
    return "contradicted" if status in FAILED else "undecided" if status == "inconclusive" else "passes"


@given(draws_of_trials(), st.sampled_from(["<=", ">=", "="]), st.sampled_from([0.0, 0.5]), st.booleans(), st.data())
def test_a_comparison_of_draws_is_that_of_each(made, relation, tolerance, trivial, data) -> None:  # type: ignore[no-untyped-def]
    first, others = made
    relation = "<=" if trivial and relation == "=" else relation
    informative = [not trivial or data.draw(st.booleans()) for _ in first]
    sign = 1 if relation == ">=" else -1
    check = Comparison(
        check="bound",
        statistic="x",
        relation=relation,
        limit="zero",
        trivial="trivial" if trivial else None,
        tolerance=tolerance,
    )
    single = []
    for values in others:
        trials = [
            Trial({"i": i}, {"x": one, "zero": 0.0, "trivial": 0.0 if not useful else -sign * 1.0}, "t")
            for i, (one, useful) in enumerate(zip(moved(first, values), informative, strict=True))
        ]
        single.append(in_words(check.judge(trials).status))
    ends = Ends.of(first, jointly(first))
    found = of_comparison(check, np.array(others), ends, np.array(informative))
    assert statuses(found) == single


@given(draws_of_trials(), draws_of_trials())
def test_an_order_of_draws_is_that_of_each(made, more) -> None:  # type: ignore[no-untyped-def]
    (first, others), (second, _) = made, more
    second = (second * 6)[: len(first)]
    check = Order(check="order", greater=(("a", "b"),))
    single = []
    for values in others:
        pairs = zip(moved(first, values), second, strict=True)
        trials = [Trial({"i": i}, {"a": a, "b": b}, "t") for i, (a, b) in enumerate(pairs)]
        single.append(in_words(check.judge(trials).status))
    leads = [difference(a, b) for a, b in zip(first, second, strict=True)]
    shifted = np.array(others) - np.array([b.value for b in second])
    assert statuses(of_pair(shifted, Ends.of(leads, jointly(leads)))) == single


@given(draws_of_trials())
def test_the_answers_of_draws_are_those_of_each(made) -> None:  # type: ignore[no-untyped-def]
    first, others = made
    question = Question(
        check="question",
        statistics=("x",),
        answers=(
            Answer(statistic="x", says="High.", above=1.0),
            Answer(statistic="x", says="Between.", above=-1.5, below=2.0),
            Answer(statistic="x", says="Low.", below=0.0),
        ),
    )
    ends = {"x": Ends.of(first, jointly(first))}
    given_ = answers(question, {"x": np.array(others)}, ends)
    for values, row in zip(others, given_, strict=True):
        trials = [Trial({"i": i}, {"x": one}, "t") for i, one in enumerate(moved(first, values))]
        verdict = question.judge(trials)
        said = [question.answers[i].says for i in dict.fromkeys(row.tolist()) if i >= 0]
        assert verdict.per_trial == tuple("answered" if i >= 0 else "inconclusive" for i in row)
        assert verdict.answers == tuple(said)
        # With its own answers a draw passes if the question is answered.
        [passes] = of_question(row, row[None, :]).passes
        assert passes == (verdict.status == "answered")


@pytest.mark.parametrize("settled", [0, 1, 3])
def test_settled_trials_hold_like_others(settled: int) -> None:
    check = Comparison(check="bound", statistic="x", relation="<=", limit="zero")
    noisy = [Interval(-0.5, -1.5, 0.5)] * 2
    drawn = np.array([[-3.0, -0.5], [-0.5, -0.5], [0.5, 0.25], [3.0, -0.5]])
    every = [*noisy, *[Interval(-1.0, -1.0, -1.0)] * settled]
    ends = Ends.of(every, jointly(every))
    exact = np.full((len(drawn), settled), -1.0)
    whole = of_comparison(check, np.hstack([drawn, exact]), ends, np.ones(2 + settled, bool))
    kept = np.arange(2 + settled) < 2
    part = of_comparison(check, drawn, ends[kept], np.ones(2, bool), settled)
    assert statuses(part) == statuses(whole)
