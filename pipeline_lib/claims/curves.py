"""How likely would it have been noticed, were a claim false by a given amount? The severity curves of a claim."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri, stdtrit

from pipeline_lib.claims.kinds import SIGNS, Comparison, Order, concerns
from pipeline_lib.claims.many import Draws, Ends, Outcome, answers, of_comparison, of_pair, of_question
from pipeline_lib.claims.questions import Answer, Question
from pipeline_lib.claims.severity import NOTICED, POINTS, Curve, Line
from pipeline_lib.claims.trials import Trial
from pipeline_lib.claims.verdicts import LEVEL, Check, Quantity, amount, as_interval, difference, jointly
from pipeline_lib.claims.words import spoken
from pipeline_lib.core.arrays import Floats
from pipeline_lib.core.markup import rounded
from pipeline_lib.core.seeds import generator

Draw = Callable[[int], Floats]
"""Gives a number of trials probabilities, shape (DRAWS, trials), whose quantiles are their errors."""
DRAWS = 1_000
"""Draws behind every probability, whose standard error is 0.016 at most, and 0.007 at 0.95."""
HALVINGS = 8
"""How often the amount that would have been noticed is bracketed: to half a per cent."""


@dataclass(frozen=True)
class _World:
    """A statement about trials, whose truth can be chosen; everything has the shape (trials,) but for the errors.

    ``judge`` takes what is compared, shape (draws, trials); ``found`` is what was measured, and ``errors`` what is
    added to the truth in every draw. The statement stops to be true at ``edge``, an amount of 1 is a ``step`` beyond
    it, and errors are noticed at about ``reach``. Only ``free`` trials can be false; ``exact`` more, which hold
    whatever is drawn, are left out.
    """

    statement: str
    unit: str
    judge: Callable[[Floats], Outcome]
    found: Floats
    errors: Floats
    reach: Floats
    edge: Floats
    step: Floats
    free: Draws
    exact: int

    def outcome(self, amount: float, false: Draws) -> Outcome:
        """What the check says where the statement is false by an amount in some trials, shape (draws, trials)."""
        return self.judge(np.where(false, self.edge + amount * self.step, self.found) + self.errors)

    def shares(self, amount: float, false: Draws) -> tuple[float, float]:
        """In which shares of draws this is noticed, and contradicted."""
        found = self.outcome(amount, false)
        return float(1 - found.passes.mean()), float(found.contradicted.mean())

    @property
    def near(self) -> float:
        """The amount that an error of one trial takes to be noticed, roughly."""
        return float(np.median(self.reach[self.free] / np.abs(self.step[self.free])))

    def least(self, false: Draws, kind: int) -> float | None:
        """The amount at which one of the two shares becomes :data:`NOTICED`, from above; None where it never does."""
        if self.shares(0.0, false)[kind] >= NOTICED:
            return 0.0
        enough = self.near
        if self.shares(enough * 2.0**30, false)[kind] < NOTICED:
            return None
        while self.shares(enough, false)[kind] < NOTICED:
            enough *= 2
        low = 0.0
        for _ in range(HALVINGS):
            middle = (low + enough) / 2
            low, enough = (low, middle) if self.shares(middle, false)[kind] >= NOTICED else (middle, enough)
        return rounded(enough, "up", digits=2)


def of_claim(claim: str, checks: Sequence[Check], trials: Sequence[Trial]) -> tuple[Curve, ...]:
    """The severity curves of a claim: one for each of its checks that states something of intervals.

    Parameters
    ----------
    claim : str
        Its id, which seeds the draws.
    checks, trials : sequence
        As :func:`pipeline_lib.claims.kinds.judge` takes them.

    Example
    -------
    >>> from pipeline_lib.statistics import Interval
    >>> check = Comparison(check="bound", statistic="gap", relation="<=", limit="bound")
    >>> trial = Trial({}, {"gap": Interval(0.5, 0.4, 0.6), "bound": 1.0}, "tables/gaps.parquet")
    >>> [curve] = of_claim("one-gap", [check], [trial] * 9)
    >>> curve.statement, curve.unit, curve.trials, curve.in_some.false_in
    ('gap ≤ bound', '% of the limit', 9, 4)
    >>> curve.everywhere.noticed_from, curve.noticed_from
    (0.0, 14.0)
    """
    found = []
    for number, check in enumerate(checks):
        read = [trial for trial in trials if concerns(check, trial)]
        if read and not check.guards:
            rng = generator("severity curve", claim, number)
            worlds = [world for draw in (_apart, _together) for world in _worlds(check, read, partial(draw, rng=rng))]
            alternatives = [_curve(world, rng) for world in worlds if world.free.any()]
            if alternatives:
                last = max(alternatives, key=lambda curve: _or_infinite(curve.noticed_from))
                found.append(replace(last, slack_factor=check.judge(read).slack_factor))
    return tuple(found)


def _curve(world: _World, rng: np.random.Generator) -> Curve:
    number = int(world.free.sum())
    everywhere, some = world.free[None, :], _some(world.free, (number - 1) // 2, rng)
    amounts = [world.least(everywhere, 0), world.least(some, 0) if some.any() else None, world.least(everywhere, 1)]
    largest = _axis(max((one for one in amounts if one), default=world.near))
    grid = [largest * i / POINTS for i in range(POINTS + 1)]

    def line(false_in: int, false: Draws, noticed_from: float | None) -> Line:
        shares = [world.shares(one, false) for one in grid]
        noticed, contradicted = (tuple(round(one[kind], 3) for one in shares) for kind in (0, 1))
        return Line(false_in, noticed, contradicted, noticed_from)

    return Curve(
        world.statement,
        world.unit,
        number,
        len(world.free) - number + world.exact,
        largest,
        line(number, everywhere, amounts[0]),
        line((number - 1) // 2, some, amounts[1]) if some.any() else None,
    )


def _some(free: Draws, number: int, rng: np.random.Generator) -> Draws:
    """So many of the free trials, chosen anew for every draw."""
    chosen = np.zeros((DRAWS, len(free)), dtype=bool)
    chosen[:, free] = rng.random((DRAWS, int(free.sum()))).argsort(axis=1, kind="stable") < number
    return chosen


def _worlds(check: Check, trials: Sequence[Trial], draw: Draw) -> Iterator[_World]:
    """The ways in which what a check states can be false."""
    if isinstance(check, Comparison):
        yield from _of_comparison(check, trials, draw)
    elif isinstance(check, Order):
        yield from _of_order(check, trials, draw)
    elif isinstance(check, Question):
        yield from _of_question(check, trials, draw)


def _of_comparison(check: Comparison, trials: Sequence[Trial], draw: Draw) -> Iterator[_World]:
    measured = [check.measured(trial) for trial in trials]
    alone, wide = (
        [check.above(trial, one) for trial, one in zip(trials, each, strict=True)]
        for each in (measured, jointly(measured))
    )
    ends, informative = Ends.of(alone, wide), np.array([check.informative(trial) for trial in trials])
    free = informative & (ends.below + ends.above > 0)
    kept = free | np.array([check.excess(one).high > check.tolerance for one in wide])
    settled = int((~kept & informative).sum())
    limits = np.array([amount(check.limit, trial) - amount(check.shared, trial) for trial in trials])
    in_percent = check.check == "bound" and bool(limits[free].all())
    step = np.abs(limits) / 100 if in_percent else np.ones(len(trials))
    errors = (_errors(check.statistic, trials, draw) - _errors(check.limit, trials, draw)) * free
    found = np.array([one.value for one in alone])
    for sign in {"<=": (1,), ">=": (-1,), "=": (1, -1)}[check.relation]:
        yield _World(
            f"{spoken(check.statistic)} {SIGNS[check.relation]} {spoken(check.limit)}",
            "% of the limit" if in_percent else "in the exponent" if check.check == "exponent" else "",
            partial(of_comparison, check, ends=ends[kept], informative=informative[kept], settled=settled),
            found[kept],
            errors[:, kept],
            ends.reach[kept] + check.tolerance,
            np.zeros(int(kept.sum())),
            sign * step[kept],
            free[kept],
            int((~kept).sum()),
        )


def _of_order(check: Order, trials: Sequence[Trial], draw: Draw) -> Iterator[_World]:
    leads = [difference(as_interval(a, trial), as_interval(b, trial)) for trial in trials for a, b in check.greater]
    wide, step = jointly(leads), len(check.greater)
    for j, (a, b) in enumerate(check.greater):
        ends, found = Ends.of(leads[j::step], wide[j::step]), np.array([one.value for one in leads[j::step]])
        free = ends.below + ends.above > 0
        kept = free | (found <= 0)
        number = int((~kept).sum())
        yield _World(
            f"{spoken(a)} > {spoken(b)}",
            "",
            partial(of_pair, ends=ends[kept], settled=number),
            found[kept],
            ((_errors(a, trials, draw) - _errors(b, trials, draw)) * free)[:, kept],
            ends.reach[kept],
            np.zeros(int(kept.sum())),
            -np.ones(int(kept.sum())),
            free[kept],
            number,
        )


def _of_question(question: Question, trials: Sequence[Trial], draw: Draw) -> Iterator[_World]:
    values = {name: [as_interval(name, trial) for trial in trials] for name in question.names}
    ends = {name: Ends.of(alone, jointly(alone)) for name, alone in values.items()}
    found = {name: np.array([[one.value for one in alone]]) for name, alone in values.items()}
    own = answers(question, found, ends)[0]
    # A trial without an answer stays without one.
    of = [question.answers[i] if i >= 0 else question.answers[0] for i in own]
    names = np.array([answer.statistic for answer in of])
    reach = np.array([ends[name].reach[i] for i, name in enumerate(names)])
    free = (own >= 0) & (reach > 0)
    errors = np.stack([_errors(name, trials, draw)[:, i] for i, name in enumerate(names)], axis=1) * free
    judge = partial(_question, question, own, names, found, ends)
    for sign in (-1, 1) if any(answer.above is not None and answer.below is not None for answer in of) else (-1,):
        edges = [_edge(answer, sign) for answer in of]
        yield _World(
            " ".join(dict.fromkeys(answer.says for answer in of)),
            "",
            judge,
            np.array([found[name][0, i] for i, name in enumerate(names)]),
            errors,
            reach,
            np.array([edge for edge, _ in edges]),
            np.array([step for _, step in edges]),
            free,
            0,
        )


def _question(
    question: Question,
    own: NDArray[np.int64],
    names: NDArray[np.str_],
    found: Mapping[str, Floats],
    ends: Mapping[str, Ends],
    values: Floats,
) -> Outcome:
    """What a question says where the statistics of the trials' own answers have other values."""
    drawn = {name: np.where(names == name, values, found[name]) for name in question.names}
    return of_question(own, answers(question, drawn, ends))


