"""How are statuses, settings and values written, both in the sentences of rules and in the report?"""

import math
import re
from typing import Literal, get_args

from pipeline_lib.claims.trials import Trial
from pipeline_lib.core.markup import rounded
from pipeline_lib.statistics import Interval

Status = Literal[
    "refuted", "deviates", "proved", "proved-for-sizes", "argued", "verified", "answered", "inconclusive", "not-run"
]
STATUSES: tuple[Status, ...] = get_args(Status)
"""All statuses, in the order in which a report shows them."""

BY_PROOF: dict[str, Status] = {"all": "proved", "sizes": "proved-for-sizes", "steps": "argued"}
"""What a claim is by a certificate that is accepted, by what this covers; the first is the strongest."""

FAILED: tuple[Status, ...] = ("deviates", "refuted")


def plain(number: float) -> str:
    """Write a number for a sentence: four significant digits, no needless zeros.

    Example
    -------
    >>> plain(0.123456), plain(2), plain(-1e-9), plain(250000)
    ('0.1235', '2', '-1e-9', '250000')
    """
    if abs(number) < 1e7 and number == int(number):
        return str(int(number))
    return re.sub(r"e([+-])0*(\d)", lambda found: f"e{found[1].strip('+')}{found[2]}", f"{number:.4g}")


def rounded_down(number: float) -> str:
    """Write a number of which "at least" is said: the next smaller one of three significant digits.

    Example
    -------
    >>> rounded_down(4.559), rounded_down(21.0), rounded_down(677.9), rounded_down(3352.9), rounded_down(math.inf)
    ('4.55', '21', '677', '3,350', '∞')
    >>> rounded_down(1.7499999997), rounded_down(1.7499)
    ('1.75', '1.74')
    """
    if not 0 < number < math.inf:
        return "∞" if number > 0 else plain(number)
    shown, digits = rounded(number, "down", digits=3), 2 - math.floor(math.log10(number))
    if digits > 6:
        return f"{shown:.3g}"
    return f"{shown:,.{max(digits, 0)}f}".rstrip("0").rstrip(".") if digits > 0 else f"{shown:,.0f}"


def spoken(quantity: float | str) -> str:
    """Write a statistic's name, or a number, as it reads in a sentence.

    Example
    -------
    >>> spoken("largest_sum"), spoken(0.5)
    ('largest sum', '0.5')
    """
    return quantity.replace("_", " ") if isinstance(quantity, str) else plain(quantity)


def shown_value(value: float | Interval) -> str:
    """Write a value with its interval, if it has one.

    Example
    -------
    >>> shown_value(Interval(0.64, 0.61, 0.67))
    '0.64 [0.61, 0.67]'
    """
    if isinstance(value, Interval):
        return f"{plain(value.value)} [{plain(value.low)}, {plain(value.high)}]"
    return plain(value)


def setting_words(trial: Trial) -> str:
    """Write where a trial was made.

    Example
    -------
    >>> setting_words(Trial({"dataset": "MQ2008", "k": 10}, {"slack": 0.0}, "t.parquet"))
    'MQ2008, k = 10'
    """
    parts = []
    for key, label in trial.setting.items():
        text = label if isinstance(label, str) else plain(label)
        parts.append(text if key in ("dataset", "model", "surrogate") else f"{key.replace('_', ' ')} = {text}")
    return ", ".join(parts)
