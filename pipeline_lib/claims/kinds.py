"""Which kinds of checks can the rule of a claim consist of, and when is each verified, deviating or refuted?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from pipeline_lib.claims.evidence import Interval, Trial
from pipeline_lib.claims.verdicts import (
    Quantity,
    Verdict,
    allowance,
    amount,
    at,
    count,
    in_all,
    in_some,
    quantity_in,
    worst,
)
from pipeline_lib.claims.words import Status, plain, shown_value, spoken
from pipeline_lib.errors import DataError


@dataclass(frozen=True)
class Bound:
    """``at-most`` and ``at-least``: an inequality that must hold in every trial.

    Verified: statistic <= limit + tolerance (for at-least: >= limit - tolerance). Deviates: beyond that, but not
    further than ``deviates_within``, or the statistic comes with an interval that reaches the limit. Refuted: beyond.
    """

    direction: Literal["at-most", "at-least"]
    statistic: str
    limit: Quantity
    tolerance: float = 0.0
    deviates_within: float | None = None

    @property
    def names(self) -> tuple[str, ...]:
        return _named(self.statistic, self.limit)

    @property
    def statuses(self) -> tuple[Status, ...]:
        return ("verified", "deviates", "refuted")

    def words(self) -> str:
        sign = "≤" if self.direction == "at-most" else "≥"
        limit = f"{spoken(self.limit)}{allowance(self.tolerance)}"
        text = f"verified when {spoken(self.statistic)} {sign} {limit} in every trial"
        text += "; deviates when only the end of its interval reaches the limit"
        if self.deviates_within is not None:
            text += f", or when it misses by at most {plain(self.deviates_within)}"
        return text + "; otherwise refuted"

    def judge(self, trials: Sequence[Trial]) -> Verdict:
        slacks = [self._slack(trial) for trial in trials]
        statuses = tuple(self._status(trial, slack) for trial, slack in zip(trials, slacks, strict=True))
        status = worst(statuses)
        deciding = [i for i, one in enumerate(statuses) if one == status]
        least = min(deciding, key=lambda i: slacks[i])
        return Verdict(status, self._sentence(trials, slacks, statuses, least), statuses)

    def _slack(self, trial: Trial) -> float:
        difference = amount(self.limit, trial) - amount(self.statistic, trial)
        return difference if self.direction == "at-most" else -difference

    def _status(self, trial: Trial, slack: float) -> Status:
        if slack >= -self.tolerance:
            return "verified"
        value = trial.values[self.statistic]
        if isinstance(value, Interval):
            end, limit = (value.low, -1) if self.direction == "at-most" else (value.high, 1)
            if limit * (end - amount(self.limit, trial)) >= -self.tolerance:
                return "deviates"
        if self.deviates_within is not None and slack >= -self.deviates_within:
            return "deviates"
        return "refuted"

    def _sentence(
        self, trials: Sequence[Trial], slacks: Sequence[float], statuses: Sequence[Status], least: int
    ) -> str:
        trial = trials[least]
        sign = "≤" if self.direction == "at-most" else "≥"
        shown = shown_value(trial.values[self.statistic])
        limit = plain(amount(self.limit, trial))
        failed = sum(status != "verified" for status in statuses)
        if not failed:
            return (
                f"{spoken(self.statistic)} {sign} {spoken(self.limit)} holds {in_all(trials)}; the smallest slack is "
                f"{plain(slacks[least])} ({shown} against {limit}{at(trial)})."
            )
        return (
            f"{spoken(self.statistic)} {sign} {spoken(self.limit)} fails {in_some(failed, trials)}; the decisive value "
            f"is {shown} against {limit}{at(trial)}."
        )


@dataclass(frozen=True)
class Equals:
    """``equals``: an identity or a single published value.

    Verified: |statistic - expected| <= tolerance in every trial. Deviates: within ``deviates_within``. Else refuted.
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
        return ("verified", "refuted") if self.deviates_within is None else ("verified", "deviates", "refuted")

    def words(self) -> str:
        text = (
            f"verified when {spoken(self.statistic)} equals {spoken(self.expected)} "
            f"{f'to within {plain(self.tolerance)}' if self.tolerance else 'exactly'} in every trial"
        )
        if self.deviates_within is not None:
            text += f"; deviates when within {plain(self.deviates_within)}"
        return text + "; otherwise refuted"

    def judge(self, trials: Sequence[Trial]) -> Verdict:
        distances = [abs(amount(self.statistic, trial) - amount(self.expected, trial)) for trial in trials]
        statuses = tuple(_by_distance(distance, self.tolerance, self.deviates_within) for distance in distances)
        far = max(range(len(trials)), key=lambda i: distances[i])
        trial = trials[far]
        failed = sum(status != "verified" for status in statuses)
        outcome = f"fails {in_some(failed, trials)}" if failed else f"holds {in_all(trials)}"
        sentence = (
            f"{spoken(self.statistic)} = {spoken(self.expected)}{allowance(self.tolerance)} {outcome}; "
            f"the largest difference is {plain(distances[far])} "
            f"({shown_value(trial.values[self.statistic])} against {plain(amount(self.expected, trial))}{at(trial)})."
        )
        return Verdict(worst(statuses), sentence, statuses)


