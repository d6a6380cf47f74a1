"""What is the verdict of a check, and how are the statuses of trials and of checks combined?"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import NormalDist
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, Strict, model_validator
from scipy.special import stdtrit

from pipeline_lib.claims.trials import Trial
from pipeline_lib.claims.words import Status, plain, setting_words
from pipeline_lib.core.markup import quoted
from pipeline_lib.core.settings import Number, Settings, Truth
from pipeline_lib.statistics import Interval

Name = Annotated[str, Strict(), Field(pattern="^[a-z][a-z0-9_]*$")]
"""The name of a value in the evidence."""
Quantity = Number | Name
"""A number, or the name of a value that every trial supplies."""
Width = Annotated[float, Strict(), Field(ge=0, allow_inf_nan=False)]
"""How far apart two numbers may be."""
Prose = Annotated[str, Strict(), Field(min_length=1)]
"""Text for people."""


class Titled(Settings):
    """An entry that begins with its name and a sentence, such as ``half: "C = 1 in place of 2."``."""

    TITLE: ClassVar[tuple[str, str]]
    """The keys for which these two stand."""

    @model_validator(mode="before")
    @classmethod
    def _titled(cls, entry: Any) -> Any:
        name, text = cls.TITLE
        keys = {field.alias or key for key, field in cls.model_fields.items()}
        first = next(iter(entry), name) if isinstance(entry, Mapping) else name
        if first in keys or name in entry or text in entry:
            return entry
        return {name: first, text: entry[first]} | {key: entry[key] for key in entry if key != first}


LEVEL = 0.95
"""The confidence at which experiments state their intervals, and at which all trials of a check hold together."""


@dataclass(frozen=True)
class Verdict:
    """The result of a check: a status, one sentence, the status of each trial on its own, and figures.

    Attributes
    ----------
    slack_factor : float or None
        The largest factor by which every limit could be sharper (smaller, or for ``>=`` larger) before a trial
        contradicts it; infinite where no factor is enough, and none where there is no limit but 0.
    excludes : mapping
        By statistic: exponents below the first number and above the second are excluded in every trial.
    resolution : mapping
        By statistic: the smallest difference that every decided trial could have seen.
    answers : tuple of str
        The answers given to an open question, each once.
    """

    status: Status
    sentence: str
    per_trial: tuple[Status, ...]
    slack_factor: float | None = None
    excludes: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    resolution: Mapping[str, float] = field(default_factory=dict)
    answers: tuple[str, ...] = ()


class Check(Settings):
    """One condition on the trials; ``why`` is the reason for its limits.

    One that ``guards`` states nothing of the claim: it fails where what was measured cannot be what is meant, as if the
    risk were that of the training sample. That it holds in a trial does not make this one that could have failed.
    """

    check: str
    why: Prose | None = None
    guards: Truth = Field(False, description="whether it only keeps a leak from passing, and states nothing itself")

    @property
    def names(self) -> tuple[str, ...]:
        """The values that a trial must supply to be read by this check, in the order of its fields."""
        return tuple(
            dict.fromkeys(
                _names(
                    [value for field, value in self if field not in ("check", "relation", "why", "guards", "sharper")]
                )
            )
        )

    def words(self) -> str:
        """The rule as a sentence a reader can follow."""
        raise NotImplementedError

    def judge(self, trials: Sequence[Trial]) -> Verdict:
        """Judge trials that supply all of :attr:`names`; there is at least one."""
        raise NotImplementedError


def _names(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | tuple):
        for one in value:
            yield from _names(one)


def of_trials(statuses: Sequence[Status]) -> Status:
    """The status of a check from those of its trials: one failure decides, and trials that decide nothing do not count.

    Example
    -------
    >>> of_trials(["verified", "inconclusive"]), of_trials(["verified", "deviates"]), of_trials(["inconclusive"])
    ('verified', 'deviates', 'inconclusive')
    """
    return min(statuses, key=("refuted", "deviates", "verified", "answered", "inconclusive").index)


Undecided = Literal["", "together", "against", "few"]
"""What undecided trials do: nothing that counts, hold when taken together, contradict so, or leave too few others."""


def of_check(
    statuses: Sequence[Status], *misses: Sequence[Interval], tolerance: float = 0.0
) -> tuple[Status, Undecided]:
    r"""The status of a general statement from those of its trials, and what the undecided ones do to it.

    One failure decides, as in :func:`of_trials`. But one trial in which a statement holds does not outrank many that
    noise leaves undecided: more than half of them must decide, or the undecided ones must hold when they are taken
    together; and where these contradict the statement, it is not verified, however many others decide. Taken together
    are the distances :math:`z_i` of u trials from the limit, in units of half an interval towards the limit, as
    :math:`\sum_i z_i / \sqrt{u}`. In 2.5 % of studies it is above 1 although no trial is above the limit, if trials are
    independent (Stouffer's method).

    Parameters
    ----------
    statuses : sequence of Status
        Of the trials that noise could leave undecided.
    misses : sequences of Interval
        By how much each of them is above the limit, with an interval of its own; for an identity, by how much it is
        below as well.
    tolerance : float
        What each of them may be at most.

    Example
    -------
    >>> holds, near, above = Interval(-9.0, -10.0, -8.0), Interval(-0.5, -1.5, 0.5), Interval(0.9, -0.1, 1.9)
    >>> of_check(["verified", *["inconclusive"] * 9], [holds, *[near] * 9])
    ('verified', 'together')
    >>> of_check(["verified", *["inconclusive"] * 2], [holds, *[near] * 2])
    ('inconclusive', 'few')
    >>> of_check([*["verified"] * 9, *["inconclusive"] * 2], [*[holds] * 9, *[above] * 2])
    ('inconclusive', 'against')
    """
    status = of_trials(statuses)
    undecided = [i for i, one in enumerate(statuses) if one == "inconclusive"]
    if status != "verified" or not undecided:
        return status, ""
    away = max(_together([side[i] for i in undecided], tolerance) for side in misses)
    if away > 1:
        return "inconclusive", "against"
    if 2 * len(undecided) < len(statuses):
        return "verified", ""
    if away < -1:
        return "verified", "together"
    return "inconclusive", "few"


def _together(misses: Sequence[Interval], tolerance: float) -> float:
    """The distances of trials from a limit as one, in units of half its interval; an exact tie is at the limit."""
    ends = [one.value - one.low if one.value > tolerance else one.high - one.value for one in misses]
    away = [(one.value - tolerance) / end if end else 0.0 for one, end in zip(misses, ends, strict=True)]
    return sum(away) / math.sqrt(len(away))


def of_checks(statuses: Sequence[Status]) -> Status:
    """The status of a rule from those of its checks: one failure decides, and every check must decide something.

    Example
    -------
    >>> of_checks(["verified", "inconclusive"]), of_checks(["verified", "answered"]), of_checks(["refuted", "verified"])
    ('inconclusive', 'answered', 'refuted')
    """
    return min(statuses, key=("refuted", "deviates", "inconclusive", "answered", "verified").index)


def jointly(values: Sequence[Interval]) -> list[Interval]:
    """Widen the intervals of several trials so that all of them hold together with the stated confidence.

    By Bonferroni's inequality n intervals of confidence 1 - (1 - c)/n each hold together with confidence c. An interval
    is widened about its value in the proportion of the quantiles of its own distribution at the two confidences:
    Student's with its degrees of freedom, or the normal one. Tails of Student's distribution are heavier, so that an
    interval from few repetitions has to become wider. Exact numbers are not counted.

    Example
    -------
    >>> jointly([Interval(0.0, -1.0, 1.0)]) == [Interval(0.0, -1.0, 1.0)]
    True
    >>> jointly([Interval(0.0, -1.0, 1.0)] * 20)[0]  # doctest: +ELLIPSIS
    Interval(value=0.0, low=-1.54..., high=1.54..., freedom=None)
    >>> jointly([Interval(0.0, -1.0, 1.0, freedom=4)] * 20)[0]  # doctest: +ELLIPSIS
    Interval(value=0.0, low=-2.43..., high=2.43..., freedom=4)
    """
    measured = sum(one.low < one.high for one in values)
    if measured <= 1:
        return list(values)
    factors = {freedom: _widening(measured, freedom) for freedom in {one.freedom for one in values}}
    return [_widened(one, factors[one.freedom]) for one in values]


def _widening(intervals: int, freedom: float | None) -> float:
    """By which factor an interval becomes wider if it is one of so many."""
    tails = (1 - LEVEL) / 2 / intervals, (1 - LEVEL) / 2
    if freedom is None:
        wide, narrow = (NormalDist().inv_cdf(1 - tail) for tail in tails)
    else:
        wide, narrow = (float(stdtrit(freedom, 1 - tail)) for tail in tails)
    return wide / narrow


def _widened(one: Interval, factor: float) -> Interval:
    low, high = one.value - factor * (one.value - one.low), one.value + factor * (one.high - one.value)
    return Interval(one.value, low, high, one.freedom)


def as_interval(quantity: Quantity, trial: Trial) -> Interval:
    """The value a quantity stands for in a trial; an exact number is an interval of one point."""
    value = quantity_in(quantity, trial)
    return value if isinstance(value, Interval) else Interval(value, value, value)


def difference(a: Interval, b: Interval) -> Interval:
    """The interval of a - b, by its ends, with the fewer degrees of freedom of the two: those that widen it more.

    Example
    -------
    >>> difference(Interval(3.0, 2.0, 4.0, freedom=9), Interval(1.0, 0.5, 1.5, freedom=4))
    Interval(value=2.0, low=0.5, high=3.5, freedom=4)
    """
    freedoms = [one.freedom for one in (a, b) if one.freedom is not None]
    return Interval(a.value - b.value, a.low - b.high, a.high - b.low, min(freedoms, default=None))


def outcome(left: Interval, tolerance: float, deviates_within: float | None) -> Status:
    """The status of a trial in which a number must be at most 0, up to a tolerance.

    It is verified where the whole interval is, and fails where no part of it is; where the interval contains the limit,
    the trial decides nothing.

    Example
    -------
    >>> [outcome(Interval(x, x - 1, x + 1), 0.0, 2.5) for x in (-2, 0.5, 3, 4)]
    ['verified', 'inconclusive', 'deviates', 'refuted']
    """
    if left.high <= tolerance:
        return "verified"
    if left.low <= tolerance:
        return "inconclusive"
    return "deviates" if deviates_within is not None and left.low <= deviates_within else "refuted"


def at(trial: Trial) -> str:
    """Write where a trial was made as the end of a clause of running text, or nothing when it has no setting."""
    return f" at {quoted(setting_words(trial))}" if trial.setting else ""


def count(trials: Sequence[Trial]) -> str:
    """Write how many trials there are."""
    return f"{len(trials)} trial{'s' * (len(trials) != 1)}"


def in_all(trials: Sequence[Trial]) -> str:
    """Write "in all N trials"."""
    return {1: "in the only trial", 2: "in both trials"}.get(len(trials), f"in all {len(trials)} trials")


def in_some(some: int, trials: Sequence[Trial]) -> str:
    """Write "in K of N trials"."""
    return in_all(trials) if some == len(trials) else f"in {some} of {count(trials)}"


def amount(quantity: Quantity, trial: Trial) -> float:
    """The number a quantity stands for in a trial: itself, or the value of that name (without its interval)."""
    return as_interval(quantity, trial).value


def quantity_in(quantity: Quantity, trial: Trial) -> float | Interval:
    """The value a quantity stands for in a trial, with its interval if it has one."""
    return trial.values[quantity] if isinstance(quantity, str) else quantity


def allowance(tolerance: float) -> str:
    """Write the tolerance behind a limit, or nothing where there is none."""
    return f" (tolerance {plain(tolerance)})" if tolerance else ""
