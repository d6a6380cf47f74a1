"""Which kinds of checks can the rule of a claim consist of, and when is each verified, deviating or refuted?

Every kind gives each trial a status of its own: the trial holds, fails, or decides nothing because its interval,
widened for all trials together, contains the limit (:mod:`pipeline_lib.claims.verdicts`). Open questions are judged in
:mod:`pipeline_lib.claims.questions`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from pipeline_lib.claims.evidence import Interval, Trial
from pipeline_lib.claims.verdicts import (
    Quantity,
    Verdict,
    allowance,
    amount,
    as_interval,
    at,
    count,
    difference,
    in_all,
    in_some,
    jointly,
    of_trials,
    outcome,
    quantity_in,
)
from pipeline_lib.claims.words import Status, plain, shown_value, spoken
from pipeline_lib.errors import DataError


@dataclass(frozen=True)
class Bound:
    """``at-most`` and ``at-least``: an inequality that must hold in every trial.

    A trial is informative only where the limit is better than ``trivial``, the value that the statistic cannot pass
    whatever happens.
    """

    direction: Literal["at-most", "at-least"]
    statistic: str
    limit: Quantity
    trivial: Quantity | None = None
    tolerance: float = 0.0
    deviates_within: float | None = None

    @property
    def names(self) -> tuple[str, ...]:
        return _named(self.statistic, self.limit, *([] if self.trivial is None else [self.trivial]))

    @property
    def statuses(self) -> tuple[Status, ...]:
        return ("verified", "consistent", *_failing(self.deviates_within))

    def words(self) -> str:
        limit = f"{spoken(self.limit)}{allowance(self.tolerance)}"
        text = f"{spoken(self.statistic)} {self._sign} {limit} in every trial"
        if self.trivial is not None:
            text += f", where a trial counts if the limit is better than {spoken(self.trivial)}"
        return text + _leniency(self.deviates_within)

    def judge(self, trials: Sequence[Trial]) -> Verdict:
        excesses = jointly([self._excess(trial) for trial in trials])
        statuses = tuple(self._status(trial, excess) for trial, excess in zip(trials, excesses, strict=True))
        status = of_trials(statuses)
        deciding = [i for i, one in enumerate(statuses) if one == status]
        nearest = max(deciding, key=lambda i: excesses[i].value)
        return Verdict(
            status,
            self._sentence(trials, excesses, statuses, nearest),
            statuses,
            slack_factor=self._slack_factor(trials, excesses),
            resolution=_resolution(self.statistic, excesses, self.tolerance),
        )

    @property
    def _sign(self) -> str:
        return "≤" if self.direction == "at-most" else "≥"

    def _excess(self, trial: Trial) -> Interval:
        """How far the statistic lies beyond its limit; negative where it holds."""
        pair = as_interval(self.statistic, trial), as_interval(self.limit, trial)
        return difference(*pair) if self.direction == "at-most" else difference(*reversed(pair))

    def _status(self, trial: Trial, excess: Interval) -> Status:
        status = outcome(excess, self.tolerance, self.deviates_within)
        return "consistent" if status == "verified" and not self._informative(trial) else status

    def _informative(self, trial: Trial) -> bool:
        if self.trivial is None:
            return True
        limit, trivial = amount(self.limit, trial), amount(self.trivial, trial)
        return limit < trivial if self.direction == "at-most" else limit > trivial

    def _slack_factor(self, trials: Sequence[Trial], excesses: Sequence[Interval]) -> float | None:
        """The factor at which the first trial would contradict the limit; none where every limit is 0."""
        limits = [amount(self.limit, trial) for trial in trials]
        factors = [self._factor(limit, excess) for limit, excess in zip(limits, excesses, strict=True) if limit]
        return min(factors, default=None)

    def _factor(self, limit: float, excess: Interval) -> float:
        """By which factor a limit other than 0 must be sharper, which is nearer to 0 or further away by its sign."""
        nearest = limit + excess.low if self.direction == "at-most" else limit - excess.low
        if (self.direction == "at-most") is (limit < 0):
            return max(nearest / limit, 0.0)
        return limit / nearest if nearest * limit > 0 else math.inf

    def _sentence(
        self, trials: Sequence[Trial], excesses: Sequence[Interval], statuses: Sequence[Status], nearest: int
    ) -> str:
        trial = trials[nearest]
        claimed = f"{spoken(self.statistic)} {self._sign} {spoken(self.limit)}"
        against = f"{shown_value(trial.values[self.statistic])} against {plain(amount(self.limit, trial))}{at(trial)}"
        if failed := sum(status in ("deviates", "refuted") for status in statuses):
            return f"{claimed} fails {in_some(failed, trials)}; the decisive value is {against}."
        slack = f"the smallest slack is {plain(-excesses[nearest].value)} ({against})"
        if statuses[nearest] == "consistent":
            return f"{claimed} is not contradicted, but no trial could have done so; {slack}."
        return f"{claimed} holds {_where(statuses, trials)}; {slack}."


@dataclass(frozen=True)
class Equals:
    """``equals``: an identity or a single published value.

    A number with an interval is tested for equivalence: the whole interval must be within the tolerance.
    """

    statistic: str
    expected: Quantity
    tolerance: float
    deviates_within: float | None = None

    @property
    def names(self) -> tuple[str, ...]:
        return _named(self.statistic, self.expected)

    @property
    def statuses(self) -> tuple[Status, ...]:
        return ("verified", "consistent", *_failing(self.deviates_within))

    def words(self) -> str:
        within = f"to within {plain(self.tolerance)}" if self.tolerance else "exactly"
        text = f"{spoken(self.statistic)} equals {spoken(self.expected)} {within} in every trial"
        return text + _leniency(self.deviates_within)

    def judge(self, trials: Sequence[Trial]) -> Verdict:
        pairs = [(as_interval(self.statistic, trial), as_interval(self.expected, trial)) for trial in trials]
        away = jointly([difference(*pair) for pair in pairs])
        statuses = tuple(outcome(_size(one), self.tolerance, self.deviates_within) for one in away)
        far = max(range(len(trials)), key=lambda i: abs(away[i].value))
        trial = trials[far]
        failed = sum(status in ("deviates", "refuted") for status in statuses)
        result = f"fails {in_some(failed, trials)}" if failed else f"holds {_where(statuses, trials)}"
        sentence = (
            f"{spoken(self.statistic)} = {spoken(self.expected)}{allowance(self.tolerance)} {result}; "
            f"the largest difference is {plain(abs(away[far].value))} "
            f"({shown_value(trial.values[self.statistic])} against {plain(amount(self.expected, trial))}{at(trial)})."
        )
        resolution = _resolution(self.statistic, away, self.tolerance)
        return Verdict(of_trials(statuses), sentence, statuses, resolution=resolution)


@dataclass(frozen=True)
class Exponent:
    """``exponent``: a fitted slope with its interval, against the exponent of a rate.

    The whole interval must be on the stated side of the exponent, up to ``tolerance``, the margin within which two
    exponents count as equal.
    """

    statistic: str
    relation: Literal["at_most", "at_least", "equals"]
    limit: float
    deviates_within: float
    tolerance: float = 0.0

    @property
    def names(self) -> tuple[str, ...]:
        return (self.statistic,)

    @property
    def statuses(self) -> tuple[Status, ...]:
        return ("verified", "consistent", *_failing(self.deviates_within))

    def words(self) -> str:
        relation = {"at_most": "at most", "at_least": "at least", "equals": "equal to"}[self.relation]
        return (
            f"the interval of {spoken(self.statistic)} holds only exponents {relation} {plain(self.limit)}"
            f"{allowance(self.tolerance)} in every trial{_leniency(self.deviates_within)}"
        )

    def judge(self, trials: Sequence[Trial]) -> Verdict:
        intervals = jointly([self._interval(trial) for trial in trials])
        excesses = [self._excess(interval) for interval in intervals]
        statuses = tuple(outcome(excess, self.tolerance, self.deviates_within) for excess in excesses)
        status = of_trials(statuses)
        nearest = max((i for i, one in enumerate(statuses) if one == status), key=lambda i: excesses[i].high)
        relation = {"at_most": "≤", "at_least": "≥", "equals": "="}[self.relation]
        failed = sum(one in ("deviates", "refuted") for one in statuses)
        result = f"fails {in_some(failed, trials)}" if failed else f"holds {_where(statuses, trials)}"
        sentence = (
            f"{spoken(self.statistic)} {relation} {plain(self.limit)}{allowance(self.tolerance)} {result}; "
            f"the decisive exponent is {shown_value(trials[nearest].values[self.statistic])}{at(trials[nearest])}."
        )
        excluded = {self.statistic: (min(one.low for one in intervals), max(one.high for one in intervals))}
        resolution = _resolution(self.statistic, intervals, self.tolerance)
        return Verdict(status, sentence, statuses, excludes=excluded, resolution=resolution)

    def _interval(self, trial: Trial) -> Interval:
        value = trial.values[self.statistic]
        if not isinstance(value, Interval):
            raise DataError(f"{self.statistic}: expected a fitted exponent with its interval, found {value}")
        return value

    def _excess(self, slope: Interval) -> Interval:
        limit = Interval(self.limit, self.limit, self.limit)
        above, below = difference(slope, limit), difference(limit, slope)
        return {"at_most": above, "at_least": below, "equals": _size(above)}[self.relation]


@dataclass(frozen=True)
class Order:
    """``order``: named values that should be in a published order, each pair (greater, lesser).

    A comparison holds or fails where the intervals are apart; where they overlap it decides nothing. A value without an
    interval counts as exact.
    """

    greater: tuple[tuple[Quantity, Quantity], ...]

    @property
    def names(self) -> tuple[str, ...]:
        return _named(*(name for pair in self.greater for name in pair))

    @property
    def statuses(self) -> tuple[Status, ...]:
        return ("verified", "consistent", "refuted")

    def words(self) -> str:
        pairs = ", ".join(f"{spoken(a)} > {spoken(b)}" for a, b in self.greater)
        return f"{pairs} in every trial with intervals apart"

    def judge(self, trials: Sequence[Trial]) -> Verdict:
        compared = [(trial, pair) for trial in trials for pair in self.greater]
        leads = jointly([difference(as_interval(a, trial), as_interval(b, trial)) for trial, (a, b) in compared])
        each = [_apart(lead) for lead in leads]
        step = len(self.greater)
        statuses = tuple(_of_comparisons(each[i * step : (i + 1) * step]) for i in range(len(trials)))
        status = of_trials(statuses)
        deciding = [i for i, one in enumerate(each) if one == status] or range(len(each))
        trial, (a, b) = compared[min(deciding, key=lambda i: leads[i].value)]
        held, overlapping, reversed_ = (each.count(one) for one in ("verified", "consistent", "refuted"))
        sentence = (
            f"of {len(each)} comparison{'s' * (len(each) != 1)}, {held} {_verb(held, 'holds', 'hold')}, {overlapping} "
            f"{_verb(overlapping, 'lies', 'lie')} within the intervals and {reversed_} "
            f"{_verb(reversed_, 'is', 'are')} reversed; the {'closest' if status == 'verified' else 'decisive'} one is "
            f"{_with_value(a, trial)} against {_with_value(b, trial)}{at(trial)}."
        )
        return Verdict(status, sentence, statuses, resolution=_resolution("comparison", leads, 0.0))


@dataclass(frozen=True)
class Cells:
    """``cells``: a table of published values, one trial per cell, with one tolerance for all cells.

    Verified: all cells within the tolerance. Deviates: some. Refuted: none.
    """

    statistic: str
    expected: Quantity
    tolerance: float

    @property
    def names(self) -> tuple[str, ...]:
        return _named(self.statistic, self.expected)

    @property
    def statuses(self) -> tuple[Status, ...]:
        return ("verified", "deviates", "refuted")

    def words(self) -> str:
        return (
            f"{spoken(self.statistic)} is within {plain(self.tolerance)} of {spoken(self.expected)} in every cell; "
            "deviates when only some cells are, refuted when none is"
        )

    def judge(self, trials: Sequence[Trial]) -> Verdict:
        distances = [abs(amount(self.statistic, trial) - amount(self.expected, trial)) for trial in trials]
        within = [distance <= self.tolerance * (1 + 1e-9) for distance in distances]
        far = max(range(len(trials)), key=lambda i: distances[i])
        status: Status = "verified" if all(within) else "deviates" if any(within) else "refuted"
        sentence = (
            f"{sum(within)} of {len(trials)} cells are within {plain(self.tolerance)} of {spoken(self.expected)}; "
            f"the furthest is {shown_value(trials[far].values[self.statistic])} against "
            f"{plain(amount(self.expected, trials[far]))}{at(trials[far])}."
        )
        statuses: tuple[Status, ...] = tuple("verified" if good else "refuted" for good in within)
        return Verdict(status, sentence, statuses, resolution={self.statistic: self.tolerance})


def _where(statuses: Sequence[Status], trials: Sequence[Trial]) -> str:
    """Where an inequality or an identity holds that fails nowhere."""
    decided = sum(status == "verified" for status in statuses)
    if decided == len(trials):
        return in_all(trials)
    return (
        f"in the {decided} of {count(trials)} that decide"
        if decided
        else "within every interval, which decides nothing"
    )


def _size(away: Interval) -> Interval:
    """The interval of |x| for x in an interval."""
    ends = abs(away.low), abs(away.high)
    return Interval(abs(away.value), 0.0 if away.low <= 0 <= away.high else min(ends), max(ends))


def _apart(lead: Interval) -> Status:
    if lead.low > 0:
        return "verified"
    return "refuted" if lead.high < 0 else "consistent"


def _of_comparisons(statuses: Sequence[Status]) -> Status:
    """A trial is in the published order if no comparison is reversed and each of them decides."""
    return next((one for one in ("refuted", "consistent") if one in statuses), "verified")  # type: ignore[return-value]


def _resolution(statistic: str, values: Sequence[Interval], tolerance: float) -> dict[str, float]:
    return {statistic: max(tolerance, *((one.high - one.low) / 2 for one in values))}


def _failing(deviates_within: float | None) -> tuple[Status, ...]:
    return ("refuted",) if deviates_within is None else ("deviates", "refuted")


def _leniency(deviates_within: float | None) -> str:
    return "" if deviates_within is None else f"; deviates when it misses by at most {plain(deviates_within)}"


def _verb(number: int, singular: str, plural: str) -> str:
    return singular if number == 1 else plural


def _with_value(quantity: Quantity, trial: Trial) -> str:
    value = shown_value(quantity_in(quantity, trial))
    return f"{spoken(quantity)} {value}" if isinstance(quantity, str) else value


def _named(*quantities: Quantity) -> tuple[str, ...]:
    return tuple(dict.fromkeys(quantity for quantity in quantities if isinstance(quantity, str)))
