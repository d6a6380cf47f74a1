"""How is an open question answered? By the first of its possible answers that a trial's whole interval satisfies."""

from collections.abc import Sequence
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from pipeline_lib.claims.trials import Trial
from pipeline_lib.claims.verdicts import Check, Name, Prose, Verdict, as_interval, at, in_some, jointly
from pipeline_lib.claims.words import Status, plain, shown_value, spoken
from pipeline_lib.core.settings import Number, Settings, different
from pipeline_lib.statistics import Interval


class Answer(Settings):
    """What is answered where a statistic lies above a number, below one, or between two.

    Example
    -------
    >>> Answer(statistic="slope", above=-0.1, below=0.1, says="It does not grow.").words()
    '“It does not grow.” when slope is above -0.1 and below 0.1'
    """

    statistic: Name
    says: Prose
    above: Number | None = None
    below: Number | None = None

    @model_validator(mode="after")
    def _conditional(self) -> Self:
        if self.above is None and self.below is None:
            raise ValueError("expected one of the keys `above` and `below` or both")
        return self

    def words(self) -> str:
        """The answer, with its condition."""
        ends = (("above", self.above), ("below", self.below))
        conditions = [f"{side} {plain(end)}" for side, end in ends if end is not None]
        return f"“{self.says}” when {spoken(self.statistic)} is {' and '.join(conditions)}"

    def holds(self, measured: Interval) -> bool:
        """Whether the whole interval satisfies the condition."""
        too_low = self.above is not None and measured.low <= self.above
        return not too_low and (self.below is None or measured.high < self.below)


class Question(Check):
    """``question``: what the paper leaves open.

    Every trial gives the first answer that its whole interval, widened for all trials together, satisfies. The question
    is answered if more than half of the trials give an answer.
    """

    check: Literal["question"]
    statistics: Annotated[tuple[Name, ...], Field(min_length=1), AfterValidator(different)]
    answers: Annotated[tuple[Answer, ...], Field(min_length=1)]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys([*self.statistics, *(answer.statistic for answer in self.answers)]))

    def words(self) -> str:
        return "an open question; the answer is " + ", ".join(answer.words() for answer in self.answers)

    def judge(self, trials: Sequence[Trial]) -> Verdict:
        widened = {name: jointly([as_interval(name, trial) for trial in trials]) for name in self.names}
        given = [
            next((answer for answer in self.answers if answer.holds(widened[answer.statistic][i])), None)
            for i in range(len(trials))
        ]
        statuses: tuple[Status, ...] = tuple("inconclusive" if answer is None else "answered" for answer in given)
        distinct = list(dict.fromkeys(answer for answer in given if answer is not None))
        sentences = [self._sentence(answer, given, trials) for answer in distinct]
        if undecided := sum(answer is None for answer in given):
            first = trials[given.index(None)]
            sentences.append(f"no answer {in_some(undecided, trials)}: {self._values(first)}{at(first)}.")
        resolution = {name: max((one.high - one.low) / 2 for one in widened[name]) for name in self.names}
        return Verdict(
            "answered" if 2 * statuses.count("answered") > len(statuses) else "inconclusive",
            " ".join(sentence[0].upper() + sentence[1:] for sentence in sentences),
            statuses,
            resolution=resolution,
            answers=tuple(answer.says for answer in distinct),
        )

    def _sentence(self, answer: Answer, given: Sequence[Answer | None], trials: Sequence[Trial]) -> str:
        agreeing = [trial for trial, one in zip(trials, given, strict=True) if one == answer]
        example = f"{self._values(agreeing[0])}{at(agreeing[0])}"
        share = f"; {in_some(len(agreeing), trials)}" if len(trials) > 1 else ""
        return f"{answer.says.rstrip('.')} ({example}{share})."

    def _values(self, trial: Trial) -> str:
        return ", ".join(f"{spoken(name)} {shown_value(trial.values[name])}" for name in self.statistics)