@dataclass(frozen=True)
class Exponent:
    """``exponent``: a fitted slope with its interval, against the exponent of a rate.

    The distance is 0 when the interval holds an allowed exponent, else the gap between them. Verified: distance at
    most ``tolerance`` and the interval no wider than ``widest``. Deviates: distance at most ``deviates_within``, or an
    interval so wide that it decides nothing. Refuted: further away.
    """

    statistic: str
    relation: Literal["at_most", "at_least", "equals"]
    limit: float
    deviates_within: float
    widest: float
    tolerance: float = 0.0

    @property
    def names(self) -> tuple[str, ...]:
        return (self.statistic,)

    @property
    def statuses(self) -> tuple[Status, ...]:
        return ("verified", "deviates", "refuted")

    def words(self) -> str:
        relation = {"at_most": "at most", "at_least": "at least", "equals": "equal to"}[self.relation]
        return (
            f"verified when the interval of {spoken(self.statistic)} allows an exponent {relation} {plain(self.limit)}"
            f"{allowance(self.tolerance)} in every trial and is no wider than {plain(self.widest)}; deviates when it "
            f"misses by at most {plain(self.deviates_within)} or is wider; otherwise refuted"
        )

    def judge(self, trials: Sequence[Trial]) -> Verdict:
        intervals = [self._interval(trial) for trial in trials]
        distances = [self._distance(interval) for interval in intervals]
        statuses = tuple(self._status(*pair) for pair in zip(intervals, distances, strict=True))
        status = worst(statuses)
        deciding = max(
            (i for i, one in enumerate(statuses) if one == status),
            key=lambda i: (distances[i], intervals[i].high - intervals[i].low),
        )
        relation = {"at_most": "≤", "at_least": "≥", "equals": "="}[self.relation]
        failed = sum(one != "verified" for one in statuses)
        outcome = f"is not shown {in_some(failed, trials)}" if failed else f"holds {in_all(trials)}"
        sentence = (
            f"{spoken(self.statistic)} {relation} {plain(self.limit)} {outcome}; the decisive exponent is "
            f"{shown_value(intervals[deciding])}{at(trials[deciding])}."
        )
        return Verdict(status, sentence, statuses)

    def _interval(self, trial: Trial) -> Interval:
        value = trial.values[self.statistic]
        if not isinstance(value, Interval):
            raise DataError(f"{self.statistic}: expected a fitted exponent with its interval, found {value}")
        return value

    def _distance(self, interval: Interval) -> float:
        above = max(0.0, interval.low - self.limit)
        below = max(0.0, self.limit - interval.high)
        return {"at_most": above, "at_least": below, "equals": max(above, below)}[self.relation]

    def _status(self, interval: Interval, distance: float) -> Status:
        if distance > self.deviates_within:
            return "refuted"
        return "verified" if distance <= self.tolerance and interval.high - interval.low <= self.widest else "deviates"


