"""How do labels as people write them become whole numbers in 0..255, and what do these not allow?"""

from collections.abc import Mapping
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from pipeline_lib.core.checks import MAX_LABEL

__all__: list[str] = []  # internal: what comes here was checked before (see pipeline_lib.core.checks)

Policy = Literal["whole", "rounded", "doubled", "shifted", "lowered", "clipped"]
"""``rounded`` takes real labels and rounds halves up; ``doubled`` takes halves and doubles all; ``shifted`` counts from
-1 and adds 1; ``lowered`` counts from 1 and subtracts 1; ``clipped`` takes negative labels for 0."""
PolicyOrNone = Literal[Policy, "ignored"]
"""The same, or ``ignored``: documents have any labels, or none, which count as 0."""
SPELLED = "labels={!r}"
"""How a policy is asked for in Python; in a configuration, see :data:`IN_YAML`."""
IN_YAML = "`labels: {}`"

SCALE_AND_SHIFT = {"doubled": (2, 0), "shifted": (1, 1), "lowered": (1, -1)}
"""What is done to whole labels that are not negative, if anything."""
_EXPECTED = {
    "rounded": f"a number in 0..{MAX_LABEL}",
    "doubled": f"a multiple of 0.5 in 0..{MAX_LABEL / 2}",
    "shifted": f"a whole number in -1..{MAX_LABEL - 1}",
    "lowered": f"a whole number in 1..{MAX_LABEL + 1}",
    "clipped": f"a whole number of at most {MAX_LABEL}",
}


def grades(given: NDArray[np.float64], policy: str) -> NDArray[np.float64]:
    """The labels that numbers stand for, NaN where they are not what the policy takes.

    Example
    -------
    >>> numbers = np.array([-1.0, 0.5, 2.0, 255.0])
    >>> for policy in ("whole", "rounded", "doubled", "shifted", "lowered", "clipped"):
    ...     print(policy, grades(numbers, policy).tolist())
    whole [nan, nan, 2.0, 255.0]
    rounded [nan, 1.0, 2.0, 255.0]
    doubled [nan, 1.0, 4.0, nan]
    shifted [0.0, nan, 3.0, nan]
    lowered [nan, nan, 1.0, 254.0]
    clipped [0.0, nan, 2.0, 255.0]
    """
    given = np.clip(given, -MAX_LABEL - 2, MAX_LABEL + 2)  # some are infinite
    whole = np.floor(given)
    scale, shift = SCALE_AND_SHIFT.get(policy, (1, 0))
    if policy == "rounded":
        values = whole + (given - whole >= 0.5)  # without the rounding error of a sum
        right = given >= 0
    elif policy == "doubled":
        values = scale * given
        right = values == np.floor(values)
    else:
        values = np.maximum(given, 0) if policy == "clipped" else given + shift
        right = given == whole
    return np.where(right & (values >= 0) & (values <= MAX_LABEL), values, np.nan)


def expected(policy: str) -> str:
    """What labels should be, for messages."""
    return _EXPECTED.get(policy, f"a whole number in 0..{MAX_LABEL}")


def remedy(value: float, policy: str, spelled: str) -> str:
    """What could be done about a label that is refused, in brackets; nothing if it is no number.

    Example
    -------
    >>> remedy(-1.0, "whole", IN_YAML)
    ' (`labels: clipped` takes negative labels for 0, `labels: shifted` adds 1 to all)'
    >>> remedy(0.5, "whole", SPELLED)
    " (labels='doubled' doubles all labels, labels='rounded' rounds them)"
    """
    if policy not in ("whole", "integer") or np.isnan(value) or value > MAX_LABEL:
        return ""
    ways = {"clipped": "takes negative labels for 0"} if value < 0 else {"rounded": "rounds them"}
    if value == -1:
        ways |= {"shifted": "adds 1 to all"}
    elif value > 0 and 2 * value == np.floor(2 * value) != 2 * np.floor(value):
        ways = {"doubled": "doubles all labels", **ways}
    if value < 0 and value != np.floor(value):
        return ""
    return f" ({', '.join(f'{spelled.format(name)} {effect}' for name, effect in ways.items())})"


def warning(documents: Mapping[str, int] | Mapping[int, int]) -> str:
    """Why nothing can be learned from labels, given the number of documents with each; nothing where they differ.

    Example
    -------
    >>> warning({"0": 12})
    'no document is relevant (all 12 have the label 0): every measure is 0, whatever the order'
    >>> warning({1: 12}), warning({0: 5, 1: 7})
    ('all 12 documents have the label 1: no order is better than another', '')
    """
    if len(documents) != 1:
        return ""
    [(label, count)] = documents.items()
    if int(label) == 0:
        return f"no document is relevant (all {count:,} have the label 0): every measure is 0, whatever the order"
    return f"all {count:,} documents have the label {label}: no order is better than another"
