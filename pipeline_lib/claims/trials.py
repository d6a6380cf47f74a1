"""What is a claim judged by? Trials: measurements with their setting, their numbers, and the table they come from.

They are read from tables (:mod:`pipeline_lib.claims.reading`); the rules that turn them into a status live in
:mod:`pipeline_lib.claims.kinds`.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from pydantic import BeforeValidator

from pipeline_lib.core.errors import DataError
from pipeline_lib.statistics import Interval

Label = str | int | float
_FromEnds = BeforeValidator(lambda ends: Interval(*ends) if isinstance(ends, list) else ends)
Value = int | float | Annotated[Interval, _FromEnds]
"""A number, or one with its interval; in JSON a list of the number, both ends and the degrees of freedom, if any."""


@dataclass(frozen=True)
class Trial:
    """One measurement: where it was made, what came out, and the table that holds it.

    Attributes
    ----------
    setting : mapping of str to str, int or float
        The axes of the experiment, such as ``{"dataset": "MQ2008", "k": 10}``.
    values : mapping of str to float or Interval
        Statistics by the names that the claim's rule uses.
    table : str
        The table the numbers come from, relative to ``results/<study>/``.
    """

    setting: Mapping[str, Label]
    values: Mapping[str, Value]
    table: str

    def __post_init__(self) -> None:
        for key, label in self.setting.items():
            if not (isinstance(label, str) or is_number(label)):
                raise DataError(f"trial: expected text or a finite number for {key!r}, found {label!r}")
        if not self.values:
            raise DataError(f"trial at {dict(self.setting)}: expected at least one number, found none")
        for name, value in self.values.items():
            if not (isinstance(value, Interval) or is_number(value)):
                raise DataError(
                    f"trial at {dict(self.setting)}: expected a finite number for {name!r}, found {value!r}"
                )


def is_number(value: object) -> bool:
    """Whether a value is a finite number; true and false are none."""
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
