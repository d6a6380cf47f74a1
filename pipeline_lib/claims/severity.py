"""How severely was a claim tested? The figures behind a verdict, and the status that they leave of it."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from pipeline_lib.claims.verdicts import Verdict
from pipeline_lib.claims.words import Status, rounded_down

SLACK = 3.0
"""A claim is verified only if its limits, sharper by this factor, would be contradicted."""
POINTS = 10
"""Into how many steps the axis of a curve is divided."""
NOTICED = 0.95
"""The probability from which on an error counts as one that would have been noticed."""


@dataclass(frozen=True)
class Plant:
    """A planted statement and whether the checks told it apart: an error caught, or a control passed.

    ``problem`` says why it could not be tried on this evidence; then nothing was caught.
    """

    name: str
    statement: str
    caught: bool
    holds: bool = False
    problem: str = ""


@dataclass(frozen=True)
class Line:
    """Probabilities where a statement is false in some of its trials, by amounts that are evenly apart from 0 on.

    Attributes
    ----------
    false_in : int
        In how many trials it is false.
    noticed : tuple of float
        That the check does not pass: that it is refuted, deviates, or decides nothing.
    contradicted : tuple of float
        That a trial contradicts it, which is a part of these.
    noticed_from : float or None
        The amount from which on the first probability is .95 or more, none where it never is.
    """

    false_in: int
    noticed: tuple[float, ...]
    contradicted: tuple[float, ...]
    noticed_from: float | None


@dataclass(frozen=True)
class Curve:
    r"""The severity of one statement that rests on intervals: what its check would have said, were it false.

    The trials are those that were judged. For an amount d their truth is put on the wrong side of the limit,

    ::

        x_i = l_i + d |l_i| or l_i - d |l_i|     for a bound whose limits l_i are not 0, d in per cent of them
                                                 (less what stands on both sides of it)
        x_i = l_i + d or l_i - d                 for all others: exponents, orders, identities, answers

    Measurements are drawn around it, and judged by the check with all its corrections: once with trials that are
    independent of each other, once with errors that rise together in all trials, as of trials on the same sample. The
    curve is that of the case in which the statement is noticed last. Assumed is that two numbers of a trial that are
    compared are independent; that their errors have the distributions that their intervals state, Student's with the
    stated degrees of freedom or the normal one, on either side of the value by what the interval has on the other; and
    that every interval has the width that it has here.
    Where the truth is at the limit, this is exact for means of normal numbers, whose distance from the limit in units
    of their own interval is all that counts.

    What is not drawn stays as it was found: trials whose numbers are exact or whose limit is no better than the trivial
    one, the other pairs of an order, and the other checks of the claim. An identity is false to the side, and an order
    in the pair, that is noticed last. Negative controls and the margin are not drawn, by which a claim could fail as
    well, so that no probability here is too large.

    Attributes
    ----------
    statement : str
        What is compared.
    unit : str
        What the amounts are: "% of the limit", "in the exponent", or empty for the unit of what is compared.
    trials, exact : int
        The trials with intervals, which alone can be false here, and the others that the check reads.
    largest : float
        The last of the amounts; the first is 0, where a statement is false by a hair.
    everywhere : Line
        The statement is false in all trials with intervals.
    in_some : Line or None
        It is false in just under half of them, drawn anew each time, which the others could outvote; they are as they
        were found. None where there are fewer than three.
    slack_factor : float or None
        The margin of this statement alone.
    """

    statement: str
    unit: str
    trials: int
    exact: int
    largest: float
    everywhere: Line
    in_some: Line | None
    slack_factor: float | None = None

    @property
    def lines(self) -> tuple[Line, ...]:
        """The one or two of them."""
        return (self.everywhere,) if self.in_some is None else (self.everywhere, self.in_some)

    @property
    def noticed_from(self) -> float | None:
        """The amount from which on it would have been noticed in either case; None where it never is."""
        amounts = [line.noticed_from for line in self.lines]
        known = [one for one in amounts if one is not None]
        return max(known) if len(known) == len(amounts) else None


@dataclass(frozen=True)
class Severity:
    """How a verdict could have been another.

    Attributes
    ----------
    trials, informative : int
        The trials, and how many of them decide: they could have contradicted the claim, and do or do not.
    slack_factor : float or None
        The largest factor by which every limit could be sharper before a trial contradicts it; infinite where no factor
        is enough, and none for rules without a limit other than 0.
    excludes : mapping
        By statistic: exponents below the first number and above the second are excluded in every trial.
    resolution : mapping
        By statistic: the smallest difference that every trial could have seen.
    planted : tuple of Plant
        What was planted, and whether it was caught.
    curves : tuple of Curve
        How likely it would have been noticed, were it false by an amount: one for each check that passed on intervals.
    """

    trials: int
    informative: int
    slack_factor: float | None = None
    excludes: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    resolution: Mapping[str, float] = field(default_factory=dict)
    planted: tuple[Plant, ...] = ()
    curves: tuple[Curve, ...] = ()

    @classmethod
    def of(cls, verdict: Verdict, planted: tuple[Plant, ...], curves: tuple[Curve, ...] = ()) -> "Severity":
        """Take the figures of a verdict."""
        decided = sum(status != "inconclusive" for status in verdict.per_trial)
        figures = verdict.slack_factor, verdict.excludes, verdict.resolution
        return cls(len(verdict.per_trial), decided, *figures, planted, curves)

    @property
    def missed(self) -> tuple[Plant, ...]:
        """What the checks did not tell apart."""
        return tuple(plant for plant in self.planted if not plant.caught)

    @property
    def noisy(self) -> bool:
        """Whether the margin is that of a statement which rests on intervals alone, so that a curve says more."""
        return any(not curve.exact and curve.slack_factor == self.slack_factor for curve in self.curves)

    @property
    def order(self) -> tuple[float, int]:
        """What sorts the most severe test first: the least slack, then the most informative trials."""
        return (math.inf if self.slack_factor is None else self.slack_factor, -self.informative)

    @property
    def reservations(self) -> tuple[str, ...]:
        """Why the claim is not decided although no trial contradicts it, one sentence each."""
        found = [] if self.planted else ["There is no negative control that the checks would have caught."]
        if passed := [f"“{plant.statement}”" for plant in self.missed if not plant.problem]:
            which = "this wrong statement" if len(passed) == 1 else "these wrong statements"
            found.append(f"The same evidence does not contradict {which} either: {', '.join(passed)}")
        found += [
            f"On this evidence a control could not be tried, “{plant.statement}” ({plant.problem})."
            for plant in self.missed
            if plant.problem
        ]
        if self.slack_factor is not None and self.slack_factor >= SLACK:
            found.append(f"{self.sharper[0].upper()}{self.sharper[1:]}.")
        return tuple(found)

    @property
    def sharper(self) -> str:
        """How many times tighter the limit could be, as a clause; nothing for a rule without one, and where it fails.

        Example
        -------
        >>> for factor in (1.0004, 4.559, 3352.9, math.inf):
        ...     print(Severity(1, 1, factor).sharper)
        a limit 1.01 times tighter would be contradicted
        the limit could be 4.55 times tighter
        the limit could be 3,350 times tighter
        no tighter limit would be contradicted either, up to rounding
        """
        if self.slack_factor is None or self.slack_factor < 1:
            return ""
        if self.slack_factor < 1.01:
            return "a limit 1.01 times tighter would be contradicted"
        if math.isinf(self.slack_factor):
            return "no tighter limit would be contradicted either, up to rounding"
        return f"the limit could be {rounded_down(self.slack_factor)} times tighter"


def final(verdict: Verdict, severity: Severity) -> tuple[Status, str]:
    """The status that a verdict keeps, and the sentences that say why if it is another.

    A claim is verified or answered only if its checks caught everything that was planted, and if a limit :data:`SLACK`
    times as sharp would have been contradicted.

    Example
    -------
    >>> verdict = Verdict("verified", "It holds.", ("verified",), slack_factor=1.5)
    >>> [final(verdict, Severity.of(verdict, (Plant("one", "C = 1.", caught),))) for caught in (True, False)]
    [('verified', ''), ('inconclusive', 'The same evidence does not contradict this wrong statement either: “C = 1.”')]
    """
    if verdict.status not in ("verified", "answered") or not severity.reservations:
        return verdict.status, ""
    return "inconclusive", " ".join(severity.reservations)