@dataclass(frozen=True)
class Order:
    """``order``: named values that should be in a published order, each pair (greater, lesser).

    Verified: in every comparison the intervals are apart in the published direction. Deviates: some intervals overlap.
    Refuted: one comparison is reversed with intervals apart. A value without an interval counts as exact.
    """

    greater: tuple[tuple[Quantity, Quantity], ...]

    @property
    def names(self) -> tuple[str, ...]:
        named = dict.fromkeys(name for pair in self.greater for name in pair if isinstance(name, str))
        return tuple(named)

    @property
    def statuses(self) -> tuple[Status, ...]:
        return ("verified", "deviates", "refuted")

    def words(self) -> str:
        pairs = ", ".join(f"{spoken(a)} > {spoken(b)}" for a, b in self.greater)
        return (
            f"verified when {pairs} in every trial with intervals apart; deviates when some intervals overlap; "
            "refuted when one comparison is reversed with intervals apart"
        )

    def judge(self, trials: Sequence[Trial]) -> Verdict:
        compared = [(trial, pair, self._compare(trial, pair)) for trial in trials for pair in self.greater]
        each = len(self.greater)
        statuses = tuple(worst([one[2] for one in compared[i * each : (i + 1) * each]]) for i in range(len(trials)))
        status = worst(statuses)
        reversed_, overlapping = (sum(one[2] == name for one in compared) for name in ("refuted", "deviates"))
        deciding = (one for one in compared if one[2] == status)
        trial, (a, b), _ = min(deciding, key=lambda one: self._lead(one[0], one[1]))
        total = len(compared)
        sentence = (
            f"of {total} comparison{'s' * (total != 1)}, {total - reversed_ - overlapping} "
            f"{_verb(total - reversed_ - overlapping, 'holds', 'hold')}, {overlapping} "
            f"{_verb(overlapping, 'lies', 'lie')} within the intervals and {reversed_} "
            f"{_verb(reversed_, 'is', 'are')} reversed; the {'closest' if status == 'verified' else 'decisive'} one is "
            f"{_with_value(a, trial)} against {_with_value(b, trial)}"
            f"{at(trial)}."
        )
        return Verdict(status, sentence, statuses)

    @staticmethod
    def _compare(trial: Trial, pair: tuple[Quantity, Quantity]) -> Status:
        a, b = (_as_interval(quantity_in(name, trial)) for name in pair)
        if a.low > b.high:
            return "verified"
        return "refuted" if a.high < b.low else "deviates"

    @staticmethod
    def _lead(trial: Trial, pair: tuple[Quantity, Quantity]) -> float:
        return amount(pair[0], trial) - amount(pair[1], trial)


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
            f"verified when {spoken(self.statistic)} is within {plain(self.tolerance)} of {spoken(self.expected)} in "
            "every cell; deviates when only some cells are; refuted when none is"
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
        return Verdict(status, sentence, tuple("verified" if good else "refuted" for good in within))


@dataclass(frozen=True)
class Finding:
    """``finding``: a question without a published answer; verified means "measured".

    Verified: every statistic comes with an interval in at least ``trials`` trials (and none is wider than ``widest``
    when that is stated). Deviates: measured, but in fewer trials or less precisely than the criterion asks.
    """

    statistics: tuple[str, ...]
    criterion: str
    trials: int = 1
    widest: float | None = None

    @property
    def names(self) -> tuple[str, ...]:
        return self.statistics

    @property
    def statuses(self) -> tuple[Status, ...]:
        return ("verified",) if self.trials <= 1 and self.widest is None else ("verified", "deviates")

    def words(self) -> str:
        text = f"no published answer; verified means measured: {self.criterion}"
        if self.trials > 1:
            text += f"; at least {self.trials} trials"
        if self.widest is not None:
            text += f"; intervals no wider than {plain(self.widest)}"
        return text + ("; deviates when measured in fewer trials or less precisely" if len(self.statuses) > 1 else "")

    def judge(self, trials: Sequence[Trial]) -> Verdict:
        statuses = tuple(self._status(trial) for trial in trials)
        enough = len(trials) >= self.trials
        status: Status = "verified" if enough and worst(statuses) == "verified" else "deviates"
        parts = [self._range(name, trials) for name in self.statistics]
        ending = "" if enough else f", fewer than the {self.trials} trials required"
        return Verdict(status, f"measured in {count(trials)}{ending}: {'; '.join(parts)}.", statuses)

    def _status(self, trial: Trial) -> Status:
        for name in self.statistics:
            value = trial.values[name]
            if not isinstance(value, Interval):
                raise DataError(f"{name}: expected a number with its interval, found {value}")
            if self.widest is not None and value.high - value.low > self.widest:
                return "deviates"
        return "verified"

    @staticmethod
    def _range(name: str, trials: Sequence[Trial]) -> str:
        low = min(trials, key=lambda trial: amount(name, trial))
        high = max(trials, key=lambda trial: amount(name, trial))
        if low is high or len(trials) == 1:
            return f"{spoken(name)} {shown_value(low.values[name])}{at(low)}"
        return (
            f"{spoken(name)} from {shown_value(low.values[name])}{at(low)} to "
            f"{shown_value(high.values[name])}{at(high)}"
        )


def _verb(number: int, singular: str, plural: str) -> str:
    return singular if number == 1 else plural


def _with_value(quantity: Quantity, trial: Trial) -> str:
    value = shown_value(quantity_in(quantity, trial))
    return f"{spoken(quantity)} {value}" if isinstance(quantity, str) else value


def _as_interval(value: float | Interval) -> Interval:
    return value if isinstance(value, Interval) else Interval(value, value, value)


def _named(*quantities: Quantity) -> tuple[str, ...]:
    return tuple(quantity for quantity in quantities if isinstance(quantity, str))


def _by_distance(distance: float, tolerance: float, deviates_within: float | None) -> Status:
    if distance <= tolerance:
        return "verified"
    return "deviates" if deviates_within is not None and distance <= deviates_within else "refuted"