def _edge(answer: Answer, sign: int) -> tuple[float, int]:
    """Where an answer stops to hold on a side, or on its only one, and the direction that leads away from it."""
    if answer.above is None or (answer.below is not None and sign > 0):
        assert answer.below is not None
        return answer.below, 1
    return answer.above, -1


def _errors(quantity: Quantity, trials: Sequence[Trial], draw: Draw) -> Floats:
    """Errors of measured values, shape (draws, trials), by what their intervals state; none of exact ones.

    A value is too large as far as its interval reaches below it.
    """
    values = [as_interval(quantity, trial) for trial in trials]
    chances = np.maximum(draw(len(values)), np.finfo(np.float64).tiny)  # no error is infinite
    errors = np.zeros((DRAWS, len(values)))
    for freedom in dict.fromkeys(one.freedom for one in values):
        chosen = [i for i, one in enumerate(values) if one.freedom == freedom and one.low < one.high]
        quantile = ndtri if freedom is None else partial(stdtrit, freedom)
        drawn = quantile(chances[:, chosen]) / float(quantile((1 + LEVEL) / 2))
        below = np.array([values[i].value - values[i].low for i in chosen])
        above = np.array([values[i].high - values[i].value for i in chosen])
        errors[:, chosen] = drawn * np.where(drawn > 0, below, above)
    return errors


def _apart(number: int, rng: np.random.Generator) -> Floats:
    """How large the errors of trials are among those that there might be, if they are independent of each other."""
    return rng.random((DRAWS, number))


def _together(number: int, rng: np.random.Generator) -> Floats:
    """The same, if what makes one trial too large makes all others too large as well: the errors rise together."""
    return np.broadcast_to(rng.random((DRAWS, 1)), (DRAWS, number))


def _or_infinite(number: float | None) -> float:
    return math.inf if number is None else number


def _axis(number: float) -> float:
    """The least of the numbers 1, 2 and 5 times powers of 10 that is as large.

    Example
    -------
    >>> _axis(0.07), _axis(2.0), _axis(0.5001)
    (0.1, 2.0, 1.0)
    """
    power = 10.0 ** math.floor(math.log10(number))
    return next(float(f"{nice * power:.1g}") for nice in (1, 2, 5, 10) if number <= nice * power * (1 + 1e-9))
