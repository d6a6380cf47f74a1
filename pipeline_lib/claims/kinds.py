"""Which kinds of checks can the rule of a claim consist of, and when is each verified, deviating or refuted?

Each check reads named statistics from the trials. One trial that fails decides; trials that decide nothing do not
count; and every check must decide something. What a check cannot read is an error and never leads to a status.

Every kind gives each trial a status of its own: the trial holds, fails, or decides nothing because its interval,
widened for all trials together, contains the limit (:mod:`pipeline_lib.claims.verdicts`). Open questions are judged in
:mod:`pipeline_lib.claims.questions`.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from pipeline_lib.claims.questions import Question
from pipeline_lib.claims.trials import Trial
from pipeline_lib.claims.verdicts import (
    Check,
    Name,
    Quantity,
    Undecided,
    Verdict,
    Width,
    allowance,
    amount,
    as_interval,
    at,
    count,
    difference,
    in_all,
    in_some,
    jointly,
    of_check,
    of_checks,
    of_trials,
    outcome,
    quantity_in,
)
from pipeline_lib.claims.words import FAILED, Status, plain, shown_value, spoken
from pipeline_lib.core.errors import DataError
from pipeline_lib.statistics import Interval

SIGNS = {"<=": "≤", ">=": "≥", "=": "="}
SHOULD = {"<=": "at most ", ">=": "at least ", "=": ""}
UNDECIDED: dict[Undecided, str] = {
    "": "",
    "together": " and, taken together, in the {} that are undecided",
    "against": " but not, taken together, in the {} that are undecided",
    "few": ", which are too few",
}
"""What is said behind "holds in K of N trials"."""
AMONG: dict[Undecided, str] = {
    "": "",
    "together": " (as stated when taken together)",
    "against": " (reversed when taken together)",
    "few": " (too many)",
}
"""What is said behind "N undecided"."""


class Comparison(Check):
    """``gap <= bound``, ``slope = 2``: an inequality, an identity or a single published value in every trial.

    A number with an interval is tested for equivalence by ``=``: the whole interval must be within the tolerance. A
    trial of a bound is informative only where the limit is better than ``trivial``, the value that the statistic cannot
    pass whatever happens. An ``exponent`` is a fitted slope with its interval, compared with the exponent of a rate;
    its tolerance is the margin within which two exponents count as equal.
    """

    check: Literal["bound", "equals", "exponent"]
    statistic: Name
    relation: Literal["<=", ">=", "="]
    limit: Quantity
    trivial: Quantity | None = Field(None, description="trials whose limit is no better do not count")
    shared: Quantity = Field(0.0, description="what stands on both sides: only the rest of the limit can be tighter")
    sharper: Name | None = Field(
        None, description="the statistic of the check that tests the same limit more sharply, and has its margin"
    )
    tolerance: Width = 0.0
    deviates_within: Width | None = None

    def words(self) -> str:
        statistic, limit = spoken(self.statistic), f"{spoken(self.limit)}{allowance(self.tolerance)}"
        if self.check == "exponent":
            relation = {"<=": "at most", ">=": "at least", "=": "equal to"}[self.relation]
            text = f"the interval of {statistic} holds only exponents {relation} {limit} in every trial"
        elif self.check == "equals":
            within = f"to within {plain(self.tolerance)}" if self.tolerance else "exactly"
            text = f"{statistic} equals {spoken(self.limit)} {within} in every trial"
        else:
            text = f"{statistic} {SIGNS[self.relation]} {limit} in every trial"
        if self.trivial is not None:
            text += f", where a trial counts if the limit is better than {spoken(self.trivial)}"
        if self.sharper:
            text += f"; the check on {spoken(self.sharper)} tests the same limit more sharply"
        elif self.shared:
            text += f"; the margin is that of what it adds to {spoken(self.shared)}"
        if self.deviates_within is not None:
            text += f"; deviates when it misses by at most {plain(self.deviates_within)}"
        return text

    def judge(self, trials: Sequence[Trial]) -> Verdict:
        alone = [self.measured(trial) for trial in trials]
        measured = jointly(alone)
        excesses = [self._excess(trial, one) for trial, one in zip(trials, measured, strict=True)]
        statuses = tuple(self._status(trial, one) for trial, one in zip(trials, excesses, strict=True))
        noisy = [i for i, one in enumerate(statuses) if one == "verified" or excesses[i].high > self.tolerance]
        sides = [[side[i] for i in noisy] for side in self._sides(trials, alone)]
        status, undecided = of_check([statuses[i] for i in noisy] or statuses, *sides, tolerance=self.tolerance)
        others = sum(statuses[i] == "inconclusive" for i in noisy)
        result = f"{_result(statuses, trials)}{UNDECIDED[undecided].format(others)}"
        allowed = sum(
            one == "verified" and self._excess(trial, own).low > 0
            for trial, own, one in zip(trials, alone, statuses, strict=True)
        )
        if self.check == "exponent" and allowed:
            result += (
                f", {in_some(allowed, trials)} by the tolerance alone"
                if len(trials) > 1
                else ", by the tolerance alone"
            )
        if self.check == "bound" and status == "inconclusive" and not undecided:
            result = "is not contradicted, but no trial could have done so"
        excluded = {self.statistic: (min(one.low for one in measured), max(one.high for one in measured))}
        return Verdict(
            status,
            f"{self._claimed} {result}; {self._closest(trials, excesses, statuses, status)}.",
            statuses,
            slack_factor=self._slack_factor(trials, excesses) if self.check == "bound" and not self.sharper else None,
            excludes=excluded if self.check == "exponent" else {},
            resolution=_resolution(self.statistic, measured, self.tolerance),
        )

    def measured(self, trial: Trial) -> Interval:
        """An exponent itself, so that its own interval is widened; else how far the statistic is above the limit."""
        if self.check != "exponent":
            return difference(as_interval(self.statistic, trial), as_interval(self.limit, trial))
        value = trial.values[self.statistic]
        if not isinstance(value, Interval):
            raise DataError(f"{self.statistic}: expected a fitted exponent with its interval, found {value}")
        return value

    def _excess(self, trial: Trial, measured: Interval) -> Interval:
        """By how much the statistic misses the limit; not positive where it holds."""
        return self.excess(self.above(trial, measured))

    def excess(self, above: Interval) -> Interval:
        """By how much the limit is missed, by how far the statistic is above it."""
        return {"<=": above, ">=": _negative(above), "=": _size(above)}[self.relation]

    def above(self, trial: Trial, measured: Interval) -> Interval:
        """How far the statistic is above the limit, by what :meth:`measured` gives, widened or not."""
        return difference(measured, as_interval(self.limit, trial)) if self.check == "exponent" else measured

    def _sides(self, trials: Sequence[Trial], measured: Sequence[Interval]) -> list[list[Interval]]:
        """How far every trial is above the limit, below it, or both for an identity."""
        above = [self.above(trial, one) for trial, one in zip(trials, measured, strict=True)]
        below = [_negative(one) for one in above]
        return {"<=": [above], ">=": [below], "=": [above, below]}[self.relation]

    def _status(self, trial: Trial, excess: Interval) -> Status:
        status = outcome(excess, self.tolerance, self.deviates_within)
        return status if status != "verified" or self.informative(trial) else "inconclusive"

    def informative(self, trial: Trial) -> bool:
        """Whether the limit is better than the trivial one."""
        if self.trivial is None:
            return True
        limit, trivial = amount(self.limit, trial), amount(self.trivial, trial)
        return limit < trivial if self.relation == "<=" else limit > trivial

    def _slack_factor(self, trials: Sequence[Trial], excesses: Sequence[Interval]) -> float | None:
        """The factor at which the first trial would contradict the limit; none where every limit is 0."""
        limits = [amount(self.limit, trial) - amount(self.shared, trial) for trial in trials]
        factors = [self._factor(limit, excess) for limit, excess in zip(limits, excesses, strict=True) if limit]
        return min(factors, default=None)

    def _factor(self, limit: float, excess: Interval) -> float:
        """By which factor a limit other than 0 must be sharper, which is nearer to 0 or further away by its sign."""
        nearest = limit + excess.low if self.relation == "<=" else limit - excess.low
        if (self.relation == "<=") is (limit < 0):
            return max(nearest / limit, 0.0)
        return limit / nearest if nearest * limit > 0 else math.inf

    @property
    def _claimed(self) -> str:
        return f"{spoken(self.statistic)} {SIGNS[self.relation]} {spoken(self.limit)}{allowance(self.tolerance)}"

    def _closest(
        self, trials: Sequence[Trial], excesses: Sequence[Interval], statuses: Sequence[Status], status: Status
    ) -> str:
        """The trial that decides, or is closest to deciding otherwise, as a clause."""
        deciding = [i for i, one in enumerate(statuses) if one == status]
        if self.check == "exponent":
            trial = trials[max(deciding, key=lambda i: excesses[i].high)]
            return f"the exponent that decides is {shown_value(trial.values[self.statistic])}{at(trial)}"
        furthest = max(deciding if self.check == "bound" else range(len(trials)), key=lambda i: excesses[i].value)
        trial, excess = trials[furthest], excesses[furthest].value
        measured, limit = shown_value(trial.values[self.statistic]), plain(amount(self.limit, trial))
        against = f"{measured} against {limit}{at(trial)}"
        if status in FAILED:
            return f"most clearly{at(trial)}, where it is {measured} and should be {SHOULD[self.relation]}{limit}"
        if self.check == "equals":
            return f"the largest difference is {plain(excess)} ({against})"
        return f"the smallest slack is {plain(-excess)} ({against})"


class Order(Check):
    """``order``: named values that should be in a published order, each pair (greater, lesser).

    A comparison holds or fails where the intervals are apart; where they overlap it decides nothing. A value without an
    interval counts as exact.
    """

    check: Literal["order"]
    greater: Annotated[tuple[tuple[Quantity, Quantity], ...], Field(min_length=1)]

    def words(self) -> str:
        pairs = ", ".join(f"{spoken(a)} > {spoken(b)}" for a, b in self.greater)
        return f"{pairs} in every trial with intervals apart"

    def judge(self, trials: Sequence[Trial]) -> Verdict:
        compared = [(trial, pair) for trial in trials for pair in self.greater]
        leads = [difference(as_interval(a, trial), as_interval(b, trial)) for trial, (a, b) in compared]
        each = [_apart(lead) for lead in jointly(leads)]
        step = len(self.greater)
        statuses = tuple(of_checks(each[i * step : (i + 1) * step]) for i in range(len(trials)))
        misses = [_negative(lead) for lead in leads]
        by_pair = [of_check(each[j::step], misses[j::step]) for j in range(step)]
        status = of_checks([one for one, _ in by_pair])
        undecided: Undecided = next((one for own, one in by_pair if own == status and one), "")
        deciding = [i for i, one in enumerate(each) if one == status] or range(len(each))
        trial, (a, b) = compared[min(deciding, key=lambda i: leads[i].value)]
        outcomes = {"verified": "as stated", "inconclusive": "undecided", "refuted": "reversed"}
        found = [f"{each.count(one)} {word}" for one, word in outcomes.items() if one in each]
        sentence = (
            f"of {len(each)} comparison{'s' * (len(each) != 1)}, {' and '.join(found)}{AMONG[undecided]}, "
            f"most {'clearly' if status in FAILED else 'narrowly'}{at(trial)}: "
            f"{_with_value(a, trial)} against {_with_value(b, trial)}."
        )
        return Verdict(status, sentence, statuses, resolution=_resolution("comparison", jointly(leads), 0.0))


class Cells(Check):
    """``cells``: a table of published values, one trial per cell, with one tolerance for all cells.

    Verified: all cells within the tolerance. Deviates: some. Refuted: none.
    """

    check: Literal["cells"]
    statistic: Name
    expected: Quantity
    tolerance: Width

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


def _from_relation(entry: Any) -> Any:
    """The keys of a check that is written as what holds, such as "gap <= bound", or {exponent: slope = 2}."""
    entry = {"holds": entry} if isinstance(entry, str) else entry
    key = next((key for key in ("holds", "exponent") if isinstance(entry, Mapping) and key in entry), None)
    if key is None:
        if isinstance(entry, Mapping) and "check" not in entry:
            raise ValueError(f"expected one of the keys holds, exponent and check, found {', '.join(map(str, entry))}")
        return entry
    others = {name: entry[name] for name in entry if name != key}
    pairs = [part.split() for part in str(entry[key]).split(",")]
    if key == "holds" and all(len(pair) == 3 and pair[1] == ">" for pair in pairs):
        return {"check": "order", "greater": [(_quantity(a), _quantity(b)) for a, _, b in pairs]} | others
    if len(pairs) != 1 or len(pairs[0]) != 3 or pairs[0][1] not in SIGNS:
        raise ValueError(f"expected two names or numbers with <=, >=, = or > between them, found {entry[key]!r}")
    statistic, relation, limit = pairs[0]
    check = key if key == "exponent" else "equals" if relation == "=" else "bound"
    return {"check": check, "statistic": statistic, "relation": relation, "limit": _quantity(limit)} | others


def _quantity(text: str) -> Quantity:
    try:
        return float(text)
    except ValueError:
        return text


AnyCheck = Annotated[
    Comparison | Order | Cells | Question, Field(discriminator="check"), BeforeValidator(_from_relation)
]
"""A check as an entry under ``rule`` in the ledger gives it."""


def _result(statuses: Sequence[Status], trials: Sequence[Trial]) -> str:
    """Where an inequality or an identity fails, or where it holds."""
    if failed := sum(status in FAILED for status in statuses):
        return f"fails {in_some(failed, trials)}"
    decided = sum(status == "verified" for status in statuses)
    if decided == len(trials):
        return f"holds {in_all(trials)}"
    some = f"in the {decided} of {count(trials)} that could have failed"
    return f"holds {some if decided else 'within every interval, so that none could have failed'}"


def _negative(one: Interval) -> Interval:
    return Interval(-one.value, -one.high, -one.low, one.freedom)


def _size(away: Interval) -> Interval:
    """The interval of |x| for x in an interval."""
    ends = abs(away.low), abs(away.high)
    return Interval(abs(away.value), 0.0 if away.low <= 0 <= away.high else min(ends), max(ends))


def _apart(lead: Interval) -> Status:
    if lead.low > 0:
        return "verified"
    return "refuted" if lead.high < 0 else "inconclusive"


def _resolution(statistic: str, values: Sequence[Interval], tolerance: float) -> dict[str, float]:
    return {statistic: max(tolerance, *((one.high - one.low) / 2 for one in values))}


def _with_value(quantity: Quantity, trial: Trial) -> str:
    value = shown_value(quantity_in(quantity, trial))
    return f"{spoken(quantity)} {value}" if isinstance(quantity, str) else value


def judge(checks: Sequence[Check], trials: Sequence[Trial]) -> Verdict:
    """Judge all checks; the one that decides comes first.

    Raises
    ------
    DataError
        When a trial lacks a value that a check needs or has none for any check, or a check finds no trial at all.
    """
    per_trial: list[list[Status]] = [[] for _ in trials]
    guarded: set[int] = set()
    verdicts = []
    for check in checks:
        indices = [i for i, trial in enumerate(trials) if concerns(check, trial)]
        if not indices:
            raise DataError(f"expected at least one trial with {', '.join(check.names)}, found none")
        verdict = check.judge([trials[i] for i in indices])
        verdicts.append(verdict)
        for i, status in zip(indices, verdict.per_trial, strict=True):
            if check.guards and status not in FAILED:
                guarded.add(i)
            else:
                per_trial[i].append(status)
    idle = [trial for i, trial in enumerate(trials) if not per_trial[i] and i not in guarded]
    if idle:
        raise DataError(f"trial{at(idle[0])}: expected the values of one of the checks, found {sorted(idle[0].values)}")
    return _combined(verdicts, tuple(of_trials(statuses) if statuses else "inconclusive" for statuses in per_trial))


def _combined(verdicts: Sequence[Verdict], per_trial: tuple[Status, ...]) -> Verdict:
    status = of_checks([verdict.status for verdict in verdicts])
    first = sorted(verdicts, key=lambda verdict: verdict.status != status)
    sentence = " ".join(verdict.sentence[0].upper() + verdict.sentence[1:] for verdict in first)
    # Of a claim that fails, the checks that fail; else each limit has to be tested.
    counted = [one for one in verdicts if one.status == status] if status in FAILED else verdicts
    factors = [one.slack_factor for one in counted if one.slack_factor is not None]
    return Verdict(
        status,
        sentence,
        per_trial,
        slack_factor=max(factors, default=None),
        excludes={name: ends for verdict in verdicts for name, ends in verdict.excludes.items()},
        resolution={name: size for verdict in verdicts for name, size in verdict.resolution.items()},
        answers=tuple(answer for verdict in verdicts for answer in verdict.answers),
    )


def concerns(check: Check, trial: Trial) -> bool:
    """Whether a trial supplies all values that a check reads."""
    present = [name for name in check.names if name in trial.values]
    missing = [name for name in check.names if name not in trial.values]
    if present and missing and check.names[0] in trial.values:
        raise DataError(
            f"trial{at(trial)}: expected {', '.join(missing)} together with {', '.join(present)}, found none"
        )
    return not missing
