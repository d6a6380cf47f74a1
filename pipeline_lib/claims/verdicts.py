"""What is the verdict of a check, and how are its values and sentences formed?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from pipeline_lib.claims.evidence import Interval, Trial
from pipeline_lib.claims.words import STATUSES, Status, plain, setting_words
from pipeline_lib.markup import quoted

Quantity = float | str
"""A number, or the name of a value that every trial supplies."""


@dataclass(frozen=True)
class Verdict:
    """The result of a check: a status, one sentence, and the status of each trial on its own."""

    status: Status
    sentence: str
    per_trial: tuple[Status, ...]


class Check(Protocol):
    """One condition on the trials."""

    @property
    def names(self) -> tuple[str, ...]:
        """The values that a trial must supply to be read by this check."""
        ...

    @property
    def statuses(self) -> tuple[Status, ...]:
        """The statuses this check can return."""
        ...

    def words(self) -> str:
        """The rule as a sentence a reader can follow."""
        ...

    def judge(self, trials: Sequence[Trial]) -> Verdict:
        """Judge trials that supply all of :attr:`names`; there is at least one."""
        ...


def worst(statuses: Sequence[Status]) -> Status:
    """The status that decides: refuted before deviates before verified.

    Example
    -------
    >>> worst(["verified", "refuted", "deviates"])
    'refuted'
    """
    return min(statuses, key=STATUSES.index)


def at(trial: Trial) -> str:
    """Write where a trial was made as the end of a clause of running text, or nothing when it has no setting."""
    return f" at {quoted(setting_words(trial))}" if trial.setting else ""


def count(trials: Sequence[Trial]) -> str:
    """Write how many trials there are."""
    return f"{len(trials)} trial{'s' * (len(trials) != 1)}"


def in_all(trials: Sequence[Trial]) -> str:
    """Write "in all N trials"."""
    return {1: "in the only trial", 2: "in both trials"}.get(len(trials), f"in all {len(trials)} trials")


def in_some(failed: int, trials: Sequence[Trial]) -> str:
    """Write "in K of N trials"."""
    return in_all(trials) if failed == len(trials) else f"in {failed} of {count(trials)}"


def amount(quantity: Quantity, trial: Trial) -> float:
    """The number a quantity stands for in a trial: itself, or the value of that name (without its interval)."""
    value = quantity_in(quantity, trial)
    return value.value if isinstance(value, Interval) else value


def quantity_in(quantity: Quantity, trial: Trial) -> float | Interval:
    """The value a quantity stands for in a trial, with its interval if it has one."""
    return trial.values[quantity] if isinstance(quantity, str) else quantity


def allowance(tolerance: float) -> str:
    """Write the tolerance behind a limit, or nothing where there is none."""
    return f" (tolerance {plain(tolerance)})" if tolerance else ""
