"""How is an open question answered? By the first of its possible answers that a trial's whole interval satisfies."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pipeline_lib.claims.evidence import Interval, Trial
from pipeline_lib.claims.verdicts import Verdict, as_interval, at, in_some, jointly, of_trials
from pipeline_lib.claims.words import Status, plain, shown_value, spoken


@dataclass(frozen=True)
class Answer:
    """What is answered where a statistic lies between two numbers."""

    statistic: str
    says: str
    above: float = -math.inf
    below: float = math.inf

    @classmethod
    def of(cls, entry: Mapping[str, Any]) -> Answer:
        """Take an answer as the ledger writes it, where ``within: [a, b]`` means above a and below b.

        Example
        -------
        >>> Answer.of({"statistic": "slope", "within": [-0.1, 0.1], "says": "It does not grow."}).words()
        '“It does not grow.” when slope is above -0.1 and below 0.1'
        """
        rest = {key: value for key, value in entry.items() if key != "within"}
        above, below = entry.get("within", (-math.inf, math.inf))
        return cls(**{"above": above, "below": below, **rest})

    def words(self) -> str:
        """The answer, with its condition."""
        ends = (("above", self.above), ("below", self.below))
        conditions = [f"{side} {plain(end)}" for side, end in ends if math.isfinite(end)]
        return f"“{self.says}” when {spoken(self.statistic)} is {' and '.join(conditions)}"

    def holds(self, measured: Interval) -> bool:
        """Whether the whole interval satisfies the condition."""
        return self.above < measured.low and measured.high < self.below


@dataclass(frozen=True)
class Question:
    """``question``: what the paper leaves open.

    Every trial gives the first answer that its whole interval, widened for all trials together, satisfies.
    """

    statistics: tuple[str, ...]
    answers: tuple[Answer, ...]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys([*self.statistics, *(answer.statistic for answer in self.answers)]))

    @property
    def statuses(self) -> tuple[Status, ...]:
        return ("answered", "consistent")

    def words(self) -> str:
        return "an open question; the answer is " + ", ".join(answer.words() for answer in self.answers)

    def judge(self, trials: Sequence[Trial]) -> Verdict:
        widened = {name: jointly([as_interval(name, trial) for trial in trials]) for name in self.names}
        given = [
            next((answer for answer in self.answers if answer.holds(widened[answer.statistic][i])), None)
            for i in range(len(trials))
        ]
        statuses: tuple[Status, ...] = tuple("consistent" if answer is None else "answered" for answer in given)
        distinct = list(dict.fromkeys(answer for answer in given if answer is not None))
        sentences = [self._sentence(answer, given, trials) for answer in distinct]
        if undecided := sum(answer is None for answer in given):
            first = trials[given.index(None)]
            sentences.append(f"no answer {in_some(undecided, trials)}: {self._values(first)}{at(first)}.")
        resolution = {name: max((one.high - one.low) / 2 for one in widened[name]) for name in self.names}
        return Verdict(
            of_trials(statuses),
            " ".join(sentence[0].upper() + sentence[1:] for sentence in sentences),
            statuses,
            resolution=resolution,
            answers=tuple(answer.says for answer in distinct),
        )

    def _sentence(self, answer: Answer, given: Sequence[Answer | None], trials: Sequence[Trial]) -> str:
        agreeing = [trial for trial, one in zip(trials, given, strict=True) if one == answer]
        example = f"{self._values(agreeing[0])}{at(agreeing[0])}"
        return f"{in_some(len(agreeing), trials)}: {answer.says.rstrip('.')} ({example})."

    def _values(self, trial: Trial) -> str:
        return ", ".join(f"{spoken(name)} {shown_value(trial.values[name])}" for name in self.statistics)
