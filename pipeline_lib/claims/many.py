"""What do the rules of checks say of many draws of the same trials at once?

The same rules as those of :mod:`pipeline_lib.claims.kinds` and :mod:`pipeline_lib.claims.questions`, on arrays whose
rows are draws and whose columns are trials. Between draws the values of trials differ, and their intervals move with
them without a change of width.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pipeline_lib.claims.kinds import Comparison
from pipeline_lib.claims.questions import Question
from pipeline_lib.core.arrays import Floats
from pipeline_lib.statistics import Interval

Draws = NDArray[np.bool_]
"""By draw, or by draw and trial."""


@dataclass(frozen=True)
class Outcome:
    """Which draws pass a check, because they verify or answer it as it was, and in which a trial contradicts it."""

    passes: Draws
    contradicted: Draws


@dataclass(frozen=True)
class Ends:
    """How far the intervals of trials reach below and above their values, each alone and widened for all together."""

    below: Floats
    above: Floats
    wide_below: Floats
    wide_above: Floats

    @classmethod
    def of(cls, alone: Sequence[Interval], wide: Sequence[Interval]) -> "Ends":
        """The ends of intervals, and of the same intervals once they are widened."""
        sides = [(one.value - one.low, one.high - one.value) for one in (*alone, *wide)]
        below, above = np.array(sides).reshape(2, -1, 2).transpose(2, 0, 1)
        return cls(below[0], above[0], below[1], above[1])

    def __getitem__(self, trials: Draws) -> "Ends":
        return Ends(self.below[trials], self.above[trials], self.wide_below[trials], self.wide_above[trials])

    @property
    def reach(self) -> Floats:
        """Half of the widened intervals."""
        return (self.wide_below + self.wide_above) / 2

    @property
    def turned(self) -> "Ends":
        """Those of the negative values."""
        return Ends(self.above, self.below, self.wide_above, self.wide_below)


def of_comparison(check: Comparison, above: Floats, ends: Ends, informative: Draws, settled: int = 0) -> Outcome:
    """What a comparison says of draws.

    Parameters
    ----------
    above : array, shape (draws, trials)
        By how much the statistic is above its limit.
    ends : Ends
        Of these numbers.
    informative : array of bool, shape (trials,)
        Whether the limit is better than the trivial one.
    settled : int
        In how many further trials it holds, whatever is drawn.
    """
    sides = {"<=": [(above, ends)], ">=": [(-above, ends.turned)], "=": [(above, ends), (-above, ends.turned)]}[
        check.relation
    ]
    high = np.max([one + its.wide_above for one, its in sides], axis=0)
    low = np.max([one - its.wide_below for one, its in sides], axis=0)
    holds, fails = (high <= check.tolerance) & informative, low > check.tolerance
    return general(holds, fails, holds | (high > check.tolerance), sides, check.tolerance, settled)


def of_pair(lead: Floats, ends: Ends, settled: int = 0) -> Outcome:
    """What one pair of an order says of draws, by how much the greater leads in them, shape (draws, trials)."""
    holds, fails = lead - ends.wide_below > 0, lead + ends.wide_above < 0
    return general(holds, fails, np.ones_like(holds), [(-lead, ends.turned)], 0.0, settled)


def answers(question: Question, values: Mapping[str, Floats], ends: Mapping[str, Ends]) -> NDArray[np.int64]:
    """The answers that are given, by their places among the possible ones, shape (draws, trials); -1 for none.

    Parameters
    ----------
    values, ends : mapping
        By statistic, its values, shape (draws, trials), and their ends.
    """
    given = np.full_like(next(iter(values.values())), -1, dtype=np.int64)
    for i, answer in reversed(list(enumerate(question.answers))):
        value, its = values[answer.statistic], ends[answer.statistic]
        holds = np.ones(value.shape, dtype=bool)
        if answer.above is not None:
            holds &= value - its.wide_below > answer.above
        if answer.below is not None:
            holds &= value + its.wide_above < answer.below
        given[holds] = i
    return given


def of_question(own: NDArray[np.int64], given: NDArray[np.int64]) -> Outcome:
    """Which draws answer a question as it was: no trial gives another answer, and more than half give their own.

    Parameters
    ----------
    own : array of int, shape (trials,)
        The answers that the trials gave.
    given : array of int, shape (draws, trials)
        Those that they give in the draws; -1 for none.
    """
    alike, answered = given == own, given >= 0
    another = np.any(answered & ~alike & (own >= 0), axis=1)
    return Outcome(~another & (2 * np.sum(answered & alike, axis=1) > given.shape[1]), another)


def general(
    holds: Draws, fails: Draws, counted: Draws, sides: Sequence[tuple[Floats, Ends]], tolerance: float, settled: int
) -> Outcome:
    """Which draws a general statement holds in, as :func:`pipeline_lib.claims.verdicts.of_check` decides it.

    Parameters
    ----------
    holds, fails, counted : array of bool, shape (draws, trials)
        What each trial says on its own, and whether noise could leave it undecided.
    sides : sequence of (array of shape (draws, trials), Ends)
        By how much each trial is above the limit; for an identity, by how much it is below as well.
    tolerance : float
        What that may be at most.
    settled : int
        How many further trials hold in every draw.
    """
    undecided = counted & ~holds & ~fails
    number, contradicted = undecided.sum(axis=1), np.any(fails, axis=1)
    away = np.max([_together(one, its, undecided, number, tolerance) for one, its in sides], axis=0)
    outvoted = 2 * number < counted.sum(axis=1) + settled
    agree = (number == 0) | ((away <= 1) & (outvoted | (away < -1)))
    decides = np.any(holds, axis=1) | (settled > 0)
    return Outcome(~contradicted & decides & agree, contradicted)


def _together(misses: Floats, ends: Ends, undecided: Draws, number: NDArray[np.int64], tolerance: float) -> Floats:
    """The distances of undecided trials from a limit as one, in units of half its interval."""
    away = misses - tolerance
    reach = np.where(away > 0, ends.below, ends.above)
    parts = np.divide(away, reach, out=np.zeros_like(away), where=undecided & (reach > 0))
    return np.asarray(parts.sum(axis=1) / np.sqrt(np.maximum(number, 1)))
