"""How severely was a claim tested? The figures behind a verdict, and the status that they leave of it."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from pipeline_lib.claims.curves import Curve
from pipeline_lib.claims.verdicts import Verdict
from pipeline_lib.claims.words import Status, rounded_down

SLACK = 3.0
"""A claim is verified only if its limits, sharper by this factor, would be contradicted."""


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
