"""Would the checks of a claim have caught a statement, or a player, that is wrong?

A claim names wrong statements under ``planted``. Each is written into the same evidence, by other values of its trials
or by other rows of its table, and judged by the same checks. A check that lets a wrong statement pass says nothing when
it lets the right one pass. For a statement that is refuted the test is turned round: a *control*, the corrected
statement, must pass (``holds: true``).
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Any, Literal, Self

import polars as pl
from polars import selectors
from pydantic import Field, model_validator

from pipeline_lib.claims.reading import Expression
from pipeline_lib.claims.trials import Trial, Value
from pipeline_lib.claims.verdicts import Name, Prose, Titled, Verdict
from pipeline_lib.claims.words import FAILED
from pipeline_lib.core.errors import DataError
from pipeline_lib.core.expressions import column
from pipeline_lib.core.settings import FOLDER_NAME, Truth
from pipeline_lib.statistics import Interval

Key = Literal["table", "columns", "where", "axes", "setting", "values", "named_by", "value", "freedom"]


class Planted(Titled):
    """A statement to be tried on the evidence of a claim."""

    TITLE = ("name", "statement")

    name: Annotated[Prose, Field(pattern=FOLDER_NAME)]
    statement: Prose
    values: dict[Name, Expression] = Field(
        {},
        description="by the name of a value, an expression over the values and the setting of the trial, which "
        "replaces it in every trial; of a value with an interval the expression takes the value and both ends",
    )
    evidence: dict[Key, Any] = Field({}, description="in place of values: keys that replace those of the reading")
    holds: Truth = Field(False, description="whether it is true, so that the checks must let it pass")
    leaves_open: Truth = Field(False, description="whether a question may be left without an answer by it")

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        if bool(self.values) == bool(self.evidence):
            raise ValueError("expected either `values` or `evidence`")
        return self

    def written_into(self, trials: Sequence[Trial]) -> list[Trial]:
        """The trials with the values that the statement would give them.

        A trial that lacks a value, or a value that the expression needs, stays as it is.

        Raises
        ------
        DataError
            When an expression cannot be evaluated, gives no finite number, or changes no trial at all.

        Example
        -------
        >>> wrong = Planted(name="half", statement="C = 1 in place of 2.", values={"bound": "bound / 2"})
        >>> trials = [Trial({"m": 5}, {"gap": 0.5, "bound": 0.75}, "tables/gaps.parquet")]
        >>> wrong.written_into(trials)[0].values
        {'gap': 0.5, 'bound': 0.375}
        """
        columns = [self._evaluated(trials, part) for part in ("value", "low", "high")]
        changed = []
        for i, trial in enumerate(trials):
            found = {name: tuple(part[name][i] for part in columns) for name in self.values if name in trial.values}
            freedom = _fewest(trial)
            new = {name: _value(parts, freedom) for name, parts in found.items() if None not in parts}
            changed.append(replace(trial, values={**trial.values, **new}))
        if changed == list(trials):
            raise DataError(f"planted: {self.name}: expected to change the evidence, found it as it was")
        return changed

    def caught(self, verdict: Verdict, planted: Verdict) -> bool:
        """Whether the checks tell the statement apart, by their verdicts without and with it.

        A question is to get another answer. None at all, as from too few trials that decide, is enough only for a
        statement that leaves it open, as that nothing differs.
        """
        if self.holds:
            return planted.status == "verified"
        if verdict.answers:
            return planted.answers != verdict.answers and (self.leaves_open or bool(planted.answers))
        return planted.status in FAILED

    def _evaluated(self, trials: Sequence[Trial], part: str) -> dict[str, list[Any]]:
        rows = _frame(trials, part)
        return {
            name: column(f"planted: {self.name}: {name}", rows, text).cast(pl.Float64, strict=False).to_list()
            for name, text in self.values.items()
        }


def _frame(trials: Sequence[Trial], part: str) -> pl.DataFrame:
    """One row per trial: its setting, and its values or one end of their intervals."""
    rows = [
        {**trial.setting, **{name: getattr(value, part, value) for name, value in trial.values.items()}}
        for trial in trials
    ]
    return pl.DataFrame(rows, infer_schema_length=None, strict=False).cast({selectors.numeric(): pl.Float64})


def _fewest(trial: Trial) -> float | None:
    """The fewest degrees of freedom in a trial, which widen an interval most."""
    freedoms = [value.freedom for value in trial.values.values() if isinstance(value, Interval)]
    return min((one for one in freedoms if one is not None), default=None)


def _value(parts: Sequence[float], freedom: float | None) -> Value:
    value, low, high = parts
    if low == value == high:
        return value
    ends = sorted((value, low, high))
    return Interval(value, ends[0], ends[-1], freedom)
