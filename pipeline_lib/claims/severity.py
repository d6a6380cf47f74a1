"""How severely was a claim tested? The figures behind a verdict, and the status that they leave of it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from pipeline_lib.claims.verdicts import Verdict
from pipeline_lib.claims.words import Status


@dataclass(frozen=True)
class Plant:
    """A planted statement and whether the checks told it apart: an error caught, or a control passed."""

    name: str
    statement: str
    caught: bool
    holds: bool = False


@dataclass(frozen=True)
class Severity:
    """How a verdict could have been another.

    Attributes
    ----------
    trials, informative : int
        The trials, and how many of them decide: they could have contradicted the claim, and do or do not.
    slack_factor : float or None
        The largest factor by which the limit could be sharper before a trial contradicts it.
    excludes : mapping
        By statistic: exponents below the first number and above the second are excluded in every trial.
    resolution : mapping
        By statistic: the smallest difference that every trial could have seen.
    planted : tuple of Plant
        What was planted, and whether it was caught.
    """

    trials: int
    informative: int
    slack_factor: float | None = None
    excludes: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    resolution: Mapping[str, float] = field(default_factory=dict)
    planted: tuple[Plant, ...] = ()

    @classmethod
    def of(cls, verdict: Verdict, planted: tuple[Plant, ...]) -> Severity:
        """Take the figures of a verdict."""
        decided = sum(status != "consistent" for status in verdict.per_trial)
        figures = verdict.slack_factor, verdict.excludes, verdict.resolution
        return cls(len(verdict.per_trial), decided, *figures, planted)

    @property
    def missed(self) -> tuple[Plant, ...]:
        """What the checks did not tell apart."""
        return tuple(plant for plant in self.planted if not plant.caught)

    @property
    def order(self) -> tuple[float, int]:
        """What sorts the most severe test first: the least slack, then the most informative trials."""
        return (math.inf if self.slack_factor is None else self.slack_factor, -self.informative)

    @property
    def tested(self) -> bool:
        """Whether something was planted and nothing was missed."""
        return bool(self.planted) and not self.missed


def final(verdict: Verdict, severity: Severity) -> tuple[Status, str]:
    """The status that a verdict keeps, and the sentence that says why if it is another.

    A claim is verified or answered only if its checks caught everything that was planted.

    Example
    -------
    >>> verdict = Verdict("verified", "It holds.", ("verified",))
    >>> [final(verdict, Severity.of(verdict, (Plant("one", "C = 1.", caught),))) for caught in (True, False)]
    [('verified', ''), ('consistent', 'The same evidence does not contradict this wrong statement either: “C = 1.”')]
    """
    if verdict.status not in ("verified", "answered") or severity.tested:
        return verdict.status, ""
    if not severity.planted:
        return "consistent", "No wrong statement was planted that the checks would have caught."
    missed = ", ".join(f"“{plant.statement}”" for plant in severity.missed)
    which = "this wrong statement" if len(severity.missed) == 1 else "these wrong statements"
    return "consistent", f"The same evidence does not contradict {which} either: {missed}"
