"""Would the checks of a claim have caught a statement, or a player, that is wrong?

A claim names wrong statements under ``planted``. Each is written into the same evidence, by other values of its trials
or by other rows of its table, and judged by the same checks. A check that lets a wrong statement pass says nothing when
it lets the right one pass. For a statement that is refuted the test is turned round: a *control*, the corrected
statement, must pass (``holds: true``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from pipeline_lib.claims.evidence import Interval, Trial, Value
from pipeline_lib.claims.reading import Reading
from pipeline_lib.claims.verdicts import Verdict
from pipeline_lib.errors import ConfigurationError, DataError

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True)
class Planted:
    """A statement to be tried on the evidence of a claim.

    Attributes
    ----------
    values : mapping of str to str
        By the name of a value, an expression of SQL over the values and the setting of the trial, which replaces it in
        every trial. Of a value with an interval the expression takes the value and both ends.
    reading : Reading or None
        In place of values: how the trials are read from other rows of the table.
    holds : bool
        Whether the statement is true, so that the checks must let it pass.
    """

    name: str
    statement: str
    values: Mapping[str, str] = field(default_factory=dict)
    reading: Reading | None = None
    holds: bool = False

    @classmethod
    def of(cls, entry: Mapping[str, Any], evidence: Any) -> Planted:
        """Take an entry of the ledger; ``evidence`` is that of its claim.

        Raises
        ------
        ConfigurationError
            When it replaces keys of a reading, and the claim has none or several.
        """
        reading = None
        if "evidence" in entry:
            if not isinstance(evidence, Mapping):
                raise ConfigurationError(
                    f"planted: {entry['name']}: expected a claim with one reading under evidence, found "
                    f"{'none' if evidence is None else len(evidence)}; use values instead"
                )
            reading = Reading.of({**evidence, **entry["evidence"]})
        values = {name: str(text) for name, text in entry.get("values", {}).items()}
        return cls(entry["name"], entry["statement"], values, reading, entry.get("holds", False))

    def written_into(self, trials: Sequence[Trial]) -> list[Trial]:
        """The trials with the values that the statement would give them.

        A trial that lacks a value, or a value that the expression needs, stays as it is.

        Raises
        ------
        DataError
            When an expression cannot be evaluated, gives no finite number, or changes no trial at all.

        Example
        -------
        >>> wrong = Planted("half", "The constant is 1 in place of 2.", {"bound": "bound / 2"})
        >>> trials = [Trial({"m": 5}, {"gap": 0.5, "bound": 0.75}, "tables/gaps.parquet")]
        >>> wrong.written_into(trials)[0].values
        {'gap': 0.5, 'bound': 0.375}
        """
        columns = [self._evaluated(trials, part) for part in ("value", "low", "high")]
        changed = []
        for i, trial in enumerate(trials):
            found = {name: tuple(column[name][i] for column in columns) for name in self.values if name in trial.values}
            freedom = _fewest(trial)
            new = {name: _value(parts, freedom) for name, parts in found.items() if None not in parts}
            changed.append(replace(trial, values={**trial.values, **new}))
        if changed == list(trials):
            raise DataError(f"planted: {self.name}: expected to change the evidence, found it as it was")
        return changed

    def caught(self, verdict: Verdict, planted: Verdict) -> bool:
        """Whether the checks tell the statement apart, by their verdicts without and with it."""
        if self.holds:
            return planted.status == "verified"
        if verdict.answers:
            return planted.answers != verdict.answers
        return planted.status in ("deviates", "refuted")

    def _evaluated(self, trials: Sequence[Trial], part: str) -> dict[str, list[Any]]:
        import polars as pl

        rows = _frame(trials, part)
        found = {}
        for name, text in self.values.items():
            try:
                column = rows.select(pl.sql_expr(text).cast(pl.Float64)).to_series()
            except pl.exceptions.PolarsError as error:
                problem = str(error).strip().partition("\n")[0]
                raise DataError(
                    f"planted: {self.name}: {name}: expected an expression over {', '.join(rows.columns)}, "
                    f"found {text!r}: {problem}"
                ) from error
            found[name] = (column if len(column) == rows.height else column.new_from_index(0, rows.height)).to_list()
        return found


def _frame(trials: Sequence[Trial], part: str) -> pl.DataFrame:
    """One row per trial: its setting, and its values or one end of their intervals."""
    import polars as pl

    rows = [
        {**trial.setting, **{name: getattr(value, part, value) for name, value in trial.values.items()}}
        for trial in trials
    ]
    names = dict.fromkeys(name for row in rows for name in row)
    columns = {name: [row.get(name) for row in rows] for name in names}
    return pl.DataFrame([_series(name, values) for name, values in columns.items()])


def _series(name: str, values: Sequence[Any]) -> pl.Series:
    import polars as pl

    if any(isinstance(value, str) for value in values):
        return pl.Series(name, [None if value is None else str(value) for value in values])
    return pl.Series(name, values, dtype=pl.Float64, strict=False)


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
