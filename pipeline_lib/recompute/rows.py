"""How rows of tables fall into groups, and how an interval is written into the columns of a row."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

Columns = Mapping[str, list[Any]]
Ends = Sequence[float | None]


def grouped(frame: pl.DataFrame, *keys: str) -> dict[tuple[Any, ...], dict[str, list[Any]]]:
    """The columns of the rows that agree in some columns, by what they agree in, in the order of the rows.

    Example
    -------
    >>> grouped(pl.DataFrame({"m": [2, 3, 2], "x": [0.5, 1.0, 1.5]}), "m")
    {(2,): {'m': [2, 2], 'x': [0.5, 1.5]}, (3,): {'m': [3], 'x': [1.0]}}
    """
    columns = {name: frame[name].to_list() for name in frame.columns}
    places = defaultdict(list)
    for i, key in enumerate(zip(*(columns[name] for name in keys), strict=True)):
        places[key].append(i)
    return {key: {name: [one[i] for i in at] for name, one in columns.items()} for key, at in places.items()}


def numbers(columns: Columns, name: str) -> NDArray[np.float64]:
    """A column of numbers."""
    return np.array(columns[name], float)


def with_ends(name: str, interval: Ends) -> dict[str, Any]:
    """The columns of an interval beside others.

    Example
    -------
    >>> with_ends("gap", (0.5, 0.25, 0.75))
    {'gap': 0.5, 'gap_low': 0.25, 'gap_high': 0.75}
    """
    return dict(zip((name, f"{name}_low", f"{name}_high"), interval, strict=True))


def alone(name: str, interval: Ends) -> dict[str, Any]:
    """The columns of the only interval of a table.

    Example
    -------
    >>> alone("slope", (0.5, 0.25, 0.75))
    {'slope': 0.5, 'low': 0.25, 'high': 0.75}
    """
    return dict(zip((name, "low", "high"), interval, strict=True))
